//! Makes loops of a Triton or Gluon kernel that poll exit when their deadline is over.
//!
//! ```mlir
//! scf.while : () -> () {
//!   %old = symm.atomic_cas %ctx, %lock, %free, %mine, %peer deadline %record : !tt.ptr<i64> : !tt.ptr<i32>, i32
//!   %go_on = arith.cmpi ne, %old, %free : i32
//!   scf.condition(%go_on)
//! } do {
//!   scf.yield
//! }
//! ```
//!
//! becomes
//!
//! ```mlir
//! scf.while (%polls = %c0, %start = %c0, %was_gone = %false) : … {
//!   %old = symm.atomic_cas …
//!   %go_on = arith.cmpi ne, %old, %free : i32
//!   %count = arith.addi %polls, %c1 : i32
//!   …                                             // %due: the loop goes on, and %count is a multiple of 64
//!   %gone, %since = scf.if %due -> (i1, i64) {
//!     …                                           // every thread reads record and clock, as in a wait; the first to
//!                                                 // give up writes the address, the expected and the seen value
//!     %state = "tt.atomic_rmw"(…)                 // of the record: one thread reads it for all
//!     …
//!   }
//!   …                                             // %leave: not %go_on, or %gone
//!   scf.condition(%stay) %count, %since, %gone : i32, i64, i1
//! } do { … }
//! ```
//!
//! A loop polls if its condition depends on such an atomic or a `symm.try_packet`, and everything in it can be repeated
//! without an effect: loads, arithmetic, fences, compare-and-swaps at a fixed address, idempotent updates at a fixed
//! address, and looks for a packet of a fixed epoch in fixed slots. The op is in the loop itself, not under an `if`.
//! The loop of `wait_all` and `wait_any` is one.
//!
//! Triton's own atomics, `tt.atomic_cas` and `tt.atomic_rmw`, have no deadline. In a module with `symm.default_timeout`
//! a loop that polls by them has that of the kernel's context.
//!
//! All threads of a program exit a loop together, though each has its own clock: the state that one of them reads
//! decides. Of a tensor of flags the record names the first that is missing, by its address, whose top byte is the rank
//! that it is on, plus one; an address on another rank is that of its counterpart here. Numbers and what they stand for
//! are as in `symm-tag-waits`.
//!
//! Limits: only `scf.while`; a loop that does anything else between two polls, such as stores, is left alone. If there
//! are several contexts, Triton's atomics have the deadline of the first that a wait of the kernel has.

mod place;
mod poll;
pub mod polled;

use super::guard_accesses::pointers;
use crate::ir::tags::Tags;
use crate::ir::triton::deadline::{self, Awaited, Deadline};
use crate::ir::triton::words::{self, atomic_rmw};
use crate::ir::{
    Builder, argument, blocks, collect, context, definition, is_within, lasting, name, operations, signed, symm_ops,
    take_region,
};
use crate::pass::{Ir, Pass, Values};
use crate::target::{TARGET, TritonTarget};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{BlockLike, BlockRef, OperationRef, Type, Value, ValueLike, operation::OperationLike};
use polled::{Asked, Polled, polled};
use symm_abi::deadline::{GOOD, POLLS_OF_A_LOOK, STATE_WORD};
use symm_dialect::ops::{Ctx, Order, RmwKind, Scope, SymmOp};
use symm_dialect::shape::{integer_width, scalar};
use symm_dialect::{DEFAULT_TIMEOUT_ATTRIBUTE, module_has};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-limit-polls",
    summary: "Make loops of a Triton or Gluon kernel that poll exit when their deadline is over",
    options: &[TARGET],
    run: |root, options| Ok(run(root, options)),
};

