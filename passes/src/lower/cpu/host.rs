//! Host functions: symmetric memory, launches, copies, checks, and the entries that `symm-run` calls.

use super::data::context_pointer;
use super::device::{in_memory, pack, packed};
use super::runtime::{Runtime, stack, words};
use crate::ir::address::{Descriptor, as_word, bytes, is_contiguous, word_kind};
use crate::ir::{
    Builder, blocks, context, enclosing, is_kernel, name, operations, remove_attribute, set_attribute, structure,
};
use crate::lower::bulk::{self, End, Run};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::attribute::DenseI32ArrayAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::{FunctionType, ShapedTypeLike};
use melior::ir::{Attribute, OperationRef, Type, TypeLike, Value, ValueLike};
use symm_abi::functions::{self, Function};
use symm_abi::kernel::{self, Argument, Kinds};
use symm_dialect::attributes::ENTRY_ATTRIBUTE;
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::lossy;
use symm_dialect::ops::{Alloc, BarrierAll, Check, Fault, Free, Print};
use symm_dialect::pointer::{is_llvm_pointer, layout};
use symm_dialect::shape::{Shaped, byte_width, integer_width, is_data, scalar as scalar_of};
use symm_dialect::symbol::{signature, symbol};
use symm_dialect::text::{nested_symbol, string};

/// Finds the functions that get an entry, while their first argument still is a `!symm.ctx`; S1 if they or a kernel
/// take or return what can't lie in memory.
pub fn check_entries<'c: 'a, 'a>(root: OperationRef<'c, 'a>) -> Result<(), Reported> {
    let ctx = Type::parse(context(root), "!symm.ctx").expect("the dialect is registered");
    let mut outcome = Ok(());
    for op in operations(blocks(root)[0]) {
        if name(op) == structure::GPU_MODULE {
            outcome = outcome.and(check_name(op));
            for function in operations(blocks(op)[0]) {
                outcome = outcome.and(check_name(function));
                if is_kernel(function) {
                    outcome = outcome.and(check_types(function, ctx));
                }
            }
        }
        let private =
            op.attribute("sym_visibility").ok().and_then(string).is_some_and(|visibility| visibility != "public");
        let declaration = blocks(op).is_empty();
        if name(op) != structure::FUNC || private || declaration {
            continue;
        }
        if signature(op).0.first() == Some(&ctx) {
            outcome = outcome.and(check_name(op)).and(check_types(op, ctx));
            set_attribute(op, ENTRY_ATTRIBUTE, Attribute::unit(context(root)));
        }
    }
    outcome
}

/// Names are put together from names: what is not UTF-8 in them, as bytecode may have it, would be lost.
fn check_name<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<(), Reported> {
    let name = symbol(op).unwrap_or_default();
    if name.contains('\u{fffd}') {
        return Err(error(op, &format!("S1: has a name that is not UTF-8: {name}")));
    }
    Ok(())
}

/// Arguments and results go through memory: each is a scalar, a vector of one dimension, a pointer or a memref.
fn check_types<'c: 'a, 'a>(function: OperationRef<'c, 'a>, ctx: Type<'c>) -> Result<(), Reported> {
    let (inputs, results) = signature(function);
    let has_form = |ty: Type<'c>| {
        let vector = Shaped::vector(ty).is_some_and(|vector| vector.rank() == 1) && !ty.is_scalable_vector();
        let scalar = !ty.is_vector() && integer_width(ty).is_some();
        let data = !ty.is_tensor() && (vector || !ty.is_vector()) && is_data(scalar_of(ty));
        ty == ctx || is_llvm_pointer(ty) || layout(ty).is_some() || scalar || data
    };
    match inputs.iter().chain(&results).find(|ty| !has_form(**ty)) {
        Some(ty) => {
            Err(error(function, &lossy!("S1: takes and returns scalars, vectors, pointers and memrefs, got {ty}")))
        }
        None => Ok(()),
    }
}

/// Makes the entries.
pub fn make_entries(root: OperationRef) {
    for op in operations(blocks(root)[0]) {
        if !op.has_attribute(ENTRY_ATTRIBUTE) {
            continue;
        }
        let symbol = symbol(op).expect("a function has a name");
        let (inputs, results) = signature(op);
        // They are for the entry's caller, and LLVM would warn about each.
        for names in ["arg_attrs", "res_attrs"] {
            remove_attribute(op, names);
        }
        pack(&Builder::before(op), &kernel::entry(&symbol), &symbol, &inputs, &results, 0);
    }
}

