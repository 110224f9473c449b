//! The symm dialect: its registration with MLIR, Rust views of its ops, its verifiers and its folds.
//!
//! The ops are defined in `td/`, the one source of their names, operands, assembly and documentation. `cpp/` is
//! what ODS forces to be C++: registration, and hooks that call [`hooks`].

mod access;
mod canonicalize;
mod context;
pub mod diagnostic;
mod edit;
mod fold;
mod hooks;
pub mod ops;
pub mod pointer;
pub mod shape;
pub mod text;
mod verify;

pub use context::context;
pub use edit::set_operand_group;
pub use fold::is_current_rank;

use melior::dialect::DialectHandle;
use melior::ir::{Module, attribute::IntegerAttribute, operation::OperationLike, operation::OperationMutLike, r#type::IntegerType};

/// The module attribute that fixes the number of ranks (`i32`).
pub const NUM_RANKS_ATTRIBUTE: &str = "symm.num_ranks";

/// The module attribute that says the heaps lie at a fixed distance from each other (`i64`, bytes; rule T5).
pub const HEAP_STRIDE_ATTRIBUTE: &str = "symm.heap_stride";

/// The module attribute that says how large each heap is (`i64`, bytes), for bounds checks.
pub const HEAP_SIZE_ATTRIBUTE: &str = "symm.heap_size";

/// The handle with which the dialect is registered in a context.
#[must_use]
pub fn handle() -> DialectHandle {
    hooks::dialect_handle()
}

/// An integer attribute of the closest enclosing module that has it.
#[must_use]
pub fn module_integer<'c: 'a, 'a>(operation: &impl OperationLike<'c, 'a>, name: &str) -> Option<i64> {
    let mut parent = operation.parent_operation();
    while let Some(operation) = parent {
        if let Some(value) = access::integer(operation, name) {
            return Some(value);
        }
        parent = operation.parent_operation();
    }
    None
}

/// Fixes the number of ranks and, if given, the distance between their heaps in bytes.
pub fn set_world(module: &mut Module, num_ranks: u32, heap_stride: Option<u64>) {
    let context = context(module.context());
    let mut operation = module.as_operation_mut();
    let ranks = IntegerAttribute::new(IntegerType::new(context, 32).into(), i64::from(num_ranks));
    operation.set_attribute(NUM_RANKS_ATTRIBUTE, ranks.into());
    if let Some(stride) = heap_stride {
        let stride = IntegerAttribute::new(IntegerType::new(context, 64).into(), stride.cast_signed());
        operation.set_attribute(HEAP_STRIDE_ATTRIBUTE, stride.into());
    }
}
