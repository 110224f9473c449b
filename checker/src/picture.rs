//! What is drawn of an execution: the tasks that take part in a finding, their steps around it, and who sees what whom
//! wrote.

use crate::clock::Epoch;
use crate::finding::{Finding, Kind};
use crate::task::TaskId;
use crate::trace::Trace;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The most rows and boxes of a picture: a reader follows no more.
const MOST_ROWS: usize = 8;
const MOST_BOXES: usize = 36;
/// Rows of tasks that take no part in the finding are added up to this many.
const ROWS_TO_FILL: usize = 5;

/// Part of an execution. The boxes are in the order of their steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// The tasks, by name.
    pub rows: Vec<String>,
    /// Their steps.
    pub boxes: Vec<Step>,
    /// What is between them.
    pub arrows: Vec<Arrow>,
    /// What is not drawn, as a sentence.
    pub left_out: Option<String>,
}

/// A step, or several at one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Whose.
    pub row: usize,
    /// What it does.
    pub verb: String,
    /// Of what, or how.
    pub detail: String,
    /// Where it stands.
    pub site: String,
    /// How many steps it is.
    pub count: usize,
    /// How many steps of its row that are not drawn come right before it.
    pub gap: usize,
    /// Which place of the finding it is, from 1.
    pub mark: Option<usize>,
    /// Whether its task comes no further.
    pub is_blocked: bool,
}

/// An arrow, from a box or out of nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrow {
    /// From which box.
    pub from: Option<usize>,
    /// To which box.
    pub to: usize,
    /// What it is.
    pub line: Line,
    /// What is written at it.
    pub text: String,
}

/// What an arrow is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Line {
    /// The second sees what the first wrote, and all that came before it.
    Orders,
    /// It sees it, and nothing else.
    Seen,
    /// What is wrong.
    Missing,
}

/// Steps of one row that are drawn as one box.
struct Group {
    row: usize,
    events: Vec<usize>,
    mark: Option<usize>,
    is_end: bool,
}

/// The part of an execution around a finding.
pub(crate) fn of(trace: &Trace, finding: &Finding) -> Picture {
    let marks: Vec<_> = finding.at.iter().map(|at| mark(trace, finding, at)).collect();
    let Some(last) = marks.iter().flatten().max() else { return Picture::default() };
    let end = if is_stuck(finding.kind) { trace.events.len() } else { last + 1 };
    let index: HashMap<_, _> = trace.events[..end]
        .iter()
        .enumerate()
        .filter(|(_, event)| !event.is_blocked)
        .map(|(at, event)| (key(event.step), at))
        .collect();
    let rows = rows(trace, &marks, &index);
    let number = |task: TaskId| rows.iter().position(|&row| row == task);
    let edges: Vec<_> = trace
        .edges
        .iter()
        .filter(|edge| number(edge.from.task).is_some() && number(edge.to.task).is_some())
        .filter_map(|edge| Some((*index.get(&key(edge.from))?, *index.get(&key(edge.to))?, edge.orders)))
        .collect();
    let ends: HashSet<_> = edges.iter().flat_map(|&(from, to, _)| [from, to]).collect();
    let groups = groups(trace, end, &number, &marks, &ends);
    let chosen = chosen(trace, &groups);
    let mut picture = Picture::default();
    let name = |&row: &TaskId| trace.task(row).map_or_else(String::new, |task| task.to_string());
    picture.rows = rows.iter().map(name).collect();
    let mut box_of = HashMap::new();
    let mut skipped = vec![0; rows.len()];
    for (nth, group) in groups.iter().enumerate() {
        if !chosen.contains(&nth) {
            skipped[group.row] += group.events.len();
            continue;
        }
        box_of.extend(group.events.iter().map(|&event| (event, picture.boxes.len())));
        picture.boxes.push(group.step(trace, std::mem::take(&mut skipped[group.row])));
    }
    picture.arrows = missing(finding.kind, &marks, &box_of);
    for (from, to, orders) in edges {
        let (Some(&from), Some(&to)) = (box_of.get(&from), box_of.get(&to)) else { continue };
        if !picture.arrows.iter().any(|arrow| (arrow.from, arrow.to) == (Some(from), to)) {
            let line = if orders { Line::Orders } else { Line::Seen };
            picture.arrows.push(Arrow { from: Some(from), to, line, text: String::new() });
        }
    }
    picture.left_out = left_out(trace, &picture);
    picture
}

fn key(step: Epoch) -> (TaskId, u32) {
    (step.task, step.step)
}

fn is_stuck(kind: Kind) -> bool {
    use Kind::{BarrierDivergence, Deadlock, NeverSignalled, PassedBy, TooManyBlocks};
    matches!(kind, Deadlock | NeverSignalled | TooManyBlocks | BarrierDivergence | PassedBy)
}

/// The event of a finding's place.
fn mark(trace: &Trace, finding: &Finding, at: &crate::finding::At) -> Option<usize> {
    if is_stuck(finding.kind) { trace.blocked(at.task) } else { at.step.and_then(|step| trace.event_of(step)) }
}

