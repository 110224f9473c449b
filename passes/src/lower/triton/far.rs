//! Accesses of peers that an engine reaches (N1 to N4): the near path is what it is without an engine, the far one
//! calls functions that the kernel is linked with (codegen: `far.c`).
//!
//! Triton calls an external function for each element of a tensor in every thread that holds it, and for a scalar in
//! every thread. Stores and loads may be made more than once. What must happen once, an update, is a call for a scalar,
//! of which one thread makes it: a tensor's elements go one after the other. Where a rank is a tensor, the path is far
//! if any of its ranks is.

use super::Lowering;
use super::whole::numbers;
use crate::ir::triton::words::{constant_like, element_wise, reduced, splat_like};
use crate::ir::{Builder, constant_value, lasting, name, select};
use crate::target::TritonTarget;
use melior::dialect::arith::CmpiPredicate;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Type, TypeLike, Value, ValueLike};
pub use symm_abi::far::Update;

use symm_abi::far::NVSHMEM;
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{RmwKind, SymmOp};
use symm_dialect::shape::{Shaped, byte_width, integer_width, scalar};
use symm_dialect::{ENGINE_ATTRIBUTE, is_current_rank};

/// Sums and extrema of floats, whose numbers come after those of [`Update`].
const FLOAT_SUM: i64 = 11;
const BFLOAT_SUM: i64 = 12;
const FLOAT_LEAST: i64 = 13;
const FLOAT_MOST: i64 = 14;

/// The peers of an op.
#[derive(Clone, Copy)]
pub struct Peer<'c> {
    /// Whether all of them are near, `i1`.
    pub near: Value<'c, 'c>,
    /// The engine's number of the rank, or one for each element: a team has other numbers.
    pub pe: Value<'c, 'c>,
}

/// What an update does.
#[derive(Clone, Copy)]
pub struct Change<'c> {
    /// Its number.
    pub kind: i64,
    pub value: Value<'c, 'c>,
    pub expected: Option<Value<'c, 'c>>,
    pub mask: Option<Value<'c, 'c>>,
}

/// S1 where the target has not the engine of a module.
pub fn refuse_engine<'c: 'a, 'a>(ops: &[SymmOp<'c, 'a>], target: &TritonTarget) -> Result<(), Reported> {
    let Some(op) = ops.iter().map(|op| op.operation()).find(|op| engine(*op).is_some()) else { return Ok(()) };
    let engine = engine(op).unwrap_or_default();
    if engine == NVSHMEM && matches!(target, TritonTarget::Cuda(70..)) {
        return Ok(());
    }
    let complaint = format!("S1: needs the engine \"{engine}\", which Triton kernels for {target} do not have");
    Err(error(op, &complaint))
}

fn engine<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<String> {
    std::iter::successors(op.parent_operation(), OperationLike::parent_operation)
        .find_map(|module| module.attribute(ENGINE_ATTRIBUTE).ok())
        .and_then(symm_dialect::text::string)
}

/// Whether a kernel's warps run code of their own.
pub fn is_specialized<'c: 'a, 'a>(root: OperationRef<'c, 'a>) -> bool {
    let is_met = |op: OperationRef<'c, 'a>| {
        (name(op) == "ttg.warp_specialize" || op.has_attribute("tt.warp_specialize")).then_some(())
    };
    !select(root, is_met).is_empty()
}

impl<'c: 'a, 'a> Lowering<'c, 'a> {
    /// The peers of an op by the names of its operands for rank and distance; `None` if all of them are known to be
    /// near.
    pub fn peer(
        &mut self,
        b: &Builder<'c>,
        op: SymmOp<'c, 'a>,
        (rank, delta): (&str, &str),
        mask: Option<Value<'c, 'a>>,
    ) -> Result<Option<Peer<'c>>, Reported> {
        let rank = op.operand_group(rank)[0];
        let is_here = op.operand_group(delta).first().is_some_and(|delta| constant_value(*delta) == Some(0));
        let is_me = is_here || op.ctx().is_some_and(|ctx| is_current_rank(ctx, rank));
        if is_me || engine(op.operation()).is_none() {
            return Ok(None);
        }
        if self.is_specialized {
            let complaint = "S1: an engine needs all warps of a kernel, and this one divides them among partitions";
            return Err(error(op.operation(), complaint));
        }
        let (near, pe) = self.tables.of(op)?.are_near(b, rank, mask.map(lasting));
        Ok(Some(Peer { near, pe }))
    }
}

/// Calls a function for a scalar, or for each element.
pub fn call<'c>(b: &Builder<'c>, symbol: &str, operands: &[Value<'c, '_>], result: Type<'c>) -> Value<'c, 'c> {
    let attributes = [
        ("libname", b.string("")),
        ("libpath", b.string("")),
        ("symbol", b.string(symbol)),
        ("pure", b.parse("false")),
    ];
    b.value("tt.extern_elementwise", operands, result, &attributes)
}

