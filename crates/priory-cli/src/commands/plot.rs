//! `priory plot`: a picture of one column, of two, or of all.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use priory::{Features, Kind};
use priory_input::store;

use crate::args::{Format, PlotArgs};
use crate::model_file;
use crate::output::{has_colours, note, plural, report_out, terminal_width};
use crate::plot::terminal::Screen;
use crate::plot::{Detail, Picture, Subject, svg, terminal};

/// More panels than this are not put into one file; the best are.
const MOST_PANELS: usize = 24;

const NOTHING_TO_DRAW: &str =
    "there is no column to draw: of text there is no picture, and priory show has its tokens";

pub(crate) fn run(args: &PlotArgs) -> Result<()> {
    let (statistics, mut settings) = model_file::read(&args.model)?;
    args.settings.apply(&mut settings)?;
    if let Some(path) = &args.output {
        check_name(path)?;
    }
    let subject = Subject::new(&statistics, &settings)?;
    // By gain; only asked for where it decides what is shown.
    let ranked = || Ok::<_, anyhow::Error>(drawable(&Features::new(&statistics, &settings)?));
    match &args.output {
        Some(path) => {
            let detail = Detail { points: 320, values: 16, map: (98, 72) };
            let picture = match &args.columns[..] {
                [] => all(&subject, &ranked()?, Detail { points: 160, values: 8, ..detail })?,
                columns => one(&subject, columns, detail)?,
            };
            store::replace_file(path, svg::draw(&picture).as_bytes())?;
            note(&format!("{}: {}", plural(picture.panels.len() as u64, "panel"), path.display()));
        }
        None => {
            let screen = Screen { width: terminal_width(), colours: has_colours() };
            let detail = Detail { points: 2 * screen.panel(), values: 20, map: screen.map() };
            let mut columns = args.columns.clone();
            if columns.is_empty() {
                let ranked = ranked()?;
                columns.extend(ranked.first().cloned());
                if ranked.len() > 1 {
                    note(&format!("the first of {} columns; priory features ranks them", ranked.len()));
                }
            }
            let picture = one(&subject, &columns, detail)?;
            let mut out = report_out(Format::Text);
            write!(out, "{}", terminal::draw(&picture, screen))?;
            out.flush()?;
        }
    }
    Ok(())
}

/// The columns that have pictures, those first that help most. A joint table has one picture, a group one for each column.
fn drawable(features: &Features) -> Vec<String> {
    let used = features.ranked.iter().filter(|rank| rank.used);
    let columns = used.flat_map(|rank| match rank.kind {
        Kind::Text => &[],
        Kind::Joint => &rank.columns[..1],
        Kind::Category | Kind::Number | Kind::Moments | Kind::Group => &rank.columns[..],
    });
    columns.cloned().collect()
}

/// A column, or two against each other.
fn one(subject: &Subject<'_>, columns: &[String], detail: Detail) -> Result<Picture> {
    let panel = match columns {
        [column] => subject.column(column, detail)?,
        [across, up] => subject.pair(across, up, detail)?,
        _ => bail!(NOTHING_TO_DRAW),
    };
    Ok(subject.picture(vec![panel]))
}

/// All columns, the best first.
fn all(subject: &Subject<'_>, ranked: &[String], detail: Detail) -> Result<Picture> {
    let panels = ranked.iter().take(MOST_PANELS).map(|column| subject.column(column, detail));
    let panels = panels.collect::<Result<Vec<_>>>()?;
    if panels.is_empty() {
        bail!(NOTHING_TO_DRAW);
    }
    if ranked.len() > MOST_PANELS {
        note(&format!("the best {MOST_PANELS} of {} columns; name a column to see it", ranked.len()));
    }
    Ok(subject.picture(panels))
}

/// A picture under the name of something else would not open.
fn check_name(path: &Path) -> Result<()> {
    match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg")) {
        true => Ok(()),
        false => bail!("{}: pictures are written as SVG; call the file something.svg", path.display()),
    }
}
