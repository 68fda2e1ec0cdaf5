//! `priory show`: what a model has counted, and what it concludes.

use std::io::Write;

use anyhow::{Result, bail};
use priory::judgement::{ColumnWeights, JudgementSummary, TextWeights};
use priory::report::{
    FeatureSummary, Fractions, GroupSummary, LinearForm, LinearWeight, Summary, TextSummary,
};
use serde::Serialize;

use crate::args::{Format, ShowArgs};
use crate::model_file;
use crate::output::{Grid, bold, count, plural, probability, report_out, shown, write_json};
use crate::understand::short_list;

/// Columns of a group beyond this are counted, not listed; JSON has them all.
const MOST_GROUPED: usize = 12;

/// Values of one feature beyond this are counted, not listed; JSON has them all.
const MOST_VALUES: usize = 40;

/// Of more weights than this, the largest are listed; JSON has them all.
const MOST_WEIGHTS: usize = 100;

pub(crate) fn run(args: &ShowArgs) -> Result<()> {
    let mut learnt = model_file::read_under(&args.model, |settings| args.settings.apply(settings))?;
    if args.weights {
        model_file::without_judgement(&mut learnt, "what a judgement adds is no weighted sum of the columns");
    } else if args.fractions {
        model_file::without_judgement(&mut learnt, "fractions are those of the counts");
    }
    model_file::warn_of_judgement(&learnt, &args.model);
    let model = learnt.estimate()?;
    if args.fractions {
        Fractions::new(&learnt.statistics, &model)?;
    }
    let words = asked_words(&args.words, model.classes())?;
    let summary = learnt.summary(&model, words.map_or(args.top, |(_, most)| most))?;
    let linear_form = if args.weights { Some(model.linear_form()?) } else { None };
    let mut out = report_out(args.format);
    match (args.format, &linear_form) {
        (Format::Json, _) => {
            let fingerprint = format!("{:016x}", learnt.fingerprint());
            write_json(&mut out, &Shown { summary: &summary, fingerprint, linear_form })?;
        }
        (Format::Text, Some(form)) => write_form(&mut out, form)?,
        (Format::Text, None) if words.is_some() => {
            let class = words.map_or(0, |(class, _)| class);
            write_words(&mut out, &summary, class)?;
        }
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
            _ => probability(class.prior),
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
        let otherwise = if feature.atoms.is_empty() { "" } else { "atoms, otherwise " };
        let name = bold(&feature.name);
        writeln!(out, "{name}: {otherwise}{}{better}{amounts}{exponent}", feature.family)?;
        if let Some(text) = &feature.text {
            write_text(out, summary, feature, text, fractions)?;
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

/// The class whose words were asked for, and how many of them.
fn asked_words(words: &[String], classes: &[String]) -> Result<Option<(usize, usize)>> {
    /// As many words as fit on a screen.
    const WORDS: usize = 20;
    let [class, most @ ..] = words else { return Ok(None) };
    let Some(place) = classes.iter().position(|name| name == class) else {
        bail!("there is no class `{class}`; the classes are {}", classes.join(", "));
    };
    let most = match most.first().map(|most| most.parse()) {
        None => WORDS,
        Some(Ok(most)) if most > 0 => most,
        _ => bail!("`--words {class}` is followed by how many words to list, not by `{}`", words[1]),
    };
    Ok(Some((place, most)))
}

/// The words that speak most for a class, and how probable they are in each.
fn write_words(out: &mut impl Write, summary: &Summary, class: usize) -> Result<()> {
    /// With more classes, a table of all probabilities is too wide.
    const MOST_CLASSES: usize = 4;
    let texts = summary.features.iter().filter_map(|feature| Some((feature, feature.text.as_ref()?)));
    let texts: Vec<_> = texts.collect();
    if texts.is_empty() {
        bail!("the model has no column of text whose words could be listed");
    }
    for (feature, text) in texts {
        writeln!(out, "{}: words that speak for {}\n", bold(&feature.name), summary.classes[class].name)?;
        let shown: Vec<usize> = if summary.classes.len() <= MOST_CLASSES {
            (0..summary.classes.len()).collect()
        } else {
            vec![class]
        };
        let mut grid = Grid::new();
        let heading = |&class: &usize| format!("P(x | {})", summary.classes[class].name);
        let names = ["evidence".to_owned()].into_iter().chain(shown.iter().map(heading));
        grid.line("x", names.chain(["documents".to_owned(), "elsewhere".to_owned()]));
        for word in &text.telling[class] {
            let evidence = format!("{:+.2} bits", word.evidence / std::f64::consts::LN_2);
            let probability = |&class: &usize| match &word.probability {
                Some(probability) => share(probability[class]),
                None => "-".to_owned(),
            };
            let cells = [evidence].into_iter().chain(shown.iter().map(probability));
            grid.line(&word.token, cells.chain([count(word.documents), count(word.elsewhere)]));
        }
        writeln!(out, "{}", grid.render())?;
    }
    Ok(())
}

/// A probability of a word, which may be small.
fn share(p: f64) -> String {
    if p == 0.0 || p >= 1e-3 { format!("{p:.4}") } else { format!("{p:.1e}") }
}

/// What the columns say, and how much that is worth.
fn write_judgement(out: &mut impl Write, judgement: &JudgementSummary) -> Result<()> {
    let (tier, rows) = (judgement.tier, plural(judgement.rows, "row"));
    writeln!(out, "{}: {tier}, fitted to {rows}\n", bold("judgement"))?;
    for text in &judgement.texts {
        write_weights_of_text(out, text)?;
    }
    if judgement.columns.is_empty() && judgement.clouds.is_empty() {
        return Ok(());
    }
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

/// What the words of a text are worth, by how frequent they are.
fn write_weights_of_text(out: &mut impl Write, text: &TextWeights) -> Result<()> {
    let mut grid = Grid::new();
    let headings = if text.kinds.len() == 1 { &["tokens"][..] } else { &text.kinds };
    grid.line(format!("weights of {}", text.name), headings.iter().copied());
    for (i, band) in text.bands.iter().enumerate() {
        let least = band.documents;
        let name = match text.bands.get(i + 1) {
            Some(next) if next.documents == least + 1 => format!("in {least} document"),
            Some(next) => format!("in {least} to {} documents", next.documents - 1),
            None => format!("in {least} documents or more"),
        };
        grid.line(name, band.weights.iter().map(|weight| format!("{weight:.3}")));
    }
    writeln!(out, "{}", grid.render())?;
    if text.own_weights > 0 {
        writeln!(out, "  {} with a weight of their own\n", plural(text.own_weights as u64, "token"))?;
    }
    Ok(())
}

/// What is counted of a text, and the tokens that speak for each class.
fn write_text(
    out: &mut impl Write,
    summary: &Summary,
    feature: &FeatureSummary,
    text: &TextSummary,
    fractions: bool,
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
    if !text.table.is_empty() {
        let mut grid = Grid::new();
        grid.line("x", class_names(summary).map(|class| format!("P(x | {class})")));
        for word in &text.table {
            match &word.fraction {
                Some(fraction) if fractions => grid.line(&word.token, fraction.iter().cloned()),
                _ => grid.line(&word.token, word.probability.iter().map(|p| format!("{p:.4}"))),
            };
        }
        writeln!(out, "{}", grid.render())?;
    }
    let mut grid = Grid::new();
    let is_weighed = text.telling.iter().flatten().any(|token| token.weight.is_some());
    let headings = ["class", "token", "evidence", "documents", "elsewhere"].into_iter();
    grid.row(headings.chain(is_weighed.then_some("weight")));
    for (class, tokens) in summary.classes.iter().zip(text.telling.iter()) {
        for (i, token) in tokens.iter().enumerate() {
            let class = if i == 0 { class.name.clone() } else { String::new() };
            let bits = format!("{:+.2} bits", token.evidence / std::f64::consts::LN_2);
            let cells = [class, token.token.clone(), bits, count(token.documents), count(token.elsewhere)];
            grid.row(cells.into_iter().chain(token.weight.map(|weight| format!("{weight:.3}"))));
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
    let probabilities = |name: &str, grid: &mut Grid| {
        grid.line(name, class_names(summary).map(|class| format!("P(x | {class})")));
    };
    if !feature.atoms.is_empty() {
        probabilities("x", &mut grid);
    }
    for atom in &feature.atoms {
        grid.line(&atom.value, atom.probability.iter().map(|&p| probability(p)));
    }
    if !feature.parameters.is_empty() {
        let of = if feature.atoms.is_empty() { "" } else { "other numbers" };
        grid.line(of, class_names(summary));
    }
    for (name, values) in &feature.parameters {
        grid.line(*name, values.iter().map(|&x| number(x)));
    }
    if feature.parameters.is_empty() || !feature.values.is_empty() {
        probabilities("x", &mut grid);
    }
    for value in feature.values.iter().take(MOST_VALUES) {
        let cells = (0..summary.classes.len()).map(|class| match &value.fraction {
            Some(fraction) if fractions => fraction[class].clone(),
            _ => probability(value.probability[class]),
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
    let mut weights: Vec<&LinearWeight> = form.weights.iter().collect();
    let all = weights.len();
    if all > MOST_WEIGHTS {
        weights.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
        weights.truncate(MOST_WEIGHTS);
    }
    for LinearWeight { feature, present, weight } in weights {
        let name = present.as_ref().map_or(feature.clone(), |present| format!("{feature} = {present}"));
        let weight = match present {
            Some(_) => format!("{weight:+.4}"),
            // How large a weight is depends on the unit of the number.
            None => format!("{}{}", if *weight < 0.0 { "" } else { "+" }, number(*weight)),
        };
        grid.row([name, weight]);
    }
    write!(out, "{}", grid.render())?;
    if all > MOST_WEIGHTS {
        writeln!(out, "  … and {} more, none of them larger: --format json has all", all - MOST_WEIGHTS)?;
    }
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
