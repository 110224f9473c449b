//! What the passes about memory order share: what may lie between two operations, and changing their order.

use super::accesses::{self, Does};
use crate::ir::address::{PRIVATE, SHARED};
use crate::ir::triton::moves;
use crate::ir::{constant_value, context, definition, name, owner, set_attribute};
use melior::Context;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::block::BlockArgument;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, BlockLike, OperationRef, Value, ValueLike};
use symm_dialect::lossy;
use symm_dialect::ops::{Group, Order, Pointing, SymmOp};
use symm_dialect::pointer::{Pointer, is_block_memory};

/// Whether an operation touches no memory and waits for nobody, whatever its operands are: what lies between two
/// operations that follow each other directly. An operation that is not known here does.
pub fn is_quiet<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    if let Some(op) = SymmOp::cast(op) {
        return op.is_pure();
    }
    let name = name(op);
    let (dialect, rest) = name.split_once('.').unwrap_or_default();
    match dialect {
        "arith" | "complex" | "index" | "math" | "ub" => true,
        "affine" => matches!(rest, "apply" | "max" | "min" | "yield"),
        "builtin" => rest == "unrealized_conversion_cast",
        "gpu" => {
            matches!(rest, "thread_id" | "block_id" | "block_dim" | "grid_dim" | "global_id" | "lane_id")
                || matches!(rest, "subgroup_id" | "subgroup_size" | "num_subgroups")
        }
        "llvm" => {
            matches!(rest, "getelementptr" | "addrspacecast" | "ptrtoint" | "inttoptr")
                || matches!(rest, "mlir.constant" | "mlir.zero" | "mlir.undef" | "mlir.poison" | "mlir.addressof")
        }
        "memref" => {
            matches!(rest, "cast" | "subview" | "reinterpret_cast" | "dim" | "memory_space_cast" | "view")
                || matches!(rest, "collapse_shape" | "expand_shape" | "extract_strided_metadata")
                || matches!(rest, "extract_aligned_pointer_as_index" | "get_global")
        }
        "scf" => matches!(rest, "yield" | "condition"),
        "tt" => {
            matches!(rest, "addptr" | "splat" | "broadcast" | "expand_dims" | "make_range" | "get_program_id")
                || matches!(rest, "get_num_programs" | "bitcast" | "int_to_ptr" | "ptr_to_int" | "fp_to_fp" | "clampf")
                || matches!(rest, "trans" | "reshape" | "join" | "split" | "cat" | "reduce" | "reduce.return")
        }
        "ttg" => rest == "convert_layout",
        _ => false,
    }
}

/// Whether an op of another dialect reads memory and writes none.
pub fn only_reads(name: &str) -> bool {
    accesses::of(name).is_some_and(|access| access.does == Does::Read) || is_bulk_load(name)
}

/// Whether an op of another dialect reads memory that another rank may write, and writes none.
pub fn only_reads_heap<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    only_reads(name(op)) && !is_of_own_memory(op)
}

/// Whether an op of another dialect may write memory that another rank may see, or have it written, apart from what its
/// regions hold. An op that is not known does.
pub fn may_write_heap<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let writes_its_own = || is_write(name(op)) && is_of_own_memory(op);
    !only_reads(name(op)) && !is_quiet(op) && !touches_no_heap(op) && !writes_its_own()
}

/// Whether an op of another dialect is known to write through its pointers.
pub fn is_write(name: &str) -> bool {
    accesses::of(name).is_some_and(|access| access.does != Does::Read)
}

/// Whether all memory that an op is given is the thread's or the block's own.
fn is_of_own_memory<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let mut pointers = op.operands().filter(|operand| Pointer::of(operand.r#type()).is_some()).peekable();
    pointers.peek().is_some() && pointers.all(is_own_memory)
}

/// How many views an array is followed back through.
const MOST_VIEWS: u32 = 64;

/// The array that a pointer points into.
pub fn array<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> Value<'c, 'a> {
    let mut array = pointer;
    for _ in 0..MOST_VIEWS {
        let view = definition(array).filter(|op| {
            matches!(name(*op), "memref.cast" | "memref.subview" | "memref.reinterpret_cast" | "llvm.getelementptr")
                || matches!(name(*op), "memref.collapse_shape" | "memref.expand_shape" | "memref.view")
                || name(*op) == "memref.extract_strided_metadata"
                || matches!(name(*op), "tt.addptr" | "tt.splat" | "tt.broadcast")
        });
        let Some(whole) = view.and_then(|op| op.operands().next()) else { break };
        array = whole;
    }
    array
}

/// Whether no other rank sees the memory that a pointer points to.
pub fn is_own_memory<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> bool {
    let array = array(pointer);
    let ty = array.r#type();
    is_block_memory(ty)
        || matches!(Pointer::of(ty), Some(Pointer::Llvm))
            && [SHARED, PRIVATE].map(u64::from).contains(&Pointer::address_space(ty))
        || definition(array).is_some_and(|op| matches!(name(op), "memref.alloca" | "llvm.alloca"))
}

/// Whether an op of another dialect that is not a load touches no memory that another rank may see, apart from what its
/// regions hold. An op that is not known here does.
pub fn touches_no_heap<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let name = name(op);
    let (dialect, rest) = name.split_once('.').unwrap_or_default();
    match dialect {
        // Triton's dialects for GPUs are about shared and tensor memory.
        "cf" | "scf" | "ttg" => true,
        "affine" => matches!(rest, "for" | "if" | "parallel"),
        "func" => matches!(rest, "return" | "constant"),
        "gpu" => {
            matches!(rest, "return" | "launch" | "terminator" | "barrier" | "shuffle" | "all_reduce" | "yield")
                || matches!(rest, "subgroup_reduce" | "printf")
        }
        "llvm" => {
            matches!(rest, "return" | "br" | "cond_br" | "switch" | "unreachable" | "alloca")
                || matches!(rest, "extractvalue" | "insertvalue" | "intr.assume" | "intr.prefetch")
                || matches!(rest, "intr.lifetime.start" | "intr.lifetime.end" | "intr.experimental.noalias.scope.decl")
        }
        "memref" => {
            matches!(rest, "alloc" | "alloca" | "dealloc" | "alloca_scope" | "alloca_scope.return" | "prefetch")
                || matches!(rest, "assume_alignment")
        }
        "vector" => !is_write(name),
        "tt" => {
            matches!(rest, "return" | "dot" | "dot_scaled" | "scan" | "scan.return" | "histogram" | "gather")
                || matches!(rest, "unsplat" | "mulhiui" | "precise_sqrt" | "precise_divf" | "print" | "assert")
                || matches!(rest, "make_tensor_ptr" | "make_tensor_descriptor" | "advance")
                || matches!(rest, "elementwise_inline_asm" | "extern_elementwise") && is_pure(op)
        }
        "ttng" => !is_bulk_store(name),
        _ => false,
    }
}

