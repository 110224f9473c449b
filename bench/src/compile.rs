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
use crate::table::{TextTable, number, ratio};
use crate::{Effort, keep, pipeline};
use anyhow::{Context as _, Result};
use melior::ir::Module;
use melior::pass::PassManager;
use modules::Source;
use serde::{Deserialize, Serialize};
use symm_codegen::Frontend;

/// What ours are compared with, on the whole module, as `mlir-opt --canonicalize --cse` runs them.
pub const UPSTREAM: &str = "canonicalize,cse";

const OURS: &str = "symm passes";
const THEIRS: &str = "canonicalize, cse";
/// The competitor that works on one function after the other, as ours do.
const PER_FUNCTION: &str = "any(canonicalize, cse)";
const BEFORE: &str = "symm, all before lowering";
const BEFORE_WITHOUT: &str = "all before lowering, without symm";
const WHOLE: &str = "symm-nvvm, all of it";
const WHOLE_WITHOUT: &str = "symm-nvvm, without symm";

/// A pipeline on one of the two kinds of modules.
struct Competitor {
    name: String,
    source: Source,
    pipeline: String,
    /// The most ops of a module that it runs on.
    most: usize,
}

/// The passes that check and improve a program before it is lowered, without MLIR's own in between, as the pipeline for
/// GPUs runs them.
pub fn symm() -> String {
    pipeline::only_symm(&pipeline::before_lowering(&pipeline::nvvm()))
}

fn competitors() -> Vec<Competitor> {
    let (symm, all) = (symm(), pipeline::nvvm());
    let before = pipeline::before_lowering(&all);
    let of = |name: &str, source, pipeline: &str| Competitor {
        name: name.to_owned(),
        source,
        pipeline: pipeline.to_owned(),
        most: usize::MAX,
    };
    let mut competitors = vec![
        of(OURS, Source::Symm, &symm),
        of(THEIRS, Source::Upstream, UPSTREAM),
        of(PER_FUNCTION, Source::Upstream, "any(canonicalize,cse)"),
        of("canonicalize, cse on symm ops", Source::Symm, UPSTREAM),
        of(BEFORE, Source::Symm, &before),
        of(BEFORE_WITHOUT, Source::Upstream, &pipeline::without_symm(&before)),
    ];
    competitors.extend(pipeline::names(&symm).into_iter().map(|name| of(name, Source::Symm, name)));
    competitors.push(of("symm-lower-to-cpu", Source::Symm, "symm-lower-to-cpu"));
    // A larger module takes them minutes, and says the same.
    competitors.push(Competitor { most: 100_000, ..of(WHOLE, Source::Symm, &all) });
    let without = pipeline::without_symm(&all);
    competitors.push(Competitor { most: 100_000, ..of(WHOLE_WITHOUT, Source::Upstream, &without) });
    competitors
}

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
    println!("compile: {}\n     vs. {UPSTREAM}\n{}\n", symm(), machine.line());
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
    let competitors: Vec<_> = competitors().into_iter().filter(|each| size <= each.most).collect();
    for competitor in &competitors {
        let manager = PassManager::new(context);
        let text = format!("builtin.module({})", competitor.pipeline);
        melior::utility::parse_pass_pipeline(manager.as_operation_pass_manager(), &text)
            .with_context(|| format!("pipeline {text}"))?;
        managers.push(manager);
    }
    let mut times = vec![Samples::default(); competitors.len()];
    let (most, least, budget) = effort.pick((25, 3, 6.0), (1, 1, 0.0));
    let mut spent = vec![0.0; competitors.len()];
    // The first round warms up: caches, and what a pass manager prepares when it runs for the first time.
    for round in 0..=most {
        for (((competitor, manager), times), spent) in competitors.iter().zip(&managers).zip(&mut times).zip(&mut spent)
        {
            if times.0.len() >= least && *spent > budget {
                continue;
            }
            let turn = processor_time();
            let original = &modules[usize::from(competitor.source == Source::Upstream)];
            let copy = (*original.as_operation()).clone();
            let mut copy = Module::from_operation(copy).context("the clone of a module is a module")?;
            let start = processor_time();
            manager.run(&mut copy).with_context(|| competitor.pipeline.clone())?;
            let time = processor_time() - start;
            if round > 0 {
                times.0.push(time);
            }
            drop(copy);
            *spent += processor_time() - turn;
        }
    }
    drop(modules);
    let runs = competitors
        .into_iter()
        .zip(times)
        .map(|(competitor, times)| Run { name: competitor.name, source: competitor.source, times })
        .collect();
    Ok(Size { asked: size, modules: shapes, runs, tools: tools::measure(size, effort)? })
}

/// One of the times of a module.
type Part = fn(&Shape) -> f64;

/// The competitors that the picture shows.
pub const DRAWN: [&str; 6] = [OURS, THEIRS, PER_FUNCTION, BEFORE, BEFORE_WITHOUT, "symm-lower-to-cpu"];

/// What the figures say.
pub fn tables(figures: &[Size]) -> Vec<(&'static str, TextTable)> {
    let mut titles = vec!["ns per op".to_owned()];
    titles.extend(figures.iter().map(|size| format!("{} ops", size.asked)));
    titles.push("growth".into());
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let mut times = TextTable::new(&titles);
    let from = figures.iter().find(|size| size.asked >= 10_000).unwrap_or(&figures[0]);
    let last = figures.last().expect("a run has sizes");
    for name in figures[0].runs.iter().map(|run| &run.name) {
        let mut cells = vec![name.clone()];
        cells.extend(figures.iter().map(|size| number(size.per_op(name))));
        cells.push(ratio(last.per_op(name) / from.per_op(name)));
        times.row(cells);
    }
    for (title, one, other) in [
        (format!("**{OURS} / {THEIRS}**"), OURS, THEIRS),
        (format!("{OURS} / {PER_FUNCTION}"), OURS, PER_FUNCTION),
        ("all before lowering: with / without symm".to_owned(), BEFORE, BEFORE_WITHOUT),
        ("symm-nvvm: with / without symm".to_owned(), WHOLE, WHOLE_WITHOUT),
    ] {
        let mut cells = vec![title];
        cells.extend(figures.iter().map(|size| ratio(size.per_op(one) / size.per_op(other))));
        cells.push(String::new());
        times.row(cells);
    }
    let mut text = TextTable::new(&titles);
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
