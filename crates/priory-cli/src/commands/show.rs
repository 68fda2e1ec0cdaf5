//! `priory show`: what a model has counted, and what it concludes.

use std::io::Write;

use anyhow::Result;
use priory::judgement::{ColumnWeights, JudgementSummary};
use priory::report::{
    FeatureSummary, Fractions, GroupSummary, LinearForm, LinearWeight, Summary, TextSummary,
};
use serde::Serialize;

use crate::args::{Format, ShowArgs};
use crate::model_file;
use crate::output::{Grid, bold, count, plural, report_out, shown, write_json};
use crate::understand::short_list;

/// Columns of a group beyond this are counted, not listed; JSON has them all.
const MOST_GROUPED: usize = 12;

/// Values of one feature beyond this are counted, not listed; JSON has them all.
const MOST_VALUES: usize = 40;

pub(crate) fn run(args: &ShowArgs) -> Result<()> {
    let mut learnt = model_file::read_under(&args.model, |settings| args.settings.apply(settings))?;
    if args.weights {
        model_file::without_judgement(&mut learnt, "what a judgement adds is no weighted sum of the columns");
    } else if args.fractions {
        model_file::without_judgement(&mut learnt, "fractions are those of the counts");
    }
    model_file::warn_of_stale_judgement(&learnt, &args.model);
    let model = learnt.estimate()?;
    if args.fractions {
        Fractions::new(&learnt.statistics, &model)?;
    }
    let summary = learnt.summary(&model, args.top)?;
    let linear_form = if args.weights { Some(model.linear_form()?) } else { None };
    let mut out = report_out(args.format);
    match (args.format, &linear_form) {
        (Format::Json, _) => {
            let fingerprint = format!("{:016x}", learnt.fingerprint());
            write_json(&mut out, &Shown { summary: &summary, fingerprint, linear_form })?;
        }
        (Format::Text, Some(form)) => write_form(&mut out, form)?,
        (Format::Text, None) => write_summary(&mut out, &summary, args.fractions)?,
    }
    out.flush()?;
    Ok(())
}

/// What is shown as JSON.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    fingerprint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    linear_form: Option<LinearForm>,
}

fn write_summary(out: &mut impl Write, summary: &Summary, fractions: bool) -> Result<()> {
    let (rows, classes) = (summary.rows, summary.classes.len() as u64);
    let features = plural(summary.features.len() as u64, "feature");
    writeln!(out, "{}, {}, {features}", plural(rows, "row"), plural(classes, "class"))?;
    if let Some(age) = summary.half_life {
        writeln!(
            out,
            "half-life: {}; {} passed since rows began to age",
            plural(age.rows, "row"),
            age.learnt
        )?;
    }
    writeln!(out)?;

    let mut grid = Grid::new();
    grid.row(["class", "weight", "prior"]);
    for class in &summary.classes {
        let prior = match &class.fraction {
            Some(fraction) if fractions => fraction.clone(),
            _ => format!("{:.4}", class.prior),
        };
        grid.row([class.name.clone(), count(class.weight), prior]);
    }
    writeln!(out, "{}", grid.render())?;

    for feature in &summary.features {
        let better = match feature.better_than_gaussian {
            Some(nats) if nats > 0.0 => format!(", {nats:.2} nats per row better than a Gaussian"),
            _ => String::new(),
        };
        let exponent = match feature.exponent {
            1.0 => String::new(),
            power => format!(", to the power of {power}"),
        };
        let amounts = match feature.group.as_ref().and_then(|group| group.regularization) {
            Some(amounts) => format!(", λ = {}, γ = {}", number(amounts.shared), number(amounts.diagonal)),
            None => String::new(),
        };
        writeln!(out, "{}: {}{better}{amounts}{exponent}", bold(&feature.name), feature.family)?;
        if let Some(text) = &feature.text {
            write_text(out, summary, feature, text)?;
        } else if let Some(group) = &feature.group {
            write_group(out, summary, group)?;
        } else {
            writeln!(out, "{}", feature_grid(summary, feature, fractions).render())?;
        }
    }
    if let Some(judgement) = &summary.judgement {
        write_judgement(out, judgement)?;
    }
    if !summary.left_out.is_empty() {
        let names: Vec<&str> = summary.left_out.iter().map(String::as_str).collect();
        writeln!(out, "counted, not used: {}", shown(&short_list(&names)))?;
    }
    // The numbers of a group are not taken as independent: theirs are means and covariances.
    let grouped = summary.features.iter().any(|feature| feature.group.is_some());
    let assumption = if grouped { "with the covariances of the group" } else { "with the naive assumption" };
    write!(out, "parameters: {} {assumption}", short(&summary.parameters.naive))?;
    if let Some(joint) = &summary.parameters.joint {
        write!(out, ", {} without", short(joint))?;
    }
    writeln!(out)?;
    Ok(())
}

