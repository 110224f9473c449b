//! What a task is: a rank's host function, or a thread of a block.

use crate::Call;
use crate::state::{self, State};
use corosensei::Yielder;
use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::rc::Rc;
use std::sync::Arc;
use symm_abi::check::Group;
use symm_abi::kernel::{KernelFn, ThreadCoords};
use symm_checker::op::{Answer, Op, Site};
use symm_checker::run::Next;
use symm_checker::task::TaskId;

/// A thread of a block.
pub struct Thread {
    pub kernel: KernelFn,
    /// The launch's, which the host keeps until all threads have ended.
    pub args: *const *const c_void,
    pub coords: ThreadCoords,
    /// The tasks of its block and of its warp.
    pub block: Arc<[TaskId]>,
    pub warp: Arc<[TaskId]>,
}

/// What a task runs.
pub enum Work {
    /// The host function.
    Host(Call),
    /// A kernel.
    Thread(Thread),
}

/// A task, as the functions see it that it calls.
pub struct Context {
    pub state: Rc<State>,
    pub rank: u32,
    pub task: TaskId,
    pub work: Work,
    yielder: Cell<*const Yielder<Answer, Next>>,
}

impl Context {
    pub fn new(state: Rc<State>, rank: u32, task: TaskId, work: Work) -> Self {
        Self { state, rank, task, work, yielder: Cell::new(std::ptr::null()) }
    }

    pub fn set_yielder(&self, yielder: &Yielder<Answer, Next>) {
        self.yielder.set(yielder);
    }

    /// Runs the task, on its own stack.
    pub fn run(&self) {
        match &self.work {
            Work::Host(call) => {
                self.begin();
                call();
            }
            // SAFETY: compiled for one call for each thread, with the arguments that its launch has given.
            Work::Thread(thread) => unsafe { (thread.kernel)(thread.args, (&raw const thread.coords).cast()) },
        }
    }

    /// The part of a heap that belongs to symm is there from the start, on every rank.
    fn begin(&self) {
        let site: Site = "start".into();
        self.ask_at(Op::Alloc(state::reserved(self.rank), true), site.clone());
        self.ask_at(self.state.meeting_of_hosts(), site);
    }

    /// Lets the checker do an op, when it is this task's turn.
    pub fn ask(&self, op: Op, loc: *const c_char) -> Answer {
        self.ask_at(op, self.state.site(loc))
    }

    fn ask_at(&self, op: Op, site: Site) -> Answer {
        self.hand_over(Next::Op(op, site))
    }

    /// Hands over what the task does next.
    pub fn hand_over(&self, next: Next) -> Answer {
        // SAFETY: set when the task began to run, and its stack holds it.
        unsafe { &*self.yielder.get() }.suspend(next)
    }

    /// The task can't go on, for this reason.
    pub fn fail(&self, reason: String, loc: *const c_char) -> ! {
        self.hand_over(Next::Fail(self.state.site(loc), reason));
        unreachable!("a task that has failed is not resumed")
    }

    /// The tasks of this one's group, and the number of their barrier; none where it is alone.
    pub fn group(&self, group: Group) -> Option<(u64, &Arc<[TaskId]>)> {
        let Work::Thread(thread) = &self.work else { return None };
        let (members, bit) = match group {
            Group::Thread => return None,
            Group::Warp => (&thread.warp, 1),
            Group::Block => (&thread.block, 0),
        };
        Some((2 * members[0] as u64 + bit, members))
    }

    /// Comes to a barrier of a group.
    pub fn meet(&self, group: Group, loc: *const c_char) {
        if let Some((key, members)) = self.group(group) {
            self.ask(Op::Barrier(key, Arc::clone(members)), loc);
        }
    }

    /// Whether this task does what its group does once.
    pub fn leads(&self, group: Group) -> bool {
        self.group(group).is_none_or(|(_, members)| members[0] == self.task)
    }
}
