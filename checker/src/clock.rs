//! Vector clocks: what of every task a task knows to have happened.

use crate::task::TaskId;

/// One step of one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epoch {
    /// The task.
    pub task: TaskId,
    /// The number of its step, from 1 on.
    pub step: u32,
}

/// For each task, the last of its steps that comes before. Tasks that are not in it: none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clock(Vec<u32>);

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
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, &theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(theirs);
        }
    }

    /// What it knows, but of one task no more than this step.
    #[must_use]
    pub fn up_to(mut self, epoch: Epoch) -> Self {
        if let Some(step) = self.0.get_mut(epoch.task) {
            *step = epoch.step.min(*step);
        }
        self
    }

    /// Learns of a step of a task, and of all before it.
    pub fn reach(&mut self, epoch: Epoch) {
        if self.0.len() <= epoch.task {
            self.0.resize(epoch.task + 1, 0);
        }
        let step = &mut self.0[epoch.task];
        *step = epoch.step.max(*step);
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
        if let Some(step) = self.0.get_mut(task) {
            *step += 1;
            return Epoch { task, step: *step };
        }
        self.0.resize(task + 1, 0);
        self.0[task] = 1;
        Epoch { task, step: 1 }
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
}
