//! What the two GPU targets share: the shape of a device module, groups of threads, signals, waits and barriers.
//!
//! A target says how it spells the pieces ([`Target`]); the order of the pieces, which is what makes a protocol
//! correct (O1 to O6), is here once. docs/memory-model.md says why each sequence is right.

mod alias;
mod barriers;
pub mod bulk;
mod far;
mod fault;
mod gathered;
mod lines;
pub mod order;
mod program;
mod site;
mod spaces;
mod threads;
mod trace;
mod wait;

use super::group_barriers::{GroupBarriers, Threads};
use super::types::{self, Spaces};
use super::{access, packets, translation};
use crate::analysis::search::Direction;
use crate::ir::packets::Halves;
use crate::ir::{Builder, blocks, collect, name, operations, structure};
pub use gathered::Gathered;
use lines::Lines;
use melior::ir::{OperationRef, Value, ValueLike, operation::OperationLike};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{Action, Ctx, Order, RemoteLoad, RemoteStore, RmwKind, Scope, SymmOp};
use symm_dialect::pointer::Pointer;
use symm_dialect::{ENGINE_ATTRIBUTE, module_has};

pub use program::SIZES;

/// How a GPU spells the pieces.
pub trait Target {
    /// The engine whose calls the target has for far ranks, if there is one.
    fn engine(&self) -> Option<&'static str>;

    /// Why the target can't do `op`, if it can't (S1).
    fn refusal(&self, op: SymmOp) -> Option<String>;

    /// LLVM's name of a scope.
    fn sync_scope(&self, scope: Scope) -> &'static str;

    /// Threads of a warp.
    fn warp_size(&self) -> i64;

    /// The value of a `gpu.block_dim` or `gpu.grid_dim`, where MLIR's own conversion has none that links.
    fn size<'c: 'a, 'a>(&self, b: &Builder<'c>, op: OperationRef<'c, 'a>) -> Option<Value<'c, 'c>>;

    /// An atomic read-modify-write of `ptr` in global memory; the old value.
    fn atomic_rmw<'c>(
        &self,
        b: &Builder<'c>,
        kind: RmwKind,
        ptr: Value<'c, 'c>,
        value: Value<'c, 'c>,
        order: (Order, Scope),
    ) -> Value<'c, 'c>;

    /// A fence.
    fn fence(&self, b: &Builder, order: Order, scope: Scope);

    /// A store to a flag in global memory, relaxed or release.
    fn store_flag<'c>(&self, b: &Builder<'c>, ptr: Value<'c, 'c>, value: Value<'c, 'c>, order: (Order, Scope));

    /// An atomic compare-and-swap in global memory; the old value.
    fn atomic_cas<'c>(
        &self,
        b: &Builder<'c>,
        ptr: Value<'c, 'c>,
        values: (Value<'c, 'c>, Value<'c, 'c>),
        order: (Order, Scope),
    ) -> Value<'c, 'c>;

    /// Writes both halves of a packet's line in global memory, relaxed at system scope and each as a whole, or if the
    /// line is in `words`, each word of 32 bits.
    fn store_line<'c>(&self, b: &Builder<'c>, line: Value<'c, 'c>, halves: Halves<'c>, words: bool);

    /// Reads both halves of a packet's line in global memory, likewise.
    fn load_line<'c>(&self, b: &Builder<'c>, line: Value<'c, 'c>, words: bool) -> Halves<'c>;

    /// Whether a load that acquires costs less than a relaxed one with a fence after it.
    fn polls_in_order(&self) -> bool;

    /// Completes what every thread of a group has written, before the barrier that precedes a group's release (O3).
    fn before_group_release(&self, b: &Builder);

    /// Completes what every thread has written, before a barrier of the block after which one of them releases.
    fn before_barrier<'c: 'a, 'a>(&self, b: &Builder<'c>, barrier: OperationRef<'c, 'a>);

    /// Waits until all threads of the warp are here.
    fn warp_barrier(&self, b: &Builder);

    /// A clock of the device in nanoseconds, `i64`.
    fn nanoseconds<'c>(&self, b: &Builder<'c>) -> Value<'c, 'c>;

    /// Whether this thread is the first of those of its warp that are here together, `i1`.
    fn is_first_here<'c>(&self, b: &Builder<'c>) -> Value<'c, 'c>;

    /// Lets other threads run for a short while.
    fn backoff(&self, b: &Builder);

    /// A load with a cache modifier; `None` if the target has none to offer and a plain load serves.
    fn cached_load<'c: 'a, 'a>(&self, b: &Builder<'c>, op: RemoteLoad<'c, 'a>) -> Option<Value<'c, 'c>>;

    /// A store with a cache modifier; false if the target has none to offer and a plain store serves.
    fn cached_store<'c: 'a, 'a>(&self, b: &Builder<'c>, op: RemoteStore<'c, 'a>) -> bool;
}

