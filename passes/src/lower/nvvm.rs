//! Lowers kernels to LLVM and NVVM operations for NVIDIA GPUs.
//!
//! Loads, stores, fences and compare-and-swap are LLVM atomics, which the NVPTX backend prints with their order and
//! scope. `atomicrmw` is not: the backend drops both, which in PTX means `.relaxed.gpu`. So every read-modify-write
//! is PTX text.
//!
//! ```mlir
//! symm.signal add %ctx, %flag[%i], %one, %peer group block : memref<4xi64>, i64
//! ```
//!
//! becomes
//!
//! ```mlir
//! gpu.barrier
//! scf.if %is_first_thread {
//!   llvm.inline_asm has_side_effects "atom.release.sys.global.add.u64 $0, [$1], $2;", …
//! }
//! ```
//!
//! Host code is dropped: what is left is what the device runs. Limits (S1): `sm_70` and later; scope cluster and bf16
//! atomics from `sm_90`; no check or print in kernels.

mod ptx;
mod updates;
mod words;

use super::gpu::{SIZES, Target, lower_module, order};
use super::refuse_atomic;
use crate::ir::address::GLOBAL;
use crate::ir::packets::Halves;
use crate::ir::{Builder, collect, enclosing, is_kernel, name, select, set_attribute, structure};
use crate::pass::{Ir, OptionKind, Pass, PassOption, Values};
use melior::dialect::arith::CmpiPredicate;
use melior::dialect::llvm;
use melior::ir::{OperationRef, TypeLike, Value, ValueLike, operation::OperationLike};
use symm_abi::far::NVSHMEM;
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{Accessing, Cache, Engine, Order, RemoteLoad, RemoteStore, RmwKind, Scope, SymmOp};
use symm_dialect::pointer::{Pointer, is_block_memory};
use symm_dialect::shape::byte_width;
use symm_dialect::{ENGINE_ATTRIBUTE, module_has};

/// The chips that can be asked for.
pub const CHIPS: &[&str] = &[
    "sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103",
    "sm_103a", "sm_110", "sm_110a", "sm_120", "sm_120a", "sm_121", "sm_121a",
];

/// The GPU to compile for.
pub const CHIP: PassOption =
    PassOption { name: "chip", kind: OptionKind::Choice(CHIPS), initial: "sm_90", help: "the GPU to compile for" };

/// Whether an update that is widened is an error.
const STRICT: PassOption = PassOption {
    name: "strict",
    kind: OptionKind::Bool,
    initial: "false",
    help: "report an error instead of widening an update that is not symm's",
};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-lower-to-nvvm",
    summary: "Lower kernels to LLVM and NVVM operations for an NVIDIA GPU",
    options: &[CHIP, STRICT],
    run,
};

fn run(root: OperationRef, options: &Values) -> Result<Ir, Reported> {
    let digits: String = options.text("chip").chars().filter(char::is_ascii_digit).collect();
    let Ok(sm) = digits.parse() else { return Err(error(root, "S1: unknown chip")) };
    let target = Nvvm { sm };
    updates::check(root, &target, options.flag("strict"))?;
    bound_registers(root);
    lower_module(root, &target)?;
    Ok(Ir::Changed)
}

/// The most threads of a block.
const MOST_THREADS: &str = "array<i32: 1024>";

/// Has the assembler give no kernel more registers than blocks of any size have for each thread, where an engine's
/// functions take some: without a word of how large its blocks are a kernel gets as many as it may use.
fn bound_registers(root: OperationRef) {
    let is_meant = |op: OperationRef| {
        let is_said = || SIZES.iter().any(|size| op.has_attribute(size));
        is_kernel(op) && name(op) == structure::GPU_FUNC && module_has(&op, ENGINE_ATTRIBUTE) && !is_said()
    };
    for kernel in select(root, |op| is_meant(op).then_some(op)) {
        set_attribute(kernel, "nvvm.maxntid", Builder::before(kernel).parse(MOST_THREADS));
    }
}

struct Nvvm {
    /// The compute capability, times ten.
    sm: u32,
}

/// Whether a kernel that runs `op` may have dynamic shared memory of its own: what it holds, and what any function
/// holds that it may call. A function may be called by any kernel.
fn may_take_dynamic_shared(op: OperationRef) -> bool {
    let function = |op| enclosing(op, &[structure::GPU_FUNC, structure::FUNC]);
    let kernel = function(op).filter(|function| is_kernel(*function));
    let is_near = |taker| {
        let taker = function(taker);
        kernel.is_none() || taker == kernel || !taker.is_some_and(is_kernel)
    };
    enclosing(op, &[structure::GPU_MODULE]).is_some_and(|module| {
        collect(module).into_iter().any(|op| name(op) == "gpu.dynamic_shared_memory" && is_near(op))
    })
}

