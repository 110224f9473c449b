//! Accesses of ranks that an engine may have to reach (N1 to N4): the near path is what it is without an engine, the
//! far one calls NVSHMEM's device functions, with the address of the same place in this rank's heap.
//!
//! Each call is followed by one that waits until what it wrote has arrived (N3), and preceded by a fence where it
//! releases.

mod access;
mod copy;

pub use access::{load, store};
pub use copy::{copy, put_signal};

use super::Target;
use super::threads::{group_barrier, on_leader};
use crate::ir::address::{element, generic};
use crate::ir::packets::Halves;
use crate::ir::{Builder, blocks, enclosing, lasting_op, operations, structure};
use crate::lower::nvshmem::{self, Atomic, Function, Word};
use crate::lower::translation::{Table, delta_of};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, Type, Value, ValueLike};
use symm_dialect::ops::{Group, Order, RmwKind, Scope, SignalKind, SymmOp};
use symm_dialect::pointer::is_llvm_pointer;
use symm_dialect::shape::{Shaped, byte_width, scalar};
use symm_dialect::symbol::symbol;
use symm_dialect::{ENGINE_ATTRIBUTE, is_current_rank, module_has};

/// The engine's functions, as the device module that has the op declares them.
#[derive(Clone, Copy)]
struct Calls<'c> {
    body: BlockRef<'c, 'c>,
}

impl<'c> Calls<'c> {
    /// `None` without an engine.
    fn new<'a>(op: OperationRef<'c, 'a>) -> Option<Self>
    where
        'c: 'a,
    {
        let module = enclosing(op, &[structure::GPU_MODULE]).filter(|_| module_has(&op, ENGINE_ATTRIBUTE))?;
        Some(Self { body: blocks(lasting_op(module))[0] })
    }

    fn call(self, b: &Builder<'c>, function: Function, operands: &[Value<'c, 'c>]) -> Option<Value<'c, 'c>> {
        let machine = |word: &Word| match word {
            Word::Pointer => b.ptr(),
            Word::Int(bits) => b.int(*bits),
        };
        let results: Vec<Type> = function.result.iter().map(machine).collect();
        if !operations(self.body).into_iter().any(|op| symbol(op).as_deref() == Some(function.name)) {
            let inputs: Vec<Type> = function.parameters.iter().map(machine).collect();
            Builder::at_start(b.context, self.body, b.location()).declare(function.name, &inputs, &results);
        }
        b.llvm_call(function.name, operands, &results).results().next().map(Into::into)
    }

    fn value(self, b: &Builder<'c>, function: Function, operands: &[Value<'c, 'c>]) -> Value<'c, 'c> {
        self.call(b, function, operands).expect("a function with a result")
    }

    /// Waits until what this thread has written has arrived.
    fn quiet(self, b: &Builder<'c>) {
        self.call(b, nvshmem::QUIET, &[]);
    }

    /// Likewise what a group has.
    fn quiet_group(self, b: &Builder<'c>, target: &dyn Target, group: Group) {
        on_leader(b, group, |b| self.quiet(b));
        group_barrier(b, target, group);
    }
}

/// A place on a rank that may be far.
pub struct Far<'c> {
    /// Whether it is near.
    pub near: Value<'c, 'c>,
    calls: Calls<'c>,
    rank: Value<'c, 'c>,
    /// The same place in this rank's heap.
    at: Value<'c, 'c>,
    /// What has been added to it for the peer.
    delta: Option<Value<'c, 'c>>,
}

