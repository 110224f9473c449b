//! Single loads and stores on another rank: LLVM memory operations at a translated address, the same for every
//! target that has no cache modifier to obey.

use super::pieces;
use super::translation::delta_of;
use crate::ir::address::{self, Descriptor, GLOBAL, from_memory, in_space, memory_type, to_memory};
use crate::ir::{Builder, definition, name};
use melior::dialect::arith::CmpiPredicate;
use melior::dialect::llvm;
use melior::ir::{Attribute, Type, Value, ValueLike, operation::OperationLike};
use symm_dialect::ops::{AsRemote, Cache, RemoteLoad, RemoteStore, SymmOp};
use symm_dialect::pointer::Pointer;
use symm_dialect::shape::{Shaped, byte_width, integer_width, natural_alignment, scalar};

/// The bytes of the widest access.
pub const WIDEST: u64 = 16;

/// The bytes from which on LLVM's NVPTX back end makes a loop of a load that is only stored.
const LARGE_COPY: u64 = 128;

/// `as_remote`: the pointers of a descriptor, or the pointer itself, moved by the distance (T1, T4).
pub fn as_remote<'c: 'a, 'a>(op: AsRemote<'c, 'a>, b: &Builder<'c>) -> Vec<Value<'c, 'c>> {
    let delta = delta_of(SymmOp::AsRemote(op), b, "rank", "delta");
    let ty = op.ptr().r#type();
    if Shaped::memref(ty).is_none() {
        return vec![b.byte_offset(op.ptr(), delta)];
    }
    let descriptor = Descriptor::ty(b, ty);
    let space = u32::try_from(Pointer::address_space(ty)).unwrap_or(0);
    let pointer_type = llvm::r#type::pointer(b.context, space);
    let mut moved = b.cast(op.ptr(), descriptor);
    for field in [0, 1] {
        let pointer = b.byte_offset(b.extract(moved, &[field], pointer_type), delta);
        moved = b.insert(moved, &[field], pointer);
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
    address::remote_element(b, pointer, indices, delta)
}

/// How an access is made: `volatile`, if it is.
fn how<'c>(b: &Builder<'c>, volatile: bool) -> Vec<(&'static str, Attribute<'c>)> {
    volatile.then(|| ("volatile_", b.unit())).into_iter().collect()
}

/// The alignment of an access in bytes: as the op says, or as the value naturally is.
pub fn alignment_of(ty: Type, alignment: Option<i64>) -> i64 {
    alignment.unwrap_or_else(|| natural_alignment(ty))
}

/// A mask with a lane for each element.
pub fn is_lane_mask(mask: Value) -> bool {
    Shaped::vector(mask.r#type()).is_some()
}

/// Whether every lane of a mask is true, `i1`; `None` where accesses would be no wider for it.
///
/// GPUs access memory lane by lane under a mask, and a mask is there for the last vector of many.
fn is_full<'c>(b: &Builder<'c>, mask: Value<'c, '_>, ty: Type<'c>, alignment: i64) -> Option<Value<'c, 'c>> {
    let lanes: u64 = Shaped::vector(ty)?.dimensions().into_iter().collect::<Option<Vec<_>>>()?.iter().product();
    if alignment <= byte_width(scalar(ty)).cast_signed() {
        return None;
    }
    Some(every_lane(b, mask, lanes))
}

/// Whether all of this many lanes of a mask are true, `i1`.
pub fn every_lane<'c>(b: &Builder<'c>, mask: Value<'c, '_>, lanes: u64) -> Value<'c, 'c> {
    let maker = definition(mask).filter(|op| name(*op) == "vector.create_mask" && op.operand_count() == 1);
    match maker.and_then(|op| op.operands().next()) {
        Some(count) => b.compare(CmpiPredicate::Sge, count, b.index_constant(lanes.cast_signed())),
        None => b.value("llvm.intr.vector.reduce.and", &[mask], b.int(1), &[]),
    }
}

