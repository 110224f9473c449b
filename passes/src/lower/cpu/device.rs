//! Kernels: each becomes a function of its arguments and of where its block lies, and a second one that takes both
//! through memory, as the runtime launches it.

use super::runtime::Runtime;
use crate::ir::{Builder, blocks, collect, enclosing, name, operations};
use crate::lower::address::Descriptor;
use melior::ir::attribute::{FlatSymbolRefAttribute, TypeAttribute};
use melior::ir::operation::{OperationLike, OperationMutLike, OperationRefMut};
use melior::ir::r#type::FunctionType;
use melior::ir::{Attribute, Block, BlockLike, OperationRef, Region, RegionLike, Type, Value, ValueLike};
use std::collections::HashSet;
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::lossy;
use symm_dialect::shape::{Shaped, byte_width, scalar};
use symm_dialect::text::{self, string};

/// Marks a function of a `gpu.module`: its last argument points to the block's coordinates.
const DEVICE: &str = "symm.device";

/// The name of the function that takes a kernel's arguments through memory.
pub fn packed_name(module: &str, kernel: &str) -> String {
    format!("_symm_kernel_{module}_{kernel}")
}

fn flat_name(module: &str, symbol: &str) -> String {
    format!("_symm_device_{module}_{symbol}")
}

fn symbol<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> String {
    op.attribute("sym_name").ok().and_then(string).unwrap_or_default()
}

/// Moves everything out of every `gpu.module` into the module and lowers the ops of the gpu dialect in it.
pub fn lower<'c: 'a, 'a>(root: OperationRef<'c, 'a>, runtime: &Runtime<'c, 'a>) -> Result<(), Reported> {
    for module in operations(runtime.body()) {
        if name(module) == "gpu.module" {
            flatten(module, runtime);
        }
    }
    let functions = operations(runtime.body()).into_iter().filter(|op| op.has_attribute(DEVICE));
    let devices: HashSet<String> = functions.map(symbol).collect();
    let mut outcome = Ok(());
    for op in collect(root) {
        if name(op) == "func.call" {
            pass_coordinates(op, &devices);
        } else if name(op).starts_with("gpu.") {
            outcome = outcome.and(lower_op(op));
        }
    }
    outcome
}

fn flatten<'c: 'a, 'a>(module: OperationRef<'c, 'a>, runtime: &Runtime<'c, 'a>) {
    let module_name = symbol(module);
    let body = blocks(module)[0];
    let symbols: HashSet<String> = operations(body).into_iter().map(symbol).collect();
    for op in collect(module) {
        rename(op, &module_name, &symbols);
    }
    let b = Builder::before(module);
    // A barrier in a function that is no kernel may be any kernel's.
    let has_barrier = |op| collect(op).into_iter().any(|op| name(op) == "symm.barrier");
    let shared_barrier = operations(body).into_iter().any(|op| !is_kernel(op) && has_barrier(op));
    for op in operations(body) {
        if name(op) == "gpu.func" {
            // While it still is there to be seen: launches are lowered after the ops of kernels.
            if shared_barrier || has_barrier(op) {
                runtime.barrier_kernels.borrow_mut().insert(packed_name(&module_name, &symbol(op)));
            }
            flatten_function(op, &module_name);
        } else {
            // SAFETY: the pass owns the module while it runs.
            let mut moved = unsafe { OperationRefMut::from_raw(op.to_raw()) };
            if op.has_attribute("sym_name") {
                moved.set_attribute("sym_name", b.string(&flat_name(&module_name, &symbol(op))));
            }
            moved.move_before(module);
            if name(op) == "func.func" && !blocks(op).is_empty() {
                take_coordinates(op);
            }
        }
    }
    b.erase(module);
}

/// Gives a `func.func` a last argument for the block's coordinates.
fn take_coordinates<'c: 'a, 'a>(function: OperationRef<'c, 'a>) {
    let b = Builder::before(function);
    let ty = function.attribute("function_type").and_then(TypeAttribute::try_from).map(|ty| ty.value());
    let ty = ty.and_then(FunctionType::try_from).expect("a func.func has a function type");
    let mut inputs: Vec<Type> = (0..ty.input_count()).filter_map(|index| ty.input(index).ok()).collect();
    let results: Vec<Type> = (0..ty.result_count()).filter_map(|index| ty.result(index).ok()).collect();
    inputs.push(b.ptr());
    blocks(function)[0].add_argument(b.ptr(), function.location());
    // SAFETY: the pass owns the module while it runs.
    let mut function = unsafe { OperationRefMut::from_raw(function.to_raw()) };
    function.set_attribute("function_type", b.type_attribute(FunctionType::new(b.context, &inputs, &results).into()));
    function.set_attribute(DEVICE, b.unit());
    // Attributes of arguments are one for each; nothing here needs them.
    if function.has_attribute("arg_attrs") {
        let _ = function.remove_attribute("arg_attrs");
    }
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
    let longer = b.op("func.call", &operands, &results, &[("callee", attribute)]);
    let results: Vec<Value> = longer.results().map(Into::into).collect();
    b.replace(call, &results);
}

