//! Pictures made of characters: blocks and Braille dots, which are as fine as an eighth and a quarter of a line. They can be
//! understood without colours: each class has a panel of its own, or a letter.

pub(crate) mod nomogram;
pub(crate) mod waterfall;

use std::fmt::Write as _;

use anstyle::{Ansi256Color, Style};
use priory::plot::{Bars, Densities, Drawing, Panel, Picture, Regions, Tick, Words, ticks};

use crate::output::{Grid, bold, plural, shortened, shown};

/// What there is to draw on.
#[derive(Clone, Copy)]
pub(crate) struct Screen {
    pub(crate) width: usize,
    pub(crate) colours: bool,
}

/// More classes than this do not fit one below the other.
const MOST_CLASSES: usize = 8;
/// Lines that the panels of all classes have together.
const LINES: usize = 24;
/// The space to the left of a panel.
const MARGIN: usize = 2;
/// Probabilities from which on a region is drawn in small letters, and in capitals.
const SURE: [f64; 2] = [0.5, 0.9];

impl Screen {
    /// How many characters a panel is wide.
    pub(crate) fn panel(self) -> usize {
        self.width.saturating_sub(2 * MARGIN).clamp(20, 84)
    }

    /// How many characters a map is wide and high.
    pub(crate) fn map(self) -> (usize, usize) {
        let width = self.width.saturating_sub(16).clamp(20, 72);
        (width, (width / 3).clamp(10, 22))
    }

