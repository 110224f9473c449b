//! Rules about where things are. Each function lists what breaks its rule, and how to mend it.

use crate::tree;
use anyhow::Result;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

const ROOMS: &[&str] = &["analysis", "check", "lower", "transform"];
/// The rooms of passes, which use none of the others.
const PASS_ROOMS: &[&str] = &["check", "lower", "transform"];
const MOST_LINES: usize = 400;
/// Of a Python function, without comments; for Rust clippy.toml says the same.
const MOST_LINES_OF_A_FUNCTION: usize = 60;
/// The functions that may be longer, and why.
const LONG_FUNCTIONS: &[(&str, &str)] = &[("wrong", "a table of wrong uses, each in a branch")];
/// Where a file's lines count.
const SOURCES: &[&str] = &["c", "cpp", "h", "py", "rs", "td"];
const MOST_COLUMNS: usize = 120;
/// The files whose lines may be longer: what is expected of a line stands after it.
const LONG_LINES: &[&str] = &["test/python/test_errors.py", "test/python/ranks/bounds.py"];
/// The files that may be longer, and why.
const LONG_FILES: &[(&str, &str)] = &[("bench/device/measure.py", "carried alone to machines with GPUs")];

/// `passes/src/<room>/<stem>.rs` has `test/lit/<room>/<stem>.mlir`, or `<stem>-<topic>.mlir`.
pub fn untested_passes() -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for room in ROOMS {
        let tests: Vec<String> = tree::entries(&format!("test/lit/{room}"))?.iter().map(|path| stem(path)).collect();
        // A pass and the folder of its parts have one stem.
        let stems: BTreeSet<String> =
            tree::entries(&format!("passes/src/{room}"))?.iter().map(|path| stem(path)).collect();
        for stem in stems {
            if !tests.iter().any(|test| *test == stem || test.starts_with(&format!("{stem}-"))) {
                let pass = format!("passes/src/{room}/{stem}.rs");
                complaints.push(format!("{pass} has no test: write test/lit/{room}/{stem}.mlir"));
            }
        }
    }
    Ok(complaints)
}

/// Nothing in `ir`, in `analysis` or in another room uses a room of passes: what two share is in the first two.
pub fn rooms_used() -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for file in tree::files()? {
        let Some(room) = file.strip_prefix("passes/src/").and_then(|path| path.split(['/', '.']).next()) else {
            continue;
        };
        if room != "ir" && !ROOMS.contains(&room) {
            continue;
        }
        for (number, line) in tree::read(&file)?.lines().enumerate() {
            for other in PASS_ROOMS.iter().filter(|other| **other != room && uses(line, other)) {
                complaints.push(format!(
                    "{file}:{}: {room} uses {other}: move what they share to passes/src/ir or passes/src/analysis",
                    number + 1
                ));
            }
        }
    }
    Ok(complaints)
}

/// Whether a line of Rust names a room by its path from the crate, alone or in a list.
fn uses(line: &str, room: &str) -> bool {
    let Some((_, path)) = line.split_once("crate::") else { return false };
    let is_room = |word: &str| word.trim() == room || word.trim_start().starts_with(&format!("{room}::"));
    path.strip_prefix('{')
        .map_or_else(|| is_room(path.split(';').next().unwrap_or_default()), |list| list.split([',', '}']).any(is_room))
}

/// Every op is named in a file under `test/lit/dialect`.
pub fn untested_ops() -> Result<Vec<String>> {
    let tests = tree::entries("test/lit/dialect")?.iter().map(tree::read).collect::<Result<Vec<_>>>()?.concat();
    let named = |mnemonic: &str| {
        let op = format!("symm.{mnemonic}");
        let longer = |rest: &str| rest.starts_with(|next: char| next == '_' || next == '.' || next.is_alphanumeric());
        tests.match_indices(&op).any(|(at, _)| !longer(&tests[at + op.len()..]))
    };
    let ops = tree::ops()?.into_iter().filter(|op| !named(&op.mnemonic));
    Ok(ops
        .map(|op| {
            format!("symm.{} is in no test: add it to test/lit/dialect/{}.mlir", op.mnemonic, op.group.to_lowercase())
        })
        .collect())
}

/// Every program of `test/conformance`, `test/litmus` and `examples` is run by lit.
pub fn programs_not_run() -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    let folders = ["test/conformance", "test/litmus", "examples"].map(tree::entries);
    for path in folders.into_iter().collect::<Result<Vec<_>>>()?.concat() {
        let program = path.extension().is_some_and(|suffix| suffix == "mlir" || suffix == "litmus");
        let program = program && !path.ends_with("template.mlir");
        if program && !tree::read(&path)?.lines().any(|line| line.starts_with("// RUN: ")) {
            complaints.push(format!("{} is never run: add a line `// RUN: %run-all`", path.display()));
        }
    }
    Ok(complaints)
}

/// Every crate forbids unsafe code, or denies it and names the modules that may have some.
pub fn unguarded_crates() -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for root in tree::files()?.iter().filter(|file| file.ends_with("src/lib.rs") || file.ends_with("src/main.rs")) {
        if !is_guarded(&tree::read(root)?) {
            let mend = "write #![forbid(unsafe_code)], or deny and #[expect(unsafe_code, reason = …)] at its modules";
            complaints.push(format!("{root} says nothing of unsafe code: {mend}"));
        }
    }
    Ok(complaints)
}

fn is_guarded(root: &str) -> bool {
    root.lines().any(|line| matches!(line, "#![forbid(unsafe_code)]" | "#![deny(unsafe_code)]"))
}

