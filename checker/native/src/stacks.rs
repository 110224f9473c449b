//! The stacks of tasks: each has a page after its end that nobody may touch. Those that no task has any more are kept
//! for others.

use crate::fiber::SPARE;
use corosensei::stack::DefaultStack;
use std::collections::HashMap;
use std::{fs, io};

/// Mappings that are left for what else the process does.
const OTHERS: usize = 8 << 10;
/// A stack is two mappings: the page that nobody may touch, and what comes before it.
const MAPPINGS: usize = 2;
/// Bytes of addresses that are left for it. An allocation that fails would end the process without a report.
const ROOM: usize = 256 << 20;
/// Whether they are left is looked at before so many bytes of stacks.
const AT_ONCE: usize = 64 << 20;

/// Stacks by their size.
pub struct Stacks {
    free: HashMap<usize, Vec<DefaultStack>>,
    made: usize,
    most: usize,
    /// Bytes of stacks that may be made until it is looked at what is left.
    allowed: usize,
}

impl Default for Stacks {
    fn default() -> Self {
        Self { free: HashMap::new(), made: 0, most: most(), allowed: 0 }
    }
}

impl Stacks {
    /// A stack of this many bytes, and some to spare.
    ///
    /// # Errors
    /// The system has no more memory or mappings than the process may need besides.
    pub fn take(&mut self, bytes: usize) -> io::Result<DefaultStack> {
        if let Some(stack) = self.free.get_mut(&bytes).and_then(Vec::pop) {
            return Ok(stack);
        }
        if self.made >= self.most {
            let most = self.most;
            return Err(io::Error::other(format!("{most} are in use, and the system maps no more (vm.max_map_count)")));
        }
        let all = bytes + SPARE;
        if self.allowed < all {
            DefaultStack::new(ROOM)?;
            self.allowed = AT_ONCE.max(all);
        }
        let stack = DefaultStack::new(all)?;
        self.allowed -= all;
        self.made += 1;
        Ok(stack)
    }

    /// Keeps a stack for another task.
    pub fn give_back(&mut self, bytes: usize, stack: DefaultStack) {
        self.free.entry(bytes).or_default().push(stack);
    }
}

/// How many stacks the system maps for this process.
fn most() -> usize {
    let limit = fs::read_to_string("/proc/sys/vm/max_map_count").ok().and_then(|text| text.trim().parse().ok());
    let used = fs::read_to_string("/proc/self/maps").map_or(0, |maps| maps.lines().count());
    limit.map_or(usize::MAX, |limit: usize| limit.saturating_sub(used + OTHERS) / MAPPINGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_maps_no_more_than_so_many() {
        let mut stacks = Stacks { most: 2, ..Stacks::default() };
        let [first, _second] = [4096, 4096].map(|bytes| stacks.take(bytes).unwrap());
        let error = stacks.take(4096).map(drop).unwrap_err().to_string();
        assert_eq!(error, "2 are in use, and the system maps no more (vm.max_map_count)");
        stacks.give_back(4096, first);
        assert!(stacks.take(4096).is_ok());
        assert!((1..1 << 40).contains(&most()) || most() == usize::MAX);
    }
}
