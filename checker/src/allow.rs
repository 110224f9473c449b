//! Findings that are allowed: a file says where, of which kind, and why.

use crate::check::{Found, Report};
use crate::finding::Kind;
use std::sync::Arc;

/// What a file allows.
#[derive(Debug, Clone, Default)]
pub struct Allowances(Vec<Allowance>);

/// A line of it.
#[derive(Debug, Clone)]
struct Allowance {
    /// `FILE:LINE` of the line itself.
    stands: String,
    place: String,
    kind: Kind,
    reason: Arc<str>,
}

/// Why a finding is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    /// The reason.
    pub reason: Arc<str>,
    /// `FILE:LINE` of the line that says so.
    pub stands: String,
}

/// A line that allows nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{stands}: {what}")]
pub struct BadAllowance {
    stands: String,
    what: String,
}

impl Allowances {
    /// The lines of the file of this name: `PLACE KIND REASON`. Empty lines, and those that begin with `#`, say
    /// nothing.
    /// A place is `FILE`, `FILE:LINE` or `FILE:LINE:COLUMN`, or the end of one from a `/` on; `*` in it is any text.
    ///
    /// # Errors
    /// The first line that is not an allowance.
    pub fn read(name: &str, text: &str) -> Result<Self, BadAllowance> {
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let said = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        said.map(|(number, line)| Allowance::read(format!("{name}:{number}"), line)).collect::<Result<_, _>>().map(Self)
    }

    /// Moves what is allowed to where a report has it, and says which lines allow nothing that was found.
    pub fn apply(&self, report: &mut Report) {
        let mut is_used = vec![false; self.0.len()];
        for found in std::mem::take(&mut report.found) {
            let fits: Vec<_> = (0..self.0.len()).filter(|&nth| self.0[nth].allows(&found)).collect();
            for &nth in &fits {
                is_used[nth] = true;
            }
            match fits.first().map(|&nth| &self.0[nth]) {
                Some(by) => report.allowed.push((found, by.allowed())),
                None => report.found.push(found),
            }
        }
        let unused = self.0.iter().zip(is_used).filter(|(_, is_used)| !is_used);
        report.unused = unused.map(|(each, _)| format!("{}: allows nothing that was found", each.stands)).collect();
    }
}

impl Allowance {
    fn read(stands: String, line: &str) -> Result<Self, BadAllowance> {
        let (place, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let (kind, reason) = rest.trim_start().split_once(char::is_whitespace).unwrap_or((rest.trim_start(), ""));
        let bad = |what: String| Err(BadAllowance { stands: stands.clone(), what });
        if kind.is_empty() {
            return bad("write PLACE KIND REASON, as in 'ring.mlir:30 race the sum does not need it'".into());
        }
        let Some(kind) = Kind::ALL.into_iter().find(|each| each.name() == kind) else {
            let all = Kind::ALL.map(Kind::name).join(", ");
            return bad(format!("'{kind}' is not a kind of finding; they are {all}"));
        };
        if reason.trim().is_empty() {
            return bad(format!("the reason is missing: write after '{kind}' why this is allowed"));
        }
        Ok(Self { stands, place: place.into(), kind, reason: reason.trim().into() })
    }

    /// Whether it is of a finding's kind and of one of its places.
    fn allows(&self, found: &Found) -> bool {
        let finding = &found.finding;
        finding.kind == self.kind && finding.at.iter().any(|at| is_at(&self.place, &at.site))
    }

    fn allowed(&self) -> Allowed {
        Allowed { reason: Arc::clone(&self.reason), stands: self.stands.clone() }
    }
}

/// Whether a place is the one that is meant: all of it, or its end from a folder on; without the line or column, if the
/// pattern has none.
fn is_at(pattern: &str, site: &str) -> bool {
    let cut = |text: &str| {
        text.rsplit_once(':').filter(|(_, number)| number.parse::<u32>().is_ok()).map(|(file, _)| file.len())
    };
    let line = cut(site);
    let file = line.and_then(|line| cut(&site[..line]));
    let ends = [Some(site.len()), line, file].into_iter().flatten();
    let starts = || std::iter::once(0).chain(site.match_indices('/').map(|(at, _)| at + 1));
    ends.into_iter()
        .any(|end| starts().take_while(|&start| start < end).any(|start| matches(pattern, &site[start..end])))
}

/// Whether a text is a pattern's, in which `*` is any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    let Some((middle, tail)) = rest.rsplit_once('*') else { return text.ends_with(rest) };
    let Some(inner) = text.strip_suffix(tail) else { return false };
    text = inner;
    for part in middle.split('*') {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_its_end_from_a_folder_on() {
        let site = "/a/b/ring.mlir:30:7";
        for pattern in
            ["ring.mlir", "ring.mlir:30", "ring.mlir:30:7", "b/ring.mlir:30", "*.mlir:30", "/a/*/r*g.mlir", "*"]
        {
            assert!(is_at(pattern, site), "{pattern}");
        }
        for pattern in ["ing.mlir", "ring.mlir:3", "ring.mlir:30:", "ring.mlir:7", "b", "*.py", "a*a*a", ""] {
            assert!(!is_at(pattern, site), "{pattern}");
        }
        assert!(matches("a*b*c", "abc") && !matches("ab*bc", "abc") && !matches("a*bb*c", "abc"));
    }

    #[test]
    fn a_line_says_where_what_and_why() {
        let read = |text: &str| Allowances::read("f", text).map(|all| all.0.len()).map_err(|error| error.to_string());
        assert_eq!(read("# why\n\n a.mlir:3\trace   it is a hint \n*  never-waited of an older version"), Ok(2));
        let first = |text: &str| read(text).unwrap_err();
        assert!(first("\na.mlir").starts_with("f:2: write PLACE KIND REASON"));
        assert!(first("a.mlir rcae why").starts_with("f:1: 'rcae' is not a kind of finding; they are race, "));
        assert!(first("a.mlir race  ").starts_with("f:1: the reason is missing"));
    }
}
