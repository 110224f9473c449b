//! Calling the compiled host function: arguments and results pass through memory, a memref as its descriptor
//! `{allocated, aligned, offset, sizes…, strides…}` of 64-bit words (passes/src/lower/cpu/device.rs, `pack`).

use crate::array::Array;
use anyhow::Context as _;
use half::{bf16, f16};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsString, c_void};
use std::time::Duration;
use symm_abi::kernel;
use symm_codegen::{ArgumentType, Element, Error, Jit, Output, Signature};

/// The compiled host function.
pub struct Entry {
    code: kernel::EntryFn,
    // Keeps the code alive.
    _jit: Jit,
}

// SAFETY: the code is compiled and immutable once `new` has returned; the engine is only dropped, never used again.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

impl Entry {
    /// The name of the entry that the lowering makes for the host function `name`.
    #[must_use]
    pub fn symbol(name: &str) -> String {
        kernel::entry(name)
    }

    /// Finds an entry by its name.
    ///
    /// # Errors
    /// There is none.
    pub fn new(jit: Jit, symbol: &str) -> Result<Self, Error> {
        let address = jit.address(symbol)?;
        // SAFETY: the lowering makes entries with exactly this signature.
        let code = unsafe { std::mem::transmute::<usize, kernel::EntryFn>(address) };
        Ok(Self { code, _jit: jit })
    }
}

/// A host function with its arguments.
pub struct Prepared {
    entry: Entry,
    signature: Signature,
    arguments: Vec<Input>,
}

/// The arguments and results of one call, in memory.
pub struct Slots {
    words: Vec<Vec<u64>>,
    pointers: Vec<*mut c_void>,
    /// The first of the results.
    results: usize,
    _arrays: Vec<Vec<u8>>,
}

enum Input {
    /// The bits of a scalar.
    Scalar(u64),
    Array(Array),
}

impl Prepared {
    /// Matches what the command line gives with what the function takes and returns. Each array is to be read within
    /// `limit`.
    ///
    /// # Errors
    /// What does not match, by its option.
    pub fn new(
        entry: Entry,
        signature: Signature,
        inputs: &[(String, OsString)],
        outputs: &[(String, OsString)],
        scalars: &[(String, String)],
        limit: Option<Duration>,
    ) -> anyhow::Result<Self> {
        let files = once("--input", inputs)?;
        let values = once("--arg", scalars)?;
        once("--output", outputs)?;
        let mut arguments = Vec::new();
        for argument in &signature.arguments {
            let name = argument.name.as_str();
            arguments.push(match &argument.ty {
                ArgumentType::Scalar(element) => {
                    let given = values.get(name).map(|value| (*value).to_owned());
                    let value = given
                        .or_else(|| argument.default.clone())
                        .with_context(|| format!("the program takes a number '{name}': give --arg {name}=VALUE"))?;
                    let from = if values.contains_key(name) { "--arg" } else { "symm.default of" };
                    let bits = parse_scalar(*element, &value)
                        .with_context(|| format!("{from} {name}={value}: not a value of type {element}"))?;
                    Input::Scalar(bits)
                }
                ArgumentType::Array { element, shape } => {
                    let path = files.get(name).with_context(|| {
                        format!("the program takes an array '{name}': give --input {name}=FILE.npy")
                    })?;
                    let array = Array::read_within(limit, path.as_ref(), *element, shape)
                        .with_context(|| format!("--input {name}={}", path.display()))?;
                    Input::Array(array)
                }
            });
        }
        let takes = |name: &str, array: bool| {
            let is_array = |ty: &ArgumentType| matches!(ty, ArgumentType::Array { .. });
            signature.arguments.iter().any(|argument| argument.name == name && is_array(&argument.ty) == array)
        };
        for (what, name, known) in files
            .keys()
            .map(|name| ("--input", name, takes(name, true)))
            .chain(values.keys().map(|name| ("--arg", name, takes(name, false))))
        {
            anyhow::ensure!(known, "{what} {name}: the program takes {}", described(&signature));
        }
        for (name, _) in outputs {
            let is_array = |output: &&Output| matches!(output.ty, ArgumentType::Array { .. });
            let found = signature.outputs.iter().find(|output| output.name == *name);
            let names: Vec<&str> =
                signature.outputs.iter().filter(is_array).map(|output| output.name.as_str()).collect();
            let why = match found {
                Some(output) if is_array(&output) => continue,
                Some(_) => "is a number, and arrays are what is written; ",
                None => "",
            };
            anyhow::bail!("--output {name}: {why}the program's array results are [{}]", names.join(", "));
        }
        Ok(Self { entry, signature, arguments })
    }

