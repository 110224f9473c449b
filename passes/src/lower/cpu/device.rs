//! Kernels: each becomes a function of its arguments and of where its block lies, and a second one that takes both
//! through memory, as the runtime launches it.

use super::check;
use super::runtime::Runtime;
use crate::ir::address::{Descriptor, data_type};
use crate::ir::structure::{self, is_repeated};
use crate::ir::{
    Builder, argument, blocks, collect, context, enclosing, erase_argument, is_kernel, mutable, name, operations,
    remove_attribute, set_attribute, signed, symm_ops, take_body, type_attribute,
};
use melior::ir::attribute::{FlatSymbolRefAttribute, IntegerAttribute};
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::r#type::FunctionType;
use melior::ir::{Attribute, Block, BlockLike, OperationRef, Region, RegionLike, Type, Value, ValueLike};
use std::collections::HashSet;
use symm_abi::kernel::{self, GRID_WORD};
use symm_dialect::attributes::DEVICE_ATTRIBUTE;
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::lossy;
use symm_dialect::ops::SymmOp;
use symm_dialect::shape::{Shaped, byte_width, scalar};
use symm_dialect::symbol::{signature, symbol};
use symm_dialect::text;

mod threads;

/// What the names of the device functions that this lowering makes begin with.
pub const DEVICE: &str = "_symm_device_";

fn flat_name(module: &str, symbol: &str) -> String {
    format!("{DEVICE}{module}_{symbol}")
}

/// Moves everything out of every `gpu.module` into the module and lowers the ops of the gpu dialect in it.
pub fn lower<'c: 'a, 'a>(root: OperationRef<'c, 'a>, runtime: &Runtime<'c, 'a>) -> Result<(), Reported> {
    for module in operations(runtime.body()) {
        if name(module) == structure::GPU_MODULE {
            flatten(module, runtime)?;
        }
    }
    let functions = operations(runtime.body()).into_iter().filter(|op| op.has_attribute(DEVICE_ATTRIBUTE));
    let devices: HashSet<String> = functions.filter_map(symbol).collect();
    let mut outcome = Ok(());
    for op in collect(root) {
        if name(op) == structure::CALL {
            pass_coordinates(op, &devices);
        } else if name(op).starts_with("gpu.") {
            outcome = outcome.and(if runtime.check { threads::lower(op, runtime) } else { lower_op(op) });
        }
    }
    outcome
}

/// Erases every `gpu.module`, whose kernels run on a GPU; what launches have to know of them is kept.
pub fn leave_out<'c: 'a, 'a>(runtime: &Runtime<'c, 'a>) {
    for module in operations(runtime.body()) {
        if name(module) == structure::GPU_MODULE {
            runtime.barrier_kernels.borrow_mut().extend(kernels_with(module, is_barrier));
            runtime.waiting_kernels.borrow_mut().extend(kernels_with(module, may_wait));
            Builder::before(module).erase(module);
        }
    }
}

/// Whether an op is the device barrier, for which a run has slots for a limited number of blocks.
fn is_barrier(op: SymmOp) -> bool {
    matches!(op, SymmOp::Barrier(_))
}

/// Whether an op lets a block go on only when another one has done something: it waits, or looks again and again.
fn may_wait(op: SymmOp) -> bool {
    op.waits() || op.polls() && is_repeated(op.operation())
}

/// The kernels of a `gpu.module` that may run such an op, by the name under which they are launched.
fn kernels_with<'c: 'a, 'a>(module: OperationRef<'c, 'a>, is_one: fn(SymmOp) -> bool) -> Vec<String> {
    let module_name = symbol(module).unwrap_or_default();
    let functions = operations(blocks(module)[0]);
    let has_op = |function| symm_ops(function).into_iter().any(is_one);
    // An op in a function that is not a kernel may belong to any kernel.
    let shared = functions.iter().any(|function| !is_kernel(*function) && has_op(*function));
    let with = functions.into_iter().filter(|function| is_kernel(*function) && (shared || has_op(*function)));
    with.map(|kernel| kernel::packed(&module_name, &symbol(kernel).unwrap_or_default())).collect()
}

