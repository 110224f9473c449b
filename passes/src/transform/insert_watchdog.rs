//! Gives every wait that has no timeout a deadline, after which it reports instead of hanging.
//!
//! The report (`symm.fault`) says which rank waits where, on which flag, what it saw and what it expected. Waits that
//! have a timeout of their own stay as they are.
//!
//! ```mlir
//! symm.wait %ctx, %flag[%i] ge %v : memref<4xi64>, i64
//! ```
//!
//! becomes
//!
//! ```mlir
//! %deadline = arith.constant 10000000000 : i64
//! %seen = symm.wait %ctx, %flag[%i] ge %v timeout %deadline : memref<4xi64>, i64 -> i1
//! %late = arith.xori %seen, %true : i1
//! scf.if %late {
//!   …                                     // %saw = the flag's value
//!   symm.fault %ctx, "wait on heap offset {}: saw {}, expected ge {}"(%offset, %saw, %v) : i64, i64, i64
//! }
//! ```
//!
//! Limits: the deadline is for each wait, on the device's clock; a `symm.barrier` has none.

use crate::ir::address;
use crate::ir::{Builder, collect};
use crate::pass::{Ir, Kind, Pass, PassOption, Values};
use melior::ir::{OperationRef, Value, ValueLike, operation::OperationLike};
use symm_dialect::ops::{SymmOp, Wait};
use symm_dialect::pointer::Pointer;
use symm_dialect::shape::byte_width;

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-insert-watchdog",
    summary: "Report a wait that is not over by a deadline instead of hanging",
    options: &[PassOption {
        name: "timeout-ms",
        kind: Kind::Number,
        initial: "10000",
        help: "how long a wait may take, in milliseconds",
    }],
    run: |root, options| Ok(run(root, options)),
};

fn run(root: OperationRef, options: &Values) -> Ir {
    let nanoseconds = options.number("timeout-ms").saturating_mul(1_000_000);
    for operation in collect(root) {
        if let Some(SymmOp::Wait(wait)) = SymmOp::cast(operation) {
            let is_memory = matches!(Pointer::of(wait.flag().r#type()), Some(Pointer::Llvm | Pointer::MemRef(_)));
            if wait.timeout().is_none() && is_memory {
                watch(wait, nanoseconds);
            }
        }
    }
    Ir::Changed
}

fn watch<'c: 'a, 'a>(wait: Wait<'c, 'a>, nanoseconds: i64) {
    let operation = wait.operation();
    let b = Builder::before(operation);
    let timeout = b.i64(nanoseconds);
    let indices = wait.indices();
    let segments = format!("array<i32: 1, 1, {}, 1, 1>", indices.len());
    let operands: Vec<Value> =
        [&[wait.ctx(), wait.flag()], indices.as_slice(), &[wait.value()], &[b.cast(timeout, b.int(64))]].concat();
    let mut attributes: Vec<(&str, _)> = vec![("operandSegmentSizes", b.parse(&segments))];
    for name in ["is_unsigned", "comparison", "sem", "scope", "group"] {
        if let Ok(value) = operation.attribute(name) {
            attributes.push((name, value));
        }
    }
    let seen = b.value("symm.wait", &operands, b.int(1), &attributes);
    b.when(b.not(seen), |b| {
        let ty = wait.value().r#type();
        let flag = address::element(b, wait.flag(), &indices);
        let alignment = b.integer(64, byte_width(ty).cast_signed());
        let saw = b.load(flag, ty, &[("volatile_", b.unit()), ("alignment", alignment)]);
        let me = b.value("symm.rank", &[wait.ctx()], b.int(32), &[]);
        let base = b.value("symm.heap_base", &[wait.ctx(), me], b.ptr(), &[]);
        let address = |pointer| b.value("llvm.ptrtoint", &[pointer], b.int(64), &[]);
        let offset = b.binary("arith.subi", address(flag), address(base));
        let message = format!("wait on heap offset {{}}: saw {{}}, expected {} {{}}", wait.comparison().keyword());
        let values: Vec<Value> = vec![wait.ctx(), b.cast(offset, b.int(64)), saw, wait.value()];
        b.op("symm.fault", &values, &[], &[("message", b.string(&message))]);
    });
    b.replace(operation, &[]);
}