/// Lowers every symm op in the `gpu.module`s of a module; what is not in one (host code) goes.
pub fn lower_module<'c: 'a, 'a>(root: OperationRef<'c, 'a>, target: &dyn Target) -> Result<(), Reported> {
    if name(root) != structure::MODULE {
        return Err(error(root, "is lowered as a whole module"));
    }
    translation::refuse_engine(root, target.engine())?;
    program::check(root)?;
    for op in operations(blocks(root)[0]) {
        if name(op) == structure::GPU_MODULE {
            alias::drop_where_ordered(op);
        } else {
            Builder::before(op).erase(op);
        }
    }
    types::convert(root, Spaces::Keep);
    let together = Together::new(root, target);
    let releasing = barriers::of_releases(root);
    let (mut contexts, mut ranks) = (Vec::new(), Vec::new());
    let mut outcome = Ok(());
    for operation in collect(root) {
        match SymmOp::cast(operation) {
            Some(SymmOp::Ctx(ctx)) => match translation::refuse_table(ctx).or(refuse_parts(ctx)) {
                Some(complaint) => outcome = Err(error(operation, &format!("S1: {complaint}"))),
                None => contexts.push(ctx),
            },
            // Last: until then other ops see that this rank is the current one, and so in range.
            Some(rank @ SymmOp::Rank(_)) => ranks.push(rank),
            Some(op) => outcome = outcome.and(lower(op, target, &together)),
            None => {}
        }
    }
    outcome?;
    for rank in ranks {
        lower(rank, target, &together)?;
    }
    barriers::complete_writes(&releasing, target);
    for ctx in contexts.into_iter().rev() {
        translation::lower_ctx(ctx, &Builder::before(ctx.operation()))?;
    }
    for op in collect(root) {
        let b = Builder::before(op);
        if let Some(value) = made_of_others(&b, op, target) {
            b.replace(op, &[value]);
        }
    }
    // Last: the values above are made of sizes too.
    for op in collect(root) {
        let b = Builder::before(op);
        if let Some(value) = target.size(&b, op) {
            b.replace(op, &[value]);
        }
    }
    Ok(())
}

/// The ops that MLIR's own conversions leave, or expand into some that they leave: what they are made of.
fn made_of_others<'c: 'a, 'a>(b: &Builder<'c>, op: OperationRef<'c, 'a>, target: &dyn Target) -> Option<Value<'c, 'c>> {
    let size = || b.index_constant(target.warp_size());
    match name(op) {
        "gpu.subgroup_size" => Some(size()),
        "gpu.subgroup_id" => Some(b.binary("arith.divui", b.as_index(threads::thread_of_block(b).0), size())),
        "gpu.global_id" => {
            let part = |name| {
                let dimension = op.attribute("dimension").expect("the verifier has seen it");
                b.value(name, &[], b.index(), &[("dimension", dimension)])
            };
            Some(b.add(b.mul(part("gpu.block_id"), part("gpu.block_dim")), part("gpu.thread_id")))
        }
        "gpu.num_subgroups" => Some(b.binary("arith.ceildivui", b.as_index(threads::thread_of_block(b).1), size())),
        _ => None,
    }
}

/// S1: what has no form on this target.
fn refuse<'c: 'a, 'a>(op: SymmOp<'c, 'a>, target: &dyn Target) -> Result<(), Reported> {
    let operation = op.operation();
    let is_triton = |ty| matches!(Pointer::of(ty), Some(Pointer::TritonTensor(..) | Pointer::Triton(_)));
    if operation.operands().any(|operand| is_triton(operand.r#type())) {
        return Err(error(operation, "S1: Triton pointers are lowered by Triton; use symm-lower-to-triton"));
    }
    match refuse_cache(op).map(Into::into).or_else(|| target.refusal(op)) {
        Some(reason) => Err(error(operation, &format!("S1: {reason}"))),
        None => Ok(()),
    }
}

/// Why a context from parts is not for this module, if it is not (S1).
fn refuse_parts(ctx: Ctx) -> Option<&'static str> {
    let has_engine = module_has(&ctx.operation(), ENGINE_ATTRIBUTE);
    let complaint = "a context made from parts does not say which ranks the engine reaches";
    (ctx.rank().is_some() && has_engine).then_some(complaint)
}

