//! What the columns are: names, kinds, and which spellings mean that a value is missing.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::text::TextSettings;

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
    /// The column that holds each row's weight, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub weight: Option<String>,
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
        Column { name: name.into(), kind, text: (kind == Kind::Text).then(TextSettings::default) }
    }

    /// A column of documents.
    pub fn text(name: impl Into<String>, settings: TextSettings) -> Self {
        Column { name: name.into(), kind: Kind::Text, text: Some(settings) }
    }
}

impl Schema {
    /// A schema without weights and with the usual spellings of missing.
    ///
    /// # Errors
    /// If a name occurs twice or is the target's.
    pub fn new(target: impl Into<String>, columns: Vec<Column>) -> Result<Self> {
        let missing = MISSING_SPELLINGS.map(String::from).to_vec();
        Schema { target: target.into(), weight: None, missing, columns }.checked()
    }

    /// The same schema, if it makes sense.
    ///
    /// # Errors
    /// If a name occurs twice among target, weight and features, or the settings of a text column are wrong.
    pub fn checked(self) -> Result<Self> {
        let mut names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        names.push(&self.target);
        names.extend(self.weight.as_deref());
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::Schema(format!("the column `{}` occurs twice", twice[0])));
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
        }
        Ok(self)
    }

    /// Whether this spelling means that there is no value.
    pub fn is_missing(&self, value: &str) -> bool {
        self.missing.iter().any(|spelling| spelling == value)
    }

    /// Where a feature is among the columns.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The positions of the columns of a kind: those that share a joint table, or a group.
    pub(crate) fn columns_of(&self, kind: Kind) -> Vec<usize> {
        (0..self.columns.len()).filter(|&i| self.columns[i].kind == kind).collect()
    }
}
