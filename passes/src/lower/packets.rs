//! Packets (P1): lines that are written, read and awaited, each half of which is one access.
//!
//! A target says how it does that ([`Lines`]); how values lie in lines is in [`crate::ir::packets`].

use super::access::remote_element;
use crate::ir::Builder;
use crate::ir::address::element;
use crate::ir::packets::{Halves, Line, Packets};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{Value, ValueLike, operation::OperationLike};
use symm_dialect::ops::{PutPacket, SymmOp, TryPacket, WaitPacket};

/// How a target accesses lines.
pub trait Lines<'c> {
    /// The pointer through which it does.
    fn address(&self, b: &Builder<'c>, slots: Value<'c, 'c>) -> Value<'c, 'c> {
        let _ = b;
        slots
    }

    /// Writes a line.
    fn store(&self, b: &Builder<'c>, line: Value<'c, 'c>, halves: Halves<'c>);

    /// Reads a line once.
    fn load(&self, b: &Builder<'c>, line: Value<'c, 'c>) -> Halves<'c>;

    /// Reads a line once, to see whether it is of an epoch.
    fn poll(&self, b: &Builder<'c>, line: Value<'c, 'c>, _epoch: Value<'c, 'c>) -> Halves<'c> {
        self.load(b, line)
    }

    /// Reads lines until all of them are of an epoch; zeros for those that are not read.
    fn wait(&self, b: &Builder<'c>, lines: &[Line<'c>], epoch: Value<'c, 'c>) -> Vec<Halves<'c>>;
}

/// `put_packet`.
pub fn put<'c: 'a, 'a>(op: PutPacket<'c, 'a>, b: &Builder<'c>, lines: &impl Lines<'c>) {
    let slots = remote_element(SymmOp::PutPacket(op), b, op.slots(), &op.indices());
    let packets = Packets::new(b, op.value().r#type(), op.mask());
    let epoch = b.value("arith.extui", &[op.epoch()], b.int(64), &[]);
    let epoch = b.binary("arith.shli", epoch, b.i64(32));
    let words = packets.words(b, op.value());
    for ((line, mask), word) in packets.lines(b, lines.address(b, slots)).into_iter().zip(words) {
        let low = b.binary("arith.andi", word, b.i64(0xffff_ffff));
        let high = b.binary("arith.shrui", word, b.i64(32));
        let halves = [low, high].map(|data| b.binary("arith.ori", data, epoch));
        match mask {
            Some(mask) => b.when(mask, |b| lines.store(b, line, halves)),
            None => lines.store(b, line, halves),
        }
    }
}

/// `wait_packet`: the value.
pub fn wait<'c: 'a, 'a>(op: WaitPacket<'c, 'a>, b: &Builder<'c>, lines: &impl Lines<'c>) -> Value<'c, 'c> {
    let packets = Packets::new(b, op.value().r#type(), op.mask());
    let slots = lines.address(b, element(b, op.slots(), &op.indices()));
    let epoch = b.cast(op.epoch(), b.int(32));
    let found = lines.wait(b, &packets.lines(b, slots), epoch);
    packets.value(b, &found)
}

/// `try_packet`: the value, and whether it is there.
pub fn attempt<'c: 'a, 'a>(op: TryPacket<'c, 'a>, b: &Builder<'c>, lines: &impl Lines<'c>) -> Vec<Value<'c, 'c>> {
    let ty = op.operation().results().next().map(|result| Value::from(result).r#type()).expect("it has two results");
    let packets = Packets::new(b, ty, op.mask());
    let slots = lines.address(b, element(b, op.slots(), &op.indices()));
    let asked = packets.lines(b, slots);
    let epoch = b.cast(op.epoch(), b.int(32));
    let found: Vec<_> = asked.iter().map(|line| read(b, *line, |b, line| lines.poll(b, line, epoch))).collect();
    let missing = missing(b, &asked, &found, epoch);
    vec![packets.value(b, &found), b.not(missing)]
}

/// Reads a line that is on; zeros for one that is not.
pub fn load<'c>(b: &Builder<'c>, lines: &(impl Lines<'c> + ?Sized), line: Line<'c>) -> Halves<'c> {
    read(b, line, |b, line| lines.load(b, line))
}

fn read<'c>(
    b: &Builder<'c>,
    (line, mask): Line<'c>,
    halves: impl Fn(&Builder<'c>, Value<'c, 'c>) -> Halves<'c>,
) -> Halves<'c> {
    let Some(mask) = mask else { return halves(b, line) };
    let halves = b.choose_all(mask, &[b.int(64); 2], |b| halves(b, line).to_vec(), |b| vec![b.i64(0); 2]);
    [halves[0], halves[1]]
}

/// Whether any line that is on is not of an epoch.
pub fn missing<'c>(b: &Builder<'c>, lines: &[Line<'c>], found: &[Halves<'c>], epoch: Value<'c, 'c>) -> Value<'c, 'c> {
    let is_missing = |((_, mask), halves): (&Line<'c>, &Halves<'c>)| {
        let [first, second] = halves.map(|half| {
            let found = b.binary("arith.shrui", half, b.i64(32));
            b.compare(CmpiPredicate::Ne, b.value("arith.trunci", &[found], b.int(32), &[]), epoch)
        });
        let missing = b.binary("arith.ori", first, second);
        mask.map_or(missing, |mask| b.binary("arith.andi", missing, mask))
    };
    let all = lines.iter().zip(found).map(is_missing);
    all.reduce(|one, other| b.binary("arith.ori", one, other)).expect("a value has a line")
}