/// Lowers an op of another dialect that a host function may hold.
pub fn lower<'c: 'a, 'a>(op: OperationRef<'c, 'a>, runtime: &Runtime<'c, 'a>) -> Result<(), Reported> {
    let b = Builder::before(op);
    match name(op) {
        structure::LAUNCH_FUNC => return launch(op, &b, runtime),
        "gpu.memcpy" => {
            synchronous(op)?;
            memcpy(op, &b, runtime);
            b.erase(op);
        }
        "gpu.alloc" if runtime.offload => {
            return Err(error(op, "S1: the only memory on a GPU is the symmetric heap; use symm.alloc"));
        }
        "gpu.alloc" => {
            synchronous(op)?;
            let sizes: Vec<Value> = op.operands().collect();
            let ty = op.result(0).expect("one result").r#type();
            // Sizes come before the symbols of a layout, as in memref.alloc.
            let dynamic =
                Shaped::memref(ty).map_or(0, |memref| memref.dimensions().iter().filter(|size| size.is_none()).count());
            let segments = b.parse(&format!("array<i32: {dynamic}, {}>", sizes.len() - dynamic));
            let memory = b.value("memref.alloc", &sizes, ty, &[("operandSegmentSizes", segments)]);
            b.replace(op, &[memory]);
        }
        "gpu.dealloc" => {
            synchronous(op)?;
            b.op("memref.dealloc", &[op.operand(0).expect("one operand")], &[], &[]);
            b.erase(op);
        }
        "gpu.wait" => {
            synchronous(op)?;
            b.erase(op);
        }
        "memref.memory_space_cast" => {
            let source = op.operand(0).expect("one operand");
            let value = b.cast(source, source.r#type());
            b.replace(op, &[value]);
        }
        "cf.assert" if enclosing(op, &[structure::FUNC]).is_some() => {
            let message = op.attribute("msg").ok().and_then(string).unwrap_or_default();
            let literal = message.replace('{', "{{").replace('}', "}}");
            unless(&b, runtime, op, op.operand(0).expect("a condition"), &literal, &[]);
            b.erase(op);
        }
        _ => {}
    }
    Ok(())
}

/// Copies a memref as a whole, row by row or element by element, whichever both ends allow.
fn memcpy<'c: 'a, 'a>(op: OperationRef<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) {
    let (dst, src) = (op.operand(0).expect("a destination"), op.operand(1).expect("a source"));
    same_sizes(b, runtime, op, (src, dst));
    let ends = (End { pointer: src, delta: None }, End { pointer: dst, delta: None });
    let copy = |b: &Builder<'c>, to, from, bytes| {
        runtime.call(b, &functions::COPY, [b.zero(b.ptr()), to, from, bytes, runtime.location(b)]);
    };
    if is_contiguous(src.r#type()) && is_contiguous(dst.r#type()) {
        copy(b, ends.1.start(b), ends.0.start(b), bytes(b, src, None));
    } else if runtime.offload {
        // Only the runtime reaches the memory of a GPU.
        bulk::rows_or_elements(b, ends.0, ends.1, &|b, to, from, run| {
            let bytes = match run {
                Run::Bytes(bytes) => bytes,
                Run::Element(ty) => b.i64(byte_width(ty).cast_signed()),
            };
            copy(b, to, from, bytes);
        });
    } else {
        bulk::copy(b, ends.0, ends.1, None);
    }
}

