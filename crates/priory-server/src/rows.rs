//! Rows in JSON: each value goes to the columns that it is for, row by row or column by column.
//!
//! `{"rows": [{"outlook": "S", "wind": null}]}` and `{"columns": {"outlook": ["S"], "wind": [null]}}` mean the same. Values are
//! strings, numbers, truth values or null. Names that are no columns are passed over and counted.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use priory_input::RowValue;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::refusal::Refusal;

/// Where values go. Several places may have the same name.
#[derive(Debug, Default)]
pub(crate) struct Places {
    by_name: HashMap<String, Vec<usize>>,
    count: usize,
}

impl Places {
    /// Places with these names, numbered in this order.
    pub(crate) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut places = Places::default();
        for name in names {
            places.by_name.entry(name.to_owned()).or_default().push(places.count);
            places.count += 1;
        }
        places
    }
}

/// What takes the values.
pub(crate) trait Sink {
    /// Takes the next value of a place.
    fn push(&mut self, place: usize, value: RowValue<'_>) -> Result<(), String>;

    /// Every place has one more value.
    fn end_row(&mut self);
}

/// What was in a request beside its values.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) rows: usize,
    /// How often each name stood there that is no column; only some of them, if there are many.
    pub(crate) unknown: BTreeMap<String, u64>,
    pub(crate) id: Option<String>,
}

/// Reads a request.
pub(crate) fn read(
    body: &[u8],
    places: &Places,
    most_rows: usize,
    sink: &mut impl Sink,
) -> Result<Read, Refusal> {
    let mut filler = Filler {
        places,
        sink,
        filled: vec![0; places.count],
        most_rows,
        is_too_much: false,
        is_understood: true,
        read: Read::default(),
    };
    let mut input = serde_json::Deserializer::from_slice(body);
    let read = Body(&mut filler).deserialize(&mut input).and_then(|()| input.end());
    match read {
        Ok(()) => Ok(filler.read),
        Err(_) if filler.is_too_much => {
            Err(Refusal::too_large(format!("more than {most_rows} rows at once")))
        }
        // What could not be understood is told from what was, and cannot be.
        Err(error) if error.is_data() && !filler.is_understood => {
            Err(Refusal::unprocessable(error.to_string()))
        }
        Err(error) => Err(Refusal::malformed(format!("the body is not what was expected: {error}"))),
    }
}

struct Filler<'a, S> {
    places: &'a Places,
    sink: &'a mut S,
    /// How many values each place has.
    filled: Vec<usize>,
    most_rows: usize,
    is_too_much: bool,
    is_understood: bool,
    read: Read,
}

impl<S: Sink> Filler<'_, S> {
    /// Names beyond this are not told one by one.
    const MOST_UNKNOWN: usize = 100;

    fn push<E: Error>(&mut self, places: &[usize], value: RowValue<'_>) -> Result<(), E> {
        for &place in places {
            self.filled[place] += 1;
            if let Err(why) = self.sink.push(place, value) {
                self.is_understood = false;
                return Err(E::custom(why));
            }
        }
        Ok(())
    }

    /// Fills what the row does not name.
    fn end_row<E: Error>(&mut self) -> Result<(), E> {
        for place in 0..self.filled.len() {
            if self.filled[place] <= self.read.rows {
                self.push(&[place], RowValue::Missing)?;
            }
        }
        self.sink.end_row();
        self.read.rows += 1;
        self.check_count(self.read.rows)
    }

    fn check_count<E: Error>(&mut self, rows: usize) -> Result<(), E> {
        self.is_too_much |= rows > self.most_rows;
        if self.is_too_much { Err(E::custom("too many rows")) } else { Ok(()) }
    }

    fn pass_over(&mut self, name: &str, times: u64) {
        let unknown = &mut self.read.unknown;
        if let Some(count) = unknown.get_mut(name) {
            *count += times;
        } else if unknown.len() < Self::MOST_UNKNOWN {
            unknown.insert(name.to_owned(), times);
        }
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Key {
    Rows,
    Columns,
    Id,
}

/// The whole request.
struct Body<'f, 'a, S>(&'f mut Filler<'a, S>);

impl<'de, S: Sink> DeserializeSeed<'de> for Body<'_, '_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for Body<'_, '_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `rows`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Body(filler) = self;
        let mut has_values = false;
        while let Some(key) = map.next_key()? {
            match key {
                Key::Id if filler.read.id.is_some() => return Err(A::Error::duplicate_field("id")),
                Key::Id => filler.read.id = Some(map.next_value()?),
                Key::Rows | Key::Columns if has_values => {
                    return Err(A::Error::custom("there are rows or columns, once"));
                }
                Key::Rows => {
                    map.next_value_seed(Rows(filler))?;
                    has_values = true;
                }
                Key::Columns => {
                    map.next_value_seed(Columns(filler))?;
                    has_values = true;
                }
            }
        }
        if has_values { Ok(()) } else { Err(A::Error::missing_field("rows")) }
    }
}

