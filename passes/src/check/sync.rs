//! Finds signals and waits that do not fit each other, as far as one kernel shows it.
//!
//! ```mlir
//! symm.signal add %ctx, %count[%c0], %one, %peer : memref<1xi64>, i64
//! symm.wait %ctx, %count[%c0] eq %eight : memref<1xi64>, i64
//! // remark: a counter that is added to may already be past what 'eq' waits for; made ge
//! ```
//!
//! - **One thread signals for its block** (O3). The writes of a block's other threads are released by nobody when
//!   one thread of it releases (a signal, an atomic, a fence, a barrier) behind a branch on the thread's number, and no
//!   barrier of the block lies in between: a release fence of the block is put in front of the branch, if all threads
//!   get there together and none may have waited on its way, for what only a thread behind the barrier may bring.
//! - **A counter may be past.** `wait eq` on a flag to which this kernel only adds: made `ge`, which holds whenever
//!   `eq` does, where the whole program can be seen to write nothing that takes the flag back, and more than zero is
//!   waited for. Signed comparisons only: an unsigned counter that starts below zero is past everything.
//! - **A flag that is set is not counted.** Where every signal of the kernel to a flag sets a constant and none of
//!   them satisfies a wait for a constant, the wait is for something that is added up.
//! - **A count does not say who.** Where a signal adds to one flag of every rank in turn, a wait in a loop for one
//!   more each time is satisfied by whoever comes first, not by the rank whose data is read next.
//!
//! The first two are repaired with a remark where they can be, the others remarked upon; with `strict=true` all are
//! errors, but for an `eq` that may be meant, which is left as it is with a remark.
//!
//! Limits: signals and waits of one function on one array of flags, which is followed through views. A flag that
//! other kernels signal too may be fine: then the remark is wrong, and nothing is changed but an `eq` to which the
//! program only adds, as far as this module shows it; what the host writes between launches does not count. Branches
//! are those of `scf.if`; neither what callers have written is looked at, nor what a function releases that is called in
//! the branch. Run it behind `symm-check-memory-order`, which may make a signal of one thread release.

mod counter;
mod one_thread;

use crate::ir::{constant_value, definition, enclosing, name, symm_ops};
use crate::order::set_keyword;
use crate::pass::{Ir, Kind, Pass, PassOption, Values};
use counter::Written;
use melior::ir::block::BlockArgument;
use melior::ir::{BlockLike, OperationRef, Type, Value, ValueLike, operation::OperationLike};
use one_thread::OneThread;
use std::cell::OnceCell;
use std::collections::HashMap;
use symm_dialect::diagnostic::{Reported, Severity, error, report};
use symm_dialect::ops::{Comparison, SignalKind, SymmOp, Wait};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-check-sync",
    summary: "Find signals and waits of a kernel that do not fit each other (O3)",
    options: &[PassOption {
        name: "strict",
        kind: Kind::Bool,
        initial: "false",
        help: "report an error instead of a remark",
    }],
    run,
};

const FUNCTIONS: &[&str] = &["gpu.func", "gpu.launch", "func.func"];

/// How many values a value is followed back through.
const MOST_VALUES: u32 = 64;

/// What a kernel does with one array of flags.
#[derive(Default)]
struct Flag<'c, 'a> {
    signals: Vec<Sent<'c, 'a>>,
    waits: Vec<Wait<'c, 'a>>,
}

/// One signal.
struct Sent<'c, 'a> {
    op: OperationRef<'c, 'a>,
    kind: SignalKind,
    indices: Vec<Value<'c, 'a>>,
    value: Value<'c, 'a>,
    rank: Value<'c, 'a>,
}

fn run(root: OperationRef, options: &Values) -> Result<Ir, Reported> {
    let strict = options.flag("strict");
    let mut flags: HashMap<(usize, usize), Flag> = HashMap::new();
    // The order in which the flags are met, so that diagnostics come in the order of the program.
    let mut order = Vec::new();
    let mut one_thread = OneThread::new(strict);
    let mut outcome = Ok(());
    for symm_op in symm_ops(root) {
        let op = symm_op.operation();
        let Some(function) = enclosing(op, FUNCTIONS) else { continue };
        outcome = outcome.and(one_thread.check(symm_op));
        let flag = match symm_op {
            SymmOp::Signal(signal) => signal.flag(),
            SymmOp::PutSignal(put) => put.flag(),
            SymmOp::Wait(wait) => wait.flag(),
            _ => continue,
        };
        let key = (function.to_raw().ptr as usize, array(flag).to_raw().ptr as usize);
        let flag = flags.entry(key).or_insert_with(|| {
            order.push(key);
            Flag::default()
        });
        match symm_op {
            SymmOp::Signal(signal) => {
                let (indices, value, rank) = (signal.indices(), signal.value(), signal.rank());
                flag.signals.push(Sent { op, kind: signal.kind(), indices, value, rank });
            }
            SymmOp::PutSignal(put) => {
                let (indices, value, rank) = (put.indices(), put.value(), put.rank());
                flag.signals.push(Sent { op, kind: put.kind(), indices, value, rank });
            }
            SymmOp::Wait(wait) => flag.waits.push(wait),
            _ => {}
        }
    }
    let written = OnceCell::new();
    let may_be_taken_back = |flag| written.get_or_init(|| Written::new(root)).may_be(flag);
    for flag in order.iter().filter_map(|key| flags.get(key)) {
        for wait in &flag.waits {
            outcome = outcome.and(check_wait(flag, *wait, strict, may_be_taken_back));
        }
    }
    outcome.map(|()| Ir::Changed)
}

