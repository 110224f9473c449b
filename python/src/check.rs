//! Triton's interpreter under the checker: each host of a rank and each program of a kernel is a task, on a thread of
//! Python's of which one runs at a time. A task says what it does next, and goes on when the checker lets it.
//!
//! Values are in the program's own memory, and every write is done there when the checker does it.

mod batch;
#[expect(unsafe_code, reason = "addresses of an interpreted kernel")]
mod memory;
mod say;
mod spin;
mod write;

use batch::{Batch, Step, came_too_early, lines};
use memory::Memory;
pub use memory::{BARRIERS, PRIVATE_HEAPS};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyTuple};
use spin::Trace;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use symm_abi::heap::TABLE_OFFSET;
use symm_checker::allow::Allowances;
use symm_checker::check::{Schedules, check, draw};
use symm_checker::finding::Kind;
use symm_checker::op::{Answer, Op, Range, Site, have_come};
use symm_checker::report::{Page, html, json, pictures};
use symm_checker::run::{Execution, Limits, Next, Program};
use symm_checker::task::{Task, TaskId};
use write::{word, write};

/// The program, as Python has it: `python/symm/check/_program.py`.
struct Front {
    python: Py<PyAny>,
    ranks: usize,
    /// After how many looks a loop is taken to poll in vain that may end by itself after more; which ones were.
    polls: usize,
    counted: RefCell<BTreeSet<Site>>,
    /// The most steps of an execution, and where tasks were in those that had about as many.
    steps: usize,
    given_up: RefCell<BTreeSet<Site>>,
    /// What has ended the execution, and the check.
    error: RefCell<Option<PyErr>>,
    /// The same, once executions are repeated to reduce and to draw what was found before it.
    first: RefCell<Option<PyErr>>,
}

/// One execution.
struct Running<'f> {
    front: &'f Front,
    python: Option<Py<PyAny>>,
    memory: Memory,
    tasks: HashMap<TaskId, Doing>,
    steps: usize,
}

/// What Python says: the ops; the state of the task's variables, if it was asked for; of a host its place, and memory.
type Said<'py> = (Vec<Bound<'py, PyTuple>>, Option<i64>, Option<(String, Vec<Bound<'py, PyTuple>>)>);

/// Where a task is.
#[derive(Default)]
struct Doing {
    batch: Batch,
    /// The checker's options.
    current: Option<Step>,
    trace: Trace,
}

/// Runs a program in many schedules; the report and its pictures, as JSON. Its arguments: `python/symm/_symm.pyi`.
#[pyfunction]
#[pyo3(signature = (program, ranks, schedules, seed, changes, replay, limits, allow, draws))]
#[expect(clippy::too_many_arguments, reason = "they are what a user may say")]
pub fn check_program(
    program: Py<PyAny>,
    ranks: usize,
    schedules: (&str, usize),
    seed: u64,
    changes: usize,
    replay: &str,
    limits: (usize, Option<usize>, usize),
    allow: Option<(String, String)>,
    draws: bool,
) -> PyResult<(String, String)> {
    let allow = allow.map(|(name, text)| Allowances::read(&name, &text)).transpose();
    let allow = allow.map_err(|error| PyValueError::new_err(format!("allow: {error}")))?;
    let (kind, executions) = schedules;
    let schedules = match kind {
        "random" => Schedules::Random { seed, executions, changes },
        "exhaustive" => Schedules::All { executions },
        "replay" => Schedules::Replay(replay.parse().map_err(|error| PyValueError::new_err(format!("{error}")))?),
        _ => Schedules::InTurn,
    };
    let (steps, blocks, polls) = limits;
    // Loops that poll are found here, by their variables.
    let limits = Limits { steps, blocks: blocks.unwrap_or(usize::MAX), polls: usize::MAX, reducing: REDUCING };
    let (counted, given_up, error, first) = Default::default();
    let front = Front { python: program, ranks, polls, counted, steps, given_up, error, first };
    let mut report = check(&front, &schedules, limits);
    report.found.iter_mut().for_each(|found| front.say_what_may_end(&mut found.finding));
    if let Some(allow) = allow {
        allow.apply(&mut report);
    }
    let images = if draws { pictures(&report, &|found| draw(&front, found, limits)) } else { String::new() };
    let mut text = Vec::new();
    json(&mut text, &report)?;
    front.say_where_it_was_given_up()?;
    let found = (String::from_utf8_lossy(&text).into_owned(), images);
    let last = front.error.take();
    if let Some(error) = front.first.take().or(last) {
        // What was found until then.
        Python::attach(|py| front.python.setattr(py, "found", found))?;
        return Err(error);
    }
    Ok(found)
}

/// The kinds of findings by their names: whether one is a note.
pub fn kinds(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    Kind::ALL.map(|kind| (kind.name(), kind.is_note())).into_py_dict(py)
}

/// A report's page, from what it says as JSON.
#[pyfunction]
pub fn check_page(page: &str) -> PyResult<String> {
    let page = Page::read(page).map_err(|error| PyValueError::new_err(format!("{error}")))?;
    Ok(html(&page))
}

impl Front {
    /// What a call of Python gives; an exception ends the check.
    fn call<T>(&self, body: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        if self.error.borrow().is_some() {
            return None;
        }
        Python::attach(|py| match body(py) {
            Ok(found) => Some(found),
            Err(error) => {
                *self.error.borrow_mut() = Some(error);
                None
            }
        })
    }

    /// An exception of the program itself comes again when its schedule is repeated; what else ends a check, such as
    /// Ctrl-C or a task that does nothing, ends all of it.
    fn set_aside(&self) {
        let told = || Python::attach(|py| self.python.getattr(py, "error").is_ok_and(|told| !told.is_none(py)));
        if self.error.borrow().is_some() && told() {
            let error = self.error.take();
            let mut first = self.first.borrow_mut();
            *first = first.take().or(error);
        }
    }
}

impl Program for Front {
    fn tasks(&self) -> Vec<Task> {
        (0..self.ranks).map(|rank| Task::host(u32::try_from(rank).unwrap_or(u32::MAX))).collect()
    }

    fn first(&self) -> Vec<TaskId> {
        (0..self.ranks).collect()
    }

    fn reserved(&self) -> std::ops::Range<u64> {
        BARRIERS..BARRIERS + TABLE_OFFSET
    }

    fn has_broken_off(&self) -> bool {
        self.error.borrow().is_some() || self.first.borrow().is_some()
    }

    fn start(&self) -> Box<dyn Execution + '_> {
        self.set_aside();
        let python = self.call(|py| self.python.call_method0(py, "start"));
        Box::new(Running { front: self, python, memory: Memory::default(), tasks: HashMap::new(), steps: 0 })
    }
}

