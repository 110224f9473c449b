//! `triton`: Triton kernels with symm ops on GPUs against direct pointers, Iris's way, torch, NCCL and CUDA by hand.
//!
//! What is measured here is in Python (`bench/triton/measure.py`): it runs on machines that have GPUs and no build.

use crate::machine::Host;
use crate::plot::{Axis, Chart, Line};
use crate::samples::Samples;
use crate::table::{TextTable, number, ratio};
use crate::{Effort, cpu, kept, root, target};
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::process::Command;

#[derive(Deserialize)]
pub struct Figures {
    copies: Copies,
    gather: Vec<Product>,
    launch: Launch,
}

#[derive(Deserialize)]
struct Copies {
    loops: Vec<Loop>,
    blocks: Vec<Block>,
    engines: Vec<CopyEngine>,
}

/// Samples of each competitor.
type Runs = BTreeMap<String, Samples>;

/// A loop of remote loads or stores: GB/s of each of two GPUs.
#[derive(Deserialize)]
struct Loop {
    #[serde(rename = "type")]
    ty: String,
    op: String,
    programs: u32,
    runs: Runs,
}

/// `get` or `put` of blocks: GB/s of each of two GPUs.
#[derive(Deserialize)]
struct Block {
    op: String,
    programs: u32,
    runs: Runs,
}

/// Copies without a kernel of ours: GB/s of each of two GPUs.
#[derive(Deserialize)]
struct CopyEngine {
    bytes: u64,
    runs: Runs,
}

/// An all-gather and a matrix product: microseconds.
#[derive(Deserialize)]
struct Product {
    m: u64,
    n: u64,
    k: u64,
    runs: Runs,
}

/// What a launch costs the host: microseconds.
#[derive(Deserialize)]
struct Launch {
    launch: Runs,
}

const SYMM: &str = "symm";
const DIRECT: &str = "direct pointer";
const STAGED: &str = "direct pointer, 6 stages";
const IRIS: &str = "Iris's way";

pub fn run(effort: Effort) -> Result<()> {
    let target = target()?;
    let wheels = std::fs::read_dir(target.join("../wheels")).into_iter().flatten().flatten().map(|entry| entry.path());
    let wheel = wheels.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    let mut measure = Command::new("python3");
    measure.arg("-B").arg(root()?.join("bench/triton/measure.py"));
    measure.arg("--wheel").arg(wheel.context("there is no wheel: `./x wheel` builds it")?);
    measure.arg("-o").arg(target.join("triton.json"));
    measure.args(effort.pick(&[][..], &["--quick"][..]));
    let status = measure.status().context("cannot run python3")?;
    ensure!(
        status.success(),
        "{status}: this needs torch, Triton and four GPUs; elsewhere, carry target/wheels/symm-*.whl and bench there"
    );
    let raw = kept::<Figures, Host>("triton")?.context("measure.py has left no figures")?;
    for (title, table) in tables(&raw.figures) {
        println!("{title}\n\n{}", table.text());
    }
    Ok(())
}

/// What the figures say.
pub fn tables(figures: &Figures) -> Vec<(&'static str, TextTable)> {
    let Figures { copies, gather, launch } = figures;
    vec![
        (
            "A loop of loads: symm in GB/s, and its ratios to the direct pointer, to that with 6 stages, to Iris's way",
            loops(copies, "load"),
        ),
        ("A loop of stores", loops(copies, "store")),
        ("Blocks: the best of symm in GB/s, and its ratio to the best by hand", blocks(copies)),
        ("Copies without a kernel, GB/s", engines(copies)),
        ("All-gather and matrix product, µs", products(gather)),
        ("A launch, µs of the host", launches(launch)),
    ]
}

fn median(runs: &Runs, name: &str) -> f64 {
    runs.get(name).map_or(f64::NAN, Samples::median)
}

/// The numbers of programs that there are figures of, as titles.
fn programs(first: &str, points: impl Iterator<Item = u32>) -> (Vec<u32>, TextTable) {
    let mut programs: Vec<_> = points.collect();
    programs.sort_unstable();
    programs.dedup();
    let titles: Vec<_> = std::iter::once(first.to_owned()).chain(programs.iter().map(u32::to_string)).collect();
    (programs, TextTable::new(&titles.iter().map(String::as_str).collect::<Vec<_>>()))
}

