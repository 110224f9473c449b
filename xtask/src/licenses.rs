//! The licences of what is linked into a binary of this workspace, for the wheel.

use crate::{run, tree};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// What Debian's packages of LLVM and MLIR say of themselves.
const LLVM: &str = "/usr/share/doc/llvm-22-dev/copyright";

/// Writes the project's licence and those of everything that `package` is linked with into `folder`.
pub fn write(package: &str, folder: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    fs::write(folder.join("LICENSE"), tree::read("LICENSE")?)?;
    fs::write(folder.join("THIRD_PARTY"), third_party(package)?)?;
    Ok(())
}

fn third_party(package: &str) -> Result<String> {
    let metadata = run::output(run::cargo().args(["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let mut text = format!("What {package} is linked with, and under which licences.\n");
    writeln!(text, "\n== LLVM and MLIR 22: Apache-2.0 WITH LLVM-exception\n")?;
    // A custom prefix has no such file; the licence is the project's own.
    text += &fs::read_to_string(LLVM).unwrap_or_else(|_| "The text is in LICENSE.\n".to_owned());
    for crate_ in linked(&metadata, package)? {
        let field = |name: &str| crate_[name].as_str().unwrap_or("unknown");
        writeln!(text, "\n== {} {}: {}\n", field("name"), field("version"), field("license"))?;
        for file in license_files(Path::new(field("manifest_path")))? {
            text += &file;
        }
    }
    Ok(text)
}

/// The packages from elsewhere that a package of the workspace needs to run, by name.
fn linked<'a>(metadata: &'a Value, package: &str) -> Result<Vec<&'a Value>> {
    let list = |value: &'a Value| value.as_array().map(Vec::as_slice).unwrap_or_default();
    let id = |value: &'a Value| value.as_str().unwrap_or_default();
    let packages: BTreeMap<_, _> =
        list(&metadata["packages"]).iter().map(|package| (id(&package["id"]), package)).collect();
    let nodes: BTreeMap<_, _> =
        list(&metadata["resolve"]["nodes"]).iter().map(|node| (id(&node["id"]), node)).collect();
    let root = packages.iter().find(|(_, found)| found["name"] == package).context("no such package")?;
    let (mut waiting, mut seen) = (vec![*root.0], BTreeSet::new());
    while let Some(at) = waiting.pop() {
        if seen.insert(at) {
            let normal =
                |dependency: &&'a Value| list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
            waiting.extend(list(&nodes[at]["deps"]).iter().filter(normal).map(|dependency| id(&dependency["pkg"])));
        }
    }
    let mut linked: Vec<_> =
        seen.iter().map(|id| packages[id]).filter(|package| !package["source"].is_null()).collect();
    linked.sort_by_key(|package| id(&package["name"]));
    Ok(linked)
}

/// The texts of the files beside a manifest that are called like licences.
fn license_files(manifest: &Path) -> Result<Vec<String>> {
    let folder = manifest.parent().context("a manifest lies in a folder")?;
    let mut texts = Vec::new();
    for path in tree::entries(&folder.to_string_lossy())? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_file() && ["LICEN", "COPYING", "NOTICE", "UNLICENSE"].iter().any(|start| name.starts_with(start)) {
            texts.push(fs::read_to_string(path)? + "\n");
        }
    }
    Ok(texts)
}
