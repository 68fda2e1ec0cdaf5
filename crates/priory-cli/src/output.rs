//! Everything that is printed: results to standard output, the rest to standard error.

use std::io::{self, BufWriter, Write};
use std::ops::Range;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use serde::Serialize;

use crate::advice::about_error;
use crate::args::Format;

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();

/// Standard output, buffered.
pub(crate) struct Stdout(BufWriter<AutoStream<io::StdoutLock<'static>>>);

/// Standard output for data: every byte as it is, also those that would be part of a colour.
pub(crate) fn data_out() -> Stdout {
    Stdout(BufWriter::new(AutoStream::always_ansi(io::stdout().lock())))
}

/// Standard output for a report: as text with colours where they are wanted.
pub(crate) fn report_out(format: Format) -> Stdout {
    match format {
        Format::Json => data_out(),
        Format::Text => Stdout(BufWriter::new(AutoStream::auto(io::stdout().lock()))),
    }
}

/// A report as JSON, as people read it.
pub(crate) fn write_json(out: &mut impl Write, report: &impl Serialize) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    Ok(writeln!(out)?)
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(named)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(named)
    }
}

fn named(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("standard output: cannot be written: {error}"))
}

/// A name or message on one line, in which nothing moves the cursor or changes colours.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// A name as messages show it: not endless.
pub(crate) fn short(name: &str) -> String {
    shortened(name, 60)
}

/// A message: on one line, and not endless whatever names are in it.
fn message(text: &str) -> String {
    shown(&shortened(text, 2_000))
}

pub(crate) fn shortened(text: &str, most_characters: usize) -> String {
    match text.char_indices().nth(most_characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether standard output shows colours.
pub(crate) fn has_colours() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// A word in the colour of what it says: green for, red against, and bold from three bits on.
pub(crate) fn tinted(word: &str, bits: f64) -> String {
    let colour = if bits > 0.0 { AnsiColor::Green } else { AnsiColor::Red };
    match bits.abs() {
        little if little < 0.5 => shown(word),
        much if much >= 3.0 => {
            let style = colour.on_default().bold();
            format!("{style}{}{style:#}", shown(word))
        }
        _ => {
            let style = colour.on_default();
            format!("{style}{}{style:#}", shown(word))
        }
    }
}

/// How wide the terminal is: as `COLUMNS` says, or the terminal itself, or 80.
pub(crate) fn terminal_width() -> usize {
    let seen = || terminal_size::terminal_size().map(|(width, _)| width.0.into());
    columns_said().or_else(seen).unwrap_or(80)
}

/// How wide a report may be: as `COLUMNS` says, or as wide as the terminal that shows it. In a file there is no limit.
fn report_width() -> Option<usize> {
    let seen = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
    columns_said().or_else(seen)
}

fn columns_said() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok()?.parse().ok();
    said.filter(|&width| width > 0)
}

/// A heading.
pub(crate) fn bold(text: &str) -> String {
    format!("{BOLD}{}{BOLD:#}", shown(text))
}

/// Something that the user should know although all went well.
pub(crate) fn note(text: &str) {
    let _ = writeln!(anstream::stderr(), "{}", message(text));
}

/// Something that is probably not what the user wants.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(anstream::stderr(), "{YELLOW}warning:{YELLOW:#} {}", message(text));
}

/// Why the command failed, and what might help.
pub(crate) fn report_failure(error: &anyhow::Error) {
    let mut stderr = anstream::stderr();
    let _ = writeln!(stderr, "{RED}error:{RED:#} {}", message(&format!("{error:#}{}", about_error(error))));
    if let Some(hint) = hint(error) {
        let _ = writeln!(stderr, "{BOLD}hint:{BOLD:#} {hint}");
    }
}

