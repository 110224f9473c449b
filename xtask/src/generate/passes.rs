//! `docs/generated/passes.md`: the pass table, with the header of each pass's file as its text.

use crate::{run, tree};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::fmt::Write;
use std::path::PathBuf;

/// What `passes/examples/pass_table.rs` prints.
#[derive(Deserialize)]
struct Tables {
    passes: Vec<Row>,
    pipelines: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    flag: String,
    summary: String,
    options: Vec<PassOption>,
    /// The passes of a pipeline.
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct PassOption {
    name: String,
    values: Vec<String>,
    initial: String,
    help: String,
}

pub fn page() -> Result<String> {
    // Not by its package: see `run::program`.
    let table = ["run", "--quiet", "--release", "--example", "pass_table"];
    let tables: Tables = serde_json::from_str(&run::output(run::cargo().args(table))?)?;
    let mut page = String::from("<!-- Made from passes/src by ./x gen. -->\n\n# Passes and pipelines\n\n");
    writeln!(page, "| flag of `symm-opt` | what it does |\n| :-- | :-- |")?;
    for row in tables.passes.iter().chain(&tables.pipelines) {
        writeln!(page, "| [`--{0}`](#--{0}) | {1} |", row.flag, row.summary)?;
    }
    for row in &tables.passes {
        let file = file_of(&row.flag)?;
        let text = tree::read(&file)?;
        write!(page, "\n## `--{}`\n\n{}", row.flag, header(&text))?;
        options(&mut page, row)?;
        writeln!(page, "\nSource: [`{0}`](../../{0}).", file.display())?;
    }
    for row in &tables.pipelines {
        writeln!(page, "\n## `--{}`\n\n{}. A pipeline; with its default options it runs:\n", row.flag, row.summary)?;
        writeln!(page, "```text\n{}\n```", row.text.replace(',', "\n"))?;
        options(&mut page, row)?;
    }
    Ok(page)
}

fn options(page: &mut String, row: &Row) -> Result<()> {
    if row.options.is_empty() {
        return Ok(());
    }
    writeln!(page, "\n| option | values | default | what it does |\n| :-- | :-- | :-- | :-- |")?;
    for PassOption { name, values, initial, help } in &row.options {
        let values: Vec<_> = values.iter().map(|value| format!("`{value}`")).collect();
        writeln!(page, "| `{name}` | {} | `{initial}` | {help} |", values.join(", "))?;
    }
    Ok(())
}

/// The file whose pass record has this flag.
fn file_of(flag: &str) -> Result<PathBuf> {
    let record = format!("flag: \"{flag}\"");
    for room in tree::entries("passes/src")? {
        for file in tree::entries(&room.to_string_lossy())? {
            if file.is_file() && tree::read(&file)?.contains(&record) {
                return Ok(file);
            }
        }
    }
    None.with_context(|| format!("no file passes/src/*/*.rs has a pass record with {record}"))
}

/// The `//!` lines at the top of a file.
fn header(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    lines.flat_map(|line| [line.strip_prefix(' ').unwrap_or(line), "\n"]).collect()
}
