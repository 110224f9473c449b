//! Lowers a program to the CPU driver: heap-base arithmetic, LLVM memory operations and calls of the runtime.
//!
//! Kernels become functions that run a block of one thread, so a group of any kind is one thread and a `gpu.barrier`
//! disappears; launches, host ops and waits become calls of `symm_rt_…` (abi/src/functions.rs). Every public function
//! whose first argument is a `!symm.ctx` gets an entry `_symm_entry_<name>(args)` that passes its arguments and results
//! through memory.
//!
//! ```mlir
//! symm.signal set %ctx, %flag[%i], %v, %peer : memref<4xi64>, i64
//! ```
//!
//! becomes
//!
//! ```mlir
//! llvm.store %v, %theirs atomic release {alignment = 8 : i64} : i64, !llvm.ptr
//! func.call @symm_rt_wake(%theirs) : (!llvm.ptr) -> ()
//! ```
//!
//! With `trace=true` puts, gets and signals are recorded. With `offload=true` the kernels run on a GPU: they are
//! dropped, and a launch passes its kernel's name and the layout of its arguments. With `check=true` a kernel runs once
//! for each thread, and signals, waits and barriers become calls of `symm_chk_…` (abi/src/check.rs). In a module with
//! an engine each access to a peer branches: for a far peer it calls `symm_rt_far_…` (N2).
//!
//! Limits (S1): no tensors of pointers, no shuffles, no `gpu.dynamic_shared_memory`, no asynchronous launches, no ops
//! of `nvvm` and `rocdl`, nor LLVM's intrinsics of GPUs, nor assembly in kernels.

mod check;
mod data;
mod device;
mod far;
mod host;
mod lines;
mod order;
mod runtime;

use super::types::{self, Spaces};
use super::{access, packets, refuse_atomic, translation, updates};
use crate::ir::{Builder, blocks, collect, context, enclosing, name, operations, structure};
use crate::pass::{Ir, OptionKind, Pass, PassOption, Values};
use lines::Lines;
use melior::ir::{Attribute, OperationRef, ValueLike, operation::OperationLike};
use runtime::Runtime;
use symm_abi::far::OPENSHMEM;
use symm_abi::kernel;
use symm_dialect::ENGINE_ATTRIBUTE;
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{Action, Question, SymmOp};
use symm_dialect::pointer::Pointer;
use symm_dialect::symbol::symbol;
use symm_dialect::text;

/// Whether kernels run on a GPU.
pub const OFFLOAD: PassOption =
    PassOption { name: "offload", kind: OptionKind::Bool, initial: "false", help: "kernels run on a GPU: drop them" };

/// Whether symm-check runs the program.
pub const CHECK: PassOption = PassOption {
    name: "check",
    kind: OptionKind::Bool,
    initial: "false",
    help: "for symm-check: blocks have several threads, and each signal, wait and barrier is a call",
};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-lower-to-cpu",
    summary: "Lower a program to LLVM memory operations and calls of the CPU runtime",
    options: &[
        PassOption {
            name: "trace",
            kind: OptionKind::Bool,
            initial: "false",
            help: "record puts, gets and signals for the timeline",
        },
        OFFLOAD,
        CHECK,
    ],
    run,
};

fn run(root: OperationRef, options: &Values) -> Result<Ir, Reported> {
    if name(root) != structure::MODULE {
        return Err(error(root, "is lowered as a whole module"));
    }
    refuse_reserved_names(root)?;
    let runtime = Runtime::new(root, (options.flag("trace"), options.flag("offload"), options.flag("check")));
    if runtime.offload {
        device::leave_out(&runtime);
    }
    // On a GPU it is the kernels that call the engine.
    if !runtime.offload {
        translation::refuse_engine(root, Some(OPENSHMEM))?;
    }
    updates::refuse(root).and(check(root))?;
    host::check_entries(root)?;
    types::convert(root, Spaces::Strip);
    // Device functions first, while they still lie in their gpu.module; launches after their kernels.
    device::lower(root, &runtime)?;
    let mut contexts = Vec::new();
    let mut outcome = Ok(());
    for operation in collect(root) {
        if let Some(op) = SymmOp::cast(operation) {
            if let SymmOp::Ctx(ctx) = op {
                contexts.push(ctx);
            } else {
                outcome = outcome.and(lower(op, &runtime));
            }
        } else {
            outcome = outcome.and(host::lower(operation, &runtime));
        }
    }
    outcome?;
    for ctx in contexts.into_iter().rev() {
        translation::lower_ctx(ctx, &Builder::before(ctx.operation()))?;
    }
    host::make_entries(root);
    Ok(Ir::Changed)
}

