//! `priory train`: read, observe, write.

use std::panic;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Result, bail};
use priory::judgement::{Judging, Tier};
use priory::report::ChosenFamily;
use priory::settings::NumberFamily;
use priory::{Learnt, Model, Schema, Settings, Statistics};
use priory_input::store::NewFile;

use crate::args::{InputArgs, TrainArgs};
use crate::data;
use crate::glob;
use crate::output::{note, plural, warn};
use crate::overwrite::refuse_input_as_output;
use crate::understand::{Understood, others, short_list};

/// Columns with fewer values are no trouble, whatever they hold.
const MOST_VALUES: usize = 1_000;

pub(crate) fn run(args: &TrainArgs, threads: usize) -> Result<()> {
    let mut settings = Settings::default();
    args.settings.apply(&mut settings)?;
    let input = &args.table.input;
    let paths = glob::expand(&args.data)?;
    let output = args.output.clone().unwrap_or_else(|| default_output(&paths[0]));
    let others_read = args.table.files().chain(args.settings.files());
    refuse_input_as_output(&output, paths.iter().map(Path::new).chain(others_read))?;
    let mut first = input.open(&paths[0])?;
    let mut understood =
        Understood::new(&mut first, &mut others(&paths[1..], &args.table.input), &args.table)?;
    understood.apply(&mut settings)?;
    let schema = &understood.schema;

    let mut empty = Statistics::empty(schema);
    if let Some(rows) = args.half_life {
        empty.set_half_life(rows)?;
    }
    let (mut statistics, mut skipped) = data::learn(first, &empty, threads)?;
    for path in &paths[1..] {
        let (part, part_skipped) = data::learn(input.open(path)?, &statistics.empty_at_same_age(), threads)?;
        statistics.merge(&part)?;
        statistics.check_size()?;
        skipped += part_skipped;
    }
    statistics.settle();
    let mut learnt = Learnt::new(statistics, settings);
    let tier = args.judge.tier(&learnt.statistics, &learnt.settings);
    if let Some(tier) = tier {
        judge(&mut learnt, tier, &paths, input, threads)?;
    }
    // Of a million words, both take as long as counting tens of thousands of documents.
    let mut file = NewFile::create(&output)?;
    let (model, written) = thread::scope(|scope| {
        let written = scope.spawn(|| {
            file.fill(|out| learnt.write_to(out))?;
            file.sync()
        });
        let model = learnt.estimate();
        (model, written.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
    });
    let model = model?;
    written?;
    file.finish()?;
    understood.explain();
    explain_families(&model);
    explain_selection(&model, schema);
    warn_of_identifiers(&learnt.statistics);
    data::warn_of_skipped(skipped, &schema.target);
    match (args.judge, tier) {
        (_, Some(tier)) => note(&format!("judged: {tier}")),
        (Judging::Auto, None) => {
            note("not judged: the rows are too few, or the settings are those of a textbook")
        }
        _ => {}
    }
    note(&format!(
        "{}, {}, {}: {}",
        plural(learnt.statistics.rows(), "row"),
        plural(model.classes().len() as u64, "class"),
        understood.describe(),
        output.display()
    ));
    Ok(())
}

/// Looks at all rows a second time, and judges how much what their columns say is worth.
fn judge(learnt: &mut Learnt, tier: Tier, paths: &[String], input: &InputArgs, threads: usize) -> Result<()> {
    if paths.iter().any(|path| path == "-") {
        bail!(
            "a judgement looks at the rows twice, and standard input can be read only once; save it to a file first"
        );
    }
    let empty_look = learnt.second_look(tier)?;
    let mut seen = empty_look.clone();
    for path in paths {
        seen.merge(&data::look(input.open(path)?, learnt.statistics.schema(), &empty_look, threads)?)?;
    }
    Ok(learnt.judge(seen)?)
}

/// Says which columns of numbers are not taken as Gaussian, and how much that is worth.
fn explain_families(model: &Model) {
    const MOST: usize = 8;
    let mut chosen = Vec::new();
    for ChosenFamily { column, family, better_than_gaussian } in model.chosen_families() {
        match better_than_gaussian {
            Some(nats) if family != NumberFamily::Student => chosen.push((nats, column, family.name())),
            Some(_) => {}
            None => warn(&format!(
                "{column}: {}, since its numbers are too large or too close together for a Gaussian; if one of them stands for no data, name it with --missing",
                family.name()
            )),
        }
    }
    chosen.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (nats, column, family) in chosen.iter().take(MOST) {
        note(&format!("{column}: {family}, {nats:.2} nats per row better than a Gaussian"));
    }
    if chosen.len() > MOST {
        note(&format!("and {} more that are not Gaussian; priory show lists them", chosen.len() - MOST));
    }
}

/// Says which columns the model uses, if not all of them.
fn explain_selection(model: &Model, all: &Schema) {
    let names = |schema: &Schema| schema.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    let (used, all) = (names(model.schema()), names(all));
    if used.len() == all.len() {
        return;
    }
    let left_out: Vec<&str> = all.iter().filter(|name| !used.contains(name)).map(String::as_str).collect();
    match used.is_empty() {
        true => warn("no column helps: every row will be given the most frequent class"),
        false => {
            note(&format!("selected: {}", short_list(&used.iter().map(String::as_str).collect::<Vec<_>>())))
        }
    }
    note(&format!("counted, not used: {}", short_list(&left_out)));
}

/// A column with a value of its own for nearly every row tells the rows apart, not the classes.
fn warn_of_identifiers(statistics: &Statistics) {
    for (column, values) in statistics.distinct_values() {
        if values > MOST_VALUES && 2 * values as u64 > statistics.rows() {
            warn(&format!(
                "`{column}` has {values} values in {} rows: it looks like an identifier; --ignore {column} leaves it out",
                statistics.rows()
            ));
        }
    }
}

/// `data/tennis.csv` makes `tennis.priory` here; standard input makes `model.priory`.
fn default_output(data: &str) -> PathBuf {
    let stem = Path::new(data).file_stem().filter(|_| data != "-");
    Path::new(stem.unwrap_or("model".as_ref())).with_extension("priory")
}