fn run<'c: 'a, 'a>(root: OperationRef<'c, 'a>, options: &Values) -> Ir {
    let target = options.text(TARGET.name).parse().expect("the option was checked");
    let mut tags = Tags::default();
    // Outer loops come first: what they hold does not look at a clock yet.
    let loops: Vec<_> = collect(root).into_iter().filter(|op| name(*op) == "scf.while").collect();
    let contexts = contexts(root);
    for around in loops {
        let has_default = module_has(&around, DEFAULT_TIMEOUT_ATTRIBUTE);
        let ctx = has_default.then(|| pointers::context_of(&contexts, around)).flatten();
        if let Some(polled) = polled(around, ctx) {
            limit(&target, &polled, &mut tags);
        }
    }
    tags.leave(root)
}

/// The contexts of kernels, first those that waits have deadlines of.
fn contexts<'c: 'a, 'a>(root: OperationRef<'c, 'a>) -> Vec<Ctx<'c, 'a>> {
    let waits = symm_ops(root).into_iter().filter(|op| op.deadline().is_some() && op.limit().is_none());
    let watched: Vec<_> = waits.filter_map(SymmOp::ctx).collect();
    let mut contexts = pointers::contexts(root);
    contexts.sort_by_key(|ctx| !watched.contains(&ctx.ctx()));
    contexts
}

/// What a loop carries besides: how many looks it has taken, when they began, and whether it has to leave.
type Carried<'c> = [Value<'c, 'c>; 3];

fn limit<'c: 'a, 'a>(target: &TritonTarget, polled: &Polled<'c, 'a>, tags: &mut Tags) {
    let (around, op) = (polled.around, polled.op.operation());
    let at = |place: OperationRef<'c, 'a>| Builder::at(context(op), place, op.location());
    let blocks = blocks(around);
    let [test, body] = [blocks[0], blocks[1]];
    let [test_end, body_end] = [test, body].map(|block| *operations(block).last().expect("a region has an end"));
    let (b, in_test, in_body) = (at(around), at(test_end), at(body_end));
    let [tested, carried] = [test, body].map(|block| carry(&b, block));
    let symm = polled.op.symm();
    let record = symm.map_or_else(|| polled.ctx.map(|ctx| deadline::record(&b, ctx)), |op| op.deadline().map(lasting));
    let record = record.expect("the loop has a deadline");
    let go_on = lasting(test_end.operand(0).expect("a condition is one"));
    let mut look = |b: &Builder<'c>, go_on, carried| {
        let asked = asked(b, polled);
        let what = match polled.op.packet() {
            Some(look) => if look.epoch().is_some() { "wait_packet" } else { "wait_floats" }.to_owned(),
            None => what(asked),
        };
        let told = symm.and_then(SymmOp::tag);
        let tag = told.unwrap_or_else(|| tags.of(op, &what));
        let deadline = Deadline { record, tag, limit: symm.and_then(SymmOp::limit), logs: told.is_none() };
        step(target, b, deadline, (go_on, carried), |b| place::place(b, polled.op, asked))
    };
    let (tested, carried) = if polled.is_in_test {
        (look(&in_test, Some(go_on), tested), carried)
    } else {
        (tested, look(&in_body, None, carried))
    };
    let stays = in_test.binary("arith.andi", go_on, in_test.not(tested[2]));
    let rest: Vec<_> = test_end.operands().skip(1).map(lasting).chain(tested).collect();
    in_test.op("scf.condition", &[&[stays], rest.as_slice()].concat(), &[], &[]);
    in_test.erase(test_end);
    let next: Vec<_> = body_end.operands().map(lasting).chain(carried).collect();
    in_body.op("scf.yield", &next, &[], &[]);
    in_body.erase(body_end);
    let first: Vec<_> = around.operands().map(lasting).chain([b.i32(0), b.i64(0), b.constant(b.int(1), 0)]).collect();
    let types: Vec<Type> = around.results().map(|result| result.r#type()).chain(types(&b)).collect();
    let regions = vec![take_region(around, 0), take_region(around, 1)];
    let made = b.op_with_regions("scf.while", &first, &types, &[], regions);
    let results: Vec<Value> = made.results().map(Into::into).take(around.result_count()).collect();
    b.replace(around, &results);
}

fn types<'c>(b: &Builder<'c>) -> [Type<'c>; 3] {
    [32, 64, 1].map(|width| b.int(width))
}

