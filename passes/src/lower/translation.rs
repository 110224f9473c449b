//! Heap-base arithmetic, the same for every target: ranks, bases and distances from the context table (T1, T3–T5).
//!
//! By then `!symm.ctx` values have become pointers to the table. Loads from the table are invariant (T3). With
//! `symm.heap_stride` on the module no base is loaded at all (T5).

use crate::ir::address::{BASE_ALIGNMENT_MASK, generic};
use crate::ir::{Builder, collect, constant_value, definition, has_uses, signed};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::attribute::StringAttribute;
use melior::ir::{Attribute, OperationRef, Type, Value, ValueLike, operation::OperationLike};
use symm_abi::WORD_BYTES;
use symm_abi::far::OPENSHMEM;
use symm_abi::heap::UNMAPPED;
use symm_abi::table::{FAR, HEADER_WORDS, NEAR, NUM_RANKS, RANK, REACH};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{Ctx, Question, SymmOp};
use symm_dialect::pointer::is_llvm_pointer;
use symm_dialect::{
    ENGINE_ATTRIBUTE, HEAP_STRIDE_ATTRIBUTE, NUM_RANKS_ATTRIBUTE, TABLE_IN_HEAP_ATTRIBUTE, aligned_range,
    is_current_rank, module_has, module_integer,
};

/// A context at the place of an op that uses it.
pub struct Table<'c, 'a> {
    ctx: Value<'c, 'a>,
    /// The pointer to the table, or to the bases alone if the context was made from parts.
    pointer: Value<'c, 'a>,
    parts: Option<(Value<'c, 'a>, Value<'c, 'a>)>,
    stride: Option<i64>,
    num_ranks: Option<i64>,
    /// Whether the table's address says whose it is.
    in_heap: bool,
    /// Whether an engine reaches some ranks.
    has_engine: bool,
}