/// Pointers as integers.
pub fn address<'c>(b: &Builder<'c>, pointer: Value<'c, '_>) -> Value<'c, 'c> {
    b.value("tt.ptr_to_int", &[pointer], element_wise(pointer.r#type(), b.int(64)), &[])
}

/// An element of 8 to 64 bits, or a tensor of them, as 64 bits.
pub fn to_word<'c>(b: &Builder<'c>, value: Value<'c, '_>) -> Value<'c, 'c> {
    let ty = value.r#type();
    let bits = b.int(bits(ty));
    let integers = match integer_width(scalar(ty)) {
        Some(_) => lasting(value),
        None => b.value("tt.bitcast", &[value], element_wise(ty, bits), &[]),
    };
    if byte_width(bits) == 8 {
        return integers;
    }
    b.value("arith.extui", &[integers], element_wise(ty, b.int(64)), &[])
}

/// The element that came as 64 bits.
pub fn from_word<'c>(b: &Builder<'c>, word: Value<'c, 'c>, ty: Type<'c>) -> Value<'c, 'c> {
    let bits = b.int(bits(ty));
    let narrow = match byte_width(bits) {
        8 => word,
        _ => b.value("arith.trunci", &[word], element_wise(ty, bits), &[]),
    };
    if narrow.r#type() == ty { narrow } else { b.value("tt.bitcast", &[narrow], ty, &[]) }
}

fn bits(ty: Type) -> u32 {
    8 * u32::try_from(byte_width(scalar(ty))).unwrap_or(8)
}

fn is_tensor(value: Value) -> bool {
    Shaped::tensor(value.r#type()).is_some()
}

/// A mask as `i32` for each element of `like`.
fn switch<'c>(b: &Builder<'c>, mask: Option<Value<'c, '_>>, like: Type<'c>) -> Value<'c, 'c> {
    let ty = element_wise(like, b.int(32));
    match mask {
        Some(mask) => b.value("arith.extui", &[mask], ty, &[]),
        None => constant_like(b, 1, ty),
    }
}

