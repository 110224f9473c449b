//! Where an element lies: from a pointer of any level and its indices to an LLVM pointer.
//!
//! A memref is taken apart as the descriptor that MLIR's own conversion will make of it, by
//! `builtin.unrealized_conversion_cast`s that cancel out afterwards. Offset and strides are kept; what the type
//! says is a constant, what it doesn't is read from the descriptor. Nothing goes through an integer (T4).

use crate::analysis::dominance::{block_of, later};
use crate::ir::{Builder, definition, has_one_use, lasting, mutable, name, owner, signed, structure};
use melior::dialect::llvm;
use melior::ir::attribute::{ArrayAttribute, DictionaryAttribute, IntegerAttribute};
use melior::ir::block::BlockArgument;
use melior::ir::r#type::{MemRefType, ShapedTypeLike};
use melior::ir::{
    BlockLike, OperationRef, RegionLike, Type, TypeLike, Value, ValueLike, operation::OperationLike,
    operation::OperationMutLike,
};
use symm_abi::heap::HEAP_ALIGN;
use symm_abi::site::ValueKind;
use symm_dialect::pointer::Pointer;
use symm_dialect::shape::{Shaped, byte_width, integer_width, scalar};

/// What every distance is a multiple of (T4), as a mask.
pub const BASE_ALIGNMENT_MASK: i64 = -HEAP_ALIGN.cast_signed();

/// How many offsets a distance goes before.
const MOST_OFFSETS: usize = 4;

/// How many operations after a definition are looked at for a translation that is there already.
const MOST_TRANSLATIONS: usize = 32;

/// All bits that an address or a distance that leads to no memory has. A negative distance has the others.
const ADDRESS_BITS: i64 = (1 << 61) - 1;

/// The address spaces of GPUs: global memory, a block's, on AMD GPUs memory that never changes, and a thread's.
pub const GLOBAL: u32 = 1;
pub const SHARED: u32 = 3;
pub const CONSTANT: u32 = 4;
pub const PRIVATE: u32 = 5;

/// A memref, seen as its descriptor `{allocated, aligned, offset, [sizes], [strides]}`.
pub struct Descriptor<'c> {
    value: Value<'c, 'c>,
    strides: Vec<i64>,
    offset: i64,
    sizes: Vec<Option<u64>>,
}

impl<'c> Descriptor<'c> {
    /// The descriptor of a memref value.
    pub fn new(b: &Builder<'c>, memref: Value<'c, '_>) -> Self {
        let ty = memref.r#type();
        let (strides, offset) = MemRefType::try_from(ty).expect("the verifier has seen a memref").strides_and_offset();
        let sizes = Shaped::memref(ty).map_or_else(Vec::new, Shaped::dimensions);
        Self { value: b.cast(memref, Self::ty(b, ty)), strides, offset, sizes }
    }

