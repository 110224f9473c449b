//! Every crate and every folder of tests is run by `./x test`. Each function lists what is not, and how to mend it.

use crate::{lit, run, tree};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Crates that another stage than `cargo test` builds and tests.
const OTHER_STAGES: &[&str] = &["symm-python"];
/// Folders of `test/` that are no suite of lit and no crate: what Python's stage runs, what needs GPUs, and what takes
/// too long (`./x corpus`, of which Python's stage tests the parts).
const OTHER_FOLDERS: &[&str] = &["test/python", "test/device", "test/corpus"];

/// Every crate is a default member, and each file of its tests one of its targets.
pub fn crates_not_tested() -> Result<Vec<String>> {
    let metadata = metadata()?;
    let members: BTreeSet<PathBuf> = crates(&metadata)?.into_iter().collect();
    let manifests = tree::files()?.into_iter().filter(|file| file.ends_with("/Cargo.toml"));
    let folders = manifests.filter_map(|file| Path::new(&file).parent().map(Path::to_owned));
    let strange = folders.filter(|folder| !members.contains(folder));
    let strange =
        strange.map(|folder| format!("{} is tested by nobody: add it to members in Cargo.toml", folder.display()));
    Ok(strange.chain(complaints(&metadata)?).collect())
}

/// Every folder of `test/` is run.
pub fn folders_not_tested() -> Result<Vec<String>> {
    let suites = lit::DIALECT.iter().chain(lit::PROGRAMS).chain(OTHER_FOLDERS);
    let run: BTreeSet<PathBuf> = suites.map(PathBuf::from).chain(crates(&metadata()?)?).collect();
    let folders = tree::entries("test")?.into_iter().filter(|path| path.is_dir() && !path.ends_with("__pycache__"));
    let missing = folders
        .filter(|folder| !run.contains(folder))
        .map(|folder| format!("{} is never run: name it in xtask/src/lit.rs, or make it a crate", folder.display()));
    Ok(missing.collect())
}

/// What cargo says of the workspace's crates.
pub fn metadata() -> Result<Value> {
    let text = run::output(run::cargo().args(["metadata", "--no-deps", "--offline", "--format-version", "1"]))?;
    Ok(serde_json::from_str(&text)?)
}

/// The folders of the crates, from the root on.
fn crates(metadata: &Value) -> Result<Vec<PathBuf>> {
    let root = metadata["workspace_root"].as_str().context("cargo names no root")?;
    let manifests = list(metadata, "packages").filter_map(|package| package["manifest_path"].as_str());
    let folders = manifests.filter_map(|path| Path::new(path).parent()?.strip_prefix(root).ok());
    Ok(folders.map(Path::to_owned).collect())
}

fn complaints(metadata: &Value) -> Result<Vec<String>> {
    let defaults: BTreeSet<&str> = list(metadata, "workspace_default_members").filter_map(Value::as_str).collect();
    let mut complaints = Vec::new();
    for package in list(metadata, "packages") {
        let text = |field: &str| package[field].as_str().with_context(|| format!("a package without {field}"));
        let (name, id, manifest) = (text("name")?, text("id")?, Path::new(text("manifest_path")?));
        if !defaults.contains(id) && !OTHER_STAGES.contains(&name) {
            complaints.push(format!("{name} is never tested: add it to default-members in Cargo.toml"));
        }
        let tested = list(package, "targets").filter(|target| target["test"] == true);
        let tested: BTreeSet<&Path> = tested.filter_map(|target| target["src_path"].as_str().map(Path::new)).collect();
        let folder = manifest.parent().context("a manifest in no folder")?.join("tests");
        for file in roots(&folder)?.into_iter().filter(|file| !tested.contains(file.as_path())) {
            complaints.push(format!("{} is never run: make it a test in {}", file.display(), manifest.display()));
        }
    }
    Ok(complaints)
}

/// Where cargo is told that a library has no unit tests, or no doc tests, there are none.
pub fn tests_left_out() -> Result<Vec<String>> {
    let metadata = metadata()?;
    let mut complaints = Vec::new();
    for package in list(&metadata, "packages") {
        let is_library =
            |target: &&Value| list(target, "kind").filter_map(Value::as_str).any(|kind| kind.ends_with("lib"));
        for target in list(package, "targets").filter(is_library) {
            let Some(folder) = target["src_path"].as_str().and_then(|path| Path::new(path).parent()) else { continue };
            for file in tree::rust_files(folder)? {
                let text = tree::read(&file)?;
                let unit = target["test"] == false && text.contains("#[cfg(test)]");
                if unit || target["doctest"] == false && has_doc_test(&text) {
                    let what = if unit { "unit" } else { "doc" };
                    complaints.push(format!("{} has {what} tests, which its Cargo.toml leaves out", file.display()));
                }
            }
        }
    }
    Ok(complaints)
}

/// Whether a doc comment holds a block that rustdoc would test.
fn has_doc_test(text: &str) -> bool {
    let docs = text.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
    });
    let fences = docs.filter_map(|line| line.trim_start().strip_prefix("```"));
    let tested = ["", "rust", "no_run", "should_panic", "compile_fail"];
    fences.step_by(2).any(|language| tested.contains(&language.trim()))
}

/// The files in a folder of tests that cargo would make a test of.
fn roots(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = tree::entries(&folder.to_string_lossy())?.into_iter();
    let roots = entries.map(|path| if path.is_dir() { path.join("main.rs") } else { path });
    Ok(roots.filter(|path| path.is_file() && path.extension().is_some_and(|suffix| suffix == "rs")).collect())
}

fn list<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value[field].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::{complaints, has_doc_test};
    use serde_json::json;

    #[test]
    fn only_rust_in_doc_comments_is_a_doc_test() {
        assert!(has_doc_test("/// Adds.\n///\n/// ```\n/// 1 + 1;\n/// ```\n"));
        assert!(has_doc_test("//! ```mlir\n//! x\n//! ```\n//! ```no_run\n//! ```\n"));
        assert!(!has_doc_test("//! ```mlir\n//! x\n//! ```\n"));
        assert!(!has_doc_test("// ```\n// ```\nlet x = \"```\";\n"));
    }

    #[test]
    fn a_crate_that_is_no_default_member_is_one_complaint() {
        let package = |name: &str| json!({"name": name, "id": name, "manifest_path": "/nowhere/Cargo.toml"});
        let packages = ["symm-a", "symm-c", "symm-python"].map(package);
        let found = complaints(&json!({"packages": packages, "workspace_default_members": ["symm-a"]})).unwrap();
        assert_eq!(found, ["symm-c is never tested: add it to default-members in Cargo.toml"]);
    }
}
