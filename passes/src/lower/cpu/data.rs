//! Copies, between the calls that record them.

use super::far;
use super::runtime::Runtime;
use crate::ir::{Builder, address, definition};
use crate::lower::bulk::{self, End, Transfer};
use melior::ir::r#type::ShapedTypeLike;
use melior::ir::{Value, ValueLike};
use symm_abi::{check, functions, trace};
use symm_dialect::ops::{Group, Route, SymmOp};
use symm_dialect::shape::{Shaped, byte_width};

/// Does the copy of a `get`, `put` or `copy`, for the group that does it together.
pub fn transfer<'c: 'a, 'a>(op: SymmOp<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) {
    let group = op.group().expect("a bulk copy has a group");
    if runtime.check && group != Group::Thread && op.route() == Some(Route::Put) {
        let code = b.i32(super::check::group_code(group));
        runtime.call(b, &check::BEGIN_PUT, [code, runtime.location(b)]);
        let Transfer { src, count, .. } = transfer_alone(op, b, runtime);
        let element =
            count.map(|(_, element)| element).or_else(|| Some(Shaped::memref(src.pointer.r#type())?.element()));
        let bytes = b.i64(element.map_or(1, byte_width).cast_signed());
        runtime.call(b, &check::END_PUT, [code, bytes, runtime.location(b)]);
        return;
    }
    super::check::once(b, runtime, group, |b| {
        transfer_alone(op, b, runtime);
    });
}

/// Does the copy of a `get`, `put`, `copy` or `put_signal`, between the two calls that record it.
pub fn transfer_alone<'c: 'a, 'a>(op: SymmOp<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Transfer<'c, 'a> {
    let transfer = Transfer::new(op, b);
    if runtime.trace {
        let (src, dst) = op.ends().expect("a bulk copy");
        let (kind, far, remote) = match op.route().expect("one end of a bulk copy is on another rank") {
            Route::Get => (trace::Transfer::Get, src, transfer.src),
            Route::Put => (trace::Transfer::Put, dst, transfer.dst),
            Route::Copy => (trace::Transfer::Copy, dst, transfer.dst),
        };
        let (rank, _) = far.way.expect("the end that is recorded is on another rank");
        let peer = op.operand_group(rank)[0];
        let kind = b.i32(kind as i64);
        let bytes = address::bytes(b, transfer.src.pointer, transfer.count);
        let ctx = context_pointer(b, op.ctx().expect("a bulk copy has a context"));
        let peer = b.cast(peer, b.int(32));
        // `End::start` may change what makes the pointer, so the copy alone may call it.
        let near = End { delta: None, ..remote }.start(b);
        let start = remote.delta.map_or(near, |delta| b.byte_offset(near, delta));
        runtime.call(b, &functions::TRACE_BEGIN, [kind, ctx, peer, start, bytes, runtime.location(b)]);
    }
    let near = far::near(op, b, runtime);
    match near {
        None => bulk::copy(b, transfer.src, transfer.dst, transfer.count),
        Some(near) => far::copy(op, b, runtime, &transfer, near),
    }
    if runtime.trace {
        runtime.call(b, &functions::TRACE_END, []);
    }
    transfer
}

/// The pointer by which the runtime knows a context; null for one made from parts: the runtime asks its thread.
pub fn context_pointer<'c>(b: &Builder<'c>, ctx: Value<'c, '_>) -> Value<'c, 'c> {
    match definition(ctx).and_then(SymmOp::cast) {
        Some(SymmOp::Ctx(_)) => b.zero(b.ptr()),
        _ => b.cast(ctx, b.ptr()),
    }
}
