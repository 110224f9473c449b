//! The lines of packets on the CPU: each half is one 64-bit atomic access, and its epoch, or each of its words of
//! floats, the flag that the runtime waits for.

use super::data::context_pointer;
use super::far::Far;
use super::runtime::{Runtime, stack};
use crate::ir::Builder;
use crate::ir::ordering;
use crate::ir::packets::{CLEARED, Flag, Halves, Line};
use crate::lower::packets;
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{Attribute, OperationRef, Value};
use symm_abi::packet::EPOCHS;
use symm_abi::wait::Compare;
use symm_abi::{check, functions};
use symm_dialect::ops::Order;

/// Lines that a context's rank writes, and those that it waits for.
pub struct Lines<'c, 'a, 'r> {
    pub op: OperationRef<'c, 'a>,
    pub ctx: Value<'c, 'a>,
    /// Whether who lines are written to is near, if it may be far.
    pub near: Option<Value<'c, 'c>>,
    pub runtime: &'r Runtime<'c, 'a>,
}

/// Where the halves of a line lie, in bytes.
const HALVES: [i64; 2] = [0, 8];

fn relaxed<'c>(b: &Builder<'c>) -> [(&'static str, Attribute<'c>); 2] {
    [("ordering", b.integer(64, ordering::number(Order::Relaxed))), ("alignment", b.integer(64, 8))]
}

impl<'c: 'a, 'a> Lines<'c, 'a, '_> {
    /// A line that symm-check waits for.
    fn watched(&self, b: &Builder<'c>, (line, mask): Line<'c>, flag: Flag<'c>) -> Halves<'c> {
        let come = |b: &Builder<'c>| match flag {
            Flag::Epoch(epoch) => {
                let [data] = self.runtime.call(b, &check::WAIT_PACKET, [line, epoch, self.runtime.location(b)]);
                let low = b.binary("arith.andi", data, b.i64(0xffff_ffff));
                vec![low, b.binary("arith.shrui", data, b.i64(32))]
            }
            Flag::Sentinel(sentinel) => {
                let (data, bits) = (stack(self.op, b.int(64), 2), b.i32(sentinel.bits().into()));
                self.runtime.call(b, &check::WAIT_FLOATS, [data, line, bits, self.runtime.location(b)]);
                HALVES.map(|offset| b.load(b.byte_offset_constant(data, offset), b.int(64), &[])).to_vec()
            }
        };
        let halves = match mask {
            Some(mask) => b.choose_all(mask, &[b.int(64); 2], come, |b| vec![b.i64(0); 2]),
            None => come(b),
        };
        [halves[0], halves[1]]
    }

    /// A line that symm-check looks at; one that has not come where it has not.
    fn looked_at(&self, b: &Builder<'c>, line: Value<'c, 'c>, flag: Flag<'c>) -> Halves<'c> {
        let slot = stack(self.op, b.int(64), 2);
        b.store(b.i64(0), slot, &[]);
        let location = self.runtime.location(b);
        let is_there = |there| b.compare(CmpiPredicate::Ne, there, b.i32(0));
        match flag {
            Flag::Epoch(epoch) => {
                let [there] = self.runtime.call(b, &check::TRY_PACKET, [slot, line, epoch, location]);
                // Any epoch but the one that is asked for.
                let other = b.binary("arith.xori", epoch, b.i32(1));
                let epoch = b.value("arith.select", &[is_there(there), epoch, other], b.int(32), &[]);
                let epoch = b.binary("arith.shli", b.value("arith.extui", &[epoch], b.int(64), &[]), b.i64(32));
                let data = b.load(slot, b.int(64), &[]);
                let low = b.binary("arith.andi", data, b.i64(0xffff_ffff));
                [low, b.binary("arith.shrui", data, b.i64(32))].map(|half| b.binary("arith.ori", half, epoch))
            }
            Flag::Sentinel(sentinel) => {
                let bits = b.i32(sentinel.bits().into());
                let [there] = self.runtime.call(b, &check::TRY_FLOATS, [slot, line, bits, location]);
                let is_there = is_there(there);
                HALVES.map(|offset| {
                    let data = b.load(b.byte_offset_constant(slot, offset), b.int(64), &[]);
                    b.value("arith.select", &[is_there, data, b.i64(CLEARED)], b.int(64), &[])
                })
            }
        }
    }

    /// What a peer or this rank waits for in a line: its offset and bits.
    fn flags(flag: Flag<'c>) -> Vec<(i64, u32)> {
        match flag {
            Flag::Epoch(_) => EPOCHS.map(|offset| (offset, 32)).to_vec(),
            Flag::Sentinel(sentinel) => {
                let bits = sentinel.word_bits();
                sentinel.words().into_iter().map(|offset| (offset, bits)).collect()
            }
        }
    }
}

