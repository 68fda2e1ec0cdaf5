//! `priory schema`: what the columns of a table are taken as, and why.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use priory::infer::TakenAs;
use priory::written::Written;
use priory_input::store;

use crate::advice::about_column;
use crate::args::{Format, SchemaArgs};
use crate::data::warn_of_header;
use crate::glob;
use crate::output::{Grid, note, report_out};
use crate::overwrite::refuse_input_as_output;
use crate::understand::{Understood, others};

pub(crate) fn run(args: &SchemaArgs) -> Result<()> {
    let paths = glob::expand(&args.data)?;
    if let Some(output) = &args.output {
        refuse_input_as_output(output, paths.iter().map(Path::new).chain(args.table.files()))?;
    }
    let mut first = args.table.input.open(&paths[0])?;
    warn_of_header(first.name(), first.remarks(), first.renamed());
    let understood = Understood::new(&mut first, &mut others(&paths[1..], &args.table.input), &args.table)?;
    let json = serde_json::to_string_pretty(&understood)?;
    if let Some(path) = &args.output {
        store::replace_file(path, format!("{json}\n").as_bytes())?;
        note(&format!("{}: {}", understood.describe(), path.display()));
        return Ok(());
    }
    let mut out = report_out(args.format);
    match args.format {
        Format::Json => writeln!(out, "{json}")?,
        Format::Text => write!(out, "{}", table(&understood).render_left())?,
    }
    out.flush()?;
    Ok(())
}

fn table(understood: &Understood) -> Grid {
    let mut grid = Grid::new();
    grid.row(["column", "taken as", "because", "otherwise"]);
    grid.row([understood.schema.target.as_str(), "target", "said so", ""]);
    if let Some(name) = &understood.schema.weight {
        grid.row([name.as_str(), "weight", "said so", ""]);
    }
    let decided = |name: &str| understood.decisions.iter().any(|(decided, _)| decided == name);
    for column in understood.schema.columns.iter().filter(|column| !decided(&column.name)) {
        grid.row([column.name.as_str(), column.word(), "said so", ""]);
    }
    for (name, decision) in &understood.decisions {
        let taken_as = match decision.taken_as {
            TakenAs::Feature(_) if matches!(decision.written, Some(Written::Date(_))) => "date",
            TakenAs::Feature(kind) => kind.name(),
            TakenAs::LeftOut => "left out",
        };
        let otherwise = decision.hint.as_ref().map_or(String::new(), |hint| about_column(name, hint));
        grid.row([name.as_str(), taken_as, &decision.reason, &otherwise]);
    }
    grid
}
