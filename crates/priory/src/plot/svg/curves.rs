//! What cut-offs are worth: the ROC curve, and the curve of precision and recall.

use std::fmt::Write as _;

use super::{BELOW, Frame, LEFT, Legend, RIGHT, Sheet, Short, Svg, draw_scale, line_class, ticks};
use crate::evaluate::{Curve, CutOffReport};

const HEIGHT: f64 = 240.0;
/// Points closer together than this cannot be told apart.
const CLOSE: f64 = 0.7;

/// The cut-offs of one class.
#[derive(Debug, Clone)]
pub struct Series {
    class: String,
    roc_auc: Option<f64>,
    average_precision: Option<f64>,
    curve: Curve,
}

impl Series {
    /// Of a class, and what was found about its cut-offs.
    pub fn new(class: &str, found: CutOffReport) -> Self {
        Series {
            class: class.to_owned(),
            roc_auc: found.roc_auc,
            average_precision: found.average_precision,
            curve: found.curve,
        }
    }
}

/// The frame that the curves of these classes are drawn in: left, top, width and height.
pub fn frame_of_curves(series: &[Series], width: f64) -> [f64; 4] {
    let names: Vec<String> = series.iter().map(|series| number(&series.class, series.roc_auc)).collect();
    let frame = frame(width, Legend::new(&names, width).height());
    [frame.x, frame.y, frame.width, frame.height]
}

fn frame(width: f64, legend: f64) -> Frame {
    Frame { x: LEFT, y: 16.0 + legend, width: width - LEFT - RIGHT, height: HEIGHT }
}

/// True positives against false ones, for every cut-off of each class.
pub fn roc(series: &[Series], width: f64) -> Sheet {
    let about = |series: &Series| number(&series.class, series.roc_auc);
    let what = Axes {
        title: "ROC curve",
        across: "false positive rate",
        up: "recall",
        number: "area under the curve",
    };
    let points = |series: &Series| {
        let curve = &series.curve;
        let reached = curve.false_positive_rate.iter().copied().zip(curve.recall.iter().copied());
        std::iter::once((0.0, 0.0)).chain(reached).collect::<Vec<_>>()
    };
    drawn(series, width, &what, about, points, true)
}

/// Precision against recall, for every cut-off of each class.
pub fn precision_recall(series: &[Series], width: f64) -> Sheet {
    let about = |series: &Series| number(&series.class, series.average_precision);
    let what = Axes {
        title: "Precision and recall",
        across: "recall",
        up: "precision",
        number: "average precision",
    };
    let points = |series: &Series| {
        let curve = &series.curve;
        let first = curve.precision.first().map(|&precision| (0.0, precision));
        first
            .into_iter()
            .chain(curve.recall.iter().copied().zip(curve.precision.iter().copied()))
            .collect::<Vec<_>>()
    };
    drawn(series, width, &what, about, points, false)
}

struct Axes {
    title: &'static str,
    across: &'static str,
    up: &'static str,
    number: &'static str,
}

fn number(class: &str, number: Option<f64>) -> String {
    number.map_or_else(|| class.to_owned(), |number| format!("{class} {number:.3}"))
}

fn drawn(
    series: &[Series],
    width: f64,
    what: &Axes,
    about: impl Fn(&Series) -> String,
    points: impl Fn(&Series) -> Vec<(f64, f64)>,
    diagonal: bool,
) -> Sheet {
    let names: Vec<String> = series.iter().map(about).collect();
    let legend = Legend::new(&names, width);
    let frame = frame(width, legend.height());
    let description = format!(
        "Shown: {} at every {} for each class. {}: {}.",
        what.up,
        what.across,
        what.number,
        names.join(", ")
    );
    let mut svg = Svg::new((width, frame.y + HEIGHT + BELOW), what.title, &description);
    legend.draw_lines(&mut svg);
    draw_scale(&mut svg, frame, 0.0, 1.0);
    let across = |x: f64| frame.x + x * frame.width;
    let up = |y: f64| frame.y + (1.0 - y) * frame.height;
    for tick in ticks(0.0, 1.0, 6) {
        svg.text(frame.x - 8.0, up(tick.at) + 4.0, "soft end", &tick.label);
    }
    if diagonal {
        svg.path(
            &format!("M{} {}L{} {}", Short(across(0.0)), Short(up(0.0)), Short(across(1.0)), Short(up(1.0))),
            "grid",
        );
    }
    svg.path(&format!("M{} {}v{}", Short(frame.x), Short(frame.y), Short(frame.height)), "axis");
    for (i, series) in series.iter().enumerate() {
        let points = points(series);
        let (mut line, mut last) = (String::new(), None::<(f64, f64)>);
        for (at, &(x, y)) in points.iter().enumerate() {
            let (x, y) = (across(x), up(y));
            let is_close = last.is_some_and(|(a, b)| (a - x).abs() < CLOSE && (b - y).abs() < CLOSE);
            if is_close && at + 1 < points.len() {
                continue;
            }
            let _ = write!(line, "{}{} {}", if line.is_empty() { 'M' } else { 'L' }, Short(x), Short(y));
            last = Some((x, y));
        }
        svg.path(&line, &line_class(i));
    }
    svg.text(frame.x + frame.width / 2.0, frame.y + frame.height + 36.0, "middle", what.across);
    svg.sideways(16.0, frame.y + frame.height / 2.0, what.up);
    svg.finish()
}