pub fn compare<'c>(
    b: &Builder<'c>,
    predicate: CmpiPredicate,
    one: Value<'c, '_>,
    other: Value<'c, '_>,
) -> Value<'c, 'c> {
    let truth = element_wise(one.r#type(), b.int(1));
    b.value("arith.cmpi", &[one, other], truth, &[("predicate", b.integer(64, predicate as i64))])
}

/// Makes something where a scalar mask is true, or is not there.
pub fn masked<'c>(b: &Builder<'c>, mask: Option<Value<'c, '_>>, make: impl FnOnce(&Builder<'c>)) {
    match mask {
        None => make(b),
        Some(mask) => b.when(mask, make),
    }
}

/// Stores a value, or a tensor of them; it has arrived.
pub fn store<'c>(
    b: &Builder<'c>,
    pointer: Value<'c, '_>,
    value: Value<'c, '_>,
    pe: Value<'c, 'c>,
    mask: Option<Value<'c, '_>>,
) {
    store_words(b, address(b, pointer), (to_word(b, value), byte_width(scalar(value.r#type()))), pe, mask);
}

/// Likewise words of this many bytes, at addresses.
pub fn store_words<'c>(
    b: &Builder<'c>,
    at: Value<'c, 'c>,
    (words, bytes): (Value<'c, 'c>, u64),
    pe: Value<'c, 'c>,
    mask: Option<Value<'c, '_>>,
) {
    if !is_tensor(at) {
        let bytes = b.i32(bytes.cast_signed());
        return masked(b, mask, |b| {
            call(b, "symm_far_store", &[at, words, bytes, pe], b.int(32));
        });
    }
    let ty = element_wise(at.r#type(), b.int(32));
    let pe = splat_like(b, pe, ty);
    call(b, &format!("symm_far_p{bytes}"), &[at, words, pe, switch(b, mask, ty)], ty);
    call(b, "symm_far_quiet", &[b.i32(0)], b.int(32));
}

/// Loads a value, or a tensor of them; what `other` says, or zero, where the mask is false.
pub fn load<'c>(
    b: &Builder<'c>,
    pointer: Value<'c, '_>,
    ty: Type<'c>,
    pe: Value<'c, 'c>,
    (mask, other): (Option<Value<'c, '_>>, Option<Value<'c, '_>>),
) -> Value<'c, 'c> {
    let (at, bytes) = (address(b, pointer), byte_width(scalar(ty)));
    let words = at.r#type();
    let other = other.map_or_else(|| constant_like(b, 0, words), |other| to_word(b, other));
    let word = if is_tensor(at) {
        let numbers = element_wise(words, b.int(32));
        let operands = [at, other, splat_like(b, pe, numbers), switch(b, mask, numbers)];
        call(b, &format!("symm_far_g{bytes}"), &operands, words)
    } else {
        let fetch = |b: &Builder<'c>| call(b, "symm_far_load", &[at, b.i32(bytes.cast_signed()), pe], words);
        match mask {
            None => fetch(b),
            Some(mask) => b.choose(mask, words, fetch, |_| other),
        }
    };
    from_word(b, word, ty)
}

/// The number of an update.
pub fn kind_of(kind: RmwKind, ty: Type) -> i64 {
    let is_float = scalar(ty).is_float();
    match kind {
        RmwKind::FAdd if scalar(ty) == Type::bfloat16(symm_dialect::context(ty.context())) => BFLOAT_SUM,
        RmwKind::FAdd => FLOAT_SUM,
        RmwKind::Min if is_float => FLOAT_LEAST,
        RmwKind::Max if is_float => FLOAT_MOST,
        RmwKind::Add => Update::Add as i64,
        RmwKind::Sub => Update::Sub as i64,
        RmwKind::And => Update::And as i64,
        RmwKind::Or => Update::Or as i64,
        RmwKind::Xor => Update::Xor as i64,
        RmwKind::Min => Update::Min as i64,
        RmwKind::Max => Update::Max as i64,
        RmwKind::UMin => Update::UnsignedMin as i64,
        RmwKind::UMax => Update::UnsignedMax as i64,
        RmwKind::Xchg => Update::Set as i64,
    }
}

/// Sets a flag, or adds to it; it has arrived.
pub fn signal<'c>(b: &Builder<'c>, at: Value<'c, 'c>, kind: Update, value: Value<'c, 'c>, pe: Value<'c, 'c>) {
    let bytes = b.i32(byte_width(value.r#type()).cast_signed());
    let at = if at.r#type() == b.int(64) { at } else { address(b, at) };
    call(b, "symm_far_signal", &[at, b.i32(kind as i64), bytes, to_word(b, value), pe], b.int(32));
}

/// Updates a value, or the elements of a tensor one after the other; the old values.
pub fn update<'c>(b: &Builder<'c>, pointer: Value<'c, 'c>, change: Change<'c>, pe: Value<'c, 'c>) -> Value<'c, 'c> {
    let ty = change.value.r#type();
    let at = address(b, pointer);
    let value = to_word(b, change.value);
    let expected = change.expected.map_or_else(|| constant_like(b, 0, value.r#type()), |expected| to_word(b, expected));
    let (kind, bytes) = (b.i32(change.kind), b.i32(byte_width(scalar(ty)).cast_signed()));
    let word = b.int(64);
    let once = |b: &Builder<'c>, [at, value, expected, pe]: [Value<'c, 'c>; 4]| {
        call(b, "symm_far_update", &[at, kind, bytes, value, expected, pe], word)
    };
    let old = if is_tensor(at) {
        one_by_one(b, change.mask, [at, value, expected, pe], once)
    } else {
        match change.mask {
            None => once(b, [at, value, expected, pe]),
            Some(mask) => b.choose(mask, word, |b| once(b, [at, value, expected, pe]), |b| b.i64(0)),
        }
    };
    from_word(b, old, ty)
}

/// Calls `once` with the words of each element for which the mask is true, one after the other; what it returned.
fn one_by_one<'c>(
    b: &Builder<'c>,
    mask: Option<Value<'c, 'c>>,
    operands: [Value<'c, 'c>; 4],
    once: impl FnOnce(&Builder<'c>, [Value<'c, 'c>; 4]) -> Value<'c, 'c>,
) -> Value<'c, 'c> {
    let ty = operands[0].r#type();
    let shape = Shaped::tensor(ty).expect("a tensor of addresses");
    let count: u64 = shape.dimensions().into_iter().flatten().product();
    let numbers = numbers(b, shape);
    let zeros = constant_like(b, 0, ty);
    let results = b.repeat(
        &[b.i32(0), zeros],
        |b, carried| (compare(b, CmpiPredicate::Slt, carried[0], b.i32(count.cast_signed())), carried.to_vec()),
        |b, carried| {
            let this = compare(b, CmpiPredicate::Eq, numbers, splat_like(b, carried[0], numbers.r#type()));
            let is_on = match mask {
                Some(mask) => b.binary("arith.andi", this, mask),
                None => this,
            };
            let any = reduced(b, b.value("arith.extui", &[is_on], ty, &[]), "arith.ori");
            let is_on = compare(b, CmpiPredicate::Ne, any, b.i64(0));
            let call = |b: &Builder<'c>| {
                let scalars = operands.map(|operand| {
                    if !is_tensor(operand) {
                        return operand;
                    }
                    let wide = match byte_width(scalar(operand.r#type())) {
                        8 => operand,
                        _ => b.value("arith.extui", &[operand], ty, &[]),
                    };
                    let found = reduced(b, b.value("arith.select", &[this, wide, zeros], ty, &[]), "arith.ori");
                    if wide.r#type() == operand.r#type() {
                        return found;
                    }
                    b.value("arith.trunci", &[found], scalar(operand.r#type()), &[])
                });
                once(b, scalars)
            };
            let old = b.choose(is_on, b.int(64), call, |b| b.i64(0));
            let old = b.value("arith.select", &[this, splat_like(b, old, ty), carried[1]], ty, &[]);
            vec![b.add(carried[0], b.i32(1)), old]
        },
    );
    results[1]
}
