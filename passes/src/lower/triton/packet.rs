//! Packets (P1): a thread stores, loads and polls the lines of its elements, and no thread waits for another one.
//!
//! All lines of a thread are loaded before the first of them is looked at. A loop of assembly reads again those that
//! were not there, one by one.
//!
//! To its author a program is one thread: a packet that it sends after it has received others may tell the peer that it
//! has them, and that their slots are free. So all threads meet before such a packet. Threads that hold the same
//! element store it more than once, which this barrier keeps from coming late.

use super::Lowering;
use super::far::{self, from_word, to_word};
use super::floats::Floats;
use super::line::{Halves, Line};
use crate::analysis::search::{Direction, Meaning, Search};
use crate::ir::packets::Sentinel;
use crate::ir::triton::words::{atomic_rmw, constant_like, element_wise, offset, splat_like};
use crate::ir::{Builder, lasting};
use crate::lower::group_barriers::is_barrier;
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{OperationRef, Type, TypeLike, Value, ValueLike};
use std::collections::HashSet;
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::lossy;
use symm_dialect::ops::{Accessing, Order, PutPacket, RmwKind, Scope, SymmOp, TryPacket, WaitPacket};
use symm_dialect::pointer::Pointer;

/// Where packets are sent that may come after others have been received, with no barrier in between.
pub fn answers<'c: 'a, 'a>(ops: &[SymmOp<'c, 'a>]) -> HashSet<usize> {
    let mut search = Search::new(Direction::Before, true, |op| match SymmOp::cast(op) {
        Some(op) => meaning(op),
        None if is_barrier(op) => Meaning::Fence,
        None => Meaning::Neutral,
    });
    let puts = ops.iter().filter(|op| matches!(op, SymmOp::PutPacket(_))).map(|op| op.operation());
    puts.filter(|put| search.unordered(*put).is_some()).map(key).collect()
}

/// What an op is to a packet after it: a receipt, or what brings the threads of a program together.
fn meaning(op: SymmOp) -> Meaning {
    let Some(access) = op.accessing() else {
        return if op.orders() { Meaning::Fence } else { Meaning::Neutral };
    };
    match access {
        Accessing::WaitPacket(_) | Accessing::TryPacket(_) => Meaning::Access,
        Accessing::Signal(op) if op.sem().releases() => Meaning::Fence,
        // A packet that comes after a receipt has a barrier itself.
        Accessing::PutPacket(_) | Accessing::Wait(_) | Accessing::PutSignal(_) => Meaning::Fence,
        // Atomics have one before a release alone, and copies where they need one.
        Accessing::Signal(_)
        | Accessing::AtomicCas(_)
        | Accessing::AtomicRmw(_)
        | Accessing::Copy(_)
        | Accessing::Get(_)
        | Accessing::Put(_)
        | Accessing::RemoteLoad(_)
        | Accessing::RemoteStore(_) => Meaning::Neutral,
    }
}

/// What flags a packet.
enum Flagged<'c> {
    Epoch(Value<'c, 'c>),
    /// The sentinel, and the second word of a line that is put.
    Floats(Sentinel, Option<Value<'c, 'c>>),
}

impl<'c> Flagged<'c> {
    fn of(epoch: Option<Value<'c, '_>>, sentinel: Option<i64>, upper: Option<Value<'c, '_>>) -> Self {
        match Sentinel::new(sentinel) {
            Some(sentinel) => Self::Floats(sentinel, upper.map(lasting)),
            None => Self::Epoch(lasting(epoch.expect("a packet has an epoch or a sentinel"))),
        }
    }
}

