//! What ops print or record: messages and values.

use super::{Verdict, ensure};
use crate::diagnostic::error;
use crate::lossy;
use crate::ops::{Fault, SymmOp, TraceBegin, TraceEnd};
use crate::pointer::Pointer;
use crate::shape::{byte_width, is_data};
use melior::ir::{Type, TypeLike, Value, ValueLike};
use symm_abi::{fault, trace};

/// Checks a fault, whose record has room for a few values.
pub fn fault<'c: 'a, 'a>(fault: Fault<'c, 'a>) -> Verdict {
    let op = SymmOp::Fault(fault);
    ensure(op, fault.values().len() <= fault::MOST_VALUES, || {
        format!("reports at most {} values", fault::MOST_VALUES)
    })?;
    verify(op, &fault.message(), &fault.values())
}

/// Checks the record of something that begins.
pub fn trace_begin<'c: 'a, 'a>(begin: TraceBegin<'c, 'a>) -> Verdict {
    ensure(SymmOp::TraceBegin(begin), begin.values().len() <= trace::MOST_VALUES, || {
        format!("records at most {} values when something begins", trace::MOST_VALUES)
    })
}

/// Checks the record of something that ends.
pub fn trace_end<'c: 'a, 'a>(end: TraceEnd<'c, 'a>) -> Verdict {
    ensure(SymmOp::TraceEnd(end), end.values().len() <= trace::MOST_LATE_VALUES, || {
        format!("records at most {} values when something ends", trace::MOST_LATE_VALUES)
    })
}

/// One `{}` for each value, and values that can be printed.
pub fn verify<'c: 'a, 'a>(op: SymmOp<'c, 'a>, text: &str, values: &[Value<'c, 'a>]) -> Verdict {
    let plain = text.replace("{{", "").replace("}}", "");
    let places = plain.matches("{}").count();
    let stray = plain.replace("{}", "").contains(['{', '}']);
    ensure(op, !stray, || "takes a message in which braces are {} for a value, {{ or }}".into())?;
    ensure(op, places == values.len(), || {
        lossy!("prints as many values as its message has {{}}: {places}, got {}", values.len())
    })?;
    let printable = |ty: Type<'c>| match Pointer::of(ty) {
        Some(pointer) => !matches!(pointer, Pointer::TritonTensor(..)),
        None => is_data(ty) && !(ty.is_float() && byte_width(ty) == 1),
    };
    match values.iter().map(ValueLike::r#type).find(|ty| !printable(*ty)) {
        None => Ok(()),
        Some(ty) => Err(error(
            op.operation(),
            &lossy!("prints integers, floats of 16 bits or more, index and pointers, got {ty}"),
        )),
    }
}
