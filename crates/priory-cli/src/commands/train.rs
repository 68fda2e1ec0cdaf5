//! `priory train`: read, observe, write.

use std::panic;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::Result;
use priory::infer::{SeveralLabels, several_labels};
use priory::judgement::{Judging, Tier};
use priory::report::ChosenFamily;
use priory::report_page::identifiers;
use priory::settings::NumberFamily;
use priory::{Learnt, Model, Schema, Settings, Statistics};
use priory_input::InputFormat;
use priory_input::store::NewFile;

use crate::args::TrainArgs;
use crate::counts;
use crate::data;
use crate::glob;
use crate::output::{note, plural, quoted, warn};
use crate::overwrite::refuse_input_as_output;
use crate::understand::{Understood, others, short_list};

pub(crate) fn run(args: &TrainArgs, threads: usize) -> Result<()> {
    let mut settings = Settings::default();
    args.settings.apply(&mut settings)?;
    args.decision.apply(&mut settings.decision)?;
    let input = &args.table.input;
    let paths = glob::expand(&args.data)?;
    let output = args
        .output
        .clone()
        .unwrap_or_else(|| default_output(&paths[0], args.table.input.options().input_format));
    let others_read = args.table.files().chain(args.settings.files()).chain(args.decision.files());
    refuse_input_as_output(&output, paths.iter().map(Path::new).chain(others_read))?;
    let (understood, mut statistics, skipped) = match args.counts {
        true => learn_counts(args, &paths, &mut settings, threads)?,
        false => learn_rows(args, &paths, &mut settings, threads)?,
    };
    let (schema, judging) = (&understood.schema, args.judging());
    understood.check(&statistics, input)?;
    statistics.settle();
    let mut learnt = Learnt::new(statistics, settings);
    let why_not = judging.why_not(&learnt.statistics, &learnt.settings);
    let counted_neighbours = learnt.statistics.schema().has_neighbours();
    let tier = learnt.judge(judging, threads)?;
    if tier.is_none() && judging != Judging::Later {
        learnt.statistics.drop_neighbours();
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
    warn_of_several_labels(&model, &schema.target);
    data::warn_of_skipped(skipped, &schema.target);
    explain_judgement(tier, why_not, &learnt);
    let has_runs = schema
        .columns
        .iter()
        .any(|column| column.text.as_ref().is_some_and(|text| text.tokens.characters.is_some()));
    if has_runs && tier.is_none() && judging != Judging::Later {
        warn("--characters is for judged models: no runs of characters were counted beside words");
    }
    if args.counts {
        counts::explain_judgement(args, &output);
    }
    if schema.has_neighbours() && !counted_neighbours {
        note("too many pairs of words to count: single words alone were judged");
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

/// What the columns are, what was learnt of the rows of some tables, and how many of these had no class.
fn learn_rows(
    args: &TrainArgs,
    paths: &[String],
    settings: &mut Settings,
    threads: usize,
) -> Result<(Understood, Statistics, u64)> {
    let input = &args.table.input;
    let mut first = input.open(&paths[0])?;
    let mut understood = Understood::new(&mut first, &mut others(&paths[1..], input), &args.table)?;
    understood.apply(settings)?;
    let judging = args.judging();
    if args.half_life.is_none() {
        judging.prepare(&mut understood.schema, settings);
    }

    let mut empty = judging.start(&understood.schema);
    if let Some(rows) = args.half_life {
        empty.set_half_life(rows)?;
    }
    let (mut statistics, mut skipped) = data::learn(first, &empty, threads)?;
    for path in &paths[1..] {
        let start = if args.half_life.is_some() { &statistics.empty_at_same_age() } else { &empty };
        let (part, part_skipped) = data::learn(input.open(path)?, start, threads)?;
        statistics.merge(&part)?;
        statistics.check_size()?;
        skipped += part_skipped;
    }
    Ok((understood, statistics, skipped))
}

/// The same of tables of counts. Nobody knows which rows had no class.
fn learn_counts(
    args: &TrainArgs,
    paths: &[String],
    settings: &mut Settings,
    threads: usize,
) -> Result<(Understood, Statistics, u64)> {
    counts::check(args)?;
    let (tables, mut understood) = counts::understand(paths, args)?;
    understood.apply(settings)?;
    let statistics = counts::learn(&tables, &understood, threads)?;
    Ok((understood, statistics, 0))
}

impl TrainArgs {
    /// Which judgement is wanted. Counts are not rows, by which one could judge.
    fn judging(&self) -> Judging {
        if self.counts { Judging::None } else { self.judge.judging() }
    }
}

/// Says how far what the columns say was judged, if that was to be decided here.
pub(crate) fn explain_judgement(tier: Option<Tier>, why_not: Option<&str>, learnt: &Learnt) {
    match (tier, why_not, learnt.kept_rows()) {
        (Some(tier), ..) => note(&format!("judged: {tier}{}", left_out(learnt, tier))),
        (None, Some(reason), _) => note(&format!("not judged: {reason}")),
        (None, None, Some(rows)) => note(&format!("to be judged later, by {}", plural(rows, "row"))),
        (None, None, None) => {}
    }
}

/// What a judgement does not count, since it would be too much.
fn left_out(learnt: &Learnt, tier: Tier) -> String {
    let count = learnt.judgement().map_or(0, |judgement| judgement.left_out);
    match (count, tier) {
        (0, _) => String::new(),
        (_, Tier::Weights) => {
            ", since there are too many columns and classes to count what columns say together".into()
        }
        (1, _) => "; 1 column is weighed by itself alone, as together they are too many".into(),
        _ => format!("; {count} columns are weighed by themselves alone, as together they are too many"),
    }
}

/// Says which columns of numbers are not taken as Gaussian, and how much that is worth.
fn explain_families(model: &Model) {
    const MOST: usize = 8;
    let mut chosen = Vec::new();
    for ChosenFamily { column, family, better_than_gaussian, atoms } in model.chosen_families() {
        match better_than_gaussian {
            Some(nats) if family != NumberFamily::Student || !atoms.is_empty() => {
                chosen.push((nats, column, described(family, &atoms)));
            }
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

/// A family, after the single numbers that it is not for.
fn described(family: NumberFamily, atoms: &[f64]) -> String {
    let atoms: Vec<String> = atoms.iter().map(f64::to_string).collect();
    let names: Vec<&str> = atoms.iter().map(String::as_str).collect();
    match &names[..] {
        [] => family.name().to_owned(),
        [atom] => format!("atom {atom}, otherwise {family}"),
        _ => format!("atoms {}, otherwise {family}", short_list(&names)),
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

/// A row that has several labels is not one of a class.
fn warn_of_several_labels(model: &Model, target: &str) {
    if let Some(SeveralLabels { separator, classes, example }) = several_labels(model.classes()) {
        warn(&format!(
            "{} of `{target}` are several labels in one, such as `{example}`, and each combination is a class of its own; to predict labels one by one, train a model for each on a column that says whether a row has it, or keep the first label of each row (before `{separator}`)",
            plural(classes as u64, "class")
        ));
    }
}

/// A column with a value of its own for nearly every row tells the rows apart, not the classes.
fn warn_of_identifiers(statistics: &Statistics) {
    for (column, values) in identifiers(statistics) {
        warn(&format!(
            "`{column}` has {values} values in {} rows: it looks like an identifier; --ignore {} leaves it out",
            statistics.rows(),
            quoted(column)
        ));
    }
}

/// `data/tennis.csv` makes `tennis.priory` here; standard input makes `model.priory`, and mail `mail.priory`.
fn default_output(data: &str, format: Option<InputFormat>) -> PathBuf {
    if format == Some(InputFormat::Mail) {
        return "mail.priory".into();
    }
    let stem = Path::new(data).file_stem().filter(|_| data != "-");
    Path::new(stem.unwrap_or("model".as_ref())).with_extension("priory")
}
