//! The seeds: every test and example of the tree, cut where `-split-input-file` cuts, without comments.

use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};

/// Where seeds come from.
const FOLDERS: &[&str] = &["test/lit", "test/conformance", "examples"];

/// The start of a line between two chunks of one file.
const SPLIT: &str = "// -----";

/// A chunk of a file.
pub struct Seed {
    /// Its file and its place there.
    pub name: String,
    /// Text, or bytecode.
    pub bytes: Vec<u8>,
}

/// Every seed below `root`, in an order that depends on names alone.
pub fn read(root: &Path) -> Result<Vec<Seed>> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        find(&root.join(folder), &mut files)?;
    }
    files.sort();
    let mut seeds = Vec::new();
    for file in files {
        let bytes = std::fs::read(&file).with_context(|| file.display().to_string())?;
        let name = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        match std::str::from_utf8(&bytes) {
            Ok(text) => {
                for (index, chunk) in chunks(text).into_iter().enumerate() {
                    seeds.push(Seed { name: format!("{name}#{index}"), bytes: chunk.into_bytes() });
                }
            }
            Err(_) => seeds.push(Seed { name, bytes }),
        }
    }
    ensure!(!seeds.is_empty(), "no .mlir file in {} of {}", FOLDERS.join(", "), root.display());
    Ok(seeds)
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "mlir" || extension == "mlirbc") {
            files.push(path);
        }
    }
    Ok(())
}

/// The chunks of a file without lines that are nothing but a comment; empty ones are left out.
fn chunks(text: &str) -> Vec<String> {
    let mut chunks = vec![String::new()];
    for line in text.lines() {
        if line.starts_with(SPLIT) {
            chunks.push(String::new());
        } else if !line.trim_start().starts_with("//") && !line.trim().is_empty() {
            let chunk = chunks.last_mut().expect("never empty");
            chunk.push_str(line);
            chunk.push('\n');
        }
    }
    chunks.retain(|chunk| !chunk.is_empty());
    chunks
}

#[cfg(test)]
mod tests {
    use super::chunks;

    #[test]
    fn a_file_is_cut_at_its_split_lines_and_loses_its_comments() {
        assert_eq!(chunks("// RUN: x\na\n  // CHECK: a\n// -----\n\n// -----\nb\n"), ["a\n", "b\n"]);
    }
}