/// Gives a region's block what the loop carries besides.
fn carry<'c>(b: &Builder<'c>, block: BlockRef<'c, '_>) -> Carried<'c> {
    types(b).map(|ty| {
        block.add_argument(ty, b.location());
        argument(block, block.argument_count() - 1)
    })
}

/// Counts a look of the loop; now and then, if it goes on, its threads look at the record and the clock.
fn step<'c>(
    target: &TritonTarget,
    b: &Builder<'c>,
    deadline: Deadline<'c>,
    (go_on, [polls, start, was_gone]): (Option<Value<'c, 'c>>, Carried<'c>),
    place: impl FnOnce(&Builder<'c>) -> Awaited<'c>,
) -> Carried<'c> {
    let count = b.add(polls, b.i32(1));
    let rest = b.binary("arith.andi", count, b.i32(POLLS_OF_A_LOOK - 1));
    let is_time = b.compare(CmpiPredicate::Eq, rest, b.i32(0));
    let due = go_on.map_or(is_time, |go_on| b.binary("arith.andi", is_time, go_on));
    let looked = b.choose_all(
        due,
        &types(b)[1..],
        |b| {
            let place = place(b);
            let since = target.look(b, &place, (count, start), deadline);
            let state = words::offset(b, deadline.record, b.i64(signed(STATE_WORD)));
            let state = atomic_rmw(b, RmwKind::Or, state, b.i64(0), None, (Order::Relaxed, Scope::Sys));
            vec![since, b.compare(CmpiPredicate::Ne, state, b.i64(GOOD))]
        },
        |_| vec![start, was_gone],
    );
    [count, looked[0], looked[1]]
}

/// What the loop waits for, if its parts are there at the end of the block that the atomic is in.
fn asked<'c: 'a, 'a>(b: &Builder<'c>, polled: &Polled<'c, 'a>) -> Option<Asked<'c, 'c>> {
    let op = polled.op.operation();
    let lasts = |asked: Asked<'c, 'a>| {
        let expected = match definition(asked.expected) {
            Some(made) if is_within(made, polled.around) && name(made) == "arith.constant" => {
                b.copy(made).result(0).ok()?.into()
            }
            Some(made) if is_within(made, polled.around) && made.block() != op.block() => return None,
            None if !polled::is_outside(asked.expected, polled.around) => return None,
            _ => asked.expected,
        };
        Some(Asked { expected: lasting(expected), predicate: asked.predicate, any: asked.any })
    };
    let has_type = |asked: &Asked<'c, 'a>| op.result(0).is_ok_and(|seen| seen.r#type() == asked.expected.r#type());
    let swapped = polled.op.expected().map(|expected| Asked { predicate: CmpiPredicate::Eq, expected, any: false });
    let integers = |asked: &Asked<'c, 'a>| integer_width(scalar(asked.expected.r#type())).is_some();
    polled.asked.filter(has_type).and_then(lasts).or_else(|| swapped.filter(integers).and_then(lasts))
}

/// What a loop waits for, in words: as waits have them where it compares.
pub fn what(asked: Option<Asked>) -> String {
    let Some(asked) = asked else { return "poll".to_owned() };
    let comparison = match asked.predicate {
        CmpiPredicate::Eq => "eq",
        CmpiPredicate::Ne => "ne",
        CmpiPredicate::Slt | CmpiPredicate::Ult => "lt",
        CmpiPredicate::Sle | CmpiPredicate::Ule => "le",
        CmpiPredicate::Sgt | CmpiPredicate::Ugt => "gt",
        CmpiPredicate::Sge | CmpiPredicate::Uge => "ge",
    };
    let unsigned = if is_unsigned(asked.predicate) { " unsigned" } else { "" };
    format!("wait {comparison}{unsigned}{}", if asked.any { " any" } else { "" })
}

/// Whether numbers are compared as unsigned ones.
pub fn is_unsigned(predicate: CmpiPredicate) -> bool {
    matches!(predicate, CmpiPredicate::Ult | CmpiPredicate::Ule | CmpiPredicate::Ugt | CmpiPredicate::Uge)
}