fn flatten<'c: 'a, 'a>(module: OperationRef<'c, 'a>, runtime: &Runtime<'c, 'a>) -> Result<(), Reported> {
    let mut outcome = Ok(());
    let module_name = symbol(module).unwrap_or_default();
    let body = blocks(module)[0];
    let symbols: HashSet<String> = operations(body).into_iter().filter_map(symbol).collect();
    for op in collect(module) {
        rename(op, &module_name, &symbols);
    }
    let b = Builder::before(module);
    // While they still are there to be seen: launches are lowered after the ops of kernels.
    runtime.barrier_kernels.borrow_mut().extend(kernels_with(module, is_barrier));
    for op in operations(body) {
        if name(op) == structure::GPU_FUNC {
            outcome = outcome.and(flatten_function(op, &module_name, runtime));
        } else {
            if let Some(name) = symbol(op) {
                set_attribute(op, "sym_name", b.string(&flat_name(&module_name, &name)));
            }
            mutable(op).move_before(module);
            if name(op) == structure::FUNC && !blocks(op).is_empty() {
                take_coordinates(op);
            }
        }
    }
    b.erase(module);
    outcome
}

/// Gives a `func.func` a last argument for the block's coordinates.
fn take_coordinates<'c: 'a, 'a>(function: OperationRef<'c, 'a>) {
    let b = Builder::before(function);
    let (mut inputs, results) = signature(function);
    inputs.push(b.ptr());
    blocks(function)[0].add_argument(b.ptr(), function.location());
    let ty = type_attribute(FunctionType::new(b.context, &inputs, &results));
    set_attribute(function, "function_type", ty);
    set_attribute(function, DEVICE_ATTRIBUTE, b.unit());
    // Attributes of arguments are one for each; nothing here needs them.
    remove_attribute(function, "arg_attrs");
}

/// Hands the coordinates on to the functions of a `gpu.module` that a function of it calls.
fn pass_coordinates<'c: 'a, 'a>(call: OperationRef<'c, 'a>, devices: &HashSet<String>) {
    let callee = call.attribute("callee").ok().and_then(text::symbol).unwrap_or_default();
    let Some(at) = coordinates(call).filter(|_| devices.contains(&callee)) else {
        return;
    };
    let b = Builder::before(call);
    let operands: Vec<Value> = call.operands().chain([at]).collect();
    let results: Vec<Type> = call.results().map(|result| result.r#type()).collect();
    let attribute = call.attribute("callee").expect("a call has a callee");
    let longer = b.op(structure::CALL, &operands, &results, &[("callee", attribute)]);
    let results: Vec<Value> = longer.results().map(Into::into).collect();
    b.replace(call, &results);
}

/// Gives a symbol of a `gpu.module`, or a reference to one, its name in the module around it.
fn rename<'c: 'a, 'a>(op: OperationRef<'c, 'a>, module: &str, symbols: &HashSet<String>) {
    let mlir = context(op);
    let attributes: Vec<_> = op.attributes().collect();
    for (key, value) in attributes {
        let key = text::identifier(key);
        let Some(referenced) = text::symbol(value) else { continue };
        if symbols.contains(&referenced) {
            set_attribute(op, &key, FlatSymbolRefAttribute::new(mlir, &flat_name(module, &referenced)).into());
        }
    }
}

