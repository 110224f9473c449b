//! Folds: translation to oneself (T2), and ranks known at compile time.

use crate::ops::{Folding, SymmOp};
use crate::{ENGINE_ATTRIBUTE, NUM_RANKS_ATTRIBUTE, module_has, module_integer};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationResult;
use melior::ir::{Attribute, Value, ValueLike};

/// What an op folds to.
pub enum Folded<'c, 'a> {
    /// An existing value.
    Value(Value<'c, 'a>),
    /// A constant of the result's type.
    Constant(Attribute<'c>),
}

/// Folds a pure op with one result, or returns `None`.
pub fn fold<'c: 'a, 'a>(op: SymmOp<'c, 'a>) -> Option<Folded<'c, 'a>> {
    match op.folding()? {
        Folding::AsRemote(op) => is_current_rank(op.ctx(), op.rank()).then_some(Folded::Value(op.ptr())),
        Folding::HeapDelta(op) => is_current_rank(op.ctx(), op.rank()).then(|| constant(op.result(), 0)),
        Folding::IsNear(op) => {
            let near = is_current_rank(op.ctx(), op.rank()) || !module_has(&op.operation(), ENGINE_ATTRIBUTE);
            near.then(|| constant(op.result(), 1))
        }
        Folding::Rank(op) => parts(op.ctx()).map(|(rank, _)| Folded::Value(rank)),
        Folding::NumRanks(op) => match parts(op.ctx()) {
            Some((_, num_ranks)) => Some(Folded::Value(num_ranks)),
            None => module_integer(&op.operation(), NUM_RANKS_ATTRIBUTE).map(|ranks| constant(op.result(), ranks)),
        },
    }
}

fn constant<'c, 'a>(result: Value<'c, 'a>, value: i64) -> Folded<'c, 'a> {
    Folded::Constant(IntegerAttribute::new(result.r#type(), value).into())
}

/// The op that defines `value`, if it is an op of this dialect.
fn definition<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<SymmOp<'c, 'a>> {
    // Asked first: melior prints what it can't convert.
    if !value.is_operation_result() {
        return None;
    }
    let result = OperationResult::try_from(value).ok()?;
    SymmOp::cast(result.owner())
}

/// The rank and the number of ranks of a context that is made from its parts.
fn parts<'c: 'a, 'a>(ctx: Value<'c, 'a>) -> Option<(Value<'c, 'a>, Value<'c, 'a>)> {
    let SymmOp::Ctx(op) = definition(ctx)? else { return None };
    op.rank().zip(op.num_ranks())
}

/// Whether `rank` is the current rank of `ctx`, by its definition.
#[must_use]
pub fn is_current_rank<'c: 'a, 'a>(ctx: Value<'c, 'a>, rank: Value<'c, 'a>) -> bool {
    if let Some(SymmOp::Rank(op)) = definition(rank) {
        return op.ctx() == ctx;
    }
    parts(ctx).is_some_and(|(me, _)| me == rank)
}
