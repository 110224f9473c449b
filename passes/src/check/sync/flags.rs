//! What a function signals to an array of flags and waits for there.

use super::{find, reaches};
use crate::analysis::order::{array, only_reads_heap};
use crate::ir::{blocks, collect, constant_value, definition, enclosing, name};
use melior::ir::block::BlockArgument;
use melior::ir::{BlockLike, OperationRef, Type, Value, ValueLike, operation::OperationLike};
use std::collections::{HashMap, HashSet};
use symm_dialect::diagnostic::Reported;
use symm_dialect::ops::{Accessing, Comparison, SignalKind, SymmOp, Wait};
use symm_dialect::pointer::Pointer;

/// The arrays of flags of a program.
#[derive(Default)]
pub struct Flags<'c, 'a> {
    arrays: HashMap<Key, Flag<'c, 'a>>,
    /// In the order in which they are met, so that diagnostics come in the order of the program.
    order: Vec<Key>,
    /// The functions that signal flags of a type.
    signallers: HashMap<Type<'c>, HashSet<usize>>,
    /// Whether a loop reads by its counter.
    readers: HashMap<usize, bool>,
}

/// A function and an array that it uses.
type Key = (usize, usize);

/// What a function does with one array of flags.
#[derive(Default)]
struct Flag<'c, 'a> {
    waits: Vec<Wait<'c, 'a>>,
    /// Whether it is also written in another way, or passed on.
    is_written: bool,
    /// Whether all that is added is known to be more than zero, if it is added to.
    grows: Option<bool>,
    /// Whether a value is set that is not known.
    is_set_to_any: bool,
    set_to: HashSet<i64>,
    /// The least and the greatest of them, signed and unsigned.
    bounds: HashSet<i64>,
    /// Whether every rank's flag is added to in turn, at one place.
    is_shared: bool,
}

