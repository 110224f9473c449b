//! What went wrong, sorted by cause, and where the inputs that show it are kept.

use crate::known;
use crate::signals::CRASH;
use crate::symbols::Symbols;
use crate::worker::{Answer, Death};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A cause, and what is said about one input that shows it.
#[derive(Clone)]
pub struct Finding {
    /// The same for every input with the same cause.
    pub signature: String,
    /// The whole story.
    pub details: String,
    /// The functions that were active, innermost first, if a process died.
    pub frames: Vec<String>,
}

impl Finding {
    /// What an answer tells, if something is wrong.
    pub fn of(answer: &Answer, symbols: &Symbols) -> Option<Self> {
        if let Some(death) = &answer.death {
            return Some(Self::death(death, symbols));
        }
        let wrong = answer.report.finding.as_ref()?;
        let signature = format!("{}: {}", wrong.stage, wrong.what);
        Some(Self { details: format!("{signature}\n{}", wrong.details), signature, frames: Vec::new() })
    }

    /// How a process died: its last words, if it had any.
    fn death(death: &Death, symbols: &Symbols) -> Self {
        let Death { line, status, errors } = death;
        let words: Vec<&str> = line.split(' ').collect();
        let [CRASH, signal, overflow, stage, addresses @ ..] = words.as_slice() else {
            let signature = format!("died: {status}");
            return Self { details: format!("{signature}\n{errors}"), signature, frames: Vec::new() };
        };
        let frames: Vec<String> = addresses
            .iter()
            .filter_map(|address| symbols.name(u64::from_str_radix(address, 16).ok()?.saturating_sub(1)))
            .filter(|name| !name.starts_with("symm_fuzz::signals"))
            .collect();
        let kind = match (*signal, *overflow) {
            (_, "true") => "stack overflow",
            ("6", _) if errors.contains("out of memory") || errors.contains("bad_alloc") => "out of memory",
            ("6", _) => "abort",
            ("14" | "27", _) => "hang",
            ("11", _) => "segmentation fault",
            (signal, _) => signal,
        };
        let stage = stage.replace('_', " ");
        let place = if matches!(kind, "stack overflow" | "hang") { busiest(&frames) } else { innermost(&frames) };
        let signature = format!("{stage}: {kind} in {place}");
        let details = format!("{signature}\n{errors}\n{}", frames.join("\n"));
        Self { signature, details, frames }
    }
}

/// Containers and streams: whoever calls them is to blame.
const BLAMELESS: &[&str] = &[
    "llvm::Small",
    "llvm::Dense",
    "llvm::String",
    "llvm::raw_",
    "llvm::report_",
    "llvm::hash",
    "llvm::Array",
    "llvm::detail",
    "std::",
    "core::",
    "alloc::",
    "operator ",
    "llvm::sys",
    "__",
    "llvm::bad",
    "rust_panic",
    "_R",
    "llvm::install",
    "llvm::safe",
];

fn innermost(frames: &[String]) -> &str {
    let blamed = frames.iter().find(|name| !BLAMELESS.iter().any(|start| name.starts_with(start)));
    blamed.or(frames.first()).map_or("an unknown place", String::as_str)
}

/// The function that is there most often: a recursion, or a loop's body.
fn busiest(frames: &[String]) -> &str {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in frames.iter().filter(|name| !BLAMELESS.iter().any(|start| name.starts_with(start))) {
        *counts.entry(name).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map_or("an unknown place", |(name, _)| name)
}

/// The findings of a run.
#[derive(Default)]
pub struct Findings {
    /// By signature: how many inputs show it, and where the first one is.
    causes: BTreeMap<String, (usize, PathBuf)>,
    /// By the place in the list of known ones.
    known: BTreeMap<usize, usize>,
}

impl Findings {
    /// Counts a finding; the first input of each cause is kept in `folder`, with what happened beside it.
    pub fn add(&mut self, finding: &Finding, input: &[u8], extension: &str, folder: &Path) -> anyhow::Result<()> {
        if let Some(index) = known::position(finding) {
            *self.known.entry(index).or_default() += 1;
            return Ok(());
        }
        if let Some((count, _)) = self.causes.get_mut(&finding.signature) {
            *count += 1;
            return Ok(());
        }
        std::fs::create_dir_all(folder)?;
        let name: String = finding.signature.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let name = format!("{}-{:08x}", name.chars().take(80).collect::<String>(), crate::random::hash(input) >> 32);
        let path = folder.join(format!("{name}.{extension}"));
        std::fs::write(&path, input)?;
        std::fs::write(folder.join(format!("{name}.txt")), &finding.details)?;
        self.causes.insert(finding.signature.clone(), (1, path));
        Ok(())
    }

    /// How many causes there are that are not known.
    pub fn len(&self) -> usize {
        self.causes.len()
    }

    /// The findings as text.
    pub fn table(&self) -> String {
        let mut text = String::new();
        for (index, count) in &self.known {
            let _ = writeln!(text, "known    {count:>6}  {}", known::KNOWN[*index].what);
        }
        for (signature, (count, path)) in &self.causes {
            let _ = writeln!(text, "FINDING  {count:>6}  {signature}\n                 {}", path.display());
        }
        text
    }
}