/// Why a cache modifier can't be obeyed, if it can't.
fn refuse_cache(op: SymmOp) -> Option<&'static str> {
    if op.eviction().is_some() {
        return Some("an eviction policy is for Triton kernels only");
    }
    op.ends()
        .and(op.cache())
        .map(|_| "a cache modifier is for single accesses, remote_load and remote_store, not for bulk copies")
}

/// Where groups are together without a barrier of an op's own, and where copies and waits need one.
struct Together<'c, 'a> {
    gathered: Gathered,
    barriers: GroupBarriers<'c, 'a>,
}

impl<'c: 'a, 'a> Together<'c, 'a> {
    /// Looks at everything below `root`, and makes the barriers that loops need.
    fn new(root: OperationRef<'c, 'a>, target: &dyn Target) -> Self {
        let gathered = Gathered::new(root);
        let barriers = GroupBarriers::new(root, Threads::Grouped, &gathered);
        for (around, group, direction) in &barriers.at_loops {
            let at = match direction {
                Direction::Before => *around,
                Direction::After => around.next_in_block().expect("a terminator comes after a loop"),
            };
            threads::group_barrier(&Builder::before_on_device(at), target, *group);
        }
        Self { gathered, barriers }
    }
}

/// A load of a near rank.
fn load<'c: 'a, 'a>(op: RemoteLoad<'c, 'a>, b: &Builder<'c>, target: &dyn Target) -> Value<'c, 'c> {
    match op.cache().and_then(|_| target.cached_load(b, op)) {
        Some(value) => value,
        None => access::remote_load(op, b)[0],
    }
}

/// A store to a near rank.
fn store<'c: 'a, 'a>(op: RemoteStore<'c, 'a>, b: &Builder<'c>, target: &dyn Target) {
    if op.cache().is_none() || !target.cached_store(b, op) {
        access::remote_store(op, b);
    }
}

fn lower<'c: 'a, 'a>(op: SymmOp<'c, 'a>, target: &dyn Target, together: &Together) -> Result<(), Reported> {
    let operation = op.operation();
    refuse(op, target)?;
    let b = Builder::before_on_device(operation);
    spaces::make_generic(operation, &b)?;
    let action = match op.question() {
        Err(action) => action,
        Ok(question) => {
            if let Some(value) = translation::lower(question, &b, operation) {
                b.replace(operation, &[value]);
            }
            return Ok(());
        }
    };
    let results: Vec<Value> = match action {
        Action::AsRemote(op) => access::as_remote(op, &b),
        Action::RemoteLoad(op) => vec![far::load(op, &b, |b| load(op, b, target))],
        Action::RemoteStore(op) => {
            far::store(op, &b, |b| store(op, b, target));
            Vec::new()
        }
        Action::Get(_) | Action::Put(_) | Action::Copy(_) => {
            far::copy(op, &b, target, |b| {
                bulk::lower(op, b, target, &together.barriers);
            });
            Vec::new()
        }
        Action::AtomicRmw(op) => vec![order::atomic_rmw(op, &b, target)],
        Action::AtomicCas(op) => vec![order::atomic_cas(op, &b, target)],
        Action::Signal(op) => order::signal(op, &b, target, together.gathered.contains(operation)),
        Action::PutSignal(op) => order::put_signal(op, &b, target, &together.barriers),
        Action::Wait(op) => wait::wait(op, &b, target, together.barriers.after(operation)),
        Action::Fence(op) => order::group_fence(op, &b, target),
        Action::PutPacket(op) => {
            let far = far::Far::flag(SymmOp::PutPacket(op), &b);
            packets::put(op, &b, &Lines { target, far });
            Vec::new()
        }
        Action::WaitPacket(op) => vec![packets::wait(op, &b, &Lines { target, far: None })],
        Action::TryPacket(op) => packets::attempt(op, &b, &Lines { target, far: None }),
        Action::Barrier(op) => order::barrier(op, &b, target),
        Action::Alloc(_) | Action::Free(_) | Action::BarrierAll(_) => {
            return Err(error(operation, "S1: is for host functions, not for kernels"));
        }
        Action::Fault(op) => {
            fault::lower(op, &b, target);
            Vec::new()
        }
        Action::TraceBegin(op) => vec![trace::begin(op, &b, target)],
        Action::TraceEnd(op) => {
            trace::end(op, &b, target);
            Vec::new()
        }
        Action::Check(_) | Action::Print(_) => {
            return Err(error(operation, "S1: a GPU kernel has no output; check and print in the host function"));
        }
    };
    b.replace(operation, &results);
    Ok(())
}
