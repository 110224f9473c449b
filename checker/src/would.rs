//! What tasks that can't go on would do after their waits: who would signal what others wait for.
//!
//! Each is let through its wait, alone, in an execution of its own, and goes on up to the first op whose answer may be
//! another one when the event has come. So what is said of it holds whatever the others write.

use crate::check::Found;
use crate::explore::touched;
use crate::finding::{At, Kind};
use crate::op::{Op, Range, Signal, Site};
use crate::run::{Limits, Program, Run};
use crate::schedule::{Choice, Chooser as _, Follow};
use crate::task::{Task, TaskId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The most tasks that are let through, the most steps of each, and the most steps of all that come before these.
const MOST_TASKS: usize = 16;
const MOST_STEPS: usize = 2000;
const MOST_BEFORE: usize = 200_000;
/// The most who are named as those who would signal a flag.
const MOST_NAMED: usize = 2;

/// A signal that would come.
struct Would {
    by: TaskId,
    site: Site,
    /// Who has to go on first.
    after: TaskId,
    /// Whether it ends the wait.
    is_enough: bool,
}

/// Says of each wait of a deadlock who would end it, and whether they wait for each other.
pub(crate) fn explain(program: &dyn Program, limits: Limits, found: &mut Found) {
    if !matches!(found.finding.kind, Kind::Deadlock | Kind::NeverSignalled) || !program.may_be_let_through() {
        return;
    }
    let run = replayed(program, limits, found);
    let tasks = run.machine.tasks().to_vec();
    let blocked: Vec<_> = (0..run.tasks()).filter(|&task| run.op(task).is_some()).collect();
    let waiter = |&task: &TaskId| Some((task, run.event_of(task)?, run.op(task)?.clone()));
    let flags: Vec<Waiter> = blocked.iter().filter_map(waiter).collect();
    let is_wait = |task: TaskId| matches!(run.op(task), Some(Op::Wait(..)));
    let waits: Vec<_> = blocked.iter().copied().filter(|&task| is_wait(task)).collect();
    let is_packet = |task: &TaskId| matches!(run.op(*task), Some(Op::WaitPacket(..) | Op::WaitFloats(..)));
    // What a packet brings is not known, so nobody is let through a wait for one. Of one alone all else is known.
    let packets: Vec<_> = blocked.iter().copied().filter(is_packet).collect();
    // Whether all others wait for these, so that nothing comes later but what comes after the waits.
    let mut is_all = blocked.iter().filter(|task| !packets.contains(task)).all(|&task| match run.op(task) {
        Some(Op::Barrier(_, members)) => members.iter().any(|&member| is_wait(member)),
        other => matches!(other, Some(Op::Wait(..) | Op::Join(_))),
    });
    let is_barrier = |(_, flag, _): &Waiter| run.machine.misses_barrier(*flag).is_some();
    if flags.iter().all(is_barrier) {
        return;
    }
    let at_barrier: BTreeSet<_> = flags.iter().filter(|waiter| is_barrier(waiter)).map(|(task, ..)| *task).collect();
    let length = run.choices.len().max(1);
    drop(run);
    let most = MOST_TASKS.min(MOST_BEFORE / length);
    let mut would: BTreeMap<TaskId, Vec<Would>> = BTreeMap::new();
    is_all &= waits.len() <= most;
    for &task in waits.iter().take(most) {
        let mut run = replayed(program, limits, found);
        run.let_through(task);
        is_all &= follow(&mut run, task, &flags, &mut would);
    }
    for at in &mut found.finding.at {
        let signals = at.step.and_then(|step| would.get(&step.task));
        let is_packet = at.step.is_some_and(|step| packets.contains(&step.task));
        signals.into_iter().flatten().take(MOST_NAMED).for_each(|signal| tell(at, signal, &tasks, is_packet));
        if is_packet && is_all && packets.len() == 1 && !waits.is_empty() && signals.is_none_or(Vec::is_empty) {
            at.what += "; nobody would send it, even if the other waits ended";
        }
    }
    let next = |task: TaskId| would.get(&task)?.iter().find(|signal| signal.is_enough).map(|signal| signal.after);
    if let Some(cycle) = waits.iter().find_map(|&task| cycle(task, &next)) {
        found.finding.help = said(&cycle, &tasks);
        return;
    }
    // Who is at a barrier of all ranks waits for the others.
    let waits: Vec<_> = waits.into_iter().filter(|task| !at_barrier.contains(task)).collect();
    let is_lost = waits.iter().all(|task| would.get(task).is_none_or(Vec::is_empty));
    if is_all && packets.is_empty() && is_lost && !waits.is_empty() {
        let which = if waits.len() == 1 { "this wait" } else { "these waits, even if the others of them ended" };
        found.finding.help = format!("nobody would end {which}: a signal is missing, or goes to another flag");
    }
}

fn replayed<'p>(program: &'p dyn Program, limits: Limits, found: &Found) -> Run<'p> {
    let mut run = Run::new(program, limits);
    let mut chooser = Follow::new(&found.schedule);
    while chooser.advance(&mut run) {}
    run
}

