//! Numbers as people write them: `1.234,50 €`, `$1,234.50`, `(1'234.50)`, `12 %`, `1 234,5-`.
//!
//! Only the decimal mark has to be known to read such a number. Whatever else stands between digits can only stand between
//! thousands, and is accepted where it does: commas, points, spaces of every width, apostrophes. A currency is read where it
//! is the one of the column. A percentage is a hundredth: `12 %` is 0.12, as spreadsheets store it.
//!
//! What is left are digits, which are rounded once. So a number is the same, to the last bit, however it is written.

use serde::{Deserialize, Serialize};

/// How the numbers of a column are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberStyle {
    /// What stands before the fraction.
    pub decimal: DecimalMark,
    /// The currency that numbers may have before or after them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub currency: Option<String>,
    /// Whether all of them are percentages.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub percent: bool,
}

/// What stands between a whole number and its fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecimalMark {
    /// `1.5`
    Point,
    /// `1,5`
    Comma,
}

impl DecimalMark {
    /// Both of them.
    pub const ALL: [DecimalMark; 2] = [DecimalMark::Point, DecimalMark::Comma];

    /// The word for it, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            DecimalMark::Point => "point",
            DecimalMark::Comma => "comma",
        }
    }

    fn character(self) -> char {
        match self {
            DecimalMark::Point => '.',
            DecimalMark::Comma => ',',
        }
    }
}

impl NumberStyle {
    /// Numbers with this decimal mark, without currency or percent.
    pub fn new(decimal: DecimalMark) -> Self {
        NumberStyle { decimal, currency: None, percent: false }
    }

    /// The number that a field stands for, if it is written in this style.
    pub fn read(&self, field: &str, scratch: &mut String) -> Option<f64> {
        let dressed = Dressed::new(field)?;
        let known = dressed.currency.is_none() || dressed.currency == self.currency.as_deref();
        if !known || dressed.percent != self.percent {
            return None;
        }
        dressed.number(self.decimal, scratch).map(|(number, _)| number)
    }
}

/// A number without what people put around it.
pub(crate) struct Dressed<'f> {
    negative: bool,
    /// Digits, marks between them, and perhaps an exponent.
    body: &'f str,
    pub(crate) currency: Option<&'static str>,
    pub(crate) percent: bool,
}

/// What stands between the thousands of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Between {
    Comma,
    Point,
    Space,
    Apostrophe,
}

impl Between {
    fn of(character: char) -> Option<Between> {
        match character {
            ',' => Some(Between::Comma),
            '.' => Some(Between::Point),
            '\'' | '’' | 'ʼ' => Some(Between::Apostrophe),
            _ if is_space(character) => Some(Between::Space),
            _ => None,
        }
    }
}

impl<'f> Dressed<'f> {
    /// Takes off sign, parentheses, currency and percent, each of which may be there once.
    pub(crate) fn new(field: &'f str) -> Option<Self> {
        let mut body = field.trim_matches(is_space);
        let mut minus = None;
        let mut currency = None;
        let (mut opened, mut closed, mut percent) = (false, false, false);
        loop {
            let first = body.chars().next()?;
            match first {
                '0'..='9' | '.' | ',' => break,
                '-' | '−' | '+' if minus.is_none() => {
                    minus = Some(first != '+');
                    body = &body[first.len_utf8()..];
                }
                '(' if !opened => {
                    opened = true;
                    body = &body[1..];
                }
                _ => {
                    let found = currencies(body.as_bytes().first(), |name| name.first())
                        .find(|name| body.starts_with(*name));
                    let name = found.filter(|_| currency.is_none())?;
                    currency = Some(name);
                    body = &body[name.len()..];
                }
            }
            body = body.trim_start_matches(is_space);
        }
        loop {
            let last = body.chars().next_back()?;
            match last {
                '0'..='9' => break,
                // `5.-` and `5.–` are five, without anything after the point.
                '-' | '–' | '—' if has_no_fraction(&body[..body.len() - last.len_utf8()]) => {
                    body = &body[..body.len() - last.len_utf8() - 1];
                }
                '-' | '−' if minus.is_none() => {
                    minus = Some(true);
                    body = &body[..body.len() - last.len_utf8()];
                }
                ')' if opened && !closed => {
                    closed = true;
                    body = &body[..body.len() - 1];
                }
                '%' if !percent => {
                    percent = true;
                    body = &body[..body.len() - 1];
                }
                _ => {
                    let found = currencies(body.as_bytes().last(), |name| name.last())
                        .find(|name| body.ends_with(*name));
                    let name = found.filter(|_| currency.is_none())?;
                    currency = Some(name);
                    body = &body[..body.len() - name.len()];
                }
            }
            body = body.trim_end_matches(is_space);
        }
        if opened != closed || opened && minus.is_some() {
            return None;
        }
        Some(Dressed { negative: opened || minus == Some(true), body, currency, percent })
    }

