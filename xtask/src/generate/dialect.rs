//! `docs/generated/dialect.md`: what `mlir-tblgen` says of the dialect, in the order of `dialect/td`, for GitHub.

use crate::{run, tree};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;

pub fn page() -> Result<String> {
    let include = tree::llvm_prefix()?.join("include");
    let mut tblgen = Command::new(tree::llvm_tool("mlir-tblgen")?);
    tblgen.args(["-gen-dialect-doc", "-dialect=symm", "-I", "dialect/td", "-I"]).arg(include);
    let text = run::output(tblgen.arg("dialect/td/Symm.td"))?;

    let (introduction, rest) = text.split_once("[TOC]").context("mlir-tblgen's page has no contents")?;
    let (_, introduction) = introduction.split_once("Dialect\n").context("mlir-tblgen's page has no title")?;
    let (ops, rest) = rest.split_once("\n## Types\n").context("mlir-tblgen's page has no types")?;
    let (types, enums) = rest.split_once("\n## Enums\n").context("mlir-tblgen's page has no enums")?;
    let sections: BTreeMap<&str, &str> = ops.split("\n### `symm.").skip(1).filter_map(|s| s.split_once('`')).collect();

    let mut page = String::from("<!-- Made from dialect/td by ./x gen. -->\n\n# The symm dialect\n");
    writeln!(page, "{}\n\n## Contents\n", introduction.trim_end())?;
    let all = tree::ops()?;
    let mut groups: Vec<&str> = all.iter().map(|op| op.group.as_str()).collect();
    groups.dedup();
    for group in &groups {
        let links = all.iter().filter(|op| op.group == *group);
        let links: Vec<_> = links.map(|op| format!("[`{0}`](#symm{0})", op.mnemonic)).collect();
        writeln!(page, "- [{group}](#{}): {}", group.to_lowercase(), links.join(", "))?;
    }
    writeln!(page, "- [Types](#types)\n- [Keywords](#keywords)")?;
    for group in groups {
        let source = format!("dialect/td/{group}.td");
        let first = tree::read(&source)?;
        let about = first.lines().next().unwrap_or_default().trim_start_matches("// ");
        writeln!(page, "\n## {group}\n\n{about} Defined in [`{source}`](../../{source}).")?;
        for op in all.iter().filter(|op| op.group == group) {
            let section = sections.get(op.mnemonic.as_str());
            let section = section.with_context(|| format!("mlir-tblgen's page has no symm.{}", op.mnemonic))?;
            write!(page, "\n### `symm.{}`\n\n{}", op.mnemonic, op_section(section))?;
        }
    }
    writeln!(page, "\n## Types\n{}", types.replace("### CtxType", "### `!symm.ctx`").trim_end())?;
    writeln!(page, "\n## Keywords\n\n{}", enum_sections(enums).trim_end())?;
    Ok(page)
}

/// One op, from after its title: shorter, and without the names of C++ classes.
fn op_section(section: &str) -> String {
    let mut out = String::new();
    let mut fenced = false;
    for line in section.lines().skip(1) {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        let line = if fenced || line.starts_with("```") { Some(line.to_owned()) } else { prose(line) };
        let Some(line) = line else { continue };
        // Dropped sections leave empty lines.
        if !(line.is_empty() && (out.is_empty() || out.ends_with("\n\n"))) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// A line outside of code; `None` if readers don't need it.
fn prose(line: &str) -> Option<String> {
    if line.starts_with("Traits: ") || line == "<table>" || line == "</table>" || line.starts_with(':') {
        return None;
    }
    if let Some(interfaces) = line.strip_prefix("Interfaces: ") {
        return interfaces.contains("NoMemoryEffect").then(|| "Effects: none.".into());
    }
    if let Some(effects) = line.strip_prefix("Effects: ") {
        let effects: Vec<_> = ["Allocate", "Free", "Read", "Write"]
            .into_iter()
            .filter(|effect| effects.contains(&format!("::{effect} ")))
            .map(str::to_lowercase)
            .collect();
        return (!effects.is_empty()).then(|| format!("Effects: {}.", effects.join(", ")));
    }
    if line.starts_with("<tr><th>") {
        return Some("| Attribute | Description |\n| :-- | :-- |".into());
    }
    if let Some(row) = line.strip_prefix("<tr><td><code>") {
        let cells: Vec<&str> = row.trim_end_matches("</td></tr>").split("</td><td>").collect();
        let name = cells.first()?.trim_end_matches("</code>");
        let keywords = cells.get(1)?.strip_prefix("::symm::").and_then(|class| class.strip_suffix("Attr"));
        let what = cells.get(2)?;
        let what =
            keywords.map_or_else(|| escape(what), |class| format!("[{what}](#{}-keywords)", class.to_lowercase()));
        return Some(format!("| `{}` | {what} |", name.trim_end_matches('_')));
    }
    if line.starts_with("#### ") || line.starts_with("| :") {
        return line.starts_with("| :").then(|| "| :-- | :-- |".into());
    }
    Some(escape(line))
}

/// `<` and `>` outside of backticks would be taken for HTML.
fn escape(line: &str) -> String {
    let parts = line.split('`').enumerate().map(|(index, part)| match index % 2 {
        0 => part.replace('<', "&lt;").replace('>', "&gt;"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// The enums: their keywords in one line each.
fn enum_sections(text: &str) -> String {
    let mut out = String::new();
    for section in text.split("\n### ").skip(1) {
        let mut lines = section.lines();
        let name = lines.next().unwrap_or_default();
        let summary = lines.find(|line| !line.is_empty()).unwrap_or_default().trim_matches('_');
        let rows = lines.filter(|line| line.contains("` |")).filter_map(|line| line.split(" | ").nth(2));
        let keywords: Vec<_> = rows.map(|keyword| format!("`{}`", keyword.trim_end_matches(" |"))).collect();
        let _ = write!(out, "### {name} keywords\n\n{}: {}.\n\n", escape(summary), keywords.join(", "));
    }
    out
}
