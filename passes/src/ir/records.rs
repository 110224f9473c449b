//! Records of a timeline: the ops between which what is recorded runs.

use super::Builder;
use melior::ir::Value;
use symm_dialect::ops::{Group, TraceBeginParts, TraceEndParts};

/// Begins a record: what it is of, in words, and the values that belong to it.
pub fn begin<'c: 'a, 'a>(
    b: &Builder<'c>,
    ctx: Value<'c, 'a>,
    what: String,
    values: &[Value<'c, 'c>],
    group: Group,
) -> Value<'c, 'c> {
    b.make_value(&TraceBeginParts { ctx, what, values: values.to_vec(), group }, b.int(64))
}

/// Ends a record, with what is known only then.
pub fn end<'c>(b: &Builder<'c>, record: Value<'c, 'c>, values: Vec<Value<'c, 'c>>) {
    b.make(&TraceEndParts { record, values }, &[]);
}
