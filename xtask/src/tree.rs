//! Where things are in the tree. Every command runs in its root.

use crate::run;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Makes the root of the tree the current folder.
pub fn enter() -> Result<()> {
    // Cargo says where this crate lies; a binary that was moved elsewhere must be started in the root.
    if let Some(manifest) = env::var_os("CARGO_MANIFEST_DIR") {
        env::set_current_dir(Path::new(&manifest).join("..")).context("no root of the tree")?;
    }
    Ok(())
}

/// The text of a file of the tree.
pub fn read(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// What git tracks or would track.
pub fn files() -> Result<Vec<String>> {
    let list = run::output(Command::new("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    Ok(list.lines().filter(|file| Path::new(file).is_file()).map(str::to_owned).collect())
}

/// Cargo's target folder.
pub fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from)
}

/// A tool of this project, built.
pub fn tool(name: &str) -> PathBuf {
    target().join("release").join(name)
}

/// A tool of LLVM 22.
pub fn llvm_tool(name: &str) -> Result<PathBuf> {
    Ok(llvm_prefix()?.join("bin").join(name))
}

/// The prefix of LLVM 22.
pub fn llvm_prefix() -> Result<PathBuf> {
    let prefix = env::var_os("MLIR_SYS_220_PREFIX");
    prefix.map(PathBuf::from).context("MLIR_SYS_220_PREFIX is not set: start this through ./x or cargo xtask")
}

/// The files and folders in a folder, sorted; none if there is no such folder.
pub fn entries(folder: &str) -> Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// The Rust files in a folder and those in it.
pub fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in entries(&folder.to_string_lossy())? {
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|suffix| suffix == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

/// An op of the dialect, as its definition has it.
pub struct Op {
    /// Without `symm.`.
    pub mnemonic: String,
    /// The stem of the `.td` file: `Data`.
    pub group: String,
}

/// Every op, in the order in which `dialect/td/Symm.td` includes and its files define them.
pub fn ops() -> Result<Vec<Op>> {
    let mut ops = Vec::new();
    let top = read("dialect/td/Symm.td")?;
    for include in top.lines().filter_map(|line| line.strip_prefix("include \"")) {
        let file = include.trim_end_matches('"');
        let text = read(Path::new("dialect/td").join(file))?;
        for definition in text.split("Op<\"").skip(1) {
            let mnemonic = definition.split('"').next().unwrap_or_default().to_owned();
            ops.push(Op { mnemonic, group: file.trim_end_matches(".td").to_owned() });
        }
    }
    Ok(ops)
}
