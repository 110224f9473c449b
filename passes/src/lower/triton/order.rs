//! Signals, waits, fences and barriers (O1 to O6).

use super::Lowering;
use super::far::{self, Peer, Update};
use super::table::{is_near, pe, reach};
use crate::ir::triton::deadline::Deadline;
use crate::ir::triton::words::{self, atomic_rmw};
use crate::ir::{Builder, enclosing, lasting, select, structure};
use crate::lower::predicate;
use crate::target::TritonTarget;
use melior::dialect::arith::CmpiPredicate;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Type, Value, ValueLike};
use symm_abi::heap::BARRIER_WORDS;
use symm_abi::wait::{EAGER_POLLS, ORDERED_POLLS};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{Barrier, Order, PutSignal, RmwKind, Scope, Signal, SignalKind, SymmOp, Wait};
use symm_dialect::pointer::Pointer;

/// What a wait polls for.
#[derive(Clone, Copy)]
struct Poll<'c> {
    flag: Value<'c, 'c>,
    predicate: CmpiPredicate,
    expected: Value<'c, 'c>,
    scope: Scope,
    deadline: Option<Deadline<'c>>,
}

impl<'c: 'a, 'a> Lowering<'c, 'a> {
    /// The deadline of an op; S1 where it is not known here how the target has one.
    pub fn deadline(&self, op: SymmOp<'c, 'a>) -> Result<Option<Deadline<'c>>, Reported> {
        let Some(record) = op.deadline() else { return Ok(None) };
        if let (TritonTarget::Hip(_), SymmOp::WaitPacket(wait)) = (&self.target, op) {
            let what = if wait.epoch().is_some() { "packets" } else { "floats in lines" };
            let complaint =
                format!("S1: {what} have deadlines on NVIDIA GPUs only: give the kernel a context without timeout");
            return Err(error(op.operation(), &complaint));
        }
        Ok(Some(Deadline { record: lasting(record), tag: op.tag().unwrap_or(0), limit: op.limit(), logs: op.logs() }))
    }

    /// S1, where an op orders memory and it is not known here how its target does.
    pub fn refuse_order(&self, op: SymmOp<'c, 'a>) -> Result<(), Reported> {
        if op.orders() && !self.target.has_order() {
            let complaint = format!(
                "S1: the memory order of {} is not known here; that of sm_70 and later, gfx942 and \
                                     gfx950 is",
                self.target
            );
            return Err(error(op.operation(), &complaint));
        }
        Ok(())
    }

    /// S1, where Triton hands a loop to partitions of the warps, on `sm_90` all of its kernel: other ops than loads and
    /// stores of tensors it moves, drops, or does in several of them, and one of them does not order what others do.
    pub fn refuse_specialized(&self, op: SymmOp<'c, 'a>) -> Result<(), Reported> {
        let is_plain = matches!(op, SymmOp::AsRemote(_) | SymmOp::RemoteLoad(_) | SymmOp::RemoteStore(_));
        if !self.target.has_engine() || op.question().is_ok() || is_plain {
            return Ok(());
        }
        let is_specialized = |op: OperationRef<'c, 'a>| op.has_attribute(SPECIALIZED).then_some(());
        let is_met = if self.target.specializes_kernels() {
            enclosing(op.operation(), &[structure::TRITON_FUNC])
                .is_some_and(|kernel| !select(kernel, is_specialized).is_empty())
        } else {
            let mut around = enclosing(op.operation(), &["scf.for"]);
            while let Some(inner) = around.filter(|around| !around.has_attribute(SPECIALIZED)) {
                around = enclosing(inner, &["scf.for"]);
            }
            around.is_some()
        };
        if !is_met {
            return Ok(());
        }
        let complaint = "S1: in a loop with warp_specialize=True, which Triton divides among partitions of the warps, \
                         and on sm_90 anywhere in its kernel, it may move or drop this op or do it once for each of \
                         them: put it into another kernel, or write the partitions in Gluon";
        Err(error(op.operation(), complaint))
    }

    /// What comes before a release by one thread: then it releases what all threads of the program did (O3).
    pub fn before_release(&self, b: &Builder<'c>, scope: Scope) {
        self.complete_stores(b);
        if self.target.releases_first() {
            self.target.fence(b, Order::Release, scope);
        }
        self.words.barrier(b);
    }

    /// A fence of the program, whose signals come from one thread.
    pub fn fence(&self, b: &Builder<'c>, order: Order, scope: Scope) {
        if order.releases() {
            self.complete_stores(b);
        }
        if order.releases() && !self.target.releases_first() {
            self.words.barrier(b);
        }
        self.target.fence(b, order, scope);
        if order.acquires() {
            self.after_acquire(b);
        } else if self.target.releases_first() {
            self.words.barrier(b);
        }
    }

    /// What comes after an acquire: the engine's loads, too, see what has been acquired, and all threads go on
    /// together.
    pub fn after_acquire(&self, b: &Builder<'c>) {
        if self.engine.loads() {
            self.target.order_loads(b);
        }
        self.words.barrier(b);
    }

    pub fn signal(&mut self, b: &Builder<'c>, op: Signal<'c, 'a>) -> Result<(), Reported> {
        let flag = self.remote(b, SymmOp::Signal(op), op.flag(), ("rank", "delta"))?;
        let peer = self.peer(b, SymmOp::Signal(op), ("rank", "delta"), None)?;
        self.send(b, op.kind(), (flag, op.flag(), peer), op.value(), (op.sem(), op.scope()));
        Ok(())
    }

    pub fn put_signal(&mut self, b: &Builder<'c>, op: PutSignal<'c, 'a>) -> Result<(), Reported> {
        self.copy(b, SymmOp::PutSignal(op))?;
        let flag = self.remote(b, SymmOp::PutSignal(op), op.flag(), ("rank", "delta"))?;
        let peer = self.peer(b, SymmOp::PutSignal(op), ("rank", "delta"), None)?;
        self.send(b, op.kind(), (flag, op.flag(), peer), op.value(), (Order::Release, op.scope()));
        Ok(())
    }

    /// A scalar atomic is made by one thread, and does not involve the others if its result is unused.
    fn send(
        &self,
        b: &Builder<'c>,
        kind: SignalKind,
        (flag, here, peer): (Value<'c, 'c>, Value<'c, 'a>, Option<Peer<'c>>),
        value: Value<'c, '_>,
        (order, scope): (Order, Scope),
    ) {
        if order.releases() {
            self.before_release(b, scope);
        }
        let (kind, update) = match kind {
            SignalKind::Set => (RmwKind::Xchg, Update::Set),
            SignalKind::Add => (RmwKind::Add, Update::Add),
        };
        let near = |b: &Builder<'c>| {
            atomic_rmw(b, kind, flag, value, None, (self.target.order_of_atomic(order), scope));
        };
        match peer {
            None => near(b),
            Some(peer) => {
                b.either(peer.near, near, |b| far::signal(b, lasting(here), update, lasting(value), peer.pe));
            }
        }
    }

    pub fn wait(&mut self, b: &Builder<'c>, op: Wait<'c, 'a>) -> Result<(), Reported> {
        if op.timeout().is_some() {
            return Err(error(op.operation(), "S1: a wait in a Triton kernel has no timeout; it may have a deadline"));
        }
        if !matches!(Pointer::of(op.flag().r#type()), Some(Pointer::Triton(_))) {
            return Err(error(op.operation(), "S1: takes a flag of type !tt.ptr"));
        }
        let poll = Poll {
            flag: lasting(op.flag()),
            predicate: predicate(op.comparison(), op.is_unsigned()),
            expected: lasting(op.value()),
            scope: op.scope(),
            deadline: self.deadline(SymmOp::Wait(op))?,
        };
        self.poll(b, poll, op.sem());
        self.after_acquire(b);
        Ok(())
    }

    /// Reads a flag in every thread until it is as asked, and acquires once (O5).
    fn poll(&self, b: &Builder<'c>, poll: Poll<'c>, order: Order) {
        let late = |b: &Builder<'c>, eager_polls| {
            self.repeat_late(b, poll, eager_polls);
            self.acquire(b, poll, order);
        };
        if !order.acquires() || !self.target.polls_in_order() {
            if poll.deadline.is_none() || self.target.polls_in_order() {
                return late(b, EAGER_POLLS);
            }
            // Nothing is asked of the clock while the flag comes soon.
            let is_missing = self.repeat(b, poll, Order::Relaxed, EAGER_POLLS, Some(EAGER_POLLS));
            b.when(is_missing, |b| self.repeat_late(b, poll, EAGER_POLLS));
            return self.acquire(b, poll, order);
        }
        let is_missing = self.repeat(b, poll, Order::Acquire, ORDERED_POLLS, Some(ORDERED_POLLS));
        b.when(is_missing, |b| late(b, EAGER_POLLS - ORDERED_POLLS));
    }

    /// Reads a flag until it is as asked, or its deadline is over.
    fn repeat_late(&self, b: &Builder<'c>, poll: Poll<'c>, eager_polls: i64) {
        match poll.deadline {
            None => _ = self.repeat(b, poll, Order::Relaxed, eager_polls, None),
            Some(deadline) => {
                let asked = (poll.flag, poll.predicate, poll.expected);
                self.target.poll_until(b, asked, poll.scope, (deadline, eager_polls));
            }
        }
    }

    /// What comes after a poll that does not acquire itself.
    fn acquire(&self, b: &Builder<'c>, poll: Poll<'c>, order: Order) {
        if order.acquires() {
            self.target.acquire(b, poll.flag, poll.expected.r#type(), poll.scope);
        }
    }

    /// Reads a flag until it is as asked, or often enough; whether it is still not as asked. It pauses between polls
    /// that are not eager.
    fn repeat(
        &self,
        b: &Builder<'c>,
        poll: Poll<'c>,
        order: Order,
        eager_polls: i64,
        most_polls: Option<i64>,
    ) -> Value<'c, 'c> {
        let ty = poll.expected.r#type();
        let results = b.repeat(
            &[b.i32(1)],
            |b, polls| {
                let value = self.target.load_flag(b, poll.flag, ty, (order, poll.scope));
                let is_missing = b.not(b.compare(poll.predicate, value, poll.expected));
                let go_on = match most_polls {
                    Some(most) => {
                        b.binary("arith.andi", is_missing, b.compare(CmpiPredicate::Ult, polls[0], b.i32(most)))
                    }
                    None => is_missing,
                };
                (go_on, vec![polls[0], is_missing])
            },
            |b, polls| {
                if most_polls.is_none() {
                    let is_late = b.compare(CmpiPredicate::Ugt, polls[0], b.i32(eager_polls));
                    b.when(is_late, |b| self.target.pause(b));
                }
                vec![b.add(polls[0], b.i32(1))]
            },
        );
        results[1]
    }

    /// Block b of every rank tells block b of every other rank the number of this barrier, then waits until all have
    /// told it theirs. The words lie at the start of each heap (runtime: the signal pad): for each block an epoch, then
    /// a flag for each rank. Epochs only grow, so that no flag is ever reset. A program whose words would lie past the
    /// pad ends the kernel instead.
    pub fn barrier(&mut self, b: &Builder<'c>, op: Barrier<'c, 'a>) -> Result<(), Reported> {
        let deadline = self.deadline(SymmOp::Barrier(op))?;
        let table = self.tables.of(SymmOp::Barrier(op))?;
        let (me, ranks, mine) = (b.as_i64(table.rank()), table.num_ranks(), table.my_base());
        let words_of_block = b.add(b.as_i64(ranks), b.i64(1));
        let block = linear_block(b);
        // The words after those of the last block are those of the order of a stream.
        let end = b.mul(b.add(block, b.i64(2)), words_of_block);
        let fits = b.compare(CmpiPredicate::Ule, end, b.i64(BARRIER_WORDS.cast_signed()));
        b.op("tt.assert", &[fits], &[], &[("message", b.string(TOO_MANY_PROGRAMS))]);
        let pad = b.mul(block, words_of_block);
        let word = |b: &Builder<'c>, base: Value<'c, 'c>, index: Value<'c, 'c>| {
            let ty = Type::parse(b.context, "!tt.ptr<i64>").expect("a type of an unregistered dialect");
            words::offset(b, b.value("tt.int_to_ptr", &[base], ty, &[]), b.add(pad, index))
        };
        self.fence(b, Order::Release, Scope::Sys);
        let one = b.i64(1);
        let epoch = atomic_rmw(b, RmwKind::Add, word(b, mine, b.i64(0)), one, None, (Order::Relaxed, Scope::Gpu));
        let epoch = b.add(epoch, one);
        let table = self.tables.of(SymmOp::Barrier(op))?;
        let reaches = table.reaches(b);
        b.for_each(b.i32(0), ranks, |b, rank| {
            let tell = |b: &Builder<'c>| {
                let theirs = word(b, table.look_up(b, rank), b.add(me, one));
                atomic_rmw(b, RmwKind::Xchg, theirs, epoch, None, (Order::Relaxed, Scope::Sys));
            };
            match reaches {
                None => tell(b),
                Some(reaches) => {
                    let reach = reach(b, reaches, rank);
                    b.either(is_near(b, reach), tell, |b| {
                        far::signal(b, word(b, mine, b.add(me, one)), Update::Set, epoch, pe(b, reach));
                    });
                }
            }
        });
        b.for_each(b.i32(0), ranks, |b, rank| {
            let flag = word(b, mine, b.add(b.as_i64(rank), one));
            let poll = Poll { flag, predicate: CmpiPredicate::Sge, expected: epoch, scope: Scope::Sys, deadline };
            self.poll(b, poll, if self.target.polls_in_order() { Order::Acquire } else { Order::Relaxed });
        });
        if !self.target.polls_in_order() {
            self.target.fence(b, Order::Acquire, Scope::Sys);
        }
        self.after_acquire(b);
        Ok(())
    }
}

/// The attribute of a loop that Triton divides among partitions of the warps.
const SPECIALIZED: &str = "tt.warp_specialize";

/// What a kernel says whose barrier has no flags for its program.
const TOO_MANY_PROGRAMS: &str = "symm barrier: the grid has more programs than there are flags for; each takes \
                                 8 bytes * (ranks + 1) of the 2 MiB at the start of the heap";

/// The number of this program in its grid, `i64`.
fn linear_block<'c>(b: &Builder<'c>) -> Value<'c, 'c> {
    let word = |name, axis| b.as_i64(b.value(name, &[], b.int(32), &[("axis", b.integer(32, axis))]));
    let row = b.add(b.mul(word("tt.get_program_id", 2), word("tt.get_num_programs", 1)), word("tt.get_program_id", 1));
    b.add(b.mul(row, word("tt.get_num_programs", 0)), word("tt.get_program_id", 0))
}