/// A task that is blocked, the flag that it waits for, and its op.
type Waiter = (TaskId, Range, Op);

/// Lets a task's rank go on, and notes who signals the flags. Whether it comes to its end.
fn follow(run: &mut Run, after: TaskId, waiters: &[Waiter], would: &mut BTreeMap<TaskId, Vec<Would>>) -> bool {
    let mut stopped = BTreeSet::new();
    for _ in 0..MOST_STEPS {
        let Some(by) = near(run, after).into_iter().find(|task| !stopped.contains(task) && run.ways(*task) > 0) else {
            break;
        };
        let Some((op, site)) = run.pending[by].clone() else { break };
        if learns(&op) {
            stopped.insert(by);
            continue;
        }
        run.step(Choice { task: by, way: 0 });
        let (ranges, true) = touched(&op) else { continue };
        for (waiter, _, wait) in waiters.iter().filter(|(_, flag, _)| ranges.iter().any(|range| range.overlaps(*flag)))
        {
            let is_enough = run.machine.ways(*waiter, wait) > 0;
            let signals = would.entry(*waiter).or_default();
            if (is_enough || adds(&op) && *waiter != by) && signals.iter().all(|signal| signal.by != by) {
                signals.push(Would { by, site: site.clone(), after, is_enough });
            }
        }
    }
    stopped.is_empty() && near(run, after).is_empty()
}

/// The tasks of a task's rank that have something to do.
fn near(run: &Run, task: TaskId) -> Vec<TaskId> {
    let tasks = run.machine.tasks();
    (0..run.tasks()).filter(|&other| tasks[other].rank == tasks[task].rank && run.op(other).is_some()).collect()
}

/// Whether several of an op may be a signal together.
fn adds(op: &Op) -> bool {
    matches!(op, Op::Signal(_, Signal::Add(_)))
}

/// Whether a task learns from an op what others may write until then.
fn learns(op: &Op) -> bool {
    match op {
        Op::Read(_)
        | Op::Load(_)
        | Op::Look(_)
        | Op::Late(..)
        | Op::Atomic(..)
        | Op::WaitPacket(..)
        | Op::TryPacket(..)
        | Op::WaitFloats(..)
        | Op::TryFloats(..)
        | Op::Poll(..) => true,
        Op::Wait(_, until) => until.timeout,
        Op::Write(..)
        | Op::Put(..)
        | Op::Issue
        | Op::Store(..)
        | Op::Signal(..)
        | Op::Fence(..)
        | Op::Barrier(..)
        | Op::Launch(_)
        | Op::Join(_)
        | Op::PutPacket(..)
        | Op::PutFloats(..)
        | Op::Alloc(..)
        | Op::Free(_) => false,
    }
}

fn tell(at: &mut At, signal: &Would, tasks: &[Task], is_packet: bool) {
    let Would { by, site, after, .. } = signal;
    let when = if by == after { "its own wait".to_owned() } else { format!("the wait of {}", tasks[*after]) };
    let verb = if is_packet { "sends" } else { "signals" };
    let _ = write!(at.what, "; {} {verb} it at {site}, after {when}", tasks[*by]);
}

/// The tasks that wait for each other from this one on, if the last of them waits for it.
fn cycle(first: TaskId, next: &dyn Fn(TaskId) -> Option<TaskId>) -> Option<Vec<TaskId>> {
    let mut cycle = vec![first];
    loop {
        let task = next(*cycle.last()?)?;
        if task == first {
            return Some(cycle);
        }
        if cycle.contains(&task) {
            return None;
        }
        cycle.push(task);
    }
}

fn said(cycle: &[TaskId], tasks: &[Task]) -> String {
    let name = |task: &TaskId| tasks[*task].to_string();
    match cycle {
        [one] => format!("{} waits for what it signals itself only after this wait: signal first", name(one)),
        [one, rest @ ..] => {
            let others: Vec<_> = rest.iter().chain([one]).map(name).collect();
            let others = others.join(", which waits for ");
            format!("{} waits for {others}: one of them has to signal before it waits", name(one))
        }
        [] => String::new(),
    }
}
