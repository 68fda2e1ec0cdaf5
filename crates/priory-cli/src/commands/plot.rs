//! `priory plot`: a picture of one column, of two, or of all.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use priory::plot::{Detail, MOST_PANELS, Point, Points, Subject, svg};
use priory::{Error, Model};
use priory_input::{Purpose, ReadOptions, Table, store};

use crate::args::{Format, PlotArgs};
use crate::data::for_each_document;
use crate::glob;
use crate::model_file;
use crate::output::{has_colours, note, plural, report_out, terminal_width};
use crate::overwrite::refuse_input_as_output;
use crate::terminal::{self, Screen};

pub(crate) fn run(args: &PlotArgs) -> Result<()> {
    let learnt = model_file::read_under(&args.model, |settings| args.settings.apply(settings))?;
    if let Some(path) = &args.output {
        check_name(path)?;
        let tables = args.points.iter().map(Path::new);
        let read = [args.model.as_path()].into_iter().chain(args.settings.files()).chain(tables);
        refuse_input_as_output(path, read)?;
    }
    let model = learnt.estimate()?;
    let subject = Subject::new(&learnt, &model)?;
    if args.nomogram {
        return draw_nomogram(args, &subject);
    }
    match &args.output {
        Some(path) => {
            let picture = match &args.columns[..] {
                [] => {
                    let ranked = subject.ranked()?;
                    if ranked.len() > MOST_PANELS {
                        let all = ranked.len();
                        note(&format!("the best {MOST_PANELS} of {all} columns; name a column to see it"));
                    }
                    subject.all(&ranked, Detail::PANEL)
                }
                columns => subject.one(columns, Detail::PAGE),
            };
            let mut picture = picture.map_err(hinted)?;
            if !args.points.is_empty() {
                picture.add_points(points(args, &model)?);
            }
            store::replace_file(path, svg::draw(&picture).as_bytes())?;
            note(&format!("{}: {}", plural(picture.panels.len() as u64, "panel"), path.display()));
        }
        None => {
            let screen = Screen { width: terminal_width(), colours: has_colours() };
            let detail = Detail { points: 2 * screen.panel(), values: 20, map: screen.map() };
            let mut columns = args.columns.clone();
            if columns.is_empty() {
                let ranked = subject.ranked()?;
                columns.extend(ranked.first().cloned());
                if ranked.len() > 1 {
                    note(&format!("the first of {} columns; priory features ranks them", ranked.len()));
                }
            }
            let picture = subject.one(&columns, detail).map_err(hinted)?;
            let mut out = report_out(Format::Text);
            write!(out, "{}", terminal::draw(&picture, screen))?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Draws what each value of each column is worth to a class.
fn draw_nomogram(args: &PlotArgs, subject: &Subject<'_>) -> Result<()> {
    let nomogram = subject.nomogram(args.class.as_deref())?;
    match &args.output {
        Some(path) => {
            store::replace_file(path, svg::nomogram(&nomogram, svg::WIDTH).file().as_bytes())?;
            let columns = plural(nomogram.lines.len() as u64, "column");
            note(&format!("a nomogram of {columns}: {}", path.display()));
        }
        None => {
            let screen = Screen { width: terminal_width(), colours: has_colours() };
            let mut out = report_out(Format::Text);
            write!(out, "{}", terminal::nomogram::draw(&nomogram, screen))?;
            out.flush()?;
        }
    }
    Ok(())
}

/// The rows of tables as points.
fn points(args: &PlotArgs, model: &Model) -> Result<Vec<Point>> {
    let mut points = Points::new(model, &args.columns)?;
    for path in glob::expand(&args.points)? {
        let table = Table::open(&path, &ReadOptions::default())?;
        for_each_document(table, model.schema(), Purpose::Testing, false, |batch| {
            points.add(batch);
            Ok(ControlFlow::Continue(()))
        })?;
    }
    let (kept, rows) = points.kept();
    if (kept.len() as u64) < rows {
        note(&format!("{} of {}", plural(kept.len() as u64, "point"), plural(rows, "row")));
    }
    Ok(kept)
}

/// What to do instead.
fn hinted(error: Error) -> anyhow::Error {
    match error {
        Error::NotUsed { .. } => anyhow!("{error}; --select all uses every column"),
        error => error.into(),
    }
}

/// A picture under the name of something else would not open.
pub(crate) fn check_name(path: &Path) -> Result<()> {
    let is = |name: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(name));
    match is("svg") {
        true => Ok(()),
        false if is("png") || is("pdf") => {
            let (picture, svg) = (path.display(), path.with_extension("svg"));
            bail!(
                "{picture}: pictures are written as SVG; write {0}, and `rsvg-convert {0} -o {picture}` converts it",
                svg.display()
            )
        }
        false => bail!("{}: pictures are written as SVG; call the file something.svg", path.display()),
    }
}
