//! Keeps the workers busy, replaces those that die, and counts.

use crate::checks::Report;
use crate::findings::{Finding, Findings};
use crate::pools::Pools;
use crate::symbols::Symbols;
use crate::worker::{Answer, Request};
use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What to run.
pub struct Plan {
    /// The tree that holds the corpus.
    pub root: PathBuf,
    /// Where findings go, and what the workers need.
    pub folder: PathBuf,
    /// Fixes every input.
    pub seed: u64,
    /// The number of the first input.
    pub first: u64,
    /// How many inputs.
    pub inputs: u64,
    /// When to stop, whether or not all inputs have been run.
    pub time: Option<Duration>,
    /// How many workers.
    pub jobs: usize,
}

/// How a run went.
#[derive(Default)]
pub struct Tally {
    /// How many inputs have been run.
    pub inputs: u64,
    /// Each stage: how many inputs entered it, and how many got through.
    stages: BTreeMap<String, (u64, u64)>,
    /// Stages in the order in which they were first seen.
    order: Vec<String>,
    /// What went wrong.
    pub findings: Findings,
}

impl Tally {
    fn add(&mut self, report: &Report) {
        for (stage, through) in &report.stages {
            if !self.stages.contains_key(stage) {
                self.order.push(stage.clone());
            }
            let (entered, passed) = self.stages.entry(stage.clone()).or_default();
            *entered += 1;
            *passed += u64::from(*through);
        }
    }

    /// How many inputs were read, as text or as bytecode.
    pub fn parsed(&self) -> u64 {
        ["parse", "read bytecode"].iter().filter_map(|stage| self.stages.get(*stage)).map(|(_, through)| through).sum()
    }

    /// How far inputs came.
    pub fn table(&self) -> String {
        let mut text = format!("{:<52} {:>9} {:>9} {:>7}\n", "stage", "entered", "through", "of all");
        let inputs = self.inputs.max(1);
        for stage in &self.order {
            let (entered, through) = self.stages[stage];
            let (percent, tenth) = (through * 100 / inputs, through * 1000 / inputs % 10);
            let _ = writeln!(text, "{stage:<52} {entered:>9} {through:>9} {percent:>4}.{tenth}%");
        }
        text
    }
}

/// Runs a plan.
pub fn run(plan: &Plan) -> Result<Tally> {
    let scratch = plan.folder.join(format!("run-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    let outcome = run_in(plan, &scratch);
    std::fs::remove_dir_all(&scratch)?;
    outcome
}

fn run_in(plan: &Plan, scratch: &Path) -> Result<Tally> {
    let symbols = Symbols::read()?;
    let seeds = scratch.join("seeds");
    let mut preparer = Worker::start(scratch.join("prepare"))?;
    preparer.ask(&Request::Prepare(plan.root.clone(), seeds.clone())).context("the corpus as it is")?;
    drop(preparer);
    let pools = Pools::read(&seeds)?;
    let words = pools.words();
    println!("{} seeds, seed {}", pools.unmutated(), plan.seed);

    let (next, done) = (AtomicU64::new(plan.first), AtomicBool::new(false));
    let tally = Mutex::new(Tally::default());
    let start = Instant::now();
    let (tally_of, next, words, pools, symbols) = (&tally, &next, &words, &pools, &symbols);
    let (seeds, findings) = (&seeds, plan.folder.join("findings"));
    let work = |index: usize| -> Result<()> {
        let mut worker = Worker::start(scratch.join(format!("worker-{index}")))?;
        worker.ask(&Request::Seeds(seeds.clone()))?;
        let path = scratch.join(format!("input-{index}"));
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let late = plan.time.is_some_and(|time| start.elapsed() > time);
            if number >= plan.first + plan.inputs || late {
                return Ok(());
            }
            let request = Request::Input { seed: plan.seed, number, path: path.clone() };
            let answer: Answer = serde_json::from_str(&worker.ask(&request)?)?;
            let mut tally = tally_of.lock().unwrap_or_else(PoisonError::into_inner);
            tally.inputs += 1;
            tally.add(&answer.report);
            if let Some(mut finding) = Finding::of(&answer, symbols) {
                finding.details = format!("seed {} number {number}\n{}", plan.seed, finding.details);
                let input = pools.input(words, plan.seed, number);
                tally.findings.add(&finding, &input.bytes, input.extension, &findings)?;
            }
        }
    };
    let work = &work;
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..plan.jobs).map(|index| scope.spawn(move || work(index))).collect();
        scope.spawn(|| progress(&tally, plan, start, &done));
        let outcome = handles.into_iter().try_for_each(|handle| handle.join().expect("a worker's thread returns"));
        done.store(true, Ordering::Relaxed);
        outcome
    })?;
    Ok(tally.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn progress(tally: &Mutex<Tally>, plan: &Plan, start: Instant, done: &AtomicBool) {
    let terminal = std::io::stderr().is_terminal();
    let (between, mut last) = (Duration::from_secs(if terminal { 1 } else { 20 }), Instant::now());
    while !done.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
        if last.elapsed() < between {
            continue;
        }
        last = Instant::now();
        let tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        let parsed = tally.parsed();
        let seconds = start.elapsed().as_secs();
        let (before, after) = if terminal { ("\r", "\x1b[K") } else { ("", "\n") };
        eprint!(
            "{before}{} of {} inputs, {parsed} parsed, {} findings, {seconds} s{after}",
            tally.inputs,
            plan.inputs,
            tally.findings.len()
        );
    }
    if terminal {
        eprintln!();
    }
}

/// Runs one file; how far it came, and what is wrong with it.
pub fn replay(path: &Path, folder: &Path) -> Result<(Report, Option<Finding>)> {
    std::fs::create_dir_all(folder)?;
    let scratch = folder.join(format!("replay-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    let mut worker = Worker::start(scratch.join("worker"))?;
    let request = Request::File { path: std::path::absolute(path)?, scratch: scratch.join("input") };
    let answer: Answer = serde_json::from_str(&worker.ask(&request)?)?;
    drop(worker);
    std::fs::remove_dir_all(&scratch)?;
    let finding = Finding::of(&answer, &Symbols::read()?);
    Ok((answer.report, finding))
}

struct Worker {
    child: Child,
    answers: BufReader<ChildStdout>,
    /// What the worker writes to standard error.
    errors: PathBuf,
}

impl Worker {
    fn start(errors: PathBuf) -> Result<Self> {
        let file = File::options().create(true).truncate(true).read(true).write(true).open(&errors)?;
        let mut child = Command::new(std::env::current_exe()?)
            .arg("--worker")
            // glibc overwrites freed memory with this, so that a use after it is seen.
            .env("MALLOC_PERTURB_", "165")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(file)
            .spawn()
            .context("cannot start a worker")?;
        let answers = BufReader::new(child.stdout.take().context("stdout is piped")?);
        Ok(Self { child, answers, errors })
    }

    /// The worker's answer.
    fn ask(&mut self, request: &Request) -> Result<String> {
        let stdin = self.child.stdin.as_mut().context("stdin is piped")?;
        // A worker that is dead says so below.
        let _ = stdin.write_all(format!("{}\n", serde_json::to_string(request)?).as_bytes());
        let mut line = String::new();
        let length = self.answers.read_line(&mut line)?;
        if length == 0 || line.starts_with(crate::signals::CRASH) {
            let errors = std::fs::read(&self.errors)?;
            bail!("a worker ended: {line}{}", String::from_utf8_lossy(&errors));
        }
        Ok(line)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
