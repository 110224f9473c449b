//! The report for people to read.

use super::{Front, Sources, claim, place, severity, summary};
use crate::check::{Found, Report};
use crate::finding::At;
use std::io::{self, Write};

/// Writes the report for people to read.
///
/// # Errors
/// Those of writing.
pub fn text(out: &mut impl Write, report: &Report, front: Front) -> io::Result<()> {
    let mut sources = Sources::default();
    for said in report.repairs.iter().chain(&report.remarks) {
        writeln!(out, "{}\n", said.trim_end())?;
    }
    for found in &report.found {
        finding(out, found, front, &mut sources)?;
    }
    for (found, allowed) in &report.allowed {
        let first = found.finding.at.first().map_or("program", |at| &at.site);
        writeln!(out, "{first}: allowed: {} ({}): {}\n", found.finding.kind, allowed.stands, allowed.reason)?;
    }
    for unused in &report.unused {
        writeln!(out, "{unused}\n")?;
    }
    for at in &report.unfinished {
        writeln!(out, "{}: given up: {}: {}", at.site, at.task, at.what)?;
        caret(out, at, &mut sources)?;
        writeln!(out)?;
    }
    writeln!(out, "{}: {}", front.name, summary(report, front.steps))?;
    writeln!(out, "{}: {}", front.name, claim(report))
}

fn finding(out: &mut impl Write, found: &Found, front: Front, sources: &mut Sources) -> io::Result<()> {
    let finding = &found.finding;
    let kind = finding.kind;
    let rule = if kind.rule().is_empty() { String::new() } else { format!(" ({})", kind.rule()) };
    let first = finding.at.first().map_or("program", |at| &at.site);
    writeln!(out, "{first}: {}: {kind}{rule}", severity(found))?;
    let mut last = None;
    for at in &finding.at {
        writeln!(out, "{}: note: {}: {}", at.site, at.task, at.what)?;
        // A place that all tasks are at is shown once.
        if last != Some(&at.site) {
            caret(out, at, sources)?;
        }
        last = Some(&at.site);
    }
    if !finding.help.is_empty() {
        writeln!(out, "  help: {}", finding.help)?;
    }
    writeln!(out, "  again: {}\n", (front.again)(found))
}

/// The line of source, and a caret below the op.
fn caret(out: &mut impl Write, at: &At, sources: &mut Sources) -> io::Result<()> {
    let Some((file, line, column)) = place(&at.site) else { return Ok(()) };
    let Some(source) = sources.line(file, line) else { return Ok(()) };
    let indent = source.chars().take(column.saturating_sub(1)).map(|letter| if letter == '\t' { '\t' } else { ' ' });
    writeln!(out, "{source}\n{}^", indent.collect::<String>())
}
