//! Where tests find the larger data sets, which are not part of the project.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file below `PRIORY_DATA`. Without it the test that asked cannot run: that is printed, and noted in the file that
/// `PRIORY_SKIPPED` names, so that `scripts/test` can count such tests.
pub(crate) fn dataset(file: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("PRIORY_DATA").map_or_else(|| root.join("../shared/data"), PathBuf::from);
    let path = folder.join(file);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not there", path.display());
    if let Some(list) = std::env::var_os("PRIORY_SKIPPED") {
        let mut list = OpenOptions::new().create(true).append(true).open(list).unwrap();
        writeln!(list, "{file}").unwrap();
    }
    None
}
