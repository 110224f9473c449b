//! The symm dialect: its registration with MLIR, Rust views of its ops, its verifiers and its folds.
//!
//! The ops are defined in `td/`, the one source of their names, operands, assembly and documentation. `cpp/` is
//! what ODS forces to be C++: registration, and hooks that call `src/hooks.rs`.

// Unsafe code is allowed by name.
#![deny(unsafe_code)]

mod access;
pub mod attributes;
#[expect(unsafe_code, reason = "a function of MLIR that takes a callback")]
pub mod bytecode;
#[expect(unsafe_code, reason = "a question that melior does not ask")]
mod canonicalize;
#[expect(unsafe_code, reason = "a handle that melior has no owner for")]
mod context;
pub mod diagnostic;
#[expect(unsafe_code, reason = "operands are set in groups")]
mod edit;
mod fold;
#[expect(unsafe_code, reason = "the border to C++")]
mod hooks;
pub mod make;
pub mod nesting;
pub mod ops;
#[expect(unsafe_code, reason = "questions about types that melior does not ask")]
pub mod pointer;
#[expect(unsafe_code, reason = "a question about types that melior does not ask")]
pub mod shape;
pub mod symbol;
#[expect(unsafe_code, reason = "MLIR's strings")]
pub mod text;
mod verify;

pub use access::SEGMENTS;
pub use attributes::{
    DEFAULT_TIMEOUT_ATTRIBUTE, ENGINE_ATTRIBUTE, HEAP_SIZE_ATTRIBUTE, HEAP_STRIDE_ATTRIBUTE, NUM_RANKS_ATTRIBUTE,
    NUM_STAGES_ATTRIBUTE, TABLE_IN_HEAP_ATTRIBUTE, WAITS_ATTRIBUTE,
};
pub use context::context;
pub use edit::set_operand_group;
pub use fold::is_current_rank;

use melior::dialect::DialectHandle;
use melior::ir::{
    Attribute, Module,
    attribute::{IntegerAttribute, StringAttribute},
    operation::OperationLike,
    operation::OperationMutLike,
    r#type::IntegerType,
};

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

/// Whether an enclosing module has an attribute.
#[must_use]
pub fn module_has<'c: 'a, 'a>(operation: &impl OperationLike<'c, 'a>, name: &str) -> bool {
    std::iter::successors(operation.parent_operation(), OperationLike::parent_operation)
        .any(|module| module.has_attribute(name))
}

/// The run that a program is compiled for, as far as it is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapLayout {
    /// How many ranks there are.
    pub num_ranks: u32,
    /// Bytes of each rank's heap.
    pub heap_size: u64,
    /// Bytes from each rank's heap to the next one's (rule T5); none if heaps lie anywhere.
    pub heap_stride: Option<u64>,
}

/// What the range of all heaps is aligned to where context tables lie in them: the power of two that it fits into, in
/// bytes; `None` if no address has that many.
#[must_use]
pub fn aligned_range(num_ranks: i64, heap_stride: i64) -> Option<i64> {
    let bytes = u64::try_from(num_ranks.checked_mul(heap_stride)?).ok()?;
    bytes.checked_next_power_of_two()?.try_into().ok()
}

/// Tells a module where it will run.
pub fn set_heap_layout(module: &mut Module, layout: HeapLayout) {
    let context = context(module.context());
    let mut operation = module.as_operation_mut();
    // The program does not choose where tables lie: see `set_table_in_heap`.
    let _ = operation.remove_attribute(TABLE_IN_HEAP_ATTRIBUTE);
    // Nor how ranks are reached.
    let _ = operation.remove_attribute(ENGINE_ATTRIBUTE);
    for (name, width, value) in [
        (NUM_RANKS_ATTRIBUTE, 32, Some(u64::from(layout.num_ranks))),
        (HEAP_SIZE_ATTRIBUTE, 64, Some(layout.heap_size)),
        (HEAP_STRIDE_ATTRIBUTE, 64, layout.heap_stride),
    ] {
        let Some(value) = value else {
            // A missing attribute is the answer.
            let _ = operation.remove_attribute(name);
            continue;
        };
        let value = IntegerAttribute::new(IntegerType::new(context, width).into(), value.cast_signed());
        operation.set_attribute(name, value.into());
    }
}

/// Tells a module of kernels, which knows its layout, that context tables lie in the heaps and these at a multiple of
/// [`aligned_range`]. The table that host functions have lies elsewhere.
pub fn set_table_in_heap(module: &mut Module) {
    let context = context(module.context());
    module.as_operation_mut().set_attribute(TABLE_IN_HEAP_ATTRIBUTE, Attribute::unit(context));
}

/// Tells a module which engine reaches the ranks whose heaps are not mapped (N1).
pub fn set_engine(module: &mut Module, engine: &str) {
    let name = StringAttribute::new(context(module.context()), engine);
    module.as_operation_mut().set_attribute(ENGINE_ATTRIBUTE, name.into());
}
