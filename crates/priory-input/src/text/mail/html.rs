//! HTML as people see it: what is shown, what is not, where it leads, and how it is made.

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use super::{Mail, SHAPE, links};

/// Elements that are open at once; those inside more are taken for theirs.
const DEEPEST: usize = 200;
/// Different tags and attributes of which something is said.
const MOST_SAID: usize = 400;

/// Reads HTML: what is shown goes to one column, what is not to another.
pub(super) fn read(mail: &mut Mail, text: &str, shown: usize, hidden: usize) {
    let mut page = Page::default();
    let callback = |event: CallbackEvent<'_>, _: Span<()>| -> Option<std::convert::Infallible> {
        page.event(event);
        None
    };
    let mut emitter = CallbackEmitter::new(callback);
    emitter.naively_switch_states(true);
    let tokenizer = Tokenizer::new_with_emitter(text, emitter);
    // Reading from memory does not fail, and the emitter hands out nothing.
    tokenizer.finish().expect("reading from memory does not fail");
    page.finish(mail, shown, hidden);
}

#[derive(Default)]
struct Page {
    shown: String,
    hidden: String,
    open: Vec<Element>,
    /// The tag that is being read, and its attributes so far.
    tag: Tag,
    attribute: String,
    background: Option<String>,
    /// The link that is open, and the text in it.
    link: Option<(String, String)>,
    /// What is said of the page, once each: prefix and value.
    said: Vec<(&'static str, String)>,
    links: Vec<(&'static str, String)>,
    elsewhere: usize,
    comments: usize,
    tags: usize,
}

#[derive(Default)]
struct Tag {
    name: String,
    hides: bool,
    color: Option<String>,
    background: Option<String>,
    target: Option<String>,
}

struct Element {
    name: String,
    hides: bool,
    color: Option<String>,
    background: Option<String>,
}

impl Page {
    fn event(&mut self, event: CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = Tag { name: lower(name), ..Tag::default() };
                self.tags += 1;
                self.say("tag:", self.tag.name.clone());
            }
            CallbackEvent::AttributeName { name } => self.attribute = lower(name),
            CallbackEvent::AttributeValue { value } => {
                self.attribute_value(String::from_utf8_lossy(value).trim());
            }
            CallbackEvent::CloseStartTag { .. } => self.open_tag(),
            CallbackEvent::EndTag { name } => self.close_tag(&lower(name)),
            CallbackEvent::String { value } => self.string(&String::from_utf8_lossy(value)),
            CallbackEvent::Comment { .. } => {
                self.comments += 1;
                // A word with a comment in it is one word to its reader.
            }
            CallbackEvent::Doctype { .. } => self.say("tag:", "!doctype".into()),
            CallbackEvent::Error(_) => {}
        }
    }

    fn attribute_value(&mut self, value: &str) {
        let value = value.to_ascii_lowercase();
        match self.attribute.as_str() {
            "style" => self.style(&value),
            "color" | "text" => {
                self.say("color:", value.clone());
                self.tag.color = Some(value);
            }
            "bgcolor" => {
                self.say("background:", value.clone());
                self.tag.background = Some(value);
            }
            "hidden" => self.tag.hides = true,
            "size" | "face" | "align" | "border" => {
                let said = format!("{}.{}={value}", self.tag.name, self.attribute);
                self.say("html:", said);
            }
            "width" | "height" if self.tag.name == "img" => {
                let is_tiny = matches!(value.trim_end_matches("px"), "0" | "1");
                self.say("html:", if is_tiny { "img-tiny".into() } else { "img-sized".into() });
            }
            "href" => {
                self.links.push(("url:", value.clone()));
                self.tag.target = Some(value);
            }
            "src" | "background" => self.links.push(("picture:", value)),
            "action" => self.links.push(("form:", value)),
            name if name.starts_with("on") => {
                let name = name.to_owned();
                self.say("html:", name);
            }
            _ => {}
        }
    }

    fn style(&mut self, style: &str) {
        for rule in style.split(';') {
            let Some((name, value)) = rule.split_once(':') else { continue };
            let (name, value) = (name.trim(), value.trim().trim_end_matches("!important").trim_end());
            match (name, value) {
                ("display", "none") | ("visibility", "hidden") | ("mso-hide", "all") => self.tag.hides = true,
                ("font-size", size) if is_tiny(size) => self.tag.hides = true,
                ("opacity", "0") | ("max-height" | "height" | "width", "0" | "0px") => self.tag.hides = true,
                ("color", color) => self.tag.color = Some(color.to_owned()),
                ("background" | "background-color", color) => self.tag.background = Some(color.to_owned()),
                _ => {}
            }
            self.say("style:", name.to_owned());
        }
    }

