//! Pictures as SVG: one file that needs nothing else, for light and for dark paper, with a title and a description for those
//! who do not see it. The same model gives the same bytes.

mod confusion;
mod curves;
mod nomogram;
mod waterfall;

use std::fmt::{Display, Write as _};

pub use confusion::confusion;
pub use curves::{Series, frame_of_curves, precision_recall, roc};
pub use nomogram::nomogram;
pub use waterfall::waterfall;

use super::axis::ticks;
use super::{Bars, Densities, Drawing, Panel, Picture, Regions, Words, regions};

/// The rectangle that a drawing fills; labels stand outside of it.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// How wide a picture is on a page of its own, and as one of several that also a phone shows side by side or in turn.
pub const WIDTH: f64 = 680.0;
/// See [`WIDTH`].
pub const NARROW: f64 = 360.0;
/// Between a frame and the edge or the next frame.
pub(super) const LEFT: f64 = 56.0;
pub(super) const RIGHT: f64 = 20.0;
pub(super) const BELOW: f64 = 44.0;
/// Above a frame, for its title.
pub(super) const ABOVE: f64 = 30.0;
/// One letter is about so wide, and one of a title.
pub(super) const LETTER: f64 = 7.0;
const STRONG_LETTER: f64 = 8.0;

/// A colour on light paper and one on dark, for each class in turn (after Okabe and Ito, whom the colour-blind can read).
const COLOURS: [(&str, &str); 8] = [
    ("#0072b2", "#4db3ff"),
    ("#d98200", "#ffb84d"),
    ("#00875f", "#2fd6a3"),
    ("#b8528a", "#f29ccb"),
    ("#1b9fd0", "#8fdcff"),
    ("#c94f00", "#ff8a4d"),
    ("#8a7d00", "#e6d94d"),
    ("#444444", "#cccccc"),
];
/// Lines differ in their dashes as well.
const DASHES: [&str; 4] = ["", "7 3", "2 2", "9 3 2 3"];

/// A picture that was drawn: a file, or a part of a page of HTML.
#[derive(Debug, Clone)]
pub struct Sheet {
    width: f64,
    height: f64,
    title: String,
    description: String,
    drawn: String,
}

impl Sheet {
    /// What is to be seen, in a few words.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The picture as a file of its own.
    pub fn file(&self) -> String {
        self.written(("title", "description"), &style())
    }

    /// The picture as an element of a page that has the [`style`] of all of them; no other may have the same number.
    pub fn element(&self, number: usize) -> String {
        self.written((&format!("title-{number}"), &format!("description-{number}")), "")
    }