impl Execution for Running<'_> {
    fn next(&mut self, task: TaskId, answer: Answer) -> Next {
        let mut doing = self.tasks.remove(&task).unwrap_or_default();
        if let Some(step) = doing.current.take() {
            doing.done(&step, &answer, &mut self.memory);
            self.steps += 1;
        }
        while doing.batch.steps.is_empty() {
            if let Some((site, reason)) = doing.batch.failure.take() {
                return Next::Fail(site, reason);
            }
            let front = self.front;
            let Some(more) = front.call(|py| self.resume(py, task, &mut doing)) else { return Next::End };
            if !more {
                return Next::End;
            }
        }
        let Some(step) = doing.batch.steps.pop_front() else { return Next::End };
        let next = Next::Op(step.op.clone(), step.site.clone());
        doing.current = Some(step);
        self.tasks.insert(task, doing);
        next
    }

    fn added(&self) -> Vec<Task> {
        let Some(python) = &self.python else { return Vec::new() };
        // Also after an exception: another task may be at a launch.
        let said = Python::attach(|py| python.getattr(py, "added")?.extract::<Vec<(u32, u32)>>(py));
        said.unwrap_or_default().into_iter().map(|(rank, block)| Task::block(rank, block)).collect()
    }
}

impl Running<'_> {
    /// Lets a task run to its next batch; whether there is one.
    fn resume(&mut self, py: Python<'_>, task: TaskId, doing: &mut Doing) -> PyResult<bool> {
        let Some(python) = &self.python else { return Ok(false) };
        let answers: Vec<_> = doing.batch.answers.iter().map(|answer| PyBytes::new(py, answer)).collect();
        let said = python.bind(py).call_method1("resume", (task, answers, doing.trace.asks))?;
        if said.is_none() {
            return Ok(false);
        }
        let (asked, state, host): Said = said.extract()?;
        let told = host.map(|(site, regions)| self.told(&site.into(), &regions)).transpose()?;
        let mut batch = Batch::of(asked, &mut self.memory)?;
        for step in told.into_iter().flat_map(|told| told.steps).rev() {
            batch.steps.push_front(step);
        }
        if let Some(first) = batch.steps.front().filter(|step| is_look(&step.op)) {
            let site = first.site.clone();
            if let Some(vain) = doing.trace.polls(&site, state, self.front.polls) {
                if vain.may_end {
                    self.front.counted.borrow_mut().insert(site.clone());
                }
                let of_lines = matches!(first.op, Op::TryPacket(..) | Op::TryFloats(..));
                let look = of_lines.then(|| Box::new(first.op.clone()));
                let op = Op::Poll(vain.ranges, vain.bytes, look);
                batch.steps.push_front(Step { op, site, addresses: Vec::new(), answer: None });
            }
        }
        doing.batch = batch;
        Ok(true)
    }

    /// What a host says before its op: memory that is new to the checker, and what it has written itself.
    fn told(&mut self, site: &Site, regions: &[Bound<'_, PyTuple>]) -> PyResult<Batch> {
        let mut told = Batch::default();
        let mut changed = Vec::new();
        for region in regions {
            let (address, bytes, heap, start, is_heap, width): (u64, u64, u32, u64, bool, usize) = region.extract()?;
            let range = Range { heap, start, bytes };
            if is_heap {
                self.memory.add_heap(address, range);
                continue;
            }
            let is_new = !self.memory.knows(address, range);
            if is_new {
                self.memory.add(address, range, width);
            }
            if is_new || heap < PRIVATE_HEAPS {
                let op = Op::Alloc(range, true);
                told.steps.push_back(Step { op, site: site.clone(), addresses: Vec::new(), answer: None });
            }
            changed.extend((heap >= PRIVATE_HEAPS).then_some(address));
        }
        changed.extend(self.memory.addresses(|range| range.heap < PRIVATE_HEAPS));
        told.told(&changed, site, &mut self.memory);
        Ok(told)
    }
}

