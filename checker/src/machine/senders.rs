//! Who may be to signal a flag that nobody has signalled: who has written it, its neighbours, or its heap.

use super::Machine;
use crate::clock::Epoch;
use crate::finding::At;
use crate::op::{Range, Site};
use std::collections::BTreeSet;

impl Machine {
    /// Of signals to other flags in the memory of one, those that nobody looks at: one may be meant for it.
    pub(crate) fn signals_beside(&self, flag: Range, waited_for: &BTreeSet<Range>) -> String {
        let Some(memory) = self.memory.allocation(flag) else { return String::new() };
        let is_lost = |other: &Range| !self.watched.contains(other) && !waited_for.contains(other);
        let lost = self.signalled.iter().filter(|(other, _)| memory.overlaps(**other) && is_lost(other));
        let say = |(other, At { task, site, .. }): (&Range, &At)| {
            format!("; {task} has signalled {other} ({site}), which nobody waits for")
        };
        lost.take(2).map(say).collect()
    }

    /// Who has stored what a place held when it was first accessed as a flag, or holds if it never was. Of writes that
    /// are ordered the last one is known.
    pub(crate) fn stored(&self, at: Range) -> Option<(Epoch, Site)> {
        self.cells.get(&at).map_or_else(|| self.shadow.weak_writes(at).pop(), |history| history.stored.clone())
    }

    /// Tasks that have stored into a heap and sent nothing there since: one may be to signal.
    pub(crate) fn stores_without_signal(&self, heap: u32, to: u32) -> Vec<(Epoch, Site)> {
        let range = Range { heap, start: 0, bytes: u64::MAX };
        let histories = || self.cells.range(Range { bytes: 0, ..range }..).take_while(|(at, _)| at.heap == heap);
        let is_later = |by: Epoch, store: Epoch| by.task == store.task && by.step > store.step;
        let has_signalled = |store: Epoch| {
            let signals = histories().flat_map(|(_, history)| history.all()).filter_map(|written| written.by);
            signals.into_iter().any(|by| is_later(by, store)) || self.has_put_after(heap, store)
        };
        let mut stores = self.shadow.weak_writes(range);
        stores.retain(|(store, _)| self.tasks[store.task].rank != to && !has_signalled(*store));
        stores
    }
}
