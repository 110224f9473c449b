//! Reports every memory access to symm-check: in a program in the LLVM dialect each load, store, atomic, fence and copy
//! becomes a call of `symm_chk_…` (abi/src/check.rs). Values are passed through the stack.
//!
//! ```mlir
//! %v = llvm.load %p : !llvm.ptr -> f32
//! ```
//!
//! becomes
//!
//! ```mlir
//! llvm.call @symm_chk_read(%slot, %p, %four, %here) : (!llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
//! %v = llvm.load %slot : !llvm.ptr -> f32
//! ```
//!
//! A place that is read and then written, with nothing but arithmetic between, is reported by one call:
//! `symm_chk_change` returns where the value is, for both accesses.
//!
//! Memory that the C library would allocate is the checker's (`symm_chk_allocate`), so that it is checked, too. An
//! integer division is reported if its divisor may be zero (`symm_chk_divide`), and a vector that has to be aligned
//! (`symm_chk_align`). So is memory on the stack that has at least 4 KiB, or a size that is not known
//! (`symm_chk_stack`).
//!
//! Each round of a loop is reported, too, and each call of a function that calls others (`symm_chk_turn`).
//!
//! Accesses to the stack of their own function stay as they are, and so do the functions that load the arguments of a
//! kernel or a host function. An unknown op that may access memory is rejected (S1), so that no access is missed. So
//! are calls with a pointer to functions outside of the module, and globals that are written.

mod calls;
mod changes;
mod lanes;
mod looks;
mod own;

use crate::ir::ordering::{self, ACQ_REL, ACQUIRE, NOT_ATOMIC, RELAXED, RELEASE, SEQ_CST, UNORDERED};
use crate::ir::{Builder, blocks, collect, context, definition, mutable, name, structure};
use crate::pass::{Ir, Pass, Values};
use calls::Calls;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::{Attribute, BlockLike, OperationRef, Type, TypeLike, Value, ValueLike};
use std::collections::HashSet;
use symm_abi::{check, kernel};
use symm_dialect::attributes::ROUND_ATTRIBUTE;
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::pointer::is_llvm_pointer;
use symm_dialect::shape::scalar;
use symm_dialect::symbol::symbol;
use symm_dialect::text;

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-instrument-accesses",
    summary: "Report every memory access of a program in the LLVM dialect to symm-check",
    options: &[],
    run,
};

fn run(root: OperationRef, _: &Values) -> Result<Ir, Reported> {
    let functions: Vec<_> = collect(root).into_iter().filter(|op| name(*op) == structure::LLVM_FUNC).collect();
    let with_code = functions.iter().filter(|op| !blocks(**op).is_empty());
    let defined: HashSet<String> = with_code.filter_map(|op| symbol(*op)).collect();
    let calls = Calls::new(root);
    let mut outcome = Ok(());
    for function in functions {
        let name = symbol(function).unwrap_or_default();
        if [kernel::ENTRY, kernel::PACKED].iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        if function.parent_operation() != Some(root) && !blocks(function).is_empty() {
            let message = "S1: symm-check takes no functions of nested modules: lower those modules first";
            outcome = outcome.and(Err(error(function, message)));
            continue;
        }
        turns(function, &calls);
        outcome = outcome.and(looks::tell(function, &calls));
        changes::pair(function, &calls);
        for op in collect(function) {
            outcome = outcome.and(instrument(op, &calls, &defined));
        }
    }
    for op in collect(root) {
        probe(op);
        outcome = outcome.and(refuse_global(op));
    }
    outcome.map(|()| Ir::Changed)
}

/// A loop tells of each of its rounds, and a function that calls others of each of its own calls: they may have no end.
/// Each loop has a branch to a block that is not after its own.
fn turns<'c: 'a, 'a>(function: OperationRef<'c, 'a>, calls: &Calls<'c, 'a>) {
    let all = blocks(function);
    let tell = |op: OperationRef<'c, 'a>| {
        let b = Builder::before(op);
        calls.call(&b, &check::TURN, [calls.location(&b)]);
    };
    for (nth, block) in all.iter().enumerate() {
        let back = block.terminator().filter(|op| op.successors().any(|next| all[..=nth].contains(&next)));
        back.into_iter().for_each(tell);
    }
    if collect(function).into_iter().any(|op| name(op) == "llvm.call") {
        all.first().and_then(BlockLike::first_operation).into_iter().for_each(tell);
    }
}