impl<'c: 'a, 'a> packets::Lines<'c> for Lines<'c, 'a, '_> {
    fn store(&self, b: &Builder<'c>, line: Value<'c, 'c>, halves: Halves<'c>, flag: Flag<'c>) {
        if let (true, Flag::Sentinel(_)) = (self.runtime.check, flag) {
            let [first, second] = halves;
            self.runtime.call(b, &check::PUT_FLOATS, [line, first, second, self.runtime.location(b)]);
            return;
        }
        if self.runtime.check {
            let low = b.binary("arith.andi", halves[0], b.i64(0xffff_ffff));
            let data = b.binary("arith.ori", low, b.binary("arith.shli", halves[1], b.i64(32)));
            let epoch = b.binary("arith.shrui", halves[0], b.i64(32));
            let epoch = b.value("arith.trunci", &[epoch], b.int(32), &[]);
            self.runtime.call(b, &check::PUT_PACKET, [line, data, epoch, self.runtime.location(b)]);
            return;
        }
        let far = Far { ctx: self.ctx, runtime: self.runtime };
        for (half, offset) in halves.into_iter().zip(HALVES) {
            let address = b.byte_offset_constant(line, offset);
            let store = |b: &Builder<'c>| b.store(half, address, &relaxed(b));
            far.set(b, self.near, (address, half), store);
            for (flag, _) in Self::flags(flag).into_iter().filter(|(flag, _)| (offset..offset + 8).contains(flag)) {
                self.runtime.call(b, &functions::WAKE, [b.byte_offset_constant(line, flag)]);
            }
        }
    }

    fn load(&self, b: &Builder<'c>, line: Value<'c, 'c>, _: Flag<'c>) -> Halves<'c> {
        HALVES.map(|offset| b.load(b.byte_offset_constant(line, offset), b.int(64), &relaxed(b)))
    }

    fn poll(&self, b: &Builder<'c>, line: Value<'c, 'c>, flag: Flag<'c>) -> Halves<'c> {
        if self.runtime.check { self.looked_at(b, line, flag) } else { self.load(b, line, flag) }
    }

    fn wait(&self, b: &Builder<'c>, lines: &[Line<'c>], flag: Flag<'c>) -> Vec<Halves<'c>> {
        if self.runtime.check {
            return lines.iter().map(|line| self.watched(b, *line, flag)).collect();
        }
        let come = |b: &Builder<'c>, line: Value<'c, 'c>| {
            for (offset, bits) in Self::flags(flag) {
                let (compare, expected) = match flag {
                    Flag::Epoch(epoch) => (Compare::Eq, epoch),
                    Flag::Sentinel(_) => (Compare::Ne, b.constant(b.int(bits), CLEARED)),
                };
                let wait = if bits == 64 { &functions::WAIT64 } else { &functions::WAIT32 };
                let (address, for_ever) = (b.byte_offset_constant(line, offset), b.i64(0));
                let ctx = context_pointer(b, self.ctx);
                let compare = b.i32(compare as i64);
                self.runtime.call(b, wait, [ctx, address, compare, expected, for_ever, self.runtime.location(b)]);
            }
        };
        for (line, mask) in lines {
            match mask {
                Some(mask) => b.when(*mask, |b| come(b, *line)),
                None => come(b, *line),
            }
        }
        lines.iter().map(|line| packets::load(b, self, *line, flag)).collect()
    }
}
