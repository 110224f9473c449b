//! Updates of memory that are not symm's: MLIR's `memref.atomic_rmw` and LLVM's `atomicrmw`.
//!
//! LLVM prints both as `atom.add` and so on, which in PTX means `.relaxed.gpu`. (What becomes a loop around a
//! compare-and-swap keeps its order and the system's scope: `memref.generic_atomic_rmw`, updates of less than 32 bits,
//! the largest and the least of floats.) O2 promises that an atomic reaches other ranks:
//!
//! - Of another rank's memory (a result of `symm.as_remote`, or a view of one) `memref.atomic_rmw` is widened, with a
//!   remark; of LLVM's `atomicrmw` a remark says so. With `strict=true` both are errors.
//! - Of memory that may be, a remark says so: it may be a counter for this GPU alone, or lie in shared memory, which a
//!   generic pointer doesn't tell.
//! - An order that would be lost is refused (S1). `memref.atomic_rmw` promises none.

use super::Nvvm;
use crate::analysis::order::{array, is_own_memory, is_remote};
use crate::ir::address::{PRIVATE, SHARED, element};
use crate::ir::{Builder, enclosing, name, ordering, select, structure};
use crate::lower::gpu::Target;
use crate::lower::gpu::order::global;
use crate::lower::updates;
use melior::ir::{OperationRef, TypeLike, Value, ValueLike, operation::OperationLike};
use symm_dialect::diagnostic::{Reported, Severity, error, report};
use symm_dialect::ops::{Order, RmwKind, Scope};
use symm_dialect::pointer::Pointer;
use symm_dialect::shape::byte_width;

/// Widens the updates of other ranks' memory; reports those that may not reach it, and those that lose an order.
pub fn check(root: OperationRef, target: &Nvvm, strict: bool) -> Result<(), Reported> {
    let mut outcome = Ok(());
    let is_update = |op| matches!(name(op), "llvm.atomicrmw" | "memref.atomic_rmw");
    for op in select(root, |op| is_update(op).then_some(op)) {
        if enclosing(op, &[structure::GPU_MODULE]).is_none() || updates::refusal(op).is_some() {
            continue;
        }
        let complaint = if name(op) == "llvm.atomicrmw" { of_llvm(op, strict) } else { of_memref(op, target, strict) };
        outcome = outcome.and(complaint);
    }
    outcome
}

fn of_llvm<'c: 'a, 'a>(op: OperationRef<'c, 'a>, strict: bool) -> Result<(), Reported> {
    if ordering::of(op, "ordering") > ordering::RELAXED {
        let complaint = "S1: has no order in PTX: LLVM makes atom.relaxed.gpu of it; use symm.atomic_rmw";
        return Err(error(op, complaint));
    }
    let place = op.operands().next();
    if !op.has_attribute("syncscope") && !place.is_some_and(is_own_memory) {
        if strict && place.is_some_and(|place| is_remote(array(place))) {
            return Err(error(op, NEAR_ONLY));
        }
        report(Severity::Remark, op, NEAR_ONLY);
    }
    Ok(())
}

const NEAR_ONLY: &str = "O2: reaches the threads of this GPU only: LLVM makes atom.relaxed.gpu of it; \
                         symm.atomic_rmw reaches other ranks";

const TOO_NARROW: &str = "O2: LLVM makes atom.relaxed.gpu of it, which does not reach another rank";

fn of_memref<'c: 'a, 'a>(op: OperationRef<'c, 'a>, target: &Nvvm, strict: bool) -> Result<(), Reported> {
    let operands: Vec<Value> = op.operands().collect();
    let [value, memref, indices @ ..] = operands.as_slice() else { return Ok(()) };
    let ty = value.r#type();
    let Some(kind) = kind(op).filter(|kind| *kind == RmwKind::FAdd || byte_width(ty) >= 4) else { return Ok(()) };
    let is_own = [SHARED, PRIVATE].map(u64::from).contains(&Pointer::address_space(memref.r#type()));
    if !is_remote(array(*memref)) {
        if !is_own && !is_own_memory(*memref) {
            report(Severity::Remark, op, NEAR_ONLY);
        }
        return Ok(());
    }
    if kind == RmwKind::FAdd && ty.is_bf16() && target.sm < 90 {
        return Err(error(op, &format!("S1: fadd of bf16 needs sm_90, the chip is sm_{}", target.sm)));
    }
    if strict {
        return Err(error(op, TOO_NARROW));
    }
    report(Severity::Remark, op, &format!("{TOO_NARROW}; widened to sys"));
    let b = Builder::before_on_device(op);
    let address = global(&b, element(&b, *memref, indices));
    let old = target.atomic_rmw(&b, kind, address, *value, (Order::Relaxed, Scope::Sys));
    b.replace(op, &[old]);
    Ok(())
}

/// The kind of a `memref.atomic_rmw` that is one instruction in PTX, by arith's numbers.
fn kind(op: OperationRef) -> Option<RmwKind> {
    Some(match updates::kind(op)? {
        0 => RmwKind::FAdd,
        1 => RmwKind::Add,
        2 => RmwKind::And,
        3 => RmwKind::Xchg,
        6 => RmwKind::Max,
        7 => RmwKind::UMax,
        10 => RmwKind::Min,
        11 => RmwKind::UMin,
        14 => RmwKind::Or,
        15 => RmwKind::Xor,
        _ => return None,
    })
}
