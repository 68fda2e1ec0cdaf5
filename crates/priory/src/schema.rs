//! What the columns are: names, kinds, how they are written, and which spellings mean that a value is missing.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::text::TextSettings;
use crate::written::{Bins, PartOfDate, Written};

/// The spellings of a missing value unless the user says otherwise.
pub const MISSING_SPELLINGS: [&str; 5] = ["", "?", "NA", "NaN", "null"];

/// The table as the statistics see it. Checked once, by [`Schema::new`].
///
/// ```
/// use priory::{Column, Kind, Schema};
///
/// let schema = Schema::new("play", vec![Column::new("outlook", Kind::Category)]).unwrap();
/// assert!(schema.is_missing("?"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// The column that holds the class.
    pub target: String,
    /// The intervals that are the classes, if the target is a number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bins: Option<Bins>,
    /// The column that holds each row's weight, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub weight: Option<String>,
    /// The column that says which rows depend on each other, if there is one: whole groups of them are left out where others are
    /// to be predicted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub group: Option<String>,
    /// Spellings that mean: no value in this row.
    pub missing: Vec<String>,
    /// The features, in the order of the table.
    pub columns: Vec<Column>,
}

/// One feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name in the header.
    pub name: String,
    /// What is counted of it.
    pub kind: Kind,
    /// How its documents are read, if it holds text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<TextSettings>,
    /// How its values are written, if not plainly.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub written: Option<Written>,
    /// The column of the table that it is read from, if that has another name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
}

/// What is counted of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The weight of each of its values.
    Category,
    /// The weight of each combination of values of all joint columns together.
    Joint,
    /// Exact sums of its numbers and of their squares, and how often each number occurs.
    Number,
    /// Exact sums of its numbers and of their squares, and no more: enough for a Gaussian.
    Moments,
    /// How often each token occurs, and in how many documents.
    Text,
    /// Exact sums of its numbers, and of their products with those of all other columns of this kind: one normal
    /// distribution in as many dimensions.
    Group,
}

impl Kind {
    /// Whether its values are numbers.
    pub fn is_number(self) -> bool {
        matches!(self, Kind::Number | Kind::Moments | Kind::Group)
    }

    /// The word for it, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Category => "category",
            Kind::Joint => "joint",
            Kind::Number => "number",
            Kind::Moments => "moments",
            Kind::Text => "text",
            Kind::Group => "group",
        }
    }
}

impl Column {
    /// A column of this name and kind. Text is read in the usual way.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        let text = (kind == Kind::Text).then(TextSettings::default);
        Column { name: name.into(), kind, text, written: None, from: None }
    }

    /// A column of documents.
    pub fn text(name: impl Into<String>, settings: TextSettings) -> Self {
        Column { name: name.into(), kind: Kind::Text, text: Some(settings), written: None, from: None }
    }

    /// A part of the dates of a column of the table: `when weekday`.
    pub fn part_of_date(from: &str, written: PartOfDate) -> Self {
        let name = format!("{from} {}", written.part.name());
        let column = Column::new(name, Kind::Category).written(Some(Written::Part(written)));
        Column { from: Some(from.to_owned()), ..column }
    }

    /// The column of the table that it is read from.
    pub fn source(&self) -> &str {
        self.from.as_deref().unwrap_or(&self.name)
    }

    /// The word for what it is, as on the command line.
    pub fn word(&self) -> &'static str {
        if let Some(Written::Date(_)) = self.written { "date" } else { self.kind.name() }
    }

    /// The same column, whose values are written like this.
    pub fn written(self, written: Option<Written>) -> Self {
        Column { written, ..self }
    }
}

impl Schema {
    /// Whether pairs of neighbours are counted in a column of text, which only a judgement weighs.
    pub fn has_neighbours(&self) -> bool {
        self.texts().any(|text| text.tokens.neighbours)
    }

    fn texts(&self) -> impl Iterator<Item = &TextSettings> {
        self.columns.iter().filter_map(|column| column.text.as_ref())
    }

    /// The same columns, without pairs of neighbours.
    pub(crate) fn without_neighbours(&self) -> Schema {
        let mut schema = self.clone();
        schema.drop_neighbours();
        schema
    }

    pub(crate) fn drop_neighbours(&mut self) {
        let texts = self.columns.iter_mut().filter_map(|column| column.text.as_mut());
        texts.for_each(|text| (text.tokens.neighbours, text.tokens.characters) = (false, None));
    }

    /// A schema without weights and with the usual spellings of missing.
    ///
    /// # Errors
    /// If a name occurs twice or is the target's.
    pub fn new(target: impl Into<String>, columns: Vec<Column>) -> Result<Self> {
        let missing = MISSING_SPELLINGS.map(String::from).to_vec();
        Schema { target: target.into(), bins: None, weight: None, group: None, missing, columns }.checked()
    }

    /// The same schema, if it makes sense.
    ///
    /// # Errors
    /// If a name occurs twice among target, weight, group and features, or a column is not read as its kind asks for.
    pub fn checked(self) -> Result<Self> {
        let mut names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        names.push(&self.target);
        names.extend(self.weight.iter().chain(&self.group).map(String::as_str));
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::Schema(format!("the column `{}` occurs twice", twice[0])));
        }
        if self.bins.as_ref().is_some_and(|bins| bins.numbers().is_none()) {
            return Err(Error::Schema("the intervals of the target are not numbers from low to high".into()));
        }
        for column in &self.columns {
            match (&column.text, column.kind) {
                (Some(text), Kind::Text) => text.tokens.check()?,
                (None, Kind::Text) => {
                    let name = &column.name;
                    return Err(Error::Schema(format!(
                        "the column `{name}` does not say how its text is read"
                    )));
                }
                (Some(_), _) => {
                    return Err(Error::Schema(format!("the column `{}` is no text", column.name)));
                }
                (None, _) => {}
            }
            let is_category = matches!(column.kind, Kind::Category | Kind::Joint);
            let fits =
                |written: &Written| if written.is_number() { column.kind.is_number() } else { is_category };
            if !column.written.as_ref().is_none_or(fits) {
                let (name, kind) = (&column.name, column.kind.name());
                return Err(Error::Schema(format!(
                    "the {kind} column `{name}` is written as something else"
                )));
            }
        }
        Ok(self)
    }

    /// Whether this spelling means that there is no value.
    pub fn is_missing(&self, value: &str) -> bool {
        self.missing.iter().any(|spelling| spelling == value)
    }

    /// Whether words such as `N/A` and `-` mean missing in columns of numbers, dates and truth values
    /// ([`is_missing_word`](crate::infer::is_missing_word)): unless others than the usual spellings were named.
    pub fn knows_missing_words(&self) -> bool {
        self.missing == MISSING_SPELLINGS
    }

    /// Where a feature is among the columns.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The same schema with no other columns than those at these positions.
    pub(crate) fn only(&self, columns: &[usize]) -> Schema {
        let columns = columns.iter().map(|&i| self.columns[i].clone()).collect();
        Schema { columns, ..self.clone() }
    }

    /// The positions of the columns of a kind: those that share a joint table, or a group.
    pub(crate) fn columns_of(&self, kind: Kind) -> Vec<usize> {
        (0..self.columns.len()).filter(|&i| self.columns[i].kind == kind).collect()
    }
}
