//! Who is near, and the engine's numbers of the others, as the context table says (N1).

use super::{LoadedTable, address};
use crate::analysis::dominance::later;
use crate::ir::triton::words::{self, constant_like, element_wise};
use crate::ir::{Builder, lasting, signed};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::operation::OperationLike;
use melior::ir::{Value, ValueLike};
use symm_abi::table::{HEADER_WORDS, NEAR, NUM_RANKS, REACH};
use symm_dialect::is_current_rank;
use symm_dialect::shape::Shaped;

/// What the engine is given for a rank that is out of range, in a block with far ones: no run has it, so that no other
/// rank's memory is touched.
const NO_PE: i64 = i32::MAX as i64;

impl<'c: 'a, 'a> LoadedTable<'c, 'a> {
    /// Whether a rank's heap is mapped, `i1` (N1); one that is out of range has the reach `otherwise`.
    pub fn is_near(&mut self, b: &Builder<'c>, rank: Value<'c, 'a>, otherwise: i64) -> Value<'c, 'c> {
        if !self.has_engine || is_current_rank(self.ctx.ctx(), rank) {
            return b.constant(b.int(1), 1);
        }
        self.look_at(b, rank, otherwise).0
    }

    /// Likewise, and the rank's reach.
    fn look_at(&mut self, b: &Builder<'c>, rank: Value<'c, 'a>, otherwise: i64) -> (Value<'c, 'c>, Value<'c, 'c>) {
        if let Some(known) = self.near.get(&(address(rank), otherwise)) {
            return *known;
        }
        // Nothing moves a load out of a loop later: it stands where the rank is known, outside loops in which that
        // stays the same.
        self.num_ranks();
        let b = Builder::after_value_at(b.context, later(self.last, rank), self.ctx.operation().location());
        let first = self.first_reach(&b);
        let reach = self.guarded(&b, rank, |_, rank| reach(&b, first, rank), otherwise);
        let found = (is_near(&b, reach), reach);
        self.near.insert((address(rank), otherwise), found);
        found
    }

    /// Whether the heaps of all ranks are mapped for which a mask is true, `i1`, and the engine's numbers of the ranks.
    /// The engine is not called for a rank that is out of range.
    pub fn are_near(
        &mut self,
        b: &Builder<'c>,
        rank: Value<'c, 'a>,
        mask: Option<Value<'c, 'c>>,
    ) -> (Value<'c, 'c>, Value<'c, 'c>) {
        if Shaped::tensor(rank.r#type()).is_none() {
            let (near, reach) = self.look_at(b, rank, NEAR);
            return (near, pe(b, reach));
        }
        let ty = element_wise(rank.r#type(), b.int(64));
        let count = self.ranks_of_table();
        let count = words::splat_like(b, b.value("arith.trunci", &[count], b.int(32), &[]), ty);
        let compare = |predicate: CmpiPredicate, one, other| {
            let truth = element_wise(ty, b.int(1));
            b.value("arith.cmpi", &[one, other], truth, &[("predicate", b.integer(64, predicate as i64))])
        };
        let in_range = compare(CmpiPredicate::Ult, lasting(rank), count);
        let zero = constant_like(b, 0, rank.r#type());
        let index = b.value("arith.select", &[in_range, lasting(rank), zero], rank.r#type(), &[]);
        let first = words::splat_like(b, self.first_reach(b), ty);
        let index = b.value("arith.extsi", &[index], ty, &[]);
        let reaches = words::load_words(b, b.value("tt.addptr", &[first, index], first.r#type(), &[]), ty);
        let is_asked = mask.map_or(in_range, |mask| b.binary("arith.andi", in_range, mask));
        let is_far = compare(CmpiPredicate::Sge, reaches, constant_like(b, 0, ty));
        let is_far = b.binary("arith.andi", is_far, is_asked);
        let any = words::reduced(b, b.value("arith.extui", &[is_far], ty, &[]), "arith.ori");
        let nobody = constant_like(b, NO_PE, rank.r#type());
        let pes = b.value("arith.select", &[in_range, pe(b, reaches), nobody], rank.r#type(), &[]);
        (b.compare(CmpiPredicate::Eq, any, b.i64(0)), pes)
    }

    /// Where the reaches of ranks are, if an engine reaches some of them.
    pub fn reaches(&mut self, b: &Builder<'c>) -> Option<Value<'c, 'c>> {
        self.has_engine.then(|| self.first_reach(b))
    }

    /// Where the table has the reach of rank 0.
    fn first_reach(&mut self, b: &Builder<'c>) -> Value<'c, 'c> {
        let before = self.words_before_bases();
        let words = b.add(self.ranks_of_table(), b.i64(before + signed(REACH)));
        words::offset(b, self.ctx.table(), words)
    }

    /// The number of ranks that the table has, `i64`: a context from parts is given a bound for it, and its bases lie
    /// in a table, too.
    fn ranks_of_table(&mut self) -> Value<'c, 'c> {
        if let Some(ranks) = self.ranks {
            return ranks;
        }
        let ranks = if self.ctx.rank().is_none() {
            let ranks = self.num_ranks();
            self.early(|b| b.as_i64(ranks))
        } else {
            let (bases, back) = (self.ctx.table(), signed(NUM_RANKS) - signed(HEADER_WORDS));
            self.early(|b| words::load_words(b, words::offset(b, bases, b.i64(back)), b.int(64)))
        };
        self.ranks = Some(ranks);
        ranks
    }
}

/// The reach of a rank, `i64`.
pub fn reach<'c>(b: &Builder<'c>, first: Value<'c, 'c>, rank: Value<'c, 'c>) -> Value<'c, 'c> {
    words::load_words(b, words::offset(b, first, b.as_i64(rank)), b.int(64))
}

/// Whether a rank of such a reach is near, `i1`.
pub fn is_near<'c>(b: &Builder<'c>, reach: Value<'c, 'c>) -> Value<'c, 'c> {
    b.compare(CmpiPredicate::Slt, reach, b.i64(0))
}

/// The engine's numbers of ranks, from their reaches.
pub fn pe<'c>(b: &Builder<'c>, reach: Value<'c, 'c>) -> Value<'c, 'c> {
    b.value("arith.trunci", &[reach], element_wise(reach.r#type(), b.int(32)), &[])
}
