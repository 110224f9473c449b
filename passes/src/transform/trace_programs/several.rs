//! Waits for several flags, which are loops that look at all of them at once: what a record says of one.

use super::{scalar_of, unmasked};
use crate::analysis::order::is_quiet;
use crate::ir::records::{begin, end};
use crate::ir::triton::spreads;
use crate::ir::triton::words::{constant_like, element_wise, lowest, reduced};
use crate::ir::{Builder, blocks, collect, context, definition, is_within, lasting, name, operations, symm_ops};
use crate::transform::limit_polls::polled::{Asked, asked_of, is_outside};
use crate::transform::limit_polls::{is_unsigned, what};
use melior::ir::{OperationRef, Value, ValueLike, operation::OperationLike};
use symm_dialect::ops::{Group, RmwKind, SymmOp};
use symm_dialect::shape::{Shaped, integer_width};

/// The bits of a word that say how far the last flag is from the first one; those above say how many there are.
const SPAN_BITS: i64 = 40;

/// Records the waits for several flags among the ops of a function.
pub fn record_waits<'c: 'a, 'a>(below: &[OperationRef<'c, 'a>]) {
    for around in below.iter().filter(|op| name(**op) == "scf.while") {
        if let Some(look) = look(*around) {
            record(*around, look);
        }
    }
}

/// The op by which a loop looks at flags, if it does nothing else.
fn look<'c: 'a, 'a>(around: OperationRef<'c, 'a>) -> Option<SymmOp<'c, 'a>> {
    let regions = blocks(around);
    let [look] = symm_ops(around).into_iter().filter(|op| !matches!(op, SymmOp::Ctx(_))).collect::<Vec<_>>()[..] else {
        return None;
    };
    let SymmOp::AtomicRmw(atomic) = look else { return None };
    let is_look = atomic.kind() == RmwKind::Or && Shaped::tensor(atomic.ptr().r#type()).is_some();
    let is_in_condition = look.operation().block() == regions.first().copied();
    let rests = |op: &OperationRef| is_quiet(*op) || name(*op) == "scf.yield";
    let body = regions.last().copied().into_iter().flat_map(operations).flat_map(collect).collect::<Vec<_>>();
    let is_known = look.operands_before(around);
    (is_look && is_in_condition && is_known && body.iter().all(rests)).then_some(look)
}

trait Look<'c, 'a> {
    fn operands_before(&self, around: OperationRef<'c, 'a>) -> bool;
}

impl<'c: 'a, 'a> Look<'c, 'a> for SymmOp<'c, 'a> {
    /// Whether what the op looks at is known before a loop.
    fn operands_before(&self, around: OperationRef<'c, 'a>) -> bool {
        let groups = ["ptr", "mask"].map(|group| self.operand_group(group));
        groups.iter().flatten().all(|value| is_before(*value, around))
    }
}

fn is_before<'c: 'a, 'a>(value: Value<'c, 'a>, around: OperationRef<'c, 'a>) -> bool {
    definition(value).map_or_else(|| is_outside(value, around), |op| !is_within(op, around))
}

fn record<'c: 'a, 'a>(around: OperationRef<'c, 'a>, look: SymmOp<'c, 'a>) {
    let b = &Builder::at(context(around), around, look.operation().location());
    let Some(ctx) = context_of(b, look, around) else { return };
    let asked = asked_of(around, look.operation());
    let called = if asked.is_some_and(|asked| asked.any) { "wait_any" } else { "wait_all" };
    let value = asked.and_then(|asked| value_of(b, look, asked, around));
    let how = value.and(asked).map(|asked| what(Some(asked)));
    let how = how.as_deref().and_then(|how| how.strip_prefix("wait ")).map(turned).unwrap_or_default();
    let (first, where_to) = places(b, look);
    let value = value.unwrap_or_else(|| b.i64(0));
    let begun = begin(b, ctx, format!("{called} 0{how}"), &[first, where_to, value], Group::Block);
    end(&Builder::after(around), begun, Vec::new());
}

/// The comparison last, as records of other waits have it.
fn turned(how: &str) -> String {
    let mut words: Vec<_> = how.split(' ').filter(|word| *word != "any").collect();
    words.reverse();
    format!(" {}", words.join(" "))
}

fn context_of<'c: 'a, 'a>(
    b: &Builder<'c>,
    look: SymmOp<'c, 'a>,
    around: OperationRef<'c, 'a>,
) -> Option<Value<'c, 'c>> {
    let ctx = look.ctx()?;
    if is_before(ctx, around) {
        return Some(lasting(ctx));
    }
    let made = definition(ctx).filter(|made| made.operands().all(|operand| is_before(operand, around)))?;
    Some(lasting(b.copy(made).result(0).ok()?.into()))
}

/// The address of the first of the flags; how far from it the last one is, and how many there are.
fn places<'c: 'a, 'a>(b: &Builder<'c>, look: SymmOp<'c, 'a>) -> (Value<'c, 'c>, Value<'c, 'c>) {
    let pointer = look.operand_group("ptr")[0];
    let ty = element_wise(pointer.r#type(), b.int(64));
    let addresses = b.value("tt.ptr_to_int", &[pointer], ty, &[]);
    let first = lowest(b, unmasked(b, look, addresses, -1));
    let last = reduced(b, unmasked(b, look, addresses, 0), "arith.maxui");
    let count = reduced(b, unmasked(b, look, constant_like(b, 1, ty), 0), "arith.addi");
    let span = b.binary("arith.andi", b.binary("arith.subi", last, first), b.i64((1 << SPAN_BITS) - 1));
    (first, b.binary("arith.ori", span, b.binary("arith.shli", count, b.i64(SPAN_BITS))))
}

/// What the flags are compared with, the least of several numbers.
fn value_of<'c: 'a, 'a>(
    b: &Builder<'c>,
    look: SymmOp<'c, 'a>,
    asked: Asked<'c, 'a>,
    around: OperationRef<'c, 'a>,
) -> Option<Value<'c, 'c>> {
    let mut value = asked.expected;
    while let Some(op) = definition(value).filter(|op| is_within(*op, around)) {
        if name(op) == "arith.constant" {
            value = lasting(b.copy(op).result(0).ok()?.into());
            break;
        }
        value = spreads(name(op)).then(|| op.operand(0).ok())??;
    }
    let is_known = is_before(value, around);
    let width = integer_width(scalar_of(value.r#type()))?;
    let ty = element_wise(value.r#type(), b.int(64));
    let wider = if is_unsigned(asked.predicate) { "arith.extui" } else { "arith.extsi" };
    is_known.then(|| {
        let word = if width == 64 { lasting(value) } else { b.value(wider, &[value], ty, &[]) };
        lowest(b, unmasked(b, look, word, -1))
    })
}
