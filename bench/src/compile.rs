//! `compile`: the symm passes against `mlir-opt --canonicalize --cse`, on modules of the same number of ops.
//!
//! The passes of both run in this process under MLIR's pass manager, with the verifier between them, on clones of
//! modules that were parsed before; one thread does it all, and its processor time is what counts. The tools, symm-opt
//! and the distribution's mlir-opt, run the same passes on the same files: their `--mlir-timing` cross-checks the
//! times, and they tell the peak of memory.

mod modules;
mod tools;

use crate::machine::{InWords as _, Machine};
use crate::samples::{Samples, processor_time};
use crate::table::{Table, number, ratio};
use crate::{Effort, keep};
use anyhow::{Context as _, Result};
use melior::ir::Module;
use melior::pass::PassManager;
use modules::Source;
use serde::{Deserialize, Serialize};
use symm_codegen::Frontend;

/// The passes that check and improve a program, as every pipeline runs them before it lowers, without MLIR's own in
/// between.
pub const SYMM: &str = "any(symm-check-ranks,symm-check-host-access,symm-check-memory-order),symm-check-sync,\
                        any(symm-check-memory-order),\
                        any(symm-hoist-translation,symm-coalesce-signals,symm-infer-order)";
/// What they are compared with, on the whole module, as `mlir-opt --canonicalize --cse` runs them.
pub const UPSTREAM: &str = "canonicalize,cse";

/// The competitor that works on one function after the other, as ours do.
const PER_FUNCTION: &str = "any(canonicalize, cse)";

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
    competitor(PER_FUNCTION, Source::Upstream, "any(canonicalize,cse)"),
    competitor("canonicalize, cse on symm ops", Source::Symm, UPSTREAM),
    competitor("symm-check-ranks", Source::Symm, "symm-check-ranks"),
    competitor("symm-check-host-access", Source::Symm, "symm-check-host-access"),
    competitor("symm-check-memory-order", Source::Symm, "symm-check-memory-order"),
    competitor("symm-check-sync", Source::Symm, "symm-check-sync"),
    competitor("symm-hoist-translation", Source::Symm, "symm-hoist-translation"),
    competitor("symm-coalesce-signals", Source::Symm, "symm-coalesce-signals"),
    competitor("symm-infer-order", Source::Symm, "symm-infer-order"),
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
        let start = processor_time();
        let module = frontend.parse(&path)?;
        let parse = processor_time() - start;
        let start = processor_time();
        std::hint::black_box(module.as_operation().to_string());
        let print = processor_time() - start;
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
    let (most, least, budget) = effort.pick((25, 3, 6.0), (1, 1, 0.0));
    let mut spent = vec![0.0; COMPETITORS.len()];
    // The first round warms up: caches, and what a pass manager prepares when it runs for the first time.
    for round in 0..=most {
        for (((competitor, manager), times), spent) in COMPETITORS.iter().zip(&managers).zip(&mut times).zip(&mut spent)
        {
            if times.0.len() >= least && *spent > budget {
                continue;
            }
            let turn = processor_time();
            let original = &modules[usize::from(competitor.source == Source::Upstream)];
            let copy = (*original.as_operation()).clone();
            let mut copy = Module::from_operation(copy).context("the clone of a module is a module")?;
            let start = processor_time();
            manager.run(&mut copy).with_context(|| competitor.pipeline)?;
            let time = processor_time() - start;
            if round > 0 {
                times.0.push(time);
            }
            drop(copy);
            *spent += processor_time() - turn;
        }
    }
    drop(modules);
    let runs = COMPETITORS
        .iter()
        .zip(times)
        .map(|(competitor, times)| Run { name: competitor.name.into(), source: competitor.source, times })
        .collect();
    Ok(Size { asked: size, modules: shapes, runs, tools: tools::measure(size, effort)? })
}

/// One of the times of a module.
type Part = fn(&Shape) -> f64;

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
    for (name, other) in
        [(format!("**{ours} / {theirs}**"), theirs), (format!("{ours} / {PER_FUNCTION}"), PER_FUNCTION)]
    {
        let mut cells = vec![name];
        cells.extend(figures.iter().map(|size| ratio(size.per_op(ours) / size.per_op(other))));
        cells.push(String::new());
        times.row(cells);
    }
    let mut text = Table::new(&titles);
    for (name, part) in [("parse", (|shape| shape.parse) as Part), ("print", |shape| shape.print)] {
        for source in [Source::Symm, Source::Upstream] {
            let per_op = |size: &Size| {
                let shape = size.modules.iter().find(|shape| shape.source == source);
                shape.map_or(f64::NAN, |shape| part(shape) * 1e9 / size.ops(source))
            };
            let mut cells = vec![format!("{name}, {source:?} module").to_lowercase()];
            cells.extend(figures.iter().map(|size| number(per_op(size))));
            cells.push(ratio(per_op(last) / per_op(from)));
            text.row(cells);
        }
    }
    vec![
        ("The passes, with the verifier after those that change the IR", times),
        ("Reading and writing text", text),
        ("The tools: what `--mlir-timing` says, and peak memory", tools::table(figures)),
    ]
}