impl<'c: 'a, 'a> Table<'c, 'a> {
    /// The context operand of `op`.
    pub fn new(op: OperationRef<'c, 'a>, ctx: Value<'c, 'a>) -> Self {
        let parts = parts(ctx);
        Self {
            ctx,
            pointer: parts.map_or(ctx, |(ctx, ..)| ctx.table()),
            parts: parts.map(|(_, rank, num_ranks)| (rank, num_ranks)),
            stride: module_integer(&op, HEAP_STRIDE_ATTRIBUTE),
            num_ranks: module_integer(&op, NUM_RANKS_ATTRIBUTE),
            in_heap: module_has(&op, TABLE_IN_HEAP_ATTRIBUTE),
            has_engine: module_has(&op, ENGINE_ATTRIBUTE),
        }
    }

    /// The current rank, `i32`.
    pub fn rank(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        match self.parts {
            Some((rank, _)) => b.cast(rank, b.int(32)),
            None => b.value("arith.trunci", &[self.wide_rank(b)], b.int(32), &[]),
        }
    }

    /// The number of ranks, `i32`.
    pub fn num_ranks(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        match (self.num_ranks, self.parts) {
            (Some(constant), _) => b.i32(constant),
            (None, Some((_, num_ranks))) => b.cast(num_ranks, b.int(32)),
            (None, None) => self.header(b, NUM_RANKS),
        }
    }

    /// The current rank, `i64`.
    fn wide_rank(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        match self.parts {
            Some((rank, _)) => b.as_i64(rank),
            None => self.rank_by_address(b).unwrap_or_else(|| self.word(b, RANK)),
        }
    }

    /// The current rank, if the table lies in its heap: which heap of the range that is.
    fn rank_by_address(&self, b: &Builder<'c>) -> Option<Value<'c, 'c>> {
        self.offset_in_range(b).map(|(offset, stride)| b.binary("arith.divui", offset, b.i64(stride)))
    }

    /// How far from the start of the first heap the table lies, if that is known, and the stride.
    fn offset_in_range(&self, b: &Builder<'c>) -> Option<(Value<'c, 'c>, i64)> {
        let (stride, ranks) = (self.stride?, self.num_ranks?);
        if !self.in_heap || self.parts.is_some() {
            return None;
        }
        let range = aligned_range(ranks, stride)?;
        let address = b.value("llvm.ptrtoint", &[self.pointer], b.int(64), &[]);
        Some((b.binary("arith.andi", address, b.i64(range - 1)), stride))
    }

    fn header(&self, b: &Builder<'c>, word: usize) -> Value<'c, 'c> {
        b.value("arith.trunci", &[self.word(b, word)], b.int(32), &[])
    }

    fn word(&self, b: &Builder<'c>, word: usize) -> Value<'c, 'c> {
        invariant_load(b, b.byte_offset_constant(self.pointer, signed(WORD_BYTES * word)), b.int(64))
    }

    /// An extension of the table, a word after the bases; `None` if the context has no table.
    pub fn extension(&self, b: &Builder<'c>, index: usize) -> Option<Value<'c, 'c>> {
        if self.parts.is_some() {
            return None;
        }
        let words = b.add(b.as_i64(self.num_ranks(b)), b.i64(signed(HEADER_WORDS + index)));
        let address = b.byte_offset(self.pointer, b.mul(words, b.i64(8)));
        Some(invariant_load(b, address, b.int(64)))
    }

    /// Whether a rank's heap is mapped, `i1` (N1): without an engine all are. One that is out of range has no heap.
    pub fn is_near(&self, b: &Builder<'c>, rank: Value<'c, 'a>) -> Value<'c, 'c> {
        self.has_reach(b, rank, FAR)
    }

    /// Whether a rank is reached by loads and stores, `i1`: one that is out of range is, at an address of no memory.
    pub fn is_accessed(&self, b: &Builder<'c>, rank: Value<'c, 'a>) -> Value<'c, 'c> {
        self.has_reach(b, rank, NEAR)
    }

    /// Whether a rank is not far; one that is out of range counts as `otherwise`.
    fn has_reach(&self, b: &Builder<'c>, rank: Value<'c, 'a>, otherwise: i64) -> Value<'c, 'c> {
        if !self.has_engine || is_current_rank(self.ctx, rank) {
            return b.constant(b.int(1), 1);
        }
        let reach = |rank| {
            let words = b.add(b.as_i64(self.num_ranks(b)), b.i64(signed(HEADER_WORDS + REACH)));
            let words = b.add(words, b.as_i64(rank));
            invariant_load(b, b.byte_offset(self.pointer, b.mul(words, b.i64(8))), b.int(64))
        };
        let reach = self.guarded(b, rank, reach, |b| b.i64(otherwise));
        b.compare(CmpiPredicate::Slt, reach, b.i64(0))
    }

    /// The base of a rank's heap as this rank sees it, of type `ty` (`i64` or a pointer). The rank is in range.
    pub fn base(&self, b: &Builder<'c>, rank: Value<'c, '_>, ty: Type<'c>) -> Value<'c, 'c> {
        let header = if self.parts.is_some() { 0 } else { signed(WORD_BYTES * HEADER_WORDS) };
        let bytes = b.mul(b.as_i64(rank), b.i64(8));
        let address = b.byte_offset(b.byte_offset_constant(self.pointer, header), bytes);
        invariant_load(b, address, ty)
    }

    /// The base of this rank's heap, a pointer: the table lies after it, if that is known.
    pub fn own_base(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        let Some((offset, stride)) = self.offset_in_range(b) else {
            return self.base(b, self.rank(b), b.ptr());
        };
        let past = b.binary("arith.remui", offset, b.i64(stride));
        b.byte_offset(self.pointer, b.binary("arith.subi", b.i64(0), past))
    }

    /// The base of a rank's heap, a pointer, where this rank's is known: with a strided heap nothing is loaded (T5).
    /// The rank is in range.
    pub fn base_from(&self, b: &Builder<'c>, mine: Value<'c, 'c>, rank: Value<'c, 'a>) -> Value<'c, 'c> {
        match self.stride {
            Some(stride) => b.byte_offset(mine, self.strided(b, rank, stride)),
            None => self.base(b, rank, b.ptr()),
        }
    }

    /// The distance in bytes from this rank's heap to `rank`'s (T1); one that leads to no memory if it is out of range.
    pub fn delta(&self, b: &Builder<'c>, rank: Value<'c, 'a>) -> Value<'c, 'c> {
        if let Some(stride) = self.stride {
            // Nothing is read, so that a rank may be anything here. A stride of ranks that do not exist leads to
            // whatever this process has mapped there.
            let distance = self.strided(b, rank, stride);
            return self.if_in_range(b, rank, distance, |b| b.i64(UNMAPPED));
        }
        let me = self.wide_rank(b);
        let distance = |rank| {
            let bases = (self.base(b, rank, b.int(64)), self.base(b, me, b.int(64)));
            let distance = b.binary("arith.subi", bases.0, bases.1);
            // The bits are zero already (T4). Now LLVM sees it too: a pointer that it knows to be aligned stays so when
            // it is translated, and neighbouring accesses become one.
            b.binary("arith.andi", distance, b.i64(BASE_ALIGNMENT_MASK))
        };
        self.guarded(b, rank, distance, |b| b.i64(UNMAPPED))
    }

    /// The distance in bytes from this rank's heap to `rank`'s, with this many bytes from each to the next (T5).
    fn strided(&self, b: &Builder<'c>, rank: Value<'c, 'a>, stride: i64) -> Value<'c, 'c> {
        let me = self.wide_rank(b);
        b.mul(b.binary("arith.subi", b.as_i64(rank), me), b.i64(stride))
    }

    /// `value`, or `otherwise` if the rank is out of range.
    fn if_in_range(
        &self,
        b: &Builder<'c>,
        rank: Value<'c, 'a>,
        value: Value<'c, 'c>,
        otherwise: impl FnOnce(&Builder<'c>) -> Value<'c, 'c>,
    ) -> Value<'c, 'c> {
        if self.is_in_range(rank) {
            return value;
        }
        let in_range = b.compare(CmpiPredicate::Ult, rank, self.num_ranks(b));
        b.value("arith.select", &[in_range, value, otherwise(b)], value.r#type(), &[])
    }

    /// What `look_up` finds for a rank, or `otherwise` if it is out of range: hoisted above the code that checks it, a
    /// rank may be anything, and only entries that exist are read.
    fn guarded(
        &self,
        b: &Builder<'c>,
        rank: Value<'c, 'a>,
        look_up: impl FnOnce(Value<'c, 'c>) -> Value<'c, 'c>,
        otherwise: impl FnOnce(&Builder<'c>) -> Value<'c, 'c>,
    ) -> Value<'c, 'c> {
        if self.is_in_range(rank) {
            return look_up(b.cast(rank, b.int(32)));
        }
        let in_range = b.compare(CmpiPredicate::Ult, rank, self.num_ranks(b));
        let index = b.value("arith.select", &[in_range, rank, b.i32(0)], b.int(32), &[]);
        let found = look_up(index);
        b.value("arith.select", &[in_range, found, otherwise(b)], found.r#type(), &[])
    }

    /// Whether a rank is known at compile time to be in range.
    fn is_in_range(&self, rank: Value<'c, 'a>) -> bool {
        match (constant_value(rank), self.num_ranks) {
            (Some(rank), Some(ranks)) => (0..ranks).contains(&rank),
            (Some(0), None) => true,
            // Another context's rank may be none of this one's.
            _ => is_current_rank(self.ctx, rank),
        }
    }
}

/// The tag of memory that never changes (T3): its loads go past every store, also in the code generator, which would
/// otherwise put them in order with each access of the block.
fn constant_memory<'c>(b: &Builder<'c>) -> Attribute<'c> {
    let table = "<id = \"symm table\", members = {<#llvm.tbaa_root<id = \"symm\">, 0>}>";
    b.parse(&format!("[#llvm.tbaa_tag<base_type = {table}, access_type = {table}, offset = 0, constant = true>]"))
}

fn invariant_load<'c>(b: &Builder<'c>, address: Value<'c, '_>, ty: Type<'c>) -> Value<'c, 'c> {
    let alignment = b.integer(64, 8);
    b.load(address, ty, &[("invariant", b.unit()), ("alignment", alignment), ("tbaa", constant_memory(b))])
}