/// Has a function touch each page of its stack when it takes it, so that it can't leave out the page after the end.
fn probe(op: OperationRef) {
    if name(op) == structure::LLVM_FUNC && !blocks(op).is_empty() {
        let how = Attribute::parse(context(op), r#"[["probe-stack", "inline-asm"]]"#).expect("an attribute");
        mutable(op).set_attribute("passthrough", how);
    }
}

/// A global that is written would keep its value from one execution to the next.
fn refuse_global<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<(), Reported> {
    if name(op) == "llvm.mlir.global" && !op.has_attribute("constant") {
        return Err(error(op, "S1: symm-check cannot follow globals that may be written; use symm.alloc"));
    }
    Ok(())
}

fn instrument<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    calls: &Calls<'c, 'a>,
    defined: &HashSet<String>,
) -> Result<(), Reported> {
    match name(op) {
        "llvm.load" => load(op, calls),
        "llvm.store" => store(op, calls),
        "llvm.atomicrmw" => update(op, calls),
        "llvm.cmpxchg" => compare(op, calls),
        "llvm.fence" => {
            let b = Builder::before(op);
            let operands = [order(&b, op, "ordering")?, scope(&b, op)?, b.llvm_i32(check::Group::Thread as i64)];
            calls.call(&b, &check::FENCE, [operands[0], operands[1], operands[2], calls.location(&b)]);
            b.erase(op);
            Ok(())
        }
        "llvm.intr.memcpy" | "llvm.intr.memcpy.inline" | "llvm.intr.memmove" => {
            copy(op, calls);
            Ok(())
        }
        "llvm.intr.memset" => {
            fill(op, calls);
            Ok(())
        }
        "llvm.intr.masked.load" | "llvm.intr.masked.gather" => lanes::read(op, calls),
        "llvm.intr.masked.store" | "llvm.intr.masked.scatter" => lanes::write(op, calls),
        "llvm.call" if own::allocates(op, defined) => {
            own::allocate(op, calls);
            Ok(())
        }
        "llvm.call" => refuse_call(op, defined),
        "llvm.alloca" => {
            own::grow(op, calls);
            Ok(())
        }
        "llvm.sdiv" | "llvm.srem" | "llvm.udiv" | "llvm.urem" => {
            own::divide(op, calls);
            Ok(())
        }
        "llvm.inline_asm" if op.has_attribute(ROUND_ATTRIBUTE) => {
            Builder::before(op).erase(op);
            Ok(())
        }
        "llvm.inline_asm" | "llvm.call_intrinsic" => Err(error(op, "S1: symm-check can't follow what it accesses")),
        other if is_harmless(other) || !op.operands().any(|operand| holds_pointer(operand.r#type())) => Ok(()),
        other => Err(error(op, &format!("S1: symm-check does not know what {other} accesses"))),
    }
}

/// Ops that take pointers and access nothing.
fn is_harmless(name: &str) -> bool {
    let exact = [
        "llvm.getelementptr",
        "llvm.ptrtoint",
        "llvm.inttoptr",
        "llvm.bitcast",
        "llvm.addrspacecast",
        "llvm.icmp",
        "llvm.select",
        "llvm.freeze",
        "llvm.br",
        "llvm.cond_br",
        "llvm.switch",
        "llvm.return",
        structure::LLVM_FUNC,
        "llvm.intr.lifetime.start",
        "llvm.intr.lifetime.end",
        "llvm.intr.prefetch",
        "llvm.intr.assume",
        "llvm.intr.ptrmask",
        "llvm.intr.stackrestore",
        "llvm.intr.launder.invariant.group",
    ];
    let prefixes = ["llvm.extract", "llvm.insert", "llvm.shufflevector", "llvm.mlir."];
    exact.contains(&name) || prefixes.iter().any(|prefix| name.starts_with(prefix))
}

fn holds_pointer(ty: Type) -> bool {
    is_llvm_pointer(scalar(ty))
}

/// Whether an address is on the stack of its own function.
pub(super) fn is_private(pointer: Value) -> bool {
    match definition(pointer) {
        Some(op) if name(op) == "llvm.alloca" => true,
        Some(op) if name(op) == "llvm.call" => changes::is_place(pointer),
        Some(op) if matches!(name(op), "llvm.getelementptr" | "llvm.bitcast" | "llvm.addrspacecast") => {
            op.operand(0).is_ok_and(is_private)
        }
        _ => false,
    }
}

fn operand<'c: 'a, 'a>(op: OperationRef<'c, 'a>, index: usize) -> Value<'c, 'a> {
    op.operand(index).expect("the verifier has counted the operands")
}

fn result_type<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Type<'c> {
    op.result(0).expect("one result").r#type()
}

