//! Lowers symm ops in Triton and Gluon kernels to Triton's own ops.
//!
//! Triton's vectoriser and pipeliner see ordinary loads through ordinary pointers: a translation adds the distance to
//! the rank's heap, in elements, with a `tt.divisibility` for Triton (T4). The distance is computed from words of the
//! context table, each of which is loaded once, where the table is defined (T3).
//!
//! ```mlir
//! %delta = symm.heap_delta %ctx, %peer
//! %v = symm.remote_load %ctx, %p, %peer via %delta : tensor<128x!tt.ptr<f32>> -> tensor<128xf32>
//! ```
//!
//! becomes
//!
//! ```mlir
//! %mine = "tt.load"(…)                      // of base[me]
//! %theirs = "tt.load"(…)                    // of base[peer]
//! %delta = arith.subi %theirs, %mine : i64
//! %elements = arith.shrsi %delta, %two {tt.divisibility = dense<524288> : tensor<1xi32>} : i64
//! %offsets = "tt.splat"(%elements) : (i64) -> tensor<128xi64>
//! %remote = "tt.addptr"(%p, %offsets) : (tensor<128x!tt.ptr<f32>>, tensor<128xi64>) -> tensor<128x!tt.ptr<f32>>
//! %v = "tt.load"(%remote) : (tensor<128x!tt.ptr<f32>>) -> tensor<128xf32>
//! ```
//!
//! A Triton program is one thread to its author, so every op is the whole program's, whatever its `group` says.
//! A release of any kind comes after a barrier, and an acquire before one (O3), so that a program's signal releases
//! what all of its threads did. A `wait` is a loop around a load, and no Triton pass moves a load across such a loop
//! (O4); it acquires once, after the loop (O5).
//!
//! Packets are loads, stores and loops in assembly, each of one thread, with a single barrier: the one that lets a
//! packet answer another one (P1, `packet.rs`).
//!
//! Stores of the tensor memory accelerator (TMA) are waited for before a release, and before an access of these ops
//! that may overlap one (`engine.rs`).
//!
//! With an engine (`symm.engine`), what names a rank has two paths: for a near peer the above, for a far one calls
//! (`far.rs`).
//!
//! Limits: contexts are made in the function that uses them. No bulk copies of a `count` of elements, no `wait` with a
//! timeout, no masks on `atomic_cas`. On AMD, orders for gfx942 and gfx950 only.

mod access;
mod atomic;
mod contiguous;
mod engine;
mod far;
mod floats;
mod line;
mod order;
mod packet;
mod table;
mod trace;
mod whole;

use super::gpu::Gathered;
use super::group_barriers::{GroupBarriers, Threads};
use crate::analysis::search::Direction;
use crate::ir::tags::Tags;
use crate::ir::triton::Version;
use crate::ir::triton::words::Words;
use crate::ir::{Builder, has_uses, name, remove_attribute, select, structure, symm_ops};
use crate::pass::{Ir, OptionKind, Pass, PassOption, Values};
use crate::target::{TARGET, TritonTarget};
use engine::TensorEngine;
use melior::ir::{OperationRef, Value, operation::OperationLike};
use std::collections::HashSet;
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{Action, SymmOp};
use symm_dialect::{
    DEFAULT_TIMEOUT_ATTRIBUTE, ENGINE_ATTRIBUTE, HEAP_SIZE_ATTRIBUTE, HEAP_STRIDE_ATTRIBUTE, NUM_RANKS_ATTRIBUTE,
    NUM_STAGES_ATTRIBUTE, TABLE_IN_HEAP_ATTRIBUTE,
};
use table::Tables;

/// The version of Triton that reads the result.
pub const VERSION: PassOption = PassOption {
    name: "version",
    kind: OptionKind::Form("3.6.0 or a later version of Triton", |text| text.parse::<Version>().is_ok()),
    initial: "3.9.0",
    help: "the version of Triton that reads the result",
};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-lower-to-triton",
    summary: "Lower symm ops in a Triton or Gluon kernel to Triton's ops",
    options: &[VERSION, TARGET],
    run,
};

/// The attributes of a module that are this dialect's.
const OURS: [&str; 7] = [
    NUM_RANKS_ATTRIBUTE,
    HEAP_STRIDE_ATTRIBUTE,
    HEAP_SIZE_ATTRIBUTE,
    TABLE_IN_HEAP_ATTRIBUTE,
    NUM_STAGES_ATTRIBUTE,
    ENGINE_ATTRIBUTE,
    DEFAULT_TIMEOUT_ATTRIBUTE,
];

/// What the parts of the lowering know.
struct Lowering<'c, 'a> {
    words: Words,
    target: TritonTarget,
    engine: TensorEngine,
    tables: Tables<'c, 'a>,
    barriers: GroupBarriers<'c, 'a>,
    /// The packets that are sent after others have been waited for.
    answers: HashSet<usize>,
    /// What records of a timeline are of.
    traced: Tags,
    /// Whether some of a kernel's warps run code of their own.
    is_specialized: bool,
}