impl Target for Nvvm {
    fn engine(&self) -> Option<&'static str> {
        Some(NVSHMEM)
    }

    fn refusal(&self, op: SymmOp) -> Option<String> {
        if let Some(complaint) = refuse_atomic(op) {
            return Some(complaint.into());
        }
        if op.scope() == Some(Scope::Cluster) && self.sm < 90 {
            return Some(format!("scope cluster needs sm_90, the chip is sm_{}", self.sm));
        }
        let is_bulk = op.engine() == Some(Engine::Bulk);
        if is_bulk && self.sm < 90 {
            return Some(format!("engine bulk needs sm_90, the chip is sm_{}", self.sm));
        }
        // Neither generic, which is 0, nor global.
        let is_other = |ty| is_block_memory(ty) || Pointer::address_space(ty) > GLOBAL.into();
        let is_elsewhere = [op.src(), op.dst()].into_iter().flatten().any(|end| is_other(end.r#type()));
        if is_bulk && is_elsewhere {
            return Some("engine bulk copies from global to global memory: let the threads copy".into());
        }
        if is_bulk && may_take_dynamic_shared(op.operation()) {
            let complaint = "engine bulk needs the kernel's dynamic shared memory for itself, and \
                             gpu.dynamic_shared_memory takes it too: let the threads copy";
            return Some(complaint.into());
        }
        match op.accessing()? {
            Accessing::AtomicRmw(op) => {
                let ty = op.value().r#type();
                (op.kind() == RmwKind::FAdd && ty.is_bf16() && self.sm < 90)
                    .then(|| format!("fadd of bf16 needs sm_90, the chip is sm_{}", self.sm))
            }
            Accessing::RemoteLoad(op) => match op.cache()? {
                cache @ (Cache::Wb | Cache::Wt) => Some(format!("PTX has no load with .{}", cache.keyword())),
                Cache::Ca | Cache::Cg | Cache::Cs | Cache::Cv => {
                    words::refuse_width(op.result().r#type(), op.mask().is_some_and(|mask| mask.r#type().is_vector()))
                }
            },
            Accessing::RemoteStore(op) => match op.cache()? {
                cache @ (Cache::Ca | Cache::Cv) => Some(format!("PTX has no store with .{}", cache.keyword())),
                Cache::Cg | Cache::Cs | Cache::Wb | Cache::Wt => {
                    words::refuse_width(op.value().r#type(), op.mask().is_some_and(|mask| mask.r#type().is_vector()))
                }
            },
            Accessing::AtomicCas(_)
            | Accessing::Signal(_)
            | Accessing::Wait(_)
            | Accessing::PutSignal(_)
            | Accessing::Get(_)
            | Accessing::Put(_)
            | Accessing::Copy(_)
            | Accessing::PutPacket(_)
            | Accessing::WaitPacket(_)
            | Accessing::TryPacket(_) => None,
        }
    }

    fn sync_scope(&self, scope: Scope) -> &'static str {
        match scope {
            Scope::Cta => "block",
            Scope::Cluster => "cluster",
            Scope::Gpu => "device",
            Scope::Sys => "",
        }
    }

    fn warp_size(&self) -> i64 {
        32
    }

    fn size<'c: 'a, 'a>(&self, _: &Builder<'c>, _: OperationRef<'c, 'a>) -> Option<Value<'c, 'c>> {
        None
    }

    fn atomic_rmw<'c>(
        &self,
        b: &Builder<'c>,
        kind: RmwKind,
        ptr: Value<'c, 'c>,
        value: Value<'c, 'c>,
        (order, scope): (Order, Scope),
    ) -> Value<'c, 'c> {
        let ty = value.r#type();
        if kind == RmwKind::Xchg && byte_width(ty) == 2 {
            return self.exchange16(b, ptr, value, (order, scope));
        }
        let (name, operand) = match kind {
            // PTX has no subtraction.
            RmwKind::Sub => ("add", b.binary("arith.subi", b.constant(ty, 0), value)),
            RmwKind::Add | RmwKind::FAdd => ("add", value),
            RmwKind::Min | RmwKind::UMin => ("min", value),
            RmwKind::Max | RmwKind::UMax => ("max", value),
            RmwKind::Xchg => ("exch", value),
            RmwKind::And | RmwKind::Or | RmwKind::Xor => (kind.keyword(), value),
        };
        let (ptx, register) = ptx::atomic_type(kind, ty);
        let text = format!("atom.{}.{}.global.{name}.{ptx} $0, [$1], $2;", ptx::order_name(order), scope.keyword());
        ptx::inline(b, &text, &format!("={register},l,{register},~{{memory}}"), &[ptr, operand], Some(ty))
            .expect("a result")
    }

    fn fence(&self, b: &Builder, order: Order, scope: Scope) {
        order::fence(b, self, order, scope);
    }

    fn store_flag<'c>(&self, b: &Builder<'c>, ptr: Value<'c, 'c>, value: Value<'c, 'c>, order: (Order, Scope)) {
        order::store(b, self, ptr, value, order);
    }

    fn atomic_cas<'c>(
        &self,
        b: &Builder<'c>,
        ptr: Value<'c, 'c>,
        values: (Value<'c, 'c>, Value<'c, 'c>),
        order: (Order, Scope),
    ) -> Value<'c, 'c> {
        order::cmpxchg(b, self, ptr, values, order)
    }

    fn store_line<'c>(&self, b: &Builder<'c>, line: Value<'c, 'c>, [first, second]: Halves<'c>, words: bool) {
        // Of a vector PTX promises that its elements are accessed as wholes: a half is one, or a word.
        if words {
            let words = [first, second].into_iter().flat_map(|half| ptx::words(b, half));
            let operands: Vec<_> = std::iter::once(line).chain(words).collect();
            let text = "st.relaxed.sys.global.v4.b32 [$0], {$1, $2, $3, $4};";
            ptx::inline(b, text, "l,r,r,r,r,~{memory}", &operands, None);
        } else {
            let text = "st.relaxed.sys.global.v2.b64 [$0], {$1, $2};";
            ptx::inline(b, text, "l,l,l,~{memory}", &[line, first, second], None);
        }
    }

    fn load_line<'c>(&self, b: &Builder<'c>, line: Value<'c, 'c>, words: bool) -> Halves<'c> {
        if words {
            let four = llvm::r#type::r#struct(b.context, &[b.int(32); 4], false);
            let text = "ld.relaxed.sys.global.v4.b32 {$0, $1, $2, $3}, [$4];";
            let found = ptx::inline(b, text, "=r,=r,=r,=r,l,~{memory}", &[line], Some(four)).expect("a result");
            return [0, 2].map(|low| ptx::half(b, [low, low + 1].map(|word| b.extract(found, &[word], b.int(32)))));
        }
        let halves = llvm::r#type::r#struct(b.context, &[b.int(64); 2], false);
        let text = "ld.relaxed.sys.global.v2.b64 {$0, $1}, [$2];";
        let found = ptx::inline(b, text, "=l,=l,l,~{memory}", &[line], Some(halves)).expect("a result");
        [0, 1].map(|half| b.extract(found, &[half], b.int(64)))
    }

    fn polls_in_order(&self) -> bool {
        // A fence of system scope takes 0.6 µs, `ld.acquire` no longer than any load.
        true
    }

    fn before_group_release(&self, _: &Builder) {
        // bar.sync orders the block's writes before the release that follows it, and PTX's causality order carries
        // them along (PTX ISA, memory consistency model: causality order).
    }

    fn before_barrier<'c: 'a, 'a>(&self, _: &Builder<'c>, _: OperationRef<'c, 'a>) {
        // A release after a barrier releases what the barrier orders.
    }

    fn warp_barrier(&self, b: &Builder) {
        b.op("nvvm.bar.warp.sync", &[b.i32(-1)], &[], &[]);
    }

    fn nanoseconds<'c>(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        ptx::inline(b, "mov.u64 $0, %globaltimer;", "=l", &[], Some(b.int(64))).expect("a result")
    }

    fn is_first_here<'c>(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        // Not assembly: the intrinsic is convergent, in MLIR too.
        let here = b.intrinsic("llvm.nvvm.activemask", &[], &[b.int(32)]).result(0).expect("one result").into();
        let below = b.value("nvvm.read.ptx.sreg.lanemask.lt", &[], b.int(32), &[]);
        let before = b.binary("arith.andi", here, below);
        b.compare(CmpiPredicate::Eq, before, b.i32(0))
    }

    fn backoff(&self, b: &Builder) {
        b.op("nvvm.nanosleep", &[b.i32(64)], &[], &[]);
    }

    fn cached_load<'c: 'a, 'a>(&self, b: &Builder<'c>, op: RemoteLoad<'c, 'a>) -> Option<Value<'c, 'c>> {
        Some(words::load(b, op, op.cache()?))
    }

    fn cached_store<'c: 'a, 'a>(&self, b: &Builder<'c>, op: RemoteStore<'c, 'a>) -> bool {
        let Some(cache) = op.cache() else { return false };
        words::store(b, op, cache);
        true
    }
}

impl Nvvm {
    /// PTX exchanges 32 bits or more, but compares and swaps 16. (LLVM's own compare-and-swap of 16 bits reads the
    /// word around them with a plain load and swaps all of it.)
    fn exchange16<'c>(
        &self,
        b: &Builder<'c>,
        ptr: Value<'c, 'c>,
        value: Value<'c, 'c>,
        (order, scope): (Order, Scope),
    ) -> Value<'c, 'c> {
        let (word, ty) = (b.int(16), value.r#type());
        let desired = ptx::bitcast(b, value, word);
        let text = format!("atom.{}.{}.global.cas.b16 $0, [$1], $2, $3;", ptx::order_name(order), scope.keyword());
        let first = b.load(ptr, word, &order::atomic(b, self, "ordering", (Order::Relaxed, scope), word));
        let result = b.repeat(
            &[first],
            |b, expected| {
                let operands = [ptr, expected[0], desired];
                let old = ptx::inline(b, &text, "=h,l,h,h,~{memory}", &operands, Some(word)).expect("a result");
                (b.compare(CmpiPredicate::Ne, old, expected[0]), vec![old])
            },
            |_, old| old.to_vec(),
        );
        ptx::bitcast(b, result[0], ty)
    }
}