/// A list of objects.
struct Rows<'f, 'a, S>(&'f mut Filler<'a, S>);

impl<'de, S: Sink> DeserializeSeed<'de> for Rows<'_, '_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_seq(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for Rows<'_, '_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        while rows.next_element_seed(Row(self.0))?.is_some() {}
        Ok(())
    }
}

/// An object whose keys are columns.
struct Row<'f, 'a, S>(&'f mut Filler<'a, S>);

impl<'de, S: Sink> DeserializeSeed<'de> for Row<'_, '_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for Row<'_, '_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row, an object with a value for each column")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut row: A) -> Result<(), A::Error> {
        let Row(filler) = self;
        let known = filler.places;
        while let Some(name) = row.next_key_seed(Name)? {
            let Some(places) = known.by_name.get(&*name) else {
                row.next_value::<IgnoredAny>()?;
                filler.pass_over(&name, 1);
                continue;
            };
            // Readers differ in which of two values they take.
            if filler.filled[places[0]] > filler.read.rows {
                filler.is_understood = false;
                return Err(A::Error::custom(format!("the column `{name}` stands twice in one row")));
            }
            row.next_value_seed(Cell(filler, places))?;
        }
        filler.end_row()
    }
}

/// An object whose keys are columns, and whose values are lists.
struct Columns<'f, 'a, S>(&'f mut Filler<'a, S>);

impl<'de, S: Sink> DeserializeSeed<'de> for Columns<'_, '_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for Columns<'_, '_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a list of values for each column")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut columns: A) -> Result<(), A::Error> {
        let Columns(filler) = self;
        let known = filler.places;
        let mut rows: Option<usize> = None;
        while let Some(name) = columns.next_key_seed(Name)? {
            let places = known.by_name.get(&*name);
            if places.is_some_and(|places| filler.filled[places[0]] > 0) {
                filler.is_understood = false;
                return Err(A::Error::custom(format!("the column `{name}` is there twice")));
            }
            let length = columns.next_value_seed(List(filler, places.map(Vec::as_slice)))?;
            if rows.is_some_and(|rows| rows != length) {
                filler.is_understood = false;
                return Err(A::Error::custom(format!("the column `{name}` is not as long as the others")));
            }
            rows = Some(length);
            if places.is_none() {
                filler.pass_over(&name, length as u64);
            }
        }
        for _ in 0..rows.unwrap_or(0) {
            filler.end_row()?;
        }
        Ok(())
    }
}

