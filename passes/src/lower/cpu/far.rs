//! Accesses of ranks that an engine may have to reach (N1 to N4): the near path is what it is without an engine, the
//! far one a call of the runtime with the same address, which is in no memory here and says rank and place.

use super::data::context_pointer;
use super::runtime::{Runtime, stack};
use crate::ir::Builder;
use crate::ir::address::{data_type, from_memory, memory_type, to_memory};
use crate::lower::access::{self, is_lane_mask, remote_element};
use crate::lower::bulk::{self, Run, Transfer};
use crate::lower::translation::Table;
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{OperationRef, Type, TypeLike, Value, ValueLike};
use symm_abi::far::Update;
use symm_abi::functions;
use symm_dialect::is_current_rank;
use symm_dialect::ops::{RemoteLoad, RemoteStore, RmwKind, SymmOp};
use symm_dialect::shape::{Shaped, byte_width, scalar};

/// Whether all ranks that an op names are near, `i1`; `None` where that is known.
pub fn near<'c: 'a, 'a>(op: SymmOp<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Option<Value<'c, 'c>> {
    let ctx = op.ctx().filter(|_| runtime.engine)?;
    let ranks: Vec<Value> = match op.ends() {
        Some((src, dst)) => {
            let ways = [src.way, dst.way].into_iter().flatten();
            ways.map(|(rank, _)| op.operand_group(rank)[0]).collect()
        }
        None => op.operand_group("rank"),
    };
    let table = Table::new(op.operation(), ctx);
    let others = ranks.into_iter().filter(|rank| !is_current_rank(ctx, *rank));
    others.map(|rank| table.is_near(b, rank)).reduce(|one, other| b.binary("arith.andi", one, other))
}

/// Calls for far ranks.
pub struct Far<'c, 'a, 'r> {
    pub ctx: Value<'c, 'a>,
    pub runtime: &'r Runtime<'c, 'a>,
}

impl<'c: 'a, 'a> Far<'c, 'a, '_> {
    fn copy(&self, b: &Builder<'c>, to: Value<'c, 'c>, from: Value<'c, 'c>, bytes: Value<'c, 'c>) {
        let operands = [context_pointer(b, self.ctx), to, from, bytes, self.runtime.location(b)];
        self.runtime.call(b, &functions::FAR_COPY, operands);
    }

    /// Updates an integer or a float by its bits; the old value.
    fn call(
        &self,
        b: &Builder<'c>,
        kind: Update,
        address: Value<'c, 'c>,
        (value, expected): (Value<'c, '_>, Option<Value<'c, '_>>),
    ) -> Value<'c, 'c> {
        let ty = value.r#type();
        let bytes = b.i32(byte_width(ty).cast_signed());
        let expected = expected.map_or_else(|| b.i64(0), |expected| as_word(b, expected));
        let (value, kind) = (as_word(b, value), b.i32(kind as i64));
        let ctx = context_pointer(b, self.ctx);
        let operands = [ctx, address, kind, bytes, value, expected, self.runtime.location(b)];
        let [old] = self.runtime.call(b, &functions::FAR_UPDATE, operands);
        from_word(b, old, ty)
    }

