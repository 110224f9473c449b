//! Replaces the calls that stand for symm ops in a Triton or Gluon kernel by the ops.
//!
//! Triton's front end knows no symm ops. Instead it calls functions without a body, *carriers*, whose
//! `symm.carrier` names the op, its operands and its attributes:
//!
//! ```mlir
//! "tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f32>, i32) -> f32, sym_name = "symm.remote_load.1f3a",
//!     sym_visibility = "private"}> ({}) {symm.carrier = "remote_load(ctx, ptr, rank) {cache = cg}"} : () -> ()
//! …
//! %v = "tt.call"(%table, %p, %peer) <{callee = @symm.remote_load.1f3a}> : (!tt.ptr<i64>, !tt.ptr<f32>, i32) -> f32
//! ```
//!
//! becomes
//!
//! ```mlir
//! %ctx = symm.ctx %table : !tt.ptr<i64>
//! …
//! %v = symm.remote_load %ctx, %p, %peer cache cg : !tt.ptr<f32> -> f32
//! ```
//!
//! Operands and attributes have the names and the order of the op's definition. Keywords are the assembly's;
//! `volatile`, `unsigned` and `compare` are short for `volatile_`, `is_unsigned` and `comparison`. The text may also be
//! the function's name: `symm.remote_load(ctx,ptr,rank){cache=cg}.1f3a`. A Triton program is a block, so `group`
//! defaults to `block`. Each table gets one context, right after its definition.
//!
//! With `ctx.rank` and `ctx.num_ranks` after `ctx`, `ctx` points to the bases alone, and the context is made of these
//! parts, after the last of them.
//!
//! Limits: operands and results must have the types that the op requires; nothing is converted.

use crate::analysis::dominance::later;
use crate::ir::{Builder, blocks, collect, constant_value, lasting, name, operations, structure};
use crate::pass::{Ir, Pass, Values};
use melior::ir::attribute::DenseI32ArrayAttribute;
use melior::ir::{Attribute, OperationRef, Region, RegionLike, Type, Value, ValueLike, operation::OperationLike};
use std::collections::HashMap;
use symm_dialect::attributes::CARRIER_ATTRIBUTE;
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{Arity, CtxParts, Definition, Form, Group, SymmOp, has_segments};
use symm_dialect::pointer::Pointer;
use symm_dialect::shape::integer_width;
use symm_dialect::symbol::symbol;
use symm_dialect::{SEGMENTS, text};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-raise-carriers",
    summary: "Replace the calls that stand for symm ops in a Triton or Gluon kernel by the ops",
    options: &[],
    run,
};

/// The operands that make a context of its parts, besides the bases.
const PARTS: [&str; 2] = ["ctx.rank", "ctx.num_ranks"];

fn run(root: OperationRef, _: &Values) -> Result<Ir, Reported> {
    let mut carriers = HashMap::new();
    let mut outcome = Ok(());
    for function in blocks(root).into_iter().flat_map(operations) {
        let Some((name, words)) = carrier(function) else { continue };
        match Carrier::parse(&words) {
            Ok(carrier) => _ = carriers.insert(name, (function, carrier)),
            Err(complaint) => outcome = Err(error(function, &format!("is not a carrier of a symm op: {complaint}"))),
        }
    }
    outcome?;
    if carriers.is_empty() {
        return Ok(Ir::Kept);
    }
    let mut contexts = HashMap::new();
    for call in collect(root) {
        let callee = (name(call) == "tt.call").then(|| call.attribute("callee").ok().and_then(text::symbol)).flatten();
        if let Some((_, carrier)) = callee.and_then(|callee| carriers.get(&callee)) {
            outcome = outcome.and(raise(call, carrier, &mut contexts));
        }
    }
    outcome?;
    for (function, _) in carriers.into_values() {
        Builder::before(function).erase(function);
    }
    Ok(Ir::Changed)
}

/// The name of a carrier, and what calls of it stand for; `None` if a function is not a carrier.
fn carrier<'c: 'a, 'a>(function: OperationRef<'c, 'a>) -> Option<(String, String)> {
    let has_body = OperationLike::regions(&function).any(|body: melior::ir::RegionRef| body.first_block().is_some());
    if name(function) != structure::TRITON_FUNC || has_body {
        return None;
    }
    let symbol = symbol(function)?;
    let words = function.attribute(CARRIER_ATTRIBUTE).ok().and_then(text::string);
    let words = words.or_else(|| Some(symbol.strip_prefix("symm.")?.to_owned()))?;
    Some((symbol, words))
}

