//! Reports: as text, with the lines of the source, as JSON, and as a page. Each front says its name and its options.

mod drawing;
mod html;
mod json;
mod page;
mod text;

pub use html::html;
pub use json::json;
pub use page::{Page, PagePlace, Section, pictures};
pub use text::text;

use crate::check::{Found, Report};
use crate::history::KEPT;
use std::collections::HashMap;

/// Whose report it is.
#[derive(Clone, Copy)]
pub struct Front<'f> {
    /// The name that comes before the summary.
    pub name: &'f str,
    /// How the front is told to show a finding again.
    pub again: &'f dyn Fn(&Found) -> String,
    /// The option with the most steps of an execution.
    pub steps: &'f str,
}

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

fn severity(found: &Found) -> &'static str {
    if found.finding.kind.is_note() { "note" } else { "error" }
}

/// What was explored, and what follows from it.
fn summary(report: &Report, steps: &str) -> String {
    let errors = report.found.iter().filter(|found| !found.finding.kind.is_note()).count();
    let notes = report.found.len() - errors;
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let mut said = vec![match (errors, notes) {
        (0, 0) if report.allowed.is_empty() => "nothing found".to_owned(),
        (0, 0) => "nothing else found".to_owned(),
        (0, _) => format!("nothing wrong found, {}", counted(notes, "note")),
        (_, 0) => counted(errors, "error"),
        _ => format!("{}, {}", counted(errors, "error"), counted(notes, "note")),
    }];
    said.push(format!("{} tried{}", counted(report.executions, "execution"), limited(report)));
    if !report.allowed.is_empty() {
        said.push(format!("{} allowed", report.allowed.len()));
    }
    if !report.repairs.is_empty() {
        said.push(format!("{} of what was checked", counted(report.repairs.len(), "repair")));
    }
    if report.given_up > 0 {
        said.push(format!("{} given up after {steps}, and nothing is known of what comes later", report.given_up));
    }
    if report.has_forgotten {
        said.push(format!(
            "a flag had more than {KEPT} values that a read could take, and none older than the newest {KEPT} was tried"
        ));
    }
    if report.has_crashed {
        said.push("none tried after the crash".into());
    }
    if report.not_shortest > 0 {
        said.push(format!("{} not shortened to the end", counted(report.not_shortest, "schedule")));
    }
    if report.left_out > 0 {
        said.push(format!(
            "{} of the schedule not followed: it is another program's",
            counted(report.left_out, "step")
        ));
    }
    said.push(
        if report.is_exhausted { "there are no others that differ" } else { "nothing is known of other schedules" }
            .to_owned(),
    );
    said.join("; ")
}

/// What the report claims, and what it does not.
fn claim(report: &Report) -> &'static str {
    if report.is_exhausted {
        "each error is in a real execution of the model; nothing is said of other ranks, threads or arguments"
    } else {
        "each error is in a real execution of the model; \
         nothing is said of other schedules, ranks, threads or arguments"
    }
}

/// Why a search for all executions has ended before it had them, and what was counted.
fn limited(report: &Report) -> String {
    let (early, Some(limit)) = (report.left_early, report.limit) else { return String::new() };
    let more = match early {
        0 => String::new(),
        1 => ", 1 more left early, because it is equal to another".into(),
        _ => format!(", {early} more left early, because they are equal to others"),
    };
    format!("{more}; --executions {limit} is reached")
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
