//! Flags, and the deadlines of those who wait for them.

use super::{Verdict, access, ensure};
use crate::lossy;
use crate::ops::{Order, Signal, SymmOp, Wait};
use crate::pointer::Pointer;
use crate::shape::integer_width;
use melior::ir::{Value, ValueLike};

/// Checks a signal.
pub fn signal<'c: 'a, 'a>(signal: Signal<'c, 'a>) -> Verdict {
    let op = SymmOp::Signal(signal);
    ensure(op, matches!(signal.sem(), Order::Relaxed | Order::Release), || {
        lossy!("O1: a signal is release or relaxed, got {}", signal.sem().keyword())
    })?;
    verify(op, signal.flag(), &signal.indices(), signal.value())
}

/// Checks a wait, which may have a timeout or a deadline.
pub fn wait<'c: 'a, 'a>(wait: Wait<'c, 'a>) -> Verdict {
    let op = SymmOp::Wait(wait);
    ensure(op, matches!(wait.sem(), Order::Relaxed | Order::Acquire), || {
        lossy!("O1: a wait is acquire or relaxed, got {}", wait.sem().keyword())
    })?;
    ensure(op, wait.timeout().is_some() == wait.satisfied().is_some(), || {
        "returns an i1 if it has a timeout, and nothing otherwise".into()
    })?;
    ensure(op, wait.timeout().is_none() || wait.deadline().is_none(), || {
        "has a timeout or a deadline, not both".into()
    })?;
    deadline(op, Some(wait.flag()))?;
    verify(op, wait.flag(), &wait.indices(), wait.value())
}

/// One flag, which holds values of the type that is set or compared.
pub fn verify<'c: 'a, 'a>(
    op: SymmOp<'c, 'a>,
    flag: Value<'c, 'a>,
    indices: &[Value<'c, 'a>],
    value: Value<'c, 'a>,
) -> Verdict {
    let ty = flag.r#type();
    let Some(pointer) = Pointer::of(ty) else { return Ok(()) };
    ensure(op, !matches!(pointer, Pointer::TritonTensor(..)), || {
        lossy!("takes one flag, not a tensor of them, got {ty}")
    })?;
    access::indices(op, pointer, indices)?;
    let width = value.r#type();
    ensure(op, pointer.pointee().is_none_or(|pointee| pointee == width), || {
        lossy!("uses a flag with its own type: {ty} does not hold {width}")
    })
}

/// A deadline is the address of its record, for flags and slots in Triton kernels: programs have timeouts.
pub fn deadline<'c: 'a, 'a>(op: SymmOp<'c, 'a>, waited_for: Option<Value<'c, 'a>>) -> Verdict {
    let Some(record) = op.deadline() else {
        let extras = [("tag", op.tag().is_some()), ("limit", op.limit().is_some()), ("log", op.logs())];
        let extra = extras.into_iter().find_map(|(name, is_there)| is_there.then_some(name));
        return ensure(op, extra.is_none(), || format!("has a {}, but no deadline", extra.unwrap_or_default()));
    };
    let ty = record.r#type();
    let is_record = matches!(Pointer::of(ty), Some(Pointer::Triton(_)))
        && Pointer::of(ty).and_then(Pointer::pointee).and_then(integer_width) == Some(64);
    ensure(op, is_record, || lossy!("takes as deadline a !tt.ptr<i64>, the address of its record, got {ty}"))?;
    let Some(waited_for) = waited_for.map(|value| value.r#type()) else { return Ok(()) };
    let is_triton = matches!(Pointer::of(waited_for), Some(Pointer::Triton(_) | Pointer::TritonTensor(..)));
    ensure(op, is_triton, || lossy!("S1: takes a deadline only with Triton's pointers, got {waited_for}: use timeout"))
}
