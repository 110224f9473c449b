//! `publish`: pictures and tables of the docs, from the raw figures of the last full runs.

use crate::compile::{self, Size};
use crate::machine::{Host, Machine};
use crate::plot::{Axis, Chart, Line};
use crate::samples::Samples;
use crate::table::{Table, number};
use crate::{cpu, device, kept, root, triton};
use anyhow::{Context as _, Result, ensure};
use std::fs;

/// The document whose tables are written; each lies between `<!-- NAME -->` and `<!-- end -->`.
const DOCUMENT: &str = "docs/benchmarks.md";

/// Publishes the benchmarks of which there are figures.
pub fn run() -> Result<()> {
    let pictures = root().join("docs/benchmarks");
    fs::create_dir_all(&pictures)?;
    let path = root().join(DOCUMENT);
    let mut text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut names = Vec::new();
    if let Some(compile) = kept::<Vec<Size>, Machine>("compile")? {
        is_full("compile", compile.quick)?;
        time_per_op(&compile.figures).draw(&pictures.join("compile.svg"))?;
        fill(&mut text, "compile", &compile.machine.line(), &compile::tables(&compile.figures))?;
        names.push("compile");
    }
    if let Some(cpu) = kept::<cpu::Figures, Machine>("cpu")? {
        is_full("cpu", cpu.quick)?;
        bandwidth(&cpu.figures).draw(&pictures.join("put.svg"))?;
        fill(&mut text, "cpu", &cpu.machine.line(), &cpu::tables(&cpu.figures))?;
        names.push("cpu");
    }
    if let Some(device) = kept::<device::Figures, Host>("device")? {
        is_full("device", device.quick)?;
        over_blocks(&device.figures, "put").draw(&pictures.join("device_put.svg"))?;
        over_blocks(&device.figures, "get").draw(&pictures.join("device_get.svg"))?;
        fill(&mut text, "device", &device.machine.line(), &device::tables(&device.figures))?;
        names.push("device");
    }
    if let Some(triton) = kept::<triton::Figures, Host>("triton")? {
        is_full("triton", triton.quick)?;
        for chart in triton::charts(&triton.figures) {
            chart.1.draw(&pictures.join(chart.0))?;
        }
        fill(&mut text, "triton", &triton.machine.line(), &triton::tables(&triton.figures))?;
        names.push("triton");
    }
    ensure!(!names.is_empty(), "no figures: run `./x bench compile`, `./x bench cpu` or `./x bench device` first");
    fs::write(&path, text)?;
    println!("wrote {DOCUMENT} and docs/benchmarks: {}", names.join(", "));
    Ok(())
}

fn is_full(name: &str, quick: bool) -> Result<()> {
    ensure!(!quick, "the figures of {name} are from a quick run: run `./x bench {name}` without --quick");
    Ok(())
}

/// Puts tables between the marks of a name.
fn fill(text: &mut String, name: &str, machine: &str, tables: &[(&'static str, Table)]) -> Result<()> {
    let mark = format!("<!-- {name} -->\n");
    let start = text.find(&mark).with_context(|| format!("{DOCUMENT} has no line {mark}"))? + mark.len();
    let end = text[start..].find("<!-- end -->").with_context(|| format!("{DOCUMENT}: {name} has no end"))? + start;
    let mut block = format!("Measured on: {machine}.\n");
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

/// Bandwidth over the number of blocks, 256 MiB one way.
fn over_blocks(figures: &device::Figures, op: &str) -> Chart<'static> {
    const BYTES: u64 = 256 << 20;
    let points: Vec<_> =
        figures.copies.iter().filter(|point| point.op == op && point.bytes == BYTES && !point.both).collect();
    let line = |name: &str, ours, rate: &dyn Fn(&device::Point) -> f64| Line {
        name: name.to_owned(),
        ours,
        points: points.iter().map(|point| (f64::from(point.blocks), rate(point))).collect(),
    };
    let of = |point: &device::Point, name: &str| point.runs.get(name).map_or(f64::NAN, Samples::median);
    let engine = figures.others.iter().find(|others| others.bytes == BYTES && !others.both);
    let engine = engine.and_then(|others| others.runs.get("copy engine")).map_or(f64::NAN, Samples::median);
    Chart {
        title: if op == "put" { "Bulk put between two GPUs, 256 MiB" } else { "Bulk get between two GPUs, 256 MiB" },
        x: Axis { title: "blocks", base: Some(2.0), label: |blocks| format!("{blocks:.0}") },
        y: Axis { title: "GB/s", base: None, label: |rate| format!("{rate:.0}") },
        lines: vec![
            line("symm, the best", true, &|point| point.best(true)),
            line("by hand, the best", false, &|point| point.best(false)),
            line("by hand, 16 B × 4, 512 threads", false, &|point| of(point, "16 B × 4, 512 threads")),
            line("copy engine", false, &|_| engine),
        ],
    }
}