/// A finding: an error under `strict`, else a remark with what was done about it.
fn find<'c: 'a, 'a>(op: OperationRef<'c, 'a>, strict: bool, message: &str, done: &str) -> Result<(), Reported> {
    if strict {
        return Err(error(op, message));
    }
    report(Severity::Remark, op, &format!("{message}{done}"));
    Ok(())
}

fn check_wait<'c: 'a, 'a>(
    flag: &Flag<'c, 'a>,
    wait: Wait<'c, 'a>,
    strict: bool,
    may_be_taken_back: impl Fn(Type<'c>) -> bool,
) -> Result<(), Reported> {
    let (signals, op) = (&flag.signals, wait.operation());
    if signals.is_empty() {
        return Ok(());
    }
    let only_counts = signals
        .iter()
        .all(|sent| sent.kind == SignalKind::Add && constant_value(sent.value).is_some_and(|value| value > 0));
    if only_counts && wait.comparison() == Comparison::Eq && !wait.is_unsigned() {
        let message = "a counter that is added to may already be past what 'eq' waits for";
        let is_reset = constant_value(wait.value()).is_some_and(|expected| expected <= 0);
        if is_reset || may_be_taken_back(wait.value().r#type()) {
            report(Severity::Remark, op, &format!("{message}, unless something takes it back in time; left as it is"));
        } else {
            find(op, strict, message, "; made ge")?;
            set_keyword(op, "comparison", Comparison::Ge as i64);
        }
    }
    if let Some(expected) = constant_value(wait.value()) {
        let satisfies = |sent: &Sent| {
            sent.kind == SignalKind::Add || constant_value(sent.value).is_none_or(|value| holds(wait, value, expected))
        };
        if !signals.iter().any(satisfies) {
            let message = "the kernel only sets this flag, and to nothing that satisfies the wait; \
                           a flag that counts is signalled with add";
            return find(op, strict, message, "");
        }
    }
    let shared = signals.iter().any(|sent| {
        let loops = |value: &Value<'c, 'a>| reaches(*value, &|value| is_counter_around(value, sent.op));
        let mine = |value: &Value<'c, 'a>| reaches(*value, &|value| made_by(value, "symm.rank"));
        sent.kind == SignalKind::Add
            && loops(&sent.rank)
            && !sent.indices.iter().any(|index| mine(index) || loops(index))
    });
    let one_more = reaches(wait.value(), &|value| is_counter_around(value, op))
        && !reaches(wait.value(), &|value| made_by(value, "symm.num_ranks") || made_by(value, "arith.muli"))
        && !wait.indices().iter().any(|index| reaches(*index, &|value| is_counter_around(value, op)));
    if shared && one_more {
        let message = "every rank adds to this flag: a count does not say whose data has come; \
                       give each rank a flag of its own";
        return find(op, strict, message, "");
    }
    Ok(())
}

fn holds(wait: Wait, flag: i64, expected: i64) -> bool {
    let unsigned = |value: i64| value.cast_unsigned();
    let order = if wait.is_unsigned() { unsigned(flag).cmp(&unsigned(expected)) } else { flag.cmp(&expected) };
    match wait.comparison() {
        Comparison::Eq => order.is_eq(),
        Comparison::Ne => order.is_ne(),
        Comparison::Lt => order.is_lt(),
        Comparison::Le => order.is_le(),
        Comparison::Gt => order.is_gt(),
        Comparison::Ge => order.is_ge(),
    }
}

/// The array of flags that a flag lies in.
fn array<'c: 'a, 'a>(value: Value<'c, 'a>) -> Value<'c, 'a> {
    let Some(op) = definition(value) else { return value };
    let view = matches!(
        name(op),
        "memref.cast"
            | "memref.subview"
            | "memref.reinterpret_cast"
            | "memref.collapse_shape"
            | "memref.expand_shape"
            | "llvm.getelementptr"
    );
    match op.operands().next() {
        Some(operand) if view => array(operand),
        _ => value,
    }
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

fn made_by(value: Value, op: &str) -> bool {
    definition(value).is_some_and(|definition| name(definition) == op)
}

/// Whether a value is what a loop around `op` counts with.
fn is_counter_around<'c: 'a, 'a>(value: Value<'c, 'a>, op: OperationRef<'c, 'a>) -> bool {
    // Asked first: melior prints what it can't convert.
    if !value.is_block_argument() {
        return false;
    }
    let Ok(argument) = BlockArgument::try_from(value) else { return false };
    let mut inner = op;
    while let Some(around) = enclosing(inner, &["scf.for", "affine.for"]) {
        let body = crate::ir::blocks(around).first().copied();
        if argument.argument_number() == 0
            && body.is_some_and(|body| body.to_raw().ptr == argument.owner().to_raw().ptr)
        {
            return true;
        }
        inner = around;
    }
    false
}
