//! `./x gen`: writes `docs/generated` from the definitions; with `--check` it only compares.

mod dialect;
mod passes;
mod python;

use crate::tree;
use anyhow::{Context, Result, bail};
use similar::TextDiff;
use std::fs;
use std::path::Path;

#[derive(clap::Args)]
pub struct Arguments {
    /// Write nothing; show what would change, and fail if anything does
    #[arg(long)]
    pub check: bool,
}

type Page = (&'static str, fn() -> Result<String>);

const PAGES: &[Page] = &[
    ("docs/generated/dialect.md", dialect::page),
    ("docs/generated/passes.md", passes::page),
    ("docs/generated/python.md", python::page),
];

pub fn run(arguments: &Arguments) -> Result<()> {
    let mut stale = Vec::new();
    for (path, page) in PAGES {
        let new = page().with_context(|| format!("cannot make {path}"))?;
        let old = tree::read(path).unwrap_or_default();
        if new == old {
            continue;
        }
        if arguments.check {
            print!("{}", TextDiff::from_lines(&old, &new).unified_diff().header(path, "made now"));
            stale.push(*path);
        } else {
            fs::create_dir_all(Path::new(path).parent().context("a page lies in a folder")?)?;
            fs::write(path, new)?;
            println!("wrote {path}");
        }
    }
    if !stale.is_empty() {
        bail!("{} is stale; mend it: ./x gen", stale.join(", "));
    }
    Ok(())
}
