//! Model files: read with every check, replaced in one step.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use priory::decide::{Decider, Decision};
use priory::format::ModelFile;
use priory::{Batch, Learnt, Model, Schema, Scores, Settings};
use priory_input::store::{self, NewFile, OpenFile};

use crate::output::{note, plural, quoted, warn};

/// Reads a model.
pub(crate) fn read(path: &Path) -> Result<Learnt> {
    Ok(store::read_model(path)?)
}

/// Reads a model to be estimated under its own settings, changed as `change` does.
pub(crate) fn read_under(path: &Path, change: impl Fn(&mut Settings) -> Result<()>) -> Result<Learnt> {
    let mut learnt = read(path)?;
    change_settings(&mut learnt, change)?;
    Ok(learnt)
}

fn change_settings(learnt: &mut Learnt, change: impl Fn(&mut Settings) -> Result<()>) -> Result<()> {
    let mut settings = learnt.settings.clone();
    change(&mut settings)?;
    if learnt.set_settings(settings) {
        note("the model was judged under other settings; it is taken without its judgement");
    }
    Ok(())
}

/// Takes a model without its judgement, where that cannot be shown.
pub(crate) fn without_judgement(learnt: &mut Learnt, why: &str) {
    if learnt.is_judged() {
        note(&format!("{why}; the model is taken without its judgement"));
        learnt.drop_judgement();
    }
}

/// Says that a judgement is of too many other rows, or still to be made.
pub(crate) fn warn_of_judgement(learnt: &Learnt, path: &Path) {
    if let Some(judgement) = learnt.judgement().filter(|judgement| judgement.is_stale) {
        warn(&format!(
            "the judgement of {0} was made of {1}, and the model has {2} now; `priory judge {3} DATA` makes it anew",
            path.display(),
            plural(judgement.rows, "row"),
            learnt.statistics.rows(),
            quoted(&path.to_string_lossy())
        ));
    }
    if learnt.kept_rows().is_some() {
        let model = quoted(&path.to_string_lossy());
        warn(&format!("{} was not judged yet; `priory judge {model}` does it", path.display()));
    }
}

/// What scores rows: a whole model, or a file in which the words of each batch are looked up.
pub(crate) enum Scorer {
    Model(Box<Model>),
    File(Box<ModelFile>, PathBuf, Decision),
}

impl Scorer {
    /// Reads a model that will score under its own settings, changed as `change` does. If there are only few rows, no
    /// more is read of it than they need.
    pub(crate) fn open(
        path: &Path,
        few_rows: bool,
        change: impl Fn(&mut Settings) -> Result<()>,
    ) -> Result<Scorer> {
        // Opened once: a pipe has nothing to give the second time.
        let file = OpenFile::open(path)?;
        if few_rows {
            let part = ModelFile::open(file.clone()).with_context(|| path.display().to_string())?;
            if let Some(part) = part {
                let mut settings = part.settings().clone();
                change(&mut settings)?;
                // Which class is answered is another matter.
                let decision = settings.decision.clone();
                if settings == (Settings { decision: decision.clone(), ..part.settings().clone() }) {
                    return Ok(Scorer::File(Box::new(part), path.to_owned(), decision));
                }
            }
        }
        let mut learnt = file.read_model()?;
        change_settings(&mut learnt, change)?;
        warn_of_judgement(&learnt, path);
        Ok(Scorer::Model(Box::new(learnt.estimate()?)))
    }

    pub(crate) fn schema(&self) -> &Schema {
        match self {
            Scorer::Model(model) => model.schema(),
            Scorer::File(file, ..) => file.schema(),
        }
    }

    pub(crate) fn classes(&self) -> Vec<String> {
        match self {
            Scorer::Model(model) => model.classes().to_vec(),
            Scorer::File(file, ..) => file.classes().map(str::to_owned).collect(),
        }
    }

    /// A batch to be scored.
    pub(crate) fn batch(&self) -> Batch {
        match self {
            Scorer::Model(model) => model.batch(),
            Scorer::File(file, ..) => Batch::new(file.schema()),
        }
    }

