//! Waits: one thread of the group polls the flag, and the others learn what it found.

use super::threads::{group_barrier, on_leader, thread_of_block};
use super::{Target, order};
use crate::ir::address::{SHARED, element};
use crate::ir::{Builder, blocks, enclosing, operations, structure};
use crate::lower::predicate;
use melior::dialect::arith::CmpiPredicate;
use melior::dialect::llvm;
use melior::ir::{OperationRef, Value, ValueLike, operation::OperationLike};
use symm_abi::wait::{EAGER_POLLS, ORDERED_POLLS};
use symm_dialect::ops::{Group, Order, Scope, Wait};
use symm_dialect::symbol::symbol;

/// The symbol of the shared words.
const SHARED_WORD: &str = "_symm_shared_words";

/// A wait, with a barrier after it if it `ends` with its group together by itself.
pub fn wait<'c: 'a, 'a>(op: Wait<'c, 'a>, b: &Builder<'c>, target: &dyn Target, ends: bool) -> Vec<Value<'c, 'c>> {
    let flag = order::global(b, element(b, op.flag(), &op.indices()));
    let expected = b.cast(op.value(), op.value().r#type());
    let timeout = op.timeout().map(|timeout| b.cast(timeout, b.int(64)));
    let predicate = predicate(op.comparison(), op.is_unsigned());
    let order = (op.sem(), op.scope());
    let Some(timeout) = timeout else {
        on_leader(b, op.group(), |b| {
            poll(b, target, flag, predicate, expected, None, order);
        });
        if ends {
            group_barrier(b, target, op.group());
        }
        return Vec::new();
    };
    if op.group() == Group::Thread {
        return vec![poll(b, target, flag, predicate, expected, Some(timeout), order)];
    }
    // One thread polls; what it found goes to the others through a word of shared memory.
    let word = shared_word(b, target, op.operation(), op.group());
    on_leader(b, op.group(), |b| {
        let seen = poll(b, target, flag, predicate, expected, Some(timeout), order);
        b.store(b.value("arith.extui", &[seen], b.int(32), &[]), word, &[]);
    });
    group_barrier(b, target, op.group());
    // As a word: LLVM 22's NVPTX back end leaves loads of one bit out of the order of its block, past the barrier.
    let seen = b.load(word, b.int(32), &[("volatile_", b.unit())]);
    group_barrier(b, target, op.group());
    vec![b.value("arith.trunci", &[seen], b.int(1), &[])]
}

/// A word of the block's shared memory for each warp it may have: the first one where a block waits, the warp's own
/// where a warp does.
fn shared_word<'c: 'a, 'a>(
    b: &Builder<'c>,
    target: &dyn Target,
    op: OperationRef<'c, 'a>,
    group: Group,
) -> Value<'c, 'c> {
    let module = enclosing(op, &[structure::GPU_MODULE]).expect("kernels are in a gpu.module");
    let body = blocks(module)[0];
    if !operations(body).into_iter().any(|op| symbol(op).as_deref() == Some(SHARED_WORD)) {
        let top = Builder::at_start(b.context, body, op.location());
        let words = llvm::r#type::array(b.int(32), 32);
        top.global(SHARED_WORD, words, "internal", &[("addr_space", top.integer(32, SHARED.into()))]);
    }
    let shared = llvm::r#type::pointer(b.context, SHARED);
    let words = b.address_of(SHARED_WORD, shared);
    if group == Group::Block {
        return words;
    }
    let (number, _) = thread_of_block(b);
    let warp = b.binary("arith.divui", number, b.i64(target.warp_size()));
    b.byte_offset(words, b.mul(warp, b.i64(4)))
}

/// What a wait polls for, and until when.
struct Poll<'c> {
    flag: Value<'c, 'c>,
    predicate: CmpiPredicate,
    expected: Value<'c, 'c>,
    /// When it started and how long it may take.
    deadline: Option<(Value<'c, 'c>, Value<'c, 'c>)>,
    scope: Scope,
}

impl<'c> Poll<'c> {
    /// Reads the flag until it is as expected, time is up, or `polls` are done; whether it is as expected. With
    /// `patience` it reads on forever, and backs off after this many polls.
    fn repeat(&self, b: &Builder<'c>, target: &dyn Target, order: Order, polls: i64, patience: bool) -> Value<'c, 'c> {
        let attributes = order::atomic(b, target, "ordering", (order, self.scope), self.expected.r#type());
        // The one way out is at the end of the loop: LLVM's loop rotation, which would bring it there, takes
        // time with the square of the number of waits.
        let results = b.repeat(
            &[b.i64(0)],
            |b, polled| {
                if patience {
                    let impatient = b.compare(CmpiPredicate::Sge, polled[0], b.i64(polls));
                    b.when(impatient, |b| target.backoff(b));
                }
                let polled = b.add(polled[0], b.i64(1));
                let seen = b.load(self.flag, self.expected.r#type(), &attributes);
                let seen = b.compare(self.predicate, seen, self.expected);
                let mut go_on = b.not(seen);
                if let Some((start, timeout)) = self.deadline {
                    let elapsed = b.binary("arith.subi", target.nanoseconds(b), start);
                    go_on = b.binary("arith.andi", go_on, b.compare(CmpiPredicate::Slt, elapsed, timeout));
                }
                if !patience {
                    go_on = b.binary("arith.andi", go_on, b.compare(CmpiPredicate::Slt, polled, b.i64(polls)));
                }
                (go_on, vec![polled, seen])
            },
            |_, values| vec![values[0]],
        );
        results[1]
    }
}

/// O5: polls relaxed, backs off after a while, and acquires once after the poll has succeeded. Where a poll that
/// acquires is faster than a fence, the first ones are such.
pub fn poll<'c>(
    b: &Builder<'c>,
    target: &dyn Target,
    flag: Value<'c, 'c>,
    predicate: CmpiPredicate,
    expected: Value<'c, 'c>,
    timeout: Option<Value<'c, 'c>>,
    (order, scope): (Order, Scope),
) -> Value<'c, 'c> {
    let deadline = timeout.map(|timeout| (target.nanoseconds(b), timeout));
    let poll = Poll { flag, predicate, expected, deadline, scope };
    let late = |b: &Builder<'c>, eager_polls| {
        let seen = poll.repeat(b, target, Order::Relaxed, eager_polls, true);
        if order == Order::Acquire {
            target.fence(b, Order::Acquire, scope);
        }
        seen
    };
    if order != Order::Acquire || !target.polls_in_order() {
        return late(b, EAGER_POLLS);
    }
    let seen = poll.repeat(b, target, Order::Acquire, ORDERED_POLLS, false);
    let eager_polls = EAGER_POLLS - ORDERED_POLLS;
    b.choose(seen, b.int(1), |_| seen, |b| late(b, eager_polls))
}
