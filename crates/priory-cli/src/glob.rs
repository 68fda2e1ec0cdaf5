//! Patterns with `*` and `?` in the last part of a path, for those whom no shell has expanded them.

use std::path::Path;

use anyhow::{Context, Result, bail};

/// The paths with every pattern replaced by the files that fit it, in the order of their names. What is the name of
/// a file is no pattern. Standard input, `-`, can be among them once.
pub(crate) fn expand(paths: &[String]) -> Result<Vec<String>> {
    let mut expanded = Vec::new();
    for path in paths {
        if path.contains(['*', '?']) && !Path::new(path).exists() {
            expanded.extend(matching_files(path)?);
        } else {
            expanded.push(path.clone());
        }
    }
    if expanded.iter().filter(|path| *path == "-").count() > 1 {
        bail!("standard input can be read only once");
    }
    Ok(expanded)
}

fn matching_files(pattern: &str) -> Result<Vec<String>> {
    let (folder, name) = pattern.rsplit_once('/').unwrap_or((".", pattern));
    let folder = if folder.is_empty() { "/" } else { folder };
    let entries = std::fs::read_dir(folder).with_context(|| format!("{pattern}: {folder} cannot be read"))?;
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.with_context(|| format!("{pattern}: {folder} cannot be read"))?;
        let found = entry.file_name();
        let found = found.to_string_lossy();
        // Hidden files are named or not meant, as in a shell.
        let hidden = found.starts_with('.') && !name.starts_with('.');
        if !hidden && fits(name.as_bytes(), found.as_bytes()) && entry.path().is_file() {
            files.push(if pattern.contains('/') {
                format!("{}/{found}", folder.trim_end_matches('/'))
            } else {
                found.into_owned()
            });
        }
    }
    if files.is_empty() {
        bail!("{pattern}: no file fits this pattern");
    }
    files.sort_unstable();
    Ok(files)
}

/// Whether a name fits a pattern: `*` is any number of bytes, `?` a single one. Linear in both but for the last star.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                // The last star takes one byte more.
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, n) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, name, expected) in [
            ("*.csv", "a.csv", true),
            ("*.csv", "a.csv.gz", false),
            ("part-?.csv", "part-7.csv", true),
            ("part-?.csv", "part-17.csv", false),
            ("a*b*c", "aXXbYYbZc", true),
            ("a*b*c", "acb", false),
            ("*", "", true),
        ] {
            assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn files_come_in_the_order_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.csv", "a.csv", "a.txt", ".hidden.csv"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        assert_eq!(
            expand(&[path("*.csv"), path("x.csv")]).unwrap(),
            [path("a.csv"), path("b.csv"), path("x.csv")]
        );
        assert!(expand(&[path("*.parquet")]).is_err());
    }
}