/// Steps of all executions that look for shorter schedules: each takes some 100 µs.
const REDUCING: usize = 20_000;

/// Whether an op may be a look of a loop that polls.
fn is_look(op: &Op) -> bool {
    matches!(op, Op::Read(_) | Op::Load(_) | Op::Atomic(..) | Op::TryPacket(..) | Op::TryFloats(..))
}

impl Doing {
    /// A step has been done: what it does to the program's memory, and what it answers.
    fn done(&mut self, step: &Step, answer: &Answer, memory: &mut Memory) {
        let address = step.addresses.first().copied().unwrap_or_default();
        let seen = match (&step.op, answer) {
            (Op::Read(ranges), Answer::Bytes(bytes)) => Some((ranges.clone(), bytes.clone())),
            (Op::Load(strong), Answer::Word(value)) => Some((vec![strong.at], word(*value, strong.at.bytes))),
            (Op::Atomic(strong, update), Answer::Word(old)) => {
                let changed = update.apply(*old, strong.at.bytes).filter(|new| new != old);
                if let Some(new) = changed {
                    memory.write(address, &word(new, strong.at.bytes));
                }
                changed.is_none().then(|| (vec![strong.at], word(*old, strong.at.bytes)))
            }
            (Op::TryPacket(ranges, epoch), Answer::Bytes(found)) => {
                let there = lines(&step.addresses);
                // A look that came too early does not poll in vain.
                (!came_too_early(&there, found, *epoch)).then(|| (ranges.clone(), there))
            }
            (Op::TryFloats(ranges, bits), Answer::Bytes(found)) => {
                let there = lines(&step.addresses);
                let valid = &found[found.len() / 17 * 16..];
                let too_early = |(line, &valid): (&[u8], &u8)| valid == 0 && have_come(line, *bits);
                (!there.chunks_exact(16).zip(valid).any(too_early)).then(|| (ranges.clone(), there))
            }
            (Op::Poll(..) | Op::Fence(..), _) => return,
            (op, _) => {
                write(op, &step.addresses, memory);
                None
            }
        };
        match seen {
            Some((ranges, bytes)) => self.trace.note(step.site.clone(), ranges, bytes),
            None => self.trace.forget(),
        }
        self.answer(step, answer);
    }

    fn answer(&mut self, step: &Step, answer: &Answer) {
        let Some((number, at)) = step.answer else { return };
        let bytes = match (&step.op, answer) {
            (Op::Load(strong) | Op::Atomic(strong, _), Answer::Word(value)) => word(*value, strong.at.bytes),
            (_, Answer::Bytes(bytes)) => bytes.clone(),
            _ => return,
        };
        let all = &mut self.batch.answers[number];
        if all.len() < at + bytes.len() {
            all.resize(at + bytes.len(), 0);
        }
        all[at..at + bytes.len()].copy_from_slice(&bytes);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // A barrier takes more steps than are counted here.
        if self.steps >= self.front.steps - self.front.steps / 10 {
            let steps = self.tasks.values().filter_map(|doing| doing.current.as_ref());
            let here = steps.filter(|step| !matches!(step.op, Op::Join(_))).map(|step| step.site.clone());
            self.front.given_up.borrow_mut().extend(here);
        }
        let Some(python) = self.python.take() else { return };
        let stopped = Python::attach(|py| python.call_method0(py, "stop").map(|_| ()));
        if let Err(error) = stopped {
            self.front.error.borrow_mut().get_or_insert(error);
        }
    }
}