/// Whether a Triton op says of its text or its callee that it does nothing but compute.
fn is_pure<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    op.attribute("pure").is_ok_and(|pure| pure.to_string() == "true")
}

/// The group whose threads an op of another dialect lets on when the others of the group are there too.
pub fn barrier(name: &str) -> Option<Group> {
    match name {
        "nvvm.bar.warp.sync" => Some(Group::Warp),
        "gpu.barrier" | "gpu.all_reduce" | "nvvm.barrier" | "nvvm.barrier0" | "rocdl.barrier" | "rocdl.s.barrier" => {
            Some(Group::Block)
        }
        _ => None,
    }
}

/// Whether two values are one, or equal constants.
pub fn same<'c: 'a, 'a>(one: Value<'c, 'a>, other: Value<'c, 'a>) -> bool {
    one == other
        || (one.r#type() == other.r#type()
            && constant_value(one).is_some()
            && constant_value(one) == constant_value(other))
}

/// The weakest order that is as strong as both.
pub fn join(one: Order, other: Order) -> Order {
    match (one.releases() || other.releases(), one.acquires() || other.acquires()) {
        (false, false) => Order::Relaxed,
        (false, true) => Order::Acquire,
        (true, false) => Order::Release,
        (true, true) => Order::AcqRel,
    }
}

/// The number of a keyword as the dialect's attributes hold it.
pub fn keyword(context: &Context, value: i64) -> Attribute<'_> {
    IntegerAttribute::new(IntegerType::new(context, 32).into(), value).into()
}

/// Sets a keyword attribute of an operation.
pub fn set_keyword<'c: 'a, 'a>(op: OperationRef<'c, 'a>, attribute: &str, value: i64) {
    set_attribute(op, attribute, keyword(context(op), value));
}

/// Whether a Triton op hands writes of global memory to the GPU's engine for tensors (TMA): they are done later,
/// and not by the thread.
pub fn is_bulk_store(name: &str) -> bool {
    matches!(name, "tt.descriptor_store" | "tt.descriptor_scatter" | "tt.descriptor_reduce")
        || matches!(name, "ttng.async_tma_copy_local_to_global" | "ttng.async_tma_scatter" | "ttng.async_tma_reduce")
}

/// Whether a Triton op has that engine read global memory.
pub fn is_bulk_load(name: &str) -> bool {
    matches!(name, "tt.descriptor_load" | "tt.descriptor_gather")
        || matches!(name, "ttng.async_tma_copy_global_to_local" | "ttng.async_tma_gather")
}

/// Whether a pointer has been made one to another rank's memory, as far as that can be seen.
pub fn is_remote<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> bool {
    let Some(op) = definition(pointer) else { return carried_from(pointer).is_some_and(is_remote) };
    match SymmOp::cast(op).map(SymmOp::pointing) {
        Some(Some(Pointing::AsRemote(_))) => true,
        Some(Some(Pointing::Alloc(_) | Pointing::HeapBase(_)) | None) => false,
        None => moves(name(op)) && op.operands().next().is_some_and(is_remote),
    }
}

/// What a loop starts with, of a value that it carries around.
fn carried_from<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let argument = value.is_block_argument().then(|| BlockArgument::try_from(value).ok())??;
    let around = owner(argument).parent_operation().filter(|op| name(*op) == "scf.for")?;
    around.operands().nth(2 + argument.argument_number()).filter(|_| argument.argument_number() > 0)
}

/// Triton's number of the cache modifier `cv`, as its attribute is printed.
const PAST_CACHES: &str = "7 : i32";

/// Whether a Triton load is made where and when the program says, past the caches: volatile, or `cv`.
pub fn is_volatile<'c: 'a, 'a>(load: OperationRef<'c, 'a>) -> bool {
    let text = |name| lossy_attribute(load, name);
    text("isVolatile") == "true" || text("cache") == PAST_CACHES || text("cachePolicy").contains("cache_modifier = cv")
}

fn lossy_attribute<'c: 'a, 'a>(op: OperationRef<'c, 'a>, name: &str) -> String {
    op.attribute(name).map_or_else(|_| String::new(), |attribute| lossy!("{attribute}"))
}
