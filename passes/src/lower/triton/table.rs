//! Ranks, bases and distances from the context table, as Triton's loads (T1, T3 to T5).
//!
//! A word of the table is loaded once, right after the definition of the context, for every question about it.

mod range;
mod reach;

pub use reach::{is_near, pe, reach};

use super::trace;
use crate::ir::triton::words::{self, constant_like, element_wise};
use crate::ir::{Builder, constant_value, definition, lasting, name, set_attribute, signed};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::r#type::ShapedTypeLike;
use melior::ir::{Attribute, Type, Value, ValueLike, operation::OperationLike};
use std::collections::HashMap;
use symm_abi::heap::{HEAP_ALIGN, UNMAPPED_IN_TRITON};
use symm_abi::table::{FAR, HEADER_WORDS, NUM_RANKS, RANK};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{Ctx, Question, SymmOp};
use symm_dialect::shape::{Shaped, integer_width, scalar};
use symm_dialect::{
    ENGINE_ATTRIBUTE, HEAP_STRIDE_ATTRIBUTE, NUM_RANKS_ATTRIBUTE, TABLE_IN_HEAP_ATTRIBUTE, aligned_range,
    is_current_rank, module_has, module_integer,
};

/// Where Triton is told what divides a value.
const DIVISIBILITY: &str = "tt.divisibility";

/// What has been loaded and computed so far.
#[derive(Default)]
pub struct Tables<'c, 'a> {
    tables: HashMap<usize, LoadedTable<'c, 'a>>,
    /// A distance in bytes, and the size of an element: the distance in elements.
    elements: HashMap<(usize, u64), Value<'c, 'c>>,
}

/// One context.
pub struct LoadedTable<'c, 'a> {
    ctx: Ctx<'c, 'a>,
    /// The words that have been loaded.
    words: HashMap<usize, Value<'c, 'c>>,
    /// The same as `i32`.
    narrow: HashMap<usize, Value<'c, 'c>>,
    /// The base of this rank's heap.
    mine: Option<Value<'c, 'c>>,
    /// Whether a rank is near, and its reach, for each that has been asked about, and the reach of one out of range.
    near: HashMap<(usize, i64), (Value<'c, 'c>, Value<'c, 'c>)>,
    /// Where this rank's trace buffer is.
    trace: Option<Value<'c, 'c>>,
    /// The last value made after the context: the next one comes after it.
    last: Value<'c, 'c>,
    /// How many ranks the table has, where that has been asked.
    ranks: Option<Value<'c, 'c>>,
    stride: Option<i64>,
    num_ranks: Option<i64>,
    /// Whether the table's address says whose it is.
    in_heap: bool,
    /// Whether an engine reaches some ranks.
    has_engine: bool,
}

fn address(value: Value) -> usize {
    value.to_raw().ptr as usize
}

