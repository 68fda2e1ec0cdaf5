//! Queries that have a database count the columns of a table.
//!
//! Nothing but names becomes part of a query, and names are always quoted. Values of text are compared byte by byte, whatever the
//! collation of a column calls equal. Nothing is summed but counts: a database rounds sums of squares, here they are exact.

use std::fmt;
use std::str::FromStr;

use priory::counts::Counts;
use priory::{Kind, Schema};

use crate::error::{Error, Result, shown};

/// How a database writes what differs between them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dialect {
    /// As the standard has it.
    #[default]
    Standard,
    /// DuckDB.
    DuckDb,
    /// PostgreSQL.
    PostgreSql,
    /// SQLite.
    Sqlite,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Dialect; 4] = [Dialect::Standard, Dialect::DuckDb, Dialect::PostgreSql, Dialect::Sqlite];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Standard => "standard",
            Dialect::DuckDb => "duckdb",
            Dialect::PostgreSql => "postgresql",
            Dialect::Sqlite => "sqlite",
        }
    }

    /// A string, whatever is in it.
    fn text(self, text: &str) -> String {
        let doubled = text.replace('\'', "''");
        match self {
            // Whether a backslash stands for itself is a setting there, but not in such a string.
            Dialect::PostgreSql if text.contains('\\') => format!("E'{}'", doubled.replace('\\', "\\\\")),
            _ => format!("'{doubled}'"),
        }
    }

    /// An expression whose values are told apart byte by byte, if they are text.
    fn apart(self, expression: &str) -> String {
        match self {
            Dialect::Standard => expression.to_owned(),
            Dialect::DuckDb => format!("CAST({expression} AS VARCHAR) COLLATE C"),
            Dialect::PostgreSql => format!("CAST({expression} AS text) COLLATE \"C\""),
            Dialect::Sqlite => format!("{expression} COLLATE BINARY"),
        }
    }

    /// The same as text.
    fn written(self, expression: &str) -> String {
        match self {
            Dialect::Standard => format!("CAST({expression} AS VARCHAR(4000))"),
            Dialect::DuckDb | Dialect::PostgreSql => self.apart(expression),
            // Cast to text, a number would lose its last digits, and with 17 of them very large ones would be rounded wrongly.
            Dialect::Sqlite => format!(
                "CASE typeof({expression}) WHEN 'real' THEN printf('%!.20g', {expression}) ELSE CAST({expression} AS TEXT) END"
            ),
        }
    }

    /// A number that must not lose digits on its way out of the database.
    fn total(self, expression: &str) -> String {
        match self {
            Dialect::Sqlite => self.written(expression),
            Dialect::Standard | Dialect::DuckDb | Dialect::PostgreSql => expression.to_owned(),
        }
    }

    /// What values are grouped by besides themselves: in SQLite 1 and 1.0 are equal, but they are not written alike.
    fn grouped(self, expression: &str) -> String {
        match self {
            Dialect::Sqlite => format!("{expression}, typeof({expression})"),
            _ => expression.to_owned(),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(word: &str) -> std::result::Result<Self, String> {
        let names = Dialect::ALL.map(Dialect::name);
        let found = Dialect::ALL.into_iter().find(|dialect| dialect.name() == word);
        found.ok_or_else(|| format!("expected {}", names.join(", ")))
    }
}

/// A name, whatever is in it.
fn name(name: &str) -> Result<String> {
    match name {
        "" => Err(Error::Columns("a table or column without a name cannot be asked for in SQL".into())),
        _ if name.contains('\0') => {
            Err(Error::Columns(format!("{} holds a NUL, which no name in SQL does", shown(name))))
        }
        _ => Ok(format!("\"{}\"", name.replace('"', "\"\""))),
    }
}

/// Queries about some rows.
#[derive(Debug, Clone)]
pub struct Sql {
    dialect: Dialect,
    /// What stands after FROM.
    from: String,
}

impl Sql {
    /// About the rows of a table, whose name may have several parts, such as those of its schema and its own.
    ///
    /// # Errors
    /// If a part of the name cannot be one.
    pub fn of_table(dialect: Dialect, parts: &[String]) -> Result<Self> {
        if parts.is_empty() {
            return name("").map(|from| Sql { dialect, from });
        }
        let parts: Vec<String> = parts.iter().map(|part| name(part)).collect::<Result<_>>()?;
        Ok(Sql { dialect, from: parts.join(".") })
    }

    /// About the rows that a query gives.
    pub fn of_query(dialect: Dialect, query: &str) -> Self {
        let query = query.trim_end_matches(|sign: char| sign.is_whitespace() || sign == ';');
        // A comment at the end of the query ends with its line.
        Sql { dialect, from: format!("(\n{query}\n) AS counted") }
    }

    /// The first of them, or any, as the database likes.
    pub fn first_rows(&self, rows: usize) -> String {
        format!("SELECT * FROM {} LIMIT {rows}", self.from)
    }

    /// How many different values there are in each of these columns of the first rows.
    ///
    /// # Errors
    /// If something cannot be a name.
    pub fn distinct(&self, columns: &[String], rows: usize) -> Result<String> {
        let names: Vec<String> = columns.iter().map(|column| name(column)).collect::<Result<_>>()?;
        let counted = names.iter().map(|column| format!("count(DISTINCT {column})"));
        let counted: Vec<String> = counted.collect();
        let (counted, names) = (counted.join(", "), names.join(", "));
        Ok(format!("SELECT {counted} FROM (SELECT {names} FROM {} LIMIT {rows}) AS first_rows", self.from))
    }

    /// How often each value of a column occurs in each class. All have the names that they have in the table, and the counts are
    /// called `count`. Of some columns it is known that they are text.
    ///
    /// # Errors
    /// If something cannot be a name.
    pub fn counts(&self, target: &str, column: &str, count: &str, texts: &[String]) -> Result<String> {
        let (target_name, column_name) = (name(target)?, name(column)?);
        let apart = |column: &str, name: &str| match texts.iter().any(|text| text == column) {
            true => self.dialect.apart(name),
            false => name.to_owned(),
        };
        let (class, value) = (apart(target, &target_name), apart(column, &column_name));
        Ok(format!(
            "SELECT {class} AS {target_name}, {value} AS {column_name}, count(*) AS {} FROM {} GROUP BY {}, {}",
            name(count)?,
            self.from,
            self.dialect.grouped(&class),
            self.dialect.grouped(&value),
        ))
    }

    /// Class and value of every row.
    ///
    /// # Errors
    /// If something cannot be a name.
    pub fn rows(&self, target: &str, column: &str) -> Result<String> {
        Ok(format!("SELECT {}, {} FROM {}", name(target)?, name(column)?, self.from))
    }

    /// A table of counts of all columns of a schema, in one query.
    ///
    /// # Errors
    /// If a column is counted otherwise than value by value, or something cannot be a name.
    pub fn table_of_counts(&self, schema: &Schema) -> Result<String> {
        let target = name(&schema.target)?;
        let class = self.dialect.written(&target);
        let weight = match &schema.weight {
            None => "count(*)".to_owned(),
            Some(weight) => self.dialect.total(&format!("sum({})", name(weight)?)),
        };
        let count = if schema.weight.is_none() { "''".to_owned() } else { self.dialect.written("count(*)") };
        let mut queries = vec![format!(
            "SELECT '' AS \"column\", {class} AS \"class\", {count} AS \"value\", {weight} AS \"weight\"\nFROM {}\nWHERE {target} IS NOT NULL\nGROUP BY {class}",
            self.from
        )];
        for column in Counts::empty(schema)?.sources() {
            let value = name(column)?;
            let is_number =
                schema.columns.iter().any(|of| of.source() == column && of.kind != Kind::Category);
            let written = self.dialect.written(&value);
            // Numbers are grouped faster than their spellings.
            let grouped = if is_number { self.dialect.grouped(&value) } else { written.clone() };
            queries.push(format!(
                "SELECT {}, {class}, {written}, {weight}\nFROM {}\nWHERE {target} IS NOT NULL AND {value} IS NOT NULL\nGROUP BY {class}, {grouped}",
                self.dialect.text(column),
                self.from
            ));
        }
        Ok(format!("{};\n", queries.join("\nUNION ALL\n")))
    }
}

#[cfg(test)]
mod tests {
    use priory::Column;

    use super::*;

    #[test]
    fn names_are_quoted_whatever_is_in_them() {
        assert_eq!(name("a \"b\"; --").unwrap(), "\"a \"\"b\"\"; --\"");
        assert!(name("").is_err() && name("a\0b").is_err());
        let sql = Sql::of_table(Dialect::Standard, &["x\"; DROP TABLE y; --".into()]).unwrap();
        assert_eq!(sql.first_rows(5), "SELECT * FROM \"x\"\"; DROP TABLE y; --\" LIMIT 5");
        assert!(Sql::of_table(Dialect::Standard, &[]).is_err());
        assert_eq!(Dialect::PostgreSql.text("O'Brien"), "'O''Brien'");
        assert_eq!(Dialect::PostgreSql.text("\\' OR 1=1; --"), "E'\\\\'' OR 1=1; --'");
        assert_eq!(Dialect::Sqlite.text("\\'"), "'\\'''");
    }

    #[test]
    fn a_query_may_end_as_people_end_it() {
        let sql = Sql::of_query(Dialect::Standard, "SELECT * FROM t -- all of it\n ;\n");
        assert_eq!(sql.first_rows(1), "SELECT * FROM (\nSELECT * FROM t -- all of it\n) AS counted LIMIT 1");
    }

    #[test]
    fn nothing_is_summed_but_counts_and_weights() {
        let columns = vec![Column::new("size", Kind::Number), Column::new("colour", Kind::Category)];
        let mut schema = Schema::new("class", columns).unwrap();
        for dialect in Dialect::ALL {
            let sql = Sql::of_table(dialect, &["t".into()]).unwrap();
            assert!(!sql.table_of_counts(&schema).unwrap().contains("sum("));
            assert_eq!(dialect.name().parse(), Ok(dialect));
        }
        schema.weight = Some("w".into());
        let sql = Sql::of_table(Dialect::Standard, &["t".into()]).unwrap();
        assert!(sql.table_of_counts(&schema).unwrap().contains("sum(\"w\") AS \"weight\""));
        schema.columns.push(Column::new("note", Kind::Text));
        assert!(sql.table_of_counts(&schema).unwrap_err().to_string().contains("`note` is text"));
        assert!("oracle".parse::<Dialect>().is_err());
    }
}
