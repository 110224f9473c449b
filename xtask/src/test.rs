//! `./x test`: builds everything, runs every test, and ends with the line `N passed, N failed`.

use crate::{check, contributing, fuzz, lit, python, run, tools};
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::ops::AddAssign;
use std::process::Stdio;
use std::time::Instant;

/// How many tests passed and failed.
#[derive(Default)]
pub struct Tally {
    pub passed: usize,
    pub failed: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// The inputs of the short fuzz run.
const FUZZ_INPUTS: &str = "2000";

type Stage = (&'static str, fn() -> Result<Tally>);

const STAGES: &[Stage] = &[
    ("Rust tests", rust_tests),
    // The input of every symm-opt also goes through text and bytecode; what the passes then run on is the original.
    ("lit: dialect and passes", || {
        let mut command = lit::command(lit::DIALECT)?;
        command.env("SYMM_ROUNDTRIP", "1");
        lit::count(command)
    }),
    ("lit: programs", || lit::count(lit::command(lit::PROGRAMS)?)),
    ("CONTRIBUTING's examples", contributing::run),
    // Not all of the compile matrix, which takes a quarter of an hour of two cores: ./x python --all.
    ("Python", || python::test(&["--cover".into()])),
    ("fuzz", || {
        fuzz::run(&fuzz::Arguments::short(FUZZ_INPUTS))?;
        Ok(Tally::default())
    }),
    ("check", || {
        check::run()?;
        Ok(Tally::default())
    }),
];

pub fn run() -> Result<()> {
    let mut total = Tally::default();
    let mut times = Vec::new();
    let mut stage = |(name, body): Stage| {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = body();
        times.push((name, start.elapsed()));
        let ok = outcome.is_ok();
        match outcome {
            Ok(tally) => total += tally,
            // A stage that breaks down has no tests to count: it counts as one.
            Err(error) => {
                eprintln!("{name}: {error:#}");
                total.failed += 1;
            }
        }
        ok
    };
    // Without a build nothing else can be tested.
    if stage(("build", build)) {
        for each in STAGES {
            stage(*each);
        }
    }
    println!();
    for (name, time) in times {
        println!("{:>7.1} s  {name}", time.as_secs_f64());
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    if total.failed > 0 {
        bail!("tests failed");
    }
    Ok(())
}

fn build() -> Result<Tally> {
    tools::build_all()?;
    Ok(Tally::default())
}

fn rust_tests() -> Result<Tally> {
    let mut command = run::cargo();
    command.args(["test", "--release", "--no-fail-fast"]);
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| run::line(&command))?;
    let mut tally = Tally::default();
    for line in BufReader::new(child.stdout.take().context("stdout is piped")?).lines() {
        let line = line?;
        println!("{line}");
        if let Some((passed, failed)) = counts(&line) {
            tally.passed += passed;
            tally.failed += failed;
        }
    }
    let status = child.wait()?;
    if tally.failed == 0 && !status.success() {
        bail!("{status}: {}", run::line(&command));
    }
    Ok(tally)
}

/// The counts in `test result: ok. 3 passed; 0 failed; …`.
fn counts(line: &str) -> Option<(usize, usize)> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut numbers = counts.split("; ").map_while(|part| part.split_once(' ')?.0.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn counts_are_read_from_the_summary_alone() {
        let line = "test result: FAILED. 3 passed; 12 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s";
        assert_eq!(counts(line), Some((3, 12)));
        assert_eq!(counts("test pool::drops ... ok"), None);
    }
}
