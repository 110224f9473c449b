//! Lowers kernels to LLVM and ROCDL operations for AMD GPUs.
//!
//! LLVM's AMDGPU backend implements its memory model in full: every atomic is an LLVM atomic with LLVM's scope.
//!
//! ```mlir
//! symm.signal set %ctx, %flag[%i], %v, %peer group block : memref<4xi64>, i64
//! ```
//!
//! becomes
//!
//! ```mlir
//! llvm.fence syncscope("agent") release
//! gpu.barrier
//! scf.if %is_first_thread {
//!   llvm.store %v, %theirs atomic release {alignment = 8 : i64} : i64, !llvm.ptr<1>
//! }
//! ```
//!
//! Host code is dropped: what is left is what the device runs. Limits (S1): gfx90a, gfx942 and gfx950; no scope
//! cluster; on gfx90a a release at system scope was reported not to reach peers, so whatever releases to them is
//! refused unless `fine-grained-heap=true` says that the heap is not cached; no check or print in kernels.

use super::gpu::{Target, lower_module, order};
use super::{llvm_bin_op, refuse_atomic};
use crate::ir::address::CONSTANT;
use crate::ir::packets::Halves;
use crate::ir::{Builder, name, ordering, signed};
use crate::pass::{Ir, OptionKind, Pass, PassOption, Values};
use crate::registration::previous_in_block;
use melior::dialect::arith::CmpiPredicate;
use melior::dialect::llvm;
use melior::ir::{OperationRef, Type, Value, ValueLike, operation::OperationLike};
use symm_dialect::diagnostic::Reported;
use symm_dialect::ops::{Engine, Order, RemoteLoad, RemoteStore, RmwKind, Scope, SymmOp};

/// The chips that can be asked for.
pub const CHIPS: &[&str] = &["gfx90a", "gfx942", "gfx950"];

/// The GPU to compile for.
pub const CHIP: PassOption =
    PassOption { name: "chip", kind: OptionKind::Choice(CHIPS), initial: "gfx942", help: "the GPU to compile for" };

/// Whether the heap is fine-grained memory.
pub const FINE_GRAINED_HEAP: PassOption = PassOption {
    name: "fine-grained-heap",
    kind: OptionKind::Bool,
    initial: "false",
    help: "the heap is fine-grained memory: allow releases at system scope on gfx90a",
};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-lower-to-rocdl",
    summary: "Lower kernels to LLVM and ROCDL operations for an AMD GPU",
    options: &[CHIP, FINE_GRAINED_HEAP],
    run,
};

fn run(root: OperationRef, options: &Values) -> Result<Ir, Reported> {
    let no_release = options.text("chip") == "gfx90a" && !options.flag("fine-grained-heap");
    lower_module(root, &Rocdl { no_release })?;
    Ok(Ir::Changed)
}

/// `s_waitcnt vmcnt(0)` as gfx9 encodes it: the other counters at their maximum.
const WAIT_FOR_VECTOR_MEMORY: i64 = 0x0f70;

struct Rocdl {
    /// A release at system scope may not reach peers.
    no_release: bool,
}

impl Rocdl {
    /// Makes the release of an operation a fence of its own, which is waited for, and returns the order that is left.
    fn release_first(&self, b: &Builder<'_>, (order, scope): (Order, Scope)) -> (Order, Scope) {
        let left = match order {
            Order::Release => Order::Relaxed,
            Order::AcqRel => Order::Acquire,
            order => return (order, scope),
        };
        self.fence(b, Order::Release, scope);
        (left, scope)
    }

    /// Keeps LLVM from loading into scalar registers what comes after an acquire: it invalidates the vector cache
    /// alone, and a fence or a volatile read before it is no reason to LLVM why the scalar cache should hold what was
    /// there before.
    fn distrust_scalar_cache(b: &Builder) {
        let attributes =
            [("asm_string", b.string("")), ("constraints", b.string("~{memory}")), ("has_side_effects", b.unit())];
        b.op("llvm.inline_asm", &[], &[], &attributes);
    }
}

