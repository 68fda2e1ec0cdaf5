//! `priory decide`: which class a model answers, given the posterior.

use std::io::Write;

use anyhow::Result;
use priory::decide::{Decision, UNSURE};

use crate::args::{DecideArgs, Format};
use crate::model_file::{self, Fate};
use crate::output::{count, note, report_out, write_json};
use crate::overwrite::refuse_input_as_output;

pub(crate) fn run(args: &DecideArgs) -> Result<()> {
    if let Some(output) = &args.output {
        refuse_input_as_output(output, args.decision.files().chain([args.model.as_path()]))?;
    }
    let choices = args.decision.choices()?;
    // Who says nothing only wants to know.
    let is_asked = !choices.is_given() && args.output.is_none();
    let fate = Fate::new(args.output.as_deref(), is_asked);
    let updated = model_file::update(&args.model, &fate, |learnt| {
        choices.apply(&mut learnt.settings.decision)?;
        let classes: Vec<String> =
            learnt.statistics.classes().into_iter().map(|(name, _)| name.to_owned()).collect();
        Ok(learnt.settings.decision.check_for(&classes)?)
    })?;
    let decision = &updated.after.settings.decision;
    let mut out = report_out(args.format);
    match args.format {
        Format::Json => write_json(&mut out, decision)?,
        Format::Text => describe(decision).iter().try_for_each(|line| writeln!(out, "{line}"))?,
    }
    out.flush()?;
    if !is_asked {
        note(&format!("stored: {}", args.output.as_ref().unwrap_or(&args.model).display()));
    }
    Ok(())
}

/// The decision in sentences.
pub(crate) fn describe(decision: &Decision) -> Vec<String> {
    let any = |class: &Option<String>| class.clone().unwrap_or_else(|| "*".to_owned());
    let mut lines = Vec::new();
    if !decision.costs.is_empty() {
        lines.push("the class of the least expected cost is answered".to_owned());
        for cost in &decision.costs {
            let (class, answer) = (any(&cost.true_class), any(&cost.predicted));
            lines.push(format!("  {answer} costs {} where {class} is true", count(cost.cost)));
        }
    } else if decision.thresholds.is_empty() {
        lines.push("the most probable class is answered".to_owned());
    }
    for (class, p) in &decision.thresholds {
        lines.push(format!("{class} is answered from P({class}) = {p} on"));
    }
    if let Some(unsure) = decision.unsure {
        lines.push(format!("{UNSURE} is answered where no class reaches {unsure}"));
    }
    if let Some(positive) = &decision.positive {
        lines.push(format!("{positive} is the class that is looked for"));
    }
    lines
}
