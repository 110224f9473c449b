//! symm-opt and mlir-opt as processes: what they say about time, and how much memory they took.

use super::modules::Source;
use super::{Size, UPSTREAM, symm};
use crate::table::{TextTable, number, ratio};
use crate::{Effort, memory};
use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A run of a tool on the module of one size.
#[derive(Serialize, Deserialize)]
pub struct Tool {
    pub name: String,
    pub source: Source,
    /// Seconds in the passes and the verifier after them, by `--mlir-timing`; of several runs the fastest.
    pub passes: f64,
    /// The most memory it had at once, in bytes.
    pub peak: u64,
}

/// Runs the tools on the modules that `modules::write` has written for `size`.
pub fn measure(size: usize, effort: Effort) -> Result<Vec<Tool>> {
    let repeats = effort.pick(if size > 100_000 { 3 } else { 9 }, 1);
    let prefix = std::env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into());
    let mlir_opt = PathBuf::from(prefix).join("bin/mlir-opt");
    let symm_opt = std::env::current_exe()?.with_file_name("symm-opt");
    ensure!(symm_opt.exists(), "{} is missing: ./x bench builds it", symm_opt.display());
    let run = |name: &str, tool: &Path, source: Source, pipeline: &str| {
        run(name, tool, source, &source.path(size)?, pipeline, repeats).with_context(|| format!("{name}, {size} ops"))
    };
    Ok(vec![
        run("symm-opt, symm passes", &symm_opt, Source::Symm, &symm())?,
        run("mlir-opt, canonicalize, cse", &mlir_opt, Source::Upstream, UPSTREAM)?,
        run("symm-opt, no passes", &symm_opt, Source::Symm, "")?,
        run("mlir-opt, no passes", &mlir_opt, Source::Upstream, "")?,
    ])
}

fn run(name: &str, tool: &Path, source: Source, module: &Path, pipeline: &str, repeats: usize) -> Result<Tool> {
    let mut best = Tool { name: name.into(), source, passes: f64::INFINITY, peak: 0 };
    for _ in 0..repeats {
        let mut command = memory::command(tool.as_os_str())?;
        command.arg(module).arg(format!("--pass-pipeline=builtin.module({pipeline})")).args([
            "--mlir-disable-threading",
            "--mlir-timing",
            "--mlir-timing-display=list",
            "-o",
            "/dev/null",
        ]);
        let used = memory::usage(command)?;
        best.passes = best.passes.min(used.complaints.lines().filter_map(|line| time(line, pipeline)).sum());
        best.peak = best.peak.max(used.peak);
    }
    Ok(best)
}

/// The seconds of a line `  0.0041 ( 27.4%)  Canonicalizer` if it is about a pass.
fn time(line: &str, pipeline: &str) -> Option<f64> {
    let (numbers, name) = line.split_once(')')?;
    let name = name.trim();
    let is_pass =
        matches!(name, "Canonicalizer" | "CSE") || pipeline.split(['(', ')', '{', '}', ',']).any(|pass| pass == name);
    is_pass.then(|| numbers.split_whitespace().next()?.parse().ok())?
}

/// What the figures say.
pub fn table(figures: &[Size]) -> TextTable {
    let mut titles = vec![String::new()];
    titles.extend(figures.iter().map(|size| format!("{} ops", size.asked)));
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let mut table = TextTable::new(&titles);
    let mut row = |name: String, cell: &dyn Fn(&Size) -> String| {
        table.row(std::iter::once(name).chain(figures.iter().map(cell)));
    };
    let per_op = |size: &Size, index: usize| size.tools[index].passes * 1e9 / size.ops(size.tools[index].source);
    #[allow(clippy::cast_precision_loss, reason = "sizes of memory")]
    let mib = |size: &Size, index: usize| size.tools[index].peak as f64 / f64::from(1 << 20);
    for index in 0..2 {
        row(format!("{}, ns per op", figures[0].tools[index].name), &|size| number(per_op(size, index)));
    }
    row("**ratio**".into(), &|size| ratio(per_op(size, 0) / per_op(size, 1)));
    for index in 0..4 {
        row(format!("{}, peak MiB", figures[0].tools[index].name), &|size| number(mib(size, index)));
    }
    row("**ratio of the peaks, with passes**".into(), &|size| ratio(mib(size, 0) / mib(size, 1)));
    table
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn only_the_lines_of_passes_count() {
        assert_eq!(time("    0.0041 ( 27.4%)  Canonicalizer", "canonicalize,cse"), Some(0.0041));
        assert_eq!(
            time("   0.0020 ( 13.1%)  symm-check-ranks", "any(symm-check-ranks{strict=false},symm-x)"),
            Some(0.002)
        );
        assert_eq!(time("   0.0020 ( 13.1%)  'any' Pipeline", "any(symm-check-ranks,symm-x)"), None);
        assert_eq!(time("   0.0100 ( 66.1%)  Parser", "canonicalize,cse"), None);
        assert_eq!(time("  Total Execution Time: 0.0151 seconds", "canonicalize,cse"), None);
    }
}