    /// The type of the descriptor of a memref type.
    pub fn ty(b: &Builder<'c>, memref: Type<'c>) -> Type<'c> {
        let space = u32::try_from(Pointer::address_space(memref)).unwrap_or(0);
        let pointer = llvm::r#type::pointer(b.context, space);
        let rank = Shaped::memref(memref).map_or(0, |shaped| shaped.rank());
        let mut fields = vec![pointer, pointer, b.int(64)];
        if rank > 0 {
            let array = llvm::r#type::array(b.int(64), u32::try_from(rank).unwrap_or(u32::MAX));
            fields.extend([array, array]);
        }
        llvm::r#type::r#struct(b.context, &fields, false)
    }

    /// A row-major memref of a type and these sizes, `i64`, that starts at `memory`.
    pub fn contiguous(b: &Builder<'c>, ty: Type<'c>, memory: Value<'c, 'c>, sizes: &[Value<'c, 'c>]) -> Value<'c, 'c> {
        let mut value = b.value("llvm.mlir.undef", &[], Self::ty(b, ty), &[]);
        let mut insert = |field: Value<'c, 'c>, position: &[i64]| value = b.insert(value, position, field);
        insert(memory, &[0]);
        insert(memory, &[1]);
        insert(b.i64(0), &[2]);
        let mut stride = b.i64(1);
        for (dimension, size) in sizes.iter().enumerate().rev() {
            insert(*size, &[3, signed(dimension)]);
            insert(stride, &[4, signed(dimension)]);
            stride = b.mul(stride, *size);
        }
        b.cast(value, ty)
    }

    fn field(&self, b: &Builder<'c>, ty: Type<'c>, position: &[i64]) -> Value<'c, 'c> {
        b.extract(self.value, position, ty)
    }

    /// The pointer that indices count from, in the generic address space.
    pub fn aligned(&self, b: &Builder<'c>, memref: Type<'c>) -> Value<'c, 'c> {
        let space = u32::try_from(Pointer::address_space(memref)).unwrap_or(0);
        generic(b, self.field(b, llvm::r#type::pointer(b.context, space), &[1]))
    }

    /// The pointer that was allocated, which a deallocation takes.
    pub fn allocated(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        self.field(b, b.ptr(), &[0])
    }

    /// The offset in elements, `i64`.
    pub fn offset(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        if self.offset == i64::MIN { self.field(b, b.int(64), &[2]) } else { b.i64(self.offset) }
    }

    /// The size of a dimension, `i64`.
    pub fn size(&self, b: &Builder<'c>, dimension: usize) -> Value<'c, 'c> {
        match self.sizes[dimension] {
            Some(size) => b.i64(size.cast_signed()),
            None => self.field(b, b.int(64), &[3, signed(dimension)]),
        }
    }

    /// The stride of a dimension in elements, `i64`.
    pub fn stride(&self, b: &Builder<'c>, dimension: usize) -> Value<'c, 'c> {
        match self.strides[dimension] {
            i64::MIN => self.field(b, b.int(64), &[4, signed(dimension)]),
            stride => b.i64(stride),
        }
    }

    /// The number of elements, `i64`.
    pub fn count(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        let all_known: Option<u64> = self.sizes.iter().copied().product();
        match all_known {
            Some(count) => b.i64(count.cast_signed()),
            None => (0..self.sizes.len()).fold(b.i64(1), |count, dimension| b.mul(count, self.size(b, dimension))),
        }
    }

    /// Where element `indices` lies, in elements from the aligned pointer.
    fn linear(&self, b: &Builder<'c>, indices: &[Value<'c, '_>]) -> Value<'c, 'c> {
        let offset = (self.offset != 0).then(|| self.offset(b));
        let terms = indices.iter().enumerate().map(|(dimension, index)| {
            let index = b.as_i64(*index);
            if self.strides[dimension] == 1 { index } else { b.mul(index, self.stride(b, dimension)) }
        });
        let sum = offset.into_iter().chain(terms.collect::<Vec<_>>()).reduce(|sum, term| b.add(sum, term));
        sum.unwrap_or_else(|| b.i64(0))
    }
}

/// The bytes a copy moves: `count` elements of a type, or a whole memref.
pub fn bytes<'c>(b: &Builder<'c>, pointer: Value<'c, '_>, count: Option<(Value<'c, '_>, Type<'c>)>) -> Value<'c, 'c> {
    let (count, element) = if let Some((count, element)) = count {
        (b.as_i64(count), element)
    } else {
        let memref = Shaped::memref(pointer.r#type()).expect("the verifier has seen a memref");
        (Descriptor::new(b, pointer).count(b), memref.element())
    };
    b.mul(count, b.i64(byte_width(element).cast_signed()))
}

/// A pointer in the generic address space.
pub fn generic<'c>(b: &Builder<'c>, pointer: Value<'c, '_>) -> Value<'c, 'c> {
    in_space(b, pointer, b.ptr())
}

/// A pointer as one of type `ty`, of another address space perhaps.
pub fn in_space<'c>(b: &Builder<'c>, pointer: Value<'c, '_>, ty: Type<'c>) -> Value<'c, 'c> {
    if pointer.r#type() == ty { lasting(pointer) } else { b.value("llvm.addrspacecast", &[pointer], ty, &[]) }
}

/// What a pointer was before it was taken to another address space.
fn without_cast<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> Value<'c, 'a> {
    let cast = definition(pointer).filter(|op| name(*op) == "llvm.addrspacecast");
    cast.and_then(|op| op.operands().next()).unwrap_or(pointer)
}

/// Whether a memref's elements lie one after the other in row-major order; one element does, whatever its offset.
pub fn is_contiguous(memref: Type) -> bool {
    MemRefType::try_from(memref).is_ok_and(|ty| ty.rank() == 0 || ty.affine_map().is_identity())
}

/// The LLVM pointer to `pointer[indices]`.
pub fn element<'c>(b: &Builder<'c>, pointer: Value<'c, '_>, indices: &[Value<'c, '_>]) -> Value<'c, 'c> {
    address(b, pointer, indices, None)
}

/// The LLVM pointer to the element `delta` bytes from `pointer[indices]`: the same one on another rank (T1). On a
/// device it may be one to global memory.
pub fn remote_element<'c>(
    b: &Builder<'c>,
    pointer: Value<'c, '_>,
    indices: &[Value<'c, '_>],
    delta: Value<'c, 'c>,
) -> Value<'c, 'c> {
    address(b, pointer, indices, Some(delta))
}

