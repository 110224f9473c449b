//! Attributes of this dialect on ops of any dialect, on their arguments and on their results.

use super::{HEAP_ALIGNMENT, Verdict};
use crate::attributes::{
    ENGINE_ATTRIBUTE, HEAP_SIZE_ATTRIBUTE, HEAP_STRIDE_ATTRIBUTE, NAME_ATTRIBUTE, NUM_RANKS_ATTRIBUTE, Place,
    TABLE_IN_HEAP_ATTRIBUTE, known,
};
use crate::diagnostic::error;
use crate::shape::integer_width;
use crate::{lossy, text};
use melior::ir::attribute::{AttributeLike, IntegerAttribute, StringAttribute};
use melior::ir::{Attribute, OperationRef, operation::OperationLike};
use symm_abi::far::ENGINES;

/// The ops that are modules.
const MODULES: [&str; 2] = ["builtin.module", "gpu.module"];

/// Checks one attribute of this dialect on an op of any dialect.
pub fn on_op<'c: 'a, 'a>(op: OperationRef<'c, 'a>, name: &str, attribute: Attribute<'c>) -> Verdict {
    let place = if MODULES.contains(&text::identifier(op.name()).as_str()) { Place::Module } else { Place::Op };
    ensure_known(op, place, "", name)?;
    let integer = |width| {
        let integer = IntegerAttribute::try_from(attribute).ok();
        integer.filter(|integer| integer_width(integer.r#type()) == Some(width)).map(|integer| integer.value())
    };
    let engines;
    let complaint = match name {
        NUM_RANKS_ATTRIBUTE if integer(32).is_none_or(|ranks| ranks <= 0) => "an i32 above 0",
        HEAP_STRIDE_ATTRIBUTE if integer(64).is_none_or(|stride| stride <= 0 || stride % HEAP_ALIGNMENT != 0) => {
            "an i64 in bytes, above 0 and a multiple of 2 MiB (T4, T5)"
        }
        HEAP_SIZE_ATTRIBUTE if integer(64).is_none_or(|size| size <= 0) => "an i64 in bytes, above 0",
        ENGINE_ATTRIBUTE if !is_engine(attribute) => {
            engines = format!("the name of an engine, {} (N1)", ENGINES.map(|name| format!("{name:?}")).join(" or "));
            &engines
        }
        TABLE_IN_HEAP_ATTRIBUTE if !attribute.is_unit() || !has_fixed_range(op) => {
            "a unit, on a module with 'symm.num_ranks' and 'symm.heap_stride' (T5)"
        }
        _ => return Ok(()),
    };
    Err(error(op, &lossy!("takes a '{name}' that is {complaint}, got {attribute}")))
}

fn is_engine(attribute: Attribute) -> bool {
    StringAttribute::try_from(attribute).is_ok_and(|name| ENGINES.contains(&name.value()))
}

/// Whether a module says how many heaps there are and how far apart.
fn has_fixed_range<'c: 'a, 'a>(module: OperationRef<'c, 'a>) -> bool {
    let value = |name| module.attribute(name).and_then(IntegerAttribute::try_from).map(|value| value.value());
    let (Ok(ranks), Ok(stride)) = (value(NUM_RANKS_ATTRIBUTE), value(HEAP_STRIDE_ATTRIBUTE)) else { return false };
    ranks.checked_mul(stride).is_some_and(|bytes| bytes > 0 && bytes <= 1 << 60)
}

/// Checks one attribute of this dialect on an argument of a function, or on a result.
pub fn on_value<'c: 'a, 'a>(
    function: OperationRef<'c, 'a>,
    place: Place,
    index: usize,
    name: &str,
    attribute: Attribute<'c>,
) -> Verdict {
    let what = if place == Place::Argument { "argument" } else { "result" };
    ensure_known(function, place, &format!("{what} {index} "), name)?;
    let is_name = text::string(attribute).is_some_and(|name| !name.is_empty() && !name.contains('='));
    if name == NAME_ATTRIBUTE && !is_name {
        let complaint = format!("{what} {index} has a {name} that is no text, is empty or has an equals sign");
        return Err(error(function, &complaint));
    }
    Ok(())
}

/// That something reads an attribute `name` where it is; `whose` is what of the op has it.
fn ensure_known<'c: 'a, 'a>(op: OperationRef<'c, 'a>, place: Place, whose: &str, name: &str) -> Verdict {
    if known(place).any(|known| known == name) {
        return Ok(());
    }
    let may = match place {
        Place::Op => "symm attributes belong on modules, and on functions' arguments and results".to_owned(),
        _ => format!("it may have {}", known(place).collect::<Vec<_>>().join(", ")),
    };
    Err(error(op, &format!("{whose}has the attribute '{name}', which nothing reads: {may}")))
}
