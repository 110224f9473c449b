//! Reports: as text, with the lines of the source, and as JSON.

use serde::Serialize;
use std::collections::HashMap;
use std::io::{self, Write};
use symm_checker::check::{Found, Report};
use symm_checker::finding::At;

/// The lines of the files that findings name.
#[derive(Default)]
struct Sources(HashMap<String, Vec<String>>);

impl Sources {
    fn line(&mut self, file: &str, line: usize) -> Option<&str> {
        let read = || std::fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect();
        let lines = self.0.entry(file.to_owned()).or_insert_with(read);
        lines.get(line.checked_sub(1)?).map(String::as_str)
    }
}

/// `FILE:LINE:COLUMN` in its parts.
fn place(site: &str) -> Option<(&str, usize, usize)> {
    let mut parts = site.rsplitn(3, ':');
    let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((parts.next()?, line, column))
}

/// The report for people to read.
///
/// # Errors
/// Those of writing.
pub fn text(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let mut sources = Sources::default();
    for found in &report.found {
        finding(out, found, &mut sources)?;
    }
    writeln!(out, "symm-check: {}", summary(report))
}

fn finding(out: &mut impl Write, found: &Found, sources: &mut Sources) -> io::Result<()> {
    let finding = &found.finding;
    let kind = finding.kind;
    let severity = if kind.is_note() { "note" } else { "error" };
    let rule = if kind.rule().is_empty() { String::new() } else { format!(" ({})", kind.rule()) };
    let first = finding.at.first().map_or("program", |at| &at.site);
    writeln!(out, "{first}: {severity}: {kind}{rule}")?;
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
    match found.seed {
        Some(seed) => writeln!(out, "  again: --seed {seed}, or --replay '{}'\n", found.schedule),
        None => writeln!(out, "  again: --replay '{}'\n", found.schedule),
    }
}

/// The line of source, and a caret below the op.
fn caret(out: &mut impl Write, at: &At, sources: &mut Sources) -> io::Result<()> {
    let Some((file, line, column)) = place(&at.site) else { return Ok(()) };
    let Some(source) = sources.line(file, line) else { return Ok(()) };
    let indent = source.chars().take(column.saturating_sub(1)).map(|letter| if letter == '\t' { '\t' } else { ' ' });
    writeln!(out, "{source}\n{}^", indent.collect::<String>())
}

/// What was explored, and what follows from it.
fn summary(report: &Report) -> String {
    let errors = report.found.iter().filter(|found| !found.finding.kind.is_note()).count();
    let notes = report.found.len() - errors;
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let mut said = vec![match (errors, notes) {
        (0, 0) => "nothing found".to_owned(),
        (0, _) => format!("nothing wrong found, {}", counted(notes, "note")),
        (_, 0) => counted(errors, "error"),
        _ => format!("{}, {}", counted(errors, "error"), counted(notes, "note")),
    }];
    said.push(format!("{} tried", counted(report.executions, "execution")));
    if report.given_up > 0 {
        said.push(format!("{} given up after --steps steps", report.given_up));
    }
    said.push(
        if report.is_exhausted { "there are no others that differ" } else { "of other schedules nothing is known" }
            .to_owned(),
    );
    said.join("; ")
}

/// The report for programs to read.
///
/// # Errors
/// Those of writing.
pub fn json(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let findings = report.found.iter().map(|found| JsonFinding {
        kind: found.finding.kind.name(),
        rule: found.finding.kind.rule(),
        severity: if found.finding.kind.is_note() { "note" } else { "error" },
        places: found.finding.at.iter().map(JsonPlace::of).collect(),
        help: &found.finding.help,
        seed: found.seed,
        schedule: found.schedule.to_string(),
    });
    let whole = JsonReport {
        findings: findings.collect(),
        executions: report.executions,
        given_up: report.given_up,
        exhausted: report.is_exhausted,
    };
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    writeln!(out)
}

#[derive(Serialize)]
struct JsonReport<'r> {
    findings: Vec<JsonFinding<'r>>,
    executions: usize,
    given_up: usize,
    exhausted: bool,
}

#[derive(Serialize)]
struct JsonFinding<'r> {
    kind: &'static str,
    rule: &'static str,
    severity: &'static str,
    places: Vec<JsonPlace<'r>>,
    help: &'r str,
    seed: Option<u64>,
    schedule: String,
}

#[derive(Serialize)]
struct JsonPlace<'r> {
    rank: u32,
    /// None for a rank's host.
    block: Option<u32>,
    thread: Option<u32>,
    file: &'r str,
    line: usize,
    column: usize,
    what: &'r str,
}

impl<'r> JsonPlace<'r> {
    fn of(at: &'r At) -> Self {
        let (file, line, column) = place(&at.site).unwrap_or((&at.site, 0, 0));
        let block = (!at.task.is_host()).then_some(at.task.block);
        Self { rank: at.task.rank, block, thread: at.task.thread, file, line, column, what: &at.what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_has_three_parts() {
        assert_eq!(place("a:b.mlir:3:14"), Some(("a:b.mlir", 3, 14)));
        assert_eq!(place("unknown"), None);
    }
}
