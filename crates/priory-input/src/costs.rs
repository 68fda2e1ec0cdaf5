//! What mistakes cost, from a table.

use priory::decide::Cost;
use priory::words::named;
use priory::{Column, Kind, Schema};

use crate::error::{Error, Result};
use crate::table::{Purpose, Table};

/// Reads costs from a table with the columns `true`, `predicted` and `cost`; or from a matrix, whose first column has the true
/// classes, and which has a column for each class that can be answered. `*` stands for all classes that are not named.
///
/// # Errors
/// If the columns are others, or a cost is no number.
pub fn read_costs(table: Table) -> Result<Vec<Cost>> {
    let name = table.name().to_owned();
    let header = table.header().to_vec();
    let is_list = ["true", "predicted", "cost"].iter().all(|column| header.iter().any(|name| name == column));
    let names: Vec<String> = match is_list {
        true => ["true", "predicted", "cost"].map(String::from).to_vec(),
        false => header,
    };
    if names.len() < 3 {
        let expected = "expected the columns true, predicted and cost, or a column for each class";
        return Err(Error::Columns(format!("{name}: {expected}")));
    }
    let columns = names.iter().map(|name| Column::new(name, Kind::Category)).collect();
    // Nothing is missing here: `?` or `NA` may be a class.
    let (weight, group) = (None, None);
    let schema = Schema { target: String::new(), bins: None, weight, group, missing: Vec::new(), columns };
    let mut costs = Vec::new();
    let mut batches = table.batches(&schema, Purpose::Scoring)?;
    let mut batch = batches.reader().empty_batch();
    while batches.read(&mut batch)? {
        for row in 0..batch.rows {
            let value = |column: usize| batch.category(column).value(row).unwrap_or_default();
            let number = |text: &str| {
                text.trim().parse::<f64>().ok().filter(|cost| cost.is_finite()).ok_or_else(|| {
                    let place = format!("{name}: row {}", batch.row_number(row));
                    Error::Columns(format!("{place}: the cost `{text}` is not a number"))
                })
            };
            let true_class = named(value(0));
            if is_list {
                costs.push(Cost { true_class, predicted: named(value(1)), cost: number(value(2))? });
                continue;
            }
            for (column, predicted) in names.iter().enumerate().skip(1) {
                let cost = number(value(column))?;
                costs.push(Cost { true_class: true_class.clone(), predicted: named(predicted), cost });
            }
        }
    }
    Ok(costs)
}