/// Refuses a module that has been lowered, or that has the names which this lowering gives.
fn refuse_reserved_names<'c: 'a, 'a>(root: OperationRef<'c, 'a>) -> Result<(), Reported> {
    for op in operations(blocks(root)[0]) {
        let name = symbol(op).unwrap_or_default();
        if [kernel::ENTRY, kernel::PACKED, device::DEVICE].iter().any(|prefix| name.starts_with(prefix)) {
            let complaint = format!(
                "S1: has the name '{name}', which the lowering reserves: rename it, or lower the module only once"
            );
            return Err(error(op, &complaint));
        }
    }
    Ok(())
}

/// Dialects of instructions that only GPUs have, and LLVM's names of these. LLVM would crash on them.
const OF_GPUS: [&str; 2] = ["nvvm.", "rocdl."];
const INTRINSICS_OF_GPUS: [&str; 4] = ["llvm.nvvm.", "llvm.ptx.", "llvm.amdgcn.", "llvm.r600."];

/// Whether only a GPU has an op, and why.
fn of_gpu<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<&'static str> {
    let starts = |text: String, all: &[&str]| all.iter().any(|start| text.starts_with(start));
    let text = |attribute: &str, read: fn(Attribute<'c>) -> Option<String>| op.attribute(attribute).ok().and_then(read);
    let has_intrinsic = match name(op) {
        "llvm.call_intrinsic" => text("intrin", text::string),
        "llvm.call" | structure::CALL => text("callee", text::symbol),
        _ => None,
    };
    if starts(name(op).to_owned(), &OF_GPUS) || has_intrinsic.is_some_and(|name| starts(name, &INTRINSICS_OF_GPUS)) {
        return Some("S1: is an instruction of a GPU, which a CPU does not have");
    }
    let is_assembly = name(op) == "llvm.inline_asm" && enclosing(op, &[structure::GPU_MODULE]).is_some();
    let is_empty = || text("asm_string", text::string).is_none_or(|assembly| assembly.is_empty());
    (is_assembly && !is_empty()).then_some("S1: is assembly of a GPU, which a CPU does not have")
}

/// Refuses what this target has no form for (S1), before anything is changed.
fn check<'c: 'a, 'a>(root: OperationRef<'c, 'a>) -> Result<(), Reported> {
    let mut outcome = Ok(());
    let has_engine = root.has_attribute(ENGINE_ATTRIBUTE);
    for operation in collect(root) {
        let function = enclosing(operation, &[structure::FUNC, structure::GPU_FUNC]);
        if calls_runtime(operation, has_engine) && function.is_some() && !sees_runtime(operation, root) {
            let complaint = "S1: calls the runtime, which is not visible in a nested module or an unknown op";
            outcome = Err(error(operation, complaint));
            continue;
        }
        if let Some(complaint) = of_gpu(operation) {
            outcome = Err(error(operation, complaint));
            continue;
        }
        let Some(op) = SymmOp::cast(operation) else { continue };
        let types = operation.operands().map(|value| value.r#type());
        let types: Vec<_> = types.chain(operation.results().map(|value| value.r#type())).collect();
        let triton =
            types.iter().any(|ty| matches!(Pointer::of(*ty), Some(Pointer::TritonTensor(..) | Pointer::Triton(_))));
        let complaint = match op.question() {
            _ if triton => Some("the CPU has no Triton pointers"),
            _ if function.is_none() => Some("is lowered only in a func.func or a gpu.func"),
            Ok(Question::Ctx(ctx)) if ctx.rank().is_some() && has_engine => {
                Some("a context made from parts does not say which ranks the engine reaches")
            }
            Ok(Question::Ctx(ctx)) => translation::refuse_table(ctx),
            Ok(_) => None,
            Err(action) => refuse(action),
        };
        if let Some(complaint) = complaint {
            outcome = Err(error(operation, &format!("S1: {complaint}")));
        }
    }
    outcome
}

/// Why an op has no form here, if it has none.
fn refuse<'c: 'a, 'a>(action: Action<'c, 'a>) -> Option<&'static str> {
    let in_kernel = |op: OperationRef<'c, 'a>| {
        enclosing(op, &[structure::GPU_MODULE]).map(|_| "is for host functions, not for kernels")
    };
    match action {
        Action::Alloc(op) => in_kernel(op.operation()),
        Action::Free(op) => in_kernel(op.operation()),
        Action::BarrierAll(op) => in_kernel(op.operation()),
        Action::TraceBegin(_) | Action::TraceEnd(_) => {
            Some("is for kernels on a GPU; the CPU's runtime records by itself")
        }
        Action::AtomicRmw(op) => refuse_atomic(SymmOp::AtomicRmw(op)),
        Action::AtomicCas(op) => refuse_atomic(SymmOp::AtomicCas(op)),
        Action::AsRemote(_)
        | Action::RemoteLoad(_)
        | Action::RemoteStore(_)
        | Action::Get(_)
        | Action::Put(_)
        | Action::Copy(_)
        | Action::Signal(_)
        | Action::PutSignal(_)
        | Action::Wait(_)
        | Action::Fence(_)
        | Action::Barrier(_)
        | Action::PutPacket(_)
        | Action::WaitPacket(_)
        | Action::TryPacket(_)
        | Action::Check(_)
        | Action::Print(_)
        | Action::Fault(_) => None,
    }
}

/// Whether an op becomes a call of the runtime, which is declared in the program's module.
fn calls_runtime<'c: 'a, 'a>(operation: OperationRef<'c, 'a>, has_engine: bool) -> bool {
    let Some(op) = SymmOp::cast(operation) else {
        return matches!(name(operation), structure::LAUNCH_FUNC | "gpu.memcpy" | "cf.assert");
    };
    let Err(action) = op.question() else { return false };
    match action {
        Action::AsRemote(_) | Action::Fence(_) => false,
        Action::RemoteLoad(_) | Action::RemoteStore(_) => has_engine,
        Action::Get(_)
        | Action::Put(_)
        | Action::Copy(_)
        | Action::AtomicRmw(_)
        | Action::AtomicCas(_)
        | Action::Signal(_)
        | Action::PutSignal(_)
        | Action::Wait(_)
        | Action::Barrier(_)
        | Action::PutPacket(_)
        | Action::WaitPacket(_)
        | Action::TryPacket(_)
        | Action::Alloc(_)
        | Action::Free(_)
        | Action::BarrierAll(_)
        | Action::Check(_)
        | Action::Print(_)
        | Action::Fault(_)
        | Action::TraceBegin(_)
        | Action::TraceEnd(_) => true,
    }
}

/// Whether symbols of the program's module, and of the `gpu.module` that it takes in, are looked up from `op`: an
/// unregistered op around it might hold symbols of its own.
fn sees_runtime<'c: 'a, 'a>(op: OperationRef<'c, 'a>, root: OperationRef<'c, 'a>) -> bool {
    let ancestors = std::iter::successors(op.parent_operation(), OperationLike::parent_operation);
    let between: Vec<_> = ancestors.take_while(|ancestor| *ancestor != root).collect();
    let mlir = context(op);
    between.iter().enumerate().all(|(index, ancestor)| match name(*ancestor) {
        structure::MODULE => false,
        structure::GPU_MODULE => index + 1 == between.len(),
        name => mlir.is_registered_operation(name),
    })
}