/// What the columns say, and how much that is worth.
fn write_judgement(out: &mut impl Write, judgement: &JudgementSummary) -> Result<()> {
    let (tier, rows) = (judgement.tier, plural(judgement.rows, "row"));
    writeln!(out, "{}: {tier}, fitted to {rows}\n", bold("judgement"))?;
    let weight = |weight: Option<f64>| weight.map_or("-".into(), |weight| format!("{weight:.3}"));
    let mut grid = Grid::new();
    grid.row(["weight of what it says", "alone", "in pairs", "in triples"]);
    let mut columns: Vec<&ColumnWeights> = judgement.columns.iter().collect();
    let listed = columns.len().min(MOST_VALUES);
    columns.sort_by(|a, b| b.alone.total_cmp(&a.alone));
    for column in &columns[..listed] {
        let weights = [Some(column.alone), column.in_pairs, column.in_triples].map(weight);
        grid.line(&column.name, weights);
    }
    for cloud in &judgement.clouds {
        grid.line(&cloud.name, [weight(Some(cloud.weight)), String::new(), String::new()]);
    }
    writeln!(out, "{}", grid.render())?;
    if listed < columns.len() {
        writeln!(out, "  and {} more columns\n", columns.len() - listed)?;
    }
    Ok(())
}

/// What is counted of a text, and the tokens that speak for each class.
fn write_text(
    out: &mut impl Write,
    summary: &Summary,
    feature: &FeatureSummary,
    text: &TextSummary,
) -> Result<()> {
    let mut grid = Grid::new();
    grid.line("", class_names(summary));
    let rows =
        [("documents", &text.documents), ("without one", &feature.missing), ("occurrences", &text.terms)];
    for (name, values) in rows {
        if values.iter().any(|&weight| weight > 0.0) {
            grid.line(name, values.iter().map(|&weight| count(weight)));
        }
    }
    writeln!(out, "{}", grid.render())?;
    let added = text.pseudocount.map_or(String::new(), |alpha| format!(", {alpha:.3} added to each count"));
    writeln!(out, "  {}{added}\n", plural(text.tokens as u64, "different token"))?;
    let mut grid = Grid::new();
    grid.row(["class", "token", "evidence", "documents", "elsewhere"]);
    for (class, tokens) in summary.classes.iter().zip(text.telling.iter()) {
        for (i, token) in tokens.iter().enumerate() {
            let class = if i == 0 { class.name.clone() } else { String::new() };
            let bits = format!("{:+.2} bits", token.evidence / std::f64::consts::LN_2);
            grid.row([class, token.token.clone(), bits, count(token.documents), count(token.elsewhere)]);
        }
    }
    if text.telling.iter().any(|tokens| !tokens.is_empty()) {
        writeln!(out, "{}", grid.render())?;
    }
    Ok(())
}

fn class_names(summary: &Summary) -> impl Iterator<Item = &str> {
    summary.classes.iter().map(|class| class.name.as_str())
}