/// A file holds one idea.
pub fn long_files() -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    let may_be_long = |file: &str| LONG_FILES.iter().any(|(long, _)| file == *long);
    for file in tree::files()?.iter().filter(|file| is_source(file) && !may_be_long(file)) {
        let lines = tree::read(file)?.lines().count();
        if lines > MOST_LINES {
            complaints.push(format!("{file} has {lines} lines: split it, {MOST_LINES} are the most"));
        }
    }
    Ok(complaints)
}

/// rustfmt leaves comments and strings as they are.
pub fn long_lines() -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for file in tree::files()? {
        let is_text = is_source(&file) || file == "x" || has_suffix(&file, &["sh"]);
        if !is_text || LONG_LINES.contains(&file.as_str()) {
            continue;
        }
        for (number, line) in tree::read(&file)?.lines().enumerate() {
            let columns = line.chars().count();
            if columns > MOST_COLUMNS {
                let place = format!("{file}:{}", number + 1);
                complaints.push(format!("{place} has {columns} columns: break it, {MOST_COLUMNS} are the most"));
            }
        }
    }
    Ok(complaints)
}

/// A Python function does one thing.
pub fn long_functions() -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for file in tree::files()?.iter().filter(|file| has_suffix(file, &["py"])) {
        for (name, lines) in python_functions(&tree::read(file)?) {
            if lines > MOST_LINES_OF_A_FUNCTION && !LONG_FUNCTIONS.iter().any(|(long, _)| name == *long) {
                complaints.push(format!(
                    "{file}: {name} has {lines} lines: split it, {MOST_LINES_OF_A_FUNCTION} are the most"
                ));
            }
        }
    }
    Ok(complaints)
}

/// The functions of a Python file, and how many lines of each are neither its signature, empty nor a comment.
fn python_functions(text: &str) -> Vec<(&str, usize)> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut functions = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(signature) = line.trim_start().strip_prefix("def ") else { continue };
        // A signature of several lines ends with its bracket, which stands where it began.
        let mut rest = &lines[at + 1..];
        if signature.ends_with('(') {
            let ends = |line: &&str| indent(line) == indent(lines[at]) && line.trim_start().starts_with(')');
            rest = rest.iter().position(ends).map_or(rest, |end| &rest[end + 1..]);
        }
        let body = rest.iter().take_while(|line| indent(line) > indent(lines[at]));
        let count = body.filter(|line| !line.trim_start().starts_with('#')).count();
        functions.push((signature.split('(').next().unwrap_or_default(), count));
    }
    functions
}

/// No file names a folder that exists on one machine only.
pub fn machine_paths() -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for file in tree::files()? {
        // Pictures and arrays are not text.
        let Ok(text) = tree::read(&file) else { continue };
        for (number, line) in text.lines().enumerate() {
            if ["home", "root", "work", "Users"].iter().any(|folder| is_named(line, folder)) {
                complaints.push(format!("{file}:{}: write this path relative to the tree", number + 1));
            }
        }
    }
    Ok(complaints)
}

/// Whether a line holds a path that starts in this folder of the file system's root.
fn is_named(line: &str, folder: &str) -> bool {
    let path = format!("/{folder}/");
    let inside = |before: &str| before.ends_with(|last: char| last.is_alphanumeric() || "_./-}*~".contains(last));
    line.match_indices(&path).any(|(at, _)| !inside(&line[..at]))
}

fn is_source(file: &str) -> bool {
    has_suffix(file, SOURCES)
}

fn has_suffix(file: &str, suffixes: &[&str]) -> bool {
    Path::new(file).extension().and_then(OsStr::to_str).is_some_and(|suffix| suffixes.contains(&suffix))
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::{is_guarded, is_named, python_functions, uses};

    #[test]
    fn a_room_is_used_by_its_path() {
        assert!(uses("use crate::lower::triton::words;", "lower"));
        assert!(uses("use crate::lower;", "lower"));
        assert!(uses("use crate::{check, lower, transform};", "lower"));
        assert!(uses("    if crate::lower::cpu::KERNEL == name {", "lower"));
        assert!(!uses("use crate::ir::lowered;", "lower"));
        assert!(!uses("use crate::{ir, lowered};", "lower"));
        assert!(!uses("//! lower::triton", "lower"));
    }

    #[test]
    fn a_crate_says_who_may_be_unsafe() {
        assert!(is_guarded("//! A crate.\n\n#![forbid(unsafe_code)]\n"));
        assert!(is_guarded("#![deny(unsafe_code)]\nmod a;\n"));
        assert!(!is_guarded("// #![deny(unsafe_code)]\n#![allow(missing_docs)]\nmod a;\n"));
    }

    #[test]
    fn bodies_of_python_functions_are_counted() {
        let signature = "def f(\n    a,\n    b,\n):  # fmt: skip\n";
        let body = "    x = 1\n\n    # why\n    return g(\n        x\n    )\n";
        let text = format!("{signature}{body}\n\nclass C:\n    def h(self): pass\n");
        assert_eq!(python_functions(&text), [("f", 4), ("h", 0)]);
    }

    #[test]
    fn only_paths_from_the_root_count() {
        assert!(is_named(&format!("see /{}/me/x", "home"), "home"));
        assert!(is_named(&format!("\"/{}/x\"", "work"), "work"));
        assert!(!is_named("docs/work/notes, ./root/x", "work"));
        assert!(!is_named("framework/work/x", "work"));
    }
}
