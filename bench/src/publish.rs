//! `publish`: pictures and tables of the docs, from the raw figures of the last full runs.

use crate::compile::{self, Size};
use crate::machine::{Host, InWords, Machine};
use crate::plot::{Axis, Chart, Line};
use crate::samples::Samples;
use crate::table::{TextTable, number};
use crate::{Raw, check, cpu, device, kept, root, target, triton};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::process::Command;

/// The document whose tables are written; each lies between `<!-- NAME -->` and `<!-- end -->`.
const DOCUMENT: &str = "docs/benchmarks.md";

/// Where pictures and raw figures go.
const FOLDER: &str = "docs/benchmarks";

/// The document, and what goes with it once all of it is known to be right.
struct Page {
    text: String,
    /// Whether figures may replace those of another machine.
    force: bool,
    names: Vec<&'static str>,
    charts: Vec<(String, Chart<'static>)>,
}

/// Publishes the benchmarks of which there are figures.
pub fn run(force: bool) -> Result<()> {
    let (folder, path) = (root()?.join(FOLDER), root()?.join(DOCUMENT));
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut page = Page { text, force, names: Vec::new(), charts: Vec::new() };
    if let Some(raw) = kept::<Vec<Size>, Machine>("compile")? {
        page.fill("compile", &raw, &compile::tables(&raw.figures))?;
        page.draw("compile.svg", time_per_op(&raw.figures));
    }
    if let Some(raw) = kept::<cpu::Figures, Machine>("cpu")? {
        page.fill("cpu", &raw, &cpu::tables(&raw.figures))?;
        page.draw("put.svg", bandwidth(&raw.figures));
    }
    if let Some(raw) = kept::<Vec<check::Figures>, Machine>("check")? {
        page.fill("check", &raw, &check::tables(&raw.figures))?;
    }
    if let Some(raw) = kept::<device::Figures, Host>("device")? {
        page.fill("device", &raw, &device::tables(&raw.figures))?;
        page.draw("device_put.svg", over_blocks(&raw.figures, "put"));
        page.draw("device_get.svg", over_blocks(&raw.figures, "get"));
    }
    if let Some(raw) = kept::<triton::Figures, Host>("triton")? {
        page.fill("triton", &raw, &triton::tables(&raw.figures))?;
        page.charts.extend(triton::charts(&raw.figures).into_iter().map(|(name, chart)| (name.to_owned(), chart)));
    }
    let names = page.names.join(", ");
    ensure!(!names.is_empty(), "no figures: run `./x bench compile`, `./x bench cpu` or `./x bench device` first");
    fs::create_dir_all(&folder)?;
    for (name, chart) in page.charts {
        chart.draw(&folder.join(name))?;
    }
    for name in page.names {
        // With them a reader can draw it again.
        let raw: serde_json::Value = serde_json::from_slice(&fs::read(target()?.join(format!("{name}.json")))?)?;
        fs::write(folder.join(format!("{name}.json")), format!("{raw}\n"))?;
    }
    fs::write(&path, page.text)?;
    println!("wrote {DOCUMENT} and {FOLDER}: {names}");
    Ok(())
}

impl Page {
    fn draw(&mut self, name: &str, chart: Chart<'static>) {
        self.charts.push((name.to_owned(), chart));
    }

    /// Puts tables between the marks of a name.
    fn fill<T>(
        &mut self,
        name: &'static str,
        raw: &Raw<T, impl InWords>,
        tables: &[(&'static str, TextTable)],
    ) -> Result<()> {
        ensure!(!raw.quick, "the figures of {name} are from a quick run: run `./x bench {name}` without --quick");
        let mark = format!("<!-- {name} -->\n");
        let start = self.text.find(&mark).with_context(|| format!("{DOCUMENT} has no line {mark}"))? + mark.len();
        let end = self.text[start..].find("<!-- end -->").with_context(|| format!("{DOCUMENT}: {name} has no end"))?;
        let old = self.text[start..start + end].lines().next().and_then(|line| line.strip_prefix("Measured on: "));
        let hardware = raw.machine.hardware();
        ensure!(
            self.force || old.is_none_or(|old| old.starts_with(&format!("{hardware}, "))),
            "the figures of {name} are of {hardware}, and those in {DOCUMENT} of {}: measure there, or add --force",
            old.unwrap_or_default().trim_end_matches('.')
        );
        let mut block = format!("Measured on: {}; published after commit {}.\n", raw.machine.line(), commit()?);
        for (title, table) in tables {
            block.extend(["\n", title, ":\n\n", &table.text()]);
        }
        self.text.replace_range(start..start + end, &block);
        self.names.push(name);
        Ok(())
    }
}

/// The newest commit and its date, by which readers find the code that was measured.
fn commit() -> Result<String> {
    let output =
        Command::new("git").args(["log", "-1", "--format=%h of %cs"]).output().context("git does not start")?;
    ensure!(output.status.success(), "git log: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
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
        y: Axis { title: "ns per op", base: Some(2.0), label: number },
        lines: compile::DRAWN.map(line).into(),
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
