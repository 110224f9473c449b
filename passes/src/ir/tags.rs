//! Numbers of ops that records name: waits that gave up, accesses out of bounds, spans of timelines.

use super::structure;
use super::{context, enclosing, set_attribute};
use crate::pass::Ir;
use melior::ir::attribute::StringAttribute;
use melior::ir::{OperationRef, operation::OperationLike};
use symm_dialect::WAITS_ATTRIBUTE;
use symm_dialect::diagnostic::file_line_column;
use symm_dialect::symbol::symbol;
use symm_dialect::text;

/// Numbers for ops, and what they stand for.
#[derive(Default)]
pub struct Tags {
    lines: Vec<String>,
}

impl Tags {
    /// The number of an op that does `what`.
    pub fn of<'c: 'a, 'a>(&mut self, op: OperationRef<'c, 'a>, what: &str) -> i64 {
        let kernel = enclosing(op, &[structure::TRITON_FUNC]).and_then(symbol).unwrap_or_default();
        let (file, line, column) = file_line_column(op.location()).unwrap_or_default();
        let tag = hash(&format!("{kernel}\t{file}\t{line}\t{column}\t{what}"));
        let described = format!("{tag}\t{kernel}\t{file}\t{line}\t{what}\n");
        if !self.lines.contains(&described) {
            self.lines.push(described);
        }
        tag
    }

    /// Leaves what the numbers stand for on the module, after what is there.
    pub fn leave<'c: 'a, 'a>(self, module: OperationRef<'c, 'a>) -> Ir {
        if self.lines.is_empty() {
            return Ir::Kept;
        }
        let before = module.attribute(WAITS_ATTRIBUTE).ok().and_then(text::string).unwrap_or_default();
        let lines = StringAttribute::new(context(module), &(before + &self.lines.concat()));
        set_attribute(module, WAITS_ATTRIBUTE, lines.into());
        Ir::Changed
    }
}

/// FNV-1a of a text, as a number above 0.
fn hash(text: &str) -> i64 {
    let bits = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    (bits >> 1).cast_signed().max(1)
}
