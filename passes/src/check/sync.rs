//! Finds signals and waits that do not match, where one kernel shows for sure that they do not. It changes nothing.
//!
//! ```mlir
//! symm.signal set %ctx, %count[%c0], %one, %peer : memref<1xi64>, i64
//! symm.wait %ctx, %count[%c0] ge %eight : memref<1xi64>, i64
//! // remark: the kernel only sets this flag, and to nothing that satisfies the wait; ...
//! ```
//!
//! - **One thread or warp signals for its block** (O3). Every thread writes to a rank, and one thread or warp signals
//!   that rank (a signal, an atomic, a barrier) in a branch or under a mask on the thread's number, without a barrier
//!   of the block in between: nothing releases the writes of the other threads. Use `group block`. An error under
//!   strict.
//! - **A flag that is set is not counted.** Every signal of the kernel to a flag sets a constant, and a wait is for a
//!   constant that none of them satisfies, so it expects a sum. An error under strict.
//! - **Threads that wait for their own warp** (O5). One thread of a warp waits in a branch, with `group thread` or for
//!   a packet, and others send in the other branch. A warp may run the branches one after the other. Never an error.
//!
//! What depends on the values at run time, on other kernels or on the host, `symm-check` finds: a counter that has
//! passed what `eq` waits for, a count that does not say who has come, a race.
//!
//! Limits: signals and waits of one function on one array of flags, which is followed through views. The pass is silent
//! about an array that the function also writes in another way or passes on, and about a flag that is set if another
//! function of the module signals flags of its type; what the host writes between launches does not count. Branches
//! are those of `scf.if`. The pass looks neither at what callers have written, nor at what one thread or warp writes
//! for another, nor at what a function called in the branch releases. Run it after `symm-check-memory-order`, which
//! may make a signal of one thread release.

mod flags;
mod one_thread;
mod progress;

use crate::analysis::MOST_VALUES;
use crate::analysis::order::may_write_heap;
use crate::ir::structure::FUNCTIONS;
use crate::ir::{collect, definition, enclosing};
use crate::pass::{Ir, OptionKind, Pass, PassOption, Values};
use flags::Flags;
use melior::ir::{OperationRef, Value, operation::OperationLike};
use one_thread::OneThread;
use symm_dialect::diagnostic::{Reported, Severity, error, report};
use symm_dialect::ops::SymmOp;

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-check-sync",
    summary: "Find signals and waits of a kernel that do not match (O3)",
    options: &[PassOption {
        name: "strict",
        kind: OptionKind::Bool,
        initial: "false",
        help: "report certain findings as errors instead of remarks",
    }],
    run,
};

fn run(root: OperationRef, options: &Values) -> Result<Ir, Reported> {
    let strict = options.flag("strict");
    let (mut one_thread, mut flags) = (OneThread::new(strict), Flags::default());
    let mut outcome = Ok(());
    for op in collect(root) {
        let symm_op = SymmOp::cast(op);
        if symm_op.is_none() && !may_write_heap(op) {
            continue;
        }
        let Some(function) = enclosing(op, FUNCTIONS) else { continue };
        outcome = outcome.and(symm_op.map_or(Ok(()), |op| one_thread.check(op)));
        symm_op.into_iter().for_each(progress::check);
        flags.note(op, function);
    }
    outcome.and(flags.check(strict)).map(|()| Ir::Kept)
}

/// A finding: a remark, or an error where that is asked for.
fn find<'c: 'a, 'a>(op: OperationRef<'c, 'a>, is_error: bool, message: &str) -> Result<(), Reported> {
    if is_error {
        return Err(error(op, message));
    }
    report(Severity::Remark, op, message);
    Ok(())
}

/// Whether one of the values that a value is made of is as asked.
fn reaches<'c: 'a, 'a>(value: Value<'c, 'a>, is: &dyn Fn(Value<'c, 'a>) -> bool) -> bool {
    fn go<'c: 'a, 'a>(value: Value<'c, 'a>, is: &dyn Fn(Value<'c, 'a>) -> bool, left: &mut u32) -> bool {
        let Some(one_less) = left.checked_sub(1) else { return false };
        *left = one_less;
        is(value) || definition(value).is_some_and(|op| op.operands().any(|operand| go(operand, is, left)))
    }
    go(value, is, &mut MOST_VALUES.clone())
}