fn address<'c>(
    b: &Builder<'c>,
    pointer: Value<'c, '_>,
    indices: &[Value<'c, '_>],
    delta: Option<Value<'c, 'c>>,
) -> Value<'c, 'c> {
    let ty = pointer.r#type();
    let Some(memref) = Shaped::memref(ty) else {
        return match delta {
            Some(delta) if b.is_device => moved(b, pointer, delta),
            Some(delta) => generic(b, moved(b, pointer, delta)),
            None => generic(b, pointer),
        };
    };
    let descriptor = Descriptor::new(b, pointer);
    let aligned = descriptor.aligned(b, ty);
    // T2: added before the indices, the distance is added once for all accesses.
    let start = delta.map_or(aligned, |delta| b.byte_offset(aligned, delta));
    let linear = descriptor.linear(b, indices);
    b.element(start, linear, data_type(b, memref.element()))
}

/// An LLVM pointer moved by a distance.
///
/// `as_remote(p + i, r)` is `as_remote(p, r) + i` (T2): the distance is added to what the address starts from, which
/// accesses share and which is known outside of loops. Offsets that something else needs as well are added twice.
fn moved<'c>(b: &Builder<'c>, pointer: Value<'c, '_>, delta: Value<'c, 'c>) -> Value<'c, 'c> {
    // The offsets, last one first. Each is known after the distance: its result is not defined earlier.
    let (mut start, mut offsets) = (pointer, Vec::new());
    while let Some(offset) = definition(start).filter(|op| name(*op) == "llvm.getelementptr") {
        let Some(base) = offset.operands().next() else { break };
        if offsets.len() == MOST_OFFSETS || later(start, delta) != start {
            break;
        }
        offsets.push(offset);
        start = base;
    }
    let is_mine = |offset: &OperationRef| offset.results().next().is_some_and(|result| has_one_use(result.into()));
    let all_mine = offsets.iter().all(is_mine);
    let mut theirs = translated(b, start, delta);
    for offset in offsets.into_iter().rev() {
        let offset = if all_mine { offset } else { Builder::copy_after(offset) };
        mutable(offset).set_operand(0, theirs);
        let pointer: Value = offset.results().next().expect("a pointer").into();
        pointer.set_type(theirs.r#type());
        theirs = lasting(pointer);
    }
    theirs
}

/// `start + delta`, where both are known; the one that an earlier access made, if there is one.
fn translated<'c>(b: &Builder<'c>, start: Value<'c, '_>, delta: Value<'c, 'c>) -> Value<'c, 'c> {
    let known = later(start, delta);
    let is_in_front = block_of(known).is_some_and(|block| !b.inserts_into(block));
    let alignment = if b.is_device && is_in_front { argument_alignment(start) } else { None };
    if let Some(found) = earlier_translation(known, start, delta, alignment.is_some()) {
        return found;
    }
    let place = Builder::after_value_at(b.context, known, b.location());
    match alignment {
        Some(alignment) => opaque_offset(&place, start, delta, alignment),
        None => place.byte_offset(start, delta),
    }
}

/// The alignment in bytes that is known of a kernel's argument; `None` if it is something else.
fn argument_alignment(value: Value) -> Option<i64> {
    let argument = BlockArgument::try_from(value).ok()?;
    let block = owner(argument);
    let function = block.parent_operation().filter(|op| name(*op) == structure::GPU_FUNC)?;
    if block.parent_region()?.first_block() != Some(block) {
        return None;
    }
    let attributes = function.attribute("arg_attrs").and_then(ArrayAttribute::try_from).ok();
    let attributes = attributes.and_then(|attributes| attributes.element(argument.argument_number()).ok());
    let attributes = attributes.and_then(|attributes| DictionaryAttribute::try_from(attributes).ok());
    let alignment = attributes.and_then(|attributes| attributes.element_by_name("llvm.align"));
    let alignment = alignment.and_then(|alignment| IntegerAttribute::try_from(alignment).ok());
    Some(alignment.map_or(1, |alignment| alignment.value()).min(-BASE_ALIGNMENT_MASK))
}

/// `start + delta` before a loop, such that LLVM takes it for a pointer of its own, by a mask that changes nothing.
///
/// LLVM still knows aliases and alignment. In the loop it would take a sum apart for each access, which doubles the
/// time of loop strength reduction. (In another address space than global memory's, LLVM 22's NVPTX back end crashes
/// on such masks; after a change of address space it does not know alignment but from the mask.)
fn opaque_offset<'c>(b: &Builder<'c>, start: Value<'c, '_>, delta: Value<'c, 'c>, alignment: i64) -> Value<'c, 'c> {
    let mask = b.binary("arith.ori", delta, b.i64(ADDRESS_BITS & -alignment));
    let global = llvm::r#type::pointer(b.context, GLOBAL);
    let moved = b.byte_offset(in_space(b, start, global), delta);
    b.value("llvm.intr.ptrmask", &[moved, mask], global, &[])
}

