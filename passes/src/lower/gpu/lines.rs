//! The lines of packets on a GPU: one thread polls all lines of its value at once.

use super::Target;
use super::far::Far;
use super::order::global;
use crate::ir::Builder;
use crate::ir::packets::{Flag, Halves, Line};
use crate::lower::packets::{self, missing};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::Value;
use symm_abi::wait::EAGER_POLLS;

/// Lines as a target accesses them.
pub struct Lines<'c, 't> {
    pub target: &'t dyn Target,
    /// The peer that gets them, if it may be far.
    pub far: Option<Far<'c>>,
}

impl<'c> packets::Lines<'c> for Lines<'c, '_> {
    fn address(&self, b: &Builder<'c>, slots: Value<'c, 'c>) -> Value<'c, 'c> {
        global(b, slots)
    }

    fn store(&self, b: &Builder<'c>, line: Value<'c, 'c>, halves: Halves<'c>, flag: Flag<'c>) {
        let store = |b: &Builder<'c>| self.target.store_line(b, line, halves, flag.is_in_words());
        match &self.far {
            None => store(b),
            Some(far) => b.either(far.near, store, |b| far.store_line(b, line, halves)),
        }
    }

    fn load(&self, b: &Builder<'c>, line: Value<'c, 'c>, flag: Flag<'c>) -> Halves<'c> {
        self.target.load_line(b, line, flag.is_in_words())
    }

    fn wait(&self, b: &Builder<'c>, lines: &[Line<'c>], flag: Flag<'c>) -> Vec<Halves<'c>> {
        let results = b.repeat(
            &[b.i64(0)],
            |b, polled| {
                let impatient = b.compare(CmpiPredicate::Sge, polled[0], b.i64(EAGER_POLLS));
                b.when(impatient, |b| self.target.backoff(b));
                let found: Vec<_> = lines.iter().map(|line| packets::load(b, self, *line, flag)).collect();
                let missing = missing(b, lines, &found, flag);
                let polled = b.add(polled[0], b.i64(1));
                (missing, std::iter::once(polled).chain(found.into_iter().flatten()).collect())
            },
            |_, values| vec![values[0]],
        );
        results[1..].chunks(2).map(|halves| [halves[0], halves[1]]).collect()
    }
}
