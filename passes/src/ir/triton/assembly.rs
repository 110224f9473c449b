//! What Triton has no op for, in the assembly of the GPU: fences, a load that acquires, a pause.

use super::amd_deadline;
use super::deadline::{Awaited, Deadline};
use super::words::assembly;
use crate::ir::Builder;
use crate::target::TritonTarget;
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{Type, Value, ValueLike};
use symm_dialect::ops::{Order, Scope};
use symm_dialect::shape::byte_width;

impl TritonTarget {
    /// Whether its memory model is known here.
    pub fn has_order(&self) -> bool {
        match self {
            Self::Cuda(capability) => *capability >= 70,
            Self::Hip(chip) => matches!(chip.as_str(), "gfx942" | "gfx950"),
        }
    }

    /// The order that is left to an atomic after what [`TritonTarget::releases_first`] asks for.
    pub fn order_of_atomic(&self, order: Order) -> Order {
        match order {
            Order::Release if self.releases_first() => Order::Relaxed,
            Order::AcqRel if self.releases_first() => Order::Acquire,
            order => order,
        }
    }

    /// Whether every thread has to release what it did before the barrier that precedes a release. On AMD a release
    /// waits for the stores of its own wave only, and LLVM, which does not count the write-back of L2 (`buffer_wbl2`)
    /// as memory traffic, may drop the wait for it: ours stays.
    pub fn releases_first(&self) -> bool {
        matches!(self, Self::Hip(_))
    }

    /// A fence of every thread.
    pub fn fence(&self, b: &Builder, order: Order, scope: Scope) {
        let (text, constraints) = match self {
            Self::Cuda(_) => (format!("fence.acq_rel.{};\nmov.u32 $0, 0;", scope.keyword()), "=r,~{memory}"),
            Self::Hip(_) => {
                let bits = cache_bits(scope);
                let mut lines = Vec::new();
                if order.releases() && scope > Scope::Cta {
                    lines.push(format!("buffer_wbl2 {bits}"));
                }
                lines.push("s_waitcnt vmcnt(0) lgkmcnt(0)".into());
                if order.acquires() {
                    lines.push(format!("buffer_inv {bits}"));
                }
                lines.push("v_mov_b32 $0, 0".into());
                (lines.join("\n"), "=v,~{memory}")
            }
        };
        assembly(b, &text, constraints, &[], b.int(32));
    }

    /// Whether a poll that acquires costs no more than one that does not, and less than a fence after it.
    pub fn polls_in_order(&self) -> bool {
        matches!(self, Self::Cuda(_))
    }

