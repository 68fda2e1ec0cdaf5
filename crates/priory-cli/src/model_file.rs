//! Model files: read with every check, replaced in one step.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use priory::format::ModelFile;
use priory::{Batch, Learnt, Model, Schema, Scores, Settings};
use priory_input::store::{self, NewFile, OpenFile};

use crate::output::{note, plural, warn};

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

/// Says that a judgement is of too many other rows.
pub(crate) fn warn_of_stale_judgement(learnt: &Learnt, path: &Path) {
    if let Some(judgement) = learnt.judgement().filter(|judgement| judgement.is_stale) {
        warn(&format!(
            "the judgement of {0} was made of {1}, and the model has {2} now; `priory judge {0} DATA` makes it anew",
            path.display(),
            plural(judgement.rows, "row"),
            learnt.statistics.rows()
        ));
    }
}

/// What scores rows: a whole model, or a file in which the words of each batch are looked up.
pub(crate) enum Scorer {
    Model(Box<Model>),
    File(Box<ModelFile>, PathBuf),
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
                if settings == *part.settings() {
                    return Ok(Scorer::File(Box::new(part), path.to_owned()));
                }
            }
        }
        let mut learnt = file.read_model()?;
        change_settings(&mut learnt, change)?;
        warn_of_stale_judgement(&learnt, path);
        Ok(Scorer::Model(Box::new(learnt.estimate()?)))
    }

    pub(crate) fn schema(&self) -> &Schema {
        match self {
            Scorer::Model(model) => model.schema(),
            Scorer::File(file, _) => file.schema(),
        }
    }

    pub(crate) fn classes(&self) -> Vec<String> {
        match self {
            Scorer::Model(model) => model.classes().to_vec(),
            Scorer::File(file, _) => file.classes().map(str::to_owned).collect(),
        }
    }

    /// A batch to be scored.
    pub(crate) fn batch(&self) -> Batch {
        match self {
            Scorer::Model(model) => model.batch(),
            Scorer::File(file, _) => Batch::new(file.schema()),
        }
    }

    pub(crate) fn score(&self, batch: &Batch) -> priory_input::Result<Scores> {
        match self {
            Scorer::Model(model) => Ok(model.score(batch)?),
            Scorer::File(file, path) => {
                let model = file.model_for(batch).map_err(|error| priory_input::Error::File {
                    name: path.display().to_string(),
                    action: "read",
                    cause: io::Error::other(error),
                })?;
                Ok(model.score(batch)?)
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

/// Changes a model by what was learnt from some tables. The file is replaced at the end, or not at all; who else
/// wants to change it waits. Returns the rows before and after.
pub(crate) fn update(path: &Path, change: impl FnOnce(&mut Learnt) -> Result<()>) -> Result<(u64, u64)> {
    let lock = store::lock(path)?;
    let mut learnt = read(path)?;
    let before = learnt.statistics.rows();
    change(&mut learnt)?;
    warn_of_stale_judgement(&learnt, path);
    lock.replace(&learnt.to_bytes())?;
    Ok((before, learnt.statistics.rows()))
}
