//! A compiled program under the checker: each rank's host function and each thread of each block is a task, whose steps
//! are what it calls `symm_chk_…` and `symm_rt_…` for ([`symbols`]).
//!
//! Heaps have addresses that nothing is mapped at, and values are the checker's: an access that the checker is not told
//! of is a fault. A fault ends its task and the execution, and not the process. There is no MLIR in this crate.

// Unsafe code is where it is allowed by name.
#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "addresses of compiled code")]
mod calls;
#[expect(unsafe_code, reason = "signals of the system")]
mod fault;
#[expect(unsafe_code, reason = "stacks")]
mod fiber;
#[expect(unsafe_code, reason = "calls of the host")]
mod host;
#[expect(unsafe_code, reason = "addresses that nothing is mapped at")]
mod space;
mod stacks;
#[expect(unsafe_code, reason = "texts of compiled code")]
mod state;
#[expect(unsafe_code, reason = "calls of compiled code")]
mod task;

use fiber::Fiber;
pub use space::HEAP;
use space::Space;
use stacks::Stacks;
use state::{Launching, Limit, Sites, State};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use symm_abi::check::BARRIERS;
use symm_checker::ahead::Ahead;
use symm_checker::op::{Answer, Site};
use symm_checker::run::{Execution, Next, Program};
use symm_checker::task::{Task, TaskId};
use task::{Context, Work};

/// One call of a host function, on one rank.
pub type Call = Box<dyn Fn()>;

/// Makes a call of the host function, with arguments of its own, for the rank with this context table.
pub type Host = Box<dyn Fn(*const i64) -> Call>;

/// The functions that a program may call, by name, with their addresses.
#[must_use]
pub fn symbols() -> Vec<(&'static str, usize)> {
    [calls::symbols(), host::symbols()].concat()
}

/// A program that the checker executes.
pub struct Front {
    host: Host,
    ranks: u32,
    heap_size: u64,
    threads: Option<u32>,
    space: Rc<Space>,
    tables: Vec<Vec<i64>>,
    sites: Sites,
    stacks: RefCell<Stacks>,
    limit: Rc<Limit>,
}

/// The tasks of an execution: the hosts, and what they have launched.
pub struct Tasks {
    hosts: TaskId,
    threads: Vec<Task>,
    /// By rank, number of blocks and threads of a block: the first task of such launches, which share their
    /// tasks, because they come one after the other.
    launches: HashMap<(u32, u32, u32), TaskId>,
}

impl Tasks {
    /// The first task of a launch; the others follow it, block after block.
    pub fn launch(&mut self, launch: (u32, u32, u32)) -> TaskId {
        let (rank, blocks, threads) = launch;
        let Self { hosts, threads: all, launches } = self;
        *launches.entry(launch).or_insert_with(|| {
            let first = *hosts + all.len();
            all.extend((0..blocks).flat_map(|block| (0..threads).map(move |thread| Task::thread(rank, block, thread))));
            first
        })
    }
}

impl Front {
    /// A program on this many ranks. A launch gets at most this many threads for each block, if that is given.
    ///
    /// # Errors
    /// The system does not have this many addresses left.
    pub fn new(host: Host, ranks: u32, heap_size: u64, threads: Option<u32>) -> std::io::Result<Self> {
        let space = Rc::new(Space::new(ranks)?);
        fault::install();
        let bases: Vec<i64> = (0..ranks).map(|rank| space.heap(rank).cast_signed()).collect();
        let table = |rank: u32| [vec![rank.into(), ranks.into()], bases.clone()].concat();
        let tables = (0..ranks).map(table).collect();
        let (sites, stacks, limit) = Default::default();
        Ok(Self { host, ranks, heap_size, threads, space, tables, sites, stacks, limit })
    }

    /// The limit that has ended the check, if one has: the place in the program, and what to do.
    #[must_use]
    pub fn reached_limit(&self) -> Option<&str> {
        self.limit.reached()
    }

