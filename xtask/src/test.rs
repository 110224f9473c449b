//! `./x test`: builds everything, runs every test, and ends with a line `failed: NAME` for each test that failed and
//! the line `N passed, N failed`.

mod cargo;
mod deadline;

use crate::{check, contributing, fuzz, lit, python, run, tools, tree};
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead, BufReader};
use std::ops::AddAssign;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

/// How many tests passed, and which ones failed.
#[derive(Default)]
pub struct Tally {
    pub passed: usize,
    pub failed: Vec<String>,
}

impl Tally {
    /// One failure.
    pub fn failure(name: String) -> Self {
        Self { passed: 0, failed: vec![name] }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
    }
}

/// The inputs of the short fuzz run.
const FUZZ_INPUTS: &str = "2000";

type Stage = (&'static str, fn() -> Result<Tally>);

const STAGES: &[Stage] = &[
    ("Rust tests", cargo::test),
    // The input of every symm-opt also goes through text and bytecode; what the passes then run on is the original.
    ("lit: dialect and passes", || {
        let mut command = lit::command(lit::DIALECT)?;
        command.env("SYMM_ROUNDTRIP", "1");
        lit::count(command)
    }),
    ("lit: programs", || lit::count(lit::command(lit::PROGRAMS)?)),
    // All programs, each in one mode; in all modes: test/nodes.py --bin target/release --long.
    ("nodes", nodes),
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
        let outcome = deadline::stage(body);
        times.push((name, start.elapsed()));
        let ok = outcome.is_ok();
        match outcome {
            Ok(tally) => total += tally,
            // A stage that breaks down has no tests to count: it counts as one.
            Err(error) => {
                let error = format!("{name}: {error:#}");
                eprintln!("{error}");
                total += Tally::failure(error.lines().next().unwrap_or_default().to_owned());
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
    for name in &total.failed {
        println!("failed: {name}");
    }
    println!("{} passed, {} failed", total.passed, total.failed.len());
    if !total.failed.is_empty() {
        bail!("tests failed");
    }
    Ok(())
}

fn build() -> Result<Tally> {
    // Meanwhile Python's packages come. The stage that needs one says what cannot be installed.
    let packages = thread::spawn(python::install);
    tools::build_all()?;
    let _ = packages.join();
    Ok(Tally::default())
}

/// Programs on ranks that OpenSHMEM reaches.
fn nodes() -> Result<Tally> {
    let mut command = Command::new("python3");
    command.args(["-u", "test/nodes.py", "--bin"]).arg(tree::target().join("release"));
    command.env("PYTHONDONTWRITEBYTECODE", "1").stdout(Stdio::piped());
    let mut child = command.spawn().with_context(|| run::line(&command))?;
    let mut tally = Tally::default();
    // As it comes: a run that does not end shows how far it got.
    for line in BufReader::new(child.stdout.take().context("no output")?).lines() {
        let line = line?;
        println!("{line}");
        if let Some(name) = line.strip_prefix("failed: ") {
            tally.failed.push(name.to_owned());
        }
        tally.passed += line.strip_suffix(" passed").and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
    }
    let status = child.wait()?;
    if tally.failed.is_empty() && !status.success() {
        bail!("{status}: {}", run::line(&command));
    }
    Ok(tally)
}