    /// The number, and what stands between its thousands, if this is the decimal mark.
    pub(crate) fn number(
        &self,
        decimal: DecimalMark,
        scratch: &mut String,
    ) -> Option<(f64, Option<Between>)> {
        scratch.clear();
        if self.negative {
            scratch.push('-');
        }
        let (digits, exponent) = match self.body.find(['e', 'E']) {
            Some(at) => (&self.body[..at], Some(parse_exponent(&self.body[at + 1..])?)),
            None => (self.body, None),
        };
        let (whole, fraction) = match digits.find(decimal.character()) {
            Some(at) => (&digits[..at], Some(&digits[at + 1..])),
            None => (digits, None),
        };
        if whole.is_empty() && fraction.is_none() {
            return None;
        }
        let between = push_whole(whole, scratch)?;
        if let Some(fraction) = fraction {
            if fraction.is_empty() || !is_digits(fraction) {
                return None;
            }
            scratch.push('.');
            scratch.push_str(fraction);
        }
        // A hundredth is another exponent, and not a division, which would round a second time.
        let exponent = exponent.unwrap_or(0) - if self.percent { 2 } else { 0 };
        if exponent != 0 {
            use std::fmt::Write;
            write!(scratch, "e{exponent}").expect("memory takes everything");
        }
        let number = scratch.parse().ok().filter(|number: &f64| number.is_finite())?;
        Some((number, between))
    }

    /// Whether it has a comma or a point.
    pub(crate) fn has_mark(&self, mark: DecimalMark) -> bool {
        self.body.contains(mark.character())
    }
}

/// Appends the digits of a whole number; returns what stands between its thousands.
fn push_whole(whole: &str, out: &mut String) -> Option<Option<Between>> {
    let Some(first) = whole.find(|character: char| !character.is_ascii_digit()) else {
        out.push_str(whole);
        return Some(None);
    };
    let between = Between::of(whole[first..].chars().next()?)?;
    let mut groups = whole.split(|character| Between::of(character) == Some(between));
    let leading = groups.next()?;
    // A number that is written with thousands does not begin with a zero, as 0.125 and telephone numbers do.
    if !(1..=3).contains(&leading.len()) || leading.starts_with('0') || !is_digits(leading) {
        return None;
    }
    out.push_str(leading);
    let (mut last, mut threes) = (leading.len(), true);
    for (place, group) in groups.enumerate() {
        // Threes everywhere; or twos before the last three, as in 12,34,567.
        let is_even = place == 0 && leading.len() <= 2 || last == 2;
        threes &= group.len() == 3 && (place == 0 || last == 3);
        let is_indian = between == Between::Comma && is_even && matches!(group.len(), 2 | 3);
        if !is_digits(group) || !threes && !is_indian {
            return None;
        }
        last = group.len();
        out.push_str(group);
    }
    (last == 3).then_some(Some(between))
}

/// The currencies that begin or end with this byte. Most words can be told from numbers by that.
fn currencies(
    byte: Option<&u8>,
    of: impl Fn(&'static [u8]) -> Option<&'static u8>,
) -> impl Iterator<Item = &'static str> {
    let byte = byte.copied();
    CURRENCIES.iter().copied().filter(move |name| of(name.as_bytes()).copied() == byte)
}

/// Whether a value begins with a letter and with no currency.
pub(crate) fn begins_like_a_word(value: &str) -> bool {
    let first = value.as_bytes().first();
    first.is_some_and(u8::is_ascii_alphabetic)
        && !currencies(first, |name| name.first()).any(|name| value.starts_with(name))
}

