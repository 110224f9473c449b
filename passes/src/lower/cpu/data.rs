//! Loads, stores and copies.

use super::runtime::Runtime;
use crate::ir::{Builder, definition};
use crate::lower::address::{Descriptor, data_type, element};
use crate::lower::bulk::{self, End};
use crate::lower::translation::delta_of;
use melior::ir::{Attribute, Type, Value, ValueLike};
use symm_dialect::ops::{AsRemote, Copy, Get, Put, RemoteLoad, RemoteStore, SymmOp};
use symm_dialect::shape::{Shaped, natural_alignment};

/// What the runtime's trace calls a transfer (runtime/src/abi.rs).
#[derive(Clone, Copy)]
pub enum Transfer {
    Put = 0,
    Get = 1,
    Copy = 2,
}

pub fn as_remote<'c: 'a, 'a>(op: AsRemote<'c, 'a>, b: &Builder<'c>) -> Vec<Value<'c, 'c>> {
    let delta = delta_of(SymmOp::AsRemote(op), b, "rank", "delta");
    let ty = op.ptr().r#type();
    if Shaped::memref(ty).is_none() {
        return vec![b.byte_offset(op.ptr(), delta)];
    }
    let descriptor = Descriptor::ty(b, ty);
    let mut moved = b.cast(op.ptr(), descriptor);
    for field in [0, 1] {
        let position = b.parse(&format!("array<i64: {field}>"));
        let pointer = b.value("llvm.extractvalue", &[moved], b.ptr(), &[("position", position)]);
        let pointer = b.byte_offset(pointer, delta);
        moved = b.value("llvm.insertvalue", &[moved, pointer], descriptor, &[("position", position)]);
    }
    vec![b.cast(moved, ty)]
}

/// The address of an element on another rank.
pub fn remote_element<'c: 'a, 'a>(
    op: SymmOp<'c, 'a>,
    b: &Builder<'c>,
    pointer: Value<'c, 'a>,
    indices: &[Value<'c, 'a>],
) -> Value<'c, 'c> {
    let delta = delta_of(op, b, "rank", "delta");
    b.byte_offset(element(b, pointer, indices), delta)
}

/// How an access is made: aligned as the op says or as the value naturally is, `volatile` if it says so.
fn access<'c>(b: &Builder<'c>, ty: Type<'c>, alignment: Option<i64>, volatile: bool) -> Vec<(&'static str, Attribute<'c>)> {
    let alignment = alignment.unwrap_or_else(|| natural_alignment(ty));
    let mut attributes = vec![("alignment", b.integer(64, alignment))];
    if volatile {
        attributes.push(("volatile_", b.unit()));
    }
    attributes
}

/// A mask with a lane for each element.
fn is_lane_mask(mask: Value) -> bool {
    Shaped::vector(mask.r#type()).is_some()
}

pub fn remote_load<'c: 'a, 'a>(op: RemoteLoad<'c, 'a>, b: &Builder<'c>) -> Vec<Value<'c, 'c>> {
    let ty = op.result().r#type();
    let moved = data_type(b, ty);
    let address = remote_element(SymmOp::RemoteLoad(op), b, op.ptr(), &op.indices());
    let attributes = access(b, ty, op.alignment(), op.volatile_());
    let other = |b: &Builder<'c>| match op.other() {
        Some(other) => b.cast(other, moved),
        None => b.value("llvm.mlir.zero", &[], moved, &[]),
    };
    let value = match op.mask() {
        None => b.load(address, moved, &attributes),
        Some(mask) if is_lane_mask(mask) => {
            let alignment = op.alignment().unwrap_or_else(|| natural_alignment(ty));
            let attributes = [("alignment", b.integer(32, alignment))];
            b.value("llvm.intr.masked.load", &[address, b.cast(mask, mask.r#type()), other(b)], moved, &attributes)
        }
        Some(mask) => {
            let branch = b.branch(mask, &[moved], |b| vec![b.load(address, moved, &attributes)], |b| vec![other(b)]);
            branch.result(0).expect("one value").into()
        }
    };
    vec![b.cast(value, ty)]
}

pub fn remote_store<'c: 'a, 'a>(op: RemoteStore<'c, 'a>, b: &Builder<'c>) -> Vec<Value<'c, 'c>> {
    let ty = op.value().r#type();
    let value = b.cast(op.value(), data_type(b, ty));
    let address = remote_element(SymmOp::RemoteStore(op), b, op.ptr(), &op.indices());
    let attributes = access(b, ty, op.alignment(), op.volatile_());
    match op.mask() {
        None => b.store(value, address, &attributes),
        Some(mask) if is_lane_mask(mask) => {
            let alignment = op.alignment().unwrap_or_else(|| natural_alignment(ty));
            let attributes = [("alignment", b.integer(32, alignment))];
            b.op("llvm.intr.masked.store", &[value, address, b.cast(mask, mask.r#type())], &[], &attributes);
        }
        Some(mask) => {
            b.branch(mask, &[], |b| { b.store(value, address, &attributes); Vec::new() }, |_| Vec::new());
        }
    }
    Vec::new()
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