/// The op that made a context from parts, its rank and its number of ranks.
fn parts<'c: 'a, 'a>(ctx: Value<'c, 'a>) -> Option<(Ctx<'c, 'a>, Value<'c, 'a>, Value<'c, 'a>)> {
    match SymmOp::cast(definition(ctx)?)? {
        SymmOp::Ctx(op) => Some((op, op.rank()?, op.num_ranks()?)),
        _ => None,
    }
}

/// What an op that asks about ranks and heaps becomes; `None` for a context, which goes when its uses are gone.
pub fn lower<'c: 'a, 'a>(
    question: Question<'c, 'a>,
    b: &Builder<'c>,
    at: OperationRef<'c, 'a>,
) -> Option<Value<'c, 'c>> {
    let table = |ctx| Table::new(at, ctx);
    Some(match question {
        Question::Rank(op) => table(op.ctx()).rank(b),
        Question::NumRanks(op) => table(op.ctx()).num_ranks(b),
        Question::HeapBase(op) => {
            let (table, ty) = (table(op.ctx()), op.result().r#type());
            table.guarded(b, op.rank(), |rank| table.base(b, rank, ty), |b| b.zero(ty))
        }
        Question::HeapDelta(op) => table(op.ctx()).delta(b, op.rank()),
        Question::IsNear(op) => table(op.ctx()).is_near(b, op.rank()),
        Question::Ctx(_) => return None,
    })
}

/// Refuses a module with another engine than the one that the target has (S1).
pub fn refuse_engine<'c: 'a, 'a>(root: OperationRef<'c, 'a>, known: Option<&str>) -> Result<(), Reported> {
    let has_other = |op: &OperationRef<'c, 'a>| {
        let engine = op.attribute(ENGINE_ATTRIBUTE).and_then(StringAttribute::try_from);
        engine.is_ok_and(|engine| Some(engine.value()) != known)
    };
    let Some(module) = std::iter::once(root).chain(collect(root)).find(has_other) else { return Ok(()) };
    let engine = module.attribute(ENGINE_ATTRIBUTE).and_then(StringAttribute::try_from);
    let engine = engine.map_or("", |engine| engine.value());
    let mend = if engine == OPENSHMEM {
        "which is for CPUs, and this is a GPU: compile it for a CPU, or without an engine"
    } else {
        "which is for NVIDIA GPUs: compile it for one, or without an engine"
    };
    Err(error(module, &format!("S1: needs the engine \"{engine}\", {mend}")))
}

