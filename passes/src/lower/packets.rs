//! Packets (P1): lines that are written, read and awaited, each half or word of which is one access.
//!
//! A target says how it does that ([`Lines`]); how values lie in lines is in [`crate::ir::packets`].

use super::access::remote_element;
use crate::ir::Builder;
use crate::ir::address::element;
use crate::ir::packets::{CLEARED, Flag, Halves, Line, Packets, Sentinel};
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
    fn store(&self, b: &Builder<'c>, line: Value<'c, 'c>, halves: Halves<'c>, flag: Flag<'c>);

    /// Reads a line once.
    fn load(&self, b: &Builder<'c>, line: Value<'c, 'c>, flag: Flag<'c>) -> Halves<'c>;

    /// Reads a line once, to see whether it has come.
    fn poll(&self, b: &Builder<'c>, line: Value<'c, 'c>, flag: Flag<'c>) -> Halves<'c> {
        self.load(b, line, flag)
    }

    /// Reads lines until all of them have come; zeros for those that are not read.
    fn wait(&self, b: &Builder<'c>, lines: &[Line<'c>], flag: Flag<'c>) -> Vec<Halves<'c>>;
}

/// `put_packet`.
pub fn put<'c: 'a, 'a>(op: PutPacket<'c, 'a>, b: &Builder<'c>, lines: &impl Lines<'c>) {
    let slots = remote_element(SymmOp::PutPacket(op), b, op.slots(), &op.indices());
    let packets = Packets::new(b, op.value().r#type(), op.mask(), op.sentinel());
    let flag = Flag::new(b, op.epoch(), op.sentinel());
    let all = match flag {
        Flag::Epoch(epoch) => with_epoch(b, epoch, |b| packets.words(b, op.value())),
        Flag::Sentinel(sentinel) => floats(b, &packets.words(b, op.value()), sentinel, op.clear()),
    };
    for ((line, mask), halves) in packets.lines(b, lines.address(b, slots)).into_iter().zip(all) {
        match mask {
            Some(mask) => b.when(mask, |b| lines.store(b, line, halves, flag)),
            None => lines.store(b, line, halves, flag),
        }
    }
}

/// Lines of words of data, with the epoch after each half of them.
fn with_epoch<'c>(
    b: &Builder<'c>,
    epoch: Value<'c, 'c>,
    words: impl Fn(&Builder<'c>) -> Vec<Value<'c, 'c>>,
) -> Vec<Halves<'c>> {
    let epoch = b.value("arith.extui", &[epoch], b.int(64), &[]);
    let epoch = b.binary("arith.shli", epoch, b.i64(32));
    let halves = |word| {
        let low = b.binary("arith.andi", word, b.i64(0xffff_ffff));
        let high = b.binary("arith.shrui", word, b.i64(32));
        [low, high].map(|data| b.binary("arith.ori", data, epoch))
    };
    words(b).into_iter().map(halves).collect()
}

/// Lines of two words of floats each, or cleared ones.
fn floats<'c>(b: &Builder<'c>, words: &[Value<'c, 'c>], sentinel: Sentinel, clear: bool) -> Vec<Halves<'c>> {
    let half = |word| if clear { b.i64(CLEARED) } else { sentinel.sent(b, word, |bits| b.i64(bits)) };
    words.chunks(2).map(|line| [line[0], line[1]].map(half)).collect()
}

/// `wait_packet`: the value.
pub fn wait<'c: 'a, 'a>(op: WaitPacket<'c, 'a>, b: &Builder<'c>, lines: &impl Lines<'c>) -> Value<'c, 'c> {
    let packets = Packets::new(b, op.value().r#type(), op.mask(), op.sentinel());
    let slots = lines.address(b, element(b, op.slots(), &op.indices()));
    let flag = Flag::new(b, op.epoch(), op.sentinel());
    let found = lines.wait(b, &packets.lines(b, slots), flag);
    packets.value(b, &found)
}

/// `try_packet`: the value, and whether it is there.
pub fn attempt<'c: 'a, 'a>(op: TryPacket<'c, 'a>, b: &Builder<'c>, lines: &impl Lines<'c>) -> Vec<Value<'c, 'c>> {
    let ty = op.operation().results().next().map(|result| Value::from(result).r#type()).expect("it has two results");
    let packets = Packets::new(b, ty, op.mask(), op.sentinel());
    let slots = lines.address(b, element(b, op.slots(), &op.indices()));
    let asked = packets.lines(b, slots);
    let flag = Flag::new(b, op.epoch(), op.sentinel());
    let found: Vec<_> = asked.iter().map(|line| read(b, *line, |b, line| lines.poll(b, line, flag))).collect();
    let missing = missing(b, &asked, &found, flag);
    vec![packets.value(b, &found), b.not(missing)]
}

/// Reads a line that is on; zeros for one that is not.
pub fn load<'c>(b: &Builder<'c>, lines: &(impl Lines<'c> + ?Sized), line: Line<'c>, flag: Flag<'c>) -> Halves<'c> {
    read(b, line, |b, line| lines.load(b, line, flag))
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

/// Whether any line that is on has not come.
pub fn missing<'c>(b: &Builder<'c>, lines: &[Line<'c>], found: &[Halves<'c>], flag: Flag<'c>) -> Value<'c, 'c> {
    let is_missing = |((_, mask), halves): (&Line<'c>, &Halves<'c>)| {
        let missing = flag.missing(b, *halves);
        mask.map_or(missing, |mask| b.binary("arith.andi", missing, mask))
    };
    let all = lines.iter().zip(found).map(is_missing);
    all.reduce(|one, other| b.binary("arith.ori", one, other)).expect("a value has a line")
}