    fn written(&self, (title, description): (&str, &str), style: &str) -> String {
        let (width, height) = (Short(self.width), Short(self.height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-labelledby=\"{title} {description}\">\n\
             <title id=\"{title}\">{}</title>\n<desc id=\"{description}\">{}</desc>\n{style}\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            escaped(&self.title),
            escaped(&self.description),
            self.drawn,
        )
    }
}

/// The picture as a file.
pub fn draw(picture: &Picture) -> String {
    sheet(picture, WIDTH).file()
}

/// The picture, so wide.
pub fn sheet(picture: &Picture, width: f64) -> Sheet {
    let legend = Legend::of(&picture.target, &picture.classes, width);
    let single = picture.panels.len() == 1;
    let top = 16.0 + legend.height();
    let (frames, height) = match single {
        true => single_frame(&picture.panels[0], top, width),
        false => frames(&picture.panels, top, width),
    };
    let mut svg = Svg::new((width, height), &heading(picture), &description(picture));
    legend.draw(&mut svg, picture);
    for (panel, &frame) in picture.panels.iter().zip(&frames) {
        let about = format!("{}: {}", panel.title, panel.family);
        let lines = wrapped(&about, frame.width / STRONG_LETTER);
        for (i, line) in lines.iter().enumerate() {
            let y = frame.y - 10.0 - LINE * (lines.len() - 1 - i) as f64;
            svg.text(frame.x, y, "strong", line);
        }
        match &panel.drawing {
            Drawing::Densities(densities) => draw_densities(&mut svg, frame, densities, picture),
            Drawing::Bars(bars) => draw_bars(&mut svg, frame, bars, &picture.target),
            Drawing::Regions(regions) => draw_regions(&mut svg, frame, regions),
            Drawing::Words(words) => draw_words(&mut svg, frame, words, &picture.target),
        }
    }
    svg.finish()
}

fn heading(picture: &Picture) -> String {
    let titles: Vec<&str> = picture.panels.iter().map(|panel| panel.title.as_str()).collect();
    format!("{} given {}", titles.join(", "), picture.target)
}

/// What a reader sees, in words.
fn description(picture: &Picture) -> String {
    let classes = format!("{} ({})", picture.target, picture.classes.join(", "));
    let about = |panel: &Panel| match &panel.drawing {
        Drawing::Densities(densities) => format!(
            "the density of {}, taken as {}, from {} to {}, a line for each {classes}{}",
            panel.title,
            panel.family,
            short(densities.low),
            short(densities.high),
            if densities.bins.heights.is_empty() { "" } else { ", over a histogram of the data" },
        ),
        Drawing::Bars(_) => {
            format!("the probability of each value of {}, a bar for each {classes}", panel.title)
        }
        Drawing::Regions(regions) => format!(
            "the most probable {classes} at each {} and {}, stronger where it is surer, with lines around one half and \
             nine tenths of each class",
            regions.across.name, regions.up.name,
        ),
        Drawing::Words(words) => {
            format!(
                "the {} words of {} that tell most, a bar for how much each speaks for its {classes}",
                words.words.len(),
                panel.title
            )
        }
    };
    format!("Shown: {}.", picture.panels.iter().map(about).collect::<Vec<_>>().join("; "))
}

/// The position of a single panel, and the height of the picture.
fn single_frame(panel: &Panel, top: f64, width: f64) -> (Vec<Frame>, f64) {
    let (left, height) = match &panel.drawing {
        Drawing::Densities(_) => (LEFT, 260.0),
        Drawing::Bars(bars) => (label_room(bars).min(0.4 * width), bars_height(bars)),
        Drawing::Regions(_) => (LEFT + 16.0, 432.0),
        Drawing::Words(words) => (word_room(words), words_height(words)),
    };
    let height = if width < WIDTH { height.min(200.0_f64.max(bars_room(panel))) } else { height };
    let width = width - left - RIGHT;
    let frame = Frame { x: left, y: top + ABOVE + title_room(panel, width), width, height };
    (vec![frame], frame.y + height + BELOW)
}

/// Panels in two columns, as high as the highest of a row.
fn frames(panels: &[Panel], top: f64, width: f64) -> (Vec<Frame>, f64) {
    let half = width / 2.0;
    let mut frames = Vec::new();
    let mut y = top;
    for row in panels.chunks(2) {
        let height = |panel: &Panel| match &panel.drawing {
            Drawing::Bars(bars) => bars_height(bars),
            Drawing::Words(words) => words_height(words),
            Drawing::Densities(_) | Drawing::Regions(_) => 150.0,
        };
        let height = row.iter().map(height).fold(0.0, f64::max);
        let left = |panel: &Panel| match &panel.drawing {
            Drawing::Bars(bars) => label_room(bars).min(130.0),
            Drawing::Words(words) => word_room(words).min(130.0),
            Drawing::Densities(_) | Drawing::Regions(_) => LEFT,
        };
        let above = row
            .iter()
            .map(|panel| title_room(panel, half - left(panel) - RIGHT))
            .fold(ABOVE, |most, room| most.max(ABOVE + room));
        for (i, panel) in row.iter().enumerate() {
            let left = left(panel);
            let x = i as f64 * half + left;
            // Beside a long list of bars a curve does not need all the height.
            let is_list = matches!(&panel.drawing, Drawing::Bars(_) | Drawing::Words(_));
            let height = if is_list { height } else { height.min(240.0) };
            frames.push(Frame { x, y: y + above, width: half - left - RIGHT, height });
        }
        y += above + height + BELOW;
    }
    (frames, y)
}

/// Names of classes with their colours, in as many lines as they need.
pub(super) struct Legend<'a> {
    /// What the classes are of, unless there is nothing to say.
    target: Option<&'a str>,
    lines: Vec<Vec<(usize, &'a str)>>,
}

impl<'a> Legend<'a> {
    pub(super) fn new(classes: &'a [String], width: f64) -> Self {
        Legend::with(None, classes, width)
    }