    fn open_tag(&mut self) {
        let tag = std::mem::take(&mut self.tag);
        if is_block(&tag.name) {
            self.break_line();
        }
        if tag.name == "a" {
            self.close_link();
            self.link = tag.target.map(|target| (target, String::new()));
        }
        if tag.name == "body" {
            self.background = tag.background.clone();
        }
        if is_void(&tag.name) || self.open.len() >= DEEPEST {
            return;
        }
        let hides = tag.hides
            || matches!(tag.name.as_str(), "head" | "title" | "script" | "style" | "noscript" | "template");
        let (color, background) = (tag.color, tag.background);
        self.open.push(Element { name: tag.name, hides, color, background });
    }

    fn close_tag(&mut self, name: &str) {
        if is_block(name) {
            self.break_line();
        }
        if name == "a" {
            self.close_link();
        }
        if let Some(place) = self.open.iter().rposition(|element| element.name == name) {
            self.open.truncate(place);
        }
    }

    fn close_link(&mut self) {
        if let Some((target, text)) = self.link.take()
            && links::leads_elsewhere(&target, &text)
        {
            self.elsewhere += 1;
        }
    }

    fn string(&mut self, text: &str) {
        if let Some((_, of_link)) = &mut self.link
            && of_link.len() < 1_000
        {
            of_link.push_str(text);
        }
        if matches!(self.open.last().map(|element| element.name.as_str()), Some("script" | "style")) {
            return;
        }
        let to = if self.is_hidden() { &mut self.hidden } else { &mut self.shown };
        if to.len() < 2 * super::LONGEST_TEXT {
            to.push_str(text);
        }
    }

    fn is_hidden(&self) -> bool {
        if self.open.iter().any(|element| element.hides) {
            return true;
        }
        let color = self.open.iter().rev().find_map(|element| element.color.as_deref());
        let under = self.open.iter().rev().find_map(|element| element.background.as_deref());
        let under = under.or(self.background.as_deref());
        color.is_some_and(|color| same_color(color, under.unwrap_or("white")))
    }

    fn break_line(&mut self) {
        self.shown.push('\n');
        self.hidden.push('\n');
    }

    fn say(&mut self, prefix: &'static str, value: String) {
        let said = (prefix, value);
        if self.said.len() < MOST_SAID && !self.said.contains(&said) {
            self.said.push(said);
        }
    }

    fn finish(mut self, mail: &mut Mail, shown: usize, hidden: usize) {
        self.close_link();
        mail.text(shown, &self.shown);
        if !self.hidden.trim().is_empty() {
            mail.text(hidden, &self.hidden);
        }
        for (prefix, value) in &self.said {
            mail.token(SHAPE, prefix, value);
        }
        mail.count(SHAPE, "tags:", self.tags);
        if self.comments > 0 {
            mail.count(SHAPE, "comments:", self.comments);
        }
        if self.elsewhere > 0 {
            mail.count(SHAPE, "leads-elsewhere:", self.elsewhere);
        }
        for prefix in ["url:", "picture:", "form:"] {
            let count = self.links.iter().filter(|(of, _)| *of == prefix).count();
            mail.count(SHAPE, &format!("html:{prefix}"), count);
        }
        for (prefix, link) in self.links.iter().take(500) {
            links::of_link(mail, prefix, link);
        }
        links::in_text(mail, &self.shown);
    }
}

fn lower(name: &[u8]) -> String {
    String::from_utf8_lossy(name).to_ascii_lowercase()
}

fn is_tiny(size: &str) -> bool {
    let number = size.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    number.trim().parse::<f64>().is_ok_and(|number| number <= 1.0 && !size.ends_with("em"))
        || matches!(size, "0em" | "0rem")
}

/// Whether two colours are so alike that one cannot be read on the other.
fn same_color(a: &str, b: &str) -> bool {
    match (rgb(a), rgb(b)) {
        (Some(a), Some(b)) => a.iter().zip(b).map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0) < 16,
        _ => a == b,
    }
}

fn rgb(color: &str) -> Option<[u8; 3]> {
    let named = match color {
        "white" => "ffffff",
        "black" => "000000",
        "red" => "ff0000",
        "blue" => "0000ff",
        "yellow" => "ffff00",
        other => other.trim_start_matches('#'),
    };
    if !named.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let digit = |place: usize, length: usize| {
        u8::from_str_radix(named.get(place..place + length)?, 16)
            .ok()
            .map(|x| if length == 1 { x * 17 } else { x })
    };
    match named.len() {
        3 => Some([digit(0, 1)?, digit(1, 1)?, digit(2, 1)?]),
        6 => Some([digit(0, 2)?, digit(2, 2)?, digit(4, 2)?]),
        _ => None,
    }
}

/// Elements without contents.
fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "wbr"
    )
}

/// Elements that words do not go across.
fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "blockquote"
            | "body"
            | "br"
            | "center"
            | "dd"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "hr"
            | "html"
            | "img"
            | "input"
            | "li"
            | "ol"
            | "option"
            | "p"
            | "pre"
            | "table"
            | "tbody"
            | "td"
            | "th"
            | "title"
            | "tr"
            | "ul"
    )
}
