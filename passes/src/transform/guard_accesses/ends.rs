//! The ends of the memory that each of some pointers may go to, where they are of several tensors or ranks.
//!
//! They are computed from what the pointers are computed from: where an op chooses one of two pointers, it is the ends
//! of that one.

use super::pointers::{arms, carried_from, is_argument, key};
use crate::ir::triton::is_step;
use crate::ir::triton::words::{constant_like, element_wise, splat_like};
use crate::ir::{Builder, definition, lasting, name};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{OperationRef, Type, Value, ValueLike, operation::OperationLike};
use std::collections::HashMap;
use symm_dialect::ops::{AsRemote, HeapDeltaParts, SymmOp};
use symm_dialect::shape::Shaped;

/// As this rank's addresses, with the distance to where the pointers lead; each for all of them, or one for each.
#[derive(Clone, Copy)]
pub struct Ends<'c> {
    pub start: Value<'c, 'c>,
    pub end: Value<'c, 'c>,
    pub distance: Value<'c, 'c>,
}

impl<'c> Ends<'c> {
    pub fn new([start, end, distance]: [Value<'c, 'c>; 3]) -> Self {
        Self { start, end, distance }
    }

    pub fn all(self) -> [Value<'c, 'c>; 3] {
        [self.start, self.end, self.distance]
    }
}

/// What looks up the ends of an argument's tensor, or of the heap.
pub type LookUp<'l, 'c, 'a> = &'l mut dyn FnMut(Option<Value<'c, 'a>>) -> (Value<'c, 'c>, Value<'c, 'c>);

/// The ends of pointers that loops and branches carry, by the pointers' keys.
pub type Carried<'c> = HashMap<usize, Ends<'c>>;

/// The ends of what pointers lead to; those of which nothing is known are `on_heap`, or anywhere.
pub fn ends<'c: 'a, 'a>(
    b: &Builder<'c>,
    pointer: Value<'c, 'a>,
    on_heap: bool,
    (carried, look_up): (&Carried<'c>, LookUp<'_, 'c, 'a>),
) -> Ends<'c> {
    if let Some(known) = carried.get(&key(pointer)) {
        return if on_heap { confined(b, *known, look_up(None)) } else { *known };
    }
    if let Some(first) = carried_from(pointer) {
        return ends(b, first, on_heap, (carried, look_up));
    }
    let op = definition(pointer);
    if let Some(op) = op.filter(|op| is_step(*op)) {
        let from = op.operand(0).expect("a step has one");
        let known = ends(b, from, on_heap, (carried, &mut *look_up));
        return Ends::new(known.all().map(|each| spread(b, op, each)));
    }
    let choice = match op.map(name) {
        Some("arith.select") => {
            op.and_then(|op| Some((op.operand(0).ok()?, [op.operand(1).ok()?, op.operand(2).ok()?])))
        }
        Some("scf.if") => arms(pointer),
        _ => None,
    };
    if let Some((condition, two)) = choice {
        let [one, other] = two.map(|each| ends(b, each, on_heap, (carried, &mut *look_up)).all());
        let each = |index: usize| chosen(b, condition, one[index], other[index], pointer.r#type());
        return Ends::new([each(0), each(1), each(2)]);
    }
    if let Some(SymmOp::AsRemote(remote)) = op.and_then(SymmOp::cast) {
        let known = ends(b, remote.ptr(), true, (carried, look_up));
        return Ends { distance: distance(b, remote), ..known };
    }
    let is_argument = is_argument(pointer);
    let (start, end) =
        if is_argument || on_heap { look_up(is_argument.then_some(pointer)) } else { (b.i64(0), b.i64(-1)) };
    Ends { start, end, distance: b.i64(0) }
}

/// Ends that are not anywhere, but at most those of the heap.
fn confined<'c>(b: &Builder<'c>, ends: Ends<'c>, heap: (Value<'c, 'c>, Value<'c, 'c>)) -> Ends<'c> {
    let known = |end: Value<'c, 'c>, anywhere: i64, of_heap: Value<'c, 'c>| {
        let ty = end.r#type();
        let equal = ("predicate", b.integer(64, CmpiPredicate::Eq as i64));
        let is_anywhere =
            b.value("arith.cmpi", &[end, constant_like(b, anywhere, ty)], element_wise(ty, b.int(1)), &[equal]);
        let of_heap = if is_one(end) { of_heap } else { splat_like(b, of_heap, ty) };
        b.value("arith.select", &[is_anywhere, of_heap, end], ty, &[])
    };
    Ends { start: known(ends.start, 0, heap.0), end: known(ends.end, -1, heap.1), ..ends }
}

/// What the steps from pointers to pointers are told.
const ATTRIBUTES: [&str; 4] = ["axis", "order", "allow_reorder", "efficient_layout"];

fn is_one(value: Value) -> bool {
    Shaped::tensor(value.r#type()).is_none()
}

/// What an op makes of one number for each pointer, as it makes pointers of pointers.
fn spread<'c: 'a, 'a>(b: &Builder<'c>, op: OperationRef<'c, 'a>, each: Value<'c, 'c>) -> Value<'c, 'c> {
    let result = op.result(0).expect("a step has one").r#type();
    let ty = element_wise(result, b.int(64));
    if is_one(each) || each.r#type() == ty && matches!(name(op), "tt.addptr" | "tt.bitcast") {
        return each;
    }
    let attributes: Vec<_> = ATTRIBUTES.into_iter().filter_map(|name| Some((name, op.attribute(name).ok()?))).collect();
    b.value(name(op), &[each], ty, &attributes)
}

/// One of two, each for all pointers or for each of them; `like` is the pointers' type.
fn chosen<'c: 'a, 'a>(
    b: &Builder<'c>,
    condition: Value<'c, 'a>,
    one: Value<'c, 'c>,
    other: Value<'c, 'c>,
    like: Type<'c>,
) -> Value<'c, 'c> {
    if one == other {
        return one;
    }
    let condition = lasting(condition);
    if [condition, one, other].into_iter().all(is_one) {
        return b.value("arith.select", &[condition, one, other], b.int(64), &[]);
    }
    let [one, other] = [one, other].map(|each| if is_one(each) { splat_like(b, each, like) } else { each });
    b.value("arith.select", &[condition, one, other], one.r#type(), &[])
}

/// How far pointers have been moved.
fn distance<'c: 'a, 'a>(b: &Builder<'c>, remote: AsRemote<'c, 'a>) -> Value<'c, 'c> {
    if is_one(remote.rank()) {
        return b.make_value(&HeapDeltaParts { ctx: remote.ctx(), rank: remote.rank() }, b.int(64));
    }
    let address =
        |pointer: Value<'c, '_>| b.value("tt.ptr_to_int", &[pointer], element_wise(pointer.r#type(), b.int(64)), &[]);
    b.binary("arith.subi", address(remote.result()), address(remote.ptr()))
}