impl Target for Rocdl {
    fn engine(&self) -> Option<&'static str> {
        None
    }

    fn refusal(&self, op: SymmOp) -> Option<String> {
        if let Some(complaint) = refuse_atomic(op) {
            return Some(complaint.into());
        }
        if op.engine() == Some(Engine::Bulk) {
            return Some("AMD GPUs have no bulk copy engine".into());
        }
        if self.no_release && op.slots().is_some() {
            let complaint = "on gfx90a packets do not reach peers through a cached heap; fine-grained-heap=true says \
                             that it is not cached";
            return Some(complaint.into());
        }
        let scope = op.scope().unwrap_or(Scope::Sys);
        if scope == Scope::Cluster {
            return Some("AMD GPUs have no scope cluster".into());
        }
        (op.releases() && scope == Scope::Sys && self.no_release).then(|| {
            "on gfx90a a release at system scope does not reach peers through a cached heap; \
             fine-grained-heap=true says that it is not cached"
                .into()
        })
    }

    fn sync_scope(&self, scope: Scope) -> &'static str {
        match scope {
            Scope::Cta => "workgroup",
            Scope::Cluster | Scope::Gpu => "agent",
            Scope::Sys => "",
        }
    }

    fn warp_size(&self) -> i64 {
        64
    }

    fn size<'c: 'a, 'a>(&self, b: &Builder<'c>, op: OperationRef<'c, 'a>) -> Option<Value<'c, 'c>> {
        // MLIR calls AMD's device library, which is not part of LLVM; the words are in the implicit kernel arguments
        // (LLVM's AMDGPU usage, code object V5: hidden_block_count_x at 0, hidden_group_size_x at 12).
        let (first, bits) = match name(op) {
            "gpu.grid_dim" => (0, 32),
            "gpu.block_dim" => (12, 16),
            _ => return None,
        };
        let dimension = op.attribute("dimension").map(|attribute| attribute.to_string()).unwrap_or_default();
        let position = ["#gpu<dim x>", "#gpu<dim y>", "#gpu<dim z>"].iter().position(|text| *text == dimension)?;
        let words = intrinsic(b, "llvm.amdgcn.implicitarg.ptr", &[], llvm::r#type::pointer(b.context, CONSTANT));
        let offset = first + signed(position) * i64::from(bits) / 8;
        let alignment = ("alignment", b.integer(64, i64::from(bits) / 8));
        let word = b.load(b.byte_offset_constant(words, offset), b.int(bits), &[("invariant", b.unit()), alignment]);
        // Never zero; without knowing it, LLVM makes loops that step by it endless where it were.
        let some = b.compare(CmpiPredicate::Ne, word, b.constant(b.int(bits), 0));
        b.op("llvm.intr.assume", &[some], &[], &[("op_bundle_sizes", b.parse("array<i32>"))]);
        Some(b.value("arith.index_castui", &[word], b.index(), &[]))
    }

    fn atomic_rmw<'c>(
        &self,
        b: &Builder<'c>,
        kind: RmwKind,
        ptr: Value<'c, 'c>,
        value: Value<'c, 'c>,
        order: (Order, Scope),
    ) -> Value<'c, 'c> {
        let ty = value.r#type();
        let order = self.release_first(b, order);
        let mut attributes = order::atomic(b, self, "ordering", order, ty);
        attributes.push(("bin_op", b.integer(64, llvm_bin_op(kind))));
        let old = b.value("llvm.atomicrmw", &[ptr, value], ty, &attributes);
        if order.0.acquires() {
            Self::distrust_scalar_cache(b);
        }
        old
    }

    fn fence(&self, b: &Builder, order: Order, scope: Scope) {
        if order.releases() {
            order::fence(b, self, Order::Release, scope);
            // The fence writes L2 back (`buffer_wbl2`) and has to wait for it. The backend does not count that write
            // as memory traffic and drops its own wait where it believes that nothing is under way; this one stays.
            b.op("rocdl.s.waitcnt", &[], &[], &[("bitfield", b.integer(32, WAIT_FOR_VECTOR_MEMORY))]);
        }
        if order.acquires() {
            order::fence(b, self, Order::Acquire, scope);
            Self::distrust_scalar_cache(b);
        }
    }

    fn store_flag<'c>(&self, b: &Builder<'c>, ptr: Value<'c, 'c>, value: Value<'c, 'c>, order: (Order, Scope)) {
        let order = self.release_first(b, order);
        order::store(b, self, ptr, value, order);
    }

    fn atomic_cas<'c>(
        &self,
        b: &Builder<'c>,
        ptr: Value<'c, 'c>,
        values: (Value<'c, 'c>, Value<'c, 'c>),
        order: (Order, Scope),
    ) -> Value<'c, 'c> {
        let order = self.release_first(b, order);
        let old = order::cmpxchg(b, self, ptr, values, order);
        if order.0.acquires() {
            Self::distrust_scalar_cache(b);
        }
        old
    }

    fn store_line<'c>(&self, b: &Builder<'c>, line: Value<'c, 'c>, halves: Halves<'c>, _words: bool) {
        // No instruction of 128 bits is promised to be made as a whole.
        for (half, offset) in halves.into_iter().zip([0, 8]) {
            order::store(b, self, b.byte_offset_constant(line, offset), half, (Order::Relaxed, Scope::Sys));
        }
    }

    fn load_line<'c>(&self, b: &Builder<'c>, line: Value<'c, 'c>, _words: bool) -> Halves<'c> {
        let attributes = order::atomic(b, self, "ordering", (Order::Relaxed, Scope::Sys), b.int(64));
        [0, 8].map(|offset| b.load(b.byte_offset_constant(line, offset), b.int(64), &attributes))
    }

    fn polls_in_order(&self) -> bool {
        // The load is the same, and each would invalidate the caches.
        false
    }

    fn before_group_release(&self, b: &Builder) {
        // The release that follows the barrier waits for the stores of its own wave only: every wave has to have
        // brought its own as far as L2 before it (LLVM's AMDGPU memory model, gfx942: release at agent scope).
        self.fence(b, Order::Release, Scope::Gpu);
    }

    fn before_barrier<'c: 'a, 'a>(&self, b: &Builder<'c>, barrier: OperationRef<'c, 'a>) {
        // A barrier's own release waits for no vector memory, as all waves of a block share their first cache. The
        // fence keeps LLVM from moving stores after the wait.
        let is_ours = |before: OperationRef<'c, 'a>| {
            name(before) == "rocdl.s.waitcnt"
                && before.attribute("bitfield").is_ok_and(|bits| bits == b.integer(32, WAIT_FOR_VECTOR_MEMORY))
        };
        if !previous_in_block(barrier).is_some_and(is_ours) {
            self.fence(b, Order::Release, Scope::Cta);
        }
    }

    fn warp_barrier(&self, b: &Builder) {
        // A wave runs in step; only the compiler has to be told: by fences of what it may not move, and by a barrier
        // that is convergent and becomes no instruction. Without it LLVM runs the other lanes' way through what follows
        // to its end before the first lane has polled.
        let fence = || {
            b.op(
                "llvm.fence",
                &[],
                &[],
                &[("ordering", b.integer(64, ordering::ACQ_REL)), ("syncscope", b.string("wavefront"))],
            );
        };
        fence();
        b.intrinsic("llvm.amdgcn.wave.barrier", &[], &[]);
        fence();
    }

    fn nanoseconds<'c>(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        // s_memrealtime counts at 100 MHz.
        b.mul(intrinsic(b, "llvm.amdgcn.s.memrealtime", &[], b.int(64)), b.i64(10))
    }

    fn is_first_here<'c>(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        let always = b.constant(b.int(1), 1);
        let here = intrinsic(b, "llvm.amdgcn.ballot.i64", &[always], b.int(64));
        let low = b.value("arith.trunci", &[here], b.int(32), &[]);
        let high = b.value("arith.trunci", &[b.binary("arith.shrui", here, b.i64(32))], b.int(32), &[]);
        let before = intrinsic(b, "llvm.amdgcn.mbcnt.lo", &[low, b.i32(0)], b.int(32));
        let before = intrinsic(b, "llvm.amdgcn.mbcnt.hi", &[high, before], b.int(32));
        b.compare(CmpiPredicate::Eq, before, b.i32(0))
    }

    fn backoff(&self, b: &Builder) {
        b.op("rocdl.s.sleep", &[], &[], &[("count", b.integer(32, 1))]);
    }

    fn cached_load<'c: 'a, 'a>(&self, _: &Builder<'c>, _: RemoteLoad<'c, 'a>) -> Option<Value<'c, 'c>> {
        None
    }

    fn cached_store<'c: 'a, 'a>(&self, _: &Builder<'c>, _: RemoteStore<'c, 'a>) -> bool {
        false
    }
}

/// A call of an LLVM intrinsic for AMD GPUs.
fn intrinsic<'c>(b: &Builder<'c>, name: &str, operands: &[Value<'c, 'c>], result: Type<'c>) -> Value<'c, 'c> {
    b.intrinsic(name, operands, &[result]).result(0).expect("one result was asked for").into()
}