    /// Whether some execution has come to this place of the program.
    #[must_use]
    pub fn has_come_to(&self, site: &str) -> bool {
        self.sites.borrow().values().any(|known| **known == *site)
    }
}

impl Program for Front {
    fn tasks(&self) -> Vec<Task> {
        (0..self.ranks).map(Task::host).collect()
    }

    fn first(&self) -> Vec<TaskId> {
        (0..self.ranks as TaskId).collect()
    }

    fn may_be_let_through(&self) -> bool {
        true
    }

    fn reserved(&self) -> std::ops::Range<u64> {
        BARRIERS..HEAP
    }

    fn has_broken_off(&self) -> bool {
        self.reached_limit().is_some()
    }

    fn start(&self) -> Box<dyn Execution + '_> {
        let tasks = Tasks { hosts: self.ranks as TaskId, threads: Vec::new(), launches: HashMap::new() };
        let limit = Rc::clone(&self.limit);
        let launching = Launching { tasks: RefCell::new(tasks), most_threads: self.threads, limit };
        let (space, sites) = (Rc::clone(&self.space), Rc::clone(&self.sites));
        let state = Rc::new(State::new(space, sites, launching, self.ranks, self.heap_size));
        Box::new(Running { front: self, state, fibers: Vec::new() })
    }
}

/// One execution.
struct Running<'f> {
    front: &'f Front,
    state: Rc<State>,
    /// Those of the tasks that have begun and not ended, by task.
    fibers: Vec<Option<Fiber>>,
}

impl Running<'_> {
    /// A task that does its first step.
    fn begin(&self, task: TaskId) -> Result<Fiber, (Site, String)> {
        let (rank, work) = if let Some((rank, thread)) = self.state.take_thread(task) {
            (rank, Work::Thread(thread))
        } else {
            let rank = u32::try_from(task).unwrap_or(u32::MAX);
            (rank, Work::Host((self.front.host)(self.front.tables[task].as_ptr())))
        };
        let context = Rc::new(Context::new(Rc::clone(&self.state), rank, task, work));
        let fiber = Fiber::new(Rc::clone(&context), &mut self.front.stacks.borrow_mut());
        let said =
            |error| format!("no stack for another thread: {error}; give fewer --threads, or launch fewer blocks");
        fiber.map_err(|error| (context.started_at(), said(error)))
    }
}

impl Running<'_> {
    fn resume(&mut self, task: TaskId, answer: Answer, ahead: Option<&mut Ahead>) -> Next {
        if self.fibers.len() <= task {
            self.fibers.resize_with(task + 1, || None);
        }
        if self.fibers[task].is_none() {
            match self.begin(task) {
                Ok(fiber) => self.fibers[task] = Some(fiber),
                Err((site, reason)) => {
                    self.front.limit.reach(&site, &reason);
                    return Next::End;
                }
            }
        }
        let Some(fiber) = &mut self.fibers[task] else { return Next::End };
        let next = fiber.resume(answer, ahead);
        if matches!(next, Next::End | Next::Fail(..) | Next::Fault(..) | Next::Crash(..))
            && let Some(fiber) = self.fibers[task].take()
        {
            fiber.end(&mut self.front.stacks.borrow_mut());
        }
        next
    }
}

impl Execution for Running<'_> {
    fn next(&mut self, task: TaskId, answer: Answer) -> Next {
        self.resume(task, answer, None)
    }

    fn next_ahead(&mut self, task: TaskId, answer: Answer, ahead: &mut Ahead) -> Next {
        self.resume(task, answer, Some(ahead))
    }

    fn added(&self) -> Vec<Task> {
        self.state.launching.tasks.borrow().threads.clone()
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        for fiber in self.fibers.drain(..).flatten() {
            fiber.end(&mut self.front.stacks.borrow_mut());
        }
    }
}