/// Why a target can't take the table of a `symm.ctx`, if it can't (S1): a memref would have to be taken apart first.
pub fn refuse_table<'c: 'a, 'a>(op: Ctx<'c, 'a>) -> Option<&'static str> {
    (!is_llvm_pointer(op.table().r#type())).then_some("takes the table as an !llvm.ptr on this target")
}

/// Replaces a `symm.ctx`, whose uses have been lowered, by its table pointer; S1 if a use needs a table that a
/// context from parts does not have.
pub fn lower_ctx<'c: 'a, 'a>(op: Ctx<'c, 'a>, b: &Builder<'c>) -> Result<(), Reported> {
    let operation = op.operation();
    if op.rank().is_some() {
        if has_uses(op.ctx()) {
            let complaint = "S1: a context made from parts has no table to pass to a function or a block";
            return Err(error(operation, complaint));
        }
        b.erase(operation);
        return Ok(());
    }
    b.replace(operation, &[generic(b, op.table())]);
    Ok(())
}

/// The distance an op was given, or the one of its rank.
pub fn delta_of<'c: 'a, 'a>(op: SymmOp<'c, 'a>, b: &Builder<'c>, rank: &str, delta: &str) -> Value<'c, 'c> {
    if let Some(delta) = op.operand_group(delta).first() {
        return b.cast(*delta, b.int(64));
    }
    let ctx = op.ctx().expect("an op that translates has a context");
    Table::new(op.operation(), ctx).delta(b, op.operand_group(rank)[0])
}