/// Turns a `gpu.func` into functions of the module; what was in workgroup or private memory is on the stack.
fn flatten_function<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    module: &str,
    runtime: &Runtime<'c, 'a>,
) -> Result<(), Reported> {
    let kernel = symbol(op).unwrap_or_default();
    let (arguments, results) = signature(op);
    let is_kernel = is_kernel(op);

    let entry = blocks(op)[0];
    let workgroup = op.attribute("workgroup_attributions").and_then(IntegerAttribute::try_from);
    let workgroup = workgroup.map_or(0, |count| usize::try_from(count.value()).unwrap_or(0));
    let top = Builder::before(runtime_anchor(op));
    while entry.argument_count() > arguments.len() {
        let buffer = entry.argument(entry.argument_count() - 1).expect("counted");
        let b = Builder::at_start(top.context, entry, op.location());
        let position = entry.argument_count() - 1 - arguments.len();
        let memory = if runtime.check && position < workgroup {
            if !is_kernel {
                return Err(error(op, "S1: symm-check supports shared memory only in kernels"));
            }
            check::shared(&b, runtime, op, (signed(position), buffer.r#type()))?
        } else {
            let sizes = [("operandSegmentSizes", b.parse("array<i32: 0, 0>"))];
            b.value("memref.alloca", &[], buffer.r#type(), &sizes)
        };
        b.replace_uses(buffer.into(), memory);
        erase_argument(buffer);
    }
    let mut inputs = arguments.clone();
    entry.add_argument(top.ptr(), op.location());
    inputs.push(top.ptr());
    let body = take_body(op);
    let name = flat_name(module, &kernel);
    let b = Builder::at(top.context, runtime_anchor(op), op.location());
    let attributes = [
        ("sym_name", b.string(&name)),
        ("function_type", type_attribute(FunctionType::new(b.context, &inputs, &results))),
        ("sym_visibility", b.string("private")),
        (DEVICE_ATTRIBUTE, b.unit()),
    ];
    b.op_with_regions(structure::FUNC, &[], &[], &attributes, vec![body]);
    if is_kernel {
        pack(&b, &kernel::packed(module, &kernel), &name, &arguments, &[], 1);
    }
    b.erase(op);
    Ok(())
}

/// The `gpu.module` around an op, before which its functions go.
fn runtime_anchor<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> OperationRef<'c, 'a> {
    enclosing(op, &[structure::GPU_MODULE]).unwrap_or(op)
}

/// Makes `name(args, …)`, which loads the arguments of `callee` from memory, calls it, and stores its results
/// after the arguments. `extra` pointer arguments are passed on.
pub fn pack<'c>(b: &Builder<'c>, name: &str, callee: &str, arguments: &[Type<'c>], results: &[Type<'c>], extra: usize) {
    let pointer = b.ptr();
    let inputs = vec![pointer; 1 + extra];
    let locations: Vec<_> = inputs.iter().map(|ty| (*ty, b.location())).collect();
    let region = Region::new();
    let block = region.append_block(Block::new(&locations));
    let inner = Builder::at_end(b.context, block, b.location());
    let slots = argument(block, 0);
    let slot = |index| inner.load(inner.byte_offset_constant(slots, 8 * signed(index)), pointer, &[]);
    let mut operands = Vec::new();
    for (index, ty) in arguments.iter().enumerate() {
        operands.push(inner.cast(inner.load(slot(index), in_memory(&inner, *ty), &packed(&inner, *ty)), *ty));
    }
    operands.extend((1..=extra).map(|index| argument(block, index)));
    let call = inner.call(callee, &operands, results);
    for (index, ty) in results.iter().enumerate() {
        let result: Value = call.result(index).expect("as many as were asked for").into();
        inner.store(inner.cast(result, in_memory(&inner, *ty)), slot(arguments.len() + index), &packed(&inner, *ty));
    }
    inner.op(structure::RETURN, &[], &[], &[]);
    let attributes =
        [("sym_name", b.string(name)), ("function_type", type_attribute(FunctionType::new(b.context, &inputs, &[])))];
    b.op_with_regions(structure::FUNC, &[], &[], &attributes, vec![region]);
}

/// How an argument is read and written: LLVM would take a vector to be aligned to its size, and in an argument's memory
/// it is not.
pub fn packed<'c>(b: &Builder<'c>, ty: Type<'c>) -> Vec<(&'static str, Attribute<'c>)> {
    let vector = Shaped::vector(ty);
    vector.map(|_| ("alignment", b.integer(64, byte_width(scalar(ty)).cast_signed()))).into_iter().collect()
}

/// The type under which an argument lies in memory: a memref is its descriptor.
pub fn in_memory<'c>(b: &Builder<'c>, ty: Type<'c>) -> Type<'c> {
    if Shaped::memref(ty).is_some() { Descriptor::ty(b, ty) } else { data_type(b, ty) }
}

/// A pointer to the coordinates of the block that runs `op`: [`symm_abi::kernel::Coords`].
fn coordinates<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<Value<'c, 'a>> {
    let function = enclosing(op, &[structure::FUNC])?;
    if !function.has_attribute(DEVICE_ATTRIBUTE) {
        return None;
    }
    let entry = blocks(function).first().copied()?;
    Some(entry.argument(entry.argument_count() - 1).ok()?.into())
}

fn coordinate<'c>(b: &Builder<'c>, coordinates: Value<'c, '_>, word: i64) -> Value<'c, 'c> {
    b.load(
        b.byte_offset_constant(coordinates, 8 * word),
        b.int(64),
        &[("invariant", b.unit()), ("alignment", b.integer(64, 8))],
    )
}

