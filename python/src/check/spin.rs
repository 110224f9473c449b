//! Loops that poll in vain. A program that reads the same values at the same lines twice, with the same values of all
//! its variables, does so forever, unless another task changes what it reads.

use symm_checker::op::{Range, Site};

/// How many reads are remembered.
const MOST_READS: usize = 64;
/// How often variables are compared before a loop is taken for one that counts.
const MOST_TRIES: usize = 64;

/// A read, and what was seen.
#[derive(PartialEq, Clone)]
struct Seen {
    site: Site,
    ranges: Vec<Range>,
    bytes: Vec<u8>,
}

/// What a task has read since it last wrote.
#[derive(Default)]
pub struct Trace {
    reads: Vec<Seen>,
    /// The variables, as they were at a read that may be a loop's.
    state: Option<(Site, i64)>,
    tries: usize,
    /// Whether variables are to be compared at the next op.
    pub asks: bool,
}

impl Trace {
    /// The task has written, or done something else that a loop in vain does not do.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// The task has read.
    pub fn note(&mut self, site: Site, ranges: Vec<Range>, bytes: Vec<u8>) {
        if self.reads.len() == MOST_READS {
            self.reads.remove(0);
        }
        self.reads.push(Seen { site, ranges, bytes });
    }

    /// What a loop reads that comes to a line again in vain; `state` is that of its variables.
    pub fn polls(&mut self, site: &Site, state: Option<i64>) -> Option<(Vec<Range>, Vec<u8>)> {
        let length = self.repeats(site);
        self.asks = length.is_some() && self.tries < MOST_TRIES;
        let now = (site.clone(), state?);
        let cycle = &self.reads[self.reads.len() - length?..];
        if self.state.replace(now.clone()).is_none_or(|before| before != now) {
            self.tries += 1;
            return None;
        }
        let ranges = cycle.iter().flat_map(|seen| seen.ranges.clone()).collect();
        let bytes = cycle.iter().flat_map(|seen| seen.bytes.clone()).collect();
        Some((ranges, bytes))
    }

    /// How many reads are the same as those before them, from a read at this line on.
    fn repeats(&self, site: &Site) -> Option<usize> {
        let reads = &self.reads;
        let is_loop = |&length: &usize| {
            let (cycle, end) = (reads.len() - length, reads.len());
            reads[cycle].site == *site && reads[cycle - length..cycle] == reads[cycle..end]
        };
        (1..=reads.len() / 2).find(is_loop)
    }
}