/// Gives a symbol of a `gpu.module`, or a reference to one, its name in the module around it.
fn rename<'c: 'a, 'a>(op: OperationRef<'c, 'a>, module: &str, symbols: &HashSet<String>) {
    let mlir = crate::ir::context(op);
    let attributes: Vec<_> = op.attributes().collect();
    // SAFETY: the pass owns the module while it runs.
    let mut op = unsafe { OperationRefMut::from_raw(op.to_raw()) };
    for (key, value) in attributes {
        // SAFETY: the context keeps the name.
        let key = unsafe { text::text(key.as_string_ref().to_raw()) };
        let Some(referenced) = text::symbol(value) else { continue };
        if symbols.contains(&referenced) {
            op.set_attribute(&key, FlatSymbolRefAttribute::new(mlir, &flat_name(module, &referenced)).into());
        }
    }
}

/// Whether an op is a `gpu.func` that can be launched.
pub fn is_kernel<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    name(op) == "gpu.func" && (op.has_attribute("gpu.kernel") || op.has_attribute("kernel"))
}

/// Turns a `gpu.func` into functions of the module; what was in workgroup or private memory is on the stack.
fn flatten_function<'c: 'a, 'a>(op: OperationRef<'c, 'a>, module: &str) {
    let kernel = symbol(op);
    let ty = op.attribute("function_type").and_then(TypeAttribute::try_from).expect("a gpu.func has a type").value();
    let ty = FunctionType::try_from(ty).expect("a gpu.func has a function type");
    let arguments: Vec<Type> = (0..ty.input_count()).filter_map(|index| ty.input(index).ok()).collect();
    let results: Vec<Type> = (0..ty.result_count()).filter_map(|index| ty.result(index).ok()).collect();
    let is_kernel = is_kernel(op);

    let entry = blocks(op)[0];
    let top = Builder::before(runtime_anchor(op));
    while entry.argument_count() > arguments.len() {
        let index = entry.argument_count() - 1;
        let buffer = entry.argument(index).expect("counted");
        let b = Builder::at_start(top.context, entry, op.location());
        let stack =
            b.op("memref.alloca", &[], &[buffer.r#type()], &[("operandSegmentSizes", b.parse("array<i32: 0, 0>"))]);
        b.replace_uses(buffer.into(), stack.result(0).expect("one result").into());
        // SAFETY: the argument has no uses left.
        unsafe { entry.erase_argument(index) };
    }
    let mut inputs = arguments.clone();
    entry.add_argument(top.ptr(), op.location());
    inputs.push(top.ptr());
    let region = OperationLike::region(&op, 0).expect("a gpu.func has a body");
    let body = Region::new();
    // SAFETY: `body` takes over the blocks that the erased gpu.func gives up.
    unsafe { mlir_sys::mlirRegionTakeBody(body.to_raw(), region.to_raw()) };
    let name = flat_name(module, &kernel);
    let b = Builder::at(top.context, runtime_anchor(op), op.location());
    let attributes = [
        ("sym_name", b.string(&name)),
        ("function_type", b.type_attribute(FunctionType::new(b.context, &inputs, &results).into())),
        ("sym_visibility", b.string("private")),
        (DEVICE, b.unit()),
    ];
    b.op_with_regions("func.func", &[], &[], &attributes, vec![body]);
    if is_kernel {
        pack(&b, &packed_name(module, &kernel), &name, &arguments, &[], 1);
    }
    b.erase(op);
}

/// The `gpu.module` around an op, in front of which its functions go.
fn runtime_anchor<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> OperationRef<'c, 'a> {
    enclosing(op, &["gpu.module"]).unwrap_or(op)
}

/// Makes `name(args, …)`, which loads the arguments of `callee` from memory, calls it, and stores its results
/// behind the arguments. `extra` pointer arguments are passed on.
pub fn pack<'c>(b: &Builder<'c>, name: &str, callee: &str, arguments: &[Type<'c>], results: &[Type<'c>], extra: usize) {
    let pointer = b.ptr();
    let inputs = vec![pointer; 1 + extra];
    let locations: Vec<_> = inputs.iter().map(|ty| (*ty, b.location())).collect();
    let region = Region::new();
    let block = region.append_block(Block::new(&locations));
    let inner = Builder::at_end(b.context, block, b.location());
    let argument = |index| -> Value<'c, 'c> {
        let argument = block.argument(index).expect("made above");
        // SAFETY: the block lives in the function that is inserted below.
        unsafe { Value::from_raw(argument.to_raw()) }
    };
    let slot = |index: usize| inner.load(inner.byte_offset_constant(argument(0), 8 * index as i64), pointer, &[]);
    let mut operands = Vec::new();
    for (index, ty) in arguments.iter().enumerate() {
        operands.push(inner.cast(inner.load(slot(index), in_memory(&inner, *ty), &packed(&inner, *ty)), *ty));
    }
    operands.extend((1..=extra).map(argument));
    let call = inner.call(callee, &operands, results);
    for (index, ty) in results.iter().enumerate() {
        let result: Value = call.result(index).expect("as many as were asked for").into();
        inner.store(inner.cast(result, in_memory(&inner, *ty)), slot(arguments.len() + index), &packed(&inner, *ty));
    }
    inner.op("func.return", &[], &[], &[]);
    let attributes = [
        ("sym_name", b.string(name)),
        ("function_type", b.type_attribute(FunctionType::new(b.context, &inputs, &[]).into())),
    ];
    b.op_with_regions("func.func", &[], &[], &attributes, vec![region]);
}

