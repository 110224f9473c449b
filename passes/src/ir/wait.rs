//! Waits that passes add.

use melior::ir::Value;
use symm_dialect::ops::{Comparison, Group, Order, Scope, WaitParts};

/// A wait of one thread for a flag, for so many nanoseconds, which orders nothing.
pub fn bounded_wait<'c: 'a, 'a>(
    ctx: Value<'c, 'a>,
    flag: Value<'c, 'a>,
    (comparison, value): (Comparison, Value<'c, 'a>),
    nanoseconds: Value<'c, 'a>,
) -> WaitParts<'c, 'a> {
    WaitParts {
        ctx,
        flag,
        indices: Vec::new(),
        is_unsigned: false,
        comparison,
        value,
        timeout: Some(nanoseconds),
        deadline: None,
        tag: None,
        limit: None,
        logs: false,
        sem: Order::Relaxed,
        scope: Scope::Sys,
        group: Group::Thread,
    }
}
