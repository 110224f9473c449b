//! Loops that poll in vain. A program that reads the same values at the same lines twice, with the same values of all
//! its variables but those that only count, does so forever, unless another task changes what it reads. Where a
//! variable may end the loop, it is taken to poll in vain after many looks.

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

/// What a loop reads in vain: where, and what is there.
pub struct Vain {
    pub ranges: Vec<Range>,
    pub bytes: Vec<u8>,
    /// Whether it may end by itself after more looks.
    pub may_end: bool,
}

/// What a task has read since it last wrote.
#[derive(Default)]
pub struct Trace {
    reads: Vec<Seen>,
    /// How many reads there were, those among them that are not remembered.
    count: usize,
    /// The variables, as they were at each look since those have repeated themselves, and after how many reads.
    states: Vec<(Site, i64, usize)>,
    /// How often it has looked, and seen what it had seen before.
    vain: usize,
    /// Whether its loop ends by itself.
    ends: bool,
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
        self.count += 1;
    }

    /// What a loop reads that comes to a line again in vain; one that may end by itself does so after `most` looks.
    /// `state` is that of its variables, if that was asked for and the loop may go on forever.
    pub fn polls(&mut self, site: &Site, state: Option<i64>, most: usize) -> Option<Vain> {
        let was_asked = std::mem::take(&mut self.asks);
        if !self.repeats(site) {
            (self.vain, self.ends) = (0, false);
            self.states.clear();
            return None;
        }
        self.ends |= was_asked && state.is_none();
        if self.ends {
            return None;
        }
        self.vain += 1;
        let since = state.and_then(|state| self.before(site, state));
        if since.is_none() && self.vain < most {
            self.asks = self.states.len() < MOST_TRIES;
            return None;
        }
        self.vain = 0;
        self.states.clear();
        let mut seen: Vec<&Seen> = Vec::new();
        for read in &self.reads[self.reads.len() - since.unwrap_or(self.reads.len())..] {
            if !seen.iter().any(|known| (&known.ranges, &known.bytes) == (&read.ranges, &read.bytes)) {
                seen.push(read);
            }
        }
        let ranges = seen.iter().flat_map(|seen| seen.ranges.clone()).collect();
        let bytes = seen.iter().flat_map(|seen| seen.bytes.clone()).collect();
        Some(Vain { ranges, bytes, may_end: since.is_none() })
    }

    /// How many reads ago the variables were the same here, if that is known.
    fn before(&mut self, site: &Site, state: i64) -> Option<usize> {
        let same = self.states.iter().rev().find(|before| (&before.0, before.1) == (site, state));
        let since = same.map(|before| self.count - before.2).filter(|since| (1..=self.reads.len()).contains(since));
        self.states.push((site.clone(), state, self.count));
        since
    }

    /// Whether the last reads are the same as those before them, from a read at this line on.
    fn repeats(&self, site: &Site) -> bool {
        let reads = &self.reads;
        (1..=reads.len() / 2).any(|length| {
            let (cycle, end) = (reads.len() - length, reads.len());
            reads[cycle].site == *site && reads[cycle - length..cycle] == reads[cycle..end]
        })
    }
}
