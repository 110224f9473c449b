//! What ops of an interpreted program write, and where.

use super::memory::{Memory, read};
use symm_checker::op::{Op, Signal};

/// Writes what an op writes, whatever was there.
pub fn write(op: &Op, addresses: &[u64], memory: &mut Memory) {
    let first = addresses.first().copied().unwrap_or_default();
    match op {
        Op::Write(ranges, bytes) => {
            let mut rest = bytes.as_slice();
            for (range, &address) in ranges.iter().zip(addresses) {
                let (mine, after) = rest.split_at(usize::try_from(range.bytes).unwrap_or(0).min(rest.len()));
                memory.write(address, mine);
                rest = after;
            }
        }
        Op::Store(strong, value) | Op::Signal(strong, Signal::Set(value)) => {
            memory.write(first, &word(*value, strong.at.bytes));
        }
        Op::Signal(strong, Signal::Add(by)) => {
            let old = read(first, usize::try_from(strong.at.bytes).unwrap_or(0));
            let old = old.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
            memory.write(first, &word(old.wrapping_add(*by), strong.at.bytes));
        }
        Op::PutFloats(_, data) => {
            for (&address, words) in addresses.iter().zip(data) {
                memory.write(address, &words.map(u64::to_le_bytes).concat());
            }
        }
        Op::PutPacket(_, data, epoch) => {
            for (&address, data) in addresses.iter().zip(data) {
                let halves = [data & 0xffff_ffff, data >> 32].map(|half| half | u64::from(*epoch) << 32);
                memory.write(address, &halves.map(u64::to_le_bytes).concat());
            }
        }
        // They write nothing, or as their answer says; the interpreter makes no puts.
        Op::Read(_)
        | Op::Put(..)
        | Op::Load(_)
        | Op::Look(_)
        | Op::Issue
        | Op::Late(..)
        | Op::Atomic(..)
        | Op::Wait(..)
        | Op::Fence(..)
        | Op::Barrier(..)
        | Op::Launch(_)
        | Op::Join(_)
        | Op::WaitPacket(..)
        | Op::TryPacket(..)
        | Op::WaitFloats(..)
        | Op::TryFloats(..)
        | Op::Poll(..)
        | Op::Alloc(..)
        | Op::Free(_) => {}
    }
}

/// The low bytes of a value.
pub fn word(value: u64, bytes: u64) -> Vec<u8> {
    value.to_le_bytes()[..usize::try_from(bytes.min(8)).unwrap_or(8)].to_vec()
}
