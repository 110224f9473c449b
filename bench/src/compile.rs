//! `compile`: the symm passes against `mlir-opt --canonicalize --cse`, on modules of the same number of ops.
//!
//! The passes of both run in this process under MLIR's pass manager, with the verifier between them, on clones of
//! modules that were parsed before; one thread does it all. The tools, symm-opt and the distribution's mlir-opt, run
//! the same passes on the same files: their `--mlir-timing` cross-checks the times, and they tell the peak of memory.

mod modules;
mod tools;

use crate::machine::Machine;
use crate::samples::Samples;
use crate::table::{Table, number, ratio};
use crate::{Effort, keep};
use anyhow::{Context as _, Result};
use melior::ir::Module;
use melior::pass::PassManager;
use modules::Source;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use symm_codegen::Frontend;

/// The passes that check and improve a program; lowering comes after them.
pub const SYMM: &str = "symm-check-ranks,symm-check-host-access,symm-check-memory-order,symm-hoist-translation";
/// What they are compared with.
pub const UPSTREAM: &str = "canonicalize,cse";

/// A pipeline on one of the two kinds of modules.
struct Competitor {
    name: &'static str,
    source: Source,
    pipeline: &'static str,
}

const fn competitor(name: &'static str, source: Source, pipeline: &'static str) -> Competitor {
    Competitor { name, source, pipeline }
}

/// The first is ours, the second what it is compared with.
const COMPETITORS: &[Competitor] = &[
    competitor("symm passes", Source::Symm, SYMM),
    competitor("canonicalize, cse", Source::Upstream, UPSTREAM),
    competitor("canonicalize, cse on symm ops", Source::Symm, UPSTREAM),
    competitor("symm-check-ranks", Source::Symm, "symm-check-ranks"),
    competitor("symm-check-host-access", Source::Symm, "symm-check-host-access"),
    competitor("symm-check-memory-order", Source::Symm, "symm-check-memory-order"),
    competitor("symm-hoist-translation", Source::Symm, "symm-hoist-translation"),
    competitor("symm-lower-to-cpu", Source::Symm, "symm-lower-to-cpu"),
];

/// What was measured on modules of one size.
#[derive(Serialize, Deserialize)]
pub struct Size {
    pub asked: usize,
    pub modules: Vec<Shape>,
    pub runs: Vec<Run>,
    pub tools: Vec<tools::Tool>,
}

/// A module.
#[derive(Serialize, Deserialize)]
pub struct Shape {
    pub source: Source,
    pub ops: usize,
    pub text_bytes: u64,
    pub parse: f64,
    pub print: f64,
}

/// A pipeline's times.
#[derive(Serialize, Deserialize)]
pub struct Run {
    pub name: String,
    pub source: Source,
    pub times: Samples,
}

impl Size {
    pub fn ops(&self, source: Source) -> f64 {
        let shape = self.modules.iter().find(|shape| shape.source == source);
        #[allow(clippy::cast_precision_loss, reason = "far fewer ops than a float can count")]
        shape.map_or(f64::NAN, |shape| shape.ops as f64)
    }

    /// Nanoseconds per op.
    pub fn per_op(&self, name: &str) -> f64 {
        let run = self.runs.iter().find(|run| run.name == name);
        run.map_or(f64::NAN, |run| run.times.median() * 1e9 / self.ops(run.source))
    }
}

pub fn run(effort: Effort) -> Result<()> {
    let sizes: &[usize] = effort.pick(&[1_000, 10_000, 100_000, 1_000_000], &[1_000, 3_000]);
    let machine = Machine::here();
    println!("compile: {SYMM}\n     vs. {UPSTREAM}\n{}\n", machine.line());
    let mut figures = Vec::new();
    for &size in sizes {
        figures.push(measure(size, effort)?);
    }
    println!();
    for (title, table) in tables(&figures) {
        println!("{title}\n\n{}", table.text());
    }
    keep("compile", effort, machine, figures)
}