impl<'c> Far<'c> {
    /// The element that an op accesses on its rank, its flag or its slots; `None` where that is near for sure.
    pub fn flag<'a>(op: SymmOp<'c, 'a>, b: &Builder<'c>) -> Option<Self>
    where
        'c: 'a,
    {
        let rank = *op.operand_group("rank").first()?;
        let pointer = ["flag", "ptr", "slots"].iter().find_map(|name| op.operand_group(name).first().copied())?;
        let far = Self::of_rank(op, b, rank, |b| {
            keep_pointers(op, b);
            generic(b, element(b, pointer, &op.operand_group("indices")))
        })?;
        let at = kept(b, far.at);
        let delta = matches!(op, SymmOp::PutPacket(_)).then(|| delta_of(op, b, "rank", "delta"));
        Some(Self { at, delta, ..far })
    }

    /// A place of the heap of an op's context on a rank.
    pub fn of_rank<'a>(
        op: SymmOp<'c, 'a>,
        b: &Builder<'c>,
        rank: Value<'c, 'a>,
        at: impl FnOnce(&Builder<'c>) -> Value<'c, 'c>,
    ) -> Option<Self>
    where
        'c: 'a,
    {
        let (calls, ctx) = (Calls::new(op.operation())?, op.ctx()?);
        if is_current_rank(ctx, rank) {
            return None;
        }
        let near = Table::new(op.operation(), ctx).is_accessed(b, rank);
        Some(Self { near, calls, rank: b.cast(rank, b.int(32)), at: at(b), delta: None })
    }

    /// Sets or adds to the flag.
    pub fn signal(&self, b: &Builder<'c>, target: &dyn Target, kind: SignalKind, value: Value<'c, 'c>, order: Order) {
        release(b, target, order);
        if byte_width(value.r#type()) == 8 {
            let operation = b.i32(nvshmem::signal_operation(kind));
            self.calls.call(b, nvshmem::SIGNAL, &[self.at, value, operation, self.rank]);
            self.calls.quiet(b);
            return;
        }
        let atomic = if kind == SignalKind::Set { Atomic::Exchange } else { Atomic::Add };
        self.calls.call(b, nvshmem::atomic(atomic, byte_width(value.r#type())), &[self.at, value, self.rank]);
    }

    /// Writes both halves of a packet's line, which the peer has at `line`.
    pub fn store_line(&self, b: &Builder<'c>, line: Value<'c, 'c>, halves: Halves<'c>) {
        let back = b.binary("arith.subi", b.i64(0), self.delta.expect("a packet is translated"));
        let line = b.byte_offset(generic(b, line), back);
        let set = b.i32(nvshmem::signal_operation(SignalKind::Set));
        for (half, offset) in halves.into_iter().zip([0, 8]) {
            let at = b.byte_offset_constant(line, offset);
            self.calls.call(b, nvshmem::SIGNAL, &[at, half, set, self.rank]);
        }
        self.calls.quiet(b);
    }

    /// Compares and swaps; the old value.
    pub fn swap(
        &self,
        b: &Builder<'c>,
        target: &dyn Target,
        (expected, desired): (Value<'c, 'c>, Value<'c, 'c>),
        order: Order,
    ) -> Value<'c, 'c> {
        let ty = expected.r#type();
        release(b, target, order);
        let function = nvshmem::atomic(Atomic::Swap, byte_width(ty));
        let operands = [self.at, to_bits(b, expected), to_bits(b, desired), self.rank];
        let old = from_bits(b, self.calls.value(b, function, &operands), ty);
        acquire(b, target, order);
        old
    }

    /// Updates a value; the old one.
    pub fn update(
        &self,
        b: &Builder<'c>,
        target: &dyn Target,
        kind: RmwKind,
        value: Value<'c, 'c>,
        order: Order,
    ) -> Value<'c, 'c> {
        let ty = value.r#type();
        release(b, target, order);
        let old = match native(kind).filter(|_| byte_width(ty) >= 4) {
            Some(atomic) => {
                let value = if kind == RmwKind::Sub { b.binary("arith.subi", b.zero(ty), value) } else { value };
                let operands = [self.at, to_bits(b, value), self.rank];
                self.calls.value(b, nvshmem::atomic(atomic, byte_width(ty)), &operands)
            }
            None => self.update_by_swaps(b, kind, value),
        };
        let old = from_bits(b, old, ty);
        acquire(b, target, order);
        old
    }

    /// Swaps the new value in until nobody else has changed the word around it meanwhile; the old value's bits.
    fn update_by_swaps(&self, b: &Builder<'c>, kind: RmwKind, value: Value<'c, 'c>) -> Value<'c, 'c> {
        let (ty, width) = (value.r#type(), byte_width(value.r#type()));
        let size = width.max(4);
        let (word, bits) = (b.int(bits_of(size)), b.int(bits_of(width)));
        let inside = (width < size).then(|| {
            let address = b.value("llvm.ptrtoint", &[self.at], b.int(64), &[]);
            let inside = b.binary("arith.andi", address, b.i64(size.cast_signed() - 1));
            let back = b.binary("arith.subi", b.i64(0), inside);
            let shift = b.binary("arith.shli", inside, b.i64(3));
            (b.byte_offset(self.at, back), b.value("arith.trunci", &[shift], word, &[]))
        });
        let at = inside.map_or(self.at, |(at, _)| at);
        let part = |b: &Builder<'c>, whole: Value<'c, 'c>| match inside {
            None => whole,
            Some((_, shift)) => b.value("arith.trunci", &[b.binary("arith.shrui", whole, shift)], bits, &[]),
        };
        let first = self.calls.value(b, nvshmem::atomic(Atomic::Fetch, size), &[at, self.rank]);
        let swap = |b: &Builder<'c>, carried: &[Value<'c, 'c>]| {
            let old = from_bits(b, part(b, carried[0]), ty);
            let new = to_bits(b, combined(b, kind, old, value));
            let new = match inside {
                None => new,
                Some((_, shift)) => {
                    let mask = b.constant(word, (1 << (8 * width)) - 1);
                    let kept = b.binary("arith.xori", b.binary("arith.shli", mask, shift), b.constant(word, -1));
                    let new = b.binary("arith.shli", b.value("arith.extui", &[new], word, &[]), shift);
                    b.binary("arith.ori", b.binary("arith.andi", carried[0], kept), new)
                }
            };
            let seen = self.calls.value(b, nvshmem::atomic(Atomic::Swap, size), &[at, carried[0], new, self.rank]);
            (b.compare(CmpiPredicate::Ne, seen, carried[0]), vec![seen])
        };
        part(b, b.repeat(&[first], swap, |_, carried| carried.to_vec())[0])
    }
}

/// A pointer with a use of its own, which the translation for near ranks then leaves as it is.
fn kept<'c>(b: &Builder<'c>, pointer: Value<'c, '_>) -> Value<'c, 'c> {
    b.byte_offset_constant(pointer, 0)
}

