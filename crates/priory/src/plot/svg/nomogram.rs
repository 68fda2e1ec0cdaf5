//! The nomogram as SVG: a line for each column, and below them the sum and the probability that it stands for.

use std::fmt::Write as _;

use super::{BELOW, Frame, LETTER, RIGHT, Sheet, Short, Svg, cut, draw_scale, ticks};
use crate::plot::nomogram::{Line, Nomogram, Point, Points};

/// Room for the names of the columns.
const NAMES: f64 = 132.0;
/// From the top to the first line.
const TOP: f64 = 58.0;
/// The height of the line of a column of values, and of one of numbers.
const VALUES: f64 = 46.0;
const CURVE: f64 = 74.0;
/// What lies further out is drawn at the edge.
const FURTHEST: f64 = 24.0;
/// Probabilities that the axis of the sum is marked with.
const PROBABILITIES: [f64; 13] =
    [1e-6, 1e-4, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 0.999_999];

/// Where bits lie.
#[derive(Clone, Copy)]
struct Scale {
    low: f64,
    high: f64,
    frame: Frame,
}

impl Scale {
    /// With room at both ends for what is written there.
    fn new(low: f64, high: f64, frame: Frame) -> Self {
        let (low, high) = (low.clamp(-FURTHEST, -1.0), high.clamp(1.0, FURTHEST));
        let room = 0.06 * (high - low);
        Scale { low: low - room, high: high + room, frame }
    }

    fn x(&self, bits: f64) -> f64 {
        let inside = bits.clamp(self.low, self.high);
        self.frame.x + (inside - self.low) / (self.high - self.low) * self.frame.width
    }

    /// An arrow beside what lies further out.
    fn label(&self, label: &str, bits: f64) -> String {
        match bits {
            _ if bits < self.low => format!("← {label}"),
            _ if bits > self.high => format!("{label} →"),
            _ => label.to_owned(),
        }
    }
}

/// The picture of a nomogram, so wide.
pub fn nomogram(nomogram: &Nomogram, width: f64) -> Sheet {
    let heights: Vec<f64> = nomogram.lines.iter().map(height).collect();
    let lines = VALUES + heights.iter().sum::<f64>();
    let notes = nomogram.notes();
    let frame = Frame { x: NAMES, y: TOP, width: width - NAMES - RIGHT, height: lines };
    let whole = TOP + lines + BELOW + 62.0 + 16.0 * notes.len() as f64 + 12.0;
    let title = format!("What every value is worth: {} = {}", nomogram.target, nomogram.class);
    let mut svg = Svg::new((width, whole), &title, &description(nomogram));
    svg.text(16.0, 22.0, "strong", &cut(&title, (width - 32.0) / 8.0));
    let ranges = || nomogram.lines.iter().map(|line| line.points.range());
    let prior = if nomogram.prior.is_finite() { nomogram.prior } else { 0.0 };
    let low = ranges().map(|range| range.0).fold(prior.min(0.0), f64::min);
    let high = ranges().map(|range| range.1).fold(prior.max(0.0), f64::max);
    let scale = Scale::new(low, high, frame);
    let ends = "← speaks against it, in bits, for it →";
    svg.text(frame.x + frame.width / 2.0, 44.0, "soft middle", ends);
    draw_scale(&mut svg, frame, scale.low, scale.high);
    svg.path(
        &format!("M{} {}V{}", Short(scale.x(0.0)), Short(frame.y - 4.0), Short(frame.y + frame.height)),
        "axis",
    );
    let mut y = frame.y;
    draw_name(&mut svg, "prior", y + VALUES / 2.0);
    let prior = Point { label: String::new(), number: None, bits: nomogram.prior, share: None };
    draw_values(&mut svg, &scale, &[prior], y + VALUES / 2.0);
    y += VALUES;
    for (line, height) in nomogram.lines.iter().zip(&heights) {
        draw_name(&mut svg, &line.column, y + height / 2.0);
        match &line.points {
            Points::Values { values, .. } | Points::Words(values) => {
                draw_values(&mut svg, &scale, values, y + height / 2.0);
            }
            Points::Curve { low, high, bits, marks } => {
                draw_curve(&mut svg, &scale, (*low, *high), (bits, marks), y);
            }
        }
        y += height;
    }
    draw_sum(&mut svg, nomogram, Frame { y: y + BELOW + 22.0, height: 0.0, ..frame });
    for (i, note) in notes.iter().enumerate() {
        let note = cut(note, (width - 32.0) / (0.92 * LETTER));
        svg.text(16.0, y + BELOW + 72.0 + 16.0 * i as f64, "soft", &note);
    }
    svg.finish()
}

fn height(line: &Line) -> f64 {
    if let Points::Curve { .. } = line.points { CURVE } else { VALUES }
}

fn draw_name(svg: &mut Svg, name: &str, y: f64) {
    svg.text(NAMES - 10.0, y + 4.0, "end", &cut(name, (NAMES - 18.0) / LETTER));
}