/// The lanes of a vector with the pointers to them, if each stands in memory for itself.
fn lanes<'c>(
    b: &Builder<'c>,
    (address, vector): (Value<'c, 'c>, Type<'c>),
    mask: Value<'c, '_>,
    alignment: i64,
) -> impl Iterator<Item = Lane<'c>> {
    let count = Shaped::vector(vector).into_iter().flat_map(Shaped::dimensions).flatten().product::<u64>();
    let alignment = alignment.min(byte_width(scalar(vector)).cast_signed());
    (0..count.cast_signed()).map(move |lane| {
        let number = b.i64(lane);
        let is_on = b.value("llvm.extractelement", &[mask, number], b.int(1), &[]);
        let attributes = vec![("alignment", b.integer(64, alignment)), ("volatile_", b.unit())];
        Lane { number, is_on, address: b.element(address, number, scalar(vector)), attributes }
    })
}

/// A lane of a vector under a mask.
struct Lane<'c> {
    number: Value<'c, 'c>,
    is_on: Value<'c, 'c>,
    address: Value<'c, 'c>,
    attributes: Vec<(&'static str, Attribute<'c>)>,
}

/// LLVM's masked accesses are never volatile: each lane that is on is loaded by itself.
fn volatile_lanes_load<'c>(
    b: &Builder<'c>,
    (address, vector): (Value<'c, 'c>, Type<'c>),
    mask: Value<'c, '_>,
    other: Value<'c, 'c>,
    alignment: i64,
) -> Value<'c, 'c> {
    let element = scalar(vector);
    lanes(b, (address, vector), mask, alignment).fold(other, |values, lane| {
        let unchanged = |b: &Builder<'c>| b.value("llvm.extractelement", &[values, lane.number], element, &[]);
        let value = b.choose(lane.is_on, element, |b| b.load(lane.address, element, &lane.attributes), unchanged);
        b.value("llvm.insertelement", &[values, value, lane.number], vector, &[])
    })
}

/// LLVM's masked accesses are never volatile: each lane that is on is stored by itself.
fn volatile_lanes_store<'c>(
    b: &Builder<'c>,
    (address, value): (Value<'c, 'c>, Value<'c, 'c>),
    mask: Value<'c, '_>,
    alignment: i64,
) {
    let vector = value.r#type();
    for lane in lanes(b, (address, vector), mask, alignment) {
        b.when(lane.is_on, |b| {
            let value = b.value("llvm.extractelement", &[value, lane.number], scalar(vector), &[]);
            b.store(value, lane.address, &lane.attributes);
        });
    }
}

/// A pointer into a heap as one to global memory on a device: of volatile accesses LLVM does not find that out.
fn known_space<'c>(b: &Builder<'c>, address: Value<'c, 'c>) -> Value<'c, 'c> {
    if b.is_device { in_space(b, address, llvm::r#type::pointer(b.context, GLOBAL)) } else { address }
}

/// The type under which a value of type `ty` is accessed as a whole: LLVM's AMDGPU back end makes volatile accesses of
/// bytes one by one, and of words together.
fn words<'c>(b: &Builder<'c>, ty: Type<'c>, alignment: i64, volatile: bool) -> Type<'c> {
    let Some(vector) = Shaped::vector(ty) else { return ty };
    let bytes = vector.dimensions().into_iter().flatten().product::<u64>();
    if b.is_device && volatile && alignment >= 4 && integer_width(scalar(ty)) == Some(8) && bytes.is_multiple_of(4) {
        Type::vector(&[bytes / 4], b.int(32))
    } else {
        ty
    }
}

fn bitcast<'c>(b: &Builder<'c>, value: Value<'c, 'c>, ty: Type<'c>) -> Value<'c, 'c> {
    if value.r#type() == ty { value } else { b.value("llvm.bitcast", &[value], ty, &[]) }
}

/// A value that LLVM does not take for one end of a copy: on a device, its NVPTX back end copies what has 128 bytes or
/// more, and is loaded to be stored, byte by byte in a loop.
fn apart<'c>(b: &Builder<'c>, value: Value<'c, 'c>) -> Value<'c, 'c> {
    let ty = value.r#type();
    let lanes = Shaped::vector(ty).map_or(1, |vector| vector.dimensions().into_iter().flatten().product::<u64>());
    if !b.is_device || byte_width(scalar(ty)) * lanes < LARGE_COPY {
        return value;
    }
    b.value("llvm.freeze", &[value], ty, &[])
}