    /// Calls the function on the calling rank and returns its array results by name.
    #[must_use]
    pub fn call(&self, ctx: *const i64) -> BTreeMap<String, Array> {
        let slots = self.slots(ctx);
        self.enter(&slots);
        let results = self.signature.outputs.iter().zip(&slots.words[slots.results..]);
        results
            .filter_map(|(output, slot)| match &output.ty {
                ArgumentType::Scalar(_) => None,
                ArgumentType::Array { element, shape } => {
                    Some((output.name.clone(), returned(*element, shape.len(), slot)))
                }
            })
            .collect()
    }

    /// Calls the function on the calling rank. What it returns lies in the slots.
    pub fn enter(&self, slots: &Slots) {
        // SAFETY: one pointer for each argument and result, to as many bytes as its type has in memory.
        unsafe { (self.entry.code)(slots.pointers.as_ptr()) };
    }

    /// The arguments for one call on one rank, and room for the results.
    #[must_use]
    pub fn slots(&self, ctx: *const i64) -> Slots {
        // Every rank has arrays of its own: the program may write to them.
        let mut arrays: Vec<Vec<u8>> = Vec::new();
        let mut slots: Vec<Vec<u64>> = vec![vec![ctx as u64]];
        for argument in &self.arguments {
            slots.push(match argument {
                Input::Scalar(bits) => vec![*bits],
                Input::Array(array) => {
                    let mut bytes = array.bytes.clone();
                    let data = bytes.as_mut_ptr() as u64;
                    arrays.push(bytes);
                    descriptor(data, &array.shape)
                }
            });
        }
        let results = slots.len();
        for output in &self.signature.outputs {
            slots.push(match &output.ty {
                ArgumentType::Scalar(_) => vec![0],
                ArgumentType::Array { shape, .. } => vec![0; 3 + 2 * shape.len()],
            });
        }
        let pointers = slots.iter_mut().map(|slot| slot.as_mut_ptr().cast()).collect();
        Slots { words: slots, pointers, results, _arrays: arrays }
    }
}

/// The options given by name, each once.
fn once<'o, V>(what: &str, options: &'o [(String, V)]) -> anyhow::Result<HashMap<&'o str, &'o V>> {
    let mut map = HashMap::new();
    for (name, value) in options {
        anyhow::ensure!(map.insert(name.as_str(), value).is_none(), "{what} {name} is given twice");
    }
    Ok(map)
}

fn described(signature: &Signature) -> String {
    let describe = |argument: &symm_codegen::Argument| match &argument.ty {
        ArgumentType::Scalar(_) => format!("a number '{}' (--arg)", argument.name),
        ArgumentType::Array { .. } => format!("an array '{}' (--input)", argument.name),
    };
    let all: Vec<String> = signature.arguments.iter().map(describe).collect();
    if all.is_empty() { "no arguments".into() } else { all.join(", ") }
}

fn parse_scalar(element: Element, text: &str) -> anyhow::Result<u64> {
    Ok(match element {
        Element::Bool => match text {
            "true" => 1,
            "false" => 0,
            _ => u64::from(parse_integer(8, text).context("it is neither true nor false")? != 0),
        },
        Element::Int(bits) => parse_integer(bits, text)?,
        Element::F16 => u64::from(parse_float(text, f16::from_f64, f16::is_infinite)?.to_bits()),
        Element::Bf16 => u64::from(parse_float(text, bf16::from_f64, bf16::is_infinite)?.to_bits()),
        Element::F32 => {
            // Rounded once.
            let nearest = |_| text.parse().unwrap_or(f32::NAN);
            u64::from(parse_float(text, nearest, f32::is_infinite)?.to_bits())
        }
        Element::F64 => parse_float(text, |value| value, f64::is_infinite)?.to_bits(),
    })
}

