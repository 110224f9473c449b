//! `docs/generated/python.md`: the Python package, from its signatures and docstrings.

use crate::run;
use anyhow::Result;
use std::process::Command;

pub fn page() -> Result<String> {
    run::output(Command::new("python3").arg("xtask/src/generate/python.py"))
}