/// What a call of a carrier stands for.
struct Carrier {
    op: Definition,
    /// The names of the operands that are there.
    operands: Vec<String>,
    attributes: Vec<(&'static str, Setting)>,
}

/// What an attribute is set to.
enum Setting {
    Unit,
    Integer(i64),
    Keyword(i64),
    String(String),
    Type(String),
}

impl Carrier {
    /// Reads `name(operand, …) {key = value, …}`.
    fn parse(words: &str) -> Result<Self, String> {
        let (name, rest) = words.split_once('(').ok_or_else(|| format!("'{words}' names no operands"))?;
        let (operands, rest) = rest.split_once(')').ok_or_else(|| format!("'{words}' lacks a ')'"))?;
        let name = name.trim();
        let op = SymmOp::definition(name).ok_or_else(|| format!("there is no op symm.{name}"))?;
        let operands: Vec<String> = list(operands).map(str::to_owned).collect();
        let parts = operands.iter().filter(|operand| PARTS.contains(&operand.as_str())).count();
        if parts != 0 && (parts != PARTS.len() || !operands.iter().any(|operand| operand == "ctx")) {
            return Err(format!("{} need ctx, and each other", PARTS.join(" and ")));
        }
        for operand in operands.iter().filter(|operand| !PARTS.contains(&operand.as_str())) {
            if !op.operands.iter().any(|known| known.name == operand) {
                let known: Vec<_> = op.operands.iter().map(|operand| operand.name).collect();
                return Err(format!("{} has no operand '{operand}', but {}", op.name, known.join(", ")));
            }
        }
        let settings = match rest.split_once('{') {
            Some((_, rest)) => rest.rsplit_once('}').ok_or_else(|| format!("'{words}' lacks a '}}'"))?.0,
            None => "",
        };
        let mut attributes =
            list(settings).map(|setting| parse_setting(&op, setting)).collect::<Result<Vec<_>, _>>()?;
        let is_set = |attributes: &[Option<(&str, Setting)>], name| {
            attributes.iter().flatten().any(|(set, _): &(&str, Setting)| *set == name)
        };
        if op.attributes.iter().any(|known| known.name == "group") && !is_set(&attributes, "group") {
            attributes.push(Some(("group", Setting::Keyword(Group::Block as i64))));
        }
        Ok(Self { op, operands, attributes: attributes.into_iter().flatten().collect() })
    }
}

fn list(words: &str) -> impl Iterator<Item = &str> {
    words.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// Reads `key = value`; `None` for a flag that is not set.
fn parse_setting(op: &Definition, setting: &str) -> Result<Option<(&'static str, Setting)>, String> {
    let (key, value) = setting.split_once('=').ok_or_else(|| format!("'{setting}' is not key = value"))?;
    let (key, value) = (key.trim(), value.trim());
    let name = match key {
        "volatile" => "volatile_",
        "unsigned" => "is_unsigned",
        "compare" => "comparison",
        name => name,
    };
    let Some(attribute) = op.attributes.iter().find(|attribute| attribute.name == name) else {
        return Err(format!("{} has no attribute '{key}'", op.name));
    };
    let setting = match attribute.form {
        Form::Flag => match value {
            "true" => Some(Setting::Unit),
            "false" => None,
            _ => return Err(format!("'{key}' is true or false, not '{value}'")),
        },
        Form::Integer => {
            Some(Setting::Integer(value.parse().map_err(|_| format!("'{key}' is not a number: '{value}'"))?))
        }
        Form::String => Some(Setting::String(value.to_owned())),
        Form::Type => Some(Setting::Type(value.to_owned())),
        Form::Keyword(keywords) => {
            let number = keywords.iter().find(|(keyword, _)| *keyword == value).map(|(_, number)| *number);
            let known = || keywords.iter().map(|(keyword, _)| *keyword).collect::<Vec<_>>().join(" or ");
            Some(Setting::Keyword(number.ok_or_else(|| format!("'{key}' is {}, not '{value}'", known()))?))
        }
    };
    Ok(setting.map(|setting| (attribute.name, setting)))
}

/// Replaces a call by the op that it stands for.
fn raise<'c: 'a, 'a>(
    call: OperationRef<'c, 'a>,
    carrier: &Carrier,
    contexts: &mut HashMap<Vec<Key>, Value<'c, 'c>>,
) -> Result<(), Reported> {
    let b = Builder::before(call);
    if call.operand_count() != carrier.operands.len() {
        let (known, given) = (carrier.operands.len(), call.operand_count());
        return Err(error(call, &format!("stands for {} with {known} operands, got {given}", carrier.op.name)));
    }
    let named: Vec<(&str, Value)> = carrier.operands.iter().map(String::as_str).zip(call.operands()).collect();
    let parts: Vec<Value> = PARTS
        .iter()
        .flat_map(|part| named.iter().filter(move |(name, _)| name == part))
        .map(|(_, value)| *value)
        .collect();
    let (mut operands, mut segments) = (Vec::new(), Vec::new());
    for group in carrier.op.operands {
        let values: Vec<Value> =
            named.iter().filter(|(name, _)| *name == group.name).map(|(_, value)| *value).collect();
        let most = if group.arity == Arity::Variadic { usize::MAX } else { 1 };
        if values.len() > most || (group.arity == Arity::One && values.is_empty()) {
            let message = format!("{} takes one operand '{}', got {}", carrier.op.name, group.name, values.len());
            return Err(error(call, &message));
        }
        segments.push(i32::try_from(values.len()).unwrap_or(i32::MAX));
        for value in values {
            operands.push(if group.name == "ctx" { context(call, value, &parts, contexts)? } else { value });
        }
    }
    let mut attributes: Vec<(&str, Attribute)> = Vec::new();
    if has_segments(carrier.op.operands) {
        attributes.push((SEGMENTS, DenseI32ArrayAttribute::new(b.context, &segments).into()));
    }
    for (name, setting) in &carrier.attributes {
        let value = match setting {
            Setting::Unit => b.unit(),
            Setting::Integer(number) => b.integer(64, *number),
            Setting::Keyword(number) => b.integer(32, *number),
            Setting::String(text) => b.string(text),
            Setting::Type(text) => match Type::parse(b.context, text) {
                Some(ty) => crate::ir::type_attribute(ty),
                None => return Err(error(call, &format!("'{text}' is not a type"))),
            },
        };
        attributes.push((name, value));
    }
    let results: Vec<Type> = call.results().map(|result| result.r#type()).collect();
    let regions: Vec<Region> = Vec::new();
    let op = b.op_with_regions(carrier.op.name, &operands, &results, &attributes, regions);
    // Until now nothing has asked whether the call's types are those of the op: it reports that they are not.
    if !op.verify() {
        return Err(Reported);
    }
    let results: Vec<Value> = op.results().map(Into::into).collect();
    b.replace(call, &results);
    Ok(())
}

/// What a context is made of: a value, or a constant, which is the same wherever it is defined.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Constant(i64),
    Value(usize),
}

fn key(value: Value) -> Key {
    constant_value(value).map_or_else(|| Key::Value(value.to_raw().ptr as usize), Key::Constant)
}

/// The context of a table, or of bases and its other parts, made once.
fn context<'c: 'a, 'a>(
    call: OperationRef<'c, 'a>,
    table: Value<'c, 'a>,
    parts: &[Value<'c, 'a>],
    contexts: &mut HashMap<Vec<Key>, Value<'c, 'c>>,
) -> Result<Value<'c, 'c>, Reported> {
    let pointee = match Pointer::of(table.r#type()) {
        Some(pointer @ Pointer::Triton(_)) => pointer.pointee(),
        _ => None,
    };
    if pointee.and_then(integer_width) != Some(64) {
        let ty = symm_dialect::lossy!("{}", table.r#type());
        return Err(error(call, &format!("takes the context as a pointer to its table, !tt.ptr<i64>, got {ty}")));
    }
    for (part, value) in PARTS.iter().zip(parts) {
        if integer_width(value.r#type()) != Some(32) {
            let ty = symm_dialect::lossy!("{}", value.r#type());
            return Err(error(call, &format!("takes {part} as an i32, got {ty}")));
        }
    }
    let known = std::iter::once(&table).chain(parts).map(|value| key(*value)).collect();
    Ok(*contexts.entry(known).or_insert_with(|| {
        let variable = parts.iter().copied().filter(|part| constant_value(*part).is_none());
        let place = variable.fold(table, later);
        let b = Builder::after_value_at(symm_dialect::context(table.context()), place, call.location());
        let mut given =
            parts.iter().map(|part| constant_value(*part).map_or_else(|| lasting(*part), |number| b.i32(number)));
        let ctx = Type::parse(b.context, "!symm.ctx").expect("the dialect is registered");
        b.make_value(&CtxParts { table: lasting(table), rank: given.next(), num_ranks: given.next() }, ctx)
    }))
}
