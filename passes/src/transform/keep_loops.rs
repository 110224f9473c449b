//! Keeps loops that nobody else could tell from none: that only read and compute. With an option also barriers that
//! follow each other. For symm-check.
//!
//! ```mlir
//! scf.while : () -> () {
//!   %v = memref.load %flag[%c0] : memref<1xi32>
//!   %go_on = arith.cmpi eq, %v, %zero : i32
//!   scf.condition(%go_on)
//! } do {
//!   scf.yield
//! }
//! ```
//!
//! becomes
//!
//! ```mlir
//! scf.while : () -> () {
//!   llvm.inline_asm has_side_effects {symm.round} "", "" : () -> ()
//!   …
//! ```
//!
//! MLIR and LLVM delete a loop whose results are not used, whether or not it ends. So a poll by plain loads, and a loop
//! that never ends, would be gone before they can be reported. Nothing deletes an instruction with a side effect.
//! `symm-instrument-accesses` takes it out again: there each round of a loop is a call.
//!
//! MLIR's canonicalization makes one `gpu.barrier` of two that follow each other. On a GPU, too, so symm-check looks at
//! the one. To check a program as it is written, `barriers` puts the same instruction after each of them.
//!
//! Limits: `scf.while`, with ops in it that are known to read and compute, and calls of functions, which may be
//! inlined. Loops with other ops stay anyway, and `scf.for` ends.

use crate::analysis::order::{is_quiet, is_volatile, only_reads};
use crate::ir::structure::{self, is_branch, is_loop};
use crate::ir::{Builder, blocks, collect, name, operations};
use crate::pass::{Ir, OptionKind, Pass, PassOption};
use melior::ir::OperationRef;
use symm_dialect::attributes::ROUND_ATTRIBUTE;
use symm_dialect::ops::{Accessing, SymmOp};

const BARRIERS: PassOption = PassOption {
    name: "barriers",
    kind: OptionKind::Bool,
    initial: "false",
    help: "keep barriers that follow each other, too",
};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-keep-loops",
    summary: "Keep loops that only read and compute, for symm-check",
    options: &[BARRIERS],
    run: |root, options| {
        let keeps_barriers = options.flag(BARRIERS.name);
        let kept: Vec<_> = collect(root).into_iter().filter_map(|op| place(op, keeps_barriers)).collect();
        kept.iter().for_each(keep);
        Ok(if kept.is_empty() { Ir::Kept } else { Ir::Changed })
    },
};

/// Where the instruction goes that keeps an op: into a loop, or after a barrier.
fn place<'c: 'a, 'a>(op: OperationRef<'c, 'a>, keeps_barriers: bool) -> Option<Builder<'c>> {
    match name(op) {
        "scf.while" if may_go(op) => Some(Builder::before(operations(*blocks(op).first()?).first().copied()?)),
        "gpu.barrier" if keeps_barriers => Some(Builder::after(op)),
        _ => None,
    }
}

/// Whether a loop may be deleted.
fn may_go<'c: 'a, 'a>(around: OperationRef<'c, 'a>) -> bool {
    let inner = blocks(around).into_iter().flat_map(operations).flat_map(collect);
    inner.into_iter().all(|op| is_quiet(op) || is_branch(op) || is_loop(op) || reads(op) || name(op) == structure::CALL)
}

fn reads<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    match SymmOp::cast(op).map(SymmOp::accessing) {
        Some(accessing) => matches!(accessing, Some(Accessing::RemoteLoad(load)) if !load.volatile_()),
        None => only_reads(name(op)) && !is_volatile(op),
    }
}

fn keep(b: &Builder) {
    let texts = [("asm_string", b.string("")), ("constraints", b.string(""))];
    let attributes = [&texts[..], &[("has_side_effects", b.unit()), (ROUND_ATTRIBUTE, b.unit())]].concat();
    b.op("llvm.inline_asm", &[], &[], &attributes);
}
