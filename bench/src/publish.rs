//! `publish`: pictures and tables of the docs, from the raw figures of the last full runs.

use crate::compile::{self, Size};
use crate::machine::Machine;
use crate::plot::{Axis, Chart, Line};
use crate::table::{Table, number};
use crate::{Raw, cpu, kept, root};
use anyhow::{Context as _, Result, ensure};
use std::fs;

/// The document whose tables are written; each lies between `<!-- NAME -->` and `<!-- end -->`.
const DOCUMENT: &str = "docs/benchmarks.md";

pub fn run() -> Result<()> {
    let compile: Raw<Vec<Size>> = kept("compile")?;
    let cpu: Raw<cpu::Figures> = kept("cpu")?;
    for (name, quick) in [("compile", compile.quick), ("cpu", cpu.quick)] {
        ensure!(!quick, "the figures of {name} are from a quick run: run `./x bench {name}` without --quick");
    }
    let pictures = root().join("docs/benchmarks");
    fs::create_dir_all(&pictures)?;
    time_per_op(&compile.figures).draw(&pictures.join("compile.svg"))?;
    bandwidth(&cpu.figures).draw(&pictures.join("put.svg"))?;

    let path = root().join(DOCUMENT);
    let mut text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    fill(&mut text, "compile", &compile.machine, &compile::tables(&compile.figures))?;
    fill(&mut text, "cpu", &cpu.machine, &cpu::tables(&cpu.figures))?;
    fs::write(&path, text)?;
    println!("wrote {DOCUMENT} and docs/benchmarks");
    Ok(())
}

/// Puts tables between the marks of a name.
fn fill(text: &mut String, name: &str, machine: &Machine, tables: &[(&'static str, Table)]) -> Result<()> {
    let mark = format!("<!-- {name} -->\n");
    let start = text.find(&mark).with_context(|| format!("{DOCUMENT} has no line {mark}"))? + mark.len();
    let end = text[start..].find("<!-- end -->").with_context(|| format!("{DOCUMENT}: {name} has no end"))? + start;
    let mut block = format!("Measured on: {}.\n", machine.line());
    for (title, table) in tables {
        block.extend(["\n", title, ":\n\n", &table.text()]);
    }
    text.replace_range(start..end, &block);
    Ok(())
}

fn time_per_op(figures: &[Size]) -> Chart<'static> {
    let line = |name: &str| Line {
        name: name.to_owned(),
        ours: name.starts_with("symm"),
        #[allow(clippy::cast_precision_loss, reason = "far fewer ops than a float can count")]
        points: figures.iter().map(|size| (size.asked as f64, size.per_op(name))).collect(),
    };
    Chart {
        title: "Time per op in the passes",
        x: Axis { title: "ops in the module", base: Some(10.0), label: |ops| format!("{ops:.0}") },
        y: Axis { title: "ns per op", base: Some(10.0), label: number },
        lines: figures[0].runs.iter().map(|run| line(&run.name)).collect(),
    }
}

fn bandwidth(figures: &cpu::Figures) -> Chart<'static> {
    let line = |name: &str, ours, rate: &dyn Fn(&cpu::put::Size) -> f64| Line {
        name: name.to_owned(),
        ours,
        #[allow(clippy::cast_precision_loss, reason = "sizes of memory")]
        points: figures.put.iter().map(|size| (size.bytes as f64, rate(size) / 1e9)).collect(),
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole powers of two")]
    let label = |bytes: f64| cpu::put::bytes(bytes as u64);
    Chart {
        title: "Bandwidth of a bulk put between two ranks",
        x: Axis { title: "size", base: Some(2.0), label },
        y: Axis { title: "GB/s", base: None, label: |rate| format!("{rate:.0}") },
        lines: vec![
            line("symm.put", true, &|size| size.put.median()),
            line("memcpy, same buffers", false, &|size| size.memcpy.median()),
            line("memcpy, private memory", false, &|size| size.memcpy_private.median()),
        ],
    }
}
