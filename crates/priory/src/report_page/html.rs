//! HTML in the making. Whatever comes from data goes through [`escaped`] or [`json`]; nothing else may write it.

use std::fmt::{Display, Write as _};

use serde::Serialize;

use crate::plot::svg::Sheet;

/// The body of a page.
#[derive(Debug, Default)]
pub(super) struct Html {
    text: String,
    pictures: usize,
}

impl Html {
    /// Markup of our own.
    pub(super) fn markup(&mut self, markup: &str) {
        self.text.push_str(markup);
        self.text.push('\n');
    }

    /// A heading that can be pointed to.
    pub(super) fn heading(&mut self, level: u8, id: &str, text: &str) {
        let id = if id.is_empty() { String::new() } else { format!(" id=\"{id}\"") };
        self.markup(&format!("<h{level}{id}>{}</h{level}>", escaped(text)));
    }

    pub(super) fn paragraph(&mut self, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        self.markup(&format!("<p{class}>{}</p>", escaped(text)));
    }

    /// A picture, which can be moved sideways where the page is too narrow for it.
    pub(super) fn picture(&mut self, id: &str, sheet: &Sheet) {
        self.pictures += 1;
        let id = if id.is_empty() { String::new() } else { format!(" id=\"{id}\"") };
        let title = escaped(sheet.title());
        let picture = sheet.element(self.pictures);
        self.markup(&format!(
            "<div class=\"picture\"{id} tabindex=\"0\" role=\"region\" aria-label=\"{title}\">{picture}</div>"
        ));
    }

    /// A table with a heading for each column and for each row. Cells after the first are numbers, if they look like such.
    pub(super) fn table(&mut self, caption: &str, head: &[&str], rows: &[Vec<String>]) {
        let mut table = format!(
            "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table><caption>{0}</caption><thead><tr>",
            escaped(caption)
        );
        for (i, cell) in head.iter().enumerate() {
            let class = if i > 0 && rows.iter().all(|row| row.get(i).is_some_and(|cell| is_number(cell))) {
                " class=\"number\""
            } else {
                ""
            };
            let _ = write!(table, "<th scope=\"col\"{class}>{}</th>", escaped(cell));
        }
        table.push_str("</tr></thead><tbody>");
        for row in rows {
            table.push_str("<tr>");
            for (i, cell) in row.iter().enumerate() {
                let text = escaped(cell);
                let _ = match i {
                    0 => write!(table, "<th scope=\"row\">{text}</th>"),
                    _ if is_number(cell) => write!(table, "<td class=\"number\">{text}</td>"),
                    _ => write!(table, "<td>{text}</td>"),
                };
            }
            table.push_str("</tr>");
        }
        table.push_str("</tbody></table></div>");
        self.markup(&table);
    }

    /// What is only shown to those who ask for it, and on paper.
    pub(super) fn details(&mut self, summary: &str, is_open: bool, inside: impl FnOnce(&mut Html)) {
        let open = if is_open { " open" } else { "" };
        self.markup(&format!("<details{open}><summary>{}</summary>", escaped(summary)));
        inside(self);
        self.markup("</details>");
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// Whether a cell is a number, a share, or a sign that there is none.
fn is_number(cell: &str) -> bool {
    let digits = cell.trim_end_matches([' ', '%']).trim_start_matches(['±', '+', '−', '-', ' ']);
    cell.is_empty() || cell == "–" || digits.split(" ± ").all(|part| part.parse::<f64>().is_ok())
}

/// Text that HTML takes as text, inside of an element and of an attribute in quotes. Characters that would move the cursor or turn
/// the line around are replaced.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' => escaped.push('\n'),
            _ if character.is_control() || turns_around(character) => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Marks that write what follows from right to left, which can make a name look like another.
fn turns_around(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Data for the script, as JSON in which nothing can end the element that it stands in.
pub(super) fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("what is written has names as its keys");
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// A share in percent, with as many digits as tell it from all or nothing.
pub(super) fn percent(share: f64) -> String {
    let near = share.min(1.0 - share);
    if near > 0.0 && near < 5e-4 {
        format!("{:.2} %", 100.0 * share)
    } else {
        format!("{:.1} %", 100.0 * share)
    }
}

/// A weight of rows: whole if it is whole.
pub(super) fn count(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 { format!("{x:.0}") } else { format!("{x:.2}") }
}

/// 1 row, 2 rows, 3 classes.
pub(super) fn plural(n: impl Display + PartialEq<u64>, thing: &str) -> String {
    let ending = match n == 1 {
        true => "",
        false if thing.ends_with('s') => "es",
        false => "s",
    };
    match thing.strip_suffix("category").filter(|_| !ending.is_empty()) {
        Some(before) => format!("{n} {before}categories"),
        None => format!("{n} {thing}{ending}"),
    }
}

/// The beginning of a name that is too long for a sentence.
pub(super) fn short(name: &str) -> String {
    match name.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// Names in a sentence, but not hundreds of them.
pub(super) fn names<'a>(names: impl Iterator<Item = &'a str>, most: usize) -> String {
    let all: Vec<String> = names.map(short).collect();
    let more = all.len().saturating_sub(most);
    let named = all[..all.len().min(most)].join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_data_is_markup() {
        let hostile = "</script><img src=x onerror=\"alert('1')\">&\u{1b}[31m\u{202e}";
        assert_eq!(
            escaped(hostile),
            "&lt;/script&gt;&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;\u{fffd}[31m\u{fffd}"
        );
        let written = json(&[hostile]);
        assert!(!written.contains('<') && !written.contains('&') && !written.contains('>'));
        assert_eq!(serde_json::from_str::<Vec<String>>(&written).unwrap_or_default(), [hostile]);
    }

    #[test]
    fn numbers_are_told_from_words() {
        assert!(["12", "99.1 %", "+1.5", "0.89 ± 0.04", "–", "-0.5"].iter().all(|cell| is_number(cell)));
        assert!(!["Adelie", "9/14", "1 of 3"].iter().any(|cell| is_number(cell)));
    }

    #[test]
    fn shares_do_not_hide_what_is_left() {
        assert_eq!([1.0, 0.9998, 0.991, 0.0003].map(percent), ["100.0 %", "99.98 %", "99.1 %", "0.03 %"]);
        assert_eq!(plural(2, "category"), "2 categories");
        assert_eq!(plural(1, "category"), "1 category");
        assert_eq!(plural(3, "class"), "3 classes");
    }
}
