//! `./x bless`: rewrites the expected output of golden tests (test/golden.py).

use crate::{lit, run, tools, tree};
use anyhow::{Result, ensure};

pub fn run() -> Result<()> {
    tools::build()?;
    let mut tests = Vec::new();
    for room in tree::entries("test/lit")? {
        for path in tree::entries(&room.to_string_lossy())? {
            if path.extension().is_some_and(|suffix| suffix == "mlir") && tree::read(&path)?.contains("// RUN: %golden")
            {
                tests.push(path.to_string_lossy().into_owned());
            }
        }
    }
    ensure!(!tests.is_empty(), "no test under test/lit has a line `// RUN: %golden …`");
    let before = tests.iter().map(tree::read).collect::<Result<Vec<_>>>()?;
    let mut command = lit::command(&tests.iter().map(String::as_str).collect::<Vec<_>>())?;
    run::run(command.env("SYMM_BLESS", "1"))?;
    for (test, before) in tests.iter().zip(before) {
        let state =
            if tree::read(test)? == before { "unchanged" } else { "rewritten: read the diff before you commit it" };
        println!("{test}: {state}");
    }
    Ok(())
}
