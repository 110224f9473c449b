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

use crate::ir::{Builder, context, enclosing, set_attribute, symm_ops};
use crate::pass::{Ir, Pass, Values};
use melior::ir::attribute::StringAttribute;
use melior::ir::{OperationRef, operation::OperationLike};
use symm_dialect::WAITS_ATTRIBUTE;
use symm_dialect::diagnostic::file_line_column;
use symm_dialect::ops::{SymmOp, Waiting};
use symm_dialect::symbol::symbol;
use symm_dialect::text;

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

/// Numbers for ops, and what they stand for.
#[derive(Default)]
pub struct Tags {
    lines: Vec<String>,
}

impl Tags {
    /// The number of an op that does `what`.
    pub fn of<'c: 'a, 'a>(&mut self, op: OperationRef<'c, 'a>, what: &str) -> i64 {
        let kernel = enclosing(op, &["tt.func"]).and_then(symbol).unwrap_or_default();
        let (file, line, column) = file_line_column(op.location()).unwrap_or_default();
        let tag = hash(&format!("{kernel}\t{file}\t{line}\t{column}\t{what}"));
        let described = format!("{tag}\t{kernel}\t{file}\t{line}\t{what}\n");
        if !self.lines.contains(&described) {
            self.lines.push(described);
        }
        tag
    }

    /// Leaves what the numbers stand for on the module, after what is there.
    pub fn leave<'c: 'a, 'a>(self, module: OperationRef<'c, 'a>) -> Ir {
        if self.lines.is_empty() {
            return Ir::Kept;
        }
        let before = module.attribute(WAITS_ATTRIBUTE).ok().and_then(text::string).unwrap_or_default();
        let lines = StringAttribute::new(context(module), &(before + &self.lines.concat()));
        set_attribute(module, WAITS_ATTRIBUTE, lines.into());
        Ir::Changed
    }
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
        Waiting::WaitPacket(_) => Some("wait_packet".to_owned()),
        Waiting::Barrier(_) => Some("barrier".to_owned()),
        Waiting::BarrierAll(_) | Waiting::Alloc(_) | Waiting::Free(_) => None,
    }
}

/// FNV-1a of a text, as a number above 0.
fn hash(text: &str) -> i64 {
    let bits = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    (bits >> 1).cast_signed().max(1)
}
