//! Rejects constant ranks that no run can have (T1), and constant counts of elements below zero.
//!
//! A rank is in [0, `num_ranks`). A constant below zero is an error; so is one that is not below the module's
//! `symm.num_ranks`, if the module fixes it (`symm-run --ranks` does) and the op is not under a condition: a program
//! may ask how many ranks there are. A bulk copy's `count` below zero is an error too.
//!
//! ```mlir
//! %far = arith.constant 7 : i32
//! %q = symm.as_remote %ctx, %p, %far : !llvm.ptr  // error with symm.num_ranks = 4 : i32
//! ```
//!
//! Limits: it sees constants only, and runs before constants are propagated. Loops and branches count as conditions.

use crate::analysis::uniform::is_reached_unconditionally;
use crate::ir::{constant_value, symm_ops};
use crate::pass::{Ir, Pass, Values};
use melior::ir::OperationRef;
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::{NUM_RANKS_ATTRIBUTE, module_integer};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-check-ranks",
    summary: "Reject constant ranks and counts that are out of range (T1)",
    options: &[],
    run,
};

fn run(root: OperationRef, _: &Values) -> Result<Ir, Reported> {
    let mut outcome = Ok(Ir::Kept);
    for op in symm_ops(root) {
        for name in ["rank", "from", "to"] {
            let Some(rank) = op.operand_group(name).first().copied().and_then(constant_value) else { continue };
            let ranks = module_integer(&op.operation(), NUM_RANKS_ATTRIBUTE);
            let too_high = ranks.filter(|ranks| rank >= *ranks && is_reached_unconditionally(op.operation()));
            if rank < 0 || too_high.is_some() {
                let range = too_high.map_or_else(
                    || "[0, num_ranks)".into(),
                    |ranks| format!("[0, {ranks}): this module is for {ranks} of them, as symm.num_ranks says"),
                );
                outcome = Err(error(op.operation(), &format!("T1: rank {rank} out of range {range}")));
            }
        }
        if let Some(count) = op.operand_group("count").first().copied().and_then(constant_value)
            && count < 0
        {
            outcome = Err(error(op.operation(), &format!("copies {count} elements: a count is zero or more")));
        }
    }
    outcome
}