/// Whether a number ends with its decimal mark.
fn has_no_fraction(body: &str) -> bool {
    matches!(body.as_bytes(), [.., b'0'..=b'9', b'.' | b','])
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn parse_exponent(text: &str) -> Option<i32> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if (1..=3).contains(&digits.len()) && is_digits(digits) { text.parse().ok() } else { None }
}

/// White space, and the joiners that some programs put in its place.
fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{2060}' | '\u{feff}')
}

/// Signs and codes of currencies. Of two of which one begins or ends with the other, the longer one is first.
const CURRENCIES: &[&str] = &[
    "US$", "CA$", "AU$", "NZ$", "HK$", "NT$", "MX$", "R$", "A$", "C$", "S$", "$", "€", "£", "¥", "₹", "₽",
    "₩", "₺", "₫", "₴", "₪", "₦", "₱", "₡", "₲", "₸", "₮", "₭", "₼", "₾", "₿", "฿", "៛", "￥", "￡", "￦",
    "＄", "¢", "AED", "ARS", "AUD", "BGN", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP",
    "EUR", "GBP", "HKD", "HUF", "IDR", "ILS", "INR", "ISK", "JPY", "KRW", "MAD", "MXN", "MYR", "NGN", "NOK",
    "NZD", "PEN", "PHP", "PKR", "PLN", "RON", "RSD", "RUB", "SAR", "SEK", "SGD", "THB", "TRY", "TWD", "UAH",
    "USD", "VND", "ZAR", "Euro", "SFr.", "SFr", "Fr.", "Fr", "kr.", "kr", "Kč", "zł", "Ft", "лв.", "лв",
    "lei", "Rs.", "Rs", "руб.", "руб",
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(decimal: DecimalMark, field: &str) -> Option<f64> {
        let dressed = Dressed::new(field)?;
        let style =
            NumberStyle { decimal, currency: dressed.currency.map(String::from), percent: dressed.percent };
        style.read(field, &mut String::new())
    }

    #[test]
    fn numbers_as_people_write_them() {
        for (field, expected) in [
            ("1.234,5", 1234.5),
            ("1 234,5", 1234.5),
            ("1\u{a0}234,5", 1234.5),
            ("1\u{202f}234\u{2009}567,5", 1_234_567.5),
            ("1'234,5", 1234.5),
            ("1.234", 1234.0),
            ("1,234", 1.234),
            ("12,5 %", 0.125),
            ("-3,5", -3.5),
            ("3,5-", -3.5),
            ("−3,5", -3.5),
            ("(3,5)", -3.5),
            ("+3,5", 3.5),
            ("1.234,50 €", 1234.5),
            ("€ 1.234,50", 1234.5),
            ("EUR 1.234,50", 1234.5),
            ("R$ 1.234,50", 1234.5),
            ("-1.234,50 €", -1234.5),
            ("1,5E+03", 1500.0),
            (",5", 0.5),
            (" 7 ", 7.0),
        ] {
            assert_eq!(read(DecimalMark::Comma, field), Some(expected), "{field}");
        }
        for (field, expected) in [
            ("1,234.5", 1234.5),
            ("1,234,567", 1_234_567.0),
            ("12,34,567.5", 1_234_567.5),
            ("$1,234.50", 1234.5),
            ("($1,234.50)", -1234.5),
            ("$(1,234.50)", -1234.5),
            ("-$5", -5.0),
            ("$-5", -5.0),
            ("CHF 1'234.50", 1234.5),
            ("Fr. 1’234.–", 1234.0),
            ("5.-", 5.0),
            ("1,234", 1234.0),
            ("7%", 0.07),
            ("1 234.5", 1234.5),
        ] {
            assert_eq!(read(DecimalMark::Point, field), Some(expected), "{field}");
        }
    }

    #[test]
    fn what_is_no_number_in_a_style_is_refused() {
        for field in [
            "",
            "-",
            "%",
            "€",
            "()",
            "(",
            "1,5",
            "1,2345",
            "0,125",
            "1234,567",
            "12,3456",
            "1,23,45",
            "1,,234",
            "1.5.5",
            "--5",
            "(-5)",
            "5)",
            "(5",
            "$5€",
            "$$5",
            "5%%",
            "1e",
            "1e9999",
            "1 23",
            "five",
            "5 kg",
            "1.",
            "0171 234 567",
            "1,234'567",
            "31.05.2024",
            "2024-05-31",
            "10.0.0.1",
            "1e400",
            "5..-",
        ] {
            assert_eq!(read(DecimalMark::Point, field), None, "{field}");
        }
        let percent = NumberStyle { percent: true, ..NumberStyle::new(DecimalMark::Point) };
        assert_eq!(percent.read("5", &mut String::new()), None);
        assert_eq!(NumberStyle::new(DecimalMark::Point).read("$5", &mut String::new()), None);
    }

    /// How a number can be written.
    #[derive(Debug, Clone)]
    struct Spelling {
        style: NumberStyle,
        between: &'static str,
        negative: usize,
        currency_first: bool,
        space: &'static str,
    }

    fn spellings() -> impl Strategy<Value = Spelling> {
        let currencies = prop::option::of(prop::sample::select(CURRENCIES));
        let space = prop::sample::select(vec!["", " ", "\u{a0}"]);
        let between = prop::sample::select(vec!["", "mark", " ", "\u{a0}", "\u{202f}", "'", "’"]);
        (any::<bool>(), currencies, any::<bool>(), between, 0..4_usize, any::<bool>(), space).prop_map(
            |(comma, currency, percent, between, negative, currency_first, space)| {
                let decimal = if comma { DecimalMark::Comma } else { DecimalMark::Point };
                let mark = if comma { "." } else { "," };
                Spelling {
                    style: NumberStyle { decimal, currency: currency.map(String::from), percent },
                    between: if between == "mark" { mark } else { between },
                    negative,
                    currency_first,
                    space,
                }
            },
        )
    }

    impl Spelling {
        /// The number `whole`.`fraction`, negative or not.
        fn write(&self, whole: u64, fraction: &str, negative: bool) -> String {
            let digits = whole.to_string();
            let mut grouped = String::new();
            for (place, digit) in digits.chars().enumerate() {
                if place > 0 && (digits.len() - place).is_multiple_of(3) {
                    grouped.push_str(self.between);
                }
                grouped.push(digit);
            }
            if !fraction.is_empty() {
                grouped.push(self.style.decimal.character());
                grouped.push_str(fraction);
            }
            if self.style.percent {
                grouped = format!("{grouped}{}%", self.space);
            }
            let body = match &self.style.currency {
                Some(currency) if self.currency_first => format!("{currency}{}{grouped}", self.space),
                Some(currency) => format!("{grouped}{}{currency}", self.space),
                None => grouped,
            };
            match (negative, self.negative) {
                (false, 0) => format!("+{body}"),
                (false, _) => body,
                (true, 0) => format!("-{body}"),
                (true, 1) => format!("−{body}"),
                (true, 2) => format!("({body})"),
                (true, _) => format!("{body}-"),
            }
        }
    }

    proptest! {
        #[test]
        fn every_spelling_means_the_same_number(
            spelling in spellings(),
            whole in prop_oneof![0..2000_u64, 0..10_000_000_000_u64],
            fraction in "[0-9]{0,6}",
            negative: bool,
        ) {
            let field = spelling.write(whole, &fraction, negative);
            let sign = if negative { "-" } else { "" };
            let exponent = if spelling.style.percent { "e-2" } else { "" };
            let expected: f64 = format!("{sign}{whole}.{fraction}0{exponent}").parse().unwrap();
            let read = spelling.style.read(&field, &mut String::new());
            prop_assert_eq!(read.map(f64::to_bits), Some(expected.to_bits()), "{}", field);
        }

        #[test]
        fn no_field_is_a_panic(field in ".{0,24}|[-+(€$%0-9., ')–eE]{0,16}", comma: bool) {
            let decimal = if comma { DecimalMark::Comma } else { DecimalMark::Point };
            if let Some(number) = read(decimal, &field) {
                prop_assert!(number.is_finite());
            }
        }

        #[test]
        fn plain_numbers_mean_what_they_mean_elsewhere(number in -1e12..1e12_f64) {
            let field = number.to_string();
            prop_assert_eq!(read(DecimalMark::Point, &field), Some(number));
        }
    }
}