impl<'c: 'a, 'a> Lowering<'c, 'a> {
    pub fn put_packet(&mut self, b: &Builder<'c>, op: PutPacket<'c, 'a>) -> Result<(), Reported> {
        let operation = SymmOp::PutPacket(op);
        self.refuse_packet(operation, op.value().r#type())?;
        let address = self.remote(b, operation, op.slots(), ("rank", "delta"))?;
        let peer = self.peer(b, operation, ("rank", "delta"), op.mask())?;
        // What has come by itself in halves may be sent in halves.
        let send = |b: &Builder<'c>, near: &dyn Fn(&Builder<'c>), halves: &dyn Fn(&Builder<'c>) -> Halves<'c>| {
            let Some(peer) = peer else { return near(b) };
            let far = |b: &Builder<'c>| {
                let at = far::address(b, op.slots());
                let second = b.binary("arith.addi", at, constant_like(b, 8, at.r#type()));
                for (at, half) in [at, second].into_iter().zip(halves(b)) {
                    far::store_words(b, at, (half, 8), peer.pe, op.mask());
                }
            };
            b.either(peer.near, near, far);
        };
        let is_answer = self.answers.contains(&key(op.operation()));
        let target = &self.target;
        match Flagged::of(op.epoch(), op.sentinel(), op.upper()) {
            Flagged::Epoch(epoch) => {
                let line = Line::new(b, address, epoch, op.mask());
                let value = to_word(b, lasting(op.value()));
                if is_answer {
                    self.words.barrier(b);
                }
                let epoch = |b: &Builder<'c>| for_each_line(b, epoch, value);
                send(b, &|b| line.store(b, target, value), &|b| halves(b, value, epoch(b)));
            }
            Flagged::Floats(sentinel, upper) => {
                let line = Floats::new(b, address, sentinel, op.mask());
                let lower = lasting(op.value());
                let words = line.sent(b, [lower, upper.unwrap_or(lower)], op.clear());
                if is_answer {
                    self.words.barrier(b);
                }
                send(b, &|b| line.store(b, target, words), &|_| words);
            }
        }
        Ok(())
    }

    /// What has come: a word, or two of floats.
    pub fn wait_packet(&mut self, b: &Builder<'c>, op: WaitPacket<'c, 'a>) -> Result<Vec<Value<'c, 'c>>, Reported> {
        let ty = op.value().r#type();
        self.refuse_packet(SymmOp::WaitPacket(op), ty)?;
        let deadline = self.deadline(SymmOp::WaitPacket(op))?;
        match Flagged::of(op.epoch(), op.sentinel(), None) {
            Flagged::Epoch(epoch) => {
                let line = Line::new(b, lasting(op.slots()), epoch, op.mask());
                let words = self.once(b, |b| vec![line.wait(b, &self.target, deadline)]);
                Ok(vec![from_word(b, words[0], ty)])
            }
            Flagged::Floats(sentinel, _) => {
                let line = Floats::new(b, lasting(op.slots()), sentinel, op.mask());
                Ok(self.once(b, |b| line.wait(b, &self.target, deadline).to_vec()))
            }
        }
    }

    /// What is there, and whether that is the value.
    pub fn try_packet(&mut self, b: &Builder<'c>, op: TryPacket<'c, 'a>) -> Result<Vec<Value<'c, 'c>>, Reported> {
        let ty = Value::from(op.operation().result(0).expect("it has two results")).r#type();
        self.refuse_packet(SymmOp::TryPacket(op), ty)?;
        match Flagged::of(op.epoch(), op.sentinel(), None) {
            Flagged::Epoch(epoch) => {
                let line = Line::new(b, lasting(op.slots()), epoch, op.mask());
                let [value, is_here] = line.look(b, read_once(b, lasting(op.slots()), op.mask()));
                Ok(vec![from_word(b, value, ty), is_here])
            }
            Flagged::Floats(sentinel, _) => {
                let ([value, upper], is_here) = Floats::new(b, lasting(op.slots()), sentinel, op.mask()).look(b);
                Ok(vec![value, is_here, upper])
            }
        }
    }

    /// What `make` makes, made once: where Triton wants a value in two layouts, it makes a copy of the assembly that it
    /// comes from, and each would poll. Values of a loop it converts. The loop ends after its
    /// first time, which only the GPU's assembler finds out.
    fn once(&self, b: &Builder<'c>, make: impl FnOnce(&Builder<'c>) -> Vec<Value<'c, 'c>>) -> Vec<Value<'c, 'c>> {
        let test = |b: &Builder<'c>, _: &[Value<'c, 'c>]| {
            let values = make(b);
            (b.compare(CmpiPredicate::Ne, self.target.zero(b), b.i32(0)), values)
        };
        b.repeat(&[], test, |_, _| Vec::new())
    }

    /// S1 where a value has no packet, or the target no known access that is made as a whole.
    fn refuse_packet(&self, op: SymmOp<'c, 'a>, ty: Type<'c>) -> Result<(), Reported> {
        if ty.is_vector() {
            return Err(error(op.operation(), &lossy!("S1: Triton has tensors for vectors, got {ty}")));
        }
        if !self.target.has_order() {
            let complaint = format!(
                "S1: the accesses of {} that are made as a whole are not known here; those of sm_70 and later, gfx942 \
                 and gfx950 are",
                self.target
            );
            return Err(error(op.operation(), &complaint));
        }
        Ok(())
    }
}

