//! Places that are read and then written, with nothing between that is reported: both accesses are one call, as long as
//! they are simple.
//!
//! ```mlir
//! %v = llvm.load %p : !llvm.ptr -> i32
//! %w = llvm.add %v, %one : i32
//! llvm.store %w, %p : i32, !llvm.ptr
//! ```
//!
//! becomes
//!
//! ```mlir
//! %place = llvm.call @symm_chk_change(%slot, %p, %four, %here, %there) : (…) -> !llvm.ptr
//! %v = llvm.load %place : !llvm.ptr -> i32
//! %w = llvm.add %v, %one : i32
//! llvm.store %w, %place : i32, !llvm.ptr
//! llvm.call @_symm_changed(%p, %slot, %place, %four, %there) : (…) -> ()
//! ```
//!
//! The last call is of a function of the module, which reports the write if the place is the slot.

use super::calls::{self, Calls};
use super::{is_private, is_strong, operand, own, result_type};
use crate::ir::{Builder, collect, definition, name};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use symm_abi::check;
use symm_dialect::text;

/// The function that ends a change.
pub const CHANGED: &str = "_symm_changed";

/// Its text. `always_inline`: it is a comparison nearly always.
const TEXT: &str = "
llvm.func @symm_chk_write(!llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
llvm.func internal @_symm_changed(
    %at: !llvm.ptr, %slot: !llvm.ptr, %place: !llvm.ptr, %bytes: i64, %loc: !llvm.ptr
) attributes {always_inline} {
  %is_left = llvm.icmp \"eq\" %place, %slot : !llvm.ptr
  llvm.cond_br %is_left, ^write, ^end
^write:
  llvm.call @symm_chk_write(%at, %slot, %bytes, %loc) : (!llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
  llvm.br ^end
^end:
  llvm.return
}";

/// How many operations may be between the two accesses.
const MOST_BETWEEN: usize = 32;

/// Makes the changes of a function.
pub fn pair<'c: 'a, 'a>(function: OperationRef<'c, 'a>, calls: &Calls<'c, 'a>) {
    let loads: Vec<_> = collect(function).into_iter().filter(|op| name(*op) == "llvm.load").collect();
    for load in loads {
        let at = operand(load, 0);
        if !is_private(at)
            && !is_strong(load)
            && let Some(bytes) = calls::size(result_type(load))
            && let Some(store) = write_after(load, at)
        {
            change(load, store, bytes.cast_signed(), calls);
        }
    }
}

/// The write of a place after a read of it, if there is nothing but arithmetic between them.
fn write_after<'c: 'a, 'a>(load: OperationRef<'c, 'a>, at: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    let after = std::iter::successors(load.next_in_block(), OperationLike::next_in_block).take(MOST_BETWEEN);
    let store = after.into_iter().find(|op| !is_arithmetic(name(*op)))?;
    let is_write = name(store) == "llvm.store" && !is_strong(store) && operand(store, 1) == at;
    (is_write && operand(store, 0).r#type() == result_type(load)).then_some(store)
}

/// Ops that access nothing, always come to their end, and call nothing.
pub fn is_arithmetic(name: &str) -> bool {
    let exact = [
        "llvm.add",
        "llvm.sub",
        "llvm.mul",
        "llvm.and",
        "llvm.or",
        "llvm.xor",
        "llvm.shl",
        "llvm.lshr",
        "llvm.ashr",
        "llvm.fadd",
        "llvm.fsub",
        "llvm.fmul",
        "llvm.fdiv",
        "llvm.fneg",
        "llvm.icmp",
        "llvm.fcmp",
        "llvm.select",
        "llvm.zext",
        "llvm.sext",
        "llvm.trunc",
        "llvm.fpext",
        "llvm.fptrunc",
        "llvm.sitofp",
        "llvm.uitofp",
        "llvm.bitcast",
        "llvm.getelementptr",
        "llvm.mlir.constant",
        "llvm.intr.fma",
        "llvm.intr.fmuladd",
        "llvm.intr.smax",
        "llvm.intr.smin",
        "llvm.intr.umax",
        "llvm.intr.umin",
    ];
    exact.contains(&name)
}

fn change<'c: 'a, 'a>(load: OperationRef<'c, 'a>, store: OperationRef<'c, 'a>, bytes: i64, calls: &Calls<'c, 'a>) {
    let (b, at, ty) = (Builder::before(load), operand(load, 0), result_type(load));
    let (after, slot, size) = (Builder::after(store), calls::slot(load, ty), b.llvm_i64(bytes));
    own::align(load, at, ty, calls);
    let (here, there) = (calls.location(&b), calls.location_of(&b, store.location()));
    let place = calls.call(&b, &check::CHANGE, [slot, at, size, here, there])[0];
    b.replace(load, &[b.load(place, ty, &[])]);
    after.store(operand(store, 0), place, &[]);
    calls.declare(&after, &check::WRITE);
    calls.call_own(&after, CHANGED, TEXT, &[calls::generic(&b, at), slot, place, size, there]);
    after.erase(store);
}

/// Whether a pointer is the place of a change.
pub fn is_place(pointer: Value) -> bool {
    let callee = definition(pointer).and_then(|op| op.attribute("callee").ok().and_then(text::symbol));
    callee.is_some_and(|callee| callee == check::CHANGE.name)
}
