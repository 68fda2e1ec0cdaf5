//! `priory train`: read, observe, write.

use std::path::{Path, PathBuf};

use anyhow::Result;
use priory::Settings;

use crate::args::TrainArgs;
use crate::data;
use crate::model_file;
use crate::output::{note, plural};
use crate::understand::{Understood, others};

pub(crate) fn run(args: &TrainArgs, threads: usize) -> Result<()> {
    let mut settings = Settings::default();
    args.settings.apply(&mut settings)?;
    let input = &args.table.input;
    let mut first = input.open(&args.data[0])?;
    let understood =
        Understood::new(&mut first, &mut others(&args.data[1..], &args.table.input), &args.table)?;
    understood.apply(&mut settings);
    let schema = &understood.schema;

    let (mut statistics, mut skipped) = data::learn(first, schema, threads)?;
    for path in &args.data[1..] {
        let (part, part_skipped) = data::learn(input.open(path)?, schema, threads)?;
        statistics.merge(&part)?;
        skipped += part_skipped;
    }
    let model = statistics.estimate(&settings)?;
    let output = args.output.clone().unwrap_or_else(|| default_output(&args.data[0]));
    model_file::write(&output, &statistics, &settings)?;
    understood.explain();
    data::warn_of_skipped(skipped, &schema.target);
    note(&format!(
        "{}, {}, {}: {}",
        plural(statistics.rows(), "row"),
        plural(model.classes().len() as u64, "class"),
        understood.describe(),
        output.display()
    ));
    Ok(())
}

/// `data/tennis.csv` makes `tennis.priory` here; standard input makes `model.priory`.
fn default_output(data: &str) -> PathBuf {
    let stem = Path::new(data).file_stem().filter(|_| data != "-");
    Path::new(stem.unwrap_or("model".as_ref())).with_extension("priory")
}
