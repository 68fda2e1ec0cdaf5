//! Which character stands between the fields of delimited text, judged by its header and its first rows.

use crate::csv::{Dialect, Records, end_of_whole_records, first_record};

/// What may stand between fields unless somebody says something else; of two that fit equally well, the first.
pub(crate) const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];

/// How many rows after the header are looked at.
const MOST_ROWS: usize = 50;

/// The most likely delimiter of a table that begins with these bytes.
///
/// It must be in the header and should cut all rows into as many fields as the header has. A comma that does so is taken,
/// unless another character does so as well and the commas of the rows only stand between digits: those are decimal commas.
/// Where nothing fits, the character is taken that is in the header, so that the first row which does not fit can be named.
pub(crate) fn likely_delimiter(beginning: &[u8], comment: Option<u8>) -> u8 {
    let fits = CANDIDATES.map(|delimiter| Fit::new(beginning, Dialect { delimiter, comment }));
    let comma = &fits[0];
    let others = || fits[1..].iter().filter(|fit| fit.fields > 1);
    // `max_by_key` returns the last of equals, and the first is wanted.
    let best = others().filter(|fit| fit.all_rows).rev().max_by_key(|fit| fit.fields);
    if comma.fields > 1 && comma.all_rows && !(best.is_some() && comma.between_digits) {
        return b',';
    }
    let in_header = || others().rev().max_by_key(|fit| fit.fields).filter(|_| comma.fields <= 1);
    best.or_else(in_header).map_or(b',', |fit| fit.delimiter)
}

/// How a delimiter suits the beginning of a table.
struct Fit {
    delimiter: u8,
    /// Into how many fields it cuts the header.
    fields: usize,
    /// Whether it cuts the first rows into as many.
    all_rows: bool,
    /// Whether it is in the rows, and stands between digits only.
    between_digits: bool,
}

impl Fit {
    fn new(beginning: &[u8], dialect: Dialect) -> Self {
        let delimiter = dialect.delimiter;
        let none = Fit { delimiter, fields: 0, all_rows: false, between_digits: false };
        let end = end_of_whole_records(beginning, dialect, MOST_ROWS + 1);
        // Without a line end, there are no rows to look at.
        let line;
        let whole = if end > 0 {
            &beginning[..end]
        } else {
            line = [beginning, b"\n"].concat();
            &line
        };
        let Ok((header, place)) = first_record(whole, dialect) else { return none };
        let fields = header.len();
        if fields < 2 {
            return Fit { fields, ..none };
        }
        let rows = &whole[place.end..];
        let (_, flaw) = Records::new(dialect, fields).split(rows);
        let is_digit =
            |place: Option<usize>| place.and_then(|at| rows.get(at)).is_some_and(u8::is_ascii_digit);
        let mut places = (0..rows.len()).filter(|&at| rows[at] == delimiter).peekable();
        let between_digits =
            places.peek().is_some() && places.all(|at| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)));
        Fit { delimiter, fields, all_rows: flaw.is_none(), between_digits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_told_from_header_and_rows() {
        for (text, delimiter) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2\n", b';'),
            ("a;b;c\n1,5;2,5;x\n3,5;4,5;y\n", b';'),
            ("a\tb\n1,5\t2\n", b'\t'),
            ("a|b\nx|y\n", b'|'),
            ("a", b','),
            ("a;b", b';'),
            ("", b','),
            // A semicolon in a name, in text, and in quotes.
            ("a;x,b\n1,2\n", b','),
            ("text,b\n\"p; q\",2\nr; s,3\n", b','),
            ("\"a;b\",c\n1,2\n", b','),
            // Commas in names and in numbers.
            ("Preis, EUR;Menge, kg\n1,5;2,5\n3,5;4,5\n", b';'),
            ("last, first\tage\nBach, J. S.\t65\nBach\t20\n", b'\t'),
            ("1,5;2,5;x\n2,5;3,5;y\n", b';'),
            // A row that does not fit is not a reason for another delimiter.
            ("a,b,y\n1,2,p\n1,2\n", b','),
            ("a;b;y\n1;2;p\n1;2\n", b';'),
            ("a,b;c\n1,2\n1\n", b','),
            ("a,b\tc\n", b','),
            ("# x;y;z\na,b\n1,2\n", b','),
        ] {
            let found = likely_delimiter(text.as_bytes(), Some(b'#'));
            assert_eq!(char::from(found), char::from(delimiter), "{text:?}");
        }
    }
}