fn number(op: OperationRef, attribute: &str) -> i64 {
    op.attribute(attribute).and_then(IntegerAttribute::try_from).map_or(0, |number| number.value())
}

fn is_strong(op: OperationRef) -> bool {
    op.has_attribute("volatile_") || ordering::of(op, "ordering") > UNORDERED
}

/// The number of the order that LLVM's dialect has on an op. Sequential consistency is taken for an acquire and a
/// release.
fn order<'c: 'a, 'a>(b: &Builder<'c>, op: OperationRef<'c, 'a>, attribute: &str) -> Result<Value<'c, 'c>, Reported> {
    let order = match (ordering::of(op, attribute), name(op)) {
        (NOT_ATOMIC | UNORDERED | RELAXED, _) => check::Order::Relaxed,
        (ACQUIRE, _) | (SEQ_CST, "llvm.load") => check::Order::Acquire,
        (RELEASE, _) | (SEQ_CST, "llvm.store") => check::Order::Release,
        (ACQ_REL | SEQ_CST, _) => check::Order::AcqRel,
        _ => return Err(error(op, "S1: symm-check does not know its order")),
    };
    Ok(b.llvm_i32(order as i64))
}

fn scope<'c: 'a, 'a>(b: &Builder<'c>, op: OperationRef<'c, 'a>) -> Result<Value<'c, 'c>, Reported> {
    let scope = op.attribute("syncscope").ok().and_then(text::string).unwrap_or_default();
    let scope = match scope.as_str() {
        "" | "sys" | "system" => check::Scope::Sys,
        "gpu" | "device" | "agent" => check::Scope::Gpu,
        "cluster" => check::Scope::Cluster,
        "cta" | "block" | "workgroup" => check::Scope::Cta,
        other => return Err(error(op, &format!("S1: symm-check does not know the scope '{other}'"))),
    };
    Ok(b.llvm_i32(scope as i64))
}

fn load<'c: 'a, 'a>(op: OperationRef<'c, 'a>, calls: &Calls<'c, 'a>) -> Result<(), Reported> {
    let (b, from, ty) = (Builder::before(op), operand(op, 0), result_type(op));
    if is_private(from) {
        return Ok(());
    }
    own::align(op, from, ty, calls);
    let (slot, bytes) = (calls::slot(op, ty), calls::bytes(&b, op, ty)?);
    if is_strong(op) {
        let (order, scope) = (order(&b, op, "ordering")?, scope(&b, op)?);
        calls.call(&b, &check::LOAD, [slot, from, bytes, order, scope, calls.location(&b)]);
    } else {
        calls.call(&b, &check::READ, [slot, from, bytes, calls.location(&b)]);
    }
    b.replace(op, &[b.load(slot, ty, &[])]);
    Ok(())
}