/// The values of a column; its value is how many there are.
struct List<'f, 'a, S>(&'f mut Filler<'a, S>, Option<&'a [usize]>);

impl<'de, S: Sink> DeserializeSeed<'de> for List<'_, '_, S> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<usize, D::Error> {
        input.deserialize_seq(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for List<'_, '_, S> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<usize, A::Error> {
        let List(filler, places) = self;
        let mut count = 0;
        loop {
            let next = match places {
                Some(places) => values.next_element_seed(Cell(filler, places))?,
                None => values.next_element::<IgnoredAny>()?.map(|_| ()),
            };
            if next.is_none() {
                return Ok(count);
            }
            count += 1;
            filler.check_count(count)?;
        }
    }
}

/// A name that is copied only if it is written with escapes.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Cow<'de, str>, D::Error> {
        input.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a column")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

/// One value.
struct Cell<'f, 'a, S>(&'f mut Filler<'a, S>, &'a [usize]);

impl<'de, S: Sink> DeserializeSeed<'de> for Cell<'_, '_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for Cell<'_, '_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a number, true, false or null")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.0.push(self.1, RowValue::Missing)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<(), E> {
        self.0.push(self.1, RowValue::Boolean(truth))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.0.push(self.1, RowValue::Integer(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        let value = i64::try_from(number).map_or(RowValue::Number(number as f64), RowValue::Integer);
        self.0.push(self.1, value)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.0.push(self.1, RowValue::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.push(self.1, RowValue::Text(text))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;

    /// Writes down what comes.
    #[derive(Default)]
    struct Notes(Vec<Vec<String>>, usize);

    impl Sink for Notes {
        fn push(&mut self, place: usize, value: RowValue<'_>) -> Result<(), String> {
            self.0.resize(self.0.len().max(place + 1), Vec::new());
            if value == RowValue::Text("bad") {
                return Err("`bad` is bad".to_owned());
            }
            self.0[place].push(format!("{value:?}"));
            Ok(())
        }

        fn end_row(&mut self) {
            self.1 += 1;
            assert!(self.0.iter().all(|values| values.len() >= self.1));
        }
    }

    fn noted(body: &str) -> Result<(Notes, Read), Refusal> {
        let mut notes = Notes::default();
        let read = read(body.as_bytes(), &Places::new(["a", "b", "a"]), 3, &mut notes)?;
        Ok((notes, read))
    }

    #[test]
    fn rows_and_columns_say_the_same() {
        let rows = r#"{"id": "x", "rows": [{"b": 1, "c": [1, {"d": 2}]}, {"a": "t\u00e9", "c": 0}, {"a": null, "b": 1.5}]}"#;
        let columns =
            r#"{"columns": {"b": [1, null, 1.5], "a": [null, "té", null], "c": [1, 2, 3]}, "id": "x"}"#;
        let ((of_rows, read), (of_columns, also)) = (noted(rows).unwrap(), noted(columns).unwrap());
        assert_eq!(of_rows.0, of_columns.0);
        assert_eq!(of_rows.0[0], ["Missing", "Text(\"té\")", "Missing"]);
        assert_eq!(of_rows.0[0], of_rows.0[2]);
        assert_eq!((read.rows, also.rows, of_rows.1, of_columns.1), (3, 3, 3, 3));
        assert_eq!((read.id.as_deref(), read.unknown["c"], also.unknown["c"]), (Some("x"), 2, 3));
    }

    #[test]
    fn what_cannot_be_is_told_from_what_is_not_understood() {
        let status = |body: &str| noted(body).err().map(|refusal| refusal.status);
        let malformed = Some(StatusCode::BAD_REQUEST);
        for body in ["", "{", "[]", "{}", "null", r#"{"rows": {}}"#, r#"{"rows": [1]}"#, r#"{"rows": []} x"#]
        {
            assert_eq!(status(body), malformed, "{body}");
        }
        for body in [
            r#"{"rows": [], "columns": {}}"#,
            r#"{"rows": [], "row": 1}"#,
            r#"{"rows": [{"a": [1]}]}"#,
            r#"{"rows": [], "id": 1}"#,
            "{\"rows\": [{\"a\": \"\u{1}\"}]}",
        ] {
            assert_eq!(status(body), malformed, "{body}");
        }
        let impossible = Some(StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(status(r#"{"rows": [{"a": 1, "a": 2}]}"#), impossible);
        assert_eq!(status(r#"{"rows": [{"a": "bad"}]}"#), impossible);
        assert_eq!(status(r#"{"columns": {"a": [1], "b": []}}"#), impossible);
        assert_eq!(status(r#"{"columns": {"a": [1], "a": [1]}}"#), impossible);
        let too_large = Some(StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(status(r#"{"rows": [{}, {}, {}, {}]}"#), too_large);
        assert_eq!(status(r#"{"columns": {"c": [1, 1, 1, 1]}}"#), too_large);
        assert_eq!(status(r#"{"rows": [{}, {}, {}]}"#), None);
    }

    #[test]
    fn depth_costs_nothing() {
        let nested = format!("{}{}", "[".repeat(1 << 20), "]".repeat(1 << 20));
        let (_, read) = noted(&format!(r#"{{"rows": [{{"c": {nested}}}]}}"#)).unwrap();
        assert_eq!(read.rows, 1);
        assert!(noted(&format!(r#"{{"rows": [{{"a": {nested}}}]}}"#)).is_err());
        assert!(noted(&nested).is_err());
    }
}