/// Ends the run where a copy's ends differ in a size.
fn same_sizes<'c: 'a, 'a>(
    b: &Builder<'c>,
    runtime: &Runtime<'c, 'a>,
    op: OperationRef<'c, 'a>,
    (src, dst): (Value<'c, 'a>, Value<'c, 'a>),
) {
    let known = |memref: Value| Shaped::memref(memref.r#type()).map_or_else(Vec::new, Shaped::dimensions);
    let (from, to) = (Descriptor::new(b, src), Descriptor::new(b, dst));
    for (dimension, sizes) in known(src).into_iter().zip(known(dst)).enumerate() {
        // Sizes that canonicalization has found out may differ: nothing looks between passes.
        if sizes.0.is_some() && sizes.0 == sizes.1 {
            continue;
        }
        let (from, to) = (from.size(b, dimension), to.size(b, dimension));
        let text =
            format!("the copy's dimension {dimension} has {{}} elements at the source and {{}} at the destination");
        b.when(b.compare(CmpiPredicate::Ne, from, to), |b| {
            message(b, runtime, op, &functions::FAULT, &text, &[from, to]);
        });
    }
}

/// S1: the CPU driver's launches and copies are complete when the next op begins.
fn synchronous<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<(), Reported> {
    let is_token = |value: Value| lossy!("{}", value.r#type()) == "!gpu.async.token";
    if op.operands().any(is_token) || op.results().any(|result| is_token(result.into())) {
        return Err(error(op, "S1: the CPU driver is synchronous; leave out 'async' and its tokens"));
    }
    Ok(())
}

fn launch<'c: 'a, 'a>(op: OperationRef<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Result<(), Reported> {
    synchronous(op)?;
    if enclosing(op, &[structure::FUNC]).is_none() {
        return Err(error(op, "S1: is lowered only in a func.func"));
    }
    let Some((module, function)) = op.attribute("kernel").ok().and_then(nested_symbol) else {
        return Err(error(op, "launches a kernel of a gpu.module"));
    };
    let (module, function) = (module.as_str(), function.as_str());
    let Ok(segments) = op.attribute("operandSegmentSizes").and_then(DenseI32ArrayAttribute::try_from) else {
        return Err(error(op, "has no operand segments"));
    };
    let sizes: Vec<usize> = (0..segments.len())
        .filter_map(|index| segments.element(index).ok())
        .map(|size| usize::try_from(size).unwrap_or(0))
        .collect();
    // Async dependencies, grid (3), block (3), cluster (3 or none), shared memory, kernel operands, async object.
    let starts: Vec<usize> = sizes
        .iter()
        .scan(0, |sum, size| {
            let start = *sum;
            *sum += size;
            Some(start)
        })
        .collect();
    let operand = |index| op.operand(index).expect("counted by the segments");
    let (grid, shared, arguments) = (starts[1], sizes.len() - 3, sizes.len() - 2);
    let mut dims: Vec<Value> = (grid..grid + 6).map(|index| b.as_i64(operand(index))).collect();
    dims.push(if sizes[shared] == 1 { b.as_i64(operand(starts[shared])) } else { b.i64(0) });
    let dims = words(b, op, &dims);

    let kernel = kernel::packed(module, function);
    let mut kinds = Kinds {
        barrier: runtime.barrier_kernels.borrow().contains(&kernel),
        waits: runtime.waiting_kernels.borrow().contains(&kernel),
        arguments: Vec::new(),
    };
    let mut slots = Vec::new();
    for index in starts[arguments]..starts[arguments] + sizes[arguments] {
        let value = operand(index);
        let ty = in_memory(b, value.r#type());
        let slot = stack(op, ty, 1);
        b.store(b.cast(value, ty), slot, &packed(b, value.r#type()));
        slots.push(slot);
        kinds.arguments.push(match Shaped::memref(value.r#type()) {
            Some(memref) => Argument::Memref { rank: memref.rank() },
            None if value.r#type() == b.ptr() => Argument::Context,
            None => Argument::Value,
        });
    }
    let slots = words(b, op, &slots);
    let null = b.zero(b.ptr());
    let code = if runtime.offload { null } else { code_of(b, &kernel) };
    let title = runtime.string(b, &kernel::title(module, function));
    let kinds = runtime.string(b, &kinds.to_string());
    runtime.call(b, &functions::LAUNCH, [null, title, code, dims, slots, kinds, runtime.location(b)]);
    b.erase(op);
    Ok(())
}

/// The pointer to the function that takes a kernel's arguments through memory.
fn code_of<'c>(b: &Builder<'c>, kernel: &str) -> Value<'c, 'c> {
    let pointer = b.ptr();
    let packed = FunctionType::new(b.context, &[pointer, pointer], &[]).into();
    let code = b.value("func.constant", &[], packed, &[("value", b.symbol(kernel))]);
    b.cast(code, pointer)
}

pub fn alloc<'c: 'a, 'a>(op: Alloc<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Vec<Value<'c, 'c>> {
    let ty = op.memory().r#type();
    let shaped = Shaped::memref(ty).expect("the verifier has seen a memref");
    let mut dynamic = op.sizes().into_iter();
    let sizes: Vec<Value> = shaped
        .dimensions()
        .into_iter()
        .map(|size| match size {
            Some(size) => b.i64(size.cast_signed()),
            None => b.as_i64(dynamic.next().expect("the verifier has counted the sizes")),
        })
        .collect();
    let width = b.i64(byte_width(shaped.element()).cast_signed());
    for (dimension, size) in sizes.iter().enumerate().filter(|(dimension, _)| shaped.dimensions()[*dimension].is_none())
    {
        let text = format!("the allocation's dimension {dimension} has the size {{}}");
        let is_negative = b.compare(CmpiPredicate::Slt, *size, b.i64(0));
        b.when(is_negative, |b| message(b, runtime, op.operation(), &functions::FAULT, &text, &[*size]));
    }
    let bytes = sizes.iter().fold(width, |bytes, size| saturating_mul(b, bytes, *size));
    let text = "the allocation is larger than the address space";
    let is_too_large = b.compare(CmpiPredicate::Eq, bytes, b.i64(-1));
    b.when(is_too_large, |b| message(b, runtime, op.operation(), &functions::FAULT, text, &[]));
    let align = b.i64(op.align().unwrap_or(256));
    let operands = [context_pointer(b, op.ctx()), bytes, align, runtime.location(b)];
    let [memory] = runtime.call(b, &functions::ALLOC, operands);
    vec![Descriptor::contiguous(b, ty, memory, &sizes)]
}

/// The product of two sizes, all ones where it takes more than 64 bits: more than any heap has.
fn saturating_mul<'c>(b: &Builder<'c>, lhs: Value<'c, 'c>, rhs: Value<'c, 'c>) -> Value<'c, 'c> {
    let product = b.op("arith.mului_extended", &[lhs, rhs], &[b.int(64), b.int(64)], &[]);
    let [low, high] = [0, 1].map(|index| product.result(index).expect("two results were asked for").into());
    let overflows = b.compare(CmpiPredicate::Ne, high, b.i64(0));
    b.value("arith.select", &[overflows, b.i64(-1), low], b.int(64), &[])
}

pub fn free<'c: 'a, 'a>(op: Free<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Vec<Value<'c, 'c>> {
    let memory = Descriptor::new(b, op.memory()).allocated(b);
    runtime.call(b, &functions::FREE, [context_pointer(b, op.ctx()), memory, runtime.location(b)]);
    Vec::new()
}

