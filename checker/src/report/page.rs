//! What a report's page says: fronts fill it, and `html` writes it.

use super::{Front, severity, summary};
use crate::check::{Found, Report};
use crate::picture::Picture;
use serde::{Deserialize, Serialize};

/// A page.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Page {
    /// What was checked.
    pub title: String,
    /// What came of it, in a line.
    pub summary: String,
    /// What was repaired in the program.
    pub repairs: Vec<String>,
    /// What was remarked at ops that are as they were.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// What was found.
    pub findings: Vec<Section>,
    /// What was found and is allowed.
    pub allowed: Vec<Section>,
    /// Allowances of nothing that was found.
    pub unused: Vec<String>,
}

/// A finding.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Section {
    /// Its kind's name.
    pub kind: String,
    /// The rule that it is about, or empty.
    pub rule: String,
    /// `error` or `note`.
    pub severity: String,
    /// Who takes part.
    pub places: Vec<PagePlace>,
    /// What would mend it, or empty.
    pub help: String,
    /// How to see it again: a command.
    pub again: String,
    /// Why it is allowed, or empty.
    pub reason: String,
    /// The execution.
    pub picture: Picture,
}

/// A task at a place.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PagePlace {
    /// The task's name.
    pub who: String,
    /// `FILE:LINE:COLUMN`.
    pub site: String,
    /// The last column, from 1; that of the site, if no other one is known.
    pub end: usize,
    /// What it does there.
    pub what: String,
}

impl Page {
    /// The page of a report; `draw` makes the picture of a finding.
    #[must_use]
    pub fn new(title: &str, report: &Report, front: Front, draw: &dyn Fn(&Found) -> Picture) -> Self {
        let section = |found: &Found, reason: String| Section {
            kind: found.finding.kind.name().into(),
            rule: found.finding.kind.rule().into(),
            severity: severity(found).into(),
            places: found.finding.at.iter().map(PagePlace::of).collect(),
            help: found.finding.help.clone(),
            again: (front.again)(found),
            reason,
            picture: draw(found),
        };
        let trimmed = |texts: &[String]| texts.iter().map(|text| text.trim_end().to_owned()).collect();
        let reason = |allowed: &crate::allow::Allowed| format!("{} ({})", allowed.reason, allowed.stands);
        Self {
            title: title.into(),
            summary: summary(report, front.steps),
            repairs: trimmed(&report.repairs),
            remarks: trimmed(&report.remarks),
            findings: report.found.iter().map(|found| section(found, String::new())).collect(),
            allowed: report.allowed.iter().map(|(found, allowed)| section(found, reason(allowed))).collect(),
            unused: report.unused.clone(),
        }
    }

    /// The page that a front has written as JSON, with texts of its own.
    ///
    /// # Errors
    /// It is not a page.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// The pictures of what was found, and then of what is allowed, as JSON: for a front that writes a page of its own.
#[must_use]
pub fn pictures(report: &Report, draw: &dyn Fn(&Found) -> Picture) -> String {
    let all = report.found.iter().chain(report.allowed.iter().map(|(found, _)| found));
    serde_json::to_string(&all.map(draw).collect::<Vec<_>>()).unwrap_or_default()
}

impl PagePlace {
    fn of(at: &crate::finding::At) -> Self {
        let column = super::place(&at.site).map_or(0, |(_, _, column)| column);
        Self { who: at.task.to_string(), site: at.site.to_string(), end: column, what: at.what.clone() }
    }
}