/// The pointer that `translated` has made after `known` for an earlier access.
fn earlier_translation<'c>(
    known: Value<'c, '_>,
    start: Value<'c, '_>,
    delta: Value<'c, 'c>,
    is_masked: bool,
) -> Option<Value<'c, 'c>> {
    let first = match definition(known) {
        Some(op) => op.next_in_block(),
        None => block_of(known)?.first_operation(),
    };
    let after = std::iter::successors(first, OperationLike::next_in_block).take(MOST_TRANSLATIONS);
    let mut results = after.filter_map(|op| op.results().next()).map(Value::from);
    results.find(|value| is_translation(*value, start, delta, is_masked)).map(lasting)
}

/// Whether `translated` made a value from these.
fn is_translation(value: Value, start: Value, delta: Value, is_masked: bool) -> bool {
    let operand_of = |value, operation| {
        let op = definition(value).filter(|op| name(*op) == operation)?;
        Some(op.operands().collect::<Vec<_>>())
    };
    let moved =
        if is_masked { operand_of(value, "llvm.intr.ptrmask").map(|operands| operands[0]) } else { Some(value) };
    match moved.and_then(|moved| operand_of(moved, "llvm.getelementptr")).as_deref() {
        Some([from, offset]) => {
            let from = if is_masked { without_cast(*from) } else { *from };
            from == start && *offset == delta
        }
        _ => false,
    }
}

/// The type under which values of `ty` are loaded and stored: a bit is a byte. The NVPTX back end of LLVM 22 leaves
/// loads of one bit out of the order of their block: they go past barriers and fences.
pub fn memory_type<'c>(b: &Builder<'c>, ty: Type<'c>) -> Type<'c> {
    if is_bit(ty) { b.int(8) } else { data_type(b, ty) }
}

/// A value as what it is stored as.
pub fn to_memory<'c>(b: &Builder<'c>, value: Value<'c, '_>) -> Value<'c, 'c> {
    let stored = memory_type(b, value.r#type());
    if is_bit(value.r#type()) { b.value("arith.extui", &[value], stored, &[]) } else { b.cast(value, stored) }
}

/// What was loaded as a value of type `ty`.
pub fn from_memory<'c>(b: &Builder<'c>, loaded: Value<'c, '_>, ty: Type<'c>) -> Value<'c, 'c> {
    if is_bit(ty) { b.value("arith.trunci", &[loaded], ty, &[]) } else { b.cast(loaded, ty) }
}

fn is_bit(ty: Type) -> bool {
    integer_width(ty) == Some(1)
}

/// The indices of the first element of what a pointer points to.
pub fn first<'c>(b: &Builder<'c>, pointer: Value<'c, '_>) -> Vec<Value<'c, 'c>> {
    let rank = Shaped::memref(pointer.r#type()).map_or(0, |memref| memref.rank());
    vec![b.index_constant(0); rank]
}

/// A value as 64 bits: integers by their sign, floats as the bits of an f64, pointers as addresses.
pub fn as_word<'c>(b: &Builder<'c>, value: Value<'c, '_>) -> Value<'c, 'c> {
    let ty = value.r#type();
    if ty.is_float() {
        let double = Type::float64(b.context);
        let wide = if ty == double { b.cast(value, ty) } else { b.value("arith.extf", &[value], double, &[]) };
        return b.value("arith.bitcast", &[wide], b.int(64), &[]);
    }
    if integer_width(ty) == Some(1) {
        return b.value("arith.extui", &[value], b.int(64), &[]);
    }
    if ty.is_index() || integer_width(ty).is_some() {
        return b.as_i64(value);
    }
    b.value("llvm.ptrtoint", &[element(b, value, &first(b, value))], b.int(64), &[])
}

/// How the runtime is to read a value that [`as_word`] has made.
pub fn word_kind(ty: Type) -> ValueKind {
    if ty.is_float() {
        ValueKind::Float
    } else if ty.is_index() || integer_width(ty).is_some() {
        ValueKind::Signed
    } else {
        ValueKind::Pointer
    }
}

/// The type under which LLVM holds values of `ty`: `index` is `i64`, 8-bit floats are `i8`.
pub fn data_type<'c>(b: &Builder<'c>, ty: Type<'c>) -> Type<'c> {
    let element = scalar(ty);
    let moved = if element.is_index() {
        b.int(64)
    } else if element.is_float() && element.float_width() <= 8 {
        b.int(8)
    } else {
        element
    };
    match Shaped::vector(ty) {
        Some(vector) => Type::vector(&vector.dimensions().into_iter().flatten().collect::<Vec<_>>(), moved),
        None => moved,
    }
}