    /// Sets a value at once, by `set` where it is near.
    pub fn set(
        &self,
        b: &Builder<'c>,
        near: Option<Value<'c, 'c>>,
        (address, value): (Value<'c, 'c>, Value<'c, '_>),
        set: impl FnOnce(&Builder<'c>),
    ) {
        let Some(near) = near else { return set(b) };
        b.either(near, set, |b| {
            self.call(b, Update::Set, address, (value, None));
        });
    }

    /// Updates a value, by `update` where it is near; the old one.
    pub fn update(
        &self,
        b: &Builder<'c>,
        near: Option<Value<'c, 'c>>,
        (kind, address, value): (RmwKind, Value<'c, 'c>, Value<'c, '_>),
        update: impl FnOnce(&Builder<'c>) -> Value<'c, 'c>,
    ) -> Value<'c, 'c> {
        let Some(near) = near else { return update(b) };
        b.choose(near, value.r#type(), update, |b| match far_update(kind) {
            Some(kind) => self.call(b, kind, address, (value, None)),
            None => self.add_float(b, address, value),
        })
    }

    /// Compares and swaps, by `swap` where it is near; the old value.
    pub fn swap(
        &self,
        b: &Builder<'c>,
        near: Option<Value<'c, 'c>>,
        (address, (expected, desired)): (Value<'c, 'c>, (Value<'c, '_>, Value<'c, '_>)),
        swap: impl FnOnce(&Builder<'c>) -> Value<'c, 'c>,
    ) -> Value<'c, 'c> {
        let Some(near) = near else { return swap(b) };
        b.choose(near, desired.r#type(), swap, |b| self.call(b, Update::Swap, address, (desired, Some(expected))))
    }

    /// Adds a float: retries a swap until the value has not changed meanwhile.
    fn add_float(&self, b: &Builder<'c>, address: Value<'c, 'c>, value: Value<'c, '_>) -> Value<'c, 'c> {
        let ty = value.r#type();
        let bits = b.int(u32::try_from(8 * byte_width(ty)).unwrap_or(64));
        let first = self.call(b, Update::Or, address, (b.constant(bits, 0), None));
        let swap = |b: &Builder<'c>, carried: &[Value<'c, 'c>]| {
            let old = b.value("llvm.bitcast", &[carried[0]], ty, &[]);
            let sum = b.value("arith.addf", &[old, b.cast(value, ty)], ty, &[]);
            let sum = b.value("llvm.bitcast", &[sum], bits, &[]);
            let seen = self.call(b, Update::Swap, address, (sum, Some(carried[0])));
            (b.compare(CmpiPredicate::Ne, seen, carried[0]), vec![seen])
        };
        let old = b.repeat(&[first], swap, |_, carried| carried.to_vec())[0];
        b.value("llvm.bitcast", &[old], ty, &[])
    }
}

/// The runtime's update; `None` for a sum of floats.
fn far_update(kind: RmwKind) -> Option<Update> {
    Some(match kind {
        RmwKind::Add => Update::Add,
        RmwKind::Sub => Update::Sub,
        RmwKind::And => Update::And,
        RmwKind::Or => Update::Or,
        RmwKind::Xor => Update::Xor,
        RmwKind::Min => Update::Min,
        RmwKind::Max => Update::Max,
        RmwKind::UMin => Update::UnsignedMin,
        RmwKind::UMax => Update::UnsignedMax,
        RmwKind::Xchg => Update::Set,
        RmwKind::FAdd => return None,
    })
}

/// The bits of an integer or a float, zero-extended.
fn as_word<'c>(b: &Builder<'c>, value: Value<'c, '_>) -> Value<'c, 'c> {
    let ty = value.r#type();
    let bits = b.int(u32::try_from(8 * byte_width(ty)).unwrap_or(64));
    let value = if ty.is_float() { b.value("llvm.bitcast", &[value], bits, &[]) } else { b.cast(value, ty) };
    if byte_width(ty) == 8 { value } else { b.value("arith.extui", &[value], b.int(64), &[]) }
}

/// The value of those bits.
fn from_word<'c>(b: &Builder<'c>, word: Value<'c, 'c>, ty: Type<'c>) -> Value<'c, 'c> {
    let bits = b.int(u32::try_from(8 * byte_width(ty)).unwrap_or(64));
    let value = if byte_width(ty) == 8 { word } else { b.value("arith.trunci", &[word], bits, &[]) };
    if ty.is_float() { b.value("llvm.bitcast", &[value], ty, &[]) } else { value }
}

/// Copies what a transfer says, part by part where memory is not contiguous.
pub fn copy<'c: 'a, 'a>(
    op: SymmOp<'c, 'a>,
    b: &Builder<'c>,
    runtime: &Runtime<'c, 'a>,
    transfer: &Transfer<'c, 'a>,
    near: Value<'c, 'c>,
) {
    let far = Far { ctx: op.ctx().expect("a bulk copy has a context"), runtime };
    bulk::copy_by(b, (transfer.src, transfer.dst), transfer.count, &|b, to, from, run| {
        let call = |b: &Builder<'c>| {
            let bytes = match run {
                Run::Bytes(bytes) => bytes,
                Run::Element(ty) => b.i64(byte_width(ty).cast_signed()),
            };
            far.copy(b, to, from, bytes);
        };
        b.either(near, |b| bulk::move_run(b, to, from, run), call);
    });
}

