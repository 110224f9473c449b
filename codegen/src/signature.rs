//! What a host function takes and returns, read before it is lowered.

use crate::Error;
use melior::ir::attribute::{ArrayAttribute, DictionaryAttribute, FloatAttribute, IntegerAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::{MemRefType, ShapedTypeLike};
use melior::ir::{Attribute, BlockLike, Module, OperationRef, Type, TypeLike};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};
use symm_dialect::attributes::{DEFAULT_ATTRIBUTE, NAME_ATTRIBUTE};
use symm_dialect::diagnostic::{Severity, report};
use symm_dialect::lossy;
use symm_dialect::pointer::layout;
use symm_dialect::shape::{Shaped, integer_width};
use symm_dialect::symbol::{signature, symbol};
use symm_dialect::text::string;

/// The type of an array's elements, or of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Element {
    /// A boolean, one byte in memory.
    Bool,
    /// An integer of 8, 16, 32 or 64 bits; `index` is 64.
    Int(u32),
    /// IEEE half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

impl Element {
    /// The size in memory, in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Int(bits) => bits as usize / 8,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    fn of(ty: Type) -> Option<Self> {
        if ty.is_index() {
            return Some(Self::Int(64));
        }
        match integer_width(ty) {
            Some(1) => return Some(Self::Bool),
            Some(bits @ (8 | 16 | 32 | 64)) => return Some(Self::Int(bits)),
            Some(_) => return None,
            None => {}
        }
        if ty.is_f16() {
            Some(Self::F16)
        } else if ty.is_bf16() {
            Some(Self::Bf16)
        } else if ty.is_f32() {
            Some(Self::F32)
        } else if ty.is_f64() {
            Some(Self::F64)
        } else {
            None
        }
    }
}

impl Display for Element {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("i1"),
            Self::Int(bits) => write!(f, "i{bits}"),
            Self::F16 => f.write_str("f16"),
            Self::Bf16 => f.write_str("bf16"),
            Self::F32 => f.write_str("f32"),
            Self::F64 => f.write_str("f64"),
        }
    }
}

/// The type of an argument or result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArgumentType {
    /// A scalar.
    Scalar(Element),
    /// A row-major array; `None` is a dimension of any size.
    Array {
        /// The element type.
        element: Element,
        /// The shape.
        shape: Vec<Option<u64>>,
    },
}

/// An argument after the context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// Its `symm.name`, or `arg<position>`.
    pub name: String,
    /// Its type.
    pub ty: ArgumentType,
    /// The value of a scalar that is not given: its `symm.default`, as text.
    pub default: Option<String>,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// Its `symm.name`, or `result<position>`.
    pub name: String,
    /// Its type.
    pub ty: ArgumentType,
}

/// A host function's arguments after the context, and its results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// The arguments after the context.
    pub arguments: Vec<Argument>,
    /// The results.
    pub outputs: Vec<Output>,
}

