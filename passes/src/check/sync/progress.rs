//! Threads that wait where others of their warp have yet to send (O5).

use super::one_thread::{Predicate, is_thread_number, unit};
use super::reaches;
use crate::analysis::MOST_VALUES;
use crate::analysis::uniform::THREAD_OF_LAUNCH;
use crate::ir::structure::is_branch;
use crate::ir::{blocks, constant_value, definition, name, operations, select};
use melior::ir::block::BlockArgument;
use melior::ir::{OperationRef, Value, operation::OperationLike};
use symm_dialect::diagnostic::{Severity, report};
use symm_dialect::ops::{Group, SymmOp, Update, Waiting};

/// The threads of a warp on the GPU whose warps are the largest.
const WARP: i64 = 64;

/// Reports a wait of single threads in one branch of an `scf.if` that parts warps, where the other one sends.
pub fn check<'c: 'a, 'a>(op: SymmOp<'c, 'a>) {
    let waits = |op| match op {
        Waiting::Wait(wait) => wait.group() == Group::Thread && wait.timeout().is_none(),
        Waiting::WaitPacket(_) => true,
        // Threads come to these together.
        Waiting::Barrier(_) | Waiting::BarrierAll(_) | Waiting::Alloc(_) | Waiting::Free(_) => false,
    };
    if op.waiting().is_some_and(waits) && sends_in_other_branch(op.operation()) {
        report(
            Severity::Remark,
            op.operation(),
            "O5: threads of a warp wait here, and others of it send in the other branch, which a GPU may run only \
             afterwards: if what they send is what this waits for, through other ranks too, neither goes on; send \
             before the wait, or part the block in multiples of 64 threads",
        );
    }
}

fn sends_in_other_branch<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let mut inner = op;
    while let Some(parent) = inner.parent_operation() {
        if is_branch(parent) && parent.operand(0).is_ok_and(parts_warps) {
            let others = blocks(parent).into_iter().filter(|block| Some(*block) != inner.block());
            if others.flat_map(operations).any(sends) {
                return true;
            }
        }
        inner = parent;
    }
    false
}

/// Whether single threads tell others something in an operation, or in one within it.
fn sends<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let is_send = |update| match update {
        Update::Signal(op) => op.group() == Group::Thread,
        Update::PutSignal(op) => op.group() == Group::Thread,
        Update::PutPacket(_) | Update::AtomicRmw(_) | Update::AtomicCas(_) => true,
    };
    !select(op, |op| SymmOp::cast(op)?.update().filter(|update| is_send(*update))).is_empty()
}

/// Whether a condition may differ between the threads of a warp, as far as the numbers of threads show it.
fn parts_warps<'c: 'a, 'a>(condition: Value<'c, 'a>) -> bool {
    reaches(condition, &|value| {
        let Some(op) = definition(value).filter(|op| matches!(name(*op), "arith.cmpi" | "index.cmp")) else {
            return false;
        };
        let operands: Vec<_> = op.operands().collect();
        let (Some(predicate), [lhs, rhs]) = (Predicate::of(op), operands.as_slice()) else { return false };
        predicate.parts(*lhs, *rhs) || predicate.swapped().parts(*rhs, *lhs)
    })
}

impl Predicate {
    /// Whether threads of one warp find that what is made of their numbers and another number compare differently.
    fn parts<'c: 'a, 'a>(self, number: Value<'c, 'a>, other: Value<'c, 'a>) -> bool {
        if !reaches(number, &is_number_in_warp) {
            return false;
        }
        let Some(unit) = unit(number, &mut MOST_VALUES.clone()) else { return false };
        let limit = match self {
            Self::Less | Self::GreaterOrEqual => constant_value(other),
            Self::LessOrEqual | Self::Greater => constant_value(other).map(|limit| limit.wrapping_add(1)),
            Self::Equal | Self::Differ => None,
        };
        unit % WARP != 0 && limit.is_none_or(|limit| limit.wrapping_mul(unit) % WARP != 0)
    }
}

/// Whether a value is a thread's number in its warp, or along the dimension that warps lie in.
fn is_number_in_warp(value: Value) -> bool {
    if let Some(op) = definition(value) {
        let is_first = || op.attribute("dimension").is_ok_and(|dimension| dimension.to_string().contains("dim x"));
        return match name(op) {
            "gpu.lane_id" | "nvvm.read.ptx.sreg.tid.x" | "nvvm.read.ptx.sreg.laneid" | "rocdl.workitem.id.x" => true,
            "gpu.thread_id" | "gpu.global_id" => is_first(),
            _ => false,
        };
    }
    let is_first = |argument: BlockArgument| argument.argument_number() == THREAD_OF_LAUNCH.start;
    is_thread_number(value) && BlockArgument::try_from(value).is_ok_and(is_first)
}