fn hint(error: &anyhow::Error) -> Option<String> {
    use priory::Error;
    let in_table = |error: &anyhow::Error| match error.downcast_ref::<priory_input::Error>()? {
        priory_input::Error::Use { cause, .. } => Some(cause.clone()),
        _ => None,
    };
    let hint = match error.downcast_ref::<Error>().cloned().or_else(|| in_table(error))? {
        Error::TooManyClasses { .. } => {
            "choose a target with few distinct values; numbers cannot be predicted"
        }
        Error::TooManyValues { .. } => {
            "leave the column out with --ignore, or choose a target with fewer values"
        }
        Error::JointTooLarge { .. } => "leave columns out of the joint table with --as COLUMN=category",
        Error::GroupTooLarge { .. } => "leave columns out of the group with --as COLUMN=number",
        Error::NeverLearnt { .. } | Error::NotPart { .. } => "the model was left as it is",
        Error::Weight { .. } | Error::LightRow { .. } => "leave the row out, or give it the weight 0",
        Error::Mismatch(_) => {
            "models can be merged if they were trained on the same columns with the same kinds"
        }
        Error::File(_) => "train the model again, or take it from a backup",
        Error::Empty => "check that --target names the right column and that its values are not all missing",
        Error::NoFractions(_) => "leave out --fractions to see decimals",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// Whether the reader of our output has gone away, as `head` does. That is no failure.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let written = match cause.downcast_ref::<priory_input::Error>() {
            Some(priory_input::Error::File { cause, .. }) => Some(cause),
            _ => cause.downcast_ref::<io::Error>(),
        };
        written.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// A table without lines: the first column to the left, numbers to the right.
pub(crate) struct Grid {
    rows: Vec<Vec<String>>,
}

/// The space before a table, and between its columns.
const INDENT: usize = 2;
const GAP: u16 = 2;

impl Grid {
    pub(crate) fn new() -> Self {
        Grid { rows: Vec::new() }
    }

    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) -> &mut Self {
        self.rows.push(cells.into_iter().map(|cell| shown(&cell.into())).collect());
        self
    }

    /// A row that begins with its name.
    pub(crate) fn line<S: Into<String>>(
        &mut self,
        name: impl Into<String>,
        cells: impl IntoIterator<Item = S>,
    ) -> &mut Self {
        self.row(std::iter::once(name.into()).chain(cells.into_iter().map(Into::into)))
    }

    /// The table as lines, indented, with nothing at their ends. Where the terminal is too narrow, the columns that have
    /// no room follow below, beside the first column again.
    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let whole = self.table(1..columns, CellAlignment::Right);
        let Some(room) = report_width().map(|width| width.saturating_sub(INDENT)) else {
            return indented(&whole);
        };
        let widths = whole.column_max_content_widths();
        let blocks = columns_that_fit(&widths, room).into_iter().map(|columns| {
            let mut table = self.table(columns, CellAlignment::Right);
            wrap(&mut table, room);
            indented(&table)
        });
        blocks.collect::<Vec<_>>().join("\n")
    }

    /// The same for words instead of numbers. They are wrapped where the terminal is too narrow.
    pub(crate) fn render_left(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut table = self.table(1..columns, CellAlignment::Left);
        if let Some(width) = report_width() {
            wrap(&mut table, width.saturating_sub(INDENT));
        }
        indented(&table)
    }

    /// The first column and these.
    fn table(&self, columns: Range<usize>, alignment: CellAlignment) -> Table {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        for row in &self.rows {
            let others = row.iter().take(columns.end).skip(columns.start);
            table.add_row(row.iter().take(1).chain(others));
        }
        for (i, column) in table.column_iter_mut().enumerate() {
            column.set_cell_alignment(if i == 0 { CellAlignment::Left } else { alignment });
            column.set_padding((if i == 0 { 0 } else { GAP }, 0));
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(1)));
        }
        table
    }
}

/// The columns after the first in groups that have room beside it, at least one in each.
fn columns_that_fit(widths: &[u16], room: usize) -> Vec<Range<usize>> {
    let first = widths.first().map_or(0, |&width| usize::from(width)).min(room / 2);
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut used = 0;
    for (column, &width) in widths.iter().enumerate().skip(1) {
        let width = usize::from(GAP) + usize::from(width);
        match groups.last_mut() {
            Some(group) if first + used + width <= room => {
                group.end = column + 1;
                used += width;
            }
            _ => {
                groups.push(column..column + 1);
                used = width;
            }
        }
    }
    if groups.is_empty() {
        groups.push(1..1);
    }
    groups
}

/// Has cells take several lines where the table would be wider than this.
fn wrap(table: &mut Table, width: usize) {
    let width = u16::try_from(width).unwrap_or(u16::MAX);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
}

fn indented(table: &Table) -> String {
    table.lines().map(|line| format!("{:INDENT$}{}\n", "", line.trim_end())).collect()
}

/// A number of rows or a weight: whole if it is whole, and short if it is huge or tiny.
pub(crate) fn count(x: f64) -> String {
    match x {
        _ if x >= 1e15 || (x > 0.0 && x < 1e-3) => format!("{x:.4e}"),
        _ if x.fract() == 0.0 => format!("{x:.0}"),
        _ => format!("{x:.4}"),
    }
}

/// A probability to four digits after the point; one that would show none of its digits there as a power of ten.
pub(crate) fn probability(p: f64) -> String {
    if p > 0.0 && p < 5e-5 { format!("{p:.1e}") } else { format!("{p:.4}") }
}

/// A name as a shell takes it: as it is, or in quotes.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "_-./:=@%+,".contains(character);
    match !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', "'\\''")),
    }
}

/// 1 row, 2 rows, 3 true classes.
pub(crate) fn plural(n: u64, thing: &str) -> String {
    let ending = match n {
        1 => "",
        _ if thing.ends_with('s') => "es",
        _ => "s",
    };
    format!("{n} {thing}{ending}")
}

#[cfg(test)]
mod tests {
    use super::{plural, probability, quoted};

    #[test]
    fn small_probabilities_show_their_digits() {
        let shown = [0.0, 1.0, 0.25, 5e-5, 4.99e-5, 1.6e-120].map(probability);
        assert_eq!(shown, ["0.0000", "1.0000", "0.2500", "0.0001", "5.0e-5", "1.6e-120"]);
    }

    #[test]
    fn names_are_quoted_where_a_shell_needs_it() {
        let shown = ["age", "my file.csv", "it's", "", "-o", "a=b", "größe", "$HOME"].map(quoted);
        assert_eq!(shown, ["age", "'my file.csv'", "'it'\\''s'", "''", "'-o'", "a=b", "größe", "'$HOME'"]);
    }

    #[test]
    fn things_are_counted_in_english() {
        assert_eq!(plural(1, "row"), "1 row");
        assert_eq!(plural(0, "row"), "0 rows");
        assert_eq!(plural(1, "true class"), "1 true class");
        assert_eq!(plural(2, "true class"), "2 true classes");
        assert_eq!(plural(2, "more token"), "2 more tokens");
    }
}
