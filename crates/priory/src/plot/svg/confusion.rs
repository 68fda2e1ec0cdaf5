//! Which class is taken for which: a square for each pair, the stronger the larger its share of the true class.

use super::{LETTER, Sheet, Short, Svg, cut};

const TOP: f64 = 56.0;
const BELOW: f64 = 18.0;
/// A larger share than the first number of each is drawn as the second.
const SHADES: [(f64, f64); 7] =
    [(0.0, 0.0), (0.001, 0.06), (0.02, 0.14), (0.1, 0.25), (0.3, 0.4), (0.6, 0.55), (0.9, 0.7)];

/// The picture of a confusion matrix, so wide: rows are true classes, columns answers.
pub fn confusion(classes: &[String], weights: &[Vec<f64>], width: f64) -> Sheet {
    let longest = classes.iter().map(|name| name.chars().count()).max().unwrap_or(0) as f64;
    let left = (24.0 + LETTER * longest).clamp(56.0, 0.34 * width);
    let size = ((width - left - 12.0) / classes.len().max(1) as f64).min(96.0);
    let tall = size.clamp(30.0, 64.0);
    let height = TOP + tall * classes.len() as f64 + BELOW;
    let mut svg = Svg::new((width, height), "Which class is taken for which", &description(classes, weights));
    let letters = |room: f64| (room / LETTER).max(2.0);
    svg.text(left, 20.0, "soft", "answered →");
    svg.text(12.0, TOP - 12.0, "soft", "true ↓");
    for (i, (class, row)) in classes.iter().zip(weights).enumerate() {
        let (x, y) = (left + size * i as f64, TOP + tall * i as f64);
        svg.text(x + size / 2.0, TOP - 12.0, "middle", &cut(class, letters(size)));
        svg.text(left - 8.0, y + tall / 2.0 + 4.0, "end", &cut(class, letters(left - 18.0)));
        let all: f64 = row.iter().sum();
        for (j, &weight) in row.iter().enumerate() {
            let share = if all > 0.0 { weight / all } else { 0.0 };
            let opacity = SHADES.iter().rfind(|(least, _)| share >= *least).map_or(0.0, |shade| shade.1);
            let x = left + size * j as f64;
            // Right answers in one colour, mistakes in another.
            let class = if i == j { "fill0" } else { "fill1" };
            if opacity > 0.0 {
                svg.shaded((x + 1.0, y + 1.0), (size - 2.0, tall - 2.0), class, opacity);
            }
            svg.path(
                &format!(
                    "M{} {}h{}v{}h-{}z",
                    Short(x + 0.5),
                    Short(y + 0.5),
                    Short(size - 1.0),
                    Short(tall - 1.0),
                    Short(size - 1.0)
                ),
                "grid",
            );
            svg.text(
                x + size / 2.0,
                y + tall / 2.0 + 4.0,
                if i == j { "strong middle" } else { "middle" },
                &written(weight, letters(size)),
            );
        }
    }
    svg.finish()
}

/// A weight in so many letters.
fn written(weight: f64, letters: f64) -> String {
    let whole = if weight.fract() == 0.0 { format!("{weight:.0}") } else { format!("{weight:.1}") };
    if whole.len() as f64 <= letters { whole } else { format!("{weight:.0e}") }
}

/// What a reader sees, in words.
fn description(classes: &[String], weights: &[Vec<f64>]) -> String {
    let about = |(class, row): (&String, &Vec<f64>)| {
        let answers = classes.iter().zip(row).filter(|(_, weight)| **weight > 0.0);
        let answers: Vec<String> =
            answers.map(|(answer, weight)| format!("{} as {answer}", written(*weight, 20.0))).collect();
        format!("{class}: {}", answers.join(", "))
    };
    let rows: Vec<String> = classes.iter().zip(weights).map(about).collect();
    format!("Shown: how many rows of each true class were answered how. {}.", rows.join("; "))
}
