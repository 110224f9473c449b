//! Random programs in which threads part and rejoin around group ops, and what must hold for their final text: a thread
//! meets each barrier with its group, and as many as without optimisation (`test/divergence.py`).

use crate::findings::{Finding, Findings};
use crate::random::Random;
use anyhow::{Context as _, Result};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const PARAMETERS: &str = "%ctx: !symm.ctx, %flag: memref<64xi64>, %from: memref<1024xi64>, %data: memref<1024xi64>, \
                          %v: i64, %peer: i32, %n: index";
const ARGUMENTS: &str = "%ctx, %flag, %from, %data, %v, %peer, %n";
const TYPES: &str = "!symm.ctx, memref<64xi64>, memref<1024xi64>, memref<1024xi64>, i64, i32, index";

/// What every function begins with: values that differ from thread to thread, and some that don't.
const HEAD: &str = "  %t = gpu.thread_id x
  %lane = gpu.lane_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i64
  %me = symm.rank %ctx
  %d0 = arith.cmpi ult, %t, %c16 : index
  %d1 = arith.cmpi eq, %t, %c0 : index
  %d2 = arith.cmpi ugt, %lane, %c1 : index
  %u0 = arith.cmpi sgt, %v, %zero : i64
  %u1 = arith.cmpi ult, %n, %c16 : index
";

const GROUP_OPS: &[&str] = &[
    "symm.signal set %ctx, %flag[%c0], %v, %peer group GROUP : memref<64xi64>, i64",
    "symm.signal add %ctx, %flag[%c1], %v, %peer sem relaxed group GROUP : memref<64xi64>, i64",
    "symm.wait %ctx, %flag[%c0] ge %v group GROUP : memref<64xi64>, i64",
    "symm.fence group GROUP",
    "symm.fence sem release group GROUP",
    "symm.barrier %ctx group GROUP",
    "symm.get %ctx, %from, %data, %peer group GROUP : memref<1024xi64>, memref<1024xi64>",
    "symm.put_signal add %ctx, %from, %data, %flag[%c0], %v, %peer group GROUP
    : memref<1024xi64>, memref<1024xi64>, memref<64xi64>, i64",
    "gpu.barrier",
];

const OWN_OPS: &[&str] = &[
    "symm.remote_store %ctx, %data[%t], %v, %peer : memref<1024xi64>, i64",
    "memref.store %v, %data[%t] : memref<1024xi64>",
    "symm.signal add %ctx, %flag[%c1], %v, %peer : memref<64xi64>, i64",
    "symm.wait %ctx, %flag[%c0] ge %v : memref<64xi64>, i64",
    "symm.fence sem acquire",
];

struct Writer<'a> {
    random: &'a mut Random,
    text: String,
    functions: usize,
}

impl Writer<'_> {
    /// Some statements. `together`: all threads of the block run them.
    fn statements(&mut self, depth: usize, together: bool) {
        for _ in 0..=self.random.below(3) {
            match self.random.below(if depth == 0 { 4 } else { 8 }) {
                0 | 1 if together => self.group_op(),
                2 if together && self.functions > 0 => {
                    let callee = self.random.below(self.functions);
                    let _ = writeln!(self.text, "  func.call @f{callee}({ARGUMENTS}) : ({TYPES}) -> ()");
                }
                4 | 5 => {
                    let condition = ["%d0", "%d0", "%d1", "%d2"][self.random.below(4)];
                    self.branch(condition, depth, false);
                }
                6 => {
                    let condition = ["%u0", "%u1"][self.random.below(2)];
                    self.branch(condition, depth, together);
                }
                7 => {
                    let (from, to) = if together { ("%c0", "%n") } else { ("%t", "%c16") };
                    let _ = writeln!(self.text, "  scf.for %i{depth} = {from} to {to} step %c1 {{");
                    self.statements(depth - 1, together);
                    self.text.push_str("  }\n");
                }
                _ => {
                    let op = self.random.pick(OWN_OPS).copied().unwrap_or_default();
                    let _ = writeln!(self.text, "  {op}");
                }
            }
        }
    }

    fn group_op(&mut self) {
        let group = if self.random.once_in(3) { "warp" } else { "block" };
        let op = self.random.pick(GROUP_OPS).copied().unwrap_or_default().replace("GROUP", group);
        let _ = writeln!(self.text, "  {op}");
    }

    fn branch(&mut self, condition: &str, depth: usize, together: bool) {
        let _ = writeln!(self.text, "  scf.if {condition} {{");
        self.statements(depth - 1, together);
        if self.random.once_in(3) {
            self.text.push_str("  } else {\n");
            self.statements(depth - 1, together);
        }
        self.text.push_str("  }\n");
    }
}

