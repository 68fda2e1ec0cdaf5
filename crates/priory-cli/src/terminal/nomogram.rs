//! A nomogram in the terminal: a line of dots for each column, with the values below them.

use std::fmt::Write as _;

use priory::plot::Nomogram;
use priory::plot::nomogram::{Point, Points};

use super::{MARGIN, Screen, axis_below, bright};
use crate::output::{bold, shortened, shown};

/// What lies further out is drawn at the edge.
const FURTHEST: f64 = 24.0;
/// Names longer than this are cut.
const NAMES: usize = 20;

/// The nomogram as lines of text.
pub(crate) fn draw(nomogram: &Nomogram, screen: Screen) -> String {
    let mut out = String::new();
    let (target, class) = (&nomogram.target, &nomogram.class);
    let _ = writeln!(
        out,
        "{}: by how many bits each value speaks for it\n",
        bold(&format!("{target} = {class}"))
    );
    let prior = Point { label: "prior".to_owned(), number: None, bits: nomogram.prior, share: None };
    let names = nomogram.lines.iter().map(|line| name(&line.column).chars().count());
    let margin = MARGIN + names.chain(["prior".len()]).max().unwrap_or(0) + 2;
    let width = screen.width.saturating_sub(margin + 2).clamp(20, 84);
    let ranges = nomogram.lines.iter().map(|line| line.points.range());
    let (mut low, mut high) = (prior.bits.clamp(-FURTHEST, -1.0), prior.bits.clamp(1.0, FURTHEST));
    for (least, most) in ranges {
        (low, high) = (low.min(least).max(-FURTHEST), high.max(most).min(FURTHEST));
    }
    let room = 0.05 * (high - low);
    let (low, high) = (low - room, high + room);
    let place = |bits: f64| {
        let share = (bits.clamp(low, high) - low) / (high - low);
        ((share * width as f64) as usize).min(width - 1)
    };
    write_line(&mut out, "prior", &[prior], (margin, width), &place, screen);
    for line in &nomogram.lines {
        let points = match &line.points {
            Points::Values { values, .. } | Points::Words(values) => values,
            Points::Curve { marks, .. } => marks,
        };
        write_line(&mut out, &line.column, points, (margin, width), &place, screen);
    }
    out.push_str(&axis_below(low, high, width, margin));
    for note in nomogram.notes() {
        let _ = writeln!(out, "\n  {}", shown(&note));
    }
    out
}

fn name(column: &str) -> String {
    shown(&shortened(column, NAMES))
}

/// The dots of a column on a line, and below them the values that have room.
fn write_line(
    out: &mut String,
    column: &str,
    points: &[Point],
    (margin, width): (usize, usize),
    place: &impl Fn(f64) -> usize,
    screen: Screen,
) {
    let mut sorted: Vec<&Point> = points.iter().collect();
    sorted.sort_by(|a, b| a.bits.total_cmp(&b.bits));
    let places: Vec<usize> = sorted.iter().map(|point| place(point.bits)).collect();
    let span = places.first().copied().unwrap_or(0)..=places.last().copied().unwrap_or(0);
    let zero = place(0.0);
    let mut line = String::new();
    let mut run = String::new();
    for column in 0..width {
        let character = match column {
            _ if places.contains(&column) => '●',
            _ if column == zero => '│',
            _ if span.contains(&column) && !places.is_empty() => '─',
            _ => ' ',
        };
        if character == '●' {
            line.push_str(&std::mem::take(&mut run));
            line.push_str(&screen.paint("●", bright(0)));
        } else {
            run.push(character);
        }
    }
    line.push_str(&run);
    let _ =
        writeln!(out, "{:MARGIN$}{:<names$}{}", "", name(column), line.trim_end(), names = margin - MARGIN);
    // Names that overlap are left out, those of the most frequent values last.
    let mut labels: Vec<char> = vec![' '; width + 2 * NAMES];
    let mut by_share: Vec<(&&Point, usize)> = sorted.iter().zip(places).collect();
    by_share.sort_by(|a, b| b.0.share.unwrap_or(0.0).total_cmp(&a.0.share.unwrap_or(0.0)));
    for (point, place) in by_share.into_iter().filter(|(point, _)| point.label != column) {
        let label: Vec<char> = name(&point.label).chars().collect();
        let start = place.saturating_sub(label.len() / 2).min((width + 1).saturating_sub(label.len()));
        let around = start.saturating_sub(1)..(start + label.len() + 1).min(labels.len());
        if labels[around].iter().all(|character| *character == ' ') {
            labels.splice(start..start + label.len(), label);
        }
    }
    let labels: String = labels.into_iter().collect();
    if !labels.trim().is_empty() {
        let _ = writeln!(out, "{:margin$}{}", "", labels.trim_end());
    }
}