/// `remote_load`.
pub fn remote_load<'c: 'a, 'a>(op: RemoteLoad<'c, 'a>, b: &Builder<'c>) -> Vec<Value<'c, 'c>> {
    let address = remote_element(SymmOp::RemoteLoad(op), b, op.ptr(), &op.indices());
    vec![load_at(op, b, address)]
}

/// `remote_load` from an address.
pub fn load_at<'c: 'a, 'a>(op: RemoteLoad<'c, 'a>, b: &Builder<'c>, address: Value<'c, 'c>) -> Value<'c, 'c> {
    let ty = op.result().r#type();
    let moved = memory_type(b, ty);
    // `cv` fetches again what may be cached, as a volatile access does; the other modifiers are hints.
    let volatile = op.volatile_() || op.cache() == Some(Cache::Cv);
    let address = if volatile { known_space(b, address) } else { address };
    let (alignment, how) = (alignment_of(ty, op.alignment()), how(b, volatile));
    let words = words(b, moved, alignment, volatile);
    let other = |b: &Builder<'c>| match op.other() {
        Some(other) => to_memory(b, other),
        None => b.zero(moved),
    };
    let whole = |b: &Builder<'c>| {
        let loaded = pieces::load(b, address, words, alignment.cast_unsigned(), &how);
        apart(b, bitcast(b, loaded, moved))
    };
    let value = match op.mask() {
        None => whole(b),
        Some(mask) if is_lane_mask(mask) => {
            let by_lane = |b: &Builder<'c>| {
                if volatile {
                    return volatile_lanes_load(b, (address, moved), mask, other(b), alignment);
                }
                let attributes = [("alignment", b.integer(32, alignment))];
                b.value("llvm.intr.masked.load", &[address, b.cast(mask, mask.r#type()), other(b)], moved, &attributes)
            };
            match is_full(b, mask, ty, alignment) {
                None => by_lane(b),
                Some(full) => b.choose(full, moved, whole, by_lane),
            }
        }
        Some(mask) => b.choose(mask, moved, whole, other),
    };
    from_memory(b, value, ty)
}

/// `remote_store`.
pub fn remote_store<'c: 'a, 'a>(op: RemoteStore<'c, 'a>, b: &Builder<'c>) -> Vec<Value<'c, 'c>> {
    let address = remote_element(SymmOp::RemoteStore(op), b, op.ptr(), &op.indices());
    store_at(op, b, address);
    Vec::new()
}

/// `remote_store` to an address.
pub fn store_at<'c: 'a, 'a>(op: RemoteStore<'c, 'a>, b: &Builder<'c>, address: Value<'c, 'c>) {
    let ty = op.value().r#type();
    let value = apart(b, to_memory(b, op.value()));
    // `wt` writes through the caches, as a volatile access does; the other modifiers are hints.
    let volatile = op.volatile_() || op.cache() == Some(Cache::Wt);
    let address = if volatile { known_space(b, address) } else { address };
    let (alignment, how) = (alignment_of(ty, op.alignment()), how(b, volatile));
    let words = words(b, value.r#type(), alignment, volatile);
    let whole = |b: &Builder<'c>| {
        pieces::store(b, bitcast(b, value, words), address, alignment.cast_unsigned(), &how);
    };
    match op.mask() {
        None => whole(b),
        Some(mask) if is_lane_mask(mask) => {
            let by_lane = |b: &Builder<'c>| {
                if volatile {
                    return volatile_lanes_store(b, (address, value), mask, alignment);
                }
                let attributes = [("alignment", b.integer(32, alignment))];
                b.op("llvm.intr.masked.store", &[value, address, b.cast(mask, mask.r#type())], &[], &attributes);
            };
            match is_full(b, mask, ty, alignment) {
                None => by_lane(b),
                Some(full) => b.either(full, whole, by_lane),
            }
        }
        Some(mask) => b.when(mask, whole),
    }
}