/// Likewise all pointers of an op.
fn keep_pointers<'c: 'a, 'a>(op: SymmOp<'c, 'a>, b: &Builder<'c>) {
    for pointer in op.operation().operands().filter(|operand| is_llvm_pointer(operand.r#type())) {
        kept(b, pointer);
    }
}

/// What the engine does at once, of 4 or 8 bytes.
fn native(kind: RmwKind) -> Option<Atomic> {
    Some(match kind {
        RmwKind::Add | RmwKind::Sub => Atomic::Add,
        RmwKind::And => Atomic::And,
        RmwKind::Or => Atomic::Or,
        RmwKind::Xor => Atomic::Xor,
        RmwKind::Xchg => Atomic::Exchange,
        RmwKind::Min | RmwKind::Max | RmwKind::UMin | RmwKind::UMax | RmwKind::FAdd => return None,
    })
}

/// What becomes of a value; only of those that the engine does not do at once, or not of 2 bytes.
fn combined<'c>(b: &Builder<'c>, kind: RmwKind, old: Value<'c, 'c>, value: Value<'c, 'c>) -> Value<'c, 'c> {
    let name = match kind {
        RmwKind::Xchg => return value,
        RmwKind::FAdd => return b.value("arith.addf", &[old, value], value.r#type(), &[]),
        RmwKind::Add => "arith.addi",
        RmwKind::Sub => "arith.subi",
        RmwKind::And => "arith.andi",
        RmwKind::Or => "arith.ori",
        RmwKind::Xor => "arith.xori",
        RmwKind::Min => "arith.minsi",
        RmwKind::Max => "arith.maxsi",
        RmwKind::UMin => "arith.minui",
        RmwKind::UMax => "arith.maxui",
    };
    b.binary(name, old, value)
}

fn release(b: &Builder, target: &dyn Target, order: Order) {
    if order.releases() {
        target.fence(b, Order::Release, Scope::Sys);
    }
}

fn acquire(b: &Builder, target: &dyn Target, order: Order) {
    if order.acquires() {
        target.fence(b, Order::Acquire, Scope::Sys);
    }
}

/// The bits of an integer, a float, a pointer or a vector.
fn to_bits<'c>(b: &Builder<'c>, value: Value<'c, 'c>) -> Value<'c, 'c> {
    let ty = value.r#type();
    let bits = b.int(bits_of(size_of(ty)));
    match ty {
        _ if ty == bits => value,
        _ if is_llvm_pointer(ty) => b.value("llvm.ptrtoint", &[value], bits, &[]),
        _ => b.value("llvm.bitcast", &[value], bits, &[]),
    }
}

/// The value of those bits.
fn from_bits<'c>(b: &Builder<'c>, bits: Value<'c, 'c>, ty: Type<'c>) -> Value<'c, 'c> {
    match ty {
        _ if bits.r#type() == ty => bits,
        _ if is_llvm_pointer(ty) => b.value("llvm.inttoptr", &[bits], ty, &[]),
        _ => b.value("llvm.bitcast", &[bits], ty, &[]),
    }
}

/// The elements of a vector; 1 for another value.
fn lanes(ty: Type) -> u64 {
    Shaped::vector(ty).map_or(1, |vector| vector.dimensions().into_iter().flatten().product())
}

/// The bytes of a value in memory.
fn size_of(ty: Type) -> u64 {
    byte_width(scalar(ty)) * lanes(ty)
}

/// The bits of this many bytes, of a word or a vector.
fn bits_of(bytes: u64) -> u32 {
    u32::try_from(8 * bytes).expect("a value's size")
}