    /// The classes of a target, after its name.
    fn of(target: &'a str, classes: &'a [String], width: f64) -> Self {
        Legend::with(Some(target), classes, width)
    }

    fn with(target: Option<&'a str>, classes: &'a [String], whole: f64) -> Self {
        let mut lines: Vec<Vec<(usize, &str)>> = vec![Vec::new()];
        let mut x = LEFT + Legend::target_width(target);
        for (class, name) in classes.iter().enumerate() {
            let width = Legend::width(name);
            if x + width > whole - RIGHT && lines.last().is_some_and(|line| !line.is_empty()) {
                lines.push(Vec::new());
                x = LEFT;
            }
            x += width;
            if let Some(line) = lines.last_mut() {
                line.push((class, name));
            }
        }
        Legend { target, lines }
    }

    fn target_width(target: Option<&str>) -> f64 {
        target.map_or(0.0, |name| 12.0 + STRONG_LETTER * cut(name, 24.0).chars().count() as f64)
    }

    fn width(name: &str) -> f64 {
        38.0 + LETTER * cut(name, 40.0).chars().count() as f64
    }

    pub(super) fn height(&self) -> f64 {
        18.0 * self.lines.len() as f64
    }

    fn draw(&self, svg: &mut Svg, picture: &Picture) {
        let are_lines = |panel: &Panel| matches!(panel.drawing, Drawing::Densities(_));
        self.draw_as(svg, picture.panels.iter().all(are_lines));
    }

    /// For a picture in which classes are nothing but lines.
    pub(super) fn draw_lines(&self, svg: &mut Svg) {
        self.draw_as(svg, true);
    }

