//! The code map in ARCHITECTURE.md names every source file, and no file that does not exist.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[test]
fn the_code_map_names_every_source_file() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(project.join("ARCHITECTURE.md")).unwrap();
    let named = named_files(&page);
    let existing = source_files(&project);
    let missing: Vec<_> = existing.difference(&named).collect();
    let gone: Vec<_> = named.difference(&existing).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "not in the code map: {missing:#?}\nin the code map, but not there: {gone:#?}"
    );
}

/// The files in the first cells of the tables, each of which follows a heading that names its crate. A folder stands for
/// its `mod.rs`, and the names after it in the same cell are inside it.
fn named_files(page: &str) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    let mut source = PathBuf::new();
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("### `") {
            let (name, _) = heading.split_once('`').unwrap();
            source = Path::new(name).join("src");
        } else if let Some(row) = line.strip_prefix("| `") {
            let (cell, _) = row.split_once(" | ").unwrap();
            let mut folder = source.clone();
            for name in cell.split('`').step_by(2) {
                if name.ends_with('/') {
                    folder = source.join(name);
                    files.insert(folder.join("mod.rs"));
                } else if !name.is_empty() {
                    files.insert(folder.join(name));
                }
            }
        }
    }
    files
}

/// All source files of all crates but those of unit tests, as paths from the root of the project.
fn source_files(project: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    let crates = std::fs::read_dir(project.join("crates")).unwrap();
    let mut folders: Vec<PathBuf> = crates.map(|entry| entry.unwrap().path().join("src")).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("tests.rs")
            {
                files.insert(path.strip_prefix(project).unwrap().to_owned());
            }
        }
    }
    files
}