/// How an argument is read and written: LLVM would take a vector to be aligned to its size, and in an argument's memory
/// it is not.
pub fn packed<'c>(b: &Builder<'c>, ty: Type<'c>) -> Vec<(&'static str, Attribute<'c>)> {
    let vector = Shaped::vector(ty);
    vector.map(|_| ("alignment", b.integer(64, byte_width(scalar(ty)).cast_signed()))).into_iter().collect()
}

/// The type under which an argument lies in memory: a memref is its descriptor.
pub fn in_memory<'c>(b: &Builder<'c>, ty: Type<'c>) -> Type<'c> {
    if Shaped::memref(ty).is_some() { Descriptor::ty(b, ty) } else { crate::lower::address::data_type(b, ty) }
}

/// A pointer to the coordinates of the block that runs `op`: `[block x, y, z, grid x, y, z]`, `i64` each.
fn coordinates<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<Value<'c, 'a>> {
    let function = enclosing(op, &["func.func"])?;
    if !function.has_attribute(DEVICE) {
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
    let word = |word| coordinate(b, at, word);
    let plane = b.add(b.mul(word(2), word(4)), word(1));
    Some(b.add(b.mul(plane, word(3)), word(0)))
}

fn lower_op<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<(), Reported> {
    let b = Builder::before(op);
    let dimension = || -> i64 {
        let text = op.attribute("dimension").map(|attribute| lossy!("{attribute}")).unwrap_or_default();
        match text.trim_start_matches("#gpu<dim ").trim_end_matches('>') {
            "y" => 1,
            "z" => 2,
            _ => 0,
        }
    };
    let result = match name(op) {
        "gpu.block_id" | "gpu.grid_dim" | "gpu.global_id" => {
            let Some(at) = coordinates(op) else {
                return Err(error(op, "S1: is for functions of a gpu.module"));
            };
            let first = if name(op) == "gpu.grid_dim" { 3 } else { 0 };
            let value = coordinate(&b, at, first + dimension());
            vec![b.value("arith.index_cast", &[value], b.index(), &[])]
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
        "gpu.return" => {
            let operands: Vec<Value> = op.operands().collect();
            b.op("func.return", &operands, &[], &[]);
            Vec::new()
        }
        // The host's ops are lowered with the host functions (host.rs).
        "gpu.launch_func" | "gpu.memcpy" | "gpu.alloc" | "gpu.dealloc" | "gpu.wait" => return Ok(()),
        other => return Err(error(op, &format!("S1: the CPU driver runs blocks of one thread and has no {other}"))),
    };
    b.replace(op, &result);
    Ok(())
}
