//! Vector clocks: what of every task a task knows to have happened.

use crate::task::TaskId;
use std::rc::Rc;

/// One step of one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epoch {
    /// The task.
    pub task: TaskId,
    /// The number of its step, from 1 on.
    pub step: u32,
}

/// For each task, the last of its steps that comes before. Tasks that are not in it: none. Copies take no room of their
/// own until one of them changes: each signal keeps some, and they are as long as there are tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clock(Rc<[u32]>);

impl Clock {
    /// The last step of a task that comes before; 0 if none does.
    #[must_use]
    #[inline]
    pub fn of(&self, task: TaskId) -> u32 {
        self.0.get(task).copied().unwrap_or(0)
    }

    /// Whether a step comes before.
    #[must_use]
    #[inline]
    pub fn covers(&self, epoch: Epoch) -> bool {
        self.of(epoch.task) >= epoch.step
    }

    /// Whether everything that another clock knows is known here.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        other.0.iter().enumerate().all(|(task, &step)| self.of(task) >= step)
    }

    /// Learns what another clock knows.
    pub fn join(&mut self, other: &Self) {
        if self.0.is_empty() || Rc::ptr_eq(&self.0, &other.0) {
            self.0 = other.0.clone();
            return;
        }
        if self.includes(other) {
            return;
        }
        for (mine, &theirs) in self.steps(other.0.len()).iter_mut().zip(&*other.0) {
            *mine = (*mine).max(theirs);
        }
    }

    /// The steps, of this many tasks at least, to be changed.
    #[inline]
    fn steps(&mut self, tasks: usize) -> &mut [u32] {
        if self.0.len() < tasks {
            let none = std::iter::repeat_n(0, tasks - self.0.len());
            self.0 = self.0.iter().copied().chain(none).collect();
        }
        Rc::make_mut(&mut self.0)
    }

    /// What it knows, but of one task no more than this step.
    #[must_use]
    pub fn up_to(mut self, epoch: Epoch) -> Self {
        if self.of(epoch.task) > epoch.step {
            self.steps(0)[epoch.task] = epoch.step;
        }
        self
    }

    /// Learns of a step of a task, and of all before it.
    pub fn reach(&mut self, epoch: Epoch) {
        if self.of(epoch.task) < epoch.step {
            self.steps(epoch.task + 1)[epoch.task] = epoch.step;
        }
    }

    /// This many more steps of a task.
    #[inline]
    pub fn advance(&mut self, task: TaskId, steps: u32) {
        let step = self.of(task).wrapping_add(steps);
        self.reach(Epoch { task, step });
    }

    /// One more step of a task.
    #[inline]
    pub fn tick(&mut self, task: TaskId) -> Epoch {
        let step = &mut self.steps(task + 1)[task];
        *step += 1;
        Epoch { task, step: *step }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_joined_is_covered() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        let first = a.tick(0);
        let other = b.tick(2);
        assert!(a.covers(first) && !a.covers(other) && !b.includes(&a));
        b.join(&a);
        assert!(b.covers(first) && b.covers(other) && b.includes(&a) && !a.includes(&b));
        let second = a.tick(0);
        assert!(!b.covers(second));
    }

    #[test]
    fn copies_take_no_room_until_one_of_them_changes() {
        let mut clock = Clock::default();
        clock.tick(2);
        let kept = clock.clone();
        let mut other = Clock::default();
        other.join(&clock);
        clock.join(&kept);
        clock.reach(Epoch { task: 2, step: 1 });
        assert!([&clock, &other].into_iter().all(|each| Rc::ptr_eq(&each.0, &kept.0)));
        clock.tick(2);
        assert_eq!([&clock, &other, &kept].map(|each| each.of(2)), [2, 1, 1]);
    }
}
