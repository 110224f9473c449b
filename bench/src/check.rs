//! `check`: programs under symm-check against the same under symm-run, each as a process of its own.

use crate::machine::{InWords as _, Machine};
use crate::samples::Samples;
use crate::table::{TextTable, number, ratio};
use crate::{Effort, keep, memory, root};
use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A program, and its arguments.
struct Case {
    name: &'static str,
    file: &'static str,
    /// What both tools are given, and what symm-check alone is.
    arguments: &'static [&'static str],
    checks: &'static [&'static str],
    /// What both are given for the same program without accesses.
    empty: &'static [&'static str],
    /// Bytes that it allocates in the heaps of all ranks.
    heap: u64,
    aim: &'static str,
}

const MIB: u64 = 1 << 20;
/// Two starts differ by some milliseconds: a plain run that takes less says nothing without them.
const LEAST_SECONDS: f64 = 0.01;
const STEPS: &[&str] = &["--steps", "100000000"];

const CASES: &[Case] = &[
    Case {
        name: "10⁶ accesses, 2 ranks × 2 threads",
        file: "bench/programs/accesses.mlir",
        arguments: &["--ranks", "2", "--arg", "rounds=125000"],
        checks: STEPS,
        empty: &["--ranks", "2", "--arg", "rounds=0"],
        heap: 2 * (32 << 10),
        aim: "50 × the plain run",
    },
    Case {
        name: "ring all-reduce of 1 MiB, 4 ranks",
        file: "bench/programs/ring_all_reduce.mlir",
        arguments: &["--ranks", "4", "--arg", "blocks=128", "--arg", "repeats=1"],
        checks: STEPS,
        empty: &["--ranks", "4", "--arg", "blocks=0", "--arg", "repeats=0"],
        heap: 4 * (MIB + 3 * MIB / 2 + (1 << 10)),
        aim: "10 s",
    },
    Case {
        name: "message passing, 2 ranks × 2 blocks, all schedules",
        file: "examples/message_passing.mlir",
        arguments: &["--ranks", "2", "--arg", "messages=2"],
        checks: &["--threads", "1", "--exhaustive"],
        empty: &["--ranks", "2", "--arg", "messages=0"],
        heap: 2 * (1024 + 3 * 4),
        aim: "1 s",
    },
];

/// What one program took; processor time in seconds, of whole commands.
#[derive(Serialize, Deserialize)]
pub struct Figures {
    name: String,
    aim: String,
    /// Under symm-run, and under symm-check.
    run: Samples,
    check: Samples,
    /// The same without accesses.
    run_empty: Samples,
    check_empty: Samples,
    /// The most memory that symm-check had at once, and without accesses.
    peak: u64,
    peak_empty: u64,
    heap: u64,
}

pub fn run(effort: Effort) -> Result<()> {
    let machine = Machine::here();
    println!("check: programs under symm-check and under symm-run\n{}\n", machine.line());
    let figures = CASES.iter().map(|case| case.measure(effort).context(case.name)).collect::<Result<Vec<_>>>()?;
    for (title, table) in tables(&figures) {
        println!("{title}\n\n{}", table.text());
    }
    keep("check", effort, machine, figures)
}

impl Case {
    fn measure(&self, effort: Effort) -> Result<Figures> {
        eprintln!("{} …", self.name);
        let (mut run, mut check, mut run_empty, mut check_empty) = <[Samples; 4]>::default().into();
        let (mut peak, mut peak_empty) = (0, 0);
        for _ in 0..effort.pick(7, 1) {
            // A quick run has no accesses: they take seconds.
            let arguments = effort.pick(self.arguments, self.empty);
            run.0.push(self.command("symm-run", arguments, &[])?.seconds);
            run_empty.0.push(self.command("symm-run", self.empty, &[])?.seconds);
            let used = self.command("symm-check", arguments, self.checks)?;
            check.0.push(used.seconds);
            peak = peak.max(used.peak);
            let used = self.command("symm-check", self.empty, self.checks)?;
            check_empty.0.push(used.seconds);
            peak_empty = peak_empty.max(used.peak);
        }
        let (name, aim) = (self.name.into(), self.aim.into());
        Ok(Figures { name, aim, run, check, run_empty, check_empty, peak, peak_empty, heap: self.heap })
    }

    fn command(&self, tool: &str, arguments: &[&str], more: &[&str]) -> Result<memory::Usage> {
        let path = std::env::current_exe()?.with_file_name(tool);
        ensure!(path.exists(), "{} is missing: ./x bench builds it", path.display());
        let mut command = memory::command(Path::new(&path).as_os_str())?;
        command.arg(root()?.join(self.file)).args(arguments).args(more);
        memory::usage(command)
    }
}

/// What the figures say.
pub fn tables(figures: &[Figures]) -> Vec<(&'static str, TextTable)> {
    let mut time =
        TextTable::new(&["processor time, s", "symm-run", "symm-check", "ratio", "without start: ratio", "aim"]);
    let mut memory =
        TextTable::new(&["memory, MiB", "heaps", "symm-check", "its start", "growth", "growth / heaps", "aim"]);
    #[allow(clippy::cast_precision_loss, reason = "sizes of memory")]
    let mib = |bytes: u64| bytes as f64 / MIB as f64;
    for each in figures {
        let (run, check) = (each.run.median(), each.check.median());
        let plain = run - each.run_empty.median();
        let net = if plain < LEAST_SECONDS { f64::NAN } else { (check - each.check_empty.median()) / plain };
        let net = ratio(net);
        time.row([each.name.clone(), number(run), number(check), ratio(check / run), net, each.aim.clone()]);
        let growth = each.peak.saturating_sub(each.peak_empty);
        // In a few KiB of heaps everything else counts.
        let (of_heaps, aim) = if each.heap < MIB {
            (f64::NAN, String::new())
        } else {
            (mib(growth) / mib(each.heap), "10 × the heaps".into())
        };
        let cells = [each.heap, each.peak, each.peak_empty, growth].map(mib).map(number);
        memory.row(std::iter::once(each.name.clone()).chain(cells).chain([ratio(of_heaps), aim]));
    }
    vec![("Time of whole commands", time), ("Memory", memory)]
}
