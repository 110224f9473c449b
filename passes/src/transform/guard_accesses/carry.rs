//! Loops and branches that exchange the tensors of their pointers, and have those pointers' ends go along.
//!
//! ```mlir
//! scf.for … iter_args(%p = %a, %q = %b) -> (!tt.ptr<f32>, !tt.ptr<f32>) {
//!   …
//!   scf.yield %q, %p : !tt.ptr<f32>, !tt.ptr<f32>
//! }
//! ```
//!
//! becomes a loop that carries three numbers more for each of these pointers, those of [`Ends`], and exchanges them as
//! it exchanges the pointers. A `scf.while` and a branch are extended likewise.

use super::ends::{Carried, Ends, LookUp, ends};
use super::pointers::{is_exchanged, key};
use crate::ir::triton::words::{element_wise, splat_like};
use crate::ir::{Builder, argument, blocks, lasting, name, operations, take_region};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, BlockLike, BlockRef, OperationRef, Type, Value, ValueLike};
use symm_dialect::text;

/// The end of a region, and which of its operands' ends it has to hand on.
pub type Handed<'c, 'a> = (OperationRef<'c, 'a>, Vec<usize>);

/// Which pointers an op carries whose ends have to go along: numbers of values.
struct Plan<'c, 'a> {
    operands: Vec<usize>,
    entries: Vec<(BlockRef<'c, 'a>, Vec<usize>)>,
    handed: Vec<(BlockRef<'c, 'a>, Vec<usize>)>,
    results: Vec<usize>,
}

fn plan<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<Plan<'c, 'a>> {
    let among = |values: Vec<Value<'c, 'a>>| -> Vec<usize> {
        values.into_iter().enumerate().filter(|(_, value)| is_exchanged(*value)).map(|(index, _)| index).collect()
    };
    let after = |indices: &[usize], first: usize| indices.iter().map(|index| index + first).collect();
    let results = among(op.results().map(Into::into).collect());
    let plan = match (name(op), &blocks(op)[..]) {
        ("scf.for", [body]) => Plan {
            operands: after(&results, 3),
            entries: vec![(*body, after(&results, 1))],
            handed: vec![(*body, results.clone())],
            results,
        },
        ("scf.while", [test, body]) => {
            let carried = among((0..test.argument_count()).map(|index| argument(*test, index)).collect());
            Plan {
                operands: carried.clone(),
                entries: vec![(*test, carried.clone()), (*body, results.clone())],
                handed: vec![(*test, after(&results, 1)), (*body, carried)],
                results,
            }
        }
        ("scf.if", [then, otherwise]) => Plan {
            operands: Vec::new(),
            entries: Vec::new(),
            handed: vec![(*then, results.clone()), (*otherwise, results.clone())],
            results,
        },
        _ => return None,
    };
    (!plan.results.is_empty() || !plan.operands.is_empty()).then_some(plan)
}

/// Has a loop or a branch carry the ends of pointers whose tensors it may exchange. What its regions hand on may be of
/// loops that come later: that is left to [`hand_on`].
pub fn carry<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    carried: &mut Carried<'c>,
    look_up: LookUp<'_, 'c, 'a>,
) -> Vec<Handed<'c, 'a>> {
    let Some(plan) = plan(op) else { return Vec::new() };
    let b = Builder::before(op);
    let value = |index: &usize| op.operand(*index).expect("it is one of the op's");
    let more: Vec<_> = plan.operands.iter().flat_map(|index| of_each(&b, value(index), carried, look_up)).collect();
    for (block, pointers) in &plan.entries {
        for pointer in pointers {
            let pointer = argument(*block, *pointer);
            let first = block.argument_count();
            let ty = element_wise(pointer.r#type(), b.int(64));
            (0..3).for_each(|_| _ = block.add_argument(ty, b.location()));
            carried.insert(key(pointer), Ends::new([0, 1, 2].map(|index| argument(*block, first + index))));
        }
    }
    let operands: Vec<_> = op.operands().map(lasting).chain(more).collect();
    let types: Vec<Type> = op.results().map(|result| result.r#type()).collect();
    let longer = plan.results.iter().flat_map(|index| [element_wise(types[*index], b.int(64)); 3]);
    let all: Vec<Type> = types.iter().copied().chain(longer).collect();
    let regions = (0..blocks(op).len()).map(|index| take_region(op, index)).collect();
    let made = again(&b, op, &operands, &all, regions);
    let results: Vec<Value> = made.results().map(Into::into).collect();
    for (nth, index) in plan.results.iter().enumerate() {
        let first = types.len() + 3 * nth;
        carried.insert(key(results[*index]), Ends::new([0, 1, 2].map(|index| results[first + index])));
    }
    b.replace(op, &results[..types.len()]);
    let end = |block: BlockRef<'c, 'a>| *operations(block).last().expect("a region has an end");
    plan.handed.into_iter().map(|(block, operands)| (end(block), operands)).collect()
}

/// Has the end of a region hand on the ends of its pointers.
pub fn hand_on<'c: 'a, 'a>((end, pointers): Handed<'c, 'a>, carried: &Carried<'c>, look_up: LookUp<'_, 'c, 'a>) {
    let b = Builder::before(end);
    let value = |index: &usize| end.operand(*index).expect("it is one of the op's");
    let more: Vec<_> = pointers.iter().flat_map(|index| of_each(&b, value(index), carried, look_up)).collect();
    let operands: Vec<_> = end.operands().map(lasting).chain(more).collect();
    again(&b, end, &operands, &[], Vec::new());
    b.erase(end);
}

/// The ends of a pointer, one for each element.
fn of_each<'c: 'a, 'a>(
    b: &Builder<'c>,
    pointer: Value<'c, 'a>,
    carried: &Carried<'c>,
    look_up: LookUp<'_, 'c, 'a>,
) -> [Value<'c, 'c>; 3] {
    let ty = element_wise(pointer.r#type(), b.int(64));
    let each = |end: Value<'c, 'c>| if end.r#type() == ty { end } else { splat_like(b, end, ty) };
    ends(b, pointer, false, (carried, look_up)).all().map(each)
}

/// An op with other operands and results, and else the same.
fn again<'c: 'a, 'a>(
    b: &Builder<'c>,
    op: OperationRef<'c, 'a>,
    operands: &[Value<'c, 'c>],
    results: &[Type<'c>],
    regions: Vec<melior::ir::Region<'c>>,
) -> OperationRef<'c, 'c> {
    let attributes: Vec<(String, Attribute)> =
        op.attributes().map(|(name, attribute)| (text::identifier(name), attribute)).collect();
    let attributes: Vec<_> = attributes.iter().map(|(name, attribute)| (name.as_str(), *attribute)).collect();
    b.op_with_regions(name(op), operands, results, &attributes, regions)
}
