//! Loads and stores of far ranks, in words as wide as the engine and the alignment allow.

use super::{Far, bits_of, from_bits, lanes, size_of, to_bits};
use crate::ir::Builder;
use crate::ir::address::{from_memory, memory_type, to_memory};
use crate::lower::access::{alignment_of, is_lane_mask};
use crate::lower::nvshmem;
use melior::ir::{Type, Value, ValueLike};
use symm_dialect::ops::{RemoteLoad, RemoteStore, SymmOp};
use symm_dialect::shape::{Shaped, byte_width, scalar};

/// `remote_load`, by `near` where the rank is.
pub fn load<'c: 'a, 'a>(
    op: RemoteLoad<'c, 'a>,
    b: &Builder<'c>,
    near: impl FnOnce(&Builder<'c>) -> Value<'c, 'c>,
) -> Value<'c, 'c> {
    let Some(far) = Far::flag(SymmOp::RemoteLoad(op), b) else { return near(b) };
    let (ty, moved) = (op.result().r#type(), memory_type(b, op.result().r#type()));
    let other = |b: &Builder<'c>| op.other().map_or_else(|| b.zero(moved), |other| to_memory(b, other));
    let call = |b: &Builder<'c>| {
        let whole = |b: &Builder<'c>| far.load_words(b, moved, alignment_of(ty, op.alignment()).cast_unsigned());
        let value = match op.mask() {
            None => whole(b),
            Some(mask) if is_lane_mask(mask) => far.load_lanes(b, mask, other(b)),
            Some(mask) => b.choose(mask, moved, whole, other),
        };
        from_memory(b, value, ty)
    };
    b.choose(far.near, ty, near, call)
}

/// `remote_store`, by `near` where the rank is.
pub fn store<'c: 'a, 'a>(op: RemoteStore<'c, 'a>, b: &Builder<'c>, near: impl FnOnce(&Builder<'c>)) {
    let Some(far) = Far::flag(SymmOp::RemoteStore(op), b) else { return near(b) };
    let alignment = alignment_of(op.value().r#type(), op.alignment()).cast_unsigned();
    let call = |b: &Builder<'c>| {
        let value = to_memory(b, op.value());
        match op.mask() {
            None => far.store_words(b, value, alignment),
            Some(mask) if is_lane_mask(mask) => far.store_lanes(b, mask, value),
            Some(mask) => b.when(mask, |b| far.store_words(b, value, alignment)),
        }
        far.calls.quiet(b);
    };
    b.either(far.near, near, call);
}

impl<'c> Far<'c> {
    /// The word in which a value goes, and how many there are: as wide as the engine and the alignment allow.
    fn words(b: &Builder<'c>, ty: Type<'c>, alignment: u64) -> (u64, Type<'c>) {
        let total = size_of(ty);
        let width = [8, 4, 2]
            .into_iter()
            .find(|width| total.is_multiple_of(*width) && alignment.is_multiple_of(*width))
            .unwrap_or(1);
        let word = b.int(bits_of(width));
        (width, if total == width { word } else { Type::vector(&[total / width], word) })
    }

    fn load_words(&self, b: &Builder<'c>, ty: Type<'c>, alignment: u64) -> Value<'c, 'c> {
        let (width, words) = Self::words(b, ty, alignment);
        let load = |b: &Builder<'c>, index: u64| {
            let at = b.byte_offset_constant(self.at, (index * width).cast_signed());
            self.calls.value(b, nvshmem::load(width), &[at, self.rank])
        };
        if Shaped::vector(words).is_none() {
            return from_bits(b, load(b, 0), ty);
        }
        let insert = |vector: Value<'c, 'c>, index: u64| {
            let operands = [vector, load(b, index), b.i64(index.cast_signed())];
            b.value("llvm.insertelement", &operands, words, &[])
        };
        let all = (0..lanes(words)).fold(b.value("llvm.mlir.undef", &[], words, &[]), insert);
        from_bits(b, all, ty)
    }

    fn store_words(&self, b: &Builder<'c>, value: Value<'c, 'c>, alignment: u64) {
        let (width, words) = Self::words(b, value.r#type(), alignment);
        let is_vector = Shaped::vector(words).is_some();
        let bits = if is_vector { from_bits(b, value, words) } else { to_bits(b, value) };
        for index in 0..lanes(words).cast_signed() {
            let number = b.i64(index);
            let word =
                if is_vector { b.value("llvm.extractelement", &[bits, number], scalar(words), &[]) } else { bits };
            let at = b.byte_offset_constant(self.at, index * width.cast_signed());
            self.calls.call(b, nvshmem::store(width), &[at, word, self.rank]);
        }
    }

    fn load_lanes(&self, b: &Builder<'c>, mask: Value<'c, '_>, other: Value<'c, 'c>) -> Value<'c, 'c> {
        let (ty, lane) = (other.r#type(), scalar(other.r#type()));
        let width = byte_width(lane);
        (0..lanes(ty).cast_signed()).fold(other, |values, index| {
            let number = b.i64(index);
            let is_on = b.value("llvm.extractelement", &[mask, number], b.int(1), &[]);
            let load = |b: &Builder<'c>| {
                let at = b.byte_offset_constant(self.at, index * width.cast_signed());
                from_bits(b, self.calls.value(b, nvshmem::load(width), &[at, self.rank]), lane)
            };
            let kept = |b: &Builder<'c>| b.value("llvm.extractelement", &[values, number], lane, &[]);
            let value = b.choose(is_on, lane, load, kept);
            b.value("llvm.insertelement", &[values, value, number], ty, &[])
        })
    }

    fn store_lanes(&self, b: &Builder<'c>, mask: Value<'c, '_>, value: Value<'c, 'c>) {
        let (ty, lane) = (value.r#type(), scalar(value.r#type()));
        let width = byte_width(lane);
        for index in 0..lanes(ty).cast_signed() {
            let number = b.i64(index);
            let is_on = b.value("llvm.extractelement", &[mask, number], b.int(1), &[]);
            b.when(is_on, |b| {
                let value = to_bits(b, b.value("llvm.extractelement", &[value, number], lane, &[]));
                let at = b.byte_offset_constant(self.at, index * width.cast_signed());
                self.calls.call(b, nvshmem::store(width), &[at, value, self.rank]);
            });
        }
    }
}
