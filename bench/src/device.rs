//! `device`: kernels on GPUs against the same by hand, the copy engine and NCCL.
//!
//! What is measured here is in Python (`bench/device/measure.py`): it runs on machines that have GPUs and no build.

use crate::machine::Host;
use crate::samples::Samples;
use crate::table::{TextTable, number, ratio};
use crate::{Effort, cpu, kept, root, target};
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::process::Command;

#[derive(Deserialize)]
pub struct Figures {
    pub copies: Vec<Point>,
    pub others: Vec<Others>,
    latency: Vec<Latency>,
}

/// Samples of each competitor.
type Runs = BTreeMap<String, Samples>;

/// Bulk copies by kernels: GB/s in one direction.
#[derive(Deserialize)]
pub struct Point {
    pub op: String,
    pub blocks: u32,
    pub bytes: u64,
    pub both: bool,
    pub runs: Runs,
}

/// Copies by the copy engine and NCCL: GB/s in one direction.
#[derive(Deserialize)]
pub struct Others {
    pub bytes: u64,
    pub both: bool,
    pub runs: Runs,
}

/// Seconds for one message, barrier or launch.
#[derive(Deserialize)]
struct Latency {
    group: String,
    title: String,
    runs: Runs,
}

impl Point {
    /// The best median of symm's kernels, or of those by hand.
    pub fn best(&self, ours: bool) -> f64 {
        let runs = self.runs.iter().filter(|(name, _)| is_ours(name) == ours);
        runs.map(|(_, samples)| samples.median()).fold(f64::NAN, f64::max)
    }
}

fn is_ours(name: &str) -> bool {
    name.starts_with("symm") || name == "with a context"
}

pub fn run(effort: Effort) -> Result<()> {
    let target = target()?;
    let figures = target.join("device.json");
    let program = root()?.join("bench/programs/device.mlir");
    let text = std::fs::read_to_string(&program).with_context(|| program.display().to_string())?;
    let mut measure = Command::new("python3");
    measure.arg("-B").arg(root()?.join("bench/device/measure.py"));
    for ranks in [2, 4] {
        let (source, ptx) = (target.join(format!("device-{ranks}.mlir")), target.join(format!("device-{ranks}.ptx")));
        let text = text.replace("symm.num_ranks = 2 : i32", &format!("symm.num_ranks = {ranks} : i32"));
        std::fs::write(&source, text).with_context(|| source.display().to_string())?;
        let mut translate = Command::new(target.join("../release/symm-translate"));
        translate.arg(&source).args(["--to", "ptx", "--chip", "sm_90", "-o"]).arg(&ptx);
        let status = translate.status().context("cannot run symm-translate")?;
        ensure!(status.success(), "symm-translate: {status}");
        measure.arg(ptx);
    }
    measure.arg("-o").arg(&figures);
    measure.args(effort.pick(&[][..], &["--quick"][..]));
    let status = measure.status().context("cannot run python3")?;
    ensure!(
        status.success(),
        "{status}: this needs CuPy and two GPUs; elsewhere, carry target/bench/device-*.ptx and bench/device there"
    );
    let raw = kept::<Figures, Host>("device")?.context("measure.py has left no figures")?;
    for (title, table) in tables(&raw.figures) {
        println!("{title}\n\n{}", table.text());
    }
    Ok(())
}

/// What the figures say.
pub fn tables(figures: &Figures) -> Vec<(&'static str, TextTable)> {
    vec![
        ("Bulk put, one way: symm in GB/s, and its ratio to the best by hand", copies(figures, "put", false)),
        ("Bulk get, one way", copies(figures, "get", false)),
        ("Bulk put, both ways at once, GB/s of each", copies(figures, "put", true)),
        ("Bulk get, both ways at once", copies(figures, "get", true)),
        ("The copy engine and NCCL, GB/s of each way", others(figures)),
        ("Latency", latency(figures)),
    ]
}

fn copies(figures: &Figures, op: &str, both: bool) -> TextTable {
    let points = || figures.copies.iter().filter(|point| point.op == op && point.both == both);
    let mut blocks: Vec<_> = points().map(|point| point.blocks).collect();
    let mut sizes: Vec<_> = points().map(|point| point.bytes).collect();
    blocks.sort_unstable();
    blocks.dedup();
    sizes.sort_unstable();
    sizes.dedup();
    let titles: Vec<_> =
        std::iter::once("blocks".to_owned()).chain(sizes.iter().copied().map(cpu::put::bytes)).collect();
    let mut table = TextTable::new(&titles.iter().map(String::as_str).collect::<Vec<_>>());
    for count in blocks {
        let cell = |size: &u64| {
            let point = points().find(|point| point.blocks == count && point.bytes == *size);
            point.map_or_else(String::new, |point| {
                let (ours, theirs) = (point.best(true), point.best(false));
                format!("{} ({})", number(ours), ratio(ours / theirs))
            })
        };
        table.row(std::iter::once(count.to_string()).chain(sizes.iter().map(cell)));
    }
    table
}

fn others(figures: &Figures) -> TextTable {
    let mut table = TextTable::new(&["size", "copy engine", "both ways", "NCCL", "both ways"]);
    for one_way in figures.others.iter().filter(|others| !others.both) {
        let both = figures.others.iter().find(|others| others.both && others.bytes == one_way.bytes);
        let cell = |others: Option<&Others>, name| {
            number(others.and_then(|others| others.runs.get(name)).map_or(f64::NAN, Samples::median))
        };
        let pair = |name| [cell(Some(one_way), name), cell(both, name)];
        let cells = [pair("copy engine"), pair("NCCL send/recv")].concat();
        table.row(std::iter::once(cpu::put::bytes(one_way.bytes)).chain(cells));
    }
    table
}

fn latency(figures: &Figures) -> TextTable {
    let mut table = TextTable::new(&["µs", "symm", "by hand", "ratio"]);
    for row in &figures.latency {
        let median = |ours| {
            let runs = row.runs.iter().filter(|(name, _)| is_ours(name) == ours);
            runs.map(|(_, samples)| samples.median()).fold(f64::NAN, f64::min)
        };
        let (ours, theirs) = (median(true), median(false));
        let cells = [format!("{:.3}", ours * 1e6), format!("{:.3}", theirs * 1e6), format!("{:.3}", ours / theirs)];
        table.row(std::iter::once(format!("{}, {}", row.group, row.title)).chain(cells));
    }
    table
}