impl<'c: 'a, 'a> Tables<'c, 'a> {
    /// The table of the context that `op` takes; S1 if its definition is not in sight.
    pub fn of(&mut self, op: SymmOp<'c, 'a>) -> Result<&mut LoadedTable<'c, 'a>, Reported> {
        let operation = op.operation();
        let ctx = op.ctx().expect("an op about ranks has a context");
        let Some(SymmOp::Ctx(made)) = definition(ctx).and_then(SymmOp::cast) else {
            return Err(error(operation, "S1: takes a context that a symm.ctx of the same function makes"));
        };
        Ok(self.tables.entry(address(ctx)).or_insert_with(|| LoadedTable {
            ctx: made,
            words: HashMap::new(),
            narrow: HashMap::new(),
            mine: None,
            near: HashMap::new(),
            trace: None,
            last: lasting(ctx),
            ranks: None,
            stride: module_integer(&operation, HEAP_STRIDE_ATTRIBUTE),
            num_ranks: module_integer(&operation, NUM_RANKS_ATTRIBUTE),
            in_heap: module_has(&operation, TABLE_IN_HEAP_ATTRIBUTE),
            has_engine: module_has(&operation, ENGINE_ATTRIBUTE),
        }))
    }

    /// What an op that asks about ranks and bases returns.
    pub fn answer(
        &mut self,
        b: &Builder<'c>,
        op: SymmOp<'c, 'a>,
        question: Question<'c, 'a>,
    ) -> Result<Value<'c, 'c>, Reported> {
        let table = self.of(op)?;
        Ok(match question {
            Question::Rank(_) => table.rank(),
            Question::NumRanks(_) => table.num_ranks(),
            Question::HeapBase(op) => {
                let ty = op.result().r#type();
                let base = table.base(b, op.rank());
                b.value("tt.int_to_ptr", &[base], ty, &[])
            }
            Question::HeapDelta(op) => table.delta(b, op.rank()),
            Question::IsNear(op) => table.is_near(b, op.rank(), FAR),
            Question::Ctx(_) => unreachable!("contexts go last"),
        })
    }

    /// The distance that an op adds to its pointer in elements of `size` bytes, `i64`; `None` if it adds none (T2).
    pub fn elements(
        &mut self,
        b: &Builder<'c>,
        op: SymmOp<'c, 'a>,
        (rank, delta): (&str, &str),
        size: u64,
    ) -> Result<Option<Value<'c, 'c>>, Reported> {
        let rank = op.operand_group(rank)[0];
        if op.ctx().is_some_and(|ctx| is_current_rank(ctx, rank)) {
            return Ok(None);
        }
        let bytes = match op.operand_group(delta).first() {
            Some(delta) => lasting(*delta),
            None => self.of(op)?.delta(b, rank),
        };
        if constant_value(bytes) == Some(0) {
            return Ok(None);
        }
        Ok(Some(*self.elements.entry((address(bytes), size)).or_insert_with(|| in_elements(b.context, bytes, size))))
    }
}

/// A distance in bytes as one in elements; Triton is told what divides it (T4).
fn in_elements<'c>(context: &'c melior::Context, bytes: Value<'c, 'c>, size: u64) -> Value<'c, 'c> {
    if size == 1 {
        return bytes;
    }
    let b = Builder::after_value(context, bytes);
    let shift = b.i64(i64::from(size.trailing_zeros()));
    let divisibility = divisibility(&b, HEAP_ALIGN / size, b.int(64));
    b.value("arith.shrsi", &[bytes, shift], b.int(64), &[(DIVISIBILITY, divisibility)])
}

