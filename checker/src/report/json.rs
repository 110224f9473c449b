//! The report for programs to read.

use super::{claim, place, severity};
use crate::check::{Found, Report};
use crate::finding::At;
use serde::Serialize;
use std::io::{self, Write};

/// Writes the report for programs to read.
///
/// # Errors
/// Those of writing.
pub fn json(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let allowed = report.allowed.iter().map(|(found, allowed)| JsonAllowed {
        finding: JsonFinding::of(found),
        reason: &allowed.reason,
        stands: &allowed.stands,
    });
    let whole = JsonReport {
        findings: report.found.iter().map(JsonFinding::of).collect(),
        allowed: allowed.collect(),
        unused: &report.unused,
        executions: report.executions,
        given_up: report.given_up,
        unfinished: report.unfinished.iter().map(JsonPlace::of).collect(),
        crashed: report.has_crashed,
        left_early: report.left_early,
        limit: report.limit,
        forgotten: report.has_forgotten,
        not_shortest: report.not_shortest,
        left_out: report.left_out,
        repairs: &report.repairs,
        remarks: &report.remarks,
        exhausted: report.is_exhausted,
        claim: claim(report),
    };
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    writeln!(out)
}

#[derive(Serialize)]
struct JsonReport<'r> {
    findings: Vec<JsonFinding<'r>>,
    allowed: Vec<JsonAllowed<'r>>,
    unused: &'r [String],
    executions: usize,
    given_up: usize,
    /// Where the tasks were of the first of these.
    unfinished: Vec<JsonPlace<'r>>,
    crashed: bool,
    left_early: usize,
    /// Where the search for all executions has ended before it had them.
    limit: Option<usize>,
    /// Whether it has left out reads of values that were not kept.
    forgotten: bool,
    /// Schedules that may have more switches than they need.
    not_shortest: usize,
    left_out: usize,
    repairs: &'r [String],
    remarks: &'r [String],
    exhausted: bool,
    claim: &'static str,
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
struct JsonAllowed<'r> {
    #[serde(flatten)]
    finding: JsonFinding<'r>,
    reason: &'r str,
    /// The line that allows it.
    stands: &'r str,
}

impl<'r> JsonFinding<'r> {
    fn of(found: &'r Found) -> Self {
        Self {
            kind: found.finding.kind.name(),
            rule: found.finding.kind.rule(),
            severity: severity(found),
            places: found.finding.at.iter().map(JsonPlace::of).collect(),
            help: &found.finding.help,
            seed: found.seed,
            schedule: found.schedule.to_string(),
        }
    }
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
