//! Checks every access to symmetric memory: the rank is in range, the whole access lies in the part of the heap that
//! `symm.alloc` allocates from, and the address has the op's alignment, or the value's natural one. Of a copy it also
//! checks that both memrefs have the same shape.
//!
//! An access that fails a check is reported by `symm.fault` with its location, and skipped. The heap's size is the
//! module attribute `symm.heap_size` (bytes; `symm-run --check-bounds` sets it). Its first 2 MiB are symm's own: the
//! flags of barriers, and on GPUs the context table.
//!
//! ```mlir
//! symm.remote_store %ctx, %p, %v, %peer : !llvm.ptr, f32
//! ```
//!
//! becomes
//!
//! ```mlir
//! %n = symm.num_ranks %ctx
//! %far = arith.cmpi uge, %peer, %n : i32
//! scf.if %far {
//!   symm.fault %ctx, "rank {} out of range [0, {})"(%peer, %n) : i32, i32
//! }
//! …                                       // %offset = %p - base, %from = %offset - 2 MiB, %last = size - 2 MiB - 4
//! %outside = arith.cmpi ugt, %from, %last : i64
//! scf.if %outside {
//!   symm.fault %ctx, "4 bytes at heap offset {} are outside of [2097152, {}), where allocations are"(%offset, %size)
//!     : i64, i64
//! }
//! …                                       // %low = %offset & 3
//! %misaligned = arith.cmpi ne, %low, %zero : i64
//! scf.if %misaligned {
//!   symm.fault %ctx, "4 bytes at heap offset {} are not aligned to 4 bytes"(%offset) : i64
//! }
//! symm.remote_store %ctx, %p, %v, %peer : !llvm.ptr, f32
//! ```
//!
//! A `symm.as_remote` is checked too: its rank, and that its pointer lies in that part of the heap or right after its
//! end. Accesses of other dialects through its result are checked against the heap of that rank, as far as the
//! function shows where their pointers come from. With an engine it is also checked that the rank is near (N4).
//!
//! No index and no size is too large for the checks: an address that wraps around in 64 bits is out of bounds.
//!
//! Limits: an access whose mask has a bit for each lane is checked as a whole; tensors of pointers are not checked, and
//! neither is the local side of a copy, which need not lie on the heap. Of other dialects it knows loads, stores and
//! atomics of `llvm` and `memref`, `memref.copy`, and unmasked loads and stores of `vector`. It follows pointers
//! through views, offsets and conversions, and around an `scf.for`.

mod exact;
mod ordinary;

use crate::ir::address::{self, Descriptor};
use crate::ir::packets::{self, LINE, Sentinel};
use crate::ir::{Builder, collect, signed};
use crate::pass::{Ir, Pass, Values};
use exact::Exact;
use melior::dialect::arith::CmpiPredicate;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::ShapedTypeLike;
use melior::ir::{OperationRef, Type, TypeLike, Value, ValueLike};
use symm_abi::heap::RESERVED_BYTES;
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{
    Accessing, FaultParts, HeapBaseParts, IsNearParts, NumRanksParts, Pointing, RankParts, SymmOp,
};
use symm_dialect::pointer::Pointer;
use symm_dialect::shape::{Shaped, byte_width, natural_alignment, scalar};
use symm_dialect::{ENGINE_ATTRIBUTE, HEAP_SIZE_ATTRIBUTE, module_has, module_integer};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-insert-bounds-checks",
    summary: "Check the rank and the address of every access at run time",
    options: &[],
    run,
};

fn run<'c, 'a>(root: OperationRef<'c, 'a>, _: &Values) -> Result<Ir, Reported> {
    for operation in collect(root) {
        let op = SymmOp::cast(operation);
        let reached = if op.is_none() { ordinary::accesses(operation) } else { Vec::new() };
        let accesses = op.map_or_else(Vec::new, accesses);
        if accesses.is_empty() && reached.is_empty() {
            continue;
        }
        let Some(size) = module_integer(&operation, HEAP_SIZE_ATTRIBUTE) else {
            return Err(error(
                operation,
                &format!("S1: bounds checks need the module attribute {HEAP_SIZE_ATTRIBUTE}"),
            ));
        };
        let b = Builder::before(operation);
        for (translation, access) in &reached {
            if module_has(&operation, ENGINE_ATTRIBUTE) {
                check_reach(&b, translation.ctx(), translation.rank());
            }
            check_address(&b, Heap { ctx: translation.ctx(), rank: Some(translation.rank()), size }, access);
        }
        let Some(op) = op else { continue };
        let ctx = op.ctx().expect("an op that accesses memory has a context");
        let mask = op.operand_group("mask").first().copied().filter(|mask| !mask.r#type().is_vector());
        let check = |b: &Builder<'c>| {
            for (rank, _) in op.translations() {
                check_rank(b, ctx, op.operand_group(rank)[0]);
            }
            check_shapes(b, ctx, op);
            for access in &accesses {
                check_address(b, Heap { ctx, rank: None, size }, access);
            }
        };
        match mask {
            Some(mask) => b.when(mask, check),
            None => check(&b),
        }
    }
    Ok(Ir::Changed)
}

