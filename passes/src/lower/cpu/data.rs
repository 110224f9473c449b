//! Copies, between the calls that record them.

use super::runtime::Runtime;
use crate::ir::{Builder, definition};
use crate::lower::bulk::{self, End};
use crate::lower::translation::delta_of;
use melior::ir::{Type, Value};
use symm_dialect::ops::{Copy, Get, Put, SymmOp};

/// What the runtime's trace calls a transfer (runtime/src/abi.rs).
#[derive(Clone, Copy)]
pub enum Transfer {
    Put = 0,
    Get = 1,
    Copy = 2,
}

/// The count and element type of a copy between pointers.
fn counted<'c: 'a, 'a>(count: Option<Value<'c, 'a>>, element: Option<Type<'c>>) -> Option<(Value<'c, 'a>, Type<'c>)> {
    count.zip(element)
}

pub fn get<'c: 'a, 'a>(op: Get<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Vec<Value<'c, 'c>> {
    let delta = delta_of(SymmOp::Get(op), b, "rank", "delta");
    let src = End { pointer: op.src(), delta: Some(delta) };
    let dst = End { pointer: op.dst(), delta: None };
    let count = counted(op.count(), op.element());
    transfer(b, runtime, Transfer::Get, op.ctx(), op.rank(), src, src, dst, count);
    Vec::new()
}

pub fn put<'c: 'a, 'a>(op: Put<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Vec<Value<'c, 'c>> {
    let delta = delta_of(SymmOp::Put(op), b, "rank", "delta");
    let src = End { pointer: op.src(), delta: None };
    let dst = End { pointer: op.dst(), delta: Some(delta) };
    transfer(b, runtime, Transfer::Put, op.ctx(), op.rank(), dst, src, dst, counted(op.count(), op.element()));
    Vec::new()
}

pub fn copy<'c: 'a, 'a>(op: Copy<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Vec<Value<'c, 'c>> {
    let from = delta_of(SymmOp::Copy(op), b, "from", "from_delta");
    let to = delta_of(SymmOp::Copy(op), b, "to", "to_delta");
    let src = End { pointer: op.src(), delta: Some(from) };
    let dst = End { pointer: op.dst(), delta: Some(to) };
    transfer(b, runtime, Transfer::Copy, op.ctx(), op.to(), dst, src, dst, counted(op.count(), op.element()));
    Vec::new()
}

/// A copy, between the two calls that record it.
#[allow(clippy::too_many_arguments)]
pub fn transfer<'c: 'a, 'a>(
    b: &Builder<'c>,
    runtime: &Runtime<'c, 'a>,
    kind: Transfer,
    ctx: Value<'c, 'a>,
    peer: Value<'c, 'a>,
    remote: End<'c, 'a>,
    src: End<'c, 'a>,
    dst: End<'c, 'a>,
    count: Option<(Value<'c, 'a>, Type<'c>)>,
) {
    if runtime.trace {
        let kind = b.i32(kind as i64);
        let bytes = bulk::bytes(b, src.pointer, count);
        let (ctx, peer) = (context_pointer(b, ctx), b.cast(peer, b.int(32)));
        runtime.call(b, "trace_begin", &[kind, ctx, peer, remote.start(b), bytes, runtime.location(b)], &[]);
    }
    bulk::copy(b, src, dst, count);
    if runtime.trace {
        runtime.call(b, "trace_end", &[], &[]);
    }
}

/// The pointer by which the runtime knows a context; null for one made from parts: the runtime asks its thread.
pub fn context_pointer<'c>(b: &Builder<'c>, ctx: Value<'c, '_>) -> Value<'c, 'c> {
    match definition(ctx).and_then(SymmOp::cast) {
        Some(SymmOp::Ctx(_)) => b.value("llvm.mlir.zero", &[], b.ptr(), &[]),
        _ => b.cast(ctx, b.ptr()),
    }
}
