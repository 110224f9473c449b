//! Runs lit suites and counts their results.

use crate::test::Tally;
use crate::{ptxas, run, tree};
use anyhow::{Context, Result, bail};
use std::fs;
use std::process::Command;

/// The suite of the dialect and the passes, and those of programs that run.
pub const DIALECT: &[&str] = &["test/lit"];
pub const PROGRAMS: &[&str] = &["test/conformance", "test/litmus", "examples"];

/// lit on some suites or tests, with its own progress.
pub fn command(paths: &[&str]) -> Result<Command> {
    ptxas::install()?;
    let mut command = Command::new(tree::llvm_tool("lit")?);
    command.args(["--succinct", "--verbose"]).args(paths);
    // Python's caches would lie about in the tree.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(command)
}

/// Runs lit, and counts: what is neither passed, expectedly failed nor unsupported has failed.
pub fn count(mut command: Command) -> Result<Tally> {
    let report = tree::target().join("lit/results.json");
    fs::create_dir_all(tree::target().join("lit"))?;
    let _ = fs::remove_file(&report);
    let status = command.arg("-o").arg(&report).status().with_context(|| run::line(&command))?;
    let text = fs::read_to_string(&report).with_context(|| format!("{status}: {}", run::line(&command)))?;
    let report: serde_json::Value = serde_json::from_str(&text)?;
    let mut tally = Tally::default();
    for test in report["tests"].as_array().context("lit's report holds no tests")? {
        match test["code"].as_str().unwrap_or_default() {
            "PASS" | "FLAKYPASS" | "XFAIL" => tally.passed += 1,
            "UNSUPPORTED" | "SKIPPED" | "EXCLUDED" => {}
            _ => tally.failed.push(test["name"].as_str().unwrap_or("a test without a name").to_owned()),
        }
    }
    if tally.failed.is_empty() && !status.success() {
        bail!("{status}: {}", run::line(&command));
    }
    Ok(tally)
}