/// Both halves of lines, read by one thread each: threads that hold the same element, or the same scalar, may read
/// different things, where one that found a packet would leave a loop which others go on in. Triton hands what an
/// atomic returns to all of them, and makes no copies of it.
fn read_once<'c>(b: &Builder<'c>, slots: Value<'c, 'c>, mask: Option<Value<'c, '_>>) -> Halves<'c> {
    let (ty, text) = (
        slots.r#type(),
        match Pointer::address_space(slots.r#type()) {
            0 => "!tt.ptr<i64>".to_owned(),
            space => format!("!tt.ptr<i64, {space}>"),
        },
    );
    let word = Type::parse(b.context, &text).expect("a type of an unregistered dialect");
    let words = element_wise(ty, word);
    let first = if words == ty { slots } else { b.value("tt.bitcast", &[slots], words, &[]) };
    let zero = constant_like(b, 0, element_wise(ty, b.int(64)));
    [first, offset(b, first, b.i64(1))].map(|half| {
        let order = (Order::Relaxed, Scope::Sys);
        atomic_rmw(b, RmwKind::Or, half, zero, mask, order)
    })
}

/// The two halves of a line, `{d, e}` each, from its data and its epoch.
pub fn halves<'c>(b: &Builder<'c>, data: Value<'c, 'c>, epoch: Value<'c, 'c>) -> [Value<'c, 'c>; 2] {
    let ty = data.r#type();
    let half = constant_like(b, 32, ty);
    let epoch = b.binary("arith.shli", b.value("arith.extui", &[epoch], ty, &[]), half);
    let low = b.binary("arith.andi", data, constant_like(b, 0xffff_ffff, ty));
    [low, b.binary("arith.shrui", data, half)].map(|data| b.binary("arith.ori", data, epoch))
}

/// The data of a line, from its halves.
pub fn data<'c>(b: &Builder<'c>, [first, second]: [Value<'c, 'c>; 2]) -> Value<'c, 'c> {
    let ty = first.r#type();
    let low = b.binary("arith.andi", first, constant_like(b, 0xffff_ffff, ty));
    b.binary("arith.ori", low, b.binary("arith.shli", second, constant_like(b, 32, ty)))
}

/// Whether both halves of a line are of an epoch.
pub fn are_of<'c>(b: &Builder<'c>, halves: [Value<'c, 'c>; 2], epoch: Value<'c, 'c>) -> Value<'c, 'c> {
    let [first, second] = halves.map(|half| {
        let ty = half.r#type();
        let found = b.binary("arith.shrui", half, constant_like(b, 32, ty));
        let found = b.value("arith.trunci", &[found], epoch.r#type(), &[]);
        let truth = element_wise(ty, b.int(1));
        b.value("arith.cmpi", &[found, epoch], truth, &[("predicate", b.integer(64, CmpiPredicate::Eq as i64))])
    });
    b.binary("arith.andi", first, second)
}

/// A scalar operand of an op for each line that it is for.
pub fn for_each_line<'c>(b: &Builder<'c>, value: Value<'c, '_>, address: Value<'c, 'c>) -> Value<'c, 'c> {
    splat_like(b, lasting(value), address.r#type())
}

fn key(op: OperationRef) -> usize {
    op.to_raw().ptr as usize
}
