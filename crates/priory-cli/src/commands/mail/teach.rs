//! What changes a store of lessons, and what is in it.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, Result};
use priory_input::Messages;
use priory_input::lessons::{FEWEST_LESSONS, Lessons, Taught};
use serde::Serialize;

use super::{LARGEST, folder, open};
use crate::args::Format;
use crate::output::{Grid, note, plural, report_out, write_json};

/// Hands out the messages of mailboxes, or the one on the standard input.
fn for_each_message(mailboxes: &[String], mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    if mailboxes.is_empty() {
        let mut message = Vec::new();
        let read = io::stdin().take(LARGEST).read_to_end(&mut message);
        read.context("the standard input cannot be read")?;
        return each(&message);
    }
    for mailbox in mailboxes {
        for message in Messages::open(mailbox)? {
            each(&message?)?;
        }
    }
    Ok(())
}

pub(super) fn learn(said: Option<&Path>, class: &str, mailboxes: &[String], threads: usize) -> Result<()> {
    let lessons = Lessons::open_or_create(folder(said)?)?;
    let mut teacher = lessons.teach(threads)?;
    let (mut learnt, mut known, mut moved) = (0, 0, 0);
    for_each_message(mailboxes, |message| {
        match teacher.learn(message, class)? {
            Taught::Learnt => learnt += 1,
            Taught::Known => known += 1,
            Taught::Moved(_) => moved += 1,
        }
        Ok(())
    })?;
    teacher.finish()?;
    let also = |count: u64, what: &str| if count == 0 { String::new() } else { format!(", {count} {what}") };
    note(&format!(
        "{} learnt as {class}{}{}",
        plural(learnt, "mail"),
        also(moved, "moved from another class"),
        also(known, "known already")
    ));
    Ok(())
}

pub(super) fn forget(said: Option<&Path>, mailboxes: &[String], threads: usize) -> Result<()> {
    let lessons = open(said)?;
    let mut teacher = lessons.teach(threads)?;
    let (mut forgotten, mut unknown) = (0, 0);
    for_each_message(mailboxes, |message| {
        match teacher.forget(message)? {
            Some(_) => forgotten += 1,
            None => unknown += 1,
        }
        Ok(())
    })?;
    teacher.finish()?;
    let unknown = if unknown == 0 { String::new() } else { format!(", {unknown} never learnt") };
    note(&format!("{} forgotten{unknown}", plural(forgotten, "mail")));
    Ok(())
}

/// Mails that were learnt get another class; those that were not stay unknown.
pub(super) fn relabel(said: Option<&Path>, class: &str, mailboxes: &[String], threads: usize) -> Result<()> {
    let lessons = open(said)?;
    let mut teacher = lessons.teach(threads)?;
    let (mut moved, mut unknown) = (0, 0);
    for_each_message(mailboxes, |message| {
        if teacher.class_of(message).is_none() {
            unknown += 1;
            return Ok(());
        }
        if let Taught::Moved(_) = teacher.learn(message, class)? {
            moved += 1;
        }
        Ok(())
    })?;
    teacher.finish()?;
    let unknown = if unknown == 0 { String::new() } else { format!(", {unknown} never learnt") };
    note(&format!("{} moved to {class}{unknown}", plural(moved, "mail")));
    Ok(())
}

/// What is in a store, for programs.
#[derive(Serialize)]
struct Status<'a> {
    lessons: usize,
    classes: &'a BTreeMap<&'a str, usize>,
    has_opinion: bool,
}

pub(super) fn status(said: Option<&Path>, format: Format, threads: usize) -> Result<()> {
    let lessons = open(said)?;
    let teacher = lessons.teach(threads)?;
    let classes = teacher.classes();
    let all = classes.values().sum();
    let has_opinion = all as u64 >= FEWEST_LESSONS && classes.len() > 1;
    let mut out = report_out(format);
    match format {
        Format::Json => write_json(&mut out, &Status { lessons: all, classes: &classes, has_opinion })?,
        Format::Text => {
            writeln!(out, "{}, {}", plural(all as u64, "lesson"), plural(classes.len() as u64, "class"))?;
            let mut grid = Grid::new();
            grid.row(["class", "mails"]);
            for (class, mails) in &classes {
                grid.row([(*class).to_owned(), mails.to_string()]);
            }
            write!(out, "\n{}", grid.render())?;
        }
    }
    Ok(out.flush()?)
}

pub(super) fn compact(said: Option<&Path>, threads: usize) -> Result<()> {
    let lessons = open(said)?;
    lessons.teach(threads)?.compact()?;
    note("what was forgotten is gone from the disk, and the model was judged anew");
    Ok(())
}
