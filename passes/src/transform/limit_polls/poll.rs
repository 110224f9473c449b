//! What a loop can poll by: symm's atomics, looks for packets, and Triton's own atomics.

use super::polled::is_constant;
use crate::ir::name;
use crate::ir::triton::words::update;
use melior::ir::{OperationRef, Value, operation::OperationLike};
use symm_dialect::ops::{Accessing, RmwKind, SymmOp, TryPacket};

/// An op that looks at what another thread may change.
#[derive(Clone, Copy)]
pub enum Poll<'c, 'a> {
    Symm(SymmOp<'c, 'a>),
    Triton(OperationRef<'c, 'a>),
}

/// Triton's compare-and-swap, of a pointer, what is expected there and what is to be.
const SWAP: &str = "tt.atomic_cas";
/// Its update, of a pointer, a value, and perhaps a mask.
const UPDATE: &str = "tt.atomic_rmw";

impl<'c: 'a, 'a> Poll<'c, 'a> {
    pub fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let Some(symm) = SymmOp::cast(op) else {
            return matches!(name(op), SWAP | UPDATE).then_some(Self::Triton(op));
        };
        match symm.accessing()? {
            Accessing::AtomicCas(_) | Accessing::AtomicRmw(_) | Accessing::TryPacket(_) => Some(Self::Symm(symm)),
            // They look at nothing or wait by themselves; of loads in a loop symm-check-polls warns.
            Accessing::RemoteLoad(_)
            | Accessing::RemoteStore(_)
            | Accessing::Get(_)
            | Accessing::Put(_)
            | Accessing::Copy(_)
            | Accessing::Signal(_)
            | Accessing::PutSignal(_)
            | Accessing::Wait(_)
            | Accessing::PutPacket(_)
            | Accessing::WaitPacket(_) => None,
        }
    }

    pub fn operation(self) -> OperationRef<'c, 'a> {
        match self {
            Self::Symm(op) => op.operation(),
            Self::Triton(op) => op,
        }
    }

    pub fn symm(self) -> Option<SymmOp<'c, 'a>> {
        if let Self::Symm(op) = self { Some(op) } else { None }
    }

    pub fn packet(self) -> Option<TryPacket<'c, 'a>> {
        if let Self::Symm(SymmOp::TryPacket(op)) = self { Some(op) } else { None }
    }

    /// Where it looks.
    pub fn pointer(self) -> Option<Value<'c, 'a>> {
        self.operand("ptr", 0).or_else(|| self.operand("slots", 0))
    }

    /// What a compare-and-swap waits for.
    pub fn expected(self) -> Option<Value<'c, 'a>> {
        let is_swap = name(self.operation()) == SWAP || matches!(self, Self::Symm(SymmOp::AtomicCas(_)));
        is_swap.then(|| self.operand("expected", 1)).flatten()
    }

    pub fn mask(self) -> Option<Value<'c, 'a>> {
        let is_swap = name(self.operation()) == SWAP;
        (!is_swap).then(|| self.operand("mask", 2)).flatten()
    }

    /// Whether it comes to the same, however often it is done at one place with one value.
    pub fn repeats(self) -> bool {
        let (kind, value) = match self {
            Self::Symm(SymmOp::AtomicRmw(rmw)) => (Some(rmw.kind()), Some(rmw.value())),
            Self::Triton(op) if name(op) == UPDATE => (update(op), op.operand(1).ok()),
            _ => return true,
        };
        match kind {
            Some(
                RmwKind::And
                | RmwKind::Or
                | RmwKind::Xchg
                | RmwKind::Min
                | RmwKind::Max
                | RmwKind::UMin
                | RmwKind::UMax,
            ) => true,
            Some(RmwKind::Add | RmwKind::Sub | RmwKind::Xor) => value.is_some_and(|value| is_constant(value, &[0])),
            Some(RmwKind::FAdd) | None => false,
        }
    }

    /// What has to be the same each time: the place, an update's value, the epoch of a packet.
    pub fn fixed(self) -> Vec<Value<'c, 'a>> {
        let value = if self.expected().is_some() { None } else { self.operand("value", 1) };
        [self.pointer(), self.operand("rank", usize::MAX), value, self.operand("epoch", usize::MAX)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// An operand, by the name of symm's op and the number of Triton's.
    fn operand(self, name: &str, number: usize) -> Option<Value<'c, 'a>> {
        match self {
            Self::Symm(op) => op.operand_group(name).first().copied(),
            Self::Triton(op) => op.operands().nth(number),
        }
    }
}
