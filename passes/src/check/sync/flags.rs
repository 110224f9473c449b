//! What a function signals to an array of flags and waits for there.

use super::find;
use crate::analysis::order::array;
use crate::ir::constant_value;
use melior::ir::{OperationRef, Type, Value, ValueLike, operation::OperationLike};
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
}

/// A function and an array that it uses.
type Key = (usize, usize);

/// What a function does with one array of flags.
#[derive(Default)]
struct Flag<'c, 'a> {
    waits: Vec<Wait<'c, 'a>>,
    /// Whether it is also written in another way, or passed on.
    is_written: bool,
    /// Whether it is added to, or a value is set that is not known.
    may_be_any: bool,
    set_to: HashSet<i64>,
    /// The least and the greatest of them, signed and unsigned.
    bounds: HashSet<i64>,
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
            Accessing::Signal(op) => self.send(op.flag(), op.kind(), op.value(), function),
            Accessing::PutSignal(op) => {
                self.send(op.flag(), op.kind(), op.value(), function);
                self.array(op.dst(), function).is_written = true;
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

    fn send(&mut self, flag: Value<'c, 'a>, kind: SignalKind, value: Value<'c, 'a>, function: usize) {
        self.signallers.entry(value.r#type()).or_default().insert(function);
        self.array(flag, function).send(kind, value);
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

    fn check_wait(&self, flag: &Flag<'c, 'a>, wait: Wait<'c, 'a>, strict: bool) -> Result<(), Reported> {
        let is_signalled_here_alone =
            self.signallers.get(&wait.value().r#type()).is_none_or(|functions| functions.len() == 1);
        if is_signalled_here_alone && flag.is_never_as_asked(wait) {
            let message = "the kernel only sets this flag, and to nothing that satisfies the wait; \
                           a flag that counts is signalled with add";
            return find(wait.operation(), strict, message);
        }
        Ok(())
    }
}

impl<'c: 'a, 'a> Flag<'c, 'a> {
    fn send(&mut self, kind: SignalKind, value: Value<'c, 'a>) {
        let Some(value) = constant_value(value).filter(|_| kind == SignalKind::Set) else {
            self.may_be_any = true;
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

    /// Whether a flag is set to constants only, none of which a wait is for.
    fn is_never_as_asked(&self, wait: Wait) -> bool {
        let Some(expected) = constant_value(wait.value()) else { return false };
        let equal = self.set_to.get(&expected);
        !self.may_be_any
            && !self.set_to.is_empty()
            && !self.bounds.iter().chain(equal).any(|value| holds(wait, *value, expected))
    }
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

fn address(op: OperationRef) -> usize {
    op.to_raw().ptr as usize
}
