//! A waterfall in the terminal: a bar for each term, from where the log-odds were before it to where they are after it.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use priory::plot::Waterfall;

use super::{MARGIN, Screen, axis_below};
use crate::output::{bold, probability, shortened, shown};

/// What lies further out is drawn at the edge.
const FURTHEST: f64 = 60.0;
/// Names longer than this are cut.
const NAMES: usize = 30;

const FOR: Style = AnsiColor::Green.on_default();
const AGAINST: Style = AnsiColor::Red.on_default();

/// The waterfall as lines of text.
pub(crate) fn draw(waterfall: &Waterfall, screen: Screen) -> String {
    let mut out = String::new();
    let (target, class) = (&waterfall.target, &waterfall.class);
    let _ = writeln!(out, "{}: its log-odds in bits, term by term\n", bold(&format!("{target} = {class}")));
    let names = waterfall.steps.iter().map(|step| name(&step.label).chars().count());
    let margin = MARGIN + names.chain(["posterior".len()]).max().unwrap_or(0) + 2;
    let width = screen.width.saturating_sub(margin + 10).clamp(20, 72);
    let ends = waterfall.steps.iter().flat_map(|step| [step.from, step.to]).filter(|bits| bits.is_finite());
    let low = ends.clone().fold(-1.0, f64::min).max(-FURTHEST);
    let high = ends.fold(1.0, f64::max).min(FURTHEST);
    let room = 0.05 * (high - low);
    let (low, high) = (low - room, high + room);
    let place = |bits: f64| {
        let share = (bits.clamp(low, high) - low) / (high - low);
        ((share * width as f64) as usize).min(width - 1)
    };
    let zero = place(0.0);
    for step in &waterfall.steps {
        let bits = step.to - step.from;
        let (from, to) = (place(step.from), place(step.to));
        let bar = from.min(to)..from.max(to).max(from.min(to) + 1);
        let axis = |column: usize| if column == zero { '│' } else { ' ' };
        let before: String = (0..bar.start).map(axis).collect();
        let after: String = (bar.end..=zero).map(axis).collect();
        let bar = screen.paint(&"█".repeat(bar.len()), if bits >= 0.0 { FOR } else { AGAINST });
        let much = match bits.is_finite() {
            true => format!("{bits:+.2}").replace("-0.00", "+0.00"),
            false => "impossible".to_owned(),
        };
        let label = name(&step.label);
        let line =
            format!("{label:<names$}{before}{bar}{} {much}", after.trim_end(), names = margin - MARGIN);
        let _ = writeln!(out, "{:MARGIN$}{line}", "");
    }
    out.push_str(&axis_below(low, high, width, margin));
    let _ = writeln!(out, "{:MARGIN$}posterior {}", "", probability(waterfall.posterior));
    out
}

fn name(label: &str) -> String {
    shown(&shortened(label, NAMES))
}
