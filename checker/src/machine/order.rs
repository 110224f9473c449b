//! Order that no value carries: fences, barriers, launches (rules O1 to O3).

use super::{Arrival, Head, Launched, Machine, State, reaches};
use crate::clock::{Clock, Epoch};
use crate::history::{Knowledge, Part};
use crate::op::{Answer, COPIES, Order, Site};
use crate::task::{Scope, TaskId};
use std::rc::Rc;

impl Machine {
    /// A release fence covers later relaxed writes, an acquire fence earlier relaxed reads.
    pub(super) fn fence(&mut self, task: TaskId, order: Order, scope: Scope, site: &Site) {
        let step = self.now(task);
        let fence = || Part { step, site: site.clone(), scope, is_fence: true };
        if order.acquires() {
            for &read in self.states[task].unfenced.values() {
                self.misses.push(self.misses[read].with_fence(fence()));
            }
            if scope == Scope::Sys {
                self.states[task].unfenced.clear();
            }
            for seen in std::mem::take(&mut self.states[task].unacquired) {
                // It takes it at the narrower of its own scope and the read's.
                let (reaches_me, reaches_them) = reaches(&seen.head, &self.tasks, task, scope.min(seen.read.scope));
                if reaches_me && reaches_them {
                    self.states[task].knowledge.join(&seen.head.knowledge);
                    continue;
                }
                self.misses.push(seen.missed(fence()));
                self.states[task].unacquired.push(seen);
            }
        }
        if order.releases() {
            let state = &mut self.states[task];
            state.fences.retain(|fence| fence.scope > scope);
            let knowledge = Rc::new(state.knowledge.kept());
            state.fences.push(Rc::new(Head { task, scope, knowledge, parts: vec![fence()] }));
        }
    }

    /// Comes to a barrier, or leaves it: all that its tasks knew when they came, each knows when it leaves.
    pub(super) fn barrier(&mut self, task: TaskId, key: u64, members: &[TaskId], site: &Site) -> Option<Answer> {
        if let Some(Arrival::MayLeave(known)) = self.states[task].barrier.take() {
            self.states[task].knowledge.join(&known);
            return Some(Answer::None);
        }
        let before_put = self.states[task].before_put.filter(|_| key & COPIES != 0);
        self.tick(task);
        self.states[task].before_put = before_put;
        self.states[task].barrier = Some(Arrival::Waits);
        if self.tasks[task].is_host() {
            *self.arrivals.entry((task, site.clone())).or_default() += 1;
        }
        let here = self.barriers.entry(key).or_default();
        here.push(task);
        if here.len() == members.len() {
            here.clear();
            let (mut known, mut all) = (Knowledge::default(), Clock::default());
            for &member in members {
                let State { knowledge: Knowledge { order, seen, settled }, before_put, .. } = &self.states[member];
                all.join(order);
                known.seen.join(seen);
                known.settled.join(settled);
                match *before_put {
                    Some(step) => known.order.join(&order.clone().up_to(Epoch { task: member, step })),
                    None => known.order.join(order),
                }
            }
            let put = (all != known.order).then(|| Rc::new(all));
            let known = Rc::new(known);
            for &member in members {
                let state = &mut self.states[member];
                state.barrier = Some(Arrival::MayLeave(known.clone()));
                state.put = put.clone().or(state.put.take());
            }
        }
        None
    }

    /// How often a host has come to a barrier at a place of its program.
    pub(crate) fn arrivals(&self, host: TaskId, site: &Site) -> usize {
        self.arrivals.get(&(host, site.clone())).copied().unwrap_or(0)
    }

    /// What the launcher has done comes before what it launches.
    pub(super) fn launch(&mut self, task: TaskId, others: &[TaskId], site: &Site) {
        let mut known = self.states[task].knowledge.clone();
        known.settled.join(&known.order);
        let nth = self.launches.entry((task, site.clone())).or_default();
        *nth += 1;
        let launch = Rc::new(Launched { site: site.clone(), nth: *nth, known: known.order.clone() });
        for &other in others {
            let mut knowledge = std::mem::take(&mut self.states[other].knowledge);
            self.launched.entry(other).or_default().push((knowledge.order.of(other), launch.clone()));
            knowledge.join(&known);
            // What an earlier launch of it has left comes before the launcher.
            self.states[other] = State { knowledge, has_started: true, ..State::default() };
        }
    }

    /// What was launched comes before what follows the join.
    pub(super) fn join(&mut self, task: TaskId, others: &[TaskId]) {
        for &other in others {
            let known = self.states[other].knowledge.clone();
            self.states[task].knowledge.join(&known);
        }
    }
}
