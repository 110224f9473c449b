//! Who is near, as the context table says (N1).

use super::{LoadedTable, address};
use crate::analysis::dominance::later;
use crate::ir::triton::words::{self, constant_like, element_wise};
use crate::ir::{Builder, lasting, signed};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::operation::OperationLike;
use melior::ir::{Value, ValueLike};
use symm_abi::table::{FAR, HEADER_WORDS, NEAR, REACH};
use symm_dialect::is_current_rank;
use symm_dialect::shape::Shaped;

impl<'c: 'a, 'a> LoadedTable<'c, 'a> {
    /// Whether a rank's heap is mapped, `i1` (N1); one that is out of range is said to be as `otherwise` says.
    pub fn is_near(&mut self, b: &Builder<'c>, rank: Value<'c, 'a>, otherwise: i64) -> Value<'c, 'c> {
        if !self.has_engine || is_current_rank(self.ctx.ctx(), rank) {
            return b.constant(b.int(1), 1);
        }
        if let Some(known) = self.near.get(&(address(rank), otherwise)) {
            return *known;
        }
        // Nothing moves a load out of a loop later: it stands where the rank is known, outside loops in which that
        // stays the same.
        self.num_ranks();
        let b = Builder::after_value_at(b.context, later(self.last, rank), self.ctx.operation().location());
        let first = self.first_reach(&b);
        let reach = self.guarded(&b, rank, |_, rank| reach(&b, first, rank), otherwise);
        let near = b.compare(CmpiPredicate::Ne, reach, b.i64(FAR));
        self.near.insert((address(rank), otherwise), near);
        near
    }

    /// Whether the heaps of all ranks are mapped for which a mask is true, `i1`. The engine is not called for a rank
    /// that is out of range.
    pub fn are_near(&mut self, b: &Builder<'c>, rank: Value<'c, 'a>, mask: Option<Value<'c, 'c>>) -> Value<'c, 'c> {
        if Shaped::tensor(rank.r#type()).is_none() {
            return self.is_near(b, rank, NEAR);
        }
        let ty = element_wise(rank.r#type(), b.int(64));
        let count = words::splat_like(b, self.num_ranks(), ty);
        let compare = |predicate: CmpiPredicate, one, other| {
            let truth = element_wise(ty, b.int(1));
            b.value("arith.cmpi", &[one, other], truth, &[("predicate", b.integer(64, predicate as i64))])
        };
        let mut is_asked = compare(CmpiPredicate::Ult, lasting(rank), count);
        let zero = constant_like(b, 0, rank.r#type());
        let index = b.value("arith.select", &[is_asked, lasting(rank), zero], rank.r#type(), &[]);
        let first = words::splat_like(b, self.first_reach(b), ty);
        let index = b.value("arith.extsi", &[index], ty, &[]);
        let reaches = words::load_words(b, b.value("tt.addptr", &[first, index], first.r#type(), &[]), ty);
        if let Some(mask) = mask {
            is_asked = b.binary("arith.andi", is_asked, mask);
        }
        let is_far = b.binary("arith.andi", compare(CmpiPredicate::Eq, reaches, constant_like(b, FAR, ty)), is_asked);
        let any = words::reduced(b, b.value("arith.extui", &[is_far], ty, &[]), "arith.ori");
        b.compare(CmpiPredicate::Eq, any, b.i64(0))
    }

    /// Likewise, if an engine reaches some ranks.
    pub fn reaches(&mut self, b: &Builder<'c>) -> Option<Value<'c, 'c>> {
        self.has_engine.then(|| self.first_reach(b))
    }

    /// Where the table says of rank 0 whether it is near.
    fn first_reach(&mut self, b: &Builder<'c>) -> Value<'c, 'c> {
        let words = b.add(b.as_i64(self.num_ranks()), b.i64(signed(HEADER_WORDS + REACH)));
        words::offset(b, self.ctx.table(), words)
    }
}

/// What the table says of a rank, `i64`.
pub fn reach<'c>(b: &Builder<'c>, first: Value<'c, 'c>, rank: Value<'c, 'c>) -> Value<'c, 'c> {
    words::load_words(b, words::offset(b, first, b.as_i64(rank)), b.int(64))
}