/// The bits of an integer, with or without a sign.
fn parse_integer(bits: u32, text: &str) -> anyhow::Result<u64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    anyhow::ensure!(is_number, "it is no whole number");
    let fits = |value: &i128| (-(1i128 << (bits - 1))..1i128 << bits).contains(value);
    let value = text.parse().ok().filter(fits).with_context(|| format!("it does not fit {bits} bits"))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "just seen to fit")]
    let bits = value as u64;
    Ok(bits)
}

/// A float of some width. What is finite as text, and would not be afterwards, does not fit.
fn parse_float<T: Copy>(text: &str, nearest: impl Fn(f64) -> T, is_infinite: impl Fn(T) -> bool) -> anyhow::Result<T> {
    let value = nearest(text.parse().ok().context("it is no number")?);
    let is_finite = text.contains(|letter: char| letter.is_ascii_digit());
    anyhow::ensure!(!(is_finite && is_infinite(value)), "it is too large");
    Ok(value)
}

/// The descriptor of a row-major array at `data`.
fn descriptor(data: u64, shape: &[u64]) -> Vec<u64> {
    let mut strides = vec![1; shape.len()];
    for dimension in (1..shape.len()).rev() {
        strides[dimension - 1] = strides[dimension] * shape[dimension];
    }
    [vec![data, data, 0], shape.to_vec(), strides].concat()
}

/// A copy of the array that a descriptor describes. The memory it lies in stays as it is until the process ends: it
/// may be an argument, on the heap, or the program's own.
fn returned(element: Element, rank: usize, descriptor: &[u64]) -> Array {
    let (aligned, offset) = (descriptor[1], descriptor[2]);
    let (shape, strides) = (descriptor[3..3 + rank].to_vec(), &descriptor[3 + rank..]);
    let size = element.bytes() as u64;
    let count: u64 = shape.iter().product();
    let mut bytes = Vec::with_capacity(usize::try_from(count * size).unwrap_or(0));
    let mut index = vec![0; rank];
    for _ in 0..count {
        // Strides may be negative.
        let step = |(index, stride): (&u64, &u64)| index.wrapping_mul(*stride);
        let linear = index.iter().zip(strides).map(step).fold(offset, u64::wrapping_add);
        let from = aligned.wrapping_add(linear.wrapping_mul(size)) as *const u8;
        // SAFETY: an element of the array that the program returned.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(from, element.bytes()) });
        for dimension in (0..rank).rev() {
            index[dimension] += 1;
            if index[dimension] < shape[dimension] {
                break;
            }
            index[dimension] = 0;
        }
    }
    Array { element, shape, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_not_of_a_type_say_why() {
        let said = |element, text| format!("{:#}", parse_scalar(element, text).unwrap_err());
        for text in ["", "-", "x", "1.5", "1e3", "+-1"] {
            assert_eq!(said(Element::Int(32), text), "it is no whole number", "{text}");
        }
        for text in ["4294967296", "-2147483649", "99999999999999999999999999999999999999999999"] {
            assert_eq!(said(Element::Int(32), text), "it does not fit 32 bits", "{text}");
        }
        assert_eq!(parse_scalar(Element::Int(32), "-1").unwrap(), u64::MAX);
        assert!(said(Element::Bool, "yes").starts_with("it is neither true nor false"));
        let floats =
            [(Element::F16, "65520"), (Element::Bf16, "1e39"), (Element::F32, "-1e39"), (Element::F64, "1e400")];
        for (element, text) in floats {
            assert_eq!(said(element, text), "it is too large", "{text}");
            assert_eq!(said(element, "1,5"), "it is no number");
            assert!(parse_scalar(element, "inf").is_ok() && parse_scalar(element, "nan").is_ok());
        }
        assert_eq!(parse_scalar(Element::F32, "0.1").unwrap(), u64::from(0.1f32.to_bits()));
    }
}