pub fn barrier_all<'c: 'a, 'a>(
    op: BarrierAll<'c, 'a>,
    b: &Builder<'c>,
    runtime: &Runtime<'c, 'a>,
) -> Vec<Value<'c, 'c>> {
    runtime.call(b, &functions::BARRIER_ALL, [context_pointer(b, op.ctx()), runtime.location(b)]);
    Vec::new()
}

pub fn check<'c: 'a, 'a>(op: Check<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Vec<Value<'c, 'c>> {
    unless(b, runtime, op.operation(), op.condition(), &op.message(), &op.values());
    Vec::new()
}

pub fn print<'c: 'a, 'a>(op: Print<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Vec<Value<'c, 'c>> {
    message(b, runtime, op.operation(), &functions::PRINT, &op.message(), &op.values());
    Vec::new()
}

pub fn fault<'c: 'a, 'a>(op: Fault<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Vec<Value<'c, 'c>> {
    message(b, runtime, op.operation(), &functions::FAULT, &op.message(), &op.values());
    Vec::new()
}

/// Reports a failed check where `condition` is false.
fn unless<'c: 'a, 'a>(
    b: &Builder<'c>,
    runtime: &Runtime<'c, 'a>,
    op: OperationRef<'c, 'a>,
    condition: Value<'c, 'a>,
    text: &str,
    values: &[Value<'c, 'a>],
) {
    b.when(b.not(condition), |b| message(b, runtime, op, &functions::CHECK_FAILED, text, values));
}

/// Calls the runtime with a message and its values, each widened to eight bytes.
fn message<'c: 'a, 'a>(
    b: &Builder<'c>,
    runtime: &Runtime<'c, 'a>,
    op: OperationRef<'c, 'a>,
    callee: &Function<4, 0>,
    text: &str,
    values: &[Value<'c, 'a>],
) {
    let kinds: String = values.iter().map(|value| word_kind(value.r#type()).letter()).collect();
    let values: Vec<Value> = values.iter().map(|value| as_word(b, *value)).collect();
    let words = words(b, op, &values);
    let operands = [runtime.string(b, text), runtime.string(b, &kinds), words, runtime.location(b)];
    runtime.call(b, callee, operands);
}
