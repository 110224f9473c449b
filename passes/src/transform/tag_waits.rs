//! Numbers the ops of a Triton kernel that wait with a deadline, so that the record tells which of them gave up.
//!
//! ```mlir
//! symm.wait %ctx, %p ge %v deadline %record : !tt.ptr<i64> : !tt.ptr<i64>, i64
//! ```
//!
//! becomes
//!
//! ```mlir
//! symm.wait %ctx, %p ge %v deadline %record : !tt.ptr<i64> tag 5011…, logs : !tt.ptr<i64>, i64
//! ```
//!
//! The number is a hash of the kernel, the source location and the op, so it is the same on all ranks and in all runs.
//! The module's attribute `symm.waits` has a line for each wait, separated by tabs: the number, the kernel, the file,
//! the line, and what it does.
//!
//! Limits: waits that have a tag keep it.

use crate::ir::tags::Tags;
use crate::ir::{Builder, set_attribute, symm_ops};
use crate::pass::{Ir, Pass, Values};
use melior::ir::OperationRef;
use symm_dialect::ops::{SymmOp, Waiting};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-tag-waits",
    summary: "Number the ops of a Triton kernel that wait with a deadline",
    options: &[],
    run: |root, options| Ok(run(root, options)),
};

fn run(root: OperationRef, _: &Values) -> Ir {
    let mut tags = Tags::default();
    for op in symm_ops(root) {
        let Some(what) = untagged(op) else { continue };
        let operation = op.operation();
        let tag = tags.of(operation, &what);
        let b = Builder::before(operation);
        set_attribute(operation, "tag", b.integer(64, tag));
        set_attribute(operation, "logs", b.unit());
    }
    tags.leave(root)
}

/// What an op with a deadline but no number does.
fn untagged(op: SymmOp) -> Option<String> {
    if op.deadline().is_none() || op.tag().is_some() {
        return None;
    }
    match op.waiting()? {
        Waiting::Wait(wait) => {
            let unsigned = if wait.is_unsigned() { " unsigned" } else { "" };
            Some(format!("wait {}{unsigned}", wait.comparison().keyword()))
        }
        Waiting::WaitPacket(wait) => {
            Some(if wait.epoch().is_some() { "wait_packet" } else { "wait_floats" }.to_owned())
        }
        Waiting::Barrier(_) => Some("barrier".to_owned()),
        Waiting::BarrierAll(_) | Waiting::Alloc(_) | Waiting::Free(_) => None,
    }
}