/// The number of the block that runs `op`, `i64`; `None` outside of a kernel.
pub fn linear_block<'c: 'a, 'a>(b: &Builder<'c>, op: OperationRef<'c, 'a>) -> Option<Value<'c, 'c>> {
    let at = coordinates(op)?;
    let block = |dimension| coordinate(b, at, dimension);
    let grid = |dimension| coordinate(b, at, signed(GRID_WORD) + dimension);
    let plane = b.add(b.mul(block(2), grid(1)), block(1));
    Some(b.add(b.mul(plane, grid(0)), block(0)))
}

/// The dimension that an op asks for.
fn dimension(op: OperationRef) -> i64 {
    let text = op.attribute("dimension").map(|attribute| lossy!("{attribute}")).unwrap_or_default();
    match text.trim_start_matches("#gpu<dim ").trim_end_matches('>') {
        "y" => 1,
        "z" => 2,
        _ => 0,
    }
}

fn lower_op<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<(), Reported> {
    let b = Builder::before(op);
    let result = match name(op) {
        "gpu.block_id" | "gpu.grid_dim" | "gpu.global_id" => {
            let Some(at) = coordinates(op) else {
                return Err(error(op, "S1: is for functions of a gpu.module"));
            };
            let first = if name(op) == "gpu.grid_dim" { signed(GRID_WORD) } else { 0 };
            let value = coordinate(&b, at, first + dimension(op));
            vec![b.as_index(value)]
        }
        "gpu.thread_id" | "gpu.lane_id" | "gpu.subgroup_id" | "gpu.cluster_block_id" => vec![b.index_constant(0)],
        "gpu.block_dim" | "gpu.num_subgroups" | "gpu.subgroup_size" | "gpu.cluster_dim_blocks" => {
            vec![b.index_constant(1)]
        }
        "gpu.all_reduce" | "gpu.subgroup_reduce" if op.attribute("op").is_ok() => {
            let value = op.operand(0).expect("it reduces one value");
            vec![b.cast(value, value.r#type())]
        }
        "gpu.barrier" => Vec::new(),
        structure::GPU_RETURN => {
            let operands: Vec<Value> = op.operands().collect();
            b.op(structure::RETURN, &operands, &[], &[]);
            Vec::new()
        }
        // The host's ops are lowered with the host functions (host.rs).
        structure::LAUNCH_FUNC | "gpu.memcpy" | "gpu.alloc" | "gpu.dealloc" | "gpu.wait" => return Ok(()),
        other => return Err(error(op, &format!("S1: the CPU driver runs blocks of one thread and has no {other}"))),
    };
    b.replace(op, &result);
    Ok(())
}
