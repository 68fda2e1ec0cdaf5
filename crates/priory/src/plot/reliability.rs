//! Whether probabilities can be believed: how sure predictions are, against how often they are right.

use std::fmt::Write as _;

use super::svg::{
    ABOVE, BELOW, Frame, LEFT, Legend, RIGHT, Sheet, Short, Svg, WIDTH, draw_scale, line_class,
};
use crate::evaluate::CalibrationBin;

const HEIGHT: f64 = 360.0;
const HEIGHT_OF_NARROW: f64 = 240.0;
/// The share of the frame that the bar of all rows would fill.
const BARS: f64 = 0.35;

/// The radius of the dot of a bin with all rows.
const LARGEST_DOT: f64 = 14.0;

/// A reliability diagram as SVG: for each series, a name and bins, a line through the mean confidence and the accuracy of every
/// bin, with dots whose area is the weight of its rows, over bars as high as the share of its rows. Probabilities that can be
/// believed lie on the diagonal.
pub fn reliability(series: &[(&str, &[CalibrationBin])], width: f64) -> Sheet {
    let names: Vec<String> = series.iter().map(|(name, _)| (*name).to_owned()).collect();
    let legend = Legend::new(&names, width);
    let height = if width < WIDTH { HEIGHT_OF_NARROW } else { HEIGHT };
    let frame = Frame { x: LEFT, y: 16.0 + legend.height() + ABOVE, width: width - LEFT - RIGHT, height };
    let title = "How sure predictions are, and how often they are right";
    let mut svg = Svg::new((width, frame.y + height + BELOW), title, &description(series));
    legend.draw_lines(&mut svg);
    // A narrow picture stands beside others, below a heading that says the same.
    if width >= WIDTH {
        svg.text(frame.x, frame.y - 10.0, "strong", title);
    }
    draw_scale(&mut svg, frame, 0.0, 1.0);
    let across = |x: f64| frame.x + x * frame.width;
    let up = |y: f64| frame.y + (1.0 - y) * frame.height;
    for tick in super::ticks(0.0, 1.0, 6) {
        svg.text(frame.x - 8.0, up(tick.at) + 4.0, "soft end", &tick.label);
    }
    svg.path(
        &format!("M{} {}L{} {}", Short(across(0.0)), Short(up(0.0)), Short(across(1.0)), Short(up(1.0))),
        "grid",
    );
    svg.path(&format!("M{} {}v{}", Short(frame.x), Short(frame.y), Short(frame.height)), "axis");
    for (i, (_, bins)) in series.iter().enumerate() {
        let total: f64 = bins.iter().map(|bin| bin.weight).sum();
        let points = bins.iter().filter_map(|bin| Some((bin.mean_confidence?, bin.accuracy?, bin.weight)));
        let mut bars = String::new();
        for bin in bins.iter().filter(|bin| bin.weight > 0.0) {
            let (left, right) = (across(bin.lower) + 1.0, across(bin.upper) - 1.0);
            let top = up(BARS * bin.weight / total);
            let bottom = Short(up(0.0));
            let (left, right, top) = (Short(left), Short(right), Short(top));
            let _ = write!(bars, "M{left} {bottom}V{top}H{right}V{bottom}z");
        }
        svg.path(&bars, &format!("fill{} data", i % 8));
        let (mut line, mut dots) = (String::new(), String::new());
        for (confidence, accuracy, weight) in points {
            let (x, y) = (across(confidence), up(accuracy));
            let letter = if line.is_empty() { 'M' } else { 'L' };
            let _ = write!(line, "{letter}{} {}", Short(x), Short(y));
            let r = (LARGEST_DOT * (weight / total).sqrt()).max(2.0);
            // Two halves of a circle.
            let (left, r, d) = (Short(x - r), Short(r), Short(2.0 * r));
            let _ = write!(dots, "M{left} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z", Short(y));
        }
        svg.path(&dots, &format!("fill{} s3", i % 8));
        svg.path(&line, &line_class(i));
    }
    let middle = frame.x + frame.width / 2.0;
    svg.text(middle, frame.y + frame.height + 36.0, "middle", "probability of the predicted class");
    match width < WIDTH {
        true => svg.sideways(16.0, frame.y + frame.height / 2.0, "share that is right"),
        false => svg.text(frame.x + 8.0, frame.y + 14.0, "soft", "share of predictions that are right"),
    }
    svg.finish()
}

/// What a reader sees, in words.
fn description(series: &[(&str, &[CalibrationBin])]) -> String {
    let about = |(name, bins): &(&str, &[CalibrationBin])| {
        let total: f64 = bins.iter().map(|bin| bin.weight).sum();
        let apart =
            bins.iter().filter_map(|bin| Some(bin.weight * (bin.accuracy? - bin.mean_confidence?).abs()));
        let error = apart.sum::<f64>() / total;
        format!("{name}, on average {:.1} % from the diagonal", 100.0 * error)
    };
    let lines: Vec<String> = series.iter().map(about).collect();
    format!(
        "Shown: the share of predictions that are right at each probability of the predicted class. {}.",
        lines.join("; ")
    )
}
