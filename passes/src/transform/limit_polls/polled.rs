//! Loops that poll, and what they wait for.

use super::poll::Poll;
use crate::analysis::order::{is_quiet, only_reads};
use crate::ir::{blocks, collect, constant_value, definition, is_within, name, operations, owner};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::block::BlockArgument;
use melior::ir::{BlockLike, BlockRef, OperationRef, Value, ValueLike, operation::OperationLike};
use symm_dialect::lossy;
use symm_dialect::ops::SymmOp;

/// A loop that polls.
pub struct Polled<'c, 'a> {
    pub around: OperationRef<'c, 'a>,
    /// What it polls by.
    pub op: Poll<'c, 'a>,
    /// The context whose deadline it has, where the op has none itself.
    pub ctx: Option<Value<'c, 'a>>,
    /// Whether that is in what the loop does before it decides whether to go on.
    pub is_in_test: bool,
    /// What its value is compared with, where that is known.
    pub asked: Option<Asked<'c, 'a>>,
}

/// What a loop waits for a value to be.
#[derive(Clone, Copy)]
pub struct Asked<'c, 'a> {
    pub predicate: CmpiPredicate,
    pub expected: Value<'c, 'a>,
    /// Whether one of several values is enough.
    pub any: bool,
}

/// All predicates, by their numbers.
const PREDICATES: [CmpiPredicate; 10] = [
    CmpiPredicate::Eq,
    CmpiPredicate::Ne,
    CmpiPredicate::Slt,
    CmpiPredicate::Sle,
    CmpiPredicate::Sgt,
    CmpiPredicate::Sge,
    CmpiPredicate::Ult,
    CmpiPredicate::Ule,
    CmpiPredicate::Ugt,
    CmpiPredicate::Uge,
];

/// What keeps a truth value, or one for each element, as far as a loop's condition is concerned.
const SAME: [&str; 9] = [
    "arith.andi",
    "arith.ori",
    "arith.extui",
    "arith.extsi",
    "arith.trunci",
    "tt.reduce",
    "tt.splat",
    "tt.expand_dims",
    "ttg.convert_layout",
];

/// What makes a number of a number that is compared as the first one is.
const CASTS: [&str; 4] = ["arith.extui", "arith.extsi", "tt.bitcast", "ttg.convert_layout"];

/// What a loop is that has a deadline; `ctx` is the context of a kernel with a default time-out.
pub fn polled<'c: 'a, 'a>(around: OperationRef<'c, 'a>, ctx: Option<Value<'c, 'a>>) -> Option<Polled<'c, 'a>> {
    let regions = blocks(around);
    let inner: Vec<_> = regions.iter().copied().flat_map(operations).flat_map(collect).collect();
    if !inner.iter().all(|op| does_nothing_else(*op, around)) {
        return None;
    }
    let test = *regions.first()?;
    let go_on = operations(test).last()?.operand(0).ok()?;
    let mut reached = Reached { around, known: Vec::new(), polls: Vec::new() };
    reached.look_at(go_on);
    let has_place = |op: &Poll<'c, 'a>| op.operation().block().is_some_and(|block| regions.contains(&block));
    let has_deadline = |op: &Poll<'c, 'a>| op.symm().map_or(ctx.is_some(), |op| op.deadline().is_some());
    let op = reached.polls.into_iter().find(|op| has_deadline(op) && has_place(op))?;
    let asked = if op.packet().is_some() { None } else { asked_of(around, op.operation()) };
    Some(Polled { around, op, ctx, is_in_test: op.operation().block() == Some(test), asked })
}

/// What a loop waits for the result of an op in it to be, where that is known.
pub fn asked_of<'c: 'a, 'a>(around: OperationRef<'c, 'a>, op: OperationRef<'c, 'a>) -> Option<Asked<'c, 'a>> {
    let go_on = operations(*blocks(around).first()?).last()?.operand(0).ok()?;
    Comparing { around, op, known: Vec::new() }.asked(go_on, (true, false))
}

/// Whether an op in a loop can be repeated without another thread's notice.
fn does_nothing_else<'c: 'a, 'a>(op: OperationRef<'c, 'a>, around: OperationRef<'c, 'a>) -> bool {
    if is_quiet(op) || only_reads(name(op)) || matches!(name(op), "scf.if" | "scf.for" | "scf.while") {
        return true;
    }
    match (SymmOp::cast(op), Poll::of(op)) {
        (_, Some(poll)) => poll.repeats() && poll.fixed().into_iter().all(|value| is_fixed(value, around)),
        (Some(SymmOp::RemoteLoad(_) | SymmOp::Fence(_)), None) => true,
        _ => false,
    }
}