impl Signature {
    /// The signature of the host function `entry` of a program that has not been lowered.
    ///
    /// # Errors
    /// [`Error::MissingEntry`] if there is none of that name, [`Error::UnsupportedArgument`] if a type has no form
    /// outside of the program.
    pub fn of(module: &Module, entry: &str) -> Result<Self, Error> {
        let hosts = host_functions(module);
        let Some((_, function)) = hosts.iter().find(|(name, _)| name == entry) else {
            let candidates = hosts.into_iter().map(|(name, _)| name).collect();
            return Err(Error::MissingEntry { entry: entry.into(), candidates });
        };
        let (inputs, results) = signature(*function);
        let mut arguments = Vec::new();
        // The first one is the context.
        for (index, ty) in inputs.into_iter().enumerate().skip(1) {
            let attributes = attributes_of(*function, "arg_attrs", index);
            let name = text(attributes.as_ref(), NAME_ATTRIBUTE).unwrap_or_else(|| format!("arg{index}"));
            let ty = argument_type(entry, &format!("argument '{name}'"), ty, true)?;
            let default = attributes.as_ref().and_then(|attributes| attributes.element_by_name(DEFAULT_ATTRIBUTE));
            arguments.push(Argument { name, ty, default: default.map(literal) });
        }
        let mut outputs = Vec::new();
        for (index, ty) in results.into_iter().enumerate() {
            let attributes = attributes_of(*function, "res_attrs", index);
            let name = text(attributes.as_ref(), NAME_ATTRIBUTE).unwrap_or_else(|| format!("result{index}"));
            let ty = argument_type(entry, &format!("result '{name}'"), ty, false)?;
            outputs.push(Output { name, ty });
        }
        let twice = |names: Vec<&String>| {
            let mut seen = HashSet::new();
            names.into_iter().find(|name| !seen.insert(*name)).cloned()
        };
        for (what, name) in [
            ("arguments", twice(arguments.iter().map(|argument| &argument.name).collect())),
            ("results", twice(outputs.iter().map(|output| &output.name).collect())),
        ] {
            if let Some(name) = name {
                report(Severity::Error, *function, &format!("has two {what} with the name '{name}'"));
                return Err(Error::Signature { function: entry.into() });
            }
        }
        Ok(Self { arguments, outputs })
    }
}

/// The public functions whose first argument is a context, with their names.
fn host_functions<'c, 'a>(module: &'a Module<'c>) -> Vec<(String, OperationRef<'c, 'a>)> {
    let ctx = Type::parse(symm_dialect::context(module.context()), "!symm.ctx").expect("the dialect is registered");
    let mut functions = Vec::new();
    let mut next = module.body().first_operation();
    while let Some(op) = next {
        next = op.next_in_block();
        let visibility = op.attribute("sym_visibility").ok().and_then(string);
        let public = visibility.is_none_or(|visibility| visibility == "public");
        if let (Some(name), true) = (symbol(op), public && signature(op).0.first() == Some(&ctx)) {
            functions.push((name, op));
        }
    }
    functions
}

/// A type as seen from outside the program. An argument's elements lie in row-major order; a result is read by its
/// strides.
fn argument_type(function: &str, what: &str, ty: Type, is_argument: bool) -> Result<ArgumentType, Error> {
    let unsupported =
        || Error::UnsupportedArgument { function: function.into(), what: what.into(), ty: lossy!("{ty}") };
    if let Some(element) = Element::of(ty) {
        return Ok(ArgumentType::Scalar(element));
    }
    let memref = Shaped::memref(ty).ok_or_else(unsupported)?;
    let plain = MemRefType::try_from(ty).is_ok_and(|ty| ty.affine_map().is_identity());
    let is_laid_out = plain || !is_argument && layout(ty).is_some();
    let element = Element::of(memref.element()).filter(|_| is_laid_out).ok_or_else(unsupported)?;
    Ok(ArgumentType::Array { element, shape: memref.dimensions() })
}

/// The attribute dictionary of an argument or result.
fn attributes_of<'c: 'a, 'a>(op: OperationRef<'c, 'a>, list: &str, index: usize) -> Option<DictionaryAttribute<'c>> {
    let list = ArrayAttribute::try_from(op.attribute(list).ok()?).ok()?;
    if index >= list.len() {
        return None;
    }
    DictionaryAttribute::try_from(list.element(index).ok()?).ok()
}

fn text(attributes: Option<&DictionaryAttribute>, name: &str) -> Option<String> {
    attributes?.element_by_name(name).and_then(string)
}

/// A number as it would be written on a command line.
fn literal(attribute: Attribute) -> String {
    if let Ok(integer) = IntegerAttribute::try_from(attribute) {
        return integer.value().to_string();
    }
    if let Ok(float) = FloatAttribute::try_from(attribute) {
        return float.value().to_string();
    }
    lossy!("{attribute}")
}
