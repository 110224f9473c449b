//! The lines of packets on a GPU: one thread polls all lines of its value at once.

use super::Target;
use super::order::global;
use crate::ir::Builder;
use crate::ir::packets::{Halves, Line};
use crate::lower::packets::{self, missing};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::Value;
use symm_abi::wait::EAGER_POLLS;

/// Lines as a target accesses them.
pub struct Lines<'t>(pub &'t dyn Target);

impl<'c> packets::Lines<'c> for Lines<'_> {
    fn address(&self, b: &Builder<'c>, slots: Value<'c, 'c>) -> Value<'c, 'c> {
        global(b, slots)
    }

    fn store(&self, b: &Builder<'c>, line: Value<'c, 'c>, halves: Halves<'c>) {
        self.0.store_line(b, line, halves);
    }

    fn load(&self, b: &Builder<'c>, line: Value<'c, 'c>) -> Halves<'c> {
        self.0.load_line(b, line)
    }

    fn wait(&self, b: &Builder<'c>, lines: &[Line<'c>], epoch: Value<'c, 'c>) -> Vec<Halves<'c>> {
        let results = b.repeat(
            &[b.i64(0)],
            |b, polled| {
                let impatient = b.compare(CmpiPredicate::Sge, polled[0], b.i64(EAGER_POLLS));
                b.when(impatient, |b| self.0.backoff(b));
                let found: Vec<_> = lines.iter().map(|line| packets::load(b, self, *line)).collect();
                let missing = missing(b, lines, &found, epoch);
                let polled = b.add(polled[0], b.i64(1));
                (missing, std::iter::once(polled).chain(found.into_iter().flatten()).collect())
            },
            |_, values| vec![values[0]],
        );
        results[1..].chunks(2).map(|halves| [halves[0], halves[1]]).collect()
    }
}
