//! What is served: models by name, limits, and what is counted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;

use crate::books::{Error, Result};
use crate::hosted::Hosted;
use crate::metrics::Metrics;
use crate::options::Options;

/// Models that are ready to be asked.
pub struct Server {
    pub(crate) models: BTreeMap<String, Hosted>,
    pub(crate) options: Options,
    pub(crate) metrics: Metrics,
    /// Requests that may be answered at the same time,
    pub(crate) requests: Semaphore,
    /// and those among them that take long.
    pub(crate) long_requests: Arc<Semaphore>,
    pub(crate) threads: usize,
    is_ending: AtomicBool,
}

impl Server {
    /// Opens models under these names.
    ///
    /// # Errors
    /// If a model cannot be read, two have the same name, or another process serves one of them.
    pub fn open(models: &[(String, PathBuf)], options: Options) -> Result<Arc<Server>> {
        let mut hosted = BTreeMap::new();
        for (name, path) in models {
            check_name(name).map_err(Error::Contradiction)?;
            if hosted.contains_key(name) {
                return Err(Error::Contradiction(format!(
                    "two models are called `{name}`; name one of them anew"
                )));
            }
            hosted.insert(name.clone(), Hosted::open(name, path, &options)?);
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Arc::new(Server {
            models: hosted,
            metrics: Metrics::default(),
            requests: Semaphore::new(options.most_requests),
            long_requests: Arc::new(Semaphore::new(2 * threads)),
            threads,
            is_ending: AtomicBool::new(false),
            options,
        }))
    }

    /// Whether no more requests should come.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    pub(crate) fn end(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
    }

    /// Ends what goes on in the background, after model files are written.
    pub fn close(&self) {
        self.end();
        self.models.values().for_each(Hosted::close);
    }
}

/// The name of a model that is in a file: what the file is called, without `.priory`.
pub fn name_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    Some(name.strip_suffix(".priory").unwrap_or(name).to_owned())
}

/// Whether a model can be called so: names stand in addresses.
///
/// # Errors
/// What names are made of, if it cannot.
pub fn check_name(name: &str) -> std::result::Result<(), String> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name =
        !name.is_empty() && name.len() <= 100 && name.bytes().all(is_letter) && !name.starts_with('.');
    match is_name {
        true => Ok(()),
        false => Err(format!(
            "a model cannot be called `{name}`: names have letters, digits, `-`, `_` and `.`, and do not begin with `.`; NAME=FILE gives it another"
        )),
    }
}