fn lower<'c: 'a, 'a>(op: SymmOp<'c, 'a>, runtime: &Runtime<'c, 'a>) -> Result<(), Reported> {
    let operation = op.operation();
    let b = Builder::before(operation);
    let action = match op.question() {
        Err(action) => action,
        Ok(question) => {
            if let Some(value) = translation::lower(question, &b, operation) {
                b.replace(operation, &[value]);
            }
            return Ok(());
        }
    };
    let near = if matches!(op, SymmOp::PutPacket(_)) { far::near(op, &b, runtime) } else { None };
    let results = match action {
        Action::AsRemote(op) => access::as_remote(op, &b),
        Action::RemoteLoad(op) => far::remote_load(op, &b, runtime),
        Action::RemoteStore(op) => far::remote_store(op, &b, runtime),
        Action::Get(_) | Action::Put(_) | Action::Copy(_) => {
            data::transfer(op, &b, runtime);
            Vec::new()
        }
        Action::AtomicRmw(op) => order::atomic_rmw(op, &b, runtime),
        Action::AtomicCas(op) => order::atomic_cas(op, &b, runtime),
        Action::Signal(op) => order::signal(op, &b, runtime),
        Action::PutSignal(op) => order::put_signal(op, &b, runtime),
        Action::Wait(op) => order::wait(op, &b, runtime),
        Action::Fence(op) => order::fence(op, &b, runtime),
        Action::PutPacket(op) => {
            packets::put(op, &b, &Lines { op: operation, ctx: op.ctx(), near, runtime });
            Vec::new()
        }
        Action::WaitPacket(op) => vec![packets::wait(op, &b, &Lines { op: operation, ctx: op.ctx(), near, runtime })],
        Action::TryPacket(op) => packets::attempt(op, &b, &Lines { op: operation, ctx: op.ctx(), near, runtime }),
        Action::Barrier(op) => order::barrier(op, &b, runtime)?,
        Action::Alloc(op) => host::alloc(op, &b, runtime),
        Action::Free(op) => host::free(op, &b, runtime),
        Action::BarrierAll(op) => host::barrier_all(op, &b, runtime),
        Action::Check(op) => host::check(op, &b, runtime),
        Action::Print(op) => host::print(op, &b, runtime),
        Action::Fault(op) => host::fault(op, &b, runtime),
        Action::TraceBegin(_) | Action::TraceEnd(_) => unreachable!("refused above"),
    };
    b.replace(operation, &results);
    Ok(())
}