/// Stack memory for a value, and what its accesses say of it.
struct Slot<'c> {
    ty: Type<'c>,
    memory: Value<'c, 'c>,
}

impl<'c> Slot<'c> {
    fn new<'a>(op: OperationRef<'c, 'a>, ty: Type<'c>) -> Self
    where
        'c: 'a,
    {
        Self { ty, memory: stack(op, ty, 1) }
    }

    fn load(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        b.load(self.memory, self.ty, &[("alignment", b.integer(64, 16))])
    }

    fn store(&self, b: &Builder<'c>, value: Value<'c, '_>) {
        b.store(value, self.memory, &[("alignment", b.integer(64, 16))]);
    }

    fn lanes(&self) -> u64 {
        Shaped::vector(self.ty).map_or(1, |vector| vector.dimensions().into_iter().flatten().product())
    }

    /// Calls `part(offset, bytes)` for what a mask lets through: all at once, or lane by lane where not all are on.
    fn masked(&self, b: &Builder<'c>, mask: Option<Value<'c, '_>>, part: impl Fn(&Builder<'c>, i64, i64)) {
        let width = byte_width(scalar(self.ty)).cast_signed();
        let whole = |b: &Builder<'c>| part(b, 0, width * self.lanes().cast_signed());
        match mask {
            None => whole(b),
            Some(mask) if is_lane_mask(mask) => {
                let each = |b: &Builder<'c>| {
                    for lane in 0..self.lanes().cast_signed() {
                        let is_on = b.value("llvm.extractelement", &[mask, b.i64(lane)], b.int(1), &[]);
                        b.when(is_on, |b| part(b, lane * width, width));
                    }
                };
                b.either(access::every_lane(b, mask, self.lanes()), whole, each);
            }
            Some(mask) => b.when(mask, whole),
        }
    }
}

/// `remote_load`.
pub fn remote_load<'c: 'a, 'a>(
    op: RemoteLoad<'c, 'a>,
    b: &Builder<'c>,
    runtime: &Runtime<'c, 'a>,
) -> Vec<Value<'c, 'c>> {
    let Some(near) = near(SymmOp::RemoteLoad(op), b, runtime) else { return access::remote_load(op, b) };
    let (ty, far) = (op.result().r#type(), Far { ctx: op.ctx(), runtime });
    let address = remote_element(SymmOp::RemoteLoad(op), b, op.ptr(), &op.indices());
    let slot = Slot::new(op.operation(), data_type(b, memory_type(b, ty)));
    let call = |b: &Builder<'c>| {
        let other = op.other().map_or_else(|| b.zero(slot.ty), |other| to_memory(b, other));
        slot.store(b, other);
        slot.masked(b, op.mask(), |b, offset, bytes| {
            let [to, from] = [slot.memory, address].map(|start| b.byte_offset_constant(start, offset));
            far.copy(b, to, from, b.i64(bytes));
        });
        from_memory(b, slot.load(b), ty)
    };
    vec![b.choose(near, ty, |b| access::load_at(op, b, address), call)]
}

/// `remote_store`.
pub fn remote_store<'c: 'a, 'a>(
    op: RemoteStore<'c, 'a>,
    b: &Builder<'c>,
    runtime: &Runtime<'c, 'a>,
) -> Vec<Value<'c, 'c>> {
    let Some(near) = near(SymmOp::RemoteStore(op), b, runtime) else { return access::remote_store(op, b) };
    let far = Far { ctx: op.ctx(), runtime };
    let address = remote_element(SymmOp::RemoteStore(op), b, op.ptr(), &op.indices());
    let call = |b: &Builder<'c>| {
        let value = to_memory(b, op.value());
        let slot = Slot::new(op.operation(), value.r#type());
        slot.store(b, value);
        slot.masked(b, op.mask(), |b, offset, bytes| {
            let [from, to] = [slot.memory, address].map(|start| b.byte_offset_constant(start, offset));
            far.copy(b, to, from, b.i64(bytes));
        });
    };
    b.either(near, |b| access::store_at(op, b, address), call);
    Vec::new()
}
