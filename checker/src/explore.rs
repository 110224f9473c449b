//! All executions of a small program that differ in what they read: depth-first search with partial-order reduction
//! (dynamic, Flanagan and Godefroid 2005) and sleep sets. Steps that touch no place in common are tried in one order
//! only.

use crate::check::Executed;
use crate::clock::{Clock, Epoch};
use crate::op::{Op, Range};
use crate::run::{Limits, Program, Run};
use crate::schedule::Choice;
use crate::task::TaskId;
use std::collections::BTreeSet;

/// One step on the way to the execution that was tried last.
struct Node {
    choice: Choice,
    ways: usize,
    op: Op,
    /// Whether it has written: an update that changes nothing has not.
    writes: bool,
    enabled: Vec<TaskId>,
    /// The tasks that would find again what they have found, and are taken to wait.
    retrying: Vec<TaskId>,
    /// The tasks to try here, and those that were tried in all ways.
    to_try: BTreeSet<TaskId>,
    tried: BTreeSet<TaskId>,
    /// The tasks whose step was tried before, and commutes with all since.
    asleep: BTreeSet<TaskId>,
    /// The steps that this one comes after in every order that reads the same.
    before: Clock,
    event: Epoch,
}

/// How often a loop reads the same until it is known that it goes on only when that changes.
const MOST_POLLS: usize = 100;

/// The search.
pub(crate) struct Search<'p> {
    program: &'p dyn Program,
    limits: Limits,
    nodes: Vec<Node>,
    is_over: bool,
}

impl<'p> Search<'p> {
    pub fn new(program: &'p dyn Program, limits: Limits) -> Self {
        // Each poll makes an execution longer, and others to try.
        let limits = Limits { polls: limits.polls.min(MOST_POLLS), ..limits };
        Self { program, limits, nodes: Vec::new(), is_over: false }
    }

    /// Whether no execution is left that was not tried.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The next execution, while the search is not over. `None`: it would have repeated another one, and was given up.
    pub fn next(&mut self) -> Option<Executed> {
        let mut run = Run::new(self.program, self.limits);
        run.await_changes();
        let known = self.nodes.len().saturating_sub(1);
        for depth in 0..self.nodes.len() {
            self.step(&mut run, depth, depth >= known);
        }
        let mut repeats = false;
        while !run.is_at_limit() {
            let enabled = run.enabled();
            if enabled.is_empty() {
                // Who would find the same again may give up at last.
                if run.insist() {
                    continue;
                }
                break;
            }
            let asleep = self.asleep(&run);
            let Some(first) = enabled.iter().find(|each| !asleep.contains(&each.task)) else {
                repeats = true;
                break;
            };
            let Some(op) = run.op(first.task).cloned() else { break };
            let task = first.task;
            self.nodes.push(Node {
                choice: Choice { task, way: 0 },
                ways: first.ways,
                op,
                writes: false,
                retrying: run.retrying(),
                enabled: enabled.iter().map(|each| each.task).collect(),
                to_try: BTreeSet::from([task]),
                tried: BTreeSet::new(),
                asleep,
                before: Clock::default(),
                event: Epoch { task, step: 0 },
            });
            self.step(&mut run, self.nodes.len() - 1, true);
        }
        if !repeats {
            self.blocked(&run);
        }
        self.backtrack();
        (!repeats).then(|| Executed::of(run))
    }

    /// Does the step of a node. One that is new has its place among the others looked for.
    fn step(&mut self, run: &mut Run, depth: usize, is_new: bool) {
        if is_new {
            let node = &self.nodes[depth];
            let (Choice { task, way }, op) = (node.choice, node.op.clone());
            let writes = run.machine.may_write(task, &op, Some(way));
            self.nodes[depth].writes = writes;
            if let Some(enabled) = run.enabled().iter().find(|each| each.task == task) {
                self.nodes[depth].ways = enabled.ways;
            }
            let mut before = self.order(depth, task, &op, writes);
            let event = before.tick(task);
            self.nodes[depth].event = event;
            self.nodes[depth].before = before;
        } else {
            follow(run, self.nodes[depth].choice);
            return;
        }
        run.step(self.nodes[depth].choice);
    }

    /// The steps before `depth` that a task's op comes after; where it could have come before one, that is to be tried.
    fn order(&mut self, depth: usize, task: TaskId, op: &Op, writes: bool) -> Clock {
        let last = self.nodes[..depth].iter().rposition(|node| node.choice.task == task);
        let own = last.map_or_else(Clock::default, |last| self.nodes[last].before.clone());
        let mut order = own.clone();
        // A step that others disable again may have been possible before any of them; one that is always possible, only
        // before the last ones.
        let may_pass = op.awaits_memory();
        for earlier in (0..depth).rev() {
            let node = &mut self.nodes[earlier];
            let is_before = if may_pass { own.covers(node.event) } else { order.covers(node.event) };
            if node.choice.task == task || is_before {
                continue;
            }
            if makes_way(&node.op, op, node.choice.task, task) {
                order.join(&node.before);
            } else if depend((&node.op, node.writes), (op, writes)) {
                if last.is_none_or(|last| last < earlier) && node.retrying.contains(&task) {
                    // It would have tried this op there, and found what it has found before.
                } else if node.enabled.contains(&task) {
                    self.reverse(earlier, depth, task, &order);
                } else {
                    node.to_try.extend(&node.enabled);
                }
                order.join(&self.nodes[earlier].before);
            }
        }
        order
    }