fn loops(copies: &Copies, op: &str) -> TextTable {
    let points = || copies.loops.iter().filter(|point| point.op == op);
    let (programs, mut table) = programs("type, programs", points().map(|point| point.programs));
    let mut types: Vec<_> = points().map(|point| &point.ty).collect();
    types.dedup();
    for ty in types {
        let cell = |count: &u32| {
            let point = points().find(|point| point.ty == *ty && point.programs == *count);
            point.map_or_else(String::new, |Loop { runs, .. }| {
                let ours = median(runs, SYMM);
                let ratios = [DIRECT, STAGED, IRIS].map(|theirs| ratio(ours / median(runs, theirs)));
                format!("{} ({})", number(ours), ratios.join(", "))
            })
        };
        table.row(std::iter::once(ty.clone()).chain(programs.iter().map(cell)));
    }
    table
}

/// The best median of symm's kernels, or of those by hand.
fn best(runs: &Runs, ours: bool) -> f64 {
    let runs = runs.iter().filter(|(name, _)| name.starts_with(SYMM) == ours);
    runs.map(|(_, samples)| samples.median()).fold(f64::NAN, f64::max)
}

fn blocks(copies: &Copies) -> TextTable {
    let (programs, mut table) = programs("op, programs", copies.blocks.iter().map(|point| point.programs));
    for op in ["get", "put"] {
        let cell = |count: &u32| {
            let point = copies.blocks.iter().find(|point| point.op == op && point.programs == *count);
            point.map_or_else(String::new, |Block { runs, .. }| {
                let (ours, theirs) = (best(runs, true), best(runs, false));
                format!("{} ({})", number(ours), ratio(ours / theirs))
            })
        };
        table.row(std::iter::once(op.to_owned()).chain(programs.iter().map(cell)));
    }
    table
}

fn engines(copies: &Copies) -> TextTable {
    let names: Vec<_> = copies.engines.iter().flat_map(|engine| engine.runs.keys()).map(String::as_str).collect();
    let names = &names[..copies.engines.first().map_or(0, |engine| engine.runs.len())];
    let mut table = TextTable::new(&[&["size"], names].concat());
    for CopyEngine { bytes, runs } in &copies.engines {
        let cells = names.iter().map(|name| number(median(runs, name)));
        table.row(std::iter::once(cpu::put::bytes(*bytes)).chain(cells));
    }
    table
}

fn products(gather: &[Product]) -> TextTable {
    let mut table = TextTable::new(
        &std::iter::once("µs".to_owned())
            .chain(gather.iter().map(|Product { m, n, k, .. }| format!("{m} × {n} × {k}")))
            .collect::<Vec<_>>()
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    );
    let names = gather.first().map(|product| product.runs.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    for name in names {
        let cells = gather.iter().map(|product| number(median(&product.runs, &name)));
        table.row(std::iter::once(name.clone()).chain(cells));
    }
    table
}

fn launches(launch: &Launch) -> TextTable {
    let mut table = TextTable::new(&["kernel", "median", "half lie within ±"]);
    for (name, samples) in &launch.launch {
        table.row([name.clone(), number(samples.median()), format!("{:.0} %", samples.spread() * 100.0)]);
    }
    table
}

/// Bandwidth over the number of programs, float16 in the loops; names of files with their charts.
pub fn charts(figures: &Figures) -> Vec<(&'static str, Chart<'static>)> {
    let Copies { loops, blocks, .. } = &figures.copies;
    let in_loops = |op: &str| {
        let points: Vec<_> = loops.iter().filter(|point| point.op == op && point.ty == "float16").collect();
        let line = |name: &str| {
            sorted(name, points.iter().map(|point| (f64::from(point.programs), median(&point.runs, name))))
        };
        vec![line(DIRECT), line(STAGED), line(IRIS), line(SYMM)]
    };
    let of_blocks = || {
        let line = |name: &str, op: &str, ours| {
            let points = blocks.iter().filter(|point| point.op == op);
            sorted(name, points.map(|point| (f64::from(point.programs), best(&point.runs, ours))))
        };
        vec![
            line("reads by hand, the best", "get", false),
            line("writes by hand, the best", "put", false),
            line("symm.get", "get", true),
            line("symm.put", "put", true),
        ]
    };
    let chart = |title, lines| Chart {
        title,
        x: Axis { title: "programs", base: Some(2.0), label: |programs| format!("{programs:.0}") },
        y: Axis { title: "GB/s", base: None, label: |rate| format!("{rate:.0}") },
        lines,
    };
    vec![
        ("triton_load.svg", chart("A loop of remote loads between two GPUs, float16", in_loops("load"))),
        ("triton_store.svg", chart("A loop of remote stores between two GPUs, float16", in_loops("store"))),
        ("triton_blocks.svg", chart("get and put of blocks between two GPUs", of_blocks())),
    ]
}

fn sorted(name: &str, points: impl Iterator<Item = (f64, f64)>) -> Line {
    let mut points: Vec<_> = points.collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    Line { name: name.to_owned(), ours: name.starts_with(SYMM), points }
}
