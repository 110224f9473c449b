//! The tools: one executable, and a link to it for each of their names.

use crate::{run, tree};
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// The names, which are also those of the crates. Each crate has an executable of its own, with LLVM and MLIR in it.
pub const NAMES: [&str; 5] = ["symm-opt", "symm-run", "symm-check", "symm-translate", "symm-lsp-server"];

/// Builds the tools.
pub fn build() -> Result<()> {
    run::run(run::cargo().args(["build", "--release", "--package", "symm"]))?;
    link(&tree::target().join("release"))
}

/// Builds the tools and everything else but the Python package.
pub fn build_all() -> Result<()> {
    let mut build = run::cargo();
    build.args(["build", "--release", "--workspace", "--exclude", "symm-python"]);
    run::run(build.args(NAMES.iter().flat_map(|name| ["--exclude", name])))?;
    link(&tree::target().join("release"))
}

/// Makes the links in the folder of the executable, in the place of executables that cargo has left there.
pub fn link(folder: &Path) -> Result<()> {
    for name in NAMES {
        let link = folder.join(name);
        if fs::read_link(&link).is_ok_and(|target| target.as_os_str() == "symm") {
            continue;
        }
        let _ = fs::remove_file(&link);
        symlink("symm", &link).with_context(|| format!("cannot make {}", link.display()))?;
    }
    Ok(())
}
