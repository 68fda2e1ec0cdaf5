//! What is read is not overwritten by what is written.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::args::{DecisionArgs, SettingsArgs, SmoothingChoice, TableArgs};
use crate::choices::CostChoice;

/// Refuses an output that is one of the files to be read, under whatever name, or one in a folder to be read. `-` is
/// standard input.
pub(crate) fn refuse_input_as_output(
    output: &Path,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<()> {
    let Some(written) = identity(output) else { return Ok(()) };
    for input in inputs {
        let input = input.as_ref();
        let stdin = input == Path::new("-");
        let is_read = match identity(if stdin { Path::new("/dev/stdin") } else { input }) {
            Some(read) => read == written,
            None => is_in_folder(output, input),
        };
        if is_read {
            let name = match stdin {
                true => " as standard input".to_owned(),
                false if input == output => String::new(),
                false => format!(" as {}", input.display()),
            };
            bail!(
                "{}: cannot be written, since it is also read{name}; name another file with -o",
                output.display()
            );
        }
    }
    Ok(())
}

/// What a regular file has in common with itself only, whatever links lead to it; nothing for anything else.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().filter(|path| path.is_file())
}

fn is_in_folder(file: &Path, folder: &Path) -> bool {
    let real = |path: &Path| -> Option<PathBuf> { fs::canonicalize(path).ok() };
    folder.is_dir() && real(file).zip(real(folder)).is_some_and(|(file, folder)| file.starts_with(folder))
}

impl TableArgs {
    /// The files that are named beside the tables.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let stop_words = self.text.stop_words.as_deref().map(Path::new);
        self.schema.as_deref().into_iter().chain(stop_words)
    }
}

impl DecisionArgs {
    /// The file with the costs, if they are in one.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let file = self.cost.as_ref().and_then(|cost| match cost {
            CostChoice::File(path) => Some(path.as_path()),
            CostChoice::Ready(_) => None,
        });
        file.into_iter()
    }
}

impl SettingsArgs {
    /// The files that are named in the settings.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.smoothing.iter().filter_map(|smoothing| match &smoothing.choice {
            SmoothingChoice::DirichletFile(path) => Some(path.as_path()),
            SmoothingChoice::Ready(_) => None,
        })
    }
}