    /// Has a task's op, which comes after others as `order` says, tried before the step of a node. In an execution
    /// where it does, what the node comes before is left out; one of the tasks that this one may begin with is to be
    /// tried, and any of them will do. The task itself need not be one of them (Abdulla and others 2014: source sets).
    fn reverse(&mut self, node: usize, depth: usize, task: TaskId, order: &Clock) {
        let event = self.nodes[node].event;
        let left: Vec<&Node> = self.nodes[node + 1..depth].iter().filter(|each| !each.before.covers(event)).collect();
        let (mut first, mut seen) = (BTreeSet::new(), BTreeSet::new());
        for (nth, each) in left.iter().enumerate() {
            let is_first = seen.insert(each.choice.task);
            if is_first && !left[..nth].iter().any(|other| each.before.covers(other.event)) {
                first.insert(each.choice.task);
            }
        }
        if !seen.contains(&task) && !left.iter().any(|other| order.covers(other.event)) {
            first.insert(task);
        }
        let node = &mut self.nodes[node];
        if first.iter().any(|each| node.to_try.contains(each) || node.asleep.contains(each)) {
            return;
        }
        match first.iter().find(|each| node.enabled.contains(each)) {
            Some(&each) => _ = node.to_try.insert(each),
            None => node.to_try.extend(&node.enabled),
        }
    }

    /// The tasks that are blocked at the end could have gone on earlier.
    fn blocked(&mut self, run: &Run) {
        for task in 0..run.pending.len() {
            if let Some(op) = run.op(task).cloned() {
                let writes = run.machine.may_write(task, &op, None);
                self.order(self.nodes.len(), task, &op, writes);
            }
        }
    }

    /// After the last node, the tasks that need not be tried: what they do was tried before it, and commutes with it.
    fn asleep(&self, run: &Run) -> BTreeSet<TaskId> {
        let Some(node) = self.nodes.last() else { return BTreeSet::new() };
        // What a task does next writes what it would have written before a step that has not written.
        let writes = |task: TaskId, op: &Op| run.machine.may_write(task, op, None);
        let is_free = |task: TaskId, op: &Op| !depend((op, writes(task, op)), (&node.op, node.writes));
        let commutes = |&&task: &&TaskId| task != node.choice.task && run.op(task).is_some_and(|op| is_free(task, op));
        node.asleep.iter().chain(&node.tried).filter(commutes).copied().collect()
    }

    /// Goes back to the last step with another way or another task to try.
    fn backtrack(&mut self) {
        while let Some(node) = self.nodes.last_mut() {
            if node.choice.way + 1 < node.ways {
                node.choice.way += 1;
                return;
            }
            node.tried.insert(node.choice.task);
            let next = node.to_try.iter().find(|task| !node.tried.contains(task) && !node.asleep.contains(task));
            if let Some(&task) = next {
                node.choice = Choice { task, way: 0 };
                if self.take_op(task) {
                    return;
                }
                continue;
            }
            self.nodes.pop();
        }
        self.is_over = true;
    }

    /// Finds out what a task does at the last node.
    fn take_op(&mut self, task: TaskId) -> bool {
        let mut run = Run::new(self.program, self.limits);
        let Some((last, before)) = self.nodes.split_last_mut() else { return false };
        for node in before {
            follow(&mut run, node.choice);
        }
        let op = run.op(task).cloned();
        op.map(|op| last.op = op).is_some()
    }
}

/// Does a step once more, after all who poll in vain have learnt what has changed, as they had when it was chosen.
fn follow(run: &mut Run, choice: Choice) {
    run.watch_all();
    run.step(choice);
}

/// Whether an op can't come before another one because that makes it possible.
fn makes_way(earlier: &Op, later: &Op, by: TaskId, task: TaskId) -> bool {
    match (earlier, later) {
        (Op::Launch(started), _) if started.contains(&task) => true,
        (_, Op::Join(ended)) => ended.contains(&by),
        (Op::Barrier(one, _), Op::Barrier(other, _)) => one == other,
        _ => false,
    }
}

/// Whether two ops of two tasks do not commute: they touch a byte in common, and one writes it, as is said of each.
fn depend((one, one_writes): (&Op, bool), (other, other_writes): (&Op, bool)) -> bool {
    if let (Op::Alloc(one, _), Op::Alloc(other, _)) = (one, other)
        && one == other
    {
        // The second one finds the memory there.
        return false;
    }
    let ((one, _), (other, _)) = (touched(one), touched(other));
    (one_writes || other_writes) && one.iter().any(|a| other.iter().any(|b| a.overlaps(*b)))
}

/// The places that an op touches, and whether it writes them.
pub(crate) fn touched(op: &Op) -> (&[Range], bool) {
    match op {
        Op::Read(ranges)
        | Op::WaitPacket(ranges, _)
        | Op::TryPacket(ranges, _)
        | Op::WaitFloats(ranges, _)
        | Op::TryFloats(ranges, _)
        | Op::Poll(ranges, ..) => (ranges, false),
        Op::Write(ranges, _) | Op::Put(ranges, _) | Op::PutPacket(ranges, ..) | Op::PutFloats(ranges, ..) => {
            (ranges, true)
        }
        Op::Load(strong) | Op::Look(strong) | Op::Late(strong, _) | Op::Wait(strong, _) => {
            (std::slice::from_ref(&strong.at), false)
        }
        Op::Store(strong, _) | Op::Atomic(strong, _) | Op::Signal(strong, _) => {
            (std::slice::from_ref(&strong.at), true)
        }
        Op::Alloc(range, _) | Op::Free(range) => (std::slice::from_ref(range), true),
        Op::Issue | Op::Fence(..) | Op::Barrier(..) | Op::Launch(_) | Op::Join(_) => (&[], false),
    }
}