fn run<'c, 'a>(root: OperationRef<'c, 'a>, options: &Values) -> Result<Ir, Reported> {
    let version = options.text("version").parse().expect("the option was checked");
    let target = options.text("target").parse().expect("the option was checked");
    let ops: Vec<SymmOp<'c, 'a>> = symm_ops(root);
    if ops.is_empty() {
        return Ok(Ir::Kept);
    }
    far::refuse_engine(&ops, &target)?;
    let is_specialized = far::is_specialized(root);
    let barriers = GroupBarriers::new(root, Threads::Program, &Gathered::default());
    let engine = TensorEngine::of(root, &ops);
    let answers = packet::answers(&ops);
    let (words, tables, traced) = (Words(version), Tables::default(), Tags::default());
    let mut lowering = Lowering { words, target, engine, tables, barriers, answers, traced, is_specialized };
    lowering.complete_waits(root, &ops)?;
    lowering.place_loop_barriers();
    // First what others take: by then they see what it has become.
    let (questions, accesses): (Vec<SymmOp>, Vec<SymmOp>) = ops.into_iter().partition(|op| op.question().is_ok());
    let mut outcome = Ok(());
    for op in questions.iter().chain(&accesses) {
        if !matches!(op, SymmOp::Ctx(_)) {
            outcome = outcome.and(lowering.lower(*op));
        }
    }
    outcome?;
    lowering.traced.leave(root);
    let contexts: Vec<_> =
        questions.into_iter().filter_map(|op| if let SymmOp::Ctx(ctx) = op { Some(ctx) } else { None }).collect();
    for ctx in &contexts {
        if has_uses(ctx.ctx()) {
            let complaint = "S1: a context is passed to a function or a block as the pointer to its table";
            outcome = Err(error(ctx.operation(), complaint));
        }
    }
    outcome?;
    for ctx in contexts {
        Builder::before(ctx.operation()).erase(ctx.operation());
    }
    // Triton knows no attributes of this dialect.
    for module in select(root, |op| (name(op) == structure::MODULE).then_some(op)) {
        for attribute in OURS {
            remove_attribute(module, attribute);
        }
    }
    Ok(Ir::Changed)
}

impl<'c: 'a, 'a> Lowering<'c, 'a> {
    /// Makes the barriers that copies need at loops.
    fn place_loop_barriers(&self) {
        for (around, _, direction) in &self.barriers.at_loops {
            let at = match direction {
                Direction::Before => *around,
                Direction::After => around.next_in_block().expect("a terminator comes after a loop"),
            };
            self.words.barrier(&Builder::before(at));
        }
    }

    fn lower(&mut self, op: SymmOp<'c, 'a>) -> Result<(), Reported> {
        let operation = op.operation();
        let b = &Builder::before(operation);
        self.refuse_order(op)?;
        self.refuse_specialized(op)?;
        self.before_access(b, op);
        let nothing = |()| None;
        let action = match op.question() {
            Err(action) => action,
            Ok(question) => {
                let answer = self.tables.answer(b, op, question)?;
                b.replace(operation, &[answer]);
                return Ok(());
            }
        };
        let result = match action {
            Action::AsRemote(remote) => Some(self.remote(b, op, remote.ptr(), ("rank", "delta"))?),
            Action::RemoteLoad(op) => Some(self.remote_load(b, op)?),
            Action::RemoteStore(op) => self.remote_store(b, op).map(nothing)?,
            Action::Get(_) | Action::Put(_) | Action::Copy(_) => self.copy_together(b, op).map(nothing)?,
            Action::AtomicRmw(op) => Some(self.atomic_rmw(b, op)?),
            Action::AtomicCas(op) => Some(self.atomic_cas(b, op)?),
            Action::Signal(op) => self.signal(b, op).map(nothing)?,
            Action::PutSignal(op) => self.put_signal(b, op).map(nothing)?,
            Action::Wait(op) => self.wait(b, op).map(nothing)?,
            Action::PutPacket(op) => self.put_packet(b, op).map(nothing)?,
            Action::WaitPacket(packet) => {
                let results = self.wait_packet(b, packet)?;
                b.replace(operation, &results);
                return Ok(());
            }
            Action::TryPacket(packet) => {
                let results = self.try_packet(b, packet)?;
                b.replace(operation, &results);
                return Ok(());
            }
            Action::Fence(op) => {
                self.fence(b, op.sem(), op.scope());
                None
            }
            Action::Barrier(op) => self.barrier(b, op).map(nothing)?,
            Action::Alloc(_) | Action::Free(_) | Action::BarrierAll(_) => {
                return Err(error(operation, "S1: is for host functions, not for kernels"));
            }
            Action::Check(_) | Action::Print(_) | Action::Fault(_) => {
                return Err(error(operation, "S1: is not available in Triton kernels; use Triton's own"));
            }
            Action::TraceBegin(op) => Some(self.trace_begin(b, op)?),
            Action::TraceEnd(op) => {
                self.trace_end(b, op)?;
                None
            }
        };
        let results: Vec<Value> = result.into_iter().collect();
        b.replace(operation, &results);
        Ok(())
    }
}