fn feature_grid(summary: &Summary, feature: &FeatureSummary, fractions: bool) -> Grid {
    let mut grid = Grid::new();
    if !feature.parameters.is_empty() {
        grid.line("", class_names(summary));
    }
    for (name, values) in &feature.parameters {
        grid.line(*name, values.iter().map(|&x| number(x)));
    }
    if feature.parameters.is_empty() || !feature.values.is_empty() {
        grid.line("x", class_names(summary).map(|class| format!("P(x | {class})")));
    }
    for value in feature.values.iter().take(MOST_VALUES) {
        let cells = (0..summary.classes.len()).map(|class| match &value.fraction {
            Some(fraction) if fractions => fraction[class].clone(),
            _ => format!("{:.4}", value.probability[class]),
        });
        grid.line(&value.value, cells);
    }
    if feature.values.len() > MOST_VALUES {
        grid.row([format!("… and {} more", feature.values.len() - MOST_VALUES)]);
    }
    if feature.missing.iter().any(|&weight| weight > 0.0) {
        grid.line("missing in", feature.missing.iter().map(|&weight| rows(weight)));
    }
    grid
}

/// The means of all classes, and one table of covariances for each class, or for all.
fn write_group(out: &mut impl Write, summary: &Summary, group: &GroupSummary) -> Result<()> {
    let shown = group.columns.len().min(MOST_GROUPED);
    let columns = &group.columns[..shown];
    let mut grid = Grid::new();
    grid.line("mean", class_names(summary));
    for (i, name) in columns.iter().enumerate() {
        grid.line(name, group.mean.iter().map(|mean| number(mean[i])));
    }
    for (i, name) in columns.iter().enumerate() {
        if group.missing.iter().any(|missing| missing[i] > 0.0) {
            grid.line(format!("{name} missing in"), group.missing.iter().map(|missing| rows(missing[i])));
        }
    }
    write!(out, "{}", grid.render())?;
    for (class, covariance) in class_names(summary).zip(group.covariance.iter()) {
        let shared = group.covariance.len() == 1;
        let title = if shared { "covariance".to_owned() } else { format!("covariance in {class}") };
        let mut grid = Grid::new();
        grid.line(title, columns);
        for (name, line) in columns.iter().zip(covariance) {
            grid.line(name, line.iter().take(shown).map(|&x| number(x)));
        }
        write!(out, "{}", grid.render())?;
    }
    if shown < group.columns.len() {
        writeln!(out, "  … and {}", plural((group.columns.len() - shown) as u64, "more column"))?;
    }
    writeln!(out)?;
    Ok(())
}

fn write_form(out: &mut impl Write, form: &LinearForm) -> Result<()> {
    writeln!(
        out,
        "log P({1}) / P({0}) = b + Σ w x; above 0 it is {1}, below 0 {0}\n",
        form.first, form.second
    )?;
    let mut grid = Grid::new();
    grid.row(["", "weight"]).row(["b".to_owned(), format!("{:+.4}", form.bias)]);
    for LinearWeight { feature, present, weight } in &form.weights {
        let name = present.as_ref().map_or(feature.clone(), |present| format!("{feature} = {present}"));
        let weight = match present {
            Some(_) => format!("{weight:+.4}"),
            // How large a weight is depends on the unit of the number.
            None => format!("{}{}", if *weight < 0.0 { "" } else { "+" }, number(*weight)),
        };
        grid.row([name, weight]);
    }
    write!(out, "{}", grid.render())?;
    Ok(())
}

/// A number, or about how large it is if nobody would read its digits.
fn short(number: &impl ToString) -> String {
    let digits = number.to_string();
    if digits.len() <= 18 { digits } else { format!("about 10^{}", digits.len() - 1) }
}

fn rows(weight: f64) -> String {
    format!("{} {}", count(weight), if weight == 1.0 { "row" } else { "rows" })
}

/// Six significant digits.
fn number(x: f64) -> String {
    if x == 0.0 || (1e-3..1e7).contains(&x.abs()) {
        let before = x.abs().max(1.0).log10().floor() as usize + 1;
        return format!("{x:.*}", 6_usize.saturating_sub(before));
    }
    format!("{x:.5e}")
}
