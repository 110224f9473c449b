//! What passes over Triton's kernels build, and what the lowering to Triton does: Triton's ops, and assembly where it
//! has none.

mod amd_deadline;
mod assembly;
pub mod deadline;
pub mod words;

use super::{Builder, name};
use melior::ir::{OperationRef, Value};
use std::fmt;
use std::str::FromStr;
use symm_abi::deadline::PROGRAM_SHIFTS;

/// A version of Triton, as far as its ops depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

impl Version {
    /// The first one whose ops these are.
    const OLDEST: Self = Self { major: 3, minor: 6 };
}

impl FromStr for Version {
    type Err = String;

    /// Reads `3.9.0`, and what a custom build calls itself: `3.9.0+git1f3a`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut numbers = text.split('.').map(|word| word.parse::<u32>().ok());
        let version = match (numbers.next().flatten(), numbers.next().flatten()) {
            (Some(major), Some(minor)) => Self { major, minor },
            _ => return Err(format!("'{text}' is not a version of Triton")),
        };
        if version >= Self::OLDEST { Ok(version) } else { Err(format!("Triton {text} is older than 3.6.0")) }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Whether an op, by its name, makes a tensor whose elements are those of its operand, perhaps several times.
pub fn spreads(name: &str) -> bool {
    matches!(name, "tt.splat" | "tt.broadcast" | "tt.expand_dims" | "ttg.convert_layout")
}

/// Whether an op makes a pointer of a pointer, its first operand, or a tensor of pointers of one.
pub fn moves(name: &str) -> bool {
    spreads(name) || matches!(name, "tt.addptr" | "tt.bitcast")
}

/// Whether an op makes a pointer of its first operand, in the same tensor.
pub fn is_step(op: OperationRef) -> bool {
    moves(name(op)) || matches!(name(op), "tt.reshape" | "tt.trans" | "ttg.set_auto_layout")
}

/// The numbers of this program in one word.
pub fn program<'c>(b: &Builder<'c>) -> Value<'c, 'c> {
    let number = |axis| {
        let number = b.value("tt.get_program_id", &[], b.int(32), &[("axis", b.integer(32, axis))]);
        b.value("arith.extui", &[number], b.int(64), &[])
    };
    let [by_y, by_z] = PROGRAM_SHIFTS.map(i64::from);
    let y = b.binary("arith.shli", number(1), b.i64(by_y));
    let z = b.binary("arith.shli", number(2), b.i64(by_z));
    b.binary("arith.ori", number(0), b.binary("arith.ori", y, z))
}