    fn draw_as(&self, svg: &mut Svg, only_lines: bool) {
        let look = if only_lines { " data" } else { "" };
        if let Some(target) = self.target {
            svg.text(LEFT, 18.0, "strong", &cut(target, 24.0));
        }
        for (line, y) in self.lines.iter().zip((0..).map(|line| 18.0 + 18.0 * f64::from(line))) {
            let mut x = if y == 18.0 { LEFT + Legend::target_width(self.target) } else { LEFT };
            for &(class, name) in line {
                svg.rect(x, y - 9.0, 20.0, 10.0, &format!("fill{}{look}", class % 8));
                if only_lines {
                    svg.path(&format!("M{} {}h20", Short(x), Short(y - 4.0)), &line_class(class));
                }
                svg.text(x + 25.0, y, "", &cut(name, 40.0));
                x += Legend::width(name);
            }
        }
    }
}

fn draw_densities(svg: &mut Svg, frame: Frame, densities: &Densities, picture: &Picture) {
    draw_scale(svg, frame, densities.low, densities.high);
    let axis = format!("density p(x | {})", cut(&picture.target, 24.0));
    svg.sideways(frame.x - 12.0, frame.y + frame.height / 2.0, &axis);
    let across = |x: f64| frame.x + (x - densities.low) / (densities.high - densities.low) * frame.width;
    let up = |y: f64| frame.y + frame.height * (1.0 - (y / densities.top).min(1.0));
    let bins = &densities.bins;
    for (class, heights) in bins.heights.iter().enumerate() {
        let mut outline = String::new();
        for (bin, &height) in heights.iter().enumerate().filter(|(_, height)| **height > 0.0) {
            let edge = |bin: usize| {
                across(bins.start + bin as f64 * bins.width).clamp(frame.x, frame.x + frame.width)
            };
            let (left, right, y) = (edge(bin), edge(bin + 1), up(height));
            let _ = write!(
                outline,
                "M{} {}H{}V{}H{}z",
                Short(left),
                Short(y),
                Short(right),
                Short(frame.y + frame.height),
                Short(left)
            );
        }
        svg.path(&outline, &format!("fill{} data", class % 8));
    }
    for (class, curve) in densities.curves.iter().enumerate() {
        let step = frame.width / curve.len() as f64;
        let mut line = String::new();
        for (i, &y) in curve.iter().enumerate() {
            let letter = if i == 0 { 'M' } else { 'L' };
            let _ = write!(line, "{letter}{} {}", Short(frame.x + (i as f64 + 0.5) * step), Short(up(y)));
        }
        svg.path(&line, &line_class(class));
    }
    // They may begin to the left of the frame, where nothing else is.
    let notes = cut(&densities.notes(&picture.classes), (frame.width + LEFT) / LETTER);
    if !notes.is_empty() {
        svg.text(frame.x + frame.width, frame.y + frame.height + 36.0, "soft end", &notes);
    }
}

/// A line below a frame with round numbers, and faint lines up from them.
pub(super) fn draw_scale(svg: &mut Svg, frame: Frame, low: f64, high: f64) {
    let bottom = frame.y + frame.height;
    let marks = |most: usize| ticks(low, high, most);
    let longest = marks(6).iter().map(|tick| tick.label.len()).max().unwrap_or(1);
    let most = (frame.width / (LETTER * (longest + 2) as f64)).clamp(1.0, 8.0);
    for tick in marks(most as usize) {
        let x = frame.x + (tick.at - low) / (high - low) * frame.width;
        svg.path(&format!("M{} {}V{}", Short(x), Short(frame.y), Short(bottom + 4.0)), "grid");
        // A label that would be cut off at the edge is left out.
        if x + LETTER / 2.0 * tick.label.len() as f64 <= svg.width {
            svg.text(x, bottom + 18.0, "soft middle", &tick.label);
        }
    }
    svg.path(&format!("M{} {}h{}", Short(frame.x), Short(bottom), Short(frame.width)), "axis");
}

/// Each value is a group of bars, one for each class.
fn draw_bars(svg: &mut Svg, frame: Frame, bars: &Bars, target: &str) {
    svg.text(frame.x, frame.y + frame.height + 36.0, "soft", &format!("P(x | {})", cut(target, 24.0)));
    let top = bars.top().max(f64::MIN_POSITIVE);
    draw_scale(svg, frame, 0.0, top);
    let group = frame.height / bars.values.len().max(1) as f64;
    for (i, (value, probabilities)) in bars.values.iter().enumerate() {
        let y = frame.y + i as f64 * group;
        let thick = (group - 6.0).max(1.0) / probabilities.len().max(1) as f64;
        svg.text(frame.x - 8.0, y + group / 2.0 + 4.0, "end", &cut(value, 16.0));
        for (class, &p) in probabilities.iter().enumerate() {
            let y = y + 3.0 + class as f64 * thick;
            svg.rect(frame.x, y, p / top * frame.width, thick * 0.9, &format!("fill{}", class % 8));
        }
    }
    if bars.more > 0 {
        let text = format!("and {} {} more", bars.more, if bars.more == 1 { "value" } else { "values" });
        svg.text(frame.x + frame.width, frame.y + frame.height + 36.0, "soft end", &text);
    }
}

fn bars_height(bars: &Bars) -> f64 {
    let classes = bars.values.first().map_or(1, |(_, bars)| bars.len());
    bars.values.len().max(1) as f64 * (8.0 * classes as f64 + 6.0).clamp(20.0, 90.0)
}

/// The height that bars need, if there are any.
fn bars_room(panel: &Panel) -> f64 {
    if let Drawing::Bars(bars) = &panel.drawing { bars_height(bars) } else { 0.0 }
}

/// A bar for each word, in the colour of the class that it speaks for.
fn draw_words(svg: &mut Svg, frame: Frame, words: &Words, target: &str) {
    let about = format!("how much it speaks for the {}, in nats", cut(target, 24.0));
    svg.text(frame.x, frame.y + frame.height + 36.0, "soft", &about);
    let top = words.top();
    draw_scale(svg, frame, 0.0, top);
    let high = words_height(words) / words.words.len().max(1) as f64;
    for (i, word) in words.words.iter().enumerate() {
        let y = frame.y + i as f64 * high;
        svg.text(frame.x - 8.0, y + high / 2.0 + 4.0, "end", &cut(&word.token, 20.0));
        // What no other class has goes on for ever, and is as long as the picture is wide.
        let width = (word.evidence / top).min(1.0) * frame.width;
        svg.rect(frame.x, y + 2.0, width, high - 4.0, &format!("fill{}", word.class % 8));
    }
    if words.more > 0 {
        let text = format!("and {} {} more", words.more, if words.more == 1 { "class" } else { "classes" });
        svg.text(frame.x + frame.width, frame.y + frame.height + 36.0, "soft end", &text);
    }
}

fn words_height(words: &Words) -> f64 {
    16.0 * words.words.len().max(1) as f64
}

/// Room for the words.
fn word_room(words: &Words) -> f64 {
    let longest = words.words.iter().map(|word| cut(&word.token, 20.0).chars().count()).max().unwrap_or(0);
    LEFT.max(20.0 + LETTER * longest as f64)
}

/// Room for the names of the values.
fn label_room(bars: &Bars) -> f64 {
    let longest = bars.values.iter().map(|(value, _)| cut(value, 16.0).chars().count()).max().unwrap_or(0);
    LEFT.max(20.0 + LETTER * longest as f64)
}

/// How strong a region is drawn, by the probability of its class.
const SHADES: [(f64, &str); 4] = [(0.0, "s0"), (0.6, "s1"), (0.8, "s2"), (0.95, "s3")];

fn draw_regions(svg: &mut Svg, frame: Frame, map: &Regions) {
    let (columns, rows) = (map.across.points, map.up.points);
    let (width, height) = (frame.width / columns as f64, frame.height / rows as f64);
    let shade = |p: f64| SHADES.iter().rposition(|(least, _)| p >= *least).unwrap_or(0);
    let look = |column: usize, row: usize| {
        let (class, p) = map.best[row * columns + column];
        (class, shade(p))
    };
    let classes = map.contours.len();
    let mut shapes = vec![String::new(); classes * SHADES.len()];
    for row in 0..rows {
        let mut start = 0;
        for column in 1..=columns {
            if column < columns && look(column, row) == look(start, row) {
                continue;
            }
            let (class, shade) = look(start, row);
            let (x, y) = (frame.x + start as f64 * width, frame.y + frame.height - (row + 1) as f64 * height);
            let across = Short((column - start) as f64 * width);
            let shape = &mut shapes[class * SHADES.len() + shade];
            let _ = write!(shape, "M{} {}h{across}v{}h-{across}z", Short(x), Short(y), Short(height));
            start = column;
        }
    }
    for (i, shape) in shapes.iter().enumerate() {
        svg.path(shape, &format!("fill{} {}", i / SHADES.len() % 8, SHADES[i % SHADES.len()].1));
    }
    for (class, pieces) in map.contours.iter().enumerate() {
        let mut lines = String::new();
        for [from, to] in pieces {
            // Points of the map lie in the middle of their cells.
            let at = |(x, y): (f64, f64)| {
                (Short(frame.x + (x + 0.5) * width), Short(frame.y + frame.height - (y + 0.5) * height))
            };
            let ((x, y), (to_x, to_y)) = (at(*from), at(*to));
            let _ = write!(lines, "M{x} {y}L{to_x} {to_y}");
        }
        svg.path(&lines, &format!("line{} contour", class % 8));
    }
    draw_points(svg, frame, map);
    draw_scale(svg, frame, map.across.low, map.across.high);
    for tick in ticks(map.up.low, map.up.high, 8) {
        let y = frame.y + frame.height * (1.0 - (tick.at - map.up.low) / (map.up.high - map.up.low));
        svg.path(&format!("M{} {}H{}", Short(frame.x - 4.0), Short(y), Short(frame.x)), "axis");
        svg.text(frame.x - 8.0, y + 4.0, "soft end", &tick.label);
    }
    svg.path(&format!("M{} {}v{}", Short(frame.x), Short(frame.y), Short(frame.height)), "axis");
    svg.text(
        frame.x + frame.width / 2.0,
        frame.y + frame.height + 36.0,
        "middle",
        &cut(&map.across.name, 36.0),
    );
    let shares: Vec<String> = regions::SHARES.iter().map(|share| format!("{:.0} %", 100.0 * share)).collect();
    let about = format!("lines: {} of a class", shares.join(" and "));
    svg.text(frame.x + frame.width, frame.y + frame.height + 36.0, "soft end", &about);
}

/// A dot for each row that is on the map.
fn draw_points(svg: &mut Svg, frame: Frame, map: &Regions) {
    let mut dots = vec![String::new(); map.contours.len()];
    for point in &map.points {
        let place = |at: f64, low: f64, high: f64| (at - low) / (high - low);
        let x = place(point.across, map.across.low, map.across.high);
        let y = place(point.up, map.up.low, map.up.high);
        if (0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y) {
            let (x, y) = (frame.x + x * frame.width, frame.y + (1.0 - y) * frame.height);
            // A line of no length with round ends.
            let _ = write!(dots[point.class], "M{} {}h0", Short(x), Short(y));
        }
    }
    const DOT: &str = "fill:none;stroke-width:4;stroke-linecap:round;stroke-opacity:.75";
    for (class, dots) in dots.iter().enumerate().filter(|(_, dots)| !dots.is_empty()) {
        let _ = writeln!(svg.text, "<path class=\"line{}\" style=\"{DOT}\" d=\"{dots}\"/>", class % 8);
    }
}

/// The classes of a line of a class.
pub(super) fn line_class(class: usize) -> String {
    format!("line{} dash{}", class % 8, class % 4)
}

/// From one line of a title to the next.
const LINE: f64 = 16.0;

/// The room that a title needs beyond its first line.
fn title_room(panel: &Panel, width: f64) -> f64 {
    let about = format!("{}: {}", panel.title, panel.family);
    LINE * (wrapped(&about, width / STRONG_LETTER).len() - 1) as f64
}

/// A text in lines of at most so many letters, broken between words; a longer word has a line to itself and is cut.
fn wrapped(text: &str, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let length = lines[last].chars().count() + 1 + word.chars().count();
        match lines[last].is_empty() || length as f64 <= most.max(4.0) {
            true if lines[last].is_empty() => lines[last] = cut(word, most),
            true => {
                lines[last].push(' ');
                lines[last].push_str(word);
            }
            false => lines.push(cut(word, most)),
        }
    }
    lines
}

