//! `priory features`: which columns tell the classes apart.

use std::io::Write;

use anyhow::Result;
use priory::report::{FeatureRank, Features, Gain};

use crate::args::{FeaturesArgs, Format};
use crate::model_file;
use crate::output::{Grid, plural, report_out, write_json};

pub(crate) fn run(args: &FeaturesArgs) -> Result<()> {
    let learnt = model_file::read_under(&args.model, |settings| args.settings.apply(settings))?;
    let features = learnt.features()?;
    let mut out = report_out(args.format);
    match args.format {
        Format::Json => write_json(&mut out, &features)?,
        Format::Text => write_ranking(&mut out, &features)?,
    }
    out.flush()?;
    Ok(())
}

fn write_ranking(out: &mut impl Write, features: &Features) -> Result<()> {
    let (rows, classes) = (plural(features.rows, "row"), plural(features.classes as u64, "class"));
    writeln!(out, "{rows}, {classes}; the class is worth {:.4} bits\n", features.entropy)?;
    let some_left_out = features.ranked.iter().any(|rank| !rank.used);
    let is_judged = features.ranked.iter().any(|rank| rank.lost.is_some());
    let mut grid = Grid::new();
    let headings = ["in bits per row", "family", "information", "gain", ""].into_iter();
    let lost = ["lost without", ""].into_iter().filter(|_| is_judged);
    grid.row(headings.chain(lost).chain(some_left_out.then_some("")));
    for rank in &features.ranked {
        let used = if rank.used { "used" } else { "left out" };
        let lost = with_error(rank.lost).into_iter().filter(|_| is_judged);
        grid.row(cells(rank).into_iter().chain(lost).chain(some_left_out.then(|| used.to_owned())));
    }
    write!(out, "{}", grid.render())?;
    if features.ranked.iter().any(|rank| rank.gain.is_none()) {
        writeln!(out, "\n  -: what is counted of the column does not tell which rows held what")?;
    }
    Ok(())
}

fn cells(rank: &FeatureRank) -> [String; 5] {
    let unknown = || "-".to_owned();
    let information = rank.information.map_or_else(unknown, |bits| format!("{bits:.4}"));
    let [gain, error] = with_error(rank.gain);
    [rank.name.clone(), rank.family.to_string(), information, gain, error]
}

/// A gain, and how sure it is.
fn with_error(gain: Option<Gain>) -> [String; 2] {
    match gain {
        None => ["-".to_owned(), String::new()],
        Some(Gain { bits, .. }) if bits == f64::NEG_INFINITY => ["-inf".to_owned(), String::new()],
        Some(Gain { bits, standard_error }) => [format!("{bits:.4}"), format!("± {standard_error:.4}")],
    }
}
