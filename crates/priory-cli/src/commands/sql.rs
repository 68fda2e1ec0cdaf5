//! `priory sql`: a query that has a database count the columns of a table.

use std::io::Write;

use anyhow::Result;
use priory::Settings;
use priory_input::Sql;

use crate::args::{Format, SqlArgs};
use crate::glob;
use crate::output::report_out;
use crate::understand::{Understood, from_schema, others};

pub(crate) fn run(args: &SqlArgs) -> Result<()> {
    let mut understood = match &args.columns.schema {
        Some(path) => from_schema(path, &args.columns)?,
        None => {
            let paths = glob::expand(&args.data)?;
            let mut first = args.columns.input.open(&paths[0])?;
            Understood::new(&mut first, &mut others(&paths[1..], &args.columns.input), &args.columns)?
        }
    };
    understood.apply(&mut Settings::default())?;
    understood.explain_left_out();
    let sql = match (&args.query, args.table.as_slice()) {
        (Some(query), _) => Sql::of_query(args.dialect, query),
        (None, [name]) => {
            Sql::of_table(args.dialect, &name.split('.').map(str::to_owned).collect::<Vec<_>>())?
        }
        (None, parts) => Sql::of_table(args.dialect, parts)?,
    };
    let query = sql.table_of_counts(&understood.schema)?;
    let mut out = report_out(Format::Text);
    write!(out, "{query}")?;
    out.flush()?;
    Ok(())
}
