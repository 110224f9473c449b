//! What a record says of a loop that polls: the first place that is not as asked, and what is there.

use super::poll::Poll;
use super::polled::{Asked, inverse};
use crate::ir::triton::deadline::Awaited;
use crate::ir::triton::words::{self, atomic_rmw, constant_like, element_wise, lowest, splat_like};
use crate::ir::{Builder, lasting};
use crate::transform::guard_accesses::pointers;
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{Type, Value, ValueLike};
use symm_abi::deadline::{NOWHERE, RANK_SHIFT};
use symm_dialect::ops::{AsRemote, HeapDeltaParts, Order, RmwKind, Scope, TryPacket};
use symm_dialect::shape::{Shaped, byte_width, integer_width, scalar};

/// The first place that is not as asked.
pub fn place<'c: 'a, 'a>(b: &Builder<'c>, op: Poll<'c, 'a>, asked: Option<Asked<'c, 'c>>) -> Awaited<'c> {
    if let Some(look) = op.packet() {
        return line(b, look);
    }
    let result = lasting(op.operation().result(0).expect("an atomic has one").into());
    let address = address(b, op);
    let ty = address.r#type();
    let seen = widened(b, result);
    let expected = asked.map(|asked| widened(b, asked.expected));
    if Shaped::tensor(ty).is_none() {
        return Awaited { address, expected: expected.unwrap_or_else(|| b.i64(0)), seen };
    }
    let missing = asked.map(|asked| compared(b, inverse(asked.predicate), result, asked.expected));
    let chosen = [missing, op.mask().map(lasting)].into_iter().flatten();
    let chosen = chosen.reduce(|one, other| b.binary("arith.andi", one, other));
    // The least of what is chosen is asked for, of values as of addresses.
    let nothing = constant_like(b, NOWHERE, ty);
    let only = |chosen, value| b.value("arith.select", &[chosen, value, nothing], ty, &[]);
    let found = chosen.map_or(address, |chosen| only(chosen, address));
    let address = lowest(b, found);
    let is_it = compared(b, CmpiPredicate::Eq, found, splat_like(b, address, ty));
    let of_it = |value| lowest(b, only(is_it, value));
    Awaited { address, expected: expected.map_or_else(|| b.i64(0), of_it), seen: of_it(seen) }
}

/// Where an atomic looks: an address of this rank, above it the rank that it is on, plus one, where it is known.
fn address<'c: 'a, 'a>(b: &Builder<'c>, op: Poll<'c, 'a>) -> Value<'c, 'c> {
    let pointer = lasting(op.pointer().expect("an atomic has one"));
    let ty = element_wise(pointer.r#type(), b.int(64));
    let mut address = b.value("tt.ptr_to_int", &[pointer], ty, &[]);
    let rank = if let Some(op) = op.symm() {
        op.operand_group("rank").first().copied()
    } else {
        let remote = op.pointer().and_then(pointers::remote);
        let remote = remote.filter(|remote| Shaped::tensor(remote.rank().r#type()).is_none());
        if let Some(remote) = remote {
            let delta = b.make_value(&HeapDeltaParts { ctx: remote.ctx(), rank: remote.rank() }, b.int(64));
            address = b.binary("arith.subi", address, splat_like(b, delta, ty));
        }
        remote.map(AsRemote::rank)
    };
    let Some(rank) = rank else { return address };
    let number = widened(b, lasting(rank));
    let above = b.binary("arith.addi", number, constant_like(b, 1, number.r#type()));
    let above = b.binary("arith.shli", above, constant_like(b, RANK_SHIFT.into(), number.r#type()));
    let above = if above.r#type() == ty { above } else { splat_like(b, above, ty) };
    b.binary("arith.ori", address, above)
}

/// The first line whose packet is not there, the epoch that is asked for, and the one that is there instead. A line of
/// floats is seen cleared, and asked to be anything else.
fn line<'c: 'a, 'a>(b: &Builder<'c>, look: TryPacket<'c, 'a>) -> Awaited<'c> {
    let slots = lasting(look.slots());
    let is_there = lasting(look.operation().result(1).expect("it has two").into());
    let ty = element_wise(slots.r#type(), b.int(64));
    let address = b.value("tt.ptr_to_int", &[slots], ty, &[]);
    let left = b.value("arith.select", &[is_there, constant_like(b, NOWHERE, ty), address], ty, &[]);
    let address = lowest(b, left);
    let expected = look.epoch().map_or_else(|| b.i64(0), |epoch| widened(b, lasting(epoch)));
    let is_missing = b.compare(CmpiPredicate::Ne, address, b.i64(NOWHERE));
    let found = |b: &Builder<'c>| {
        if look.epoch().is_none() {
            return b.i64(-1);
        }
        let word = Type::parse(b.context, "!tt.ptr<i64>").expect("a type of an unregistered dialect");
        let first = b.value("tt.int_to_ptr", &[address], word, &[]);
        let [one, other] = [first, words::offset(b, first, b.i64(1))].map(|half| {
            // All threads of the program are to find the same.
            let half = atomic_rmw(b, RmwKind::Or, half, b.i64(0), None, (Order::Relaxed, Scope::Sys));
            b.binary("arith.shrsi", half, b.i64(32))
        });
        let is_late = b.compare(CmpiPredicate::Ne, one, expected);
        b.value("arith.select", &[is_late, one, other], b.int(64), &[])
    };
    let seen = b.choose(is_missing, b.int(64), found, |_| expected);
    Awaited { address, expected, seen }
}

fn compared<'c>(b: &Builder<'c>, predicate: CmpiPredicate, left: Value<'c, 'c>, right: Value<'c, 'c>) -> Value<'c, 'c> {
    let truth = element_wise(left.r#type(), b.int(1));
    b.value("arith.cmpi", &[left, right], truth, &[("predicate", b.integer(64, predicate as i64))])
}

/// An integer as 64 bits, or a tensor of them; the bits of a float.
fn widened<'c>(b: &Builder<'c>, value: Value<'c, 'c>) -> Value<'c, 'c> {
    let ty = value.r#type();
    match integer_width(scalar(ty)) {
        Some(64) => value,
        Some(_) => b.value("arith.extsi", &[value], element_wise(ty, b.int(64)), &[]),
        None => {
            let bits = b.int(if byte_width(scalar(ty)) == 8 { 64 } else { 32 });
            widened(b, b.value("tt.bitcast", &[value], element_wise(ty, bits), &[]))
        }
    }
}