    /// Decides which class is answered.
    pub(crate) fn decider(&self) -> Result<Decider> {
        let decision = match self {
            Scorer::Model(model) => &model.settings().decision,
            Scorer::File(_, _, decision) => decision,
        };
        let classes = self.classes();
        decision.check_for(&classes)?;
        Ok(decision.decider(&classes)?)
    }

    /// The scores of a batch, and log P(x) of each row if that is wanted.
    pub(crate) fn score(
        &self,
        batch: &Batch,
        log_evidence: bool,
    ) -> priory_input::Result<(Scores, Option<Vec<f64>>)> {
        let score = |model: &Model| {
            let scores = model.score(batch)?;
            let log_evidence = log_evidence.then(|| model.log_evidence(batch, &scores)).transpose()?;
            Ok((scores, log_evidence))
        };
        match self {
            Scorer::Model(model) => score(model),
            Scorer::File(file, path, _) => {
                let model = file.model_for(batch).map_err(|error| priory_input::Error::File {
                    name: path.display().to_string(),
                    action: "read",
                    cause: io::Error::other(error),
                })?;
                score(&model)
            }
        }
    }
}

/// Writes a model beside its place, then moves it there.
pub(crate) fn write(path: &Path, learnt: &Learnt) -> Result<()> {
    let mut file = NewFile::create(path)?;
    file.fill(|out| learnt.write_to(out))?;
    Ok(file.finish()?)
}

/// What becomes of a model that was changed.
pub(crate) enum Fate<'a> {
    /// It takes the place of the old one.
    Replaced,
    /// It is written elsewhere.
    Written(&'a Path),
    /// It is thrown away.
    Tried,
}

impl<'a> Fate<'a> {
    pub(crate) fn new(output: Option<&'a Path>, dry_run: bool) -> Self {
        match output {
            _ if dry_run => Fate::Tried,
            Some(path) => Fate::Written(path),
            None => Fate::Replaced,
        }
    }
}

/// A model before and after it was changed.
pub(crate) struct Updated {
    pub(crate) rows_before: u64,
    pub(crate) after: Learnt,
    classes_before: Vec<String>,
}

/// Changes a model. The file is replaced at the end, or not at all; who else wants to change it waits.
pub(crate) fn update(
    path: &Path,
    fate: &Fate<'_>,
    change: impl FnOnce(&mut Learnt) -> Result<()>,
) -> Result<Updated> {
    // Who only looks at the model needs no lock, nor the right to write.
    let lock = if let Fate::Replaced = fate { Some(store::lock(path)?) } else { None };
    let mut after = read(path)?;
    let (rows_before, classes_before) = (after.statistics.rows(), classes(&after));
    change(&mut after)?;
    warn_of_judgement(&after, path);
    match fate {
        Fate::Written(output) => write(output, &after)?,
        Fate::Replaced | Fate::Tried => {}
    }
    if let Some(lock) = lock {
        lock.replace(&after.to_bytes())?;
    }
    Ok(Updated { rows_before, after, classes_before })
}

impl Updated {
    /// `, with the new class x` and the like: what else than the number of rows has changed.
    pub(crate) fn other_changes(&self) -> String {
        let after = classes(&self.after);
        let named = |what: &str, names: Vec<&String>| match names.len() {
            0 => String::new(),
            1 => format!(", {what} class {}", names[0]),
            n if n <= 5 => {
                let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
                format!(", {what} classes {}", names.join(", "))
            }
            n => format!(", {what} {n} classes"),
        };
        let new = after.iter().filter(|class| !self.classes_before.contains(class)).collect();
        let gone = self.classes_before.iter().filter(|class| !after.contains(class)).collect();
        named("with the new", new) + &named("without the", gone)
    }

    pub(crate) fn rows_after(&self) -> u64 {
        self.after.statistics.rows()
    }
}

fn classes(learnt: &Learnt) -> Vec<String> {
    learnt.statistics.classes().into_iter().map(|(name, _)| name.to_owned()).collect()
}