/// The heap that an address is to lie in.
#[derive(Clone, Copy)]
struct Heap<'c, 'a> {
    ctx: Value<'c, 'a>,
    /// Whose it is; this rank's if nothing is said.
    rank: Option<Value<'c, 'a>>,
    /// Its bytes.
    size: i64,
}

/// A stretch of symmetric memory that an op touches.
struct Access<'c, 'a> {
    pointer: Value<'c, 'a>,
    indices: Vec<Value<'c, 'a>>,
    extent: Extent<'c, 'a>,
    /// What its address must be a multiple of, in bytes: a power of two.
    alignment: i64,
}

/// How far it reaches.
enum Extent<'c, 'a> {
    /// One value of this type.
    Value(Type<'c>),
    /// The lines of packets that hold a value of this type, floats if there is a sentinel.
    Packets(Type<'c>, Option<Sentinel>),
    /// This many elements of a type.
    Elements(Value<'c, 'a>, Type<'c>),
    /// A copy of a whole memref: this one's shape, between it and the other end.
    MemRef(Value<'c, 'a>),
    /// Nothing: a pointer, which may point to the end of the heap.
    Pointer,
}

fn accesses<'c: 'a, 'a>(op: SymmOp<'c, 'a>) -> Vec<Access<'c, 'a>> {
    let mut all = match (op.accessing(), op.pointing()) {
        (Some(op), _) => reached(op),
        (None, Some(Pointing::AsRemote(op))) => {
            vec![Access { pointer: op.ptr(), indices: Vec::new(), extent: Extent::Pointer, alignment: 1 }]
        }
        (None, Some(Pointing::Alloc(_) | Pointing::HeapBase(_)) | None) => Vec::new(),
    };
    all.retain(|access| matches!(Pointer::of(access.pointer.r#type()), Some(Pointer::Llvm | Pointer::MemRef(_))));
    all
}

fn reached<'c: 'a, 'a>(op: Accessing<'c, 'a>) -> Vec<Access<'c, 'a>> {
    let one =
        |pointer, indices, ty| Access { pointer, indices, extent: Extent::Value(ty), alignment: natural_alignment(ty) };
    let data = |pointer, indices, ty, alignment: Option<i64>| {
        let access = one(pointer, indices, ty);
        Access { alignment: alignment.unwrap_or(access.alignment), ..access }
    };
    let lines = |pointer, indices, ty, sentinel| {
        let extent = Extent::Packets(ty, Sentinel::new(sentinel));
        Access { pointer, indices, extent, alignment: LINE }
    };
    let bulk = |pointer: Value<'c, 'a>, src, count: Option<Value<'c, 'a>>, element: Option<Type<'c>>| {
        let counted = count.zip(element).map(|(count, element)| Extent::Elements(count, element));
        let extent = counted.unwrap_or(Extent::MemRef(src));
        let element = element.or_else(|| Some(Shaped::memref(pointer.r#type())?.element()));
        let alignment = element.map_or(1, |element| byte_width(element).cast_signed());
        Access { pointer, indices: Vec::new(), extent, alignment }
    };
    match op {
        Accessing::RemoteLoad(op) => vec![data(op.ptr(), op.indices(), op.result().r#type(), op.alignment())],
        Accessing::RemoteStore(op) => vec![data(op.ptr(), op.indices(), op.value().r#type(), op.alignment())],
        Accessing::AtomicRmw(op) => vec![one(op.ptr(), op.indices(), op.value().r#type())],
        Accessing::AtomicCas(op) => vec![one(op.ptr(), op.indices(), op.expected().r#type())],
        Accessing::Signal(op) => vec![one(op.flag(), op.indices(), op.value().r#type())],
        Accessing::Wait(op) => vec![one(op.flag(), op.indices(), op.value().r#type())],
        Accessing::PutPacket(op) => vec![lines(op.slots(), op.indices(), op.value().r#type(), op.sentinel())],
        Accessing::WaitPacket(op) => vec![lines(op.slots(), op.indices(), op.value().r#type(), op.sentinel())],
        Accessing::TryPacket(op) => {
            let value = op.operation().results().next().map(|result| Value::from(result).r#type());
            value.into_iter().map(|value| lines(op.slots(), op.indices(), value, op.sentinel())).collect()
        }
        Accessing::Get(op) => vec![bulk(op.src(), op.src(), op.count(), op.element())],
        Accessing::Put(op) => vec![bulk(op.dst(), op.src(), op.count(), op.element())],
        Accessing::Copy(op) => [op.src(), op.dst()].map(|end| bulk(end, op.src(), op.count(), op.element())).into(),
        Accessing::PutSignal(op) => {
            vec![bulk(op.dst(), op.src(), op.count(), op.element()), one(op.flag(), op.indices(), op.value().r#type())]
        }
    }
}

fn fault<'c: 'a, 'a>(b: &Builder<'c>, ctx: Value<'c, 'a>, message: &str, values: &[Value<'c, 'a>]) {
    b.make(&FaultParts { ctx, message: message.into(), values: values.to_vec() }, &[]);
}

fn check_rank<'c: 'a, 'a>(b: &Builder<'c>, ctx: Value<'c, 'a>, rank: Value<'c, 'a>) {
    let ranks = b.make_value(&NumRanksParts { ctx }, b.int(32));
    let far = b.compare(CmpiPredicate::Uge, rank, ranks);
    b.when(far, |b| fault(b, ctx, "rank {} out of range [0, {})", &[rank, ranks]));
}

/// The rank that a pointer leads to is to be near: nothing is mapped there otherwise (N4).
fn check_reach<'c: 'a, 'a>(b: &Builder<'c>, ctx: Value<'c, 'a>, rank: Value<'c, 'a>) {
    let near = b.make_value(&IsNearParts { ctx, rank }, b.int(1));
    let message =
        "an access through symm.as_remote of rank {}, which is far (N4): its heap is not mapped, so use symm's ops";
    b.when(b.not(near), |b| fault(b, ctx, message, &[rank]));
}

/// Both ends of a copy of whole memrefs are to have one shape, of which types say a part.
fn check_shapes<'c: 'a, 'a>(b: &Builder<'c>, ctx: Value<'c, 'a>, op: SymmOp<'c, 'a>) {
    let end = |name| op.operand_group(name).first().copied().filter(|end: &Value| end.r#type().is_mem_ref());
    let (Some(src), Some(dst)) = (end("src"), end("dst")) else { return };
    for (dimension, (from, to)) in sizes(b, src).into_iter().zip(sizes(b, dst)).enumerate() {
        let differs = b.compare(CmpiPredicate::Ne, from, to);
        let message = format!("dimension {dimension} has {{}} elements at the source and {{}} at the destination");
        b.when(differs, |b| fault(b, ctx, &message, &[from, to]));
    }
}

/// The sizes of a memref, `i64`.
fn sizes<'c>(b: &Builder<'c>, memref: Value<'c, '_>) -> Vec<Value<'c, 'c>> {
    let known = Shaped::memref(memref.r#type()).map_or_else(Vec::new, Shaped::dimensions);
    let size = |(dimension, size): (usize, &Option<u64>)| match size {
        Some(size) => b.i64(size.cast_signed()),
        None => b.as_i64(b.value("memref.dim", &[memref, b.index_constant(signed(dimension))], b.index(), &[])),
    };
    known.iter().enumerate().map(size).collect()
}

/// Where an access begins, counted from the pointer that its indices start from, and how long it is, both in bytes.
fn stretch<'c: 'a, 'a>(b: &Builder<'c>, access: &Access<'c, 'a>) -> (Exact<'c>, Exact<'c>) {
    let Some(ty) = Shaped::memref(access.pointer.r#type()) else {
        return (Exact::constant(b, 0), length(b, &access.extent));
    };
    let memref = Descriptor::new(b, access.pointer);
    let width = Exact::constant(b, byte_width(ty.element()).cast_signed());
    let first = match access.extent {
        Extent::Value(_) | Extent::Packets(..) => access.indices.clone(),
        _ => address::first(b, access.pointer),
    };
    let start = exact::linear(b, &memref, &first).multiply(b, width);
    let Extent::MemRef(shape) = access.extent else { return (start, length(b, &access.extent)) };
    let (before, elements) = exact::span(b, &memref, &sizes(b, shape));
    let back = before.multiply(b, width).multiply(b, Exact::constant(b, -1));
    (start.add(b, back), elements.multiply(b, width))
}

/// The bytes of anything but a whole memref.
fn length<'c: 'a, 'a>(b: &Builder<'c>, extent: &Extent<'c, 'a>) -> Exact<'c> {
    match extent {
        Extent::Value(ty) => {
            let lanes: u64 =
                Shaped::vector(*ty).map_or(1, |vector| vector.dimensions().into_iter().flatten().product());
            Exact::constant(b, (byte_width(scalar(*ty)) * lanes).cast_signed())
        }
        Extent::Elements(count, element) => {
            // A negative count is a great one.
            let (count, width) = (b.as_i64(*count), byte_width(*element).cast_signed());
            let too_many = b.compare(CmpiPredicate::Ugt, count, b.i64(i64::MAX / width.max(1)));
            let bytes = b.mul(count, b.i64(width));
            Exact::any(b, b.value("arith.select", &[too_many, b.i64(i64::MAX), bytes], b.int(64), &[]))
        }
        Extent::Packets(ty, sentinel) => Exact::constant(b, LINE * packets::count(*ty, *sentinel).cast_signed()),
        Extent::MemRef(_) | Extent::Pointer => Exact::constant(b, 0),
    }
}

/// The address that the indices of an access start from, `i64`.
fn start<'c>(b: &Builder<'c>, pointer: Value<'c, '_>) -> Value<'c, 'c> {
    let ty = pointer.r#type();
    let start = if ty.is_mem_ref() { Descriptor::new(b, pointer).aligned(b, ty) } else { address::generic(b, pointer) };
    b.value("llvm.ptrtoint", &[start], b.int(64), &[])
}

fn check_address<'c: 'a, 'a>(b: &Builder<'c>, heap: Heap<'c, 'a>, access: &Access<'c, 'a>) {
    let Heap { ctx, rank, size } = heap;
    let (from_start, bytes) = stretch(b, access);
    let address = start(b, access.pointer);
    let rank = rank.unwrap_or_else(|| b.make_value(&RankParts { ctx }, b.int(32)));
    let base = b.make_value(&HeapBaseParts { ctx, rank }, b.ptr());
    let base = b.value("llvm.ptrtoint", &[base], b.int(64), &[]);
    let offset = Exact::address(b.binary("arith.subi", address, base)).add(b, from_start).saturated(b);
    let bytes = bytes.saturated(b);
    let room = b.i64((size - RESERVED_BYTES.cast_signed()).max(0));
    // Unsigned: an address below the first allocation is far above the last. Too many bytes leave no room.
    let from = b.binary("arith.subi", offset, b.i64(RESERVED_BYTES.cast_signed()));
    if matches!(access.extent, Extent::Pointer) {
        let message =
            format!("a pointer to heap offset {{}} is outside of [{RESERVED_BYTES}, {{}}], where allocations are");
        let outside = b.compare(CmpiPredicate::Ugt, from, room);
        b.when(outside, |b| fault(b, ctx, &message, &[offset, b.i64(size)]));
        return;
    }
    let too_long = b.compare(CmpiPredicate::Ugt, bytes, room);
    let beyond = b.compare(CmpiPredicate::Ugt, from, b.binary("arith.subi", room, bytes));
    let nothing = b.compare(CmpiPredicate::Eq, bytes, b.i64(0));
    let outside = b.binary("arith.andi", b.not(nothing), b.binary("arith.ori", too_long, beyond));
    let message =
        format!("{{}} bytes at heap offset {{}} are outside of [{RESERVED_BYTES}, {{}}), where allocations are");
    b.when(outside, |b| fault(b, ctx, &message, &[bytes, offset, b.i64(size)]));
    if access.alignment > 1 {
        // The heap starts at a multiple of 2 MiB (T4): what is aligned in it is aligned.
        let low = b.binary("arith.andi", offset, b.i64(access.alignment - 1));
        let misaligned = b.binary("arith.andi", b.not(nothing), b.compare(CmpiPredicate::Ne, low, b.i64(0)));
        let message = "{} bytes at heap offset {} are not aligned to {} bytes";
        b.when(misaligned, |b| fault(b, ctx, message, &[bytes, offset, b.i64(access.alignment)]));
    }
}
