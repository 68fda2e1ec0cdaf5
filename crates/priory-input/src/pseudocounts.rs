//! Pseudocounts from a table.

use priory::settings::Pseudocounts;
use priory::{Column, Kind, Schema};

use crate::error::{Error, Result};
use crate::table::{Purpose, Table};

/// Reads pseudocounts from a table with the columns `column`, `value` and either `pseudocount`, what is added to each count,
/// or `beta`, parameters of Dirichlet distributions, of whose posteriors the modes are the estimate.
///
/// # Errors
/// If the columns are others, or an amount is none.
pub fn read_pseudocounts(table: Table) -> Result<Pseudocounts> {
    let name = table.name().to_owned();
    let has = |name: &str| table.header().iter().any(|column| column == name);
    let (amount, less) = match (has("beta"), has("pseudocount")) {
        (true, false) => ("beta", 1.0),
        (false, true) => ("pseudocount", 0.0),
        _ => {
            let expected = "expected the columns column, value and either beta or pseudocount";
            return Err(Error::Columns(format!("{name}: {expected}")));
        }
    };
    table.column("key", "column")?;
    table.column("key", "value")?;
    let columns = ["column", "value", amount].map(|name| Column::new(name, Kind::Category)).to_vec();
    // Nothing is missing here: `?` or `NA` may be the very value that a pseudocount is for.
    let (weight, group) = (None, None);
    let schema = Schema { target: String::new(), bins: None, weight, group, missing: Vec::new(), columns };
    let mut pseudocounts = Pseudocounts::default();
    let mut batches = table.batches(&schema, Purpose::Scoring)?;
    let mut batch = batches.reader().empty_batch();
    while batches.read(&mut batch)? {
        for row in 0..batch.rows {
            let [column, value, amount] = [0, 1, 2].map(|i| batch.category(i).value(row).unwrap_or_default());
            let place = format!("{name}: row {}", batch.row_number(row));
            let added = amount.parse::<f64>().ok().map(|x| x - less).filter(|x| x.is_finite() && *x >= 0.0);
            let Some(added) = added else {
                let least = if less == 1.0 { "1, below which the posterior has no mode inside" } else { "0" };
                let what = format!("{place}: `{amount}` is not a number of at least {least}");
                return Err(Error::Columns(what));
            };
            let values = pseudocounts.0.entry(column.to_owned()).or_default();
            if values.insert(value.to_owned(), added).is_some() {
                return Err(Error::Columns(format!("{place}: {column}={value} occurs twice")));
            }
        }
    }
    Ok(pseudocounts)
}