fn store<'c: 'a, 'a>(op: OperationRef<'c, 'a>, calls: &Calls<'c, 'a>) -> Result<(), Reported> {
    let (b, value, to) = (Builder::before(op), operand(op, 0), operand(op, 1));
    if is_private(to) {
        return Ok(());
    }
    own::align(op, to, value.r#type(), calls);
    let bytes = calls::bytes(&b, op, value.r#type())?;
    let slot = calls::spill(&b, op, value);
    if is_strong(op) {
        let (order, scope) = (order(&b, op, "ordering")?, scope(&b, op)?);
        calls.call(&b, &check::STORE, [to, slot, bytes, order, scope, calls.location(&b)]);
    } else {
        calls.call(&b, &check::WRITE, [to, slot, bytes, calls.location(&b)]);
    }
    b.erase(op);
    Ok(())
}

fn update<'c: 'a, 'a>(op: OperationRef<'c, 'a>, calls: &Calls<'c, 'a>) -> Result<(), Reported> {
    let (b, at, value) = (Builder::before(op), operand(op, 0), operand(op, 1));
    let ty = value.r#type();
    let kind = match number(op, "bin_op") {
        0 => check::Update::Exchange,
        1 => check::Update::Add,
        2 => check::Update::Sub,
        3 => check::Update::And,
        5 => check::Update::Or,
        6 => check::Update::Xor,
        7 => check::Update::Max,
        8 => check::Update::Min,
        9 => check::Update::UMax,
        10 => check::Update::UMin,
        11 if ty.is_f32() => check::Update::AddF32,
        11 if ty.is_f64() => check::Update::AddF64,
        11 if ty.is_f16() => check::Update::AddF16,
        11 if ty.is_bf16() => check::Update::AddBf16,
        _ => return Err(error(op, "S1: symm-check does not know this atomic update")),
    };
    let (bytes, old) = (calls::bytes(&b, op, ty)?, calls::slot(op, ty));
    let value = calls::spill(&b, op, value);
    let (order, scope, kind) = (order(&b, op, "ordering")?, scope(&b, op)?, b.llvm_i32(kind as i64));
    calls.call(&b, &check::UPDATE, [old, at, kind, value, bytes, order, scope, calls.location(&b)]);
    b.replace(op, &[b.load(old, ty, &[])]);
    Ok(())
}

fn compare<'c: 'a, 'a>(op: OperationRef<'c, 'a>, calls: &Calls<'c, 'a>) -> Result<(), Reported> {
    let (b, at, expected, desired) = (Builder::before(op), operand(op, 0), operand(op, 1), operand(op, 2));
    let ty = expected.r#type();
    let (bytes, old, expects) = (calls::bytes(&b, op, ty)?, calls::slot(op, ty), calls::spill(&b, op, expected));
    let desired = calls::spill(&b, op, desired);
    let (order, scope) = (order(&b, op, "success_ordering")?, scope(&b, op)?);
    let operands = [old, at, expects, desired, bytes, order, scope, calls.location(&b)];
    calls.call(&b, &check::COMPARE, operands);
    let old = b.load(old, ty, &[]);
    let same = b.value("llvm.icmp", &[old, expected], b.int(1), &[("predicate", b.integer(64, 0))]);
    let pair = b.value("llvm.mlir.undef", &[], result_type(op), &[]);
    b.replace(op, &[b.insert(b.insert(pair, &[0], old), &[1], same)]);
    Ok(())
}

fn copy<'c: 'a, 'a>(op: OperationRef<'c, 'a>, calls: &Calls<'c, 'a>) {
    let (b, to, from) = (Builder::before(op), operand(op, 0), operand(op, 1));
    if is_private(to) && is_private(from) {
        return;
    }
    let bytes = match op.operand(2) {
        Ok(bytes) => calls::wide(&b, bytes),
        Err(_) => b.llvm_i64(number(op, "len")),
    };
    calls.call(&b, &check::COPY, [to, from, bytes, calls.location(&b)]);
    b.erase(op);
}

fn fill<'c: 'a, 'a>(op: OperationRef<'c, 'a>, calls: &Calls<'c, 'a>) {
    let (b, to, byte) = (Builder::before(op), operand(op, 0), operand(op, 1));
    if is_private(to) {
        return;
    }
    let (byte, bytes) = (b.value("llvm.zext", &[byte], b.int(32), &[]), calls::wide(&b, operand(op, 2)));
    calls.call(&b, &check::FILL, [to, byte, bytes, calls.location(&b)]);
    b.erase(op);
}

fn refuse_call<'c: 'a, 'a>(op: OperationRef<'c, 'a>, defined: &HashSet<String>) -> Result<(), Reported> {
    let Some(callee) = op.attribute("callee").ok().and_then(text::symbol) else {
        return Ok(());
    };
    let is_ours = callee.starts_with("symm_rt_") || callee.starts_with("symm_chk_") || callee == changes::CHANGED;
    if is_ours || defined.contains(&callee) {
        return Ok(());
    }
    if op.operands().any(|operand| holds_pointer(operand.r#type())) {
        return Err(error(op, &format!("S1: symm-check cannot see what '{callee}' does with its pointers")));
    }
    Ok(())
}