/// One signal.
struct Sent<'c, 'a> {
    op: OperationRef<'c, 'a>,
    flag: Value<'c, 'a>,
    kind: SignalKind,
    indices: Vec<Value<'c, 'a>>,
    value: Value<'c, 'a>,
    rank: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Flags<'c, 'a> {
    /// Notes what a symm op does, or another one that may write.
    pub fn note(&mut self, op: OperationRef<'c, 'a>, function: OperationRef<'c, 'a>) {
        let function = address(function);
        let Some(symm) = SymmOp::cast(op) else {
            for operand in op.operands().filter(|operand| Pointer::of(operand.r#type()).is_some()) {
                self.array(operand, function).is_written = true;
            }
            return;
        };
        let Some(access) = symm.accessing() else { return };
        match access {
            Accessing::Signal(signal) => {
                let (flag, kind, indices) = (signal.flag(), signal.kind(), signal.indices());
                self.send(&Sent { op, flag, kind, indices, value: signal.value(), rank: signal.rank() }, function);
            }
            Accessing::PutSignal(put) => {
                let (flag, kind, indices) = (put.flag(), put.kind(), put.indices());
                self.send(&Sent { op, flag, kind, indices, value: put.value(), rank: put.rank() }, function);
                self.array(put.dst(), function).is_written = true;
            }
            Accessing::Wait(wait) => self.array(wait.flag(), function).waits.push(wait),
            Accessing::AtomicRmw(atomic) => {
                self.signallers.entry(atomic.value().r#type()).or_default().insert(function);
                self.array(atomic.ptr(), function).is_written = true;
            }
            Accessing::AtomicCas(atomic) => {
                self.signallers.entry(atomic.desired().r#type()).or_default().insert(function);
                self.array(atomic.ptr(), function).is_written = true;
            }
            Accessing::RemoteStore(store) => self.array(store.ptr(), function).is_written = true,
            Accessing::Put(put) => self.array(put.dst(), function).is_written = true,
            Accessing::Get(get) => self.array(get.dst(), function).is_written = true,
            Accessing::Copy(copy) => self.array(copy.dst(), function).is_written = true,
            Accessing::RemoteLoad(_) | Accessing::PutPacket(_) | Accessing::WaitPacket(_) | Accessing::TryPacket(_) => {
            }
        }
    }

    fn array(&mut self, pointer: Value<'c, 'a>, function: usize) -> &mut Flag<'c, 'a> {
        let key = (function, array(pointer).to_raw().ptr as usize);
        self.arrays.entry(key).or_insert_with(|| {
            self.order.push(key);
            Flag::default()
        })
    }

    fn send(&mut self, sent: &Sent<'c, 'a>, function: usize) {
        self.signallers.entry(sent.value.r#type()).or_default().insert(function);
        self.array(sent.flag, function).send(sent);
    }

    /// Reports what does not fit.
    pub fn check(mut self, strict: bool) -> Result<(), Reported> {
        let mut outcome = Ok(());
        for key in std::mem::take(&mut self.order) {
            let Some(flag) = self.arrays.remove(&key).filter(|flag| !flag.is_written) else { continue };
            for wait in &flag.waits {
                outcome = outcome.and(self.check_wait(&flag, *wait, strict));
            }
        }
        outcome
    }

    fn check_wait(&mut self, flag: &Flag<'c, 'a>, wait: Wait<'c, 'a>, strict: bool) -> Result<(), Reported> {
        let op = wait.operation();
        if flag.may_be_past(wait) {
            let message = "a counter that is added to may already be past what 'eq' waits for; use 'ge', or 'unsigned \
                           eq' for a counter that wraps around or is taken back";
            return find(op, false, message);
        }
        let is_signalled_here_alone =
            self.signallers.get(&wait.value().r#type()).is_none_or(|functions| functions.len() == 1);
        if is_signalled_here_alone && flag.is_never_as_asked(wait) {
            let message = "the kernel only sets this flag, and to nothing that satisfies the wait; \
                           a flag that counts is signalled with add";
            return find(op, strict, message);
        }
        if flag.is_shared && self.takes_count_for_sender(wait) {
            let message = "every rank adds to this flag: a count does not say whose data has come; \
                           give each rank a flag of its own";
            return find(op, strict, message);
        }
        Ok(())
    }

    /// Whether a wait in a loop is for one more each time, and the loop reads what each rank has sent.
    fn takes_count_for_sender(&mut self, wait: Wait<'c, 'a>) -> bool {
        let loops = loops_around(wait.operation());
        let loop_of = |value| loops.iter().copied().find(|around| reaches(value, &|value| counts(*around, value)));
        let Some(counter) = loop_of(wait.value()) else { return false };
        let of_all = reaches(wait.value(), &|value| made_by(value, "symm.num_ranks") || made_by(value, "arith.muli"));
        if of_all || wait.indices().into_iter().any(|index| loop_of(index).is_some()) {
            return false;
        }
        *self.readers.entry(address(counter)).or_insert_with(|| {
            let is_by_counter = |value| reaches(value, &|value| counts(counter, value));
            collect(counter).into_iter().any(|op| reads(op) && op.operands().any(is_by_counter))
        })
    }
}

impl<'c: 'a, 'a> Flag<'c, 'a> {
    fn send(&mut self, sent: &Sent<'c, 'a>) {
        let constant = constant_value(sent.value);
        if sent.kind == SignalKind::Add {
            let is_growth = constant.is_some_and(|value| value > 0);
            self.grows = Some(is_growth && self.grows != Some(false));
            self.is_shared |= is_to_every_rank(sent);
            return;
        }
        let Some(value) = constant else {
            self.is_set_to_any = true;
            return;
        };
        if self.set_to.insert(value) {
            self.bounds.insert(value);
            let signed = (self.bounds.iter().min().copied(), self.bounds.iter().max().copied());
            let by = |value: &&i64| value.cast_unsigned();
            let unsigned = (self.bounds.iter().min_by_key(by).copied(), self.bounds.iter().max_by_key(by).copied());
            self.bounds = [signed.0, signed.1, unsigned.0, unsigned.1].into_iter().flatten().collect();
        }
    }

    /// Whether a wait is for one value of a counter that only grows.
    fn may_be_past(&self, wait: Wait) -> bool {
        let only_counts = self.grows == Some(true) && !self.is_set_to_any && self.set_to.is_empty();
        // Whoever waits for zero has somebody who takes the counter back.
        let is_reset = constant_value(wait.value()).is_some_and(|expected| expected <= 0);
        only_counts && wait.comparison() == Comparison::Eq && !wait.is_unsigned() && !is_reset
    }

    /// Whether a flag is set to constants only, none of which a wait is for.
    fn is_never_as_asked(&self, wait: Wait) -> bool {
        let Some(expected) = constant_value(wait.value()) else { return false };
        let equal = self.set_to.get(&expected);
        self.grows.is_none()
            && !self.is_set_to_any
            && !self.set_to.is_empty()
            && !self.bounds.iter().chain(equal).any(|value| holds(wait, *value, expected))
    }
}

/// Whether a signal in a loop goes to another rank each time, and to the same place of all.
fn is_to_every_rank(sent: &Sent) -> bool {
    let loops = loops_around(sent.op);
    let counted = |value| reaches(value, &|value| loops.iter().any(|around| counts(*around, value)));
    let mine = |value| reaches(value, &|value| made_by(value, "symm.rank"));
    counted(sent.rank) && !sent.indices.iter().any(|index| mine(*index) || counted(*index))
}

fn holds(wait: Wait, flag: i64, expected: i64) -> bool {
    let unsigned = |value: i64| value.cast_unsigned();
    let order = if wait.is_unsigned() { unsigned(flag).cmp(&unsigned(expected)) } else { flag.cmp(&expected) };
    match wait.comparison() {
        Comparison::Eq => order.is_eq(),
        Comparison::Ne => order.is_ne(),
        Comparison::Lt => order.is_lt(),
        Comparison::Le => order.is_le(),
        Comparison::Gt => order.is_gt(),
        Comparison::Ge => order.is_ge(),
    }
}

/// Whether an op reads what another rank may write.
fn reads<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    match SymmOp::cast(op) {
        Some(op) => op.accesses().iter().any(|access| access.reads && !access.writes && !access.is_flag),
        None => only_reads_heap(op),
    }
}

fn made_by(value: Value, op: &str) -> bool {
    definition(value).is_some_and(|definition| name(definition) == op)
}

/// The loops around an op, innermost first.
fn loops_around<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let next = |op: &OperationRef<'c, 'a>| enclosing(*op, &["scf.for", "affine.for"]);
    std::iter::successors(next(&op), next).collect()
}

/// Whether a value is what a loop counts with.
fn counts<'c: 'a, 'a>(around: OperationRef<'c, 'a>, value: Value<'c, 'a>) -> bool {
    // Asked first: melior prints what it can't convert.
    if !value.is_block_argument() {
        return false;
    }
    let Ok(argument) = BlockArgument::try_from(value) else { return false };
    let body = blocks(around).first().copied();
    argument.argument_number() == 0 && body.is_some_and(|body| body.to_raw().ptr == argument.owner().to_raw().ptr)
}

fn address(op: OperationRef) -> usize {
    op.to_raw().ptr as usize
}