/// A line through the values with a dot for each, the larger the more frequent it is; names above and below where there is
/// room.
fn draw_values(svg: &mut Svg, scale: &Scale, values: &[Point], y: f64) {
    let mut sorted: Vec<&Point> = values.iter().collect();
    sorted.sort_by(|a, b| a.bits.total_cmp(&b.bits));
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return };
    svg.path(&format!("M{} {}H{}", Short(scale.x(first.bits)), Short(y), Short(scale.x(last.bits))), "axis");
    let mut dots = String::new();
    for point in &sorted {
        write_dot(&mut dots, scale.x(point.bits), y, 2.5 + 5.0 * point.share.unwrap_or(0.1).sqrt());
    }
    svg.path(&dots, "fill0");
    // Where the last name above and below the line ends. The most frequent values are named first.
    let mut named: Vec<(f64, f64, f64)> = Vec::new();
    sorted.sort_by(|a, b| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
    for point in sorted {
        let label = scale.label(&cut(&point.label, 18.0), point.bits);
        let half = LETTER * label.chars().count() as f64 / 2.0;
        let frame = scale.frame;
        let x = scale
            .x(point.bits)
            .clamp(frame.x + half - 6.0, (frame.x + frame.width - half + 14.0).max(frame.x));
        let is_free = |at: f64| {
            named.iter().all(|&(y, from, to)| y != at || x + half + 4.0 < from || to + 4.0 < x - half)
        };
        if let Some(at) = [y - 10.0, y + 20.0].into_iter().find(|at| is_free(*at)) {
            svg.text(x, at, "middle", &label);
            named.push((at, x - half, x + half));
        }
    }
}

/// Numbers from the lowest at the bottom to the largest at the top.
fn draw_curve(
    svg: &mut Svg,
    scale: &Scale,
    (low, high): (f64, f64),
    (bits, marks): (&[f64], &[Point]),
    top: f64,
) {
    let (top, bottom) = (top + 9.0, top + CURVE - 9.0);
    let y = |share: f64| bottom - share * (bottom - top);
    let points = bits.len().max(2) as f64;
    let mut line = String::new();
    for (i, &bits) in bits.iter().enumerate() {
        let letter = if i == 0 { 'M' } else { 'L' };
        let share = i as f64 / (points - 1.0);
        let _ = write!(line, "{letter}{} {}", Short(scale.x(bits)), Short(y(share)));
    }
    svg.path(&line, "line0 dash0");
    let mut dots = String::new();
    for mark in marks {
        let Some(number) = mark.number.filter(|x| (low..=high).contains(x)) else { continue };
        let (x, y) = (scale.x(mark.bits), y((number - low) / (high - low)));
        write_dot(&mut dots, x, y, 3.0);
        let label = scale.label(&mark.label, mark.bits);
        let is_last =
            x + 8.0 + LETTER * label.chars().count() as f64 > scale.frame.x + scale.frame.width + 14.0;
        match is_last {
            true => svg.text(x - 7.0, y + 4.0, "end", &label),
            false => svg.text(x + 7.0, y + 4.0, "", &label),
        }
    }
    svg.path(&dots, "fill0");
}

/// The sum of all points, and the probability that it stands for.
fn draw_sum(svg: &mut Svg, nomogram: &Nomogram, frame: Frame) {
    let prior = if nomogram.prior.is_finite() { nomogram.prior } else { 0.0 };
    let sum = |end: fn((f64, f64)) -> f64| {
        prior + nomogram.lines.iter().map(|line| end(line.points.range())).sum::<f64>()
    };
    let scale = Scale::new(sum(|range| range.0), sum(|range| range.1), frame);
    draw_name(svg, "sum, in bits", frame.y - 4.0);
    svg.path(&format!("M{} {}h{}", Short(frame.x), Short(frame.y), Short(frame.width)), "axis");
    for tick in ticks(scale.low, scale.high, 8) {
        svg.path(&format!("M{} {}v-5", Short(scale.x(tick.at)), Short(frame.y)), "axis");
        svg.text(scale.x(tick.at), frame.y - 9.0, "soft middle", &tick.label);
    }
    draw_name(svg, "probability", frame.y + 16.0);
    let mut free = f64::NEG_INFINITY;
    for p in PROBABILITIES {
        let bits = (p / (1.0 - p)).log2();
        let label = p.to_string();
        let half = LETTER * label.len() as f64 / 2.0;
        let x = scale.x(bits);
        if bits < scale.low || bits > scale.high || x - half < free {
            continue;
        }
        svg.path(&format!("M{} {}v5", Short(x), Short(frame.y)), "axis");
        svg.text(x, frame.y + 19.0, "middle", &label);
        free = x + half + 6.0;
    }
}

/// Two halves of a circle.
fn write_dot(dots: &mut String, x: f64, y: f64, r: f64) {
    let (left, r, d) = (Short(x - r), Short(r), Short(2.0 * r));
    let _ = write!(dots, "M{left} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z", Short(y));
}

/// What a reader sees, in words.
fn description(nomogram: &Nomogram) -> String {
    let about = |line: &Line| {
        let (low, high) = line.points.range();
        format!("{} from {low:+.1} to {high:+.1}", line.column)
    };
    let lines: Vec<String> = nomogram.lines.iter().map(about).collect();
    format!(
        "Shown: by how many bits each value of each column speaks for {} = {}. The prior is worth {:+.1}; {}. The sum of all \
         gives the probability. {}",
        nomogram.target,
        nomogram.class,
        nomogram.prior,
        lines.join("; "),
        nomogram.notes().join(". "),
    )
}
