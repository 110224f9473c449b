//! `./x release`: builds and checks everything in a release. It publishes nothing.

use crate::check::metadata;
use crate::{docs, python, run, tree};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::process::Command;

const AUDITWHEEL: &str = "auditwheel==6.4.2";
const TWINE: &str = "twine==6.2.0";

pub fn run() -> Result<()> {
    let version = version()?;
    println!("== changelog: its first entry is of {version}");
    let changelog = tree::read("CHANGELOG.md")?;
    let newest = changelog.lines().find_map(|line| line.strip_prefix("## ")).context("CHANGELOG.md has no version")?;
    ensure!(
        newest.split(' ').next() == Some(&version),
        "Cargo.toml says {version}, CHANGELOG.md begins with {newest}; write down what has changed"
    );
    println!("== wheel: built by maturin, checked by twine and auditwheel (minutes)");
    let wheel = python::wheel()?;
    let tools = python::environment("release", &[AUDITWHEEL, TWINE])?;
    run::run(Command::new(&tools).args(["-m", "twine", "check", "--strict"]).arg(&wheel))?;
    let shown = run::output(Command::new(&tools).args(["-m", "auditwheel", "show"]).arg(&wheel))?;
    ensure!(shown.contains("\"manylinux_2_"), "not a manylinux wheel:\n{shown}");
    println!("== crates: packaged and built from their packages by cargo (10 minutes the first time)");
    let mut package = run::cargo();
    package.args(["package", "--workspace", "--allow-dirty"]);
    // Cargo builds each crate as it is packaged: with one folder for all, their dependencies are built once.
    let folder = std::path::absolute(tree::target().join("packages"))?;
    package.arg("--target-dir").arg(&folder).env("CARGO_PROFILE_DEV_DEBUG", "0");
    run::run(package.args(not_published(&metadata()?).iter().flat_map(|name| ["--exclude", name])))?;
    println!("== book: built by mkdocs; a broken link is an error");
    let book = docs::book()?;
    println!("symm {version}: {}, {}, {}", wheel.display(), folder.join("package").display(), book.display());
    Ok(())
}

/// Crates that are of use in this tree alone, or go into the wheel: `publish = false`.
fn not_published(metadata: &Value) -> Vec<&str> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let private = packages.filter(|package| package["publish"].as_array().is_some_and(Vec::is_empty));
    private.filter_map(|package| package["name"].as_str()).collect()
}

/// What a crate that is published needs of the workspace is published too: `cargo package` would not find it.
pub fn unpublished_needs(metadata: &Value) -> Vec<String> {
    let private = not_published(metadata);
    let mut complaints = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        if private.contains(&name) {
            continue;
        }
        let needs = package["dependencies"].as_array().into_iter().flatten().filter_map(|need| need["name"].as_str());
        for need in needs.filter(|need| private.contains(need)) {
            complaints
                .push(format!("{name} is published and needs {need}: drop `publish = false` in {need}'s Cargo.toml"));
        }
    }
    complaints
}

/// The version of everything: the workspace's.
fn version() -> Result<String> {
    let manifest = tree::read("Cargo.toml")?;
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    Ok(version.context("Cargo.toml has no version")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{not_published, unpublished_needs};
    use serde_json::json;

    #[test]
    fn a_crate_that_is_not_published_says_so() {
        let packages = json!({"packages": [
            {"name": "symm", "publish": null},
            {"name": "symm-bench", "publish": []},
            {"name": "symm-abi", "publish": ["crates-io"]},
        ]});
        assert_eq!(not_published(&packages), ["symm-bench"]);
    }

    #[test]
    fn what_a_published_crate_needs_is_published() {
        let packages = json!({"packages": [
            {"name": "symm", "publish": null, "dependencies": [{"name": "symm-abi"}, {"name": "symm-checker"}]},
            {"name": "symm-abi", "publish": null, "dependencies": []},
            {"name": "symm-checker", "publish": [], "dependencies": [{"name": "symm-bench"}]},
            {"name": "symm-bench", "publish": [], "dependencies": []},
        ]});
        let complaints = unpublished_needs(&packages);
        assert!(complaints.len() == 1 && complaints[0].starts_with("symm is published and needs symm-checker"));
    }
}