impl<'c: 'a, 'a> LoadedTable<'c, 'a> {
    /// A value right after the context, and after those that were made there before.
    fn early(&mut self, make: impl FnOnce(&Builder<'c>) -> Value<'c, 'c>) -> Value<'c, 'c> {
        let context = symm_dialect::context(self.last.context());
        let b = Builder::after_value_at(context, self.last, self.ctx.operation().location());
        self.last = make(&b);
        self.last
    }

    /// A word of the table, `i64`.
    fn word(&mut self, index: usize) -> Value<'c, 'c> {
        if let Some(word) = self.words.get(&index) {
            return *word;
        }
        let table = self.ctx.table();
        let word = self.early(|b| {
            const { assert!(RANK == 0, "it is where the table starts") };
            let address = if index == RANK { lasting(table) } else { words::offset(b, table, b.i64(signed(index))) };
            words::load_words(b, address, b.int(64))
        });
        self.words.insert(index, word);
        word
    }

    /// The current rank, `i64`.
    fn wide_rank(&mut self) -> Value<'c, 'c> {
        match self.ctx.rank() {
            Some(rank) => self.early(|b| b.as_i64(rank)),
            None => self.words.get(&RANK).copied().unwrap_or_else(|| self.rank_by_address()),
        }
    }

    /// The current rank, `i64`: which heap of the range the table lies in, if it lies in one, or what it says (T5).
    fn rank_by_address(&mut self) -> Value<'c, 'c> {
        let Some((offset, stride)) = self.offset_in_range() else { return self.word(RANK) };
        let rank = self.early(|b| b.binary("arith.divui", offset, b.i64(stride)));
        self.words.insert(RANK, rank);
        rank
    }

    /// How far from the start of the first heap the table lies, if that is known, and the stride.
    fn offset_in_range(&mut self) -> Option<(Value<'c, 'c>, i64)> {
        let (stride, ranks) = (self.stride?, self.num_ranks?);
        if !self.in_heap || self.ctx.rank().is_some() {
            return None;
        }
        let range = aligned_range(ranks, stride)?;
        let address = self.address();
        Some((self.early(|b| b.binary("arith.andi", address, b.i64(range - 1))), stride))
    }

    /// The address of the table, `i64`.
    pub fn address(&mut self) -> Value<'c, 'c> {
        let table = self.ctx.table();
        self.early(|b| b.value("tt.ptr_to_int", &[table], b.int(64), &[]))
    }

    /// The current rank, `i32`.
    pub fn rank(&mut self) -> Value<'c, 'c> {
        match self.ctx.rank() {
            Some(rank) => lasting(rank),
            None => self.header(RANK),
        }
    }

    /// The number of ranks, `i32`.
    pub fn num_ranks(&mut self) -> Value<'c, 'c> {
        match (self.num_ranks, self.ctx.num_ranks()) {
            (Some(number), _) => self.early(|b| b.i32(number)),
            (None, Some(number)) => lasting(number),
            (None, None) => self.header(NUM_RANKS),
        }
    }

    fn header(&mut self, index: usize) -> Value<'c, 'c> {
        if let Some(narrow) = self.narrow.get(&index) {
            return *narrow;
        }
        let word = if index == RANK { self.wide_rank() } else { self.word(index) };
        let narrow = self.early(|b| b.value("arith.trunci", &[word], b.int(32), &[]));
        self.narrow.insert(index, narrow);
        narrow
    }

    /// The base of this rank's heap, `i64`.
    pub fn my_base(&mut self) -> Value<'c, 'c> {
        if let Some(base) = self.mine {
            return base;
        }
        let mine = if let Some((offset, stride)) = self.offset_in_range() {
            let address = self.address();
            let past = self.early(|b| b.binary("arith.remui", offset, b.i64(stride)));
            self.early(|b| b.binary("arith.subi", address, past))
        } else {
            let (me, table, words) = (self.wide_rank(), self.ctx.table(), self.words_before_bases());
            self.early(|b| base(b, table, words, me))
        };
        self.mine = Some(mine);
        mine
    }

    /// The address of this rank's trace buffer, `i64`, or 0.
    pub fn trace_buffer(&mut self) -> Value<'c, 'c> {
        if let Some(buffer) = self.trace {
            return buffer;
        }
        let mine = self.my_base();
        let buffer = self.early(|b| trace::buffer_of(b, mine));
        self.trace = Some(buffer);
        buffer
    }

    /// How many words of the table come before the bases.
    fn words_before_bases(&self) -> i64 {
        if self.ctx.rank().is_some() { 0 } else { signed(HEADER_WORDS) }
    }

    /// The base of a rank's heap as this rank sees it, `i64`; 0 if the rank is out of range.
    fn base(&mut self, b: &Builder<'c>, rank: Value<'c, 'a>) -> Value<'c, 'c> {
        if is_current_rank(self.ctx.ctx(), rank) {
            return self.my_base();
        }
        self.guarded(b, rank, |table, rank| table.look_up(b, rank), 0)
    }

    /// The distance in bytes from this rank's heap to `rank`'s (T1); one that leads to no memory if it is out of range.
    fn delta(&mut self, b: &Builder<'c>, rank: Value<'c, 'a>) -> Value<'c, 'c> {
        if is_current_rank(self.ctx.ctx(), rank) {
            return b.i64(0);
        }
        let distance = if let Some(stride) = self.stride {
            let me = self.wide_rank();
            let ranks = b.binary("arith.subi", b.as_i64(rank), me);
            let distance = b.mul(ranks, b.i64(stride));
            self.if_in_range(b, rank, distance, UNMAPPED_IN_TRITON)
        } else {
            let mine = self.my_base();
            self.guarded(
                b,
                rank,
                |table, rank| {
                    let theirs = table.look_up(b, rank);
                    b.binary("arith.subi", theirs, mine)
                },
                UNMAPPED_IN_TRITON,
            )
        };
        // An element of one byte is counted by this very value.
        if let Some(op) = definition(distance) {
            set_attribute(op, DIVISIBILITY, divisibility(b, HEAP_ALIGN, b.int(64)));
        }
        distance
    }

    /// The distances in elements of `size` bytes from this rank's heap to those of a tensor of ranks, one for each;
    /// looked up before the tensor is stretched, as Triton then knows along which dimensions they are the same.
    pub fn elements_each(&mut self, b: &Builder<'c>, rank: Value<'c, 'a>, size: u64) -> Value<'c, 'c> {
        let ty = element_wise(rank.r#type(), b.int(64));
        // A Triton op may have been read without its dialect, and take anything.
        let from = definition(rank).and_then(|op| Some((op, op.operands().next()?)));
        let from = from.filter(|(op, from)| {
            let ty = from.r#type();
            let is_tensor = Shaped::tensor(ty).is_some();
            is_tensor != (name(*op) == "tt.splat") && integer_width(if is_tensor { scalar(ty) } else { ty }) == Some(32)
        });
        match from {
            Some((op, from)) if name(op) == "tt.splat" => {
                let bytes = self.delta(b, from);
                b.value("tt.splat", &[in_elements(b.context, bytes, size)], ty, &[])
            }
            Some((op, from)) if matches!(name(op), "tt.broadcast" | "tt.expand_dims" | "ttg.convert_layout") => {
                let inner = self.elements_each(b, from, size);
                let axis = op.attribute("axis").ok().map(|axis| ("axis", axis));
                b.value(name(op), &[inner], ty, axis.as_slice())
            }
            _ => {
                let bytes = self.delta_each(b, lasting(rank), ty);
                if size == 1 {
                    return bytes;
                }
                let shift = constant_like(b, i64::from(size.trailing_zeros()), ty);
                let divisibility = divisibility(b, HEAP_ALIGN / size, ty);
                b.value("arith.shrsi", &[bytes, shift], ty, &[(DIVISIBILITY, divisibility)])
            }
        }
    }

    /// `delta` for each of a tensor of ranks.
    fn delta_each(&mut self, b: &Builder<'c>, ranks: Value<'c, 'c>, ty: Type<'c>) -> Value<'c, 'c> {
        let count = words::splat_like(b, self.num_ranks(), ty);
        let truth = element_wise(ty, b.int(1));
        let below = b.integer(64, CmpiPredicate::Ult as i64);
        let in_range = b.value("arith.cmpi", &[ranks, count], truth, &[("predicate", below)]);
        let zero = constant_like(b, 0, ranks.r#type());
        let index = b.value("arith.select", &[in_range, ranks, zero], ranks.r#type(), &[]);
        let index = b.value("arith.extsi", &[index], ty, &[]);
        let distance = if let Some(stride) = self.stride {
            let me = words::splat_like(b, self.wide_rank(), ty);
            let ranks = b.binary("arith.subi", index, me);
            b.binary("arith.muli", ranks, constant_like(b, stride, ty))
        } else {
            let mine = words::splat_like(b, self.my_base(), ty);
            let first = words::offset(b, self.ctx.table(), b.i64(self.words_before_bases()));
            let table = words::splat_like(b, first, ty);
            let words = b.value("tt.addptr", &[table, index], table.r#type(), &[]);
            b.binary("arith.subi", words::load_words(b, words, ty), mine)
        };
        let unmapped = constant_like(b, UNMAPPED_IN_TRITON, ty);
        let divisibility = divisibility(b, HEAP_ALIGN, ty);
        b.value("arith.select", &[in_range, distance, unmapped], ty, &[(DIVISIBILITY, divisibility)])
    }

    /// The base of a rank's heap, `i64`. The rank is in range.
    pub fn look_up(&self, b: &Builder<'c>, rank: Value<'c, 'c>) -> Value<'c, 'c> {
        base(b, self.ctx.table(), self.words_before_bases(), b.as_i64(rank))
    }
}

/// The base of a rank's heap, `i64`.
fn base<'c>(b: &Builder<'c>, table: Value<'c, '_>, words_before: i64, rank: Value<'c, 'c>) -> Value<'c, 'c> {
    let index = if words_before == 0 { rank } else { b.add(rank, b.i64(words_before)) };
    words::load_words(b, words::offset(b, table, index), b.int(64))
}

/// A divisor of a value, or of the elements of a tensor along each dimension.
fn divisibility<'c>(b: &Builder<'c>, divisor: u64, ty: Type<'c>) -> Attribute<'c> {
    let dimensions = Shaped::tensor(ty).map_or(1, |tensor| tensor.rank());
    b.parse(&format!("dense<{divisor}> : tensor<{dimensions}xi32>"))
}
