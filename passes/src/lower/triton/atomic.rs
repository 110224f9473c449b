//! Atomics, as Triton's: a subtraction adds the negative, and floats are compared as integers.

use super::Lowering;
use super::far::{self, Change};
use crate::ir::triton::Version;
use crate::ir::triton::words::{atomic_cas, atomic_rmw, constant_like, element_wise};
use crate::ir::{Builder, lasting};
use crate::target::TritonTarget;
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{Type, TypeLike, Value, ValueLike};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{AtomicCas, AtomicRmw, Order, RmwKind, Scope, SymmOp};
use symm_dialect::pointer::Pointer;
use symm_dialect::shape::{byte_width, scalar};

/// The first version with a compare-and-swap at system scope for AMD GPUs: one of a block did not compile, and that of
/// one value was for one GPU.
const CAS_ON_AMD: Version = Version { major: 3, minor: 7 };

/// What an atomic does to which values.
struct Update<'c> {
    kind: RmwKind,
    pointer: Value<'c, 'c>,
    value: Value<'c, 'c>,
    mask: Option<Value<'c, 'c>>,
    order: (Order, Scope),
}

impl<'c: 'a, 'a> Lowering<'c, 'a> {
    pub fn atomic_rmw(&mut self, b: &Builder<'c>, op: AtomicRmw<'c, 'a>) -> Result<Value<'c, 'c>, Reported> {
        let pointer = self.remote(b, SymmOp::AtomicRmw(op), op.ptr(), ("rank", "delta"))?;
        let peer = self.peer(b, SymmOp::AtomicRmw(op), ("rank", "delta"), op.mask())?;
        let order = (self.target.order_of_atomic(op.sem()), op.scope());
        let update =
            Update { kind: op.kind(), pointer, value: lasting(op.value()), mask: op.mask().map(lasting), order };
        let is_float = scalar(op.value().r#type()).is_float();
        let near = |b: &Builder<'c>| match op.kind() {
            RmwKind::Min | RmwKind::Max if is_float => float_extremum(b, &update),
            RmwKind::Sub => {
                let zero = constant_like(b, 0, update.value.r#type());
                let value = b.binary("arith.subi", zero, update.value);
                atomic_rmw(b, RmwKind::Add, pointer, value, op.mask(), order)
            }
            kind => atomic_rmw(b, kind, pointer, op.value(), op.mask(), order),
        };
        let ty = op.value().r#type();
        let change =
            Change { kind: far::kind_of(op.kind(), ty), value: update.value, expected: None, mask: update.mask };
        Ok(self.ordered(b, (op.sem(), op.scope()), || match peer {
            None => near(b),
            Some(peer) => b.choose(peer.near, ty, near, |b| far::update(b, lasting(op.ptr()), change, peer.pe)),
        }))
    }

    pub fn atomic_cas(&mut self, b: &Builder<'c>, op: AtomicCas<'c, 'a>) -> Result<Value<'c, 'c>, Reported> {
        if op.mask().is_some() {
            return Err(error(op.operation(), "S1: Triton's compare-and-swap takes no mask"));
        }
        let pointer = self.remote(b, SymmOp::AtomicCas(op), op.ptr(), ("rank", "delta"))?;
        let order = (self.target.order_of_atomic(op.sem()), op.scope());
        let ty = op.expected().r#type();
        if matches!(self.target, TritonTarget::Hip(_)) && self.words.0 < CAS_ON_AMD {
            let complaint = "S1: Triton 3.6 has no compare-and-swap at system scope for AMD GPUs; 3.7 has";
            return Err(error(op.operation(), complaint));
        }
        let peer = self.peer(b, SymmOp::AtomicCas(op), ("rank", "delta"), None)?;
        let near = |b: &Builder<'c>| {
            if !scalar(ty).is_float() {
                return atomic_cas(b, pointer, op.expected(), op.desired(), order);
            }
            // Bit for bit.
            let values = (as_integers(b, op.expected()), as_integers(b, op.desired()));
            let old = atomic_cas(b, pointer_to_integers(b, pointer), values.0, values.1, order);
            b.value("tt.bitcast", &[old], ty, &[])
        };
        let (value, expected) = (lasting(op.desired()), Some(lasting(op.expected())));
        let change = Change { kind: far::Update::Swap as i64, value, expected, mask: None };
        Ok(self.ordered(b, (op.sem(), op.scope()), || match peer {
            None => near(b),
            Some(peer) => b.choose(peer.near, ty, near, |b| far::update(b, lasting(op.ptr()), change, peer.pe)),
        }))
    }

    /// What `update` makes, with the barriers that an order asks for: one thread of the program may be the one that
    /// updates, for all of them.
    fn ordered<T>(&self, b: &Builder<'c>, (order, scope): (Order, Scope), update: impl FnOnce() -> T) -> T {
        if order.releases() {
            self.before_release(b, scope);
        }
        let old = update();
        if order.acquires() {
            self.after_acquire(b);
        }
        old
    }
}

/// The smaller or larger of two floats, as Triton's front end does it: floats of one sign are in the order of their
/// bits as integers, or in the reverse order.
fn float_extremum<'c>(b: &Builder<'c>, update: &Update<'c>) -> Value<'c, 'c> {
    let is_max = update.kind == RmwKind::Max;
    let ty = update.value.r#type();
    let (value, pointer) = (as_integers(b, update.value), pointer_to_integers(b, update.pointer));
    let zero = constant_like(b, 0, value.r#type());
    let half = |predicate: CmpiPredicate, kind| {
        let truth = element_wise(ty, b.int(1));
        let chosen = b.value("arith.cmpi", &[value, zero], truth, &[("predicate", b.integer(64, predicate as i64))]);
        let mask = match update.mask {
            Some(mask) => b.binary("arith.andi", chosen, mask),
            None => chosen,
        };
        (chosen, atomic_rmw(b, kind, pointer, value, Some(mask), update.order))
    };
    let (positive, above) = half(CmpiPredicate::Sge, if is_max { RmwKind::Max } else { RmwKind::Min });
    let (_, below) = half(CmpiPredicate::Slt, if is_max { RmwKind::UMin } else { RmwKind::UMax });
    let old = b.value("arith.select", &[positive, above, below], above.r#type(), &[]);
    b.value("tt.bitcast", &[old], ty, &[])
}

fn integer<'c>(b: &Builder<'c>, float: Type<'c>) -> Type<'c> {
    b.int(if byte_width(float) == 8 { 64 } else { 32 })
}

fn as_integers<'c>(b: &Builder<'c>, value: Value<'c, '_>) -> Value<'c, 'c> {
    let ty = value.r#type();
    b.value("tt.bitcast", &[value], element_wise(ty, integer(b, scalar(ty))), &[])
}

/// A pointer to floats, or a tensor of such, as one to integers.
fn pointer_to_integers<'c>(b: &Builder<'c>, pointer: Value<'c, 'c>) -> Value<'c, 'c> {
    let ty = pointer.r#type();
    let element = Pointer::of(ty).and_then(Pointer::pointee).expect("verified: a pointer to floats");
    let text = match Pointer::address_space(ty) {
        0 => format!("!tt.ptr<{}>", integer(b, element)),
        space => format!("!tt.ptr<{}, {space}>", integer(b, element)),
    };
    let scalar = Type::parse(b.context, &text).expect("a type of an unregistered dialect");
    b.value("tt.bitcast", &[pointer], element_wise(ty, scalar), &[])
}
