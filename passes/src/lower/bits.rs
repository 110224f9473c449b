//! Loads bits as bytes, in a GPU's code in LLVM's dialect.
//!
//! The NVPTX back end of LLVM 22 gives a load of one bit no place in the order of its block: it goes past barriers,
//! fences and stores, and vanishes where nothing needs the bit, be it volatile.
//!
//! ```mlir
//! %bit = llvm.load volatile %p : !llvm.ptr -> i1
//! ```
//!
//! becomes
//!
//! ```mlir
//! %byte = llvm.load volatile %p : !llvm.ptr -> i8
//! %bit = llvm.trunc %byte : i8 to i1
//! ```
//!
//! Limits: functions of a `gpu.module`; bits in structures stay as they are.

use crate::ir::{Builder, name, select};
use crate::pass::{Ir, Pass};
use melior::ir::{OperationRef, Type, TypeLike, Value, ValueLike, operation::OperationLike};
use symm_dialect::shape::{Shaped, integer_width, scalar};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-load-bits-as-bytes",
    summary: "Load bits as bytes, which the NVPTX back end keeps in order",
    options: &[],
    run: |root, _| Ok(run(root)),
};

fn run(root: OperationRef) -> Ir {
    let mut outcome = Ir::Kept;
    for module in select(root, |op| (name(op) == "gpu.module").then_some(op)) {
        for load in select(module, |op| is_load_of_bit(op).then_some(op)) {
            load_byte(load);
            outcome = Ir::Changed;
        }
    }
    outcome
}

fn is_load_of_bit<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    name(op) == "llvm.load" && op.results().all(|result| is_bit(result.r#type()))
}

/// Whether LLVM makes one bit of a value: a vector of one is a scalar to it.
fn is_bit(ty: Type) -> bool {
    let is_one = |vector: Shaped| vector.dimensions().iter().all(|size| *size == Some(1));
    integer_width(scalar(ty)) == Some(1) && Shaped::vector(ty).is_none_or(is_one)
}

fn load_byte<'c: 'a, 'a>(load: OperationRef<'c, 'a>) {
    let b = Builder::before(load);
    // A copy has every attribute of the load.
    let byte: Value = b.copy(load).result(0).expect("a load has a result").into();
    let ty = byte.r#type();
    byte.set_type(b.int(8));
    let bit = b.value("llvm.trunc", &[byte], b.int(1), &[]);
    b.replace(load, &[if ty.is_vector() { b.value("llvm.bitcast", &[bit], ty, &[]) } else { bit }]);
}