    /// Reads a flag in every thread. Triton's volatile loads would do where it is relaxed, but on AMD those of 3.6 are
    /// plain ones.
    pub fn load_flag<'c>(
        &self,
        b: &Builder<'c>,
        flag: Value<'c, '_>,
        ty: Type<'c>,
        (order, scope): (Order, Scope),
    ) -> Value<'c, 'c> {
        let is_wide = byte_width(ty) == 8;
        match self {
            Self::Cuda(_) => {
                let (bits, register) = if is_wide { (64, "l") } else { (32, "r") };
                let (order, scope) = (order.keyword(), scope.keyword());
                let text = format!("ld.{order}.{scope}.global.b{bits} $0, [$1];");
                assembly(b, &text, &format!("={register},l,~{{memory}}"), &[flag], ty)
            }
            Self::Hip(_) => {
                let (width, bits) = (if is_wide { "dwordx2" } else { "dword" }, cache_bits(scope));
                let text = format!("global_load_{width} $0, $1, off {bits}\ns_waitcnt vmcnt(0)");
                assembly(b, &text, "=&v,v,~{memory}", &[flag], ty)
            }
        }
    }

    /// Polls a flag in every thread until it is as asked, or its deadline is over.
    pub fn poll_until<'c>(
        &self,
        b: &Builder<'c>,
        (flag, predicate, expected): (Value<'c, 'c>, CmpiPredicate, Value<'c, 'c>),
        scope: Scope,
        (deadline, eager_polls): (Deadline<'c>, i64),
    ) {
        if matches!(self, Self::Hip(_)) {
            return amd_deadline::poll_until(self, b, (flag, predicate, expected), scope, deadline);
        }
        let is_wide = byte_width(expected.r#type()) == 8;
        let text = deadline.polls(predicate, if is_wide { 64 } else { 32 }, scope, eager_polls);
        let constraints = format!("=r,l,{},l,~{{memory}}", if is_wide { "l" } else { "r" });
        assembly(b, &text, &constraints, &[flag, expected, deadline.record], b.int(32));
    }

    /// Has every thread look at a deadline whose program has polled `polls` times; when it began to, by its own clock.
    pub fn look<'c>(
        &self,
        b: &Builder<'c>,
        place: &Awaited<'c>,
        (polls, start): (Value<'c, 'c>, Value<'c, 'c>),
        deadline: Deadline<'c>,
    ) -> Value<'c, 'c> {
        if matches!(self, Self::Hip(_)) {
            return amd_deadline::look(self, b, place, (polls, start), deadline);
        }
        let operands = [deadline.record, place.address, place.expected, place.seen, polls, start];
        assembly(b, &deadline.looks(), "=l,l,l,l,l,r,l,~{memory}", &operands, b.int(64))
    }

    /// Acquires, in every thread, what the writer of a flag has released.
    pub fn acquire<'c>(&self, b: &Builder<'c>, flag: Value<'c, '_>, ty: Type<'c>, scope: Scope) {
        match self {
            Self::Cuda(_) => {
                // Cheaper than a fence, which waits for stores too.
                self.load_flag(b, flag, ty, (Order::Acquire, scope));
            }
            Self::Hip(_) => self.fence(b, Order::Acquire, scope),
        }
    }

    /// The time: in nanoseconds on NVIDIA GPUs, in ticks of 10 on AMD's.
    pub fn time<'c>(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        match self {
            Self::Cuda(_) => assembly(b, "mov.u64 $0, %globaltimer;", "=l,~{memory}", &[], b.int(64)),
            Self::Hip(_) => amd_deadline::clock(b),
        }
    }

    /// Whether it has an engine for tensors.
    pub fn has_engine(&self) -> bool {
        matches!(self, Self::Cuda(90..))
    }

    /// Whether Triton divides a whole kernel among partitions of the warps where one loop of it is to be.
    pub fn specializes_kernels(&self) -> bool {
        matches!(self, Self::Cuda(90..100))
    }

    /// Waits in every thread until the stores that it has handed to the engine for tensors are done, but for the last
    /// `pending` groups of them: Triton waits until their source may be overwritten.
    pub fn complete_stores(&self, b: &Builder, pending: i64) {
        if self.has_engine() {
            let text = format!("cp.async.bulk.wait_group {pending};\nmov.u32 $0, 0;");
            assembly(b, &text, "=r,~{memory}", &[], b.int(32));
        }
    }

    /// Orders what a thread has acquired before the loads that it hands to that engine, which are of another proxy.
    pub fn order_loads(&self, b: &Builder) {
        if self.has_engine() {
            assembly(b, "fence.proxy.async.global;\nmov.u32 $0, 0;", "=r,~{memory}", &[], b.int(32));
        }
    }

    /// A zero that is not known to the compiler, `i32`.
    pub fn zero<'c>(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        let (text, constraints) = match self {
            Self::Cuda(_) => ("mov.u32 $0, 0;", "=r"),
            Self::Hip(_) => ("s_mov_b32 $0, 0", "=s"),
        };
        assembly(b, text, constraints, &[], b.int(32))
    }

    /// Lets other warps go first for a while.
    pub fn pause(&self, b: &Builder) {
        let (text, constraints) = match self {
            Self::Cuda(_) => ("nanosleep.u32 64;\nmov.u32 $0, 0;", "=r"),
            Self::Hip(_) => ("s_sleep 1\nv_mov_b32 $0, 0", "=v"),
        };
        assembly(b, text, constraints, &[], b.int(32));
    }
}

/// PTX's name for a comparison of integers of this many bits.
pub fn compare_as(predicate: CmpiPredicate, bits: u32) -> String {
    let (name, kind) = match predicate {
        CmpiPredicate::Eq => ("eq", 's'),
        CmpiPredicate::Ne => ("ne", 's'),
        CmpiPredicate::Slt => ("lt", 's'),
        CmpiPredicate::Sle => ("le", 's'),
        CmpiPredicate::Sgt => ("gt", 's'),
        CmpiPredicate::Sge => ("ge", 's'),
        CmpiPredicate::Ult => ("lt", 'u'),
        CmpiPredicate::Ule => ("le", 'u'),
        CmpiPredicate::Ugt => ("gt", 'u'),
        CmpiPredicate::Uge => ("ge", 'u'),
    };
    format!("{name}.{kind}{bits}")
}

/// How gfx942 says how far an access or a fence reaches.
fn cache_bits(scope: Scope) -> &'static str {
    match scope {
        Scope::Cta => "sc0",
        Scope::Cluster | Scope::Gpu => "sc1",
        Scope::Sys => "sc0 sc1",
    }
}
