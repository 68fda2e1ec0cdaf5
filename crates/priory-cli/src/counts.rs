//! From tables of counts to statistics.

use anyhow::{Result, bail};
use priory::Statistics;
use priory::counts::{AddedUp, Counts, Rest};
use priory::judgement::Judging;
use priory_input::Work;

use crate::args::TrainArgs;
use crate::data::{ProgressBar, warn_of_bad_values};
use crate::output::{note, plural, quoted, short, warn};
use crate::tables::Tables;
use crate::understand::{Understood, short_list};

/// Refuses what makes no sense where values are counted and rows are not known.
pub(crate) fn check(args: &TrainArgs) -> Result<()> {
    if args.half_life.is_some() {
        bail!("--half-life: rows age one after the other, and --counts does not tell their order");
    }
    if args.table.weight.is_some() {
        bail!("--weight: in a table of counts the column `weight` says how much values count");
    }
    if let Some(tier) =
        args.judge.judge.filter(|judging| *judging != Judging::None && *judging != Judging::Auto)
    {
        let tier = match tier {
            Judging::Tier(tier) => tier.name(),
            _ => "later",
        };
        bail!(
            "--judge {tier} needs rows, which counts are not; train without it, and `priory judge MODEL DATA` judges by the rows"
        );
    }
    Ok(())
}

/// What the columns are that these tables count.
pub(crate) fn understand(paths: &[String], args: &TrainArgs) -> Result<(Tables, Understood)> {
    let tables = Tables::new(paths, args.table.input.options())?;
    let understood = Understood::of_counts(&mut tables.open_from(0), &args.table)?;
    Ok((tables, understood))
}

/// Learns what these tables count.
pub(crate) fn learn(tables: &Tables, understood: &Understood, threads: usize) -> Result<Statistics> {
    let empty = Counts::empty(&understood.schema)?;
    let mut all = empty.clone();
    let (mut skipped, mut bad_values) = (0, 0);
    for table in tables.open_from(0) {
        let watch = ProgressBar::default();
        let read = Work { threads, watch: &watch }.read_counts(table?, &empty)?;
        all.merge(&read.counts)?;
        skipped += read.skipped;
        bad_values += read.bad_values;
    }
    for column in all.without_counts() {
        warn(&format!("there are no counts of `{}`: it counts as missing in every row", short(column)));
    }
    let AddedUp { statistics, rest } = all.add_up(Rest::Missing)?;
    if skipped > 0 {
        warn(&format!("{} passed over: `class` is missing", plural(skipped, "count")));
    }
    warn_of_bad_values("the counts", bad_values);
    let lacking = rest.iter().map(|(column, weight)| format!("{column} ({weight})"));
    let lacking: Vec<String> = lacking.collect();
    if !lacking.is_empty() {
        let lacking: Vec<&str> = lacking.iter().map(String::as_str).collect();
        note(&format!("taken as missing, since it was not counted: {}", short_list(&lacking)));
    }
    Ok(statistics)
}

/// Says why a model of counts is not judged, and what would judge it.
pub(crate) fn explain_judgement(args: &TrainArgs, model: &std::path::Path) {
    if args.judge.judge != Some(Judging::None) {
        let model = quoted(&model.to_string_lossy());
        note(&format!("not judged: counts are not rows; `priory judge {model} DATA` judges it by the rows"));
    }
}