/// Whether a value is the same in all iterations.
fn is_fixed<'c: 'a, 'a>(value: Value<'c, 'a>, around: OperationRef<'c, 'a>) -> bool {
    match definition(value) {
        Some(op) if is_within(op, around) => {
            is_quiet(op) && op.region_count() == 0 && op.operands().all(|operand| is_fixed(operand, around))
        }
        Some(_) => true,
        None => is_outside(value, around),
    }
}

/// Whether an argument is of no block in a loop.
pub fn is_outside<'c: 'a, 'a>(value: Value<'c, 'a>, around: OperationRef<'c, 'a>) -> bool {
    let block = BlockArgument::try_from(value).ok().map(owner);
    let around_block = block.and_then(|block| block.parent_operation());
    around_block.is_some_and(|holder| holder != around && !is_within(holder, around))
}

/// Whether a value, or each of a tensor's, is one of these constants.
pub fn is_constant(value: Value, wanted: &[i64]) -> bool {
    let Some(op) = definition(value) else { return false };
    if name(op) == "tt.splat" {
        return op.operand(0).is_ok_and(|scalar| is_constant(scalar, wanted));
    }
    if let Some(number) = constant_value(value) {
        return wanted.contains(&number);
    }
    let Ok(attribute) = op.attribute("value") else { return false };
    let text = lossy!("{attribute}");
    let Some((inner, _)) = text.strip_prefix("dense<").and_then(|text| text.split_once('>')) else { return false };
    wanted.iter().any(|number| number.to_string() == inner || *number == 1 && inner == "true")
}

/// Where an argument of a loop's regions comes from in an iteration.
fn source<'c: 'a, 'a>(value: Value<'c, 'a>, around: OperationRef<'c, 'a>) -> Option<Value<'c, 'a>> {
    let argument = BlockArgument::try_from(value).ok().filter(|_| value.is_block_argument())?;
    let block = owner(argument);
    if block.parent_operation() != Some(around) {
        return None;
    }
    let (regions, number): (Vec<BlockRef>, _) = (blocks(around), argument.argument_number());
    // The first region is given what the second one yields, the second one what follows the condition.
    let (from, skipped) = if regions.first() == Some(&block) { (regions.last(), 0) } else { (regions.first(), 1) };
    operations(*from?).last()?.operands().nth(number + skipped)
}

/// What a loop's condition depends on that it can poll by, the nearest first.
struct Reached<'c, 'a> {
    around: OperationRef<'c, 'a>,
    known: Vec<usize>,
    polls: Vec<Poll<'c, 'a>>,
}

impl<'c: 'a, 'a> Reached<'c, 'a> {
    fn look_at(&mut self, first: Value<'c, 'a>) {
        let mut next = vec![first];
        while !next.is_empty() {
            next = next.into_iter().flat_map(|value| self.sources(value)).collect();
        }
    }

    /// What a value is made of, unless it has been seen before.
    fn sources(&mut self, value: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
        let key = value.to_raw().ptr as usize;
        if self.known.contains(&key) {
            return Vec::new();
        }
        self.known.push(key);
        let Some(op) = definition(value) else { return source(value, self.around).into_iter().collect() };
        if !is_within(op, self.around) {
            return Vec::new();
        }
        match Poll::of(op) {
            Some(poll) => {
                self.polls.push(poll);
                Vec::new()
            }
            // The results of a branch or a loop are what its regions end with.
            None => collect(op).into_iter().filter(|inner| *inner == op || ends(*inner)).flat_map(operands).collect(),
        }
    }
}

fn ends(op: OperationRef) -> bool {
    matches!(name(op), "scf.yield" | "scf.condition")
}

fn operands<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
    op.operands().collect()
}

/// Looks for the comparison of an atomic's result that decides whether a loop goes on.
struct Comparing<'c, 'a> {
    around: OperationRef<'c, 'a>,
    op: OperationRef<'c, 'a>,
    known: Vec<usize>,
}