/// The beginning of a text that is too long.
pub(super) fn cut(text: &str, most: f64) -> String {
    let most = (most.max(4.0) as usize) - 1;
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A number in a description: four significant digits.
pub(super) fn short(x: f64) -> String {
    let digits = format!("{x:.3e}").parse::<f64>().map_or(x, |x| x);
    if digits == 0.0 || (1e-4..1e9).contains(&digits.abs()) { digits.to_string() } else { format!("{x:.6e}") }
}

/// A length with one digit after the point, if it has any.
pub(super) struct Short(pub(super) f64);

impl Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.1}", self.0);
        f.write_str(text.strip_suffix(".0").unwrap_or(&text))
    }
}

/// A file in the making.
pub(super) struct Svg {
    width: f64,
    height: f64,
    title: String,
    description: String,
    text: String,
}

impl Svg {
    pub(super) fn new((width, height): (f64, f64), title: &str, description: &str) -> Self {
        let (title, description) = (title.to_owned(), description.to_owned());
        Svg { width, height, title, description, text: String::new() }
    }

    pub(super) fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = writeln!(
            self.text,
            "<text x=\"{}\" y=\"{}\"{class}>{}</text>",
            Short(x),
            Short(y),
            escaped(text)
        );
    }

    /// Text along a vertical axis, read from below.
    pub(super) fn sideways(&mut self, x: f64, y: f64, text: &str) {
        let (x, y) = (Short(x), Short(y));
        let _ = writeln!(
            self.text,
            "<text x=\"{x}\" y=\"{y}\" class=\"soft middle\" transform=\"rotate(-90 {x} {y})\">{}</text>",
            escaped(text)
        );
    }

    pub(super) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str) {
        let _ = writeln!(
            self.text,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{class}\"/>",
            Short(x),
            Short(y),
            Short(width.max(0.0)),
            Short(height)
        );
    }

    /// A rectangle of which only a part of the colour is seen.
    fn shaded(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), class: &str, opacity: f64) {
        let (x, y, width, height) = (Short(x), Short(y), Short(width), Short(height));
        let _ = writeln!(
            self.text,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" class=\"{class}\" fill-opacity=\"{opacity}\"/>",
        );
    }

    pub(super) fn path(&mut self, path: &str, class: &str) {
        if !path.is_empty() {
            let _ = writeln!(self.text, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }

    pub(super) fn finish(self) -> Sheet {
        let Svg { width, height, title, description, text } = self;
        Sheet { width, height, title, description, drawn: text }
    }
}

/// Colours by role, and again for those who read on dark paper: an element of HTML or SVG.
pub fn style() -> String {
    let mut style = String::from(
        "<style>\n\
         text{font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:#222}\n\
         .strong{font-weight:600;font-size:13px}.soft{fill:#5c5c5c}.middle{text-anchor:middle}.end{text-anchor:end}\n\
         .paper{fill:#fff}.axis{stroke:#5c5c5c;fill:none}.grid{stroke:#8884;fill:none}.data{fill-opacity:.22}\n\
         .contour{fill:none;stroke-width:1.4}.s0{fill-opacity:.1}.s1{fill-opacity:.2}.s2{fill-opacity:.32}.s3{fill-opacity:.46}\n",
    );
    for (i, dashes) in DASHES.iter().enumerate() {
        let _ = writeln!(
            style,
            ".dash{i}{{fill:none;stroke-width:2;stroke-linejoin:round;stroke-dasharray:{}}}",
            if dashes.is_empty() { "none" } else { dashes }
        );
    }
    for (i, (light, _)) in COLOURS.iter().enumerate() {
        let _ = writeln!(style, ".fill{i}{{fill:{light}}}.line{i}{{stroke:{light}}}");
    }
    style.push_str("@media (prefers-color-scheme:dark){\ntext{fill:#e8e8e8}.soft{fill:#a8a8a8}.paper{fill:#15171a}.axis{stroke:#a8a8a8}\n");
    for (i, (_, dark)) in COLOURS.iter().enumerate() {
        let _ = writeln!(style, ".fill{i}{{fill:{dark}}}.line{i}{{stroke:{dark}}}");
    }
    style.push_str("}\n</style>\n");
    style
}

/// Text that XML takes as text; characters that it does not take at all are replaced.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}')
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_does_not_take_is_written_otherwise() {
        assert_eq!(escaped("a < b & \"c\"\u{1b}[0m"), "a &lt; b &amp; &quot;c&quot;\u{fffd}[0m");
    }

    #[test]
    fn lengths_are_short() {
        assert_eq!(wrapped("petal length in cm: atoms", 12.0), ["petal length", "in cm: atoms"]);
        assert_eq!([0.04, 12.0, -0.26, 3.999].map(|x| Short(x).to_string()), ["0", "12", "-0.3", "4"]);
    }
}