fn measure(size: usize, effort: Effort) -> Result<Size> {
    eprintln!("{size} ops …");
    let frontend = Frontend::new();
    let mut modules = Vec::new();
    let mut shapes = Vec::new();
    for source in [Source::Symm, Source::Upstream] {
        let path = modules::write(&frontend, source, size)?;
        let start = Instant::now();
        let module = frontend.parse(&path)?;
        let parse = start.elapsed().as_secs_f64();
        let start = Instant::now();
        std::hint::black_box(module.as_operation().to_string());
        let print = start.elapsed().as_secs_f64();
        let (ops, text_bytes) = (modules::count(&module), path.metadata()?.len());
        shapes.push(Shape { source, ops, text_bytes, parse, print });
        modules.push(module);
    }
    let context = symm_dialect::context(modules[0].context());
    let mut managers = Vec::new();
    for competitor in COMPETITORS {
        let manager = PassManager::new(context);
        let text = format!("builtin.module({})", competitor.pipeline);
        melior::utility::parse_pass_pipeline(manager.as_operation_pass_manager(), &text)
            .with_context(|| format!("pipeline {text}"))?;
        managers.push(manager);
    }
    let mut times = vec![Samples::default(); COMPETITORS.len()];
    let (rounds, budget) = effort.pick((5..=31, Duration::from_secs(40)), (1..=1, Duration::ZERO));
    let start = Instant::now();
    // The first round warms up: caches, and what a pass manager prepares when it runs for the first time.
    for round in 0..=*rounds.end() {
        if round > *rounds.start() && start.elapsed() > budget {
            break;
        }
        for (index, (competitor, manager)) in COMPETITORS.iter().zip(&managers).enumerate() {
            let original = &modules[usize::from(competitor.source == Source::Upstream)];
            let copy = (*original.as_operation()).clone();
            let mut copy = Module::from_operation(copy).context("the clone of a module is a module")?;
            let start = Instant::now();
            manager.run(&mut copy).with_context(|| competitor.pipeline)?;
            let time = start.elapsed().as_secs_f64();
            if round > 0 {
                times[index].0.push(time);
            }
        }
    }
    drop(modules);
    let runs = COMPETITORS
        .iter()
        .zip(times)
        .map(|(competitor, times)| Run { name: competitor.name.into(), source: competitor.source, times })
        .collect();
    Ok(Size { asked: size, modules: shapes, runs, tools: tools::measure(size)? })
}

/// What the figures say.
pub fn tables(figures: &[Size]) -> Vec<(&'static str, Table)> {
    let (ours, theirs) = (COMPETITORS[0].name, COMPETITORS[1].name);
    let mut titles = vec!["ns per op".to_owned()];
    titles.extend(figures.iter().map(|size| format!("{} ops", size.asked)));
    titles.push("growth".into());
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let mut times = Table::new(&titles);
    let from = figures.iter().find(|size| size.asked >= 10_000).unwrap_or(&figures[0]);
    let last = figures.last().expect("a run has sizes");
    for competitor in COMPETITORS {
        let mut cells = vec![competitor.name.to_owned()];
        cells.extend(figures.iter().map(|size| number(size.per_op(competitor.name))));
        cells.push(ratio(last.per_op(competitor.name) / from.per_op(competitor.name)));
        times.row(cells);
    }
    let mut cells = vec![format!("**{ours} / {theirs}**")];
    cells.extend(figures.iter().map(|size| ratio(size.per_op(ours) / size.per_op(theirs))));
    cells.push(String::new());
    times.row(cells);
    for (name, part) in [("parse, symm / upstream", true), ("print, symm / upstream", false)] {
        let mut cells = vec![name.to_owned()];
        cells.extend(figures.iter().map(|size| {
            let time = |source| {
                let shape = size.modules.iter().find(|shape| shape.source == source);
                shape.map_or(f64::NAN, |shape| if part { shape.parse } else { shape.print } * 1e9 / size.ops(source))
            };
            format!("{} / {}", number(time(Source::Symm)), number(time(Source::Upstream)))
        }));
        cells.push(String::new());
        times.row(cells);
    }
    vec![("Time", times), ("The tools: time by their own `--mlir-timing`, and peak memory", tools::table(figures))]
}
