//! The dialect's words as the runtime has them.

use symm_abi::trace;
use symm_abi::wait::Compare;
use symm_dialect::ops::{Comparison, SignalKind};

/// How a wait compares, as signed values.
pub fn compare(comparison: Comparison) -> Compare {
    match comparison {
        Comparison::Eq => Compare::Eq,
        Comparison::Ne => Compare::Ne,
        Comparison::Lt => Compare::Lt,
        Comparison::Le => Compare::Le,
        Comparison::Gt => Compare::Gt,
        Comparison::Ge => Compare::Ge,
    }
}

/// What a signal does.
pub fn signal_kind(kind: SignalKind) -> trace::SignalKind {
    match kind {
        SignalKind::Set => trace::SignalKind::Set,
        SignalKind::Add => trace::SignalKind::Add,
    }
}
