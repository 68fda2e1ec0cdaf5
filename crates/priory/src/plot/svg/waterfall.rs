//! The waterfall of a row as SVG: a bar for each term, from where the log-odds were before it to where they are after it.

use super::{Frame, LETTER, RIGHT, Sheet, Short, Svg, cut, ticks};
use crate::plot::waterfall::{Step, Waterfall};

/// Room for the names of the terms, as a share of the width.
const NAMES: f64 = 0.36;
const TOP: f64 = 76.0;
const ROW: f64 = 24.0;
/// What lies further out is drawn at the edge.
const FURTHEST: f64 = 60.0;
const PROBABILITIES: [f64; 13] =
    [1e-9, 1e-6, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.999_999, 0.999_999_999];

/// The picture of a waterfall, so wide.
pub fn waterfall(waterfall: &Waterfall, width: f64) -> Sheet {
    let names = NAMES * width;
    let frame = Frame {
        x: names,
        y: TOP,
        width: width - names - RIGHT - 46.0,
        height: ROW * (waterfall.steps.len() + 1) as f64,
    };
    let title =
        format!("{} = {}, P = {}", waterfall.target, waterfall.class, probability(waterfall.posterior));
    let mut svg = Svg::new((width, frame.y + frame.height + 26.0), &title, &description(waterfall));
    svg.text(16.0, 22.0, "strong", &cut(&title, (width - 32.0) / 8.0));
    let ends = waterfall.steps.iter().flat_map(|step| [step.from, step.to]).filter(|bits| bits.is_finite());
    let low = ends.clone().fold(-1.0, f64::min).max(-FURTHEST);
    let high = ends.fold(1.0, f64::max).min(FURTHEST);
    let room = 0.05 * (high - low);
    let (low, high) = (low - room, high + room);
    let x = |bits: f64| frame.x + (bits.clamp(low, high) - low) / (high - low) * frame.width;
    let bottom = frame.y + frame.height;
    svg.text(frame.x + frame.width / 2.0, 40.0, "soft middle", "probability, and below it log-odds in bits");
    let mut free = f64::NEG_INFINITY;
    for p in PROBABILITIES {
        let bits = (p / (1.0 - p)).log2();
        let label = p.to_string();
        let half = LETTER * label.len() as f64 / 2.0;
        if bits > low && bits < high && x(bits) - half > free {
            svg.text(x(bits), 56.0, "middle", &label);
            free = x(bits) + half + 4.0;
        }
    }
    for tick in ticks(low, high, 7) {
        svg.path(&format!("M{} {}V{}", Short(x(tick.at)), Short(frame.y - 4.0), Short(bottom)), "grid");
        svg.text(x(tick.at), frame.y - 8.0, "soft middle", &tick.label);
    }
    svg.path(&format!("M{} {}V{}", Short(x(0.0)), Short(frame.y - 4.0), Short(bottom)), "axis");
    for (i, step) in waterfall.steps.iter().enumerate() {
        draw_step(&mut svg, step, (frame.x, frame.y + ROW * i as f64), &x);
    }
    let y = bottom - ROW;
    let end = waterfall.steps.last().map_or(0.0, |step| step.to);
    svg.text(frame.x - 10.0, y + 16.0, "strong end", "posterior");
    svg.path(&format!("M{} {}h7l-7 7l-7 -7z", Short(x(end)), Short(y + 5.0)), "fill2");
    svg.text(x(end) + 12.0, y + 16.0, "strong", &probability(waterfall.posterior));
    svg.finish()
}

/// A bar to the right where it speaks for the class, to the left where it speaks against it, and how much that is.
fn draw_step(svg: &mut Svg, step: &Step, (left, y): (f64, f64), x: &impl Fn(f64) -> f64) {
    svg.text(left - 10.0, y + 16.0, "end", &cut(&step.label, (left - 26.0) / LETTER));
    let (from, to) = (x(step.from), x(step.to));
    let bits = step.to - step.from;
    let class = if bits >= 0.0 { "fill0" } else { "fill1" };
    svg.rect(from.min(to), y + 4.0, (to - from).abs().max(1.0), ROW - 8.0, class);
    // From one bar to the next.
    svg.path(&format!("M{} {}v8", Short(to), Short(y + ROW - 4.0)), "axis");
    let text = if bits.is_finite() { format!("{bits:+.2}") } else { "impossible".to_owned() };
    let text = if text == "-0.00" { "+0.00".to_owned() } else { text };
    svg.text(from.max(to) + 6.0, y + 16.0, "soft", &text);
}

/// A probability that shows how far it is from certainty.
fn probability(p: f64) -> String {
    match p {
        _ if p > 0.0 && p < 5e-5 => format!("{p:.1e}"),
        _ if p < 1.0 && p > 1.0 - 5e-5 => format!("1 − {:.1e}", 1.0 - p),
        _ => format!("{p:.4}"),
    }
}

/// What a reader sees, in words.
fn description(waterfall: &Waterfall) -> String {
    let about = |step: &Step| format!("{} {:+.2}", step.label, step.to - step.from);
    let steps: Vec<String> = waterfall.steps.iter().map(about).collect();
    format!(
        "Shown: how the log-odds of {} = {} move, in bits: {}. The posterior is {}.",
        waterfall.target,
        waterfall.class,
        steps.join(", "),
        probability(waterfall.posterior)
    )
}
