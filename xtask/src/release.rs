//! `./x release`: makes what a release is, and checks it. It publishes nothing.

use crate::{docs, python, run, tree};
use anyhow::{Context, Result, ensure};
use std::process::Command;

const AUDITWHEEL: &str = "auditwheel==6.4.2";
const TWINE: &str = "twine==6.2.0";
/// Crates that are of use in this tree alone, or go into the wheel: `publish = false`.
const NOT_PUBLISHED: [&str; 4] = ["symm-bench", "symm-fuzz", "symm-python", "xtask"];

pub fn run() -> Result<()> {
    let version = version()?;
    println!("== the changelog is about {version}");
    let changelog = tree::read("CHANGELOG.md")?;
    let newest = changelog.lines().find_map(|line| line.strip_prefix("## ")).context("CHANGELOG.md has no version")?;
    ensure!(
        newest.split(' ').next() == Some(&version),
        "Cargo.toml says {version}, CHANGELOG.md begins with {newest}; write down what has changed"
    );
    println!("== wheel");
    let wheel = python::wheel()?;
    let tools = python::environment("release", &[AUDITWHEEL, TWINE])?;
    run::run(Command::new(&tools).args(["-m", "twine", "check", "--strict"]).arg(&wheel))?;
    let shown = run::output(Command::new(&tools).args(["-m", "auditwheel", "show"]).arg(&wheel))?;
    ensure!(shown.contains("\"manylinux_2_"), "not a manylinux wheel:\n{shown}");
    println!("== crates");
    let mut package = run::cargo();
    package.args(["package", "--workspace", "--allow-dirty", "--quiet"]);
    run::run(package.args(NOT_PUBLISHED.iter().flat_map(|name| ["--exclude", name])))?;
    println!("== book");
    let book = docs::book()?;
    println!("symm {version}: {}, {}, {}", wheel.display(), tree::target().join("package").display(), book.display());
    Ok(())
}

/// The version of everything: the workspace's.
fn version() -> Result<String> {
    let manifest = tree::read("Cargo.toml")?;
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    Ok(version.context("Cargo.toml has no version")?.to_owned())
}