/// A program of two functions and two kernels.
pub fn program(random: &mut Random) -> String {
    let text = "module attributes {gpu.container_module} {\ngpu.module @kernels {\n".to_owned();
    let mut writer = Writer { random, text, functions: 0 };
    for number in 0..2 {
        let kept = ["", "attributes {no_inline} ", "attributes {no_inline, passthrough = [\"noinline\"]} "];
        let kept = kept[writer.random.below(3)];
        let _ = write!(writer.text, "func.func private @f{number}({PARAMETERS}) {kept}{{\n{HEAD}");
        writer.group_op();
        writer.statements(1, true);
        writer.text.push_str("  return\n}\n");
        writer.functions += 1;
    }
    for number in 0..2 {
        let _ = write!(writer.text, "gpu.func @k{number}({PARAMETERS}) kernel {{\n{HEAD}");
        writer.statements(3, true);
        writer.branch("%d0", 1, false);
        let _ = writeln!(writer.text, "  func.call @f{number}({ARGUMENTS}) : ({TYPES}) -> ()");
        writer.branch("%d0", 1, false);
        writer.statements(2, true);
        writer.text.push_str("  gpu.return\n}\n");
    }
    writer.text + "}\n}\n"
}

/// Checks `count` programs, compiled by the symm-translate in `release`; how many there were.
pub fn run(root: &Path, release: &Path, folder: &Path, seed: u64, count: u64, findings: &mut Findings) -> Result<u64> {
    if count == 0 {
        return Ok(0);
    }
    let scratch = folder.join(format!("divergent-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    let mut programs = HashMap::new();
    for number in 0..count {
        let (path, text) = (scratch.join(format!("{number}.mlir")), program(&mut Random::new(seed, number)));
        std::fs::write(&path, &text)?;
        programs.insert(path.display().to_string(), text);
    }
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let paths = [release.to_path_buf()].into_iter().chain(std::env::split_paths(&inherited));
    let checked = Command::new("python3")
        .arg(root.join("test/divergence.py"))
        .arg(&scratch)
        .args("--chip sm_90 --chip gfx942 -O0 -O1 -O2 -O3 --same".split(' '))
        .env("PATH", std::env::join_paths(paths)?)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .context("cannot run python3 test/divergence.py")?;
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    let mut known = 0;
    for line in said.lines() {
        let Some((path, what)) = line.split_once(", ") else { continue };
        let Some(text) = programs.get(path) else { continue };
        // Without the level, the kernel's name and the branch.
        let cause = what.splitn(3, ": ").nth(2).unwrap_or(what).split(", after").next().unwrap_or(what);
        let chip = what.split(',').next().unwrap_or_default();
        let signature = format!("barriers: {chip}: {cause}");
        findings.add(
            &Finding { signature, details: line.into(), frames: Vec::new() },
            text.as_bytes(),
            "mlir",
            &folder.join("findings"),
        )?;
        known += 1;
    }
    if !checked.status.success() && known == 0 {
        anyhow::bail!("test/divergence.py broke down: {said}");
    }
    std::fs::remove_dir_all(&scratch)?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::program;
    use crate::random::Random;

    #[test]
    fn a_number_gives_one_program_with_a_group_op_between_branches() {
        for number in 0..50 {
            let text = program(&mut Random::new(1, number));
            assert_eq!(text, program(&mut Random::new(1, number)));
            assert!(text.contains("scf.if %d0") && text.contains("func.call @f0"), "{text}");
        }
    }
}