impl<'c: 'a, 'a> Comparing<'c, 'a> {
    /// `goes_on`: whether the loop does where `value` is true; `any`: whether one of several elements decides.
    fn asked(&mut self, value: Value<'c, 'a>, (goes_on, any): (bool, bool)) -> Option<Asked<'c, 'a>> {
        let key = value.to_raw().ptr as usize;
        if self.known.contains(&key) {
            return None;
        }
        self.known.push(key);
        let Some(op) = definition(value) else { return self.asked(source(value, self.around)?, (goes_on, any)) };
        if !is_within(op, self.around) {
            return None;
        }
        let mut of_operands = |goes_on, any| op.operands().find_map(|operand| self.asked(operand, (goes_on, any)));
        match name(op) {
            "arith.cmpi" => self.compared(op, (goes_on, any)),
            "arith.xori" if op.operands().any(|operand| is_constant(operand, &[1, -1])) => of_operands(!goes_on, any),
            "tt.reduce" => of_operands(goes_on, any || is_any(op, goes_on)),
            same if SAME.contains(&same) => of_operands(goes_on, any),
            _ => None,
        }
    }

    fn compared(&mut self, op: OperationRef<'c, 'a>, (goes_on, any): (bool, bool)) -> Option<Asked<'c, 'a>> {
        let (left, right) = (op.operand(0).ok()?, op.operand(1).ok()?);
        let number = IntegerAttribute::try_from(op.attribute("predicate").ok()?).ok()?.value();
        let predicate = *PREDICATES.get(usize::try_from(number).ok()?)?;
        for (seen, expected, predicate) in [(left, right, predicate), (right, left, swapped(predicate))] {
            if self.is_result(seen) {
                let predicate = if goes_on { inverse(predicate) } else { predicate };
                return Some(Asked { predicate, expected, any });
            }
            // A truth value, as a number.
            let is_equal = match predicate {
                CmpiPredicate::Eq => true,
                CmpiPredicate::Ne => false,
                _ => continue,
            };
            let is_true = if is_constant(expected, &[0]) {
                false
            } else if is_constant(expected, &[1, -1]) {
                true
            } else {
                continue;
            };
            return self.asked(seen, (goes_on == (is_equal == is_true), any));
        }
        None
    }

    fn is_result(&self, value: Value<'c, 'a>) -> bool {
        match definition(value) {
            Some(op) if op == self.op => true,
            Some(op) => CASTS.contains(&name(op)) && op.operand(0).is_ok_and(|operand| self.is_result(operand)),
            None => source(value, self.around).is_some_and(|from| definition(from) == Some(self.op)),
        }
    }
}

/// Whether one element of a reduced tensor is enough for a loop to end.
fn is_any<'c: 'a, 'a>(reduce: OperationRef<'c, 'a>, goes_on: bool) -> bool {
    let combines = |wanted| collect(reduce).into_iter().any(|op| name(op) == wanted);
    if goes_on { combines("arith.andi") } else { combines("arith.ori") }
}

/// What holds where a predicate does not.
pub fn inverse(predicate: CmpiPredicate) -> CmpiPredicate {
    match predicate {
        CmpiPredicate::Eq => CmpiPredicate::Ne,
        CmpiPredicate::Ne => CmpiPredicate::Eq,
        CmpiPredicate::Slt => CmpiPredicate::Sge,
        CmpiPredicate::Sle => CmpiPredicate::Sgt,
        CmpiPredicate::Sgt => CmpiPredicate::Sle,
        CmpiPredicate::Sge => CmpiPredicate::Slt,
        CmpiPredicate::Ult => CmpiPredicate::Uge,
        CmpiPredicate::Ule => CmpiPredicate::Ugt,
        CmpiPredicate::Ugt => CmpiPredicate::Ule,
        CmpiPredicate::Uge => CmpiPredicate::Ult,
    }
}

/// The predicate of the operands in the other order.
fn swapped(predicate: CmpiPredicate) -> CmpiPredicate {
    match predicate {
        CmpiPredicate::Eq | CmpiPredicate::Ne => predicate,
        CmpiPredicate::Slt => CmpiPredicate::Sgt,
        CmpiPredicate::Sle => CmpiPredicate::Sge,
        CmpiPredicate::Sgt => CmpiPredicate::Slt,
        CmpiPredicate::Sge => CmpiPredicate::Sle,
        CmpiPredicate::Ult => CmpiPredicate::Ugt,
        CmpiPredicate::Ule => CmpiPredicate::Uge,
        CmpiPredicate::Ugt => CmpiPredicate::Ult,
        CmpiPredicate::Uge => CmpiPredicate::Ule,
    }
}
