//! Checks a program: compiles it in process, runs every thread of every rank under the checker's scheduler, and reports
//! what is wrong in any of the schedules that it tries.

// Unsafe code is allowed by name.
#![deny(unsafe_code)]

mod compile;
mod options;

use anyhow::Context as _;
use clap::Parser;
use options::Options;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use symm_abi::heap::RESERVED_BYTES;
use symm_checker::allow::Allowances;
use symm_checker::check::{Found, check, draw};
use symm_checker::picture::Picture;
use symm_checker::report::{self, Front as Name, Page};
use symm_checker::run::Limits;
use symm_checker_native::{Front, HEAP};
use symm_tool::{Call, closed::has_reader_left, on_large_stack};

/// The most bytes of a heap, which has more addresses than that: nothing is allocated at one twice.
const MOST: u64 = HEAP / 2;
/// Something was found.
const FOUND: u8 = 1;
/// The program could not be checked, or not to its end.
const FAILED: u8 = 2;

/// Runs the tool.
#[must_use]
pub fn main(call: &Call) -> ExitCode {
    let options = Options::parse_from(call.line());
    on_large_stack(|| match run(&options, &call.typed()) {
        Ok(code) => code,
        Err(error) => {
            let error = format!("{error:#}");
            if !has_reader_left(&error) {
                let _ = writeln!(std::io::stderr(), "symm-check: {error}");
            }
            ExitCode::from(FAILED)
        }
    })
}

fn run(options: &Options, tool: &[String]) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(options.heap_size > RESERVED_BYTES, "--heap-size: more than 2 MiB, which symm uses itself");
    anyhow::ensure!(options.heap_size <= MOST, "--heap-size: at most {MOST} bytes");
    let is_input = |path: &Path| path.as_os_str() == "-";
    let allows = options.allow.as_deref();
    anyhow::ensure!(!(allows.is_some_and(is_input) && is_input(&options.file)), "--allow -: the program is there");
    let no_file = "--html -: give a file; the report is on standard output";
    anyhow::ensure!(!options.html.as_deref().is_some_and(is_input), no_file);
    let allowed = allows.map(allowances).transpose()?;
    let (host, remarks) = compile::program(options)?;
    let front = Front::new(host, options.ranks, options.heap_size, options.threads)
        .with_context(|| format!("no addresses for {} heaps of {HEAP} bytes (see ulimit -v)", options.ranks))?;
    let blocks = options.blocks.and_then(|blocks| usize::try_from(blocks).ok()).unwrap_or(usize::MAX);
    let limits = Limits { steps: options.steps, blocks, ..Limits::default() };
    let mut report = check(&front, &options.schedules(), limits);
    let told = remarks.into_iter().filter(|remark| has_run(remark, &front));
    (report.repairs, report.remarks) = told.partition(|remark| is_repair(remark));
    if let Some(allowed) = allowed {
        allowed.apply(&mut report);
    }
    let steps = format!("--steps {}", options.steps);
    let again = |found: &Found| again(options, tool, found);
    let name = Name { name: "symm-check", again: &again, steps: &steps };
    // What was found is said even if the page cannot be written.
    let written = options.html.as_ref().map_or(Ok(()), |path| {
        // After a crash nothing is executed any more.
        let drawn = |found: &Found| {
            if report.has_crashed { Picture::default() } else { draw(&front, found, limits) }
        };
        let page = Page::new(&title(options), &report, name, &drawn);
        fs::write(path, report::html(&page)).with_context(|| format!("--html {}", path.display()))
    });
    let mut out = std::io::stdout().lock();
    if options.json {
        report::json(&mut out, &report)?;
    } else {
        report::text(&mut out, &report, name)?;
    }
    out.flush()?;
    written?;
    if let Some(limit) = front.reached_limit() {
        let _ = writeln!(std::io::stderr(), "symm-check: {limit}");
        return Ok(ExitCode::from(if report.is_clean() { FAILED } else { FOUND }));
    }
    Ok(match (report.is_clean(), report.given_up) {
        (true, 0) => ExitCode::SUCCESS,
        (true, _) => ExitCode::from(FAILED),
        (false, _) => ExitCode::from(FOUND),
    })
}

/// Whether a remark tells of a repair: `symm-check-memory-order` ends with what it has done, other passes change
/// nothing.
fn is_repair(remark: &str) -> bool {
    let said = remark.lines().next().unwrap_or_default();
    ["widened to sys", "made release", "made acquire"].iter().any(|done| said.ends_with(done))
}

/// Whether what was remarked has run: a file may have other kernels. Where it is in a function that was inlined, its
/// place has no single line, and it counts.
fn has_run(remark: &str, front: &Front) -> bool {
    let place = remark.split(": remark: ").next().unwrap_or_default();
    place.starts_with("loc(") || front.has_come_to(place)
}

/// What the page says that it is of.
fn title(options: &Options) -> String {
    let entry = match options.host.entry.as_str() {
        "main" => String::new(),
        other => format!(", @{other}"),
    };
    format!("symm-check: {}{entry} on {} ranks", options.file.display(), options.ranks)
}

fn allowances(path: &Path) -> anyhow::Result<Allowances> {
    let text = if path.as_os_str() == "-" { io::read_to_string(io::stdin()) } else { fs::read_to_string(path) };
    let text = text.with_context(|| format!("--allow {}", path.display()))?;
    Ok(Allowances::read(&path.display().to_string(), &text)?)
}

/// The command that shows a finding again.
fn again(options: &Options, tool: &[String], found: &Found) -> String {
    let schedule = found.schedule.to_string();
    match found.seed {
        Some(seed) if schedule.len() > LONG => options.again(tool, &options.with_seed(seed)),
        _ => options.again(tool, &["--replay".into(), schedule]),
    }
}

/// A schedule of more letters is told by its seed: no shell takes an argument of any length.
const LONG: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use symm_checker::finding::{Finding, Kind};
    use symm_checker::schedule::{Choice, Schedule};

    #[test]
    fn a_long_schedule_is_told_by_its_seed() {
        let options = Options::try_parse_from(["symm-check", "f", "--seed", "1", "--changes", "9"]).unwrap();
        let finding = Finding { kind: Kind::Race, at: Vec::new(), help: String::new() };
        let said = |seed, steps| {
            let mut schedule = Schedule::default();
            (0..steps).for_each(|nth| schedule.push(Choice { task: nth % 2, way: 0 }, 1));
            again(&options, &["symm-check".into()], &Found { finding: finding.clone(), seed, schedule })
        };
        assert_eq!(said(Some(7), 3), "symm-check f --ranks 2 --replay '0 1 0'");
        assert_eq!(said(Some(7), 3000), "symm-check f --ranks 2 --seed 7 --changes 9");
        assert!(said(None, 3000).contains("--replay '0 1 0"));
    }
}