    fn paint(self, text: &str, style: Style) -> String {
        if self.colours { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// The picture as lines of text.
pub(crate) fn draw(picture: &Picture, screen: Screen) -> String {
    let mut out = String::new();
    for panel in &picture.panels {
        match &panel.drawing {
            Drawing::Densities(densities) => draw_densities(&mut out, picture, panel, densities, screen),
            Drawing::Bars(bars) => draw_bars(&mut out, picture, panel, bars, screen),
            Drawing::Regions(regions) => draw_regions(&mut out, picture, panel, regions, screen),
            Drawing::Words(words) => draw_words(&mut out, picture, panel, words, screen),
        }
    }
    out
}

fn title(out: &mut String, panel: &Panel, about: &str) {
    let _ = writeln!(out, "{}: {}; {about}\n", bold(&panel.title), panel.family);
}

fn draw_densities(out: &mut String, picture: &Picture, panel: &Panel, densities: &Densities, screen: Screen) {
    let has_data = !densities.bins.heights.is_empty();
    let target = shown(&picture.target);
    title(out, panel, &format!("p(x | {target}){}", if has_data { " over the data" } else { "" }));
    let width = screen.panel();
    let classes = &picture.classes[..picture.classes.len().min(MOST_CLASSES)];
    let height = (LINES / classes.len().max(1)).clamp(3, 8);
    for (class, name) in classes.iter().enumerate() {
        let _ = writeln!(out, "{:MARGIN$}{}", "", screen.paint(&shown(&shortened(name, 60)), bright(class)));
        for line in (0..height).rev() {
            let cells =
                (0..width).map(|column| Character::new(densities, class, (column, line), (width, height)));
            write_characters(out, cells, class, screen);
        }
    }
    let _ = write!(out, "{}", axis_below(densities.low, densities.high, width, MARGIN));
    if picture.classes.len() > classes.len() {
        let others = plural((picture.classes.len() - classes.len()) as u64, "class");
        let _ = writeln!(out, "\n  and {others} more: -o FILE.svg shows all");
    }
    let notes = densities.notes(&picture.classes);
    if !notes.is_empty() {
        let _ = writeln!(out, "\n  {}", shown(&notes));
    }
}

/// A character of a panel: eighths of it that are filled by data, and Braille dots of the curve.
struct Character {
    eighths: usize,
    dots: u32,
}

impl Character {
    fn new(densities: &Densities, class: usize, at: (usize, usize), size: (usize, usize)) -> Self {
        let ((column, line), (width, height)) = (at, size);
        let x = densities.low + (column as f64 + 0.5) * (densities.high - densities.low) / width as f64;
        let filled = (densities.bins.height(class, x) / densities.top * (8 * height) as f64).round() as usize;
        let curve = &densities.curves[class];
        let dots = [2 * column, 2 * column + 1].map(|point| {
            let level = |point: usize| (curve[point] / densities.top * (4 * height) as f64).round() as usize;
            let (before, here) = (level(point.saturating_sub(1)), level(point));
            // From the level before to this one, so that steep places have no gaps.
            let (low, high) =
                if before < here { (before + 1, here) } else { (here, before.max(here + 1) - 1) };
            (4 * line..4 * line + 4)
                .filter(move |dot| (low.max(1)..=high).contains(&(dot + 1)))
                .map(|dot| dot % 4)
        });
        let [left, right] = dots.map(|dots| dots.collect::<Vec<usize>>());
        // The dots of a character are numbered down the left side and down the right; the lowest came last.
        let left = left.iter().map(|&dot| [0x40, 0x04, 0x02, 0x01][dot]);
        let right = right.iter().map(|&dot| [0x80, 0x20, 0x10, 0x08][dot]);
        Character { eighths: filled.saturating_sub(8 * line).min(8), dots: left.chain(right).sum() }
    }
}

fn write_characters(out: &mut String, cells: impl Iterator<Item = Character>, class: usize, screen: Screen) {
    let mut line = String::new();
    for cell in cells {
        let block = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'][cell.eighths];
        match char::from_u32(0x2800 + cell.dots).filter(|_| cell.dots > 0) {
            Some(dots) => {
                let style = if cell.eighths == 8 { line_on(class, class, 1.0) } else { bright(class) };
                line.push_str(&screen.paint(&dots.to_string(), style));
            }
            None if block == ' ' => line.push(' '),
            None => line.push_str(&screen.paint(&block.to_string(), soft(class))),
        }
    }
    let _ = writeln!(out, "{}", format!("{:MARGIN$}{line}", "").trim_end());
}

/// A line with ticks, and their labels.
fn axis_below(low: f64, high: f64, width: usize, margin: usize) -> String {
    let place = |tick: &Tick| (((tick.at - low) / (high - low) * width as f64) as usize).min(width - 1);
    // As many as their labels have room for.
    let fits = |ticks: &[Tick]| {
        let longest = ticks.iter().map(|tick| tick.label.len()).max().unwrap_or(0);
        ticks.len() * (longest + 3) <= width
    };
    let chosen =
        (2..=8).rev().map(|most| ticks(low, high, most)).find(|ticks| fits(ticks)).unwrap_or_default();
    let mut line: Vec<char> = vec!['─'; width];
    let mut labels = vec![' '; margin + width + 40];
    for tick in &chosen {
        line[place(tick)] = '┬';
        let start = (margin + place(tick)).saturating_sub(tick.label.len() / 2);
        labels.splice(start..start + tick.label.len(), tick.label.chars());
    }
    let (line, labels): (String, String) = (line.into_iter().collect(), labels.into_iter().collect());
    format!("{:margin$}{line}\n{}\n", "", labels.trim_end())
}

fn draw_bars(out: &mut String, picture: &Picture, panel: &Panel, bars: &Bars, screen: Screen) {
    title(out, panel, &format!("P(x | {})", shown(&picture.target)));
    let name = |name: &str| shortened(name, 24);
    let longest = bars.values.iter().map(|(value, _)| name(value).chars().count()).max().unwrap_or(0);
    let number = " 0.0000".len();
    let room = screen.width.saturating_sub(MARGIN + longest) / picture.classes.len().max(1);
    let bar = |p: f64, most: usize| {
        let eighths = (p / bars.top() * (8 * most) as f64).round() as usize;
        let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
        format!("{}{rest} {p:.4}", "█".repeat(eighths / 8))
    };
    let mut grid = Grid::new();
    // Classes side by side if each has room for a bar that says something, else one below the other.
    if room >= number + 10 {
        let most = (room - number - 2).min(30);
        grid.line("", picture.classes.iter().map(|class| name(class)));
        for (value, p) in &bars.values {
            grid.line(name(value), p.iter().map(|&p| bar(p, most)));
        }
    } else {
        for (value, p) in &bars.values {
            for (i, (class, &p)) in picture.classes.iter().zip(p).enumerate() {
                let value = if i == 0 { name(value) } else { String::new() };
                grid.row([value, name(class), bar(p, 30)]);
            }
        }
    }
    out.push_str(&grid.render_left());
    if bars.more > 0 {
        let _ = writeln!(out, "  … and {} more", plural(bars.more as u64, "value"));
    }
}

/// The words of each class below its name, with bars as long as they tell.
fn draw_words(out: &mut String, picture: &Picture, panel: &Panel, words: &Words, screen: Screen) {
    title(out, panel, &format!("how much a word speaks for the {}, in nats", shown(&picture.target)));
    let name = |token: &str| shown(&shortened(token, 24));
    let longest = words.words.iter().map(|word| name(&word.token).chars().count()).max().unwrap_or(0);
    let most = screen.panel().saturating_sub(longest + " 000.0000".len()).clamp(10, 40);
    let mut before = None;
    for word in &words.words {
        if before != Some(word.class) {
            let class = shown(&shortened(&picture.classes[word.class], 60));
            let _ = writeln!(out, "{:MARGIN$}{}", "", screen.paint(&class, bright(word.class)));
            before = Some(word.class);
        }
        let eighths = ((word.evidence / words.top()).min(1.0) * (8 * most) as f64).round() as usize;
        let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
        let bar = screen.paint(&format!("{}{rest}", "█".repeat(eighths / 8)), bright(word.class));
        let token = name(&word.token);
        let space = longest - token.chars().count();
        let _ = writeln!(out, "{:MARGIN$}  {token}{:space$} {bar} {:.4}", "", "", word.evidence);
    }
    if words.more > 0 {
        let _ = writeln!(out, "  … and {} more", plural(words.more as u64, "class"));
    }
}

fn draw_regions(out: &mut String, picture: &Picture, panel: &Panel, regions: &Regions, screen: Screen) {
    title(out, panel, &format!("the most probable {}", shown(&picture.target)));
    let (width, height) = (regions.across.points, regions.up.points);
    let ticks = ticks(regions.up.low, regions.up.high, height / 3);
    let margin = ticks.iter().map(|tick| tick.label.len()).max().unwrap_or(0) + 2;
    let contours = screen.colours.then(|| contour_dots(regions));
    for row in (0..height).rev() {
        let bottom = regions.up.low + row as f64 * (regions.up.high - regions.up.low) / height as f64;
        let next = regions.up.low + (row + 1) as f64 * (regions.up.high - regions.up.low) / height as f64;
        let label =
            ticks.iter().find(|tick| (bottom..next).contains(&tick.at)).map_or("", |tick| &tick.label);
        let mut line = String::new();
        for column in 0..width {
            let (class, p) = regions.best[row * width + column];
            match &contours {
                None => line.push(letter(class, p)),
                Some(contours) => line.push_str(&coloured(class, p, contours[row * width + column])),
            }
        }
        let _ = writeln!(out, "{label:>margin$} {}", line.trim_end(), margin = margin - 1);
    }
    let _ = write!(out, "{}", axis_below(regions.across.low, regions.across.high, width, margin));
    let _ = writeln!(out, "{:margin$}{}\n", "", shown(&regions.across.name));
    let names = picture.classes.iter().enumerate().map(|(class, name)| {
        let mark = if screen.colours { "██".to_owned() } else { letter(class, 1.0).to_string() };
        format!("{} {}", screen.paint(&mark, bright(class)), shown(&shortened(name, 24)))
    });
    let _ = writeln!(out, "  {}", names.collect::<Vec<_>>().join("  "));
    let about = match screen.colours {
        true => "lines around one half and nine tenths of each class".to_owned(),
        false => format!("small letters: P below {}; dots: below {}", SURE[1], SURE[0]),
    };
    let _ = writeln!(out, "  {about}");
}

/// A to Z, small if the class is not that sure.
fn letter(class: usize, p: f64) -> char {
    let letter = if class < 26 { char::from(b'A' + class as u8) } else { '#' };
    match p {
        _ if p >= SURE[1] => letter,
        _ if p >= SURE[0] => letter.to_ascii_lowercase(),
        _ => '·',
    }
}

/// For each character the Braille dots that lines go through, and the class of the last of them.
fn contour_dots(regions: &Regions) -> Vec<(u32, usize)> {
    let (width, height) = (regions.across.points, regions.up.points);
    let mut dots = vec![(0, 0); width * height];
    for (class, pieces) in regions.contours.iter().enumerate() {
        for [from, to] in pieces {
            for step in 0..=8 {
                let share = f64::from(step) / 8.0;
                // Points of the map lie in the middle of their characters.
                let x = from.0 + share * (to.0 - from.0) + 0.5;
                let y = from.1 + share * (to.1 - from.1) + 0.5;
                let (column, row) = ((x as usize).min(width - 1), (y as usize).min(height - 1));
                let bits = [[0x40, 0x04, 0x02, 0x01], [0x80, 0x20, 0x10, 0x08]];
                let bit = bits[(x.fract() * 2.0) as usize][(y.fract() * 4.0) as usize];
                let cell = &mut dots[row * width + column];
                *cell = (if cell.1 == class { cell.0 | bit } else { bit }, class);
            }
        }
    }
    dots
}

fn coloured(class: usize, p: f64, (dots, of): (u32, usize)) -> String {
    let style = line_on(of, class, p);
    let dots = char::from_u32(0x2800 + dots).filter(|_| dots > 0).unwrap_or(' ');
    format!("{style}{dots}{style:#}")
}

/// The colours of a class, by their numbers in the palette of 256 that terminals have.
struct Colours {
    /// For its name, and for lines on whatever the background is.
    name: u8,
    /// For lines on its own shades and on those of others.
    line: u8,
    /// Behind lines: the surer, the more colour.
    shades: [u8; 3],
}

/// Hues that the colour-blind can tell apart too (after Okabe and Ito).
const COLOURS: [Colours; 8] = [
    Colours { name: 39, line: 153, shades: [17, 19, 26] },
    Colours { name: 214, line: 223, shades: [58, 94, 130] },
    Colours { name: 42, line: 158, shades: [22, 28, 34] },
    Colours { name: 176, line: 225, shades: [53, 96, 132] },
    Colours { name: 117, line: 195, shades: [59, 66, 67] },
    Colours { name: 203, line: 217, shades: [52, 88, 124] },
    Colours { name: 185, line: 229, shades: [58, 100, 142] },
    Colours { name: 250, line: 255, shades: [236, 240, 244] },
];

fn colours(class: usize) -> &'static Colours {
    &COLOURS[class % COLOURS.len()]
}

/// For a name, or a line on whatever the background is.
fn bright(class: usize) -> Style {
    Style::new().fg_color(Some(Ansi256Color(colours(class).name).into())).bold()
}

/// For what the data fill.
fn soft(class: usize) -> Style {
    Style::new().fg_color(Some(Ansi256Color(colours(class).shades[2]).into()))
}

/// For a line of one class where another, or the same, is the most probable.
fn line_on(class: usize, best: usize, p: f64) -> Style {
    let strength = if p >= SURE[1] { 2 } else { usize::from(p >= 0.7) };
    let behind = Ansi256Color(colours(best).shades[strength]);
    Style::new().fg_color(Some(Ansi256Color(colours(class).line).into())).bg_color(Some(behind.into()))
}