/// The tasks of the finding, and others that they have to do with, by their numbers.
fn rows(trace: &Trace, marks: &[Option<usize>], index: &HashMap<(TaskId, u32), usize>) -> Vec<TaskId> {
    let mut rows = Vec::new();
    for mark in marks.iter().flatten() {
        let task = trace.events[*mark].step.task;
        if rows.len() < MOST_ROWS && !rows.contains(&task) {
            rows.push(task);
        }
    }
    for edge in trace.edges.iter().rev() {
        let is_drawn = index.contains_key(&key(edge.from)) && index.contains_key(&key(edge.to));
        for (one, other) in [(edge.from.task, edge.to.task), (edge.to.task, edge.from.task)] {
            if is_drawn && rows.len() < ROWS_TO_FILL && rows.contains(&one) && !rows.contains(&other) {
                rows.push(other);
            }
        }
    }
    rows.sort_by_key(|&row| (trace.task(row), row));
    rows
}

/// The steps of the rows; what a row does again and again at one line is one group.
fn groups(
    trace: &Trace,
    end: usize,
    number: &dyn Fn(TaskId) -> Option<usize>,
    marks: &[Option<usize>],
    ends: &HashSet<usize>,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut last: HashMap<usize, usize> = HashMap::new();
    for (at, event) in trace.events[..end].iter().enumerate() {
        let Some(row) = number(event.step.task) else { continue };
        let mark = marks.iter().position(|mark| *mark == Some(at)).map(|place| place + 1);
        let is_alone = mark.is_some() || ends.contains(&at) || event.is_blocked;
        let before = last.get(&row).map(|&group| &mut groups[group]);
        if let Some(group) = before.filter(|group| !is_alone && group.mark.is_none() && !group.is_end) {
            let first = &trace.events[group.events[0]];
            if (first.verb, &first.site) == (event.verb, &event.site) {
                group.events.push(at);
                continue;
            }
        }
        last.insert(row, groups.len());
        groups.push(Group { row, events: vec![at], mark, is_end: ends.contains(&at) });
    }
    groups
}

/// The groups that are drawn: those nearest to the marked ones, and steps of order before others.
fn chosen(trace: &Trace, groups: &[Group]) -> BTreeSet<usize> {
    let marked: Vec<_> = (0..groups.len()).filter(|&nth| groups[nth].mark.is_some()).collect();
    let far = |nth: usize| marked.iter().map(|&mark| mark.abs_diff(nth)).min().unwrap_or(0);
    let score = |nth: usize| {
        let group = &groups[nth];
        let verb = trace.events[group.events[0]].verb;
        let orders = group.is_end || matches!(verb, "signals" | "waits" | "fence" | "barrier");
        if orders { far(nth) } else { 3 * far(nth) }
    };
    let mut order: Vec<_> = (0..groups.len()).collect();
    order.sort_by_key(|&nth| (score(nth), nth));
    order.into_iter().take(MOST_BOXES).collect()
}

impl Group {
    fn step(&self, trace: &Trace, gap: usize) -> Step {
        let event = &trace.events[self.events[0]];
        Step {
            row: self.row,
            verb: event.verb.into(),
            detail: event.detail.clone(),
            site: event.site.to_string(),
            count: self.events.len(),
            gap,
            mark: self.mark,
            is_blocked: event.is_blocked,
        }
    }
}

/// The arrows that say what is wrong.
fn missing(kind: Kind, marks: &[Option<usize>], boxes: &HashMap<usize, usize>) -> Vec<Arrow> {
    let at = |place: usize| boxes.get(&(*marks.get(place)?)?).copied();
    if is_stuck(kind) {
        let stuck = (0..marks.len()).filter_map(at);
        return stuck.map(|to| Arrow { from: None, to, line: Line::Missing, text: "does not come".into() }).collect();
    }
    let (from, to, text) = match kind {
        Kind::MissingRelease => (2, 3, "does not release"),
        Kind::NarrowRelease => (2, 3, "releases too narrowly"),
        Kind::MissingAcquire => (2, 3, "does not acquire"),
        Kind::NarrowAcquire => (2, 3, "acquires too narrowly"),
        Kind::WrongEvent => (3, 2, "is not what satisfies it"),
        Kind::WriteAfterRead => (0, 1, "no credit"),
        Kind::PacketOverwritten => (0, 1, "not received"),
        Kind::SetAgainstAdd => (0, 1, "one is lost"),
        _ => (0, 1, "nothing orders the two"),
    };
    let (Some(from), Some(to)) = (at(from), at(to)) else { return Vec::new() };
    if from == to { Vec::new() } else { vec![Arrow { from: Some(from), to, line: Line::Missing, text: text.into() }] }
}

fn left_out(trace: &Trace, picture: &Picture) -> Option<String> {
    let steps: usize = picture.boxes.iter().map(|step| step.count).sum();
    let (all, rows, tasks) = (trace.events.len(), picture.rows.len(), trace.tasks.len());
    let what = format!("Drawn are {steps} of the {all} steps of this execution, of {rows} of its {tasks} tasks");
    (steps < all).then(|| format!("{what}: those nearest to what was found."))
}
