//! What a task is: a rank's host function, or a thread of a block.

use crate::Call;
use crate::calls::Put;
use crate::fiber::{HOST_STACK, SPARE, STACK, come_to};
use crate::space::Held;
use crate::state::{self, State};
use corosensei::Yielder;
use corosensei::trap::CoroutineTrapHandler;
use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_void};
use std::rc::Rc;
use std::sync::Arc;
use symm_abi::check::Group;
use symm_abi::kernel::{KernelFn, ThreadCoords};
use symm_checker::ahead::Ahead;
use symm_checker::op::{Answer, COPIES, Op, Range, Site};
use symm_checker::run::Next;
use symm_checker::task::TaskId;

/// Turns that are a step where a task does nothing else.
const TURNS: u64 = 1024;

thread_local! {
    /// What the task that runs on this thread may do by itself.
    static AHEAD: Cell<*mut Ahead<'static>> = const { Cell::new(std::ptr::null_mut()) };
}

/// What the task that runs may do by itself, if it may do anything.
#[inline]
pub fn ahead<'t>() -> Option<&'t mut Ahead<'static>> {
    // SAFETY: set for as long as the task runs, and used by nobody else meanwhile.
    unsafe { AHEAD.get().as_mut() }
}

/// A thread of a block.
pub struct Thread {
    pub kernel: KernelFn,
    /// The launch's, which the host keeps until all threads have ended.
    pub args: *const *const c_void,
    pub coords: ThreadCoords,
    /// The tasks of its block and of its warp.
    pub block: Arc<[TaskId]>,
    pub warp: Arc<[TaskId]>,
    /// Where it was launched.
    pub launch_loc: *const c_char,
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
    /// How a fault leaves its stack.
    pub trap: Cell<Option<CoroutineTrapHandler<Next>>>,
    /// The text of the last place that it has come to, while it does not run.
    pub last: Cell<*const c_char>,
    /// Rounds of loops, and calls of functions.
    turns: Cell<u64>,
    /// How often it was resumed, and what it had done when its turns were looked at last.
    resumed: Cell<u64>,
    done: Cell<(u64, usize)>,
    /// Where its stack is nearly full.
    pub lowest: Cell<usize>,
    /// The addresses of the memory that the checker holds.
    space: Held,
    /// What its group puts, while it says so.
    pub put: RefCell<Option<Put>>,
    /// How many puts of its groups there were.
    pub puts: Cell<u64>,
}

impl Context {
    pub fn new(state: Rc<State>, rank: u32, task: TaskId, work: Work) -> Self {
        let start = match &work {
            Work::Host(_) => std::ptr::null(),
            Work::Thread(thread) => thread.launch_loc,
        };
        Self {
            space: state.space.held_addresses(),
            state,
            rank,
            task,
            work,
            turns: Cell::default(),
            resumed: Cell::default(),
            done: Cell::default(),
            lowest: Cell::default(),
            yielder: Cell::new(std::ptr::null()),
            trap: Cell::default(),
            last: Cell::new(start),
            put: RefCell::default(),
            puts: Cell::default(),
        }
    }

    /// The place at which it begins.
    pub fn started_at(&self) -> Site {
        let at = self.last.get();
        if at.is_null() { "start".into() } else { self.state.site(at) }
    }

    /// Bytes of its stack.
    pub fn stack_bytes(&self) -> usize {
        if matches!(self.work, Work::Host(_)) { HOST_STACK } else { STACK }
    }

    pub fn set_yielder(&self, yielder: &Yielder<Answer, Next>) {
        self.yielder.set(yielder);
    }

    /// What the task may do until it asks.
    pub fn set_ahead(&self, ahead: Option<&mut Ahead>) {
        self.resumed.set(self.resumed.get() + 1);
        AHEAD.set(ahead.map_or(std::ptr::null_mut(), |ahead| std::ptr::from_mut(ahead).cast()));
    }

    /// The range that the checker holds at an address, if it holds one.
    #[inline]
    pub fn held(&self, at: *const u8, bytes: u64) -> Option<Range> {
        self.space.held(at as u64, bytes)
    }

    /// The address of memory that the checker holds.
    pub fn address(&self, range: Range) -> *mut u8 {
        self.space.address(range) as *mut u8
    }

    /// Reads a range if it is this task's turn for sure.
    pub fn reads(&self, range: Range, into: &mut [u8], loc: *const c_char) -> bool {
        let ahead = ahead();
        ahead.is_some_and(|ahead| {
            let is_done = ahead.read(range, into, loc as usize, || self.state.site(loc));
            ahead.keep_near(self.space.address(range), range);
            is_done
        })
    }

    /// Writes a range if it is this task's turn for sure.
    pub fn writes(&self, range: Range, bytes: &[u8], loc: *const c_char) -> bool {
        let ahead = ahead();
        ahead.is_some_and(|ahead| {
            let is_done = ahead.write(range, bytes, loc as usize, || self.state.site(loc));
            ahead.keep_near(self.space.address(range), range);
            is_done
        })
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

    /// The words of barriers are there from the start, on every rank.
    fn begin(&self) {
        let site: Site = "start".into();
        self.ask_at(Op::Alloc(state::barriers(self.rank), true), site.clone());
        self.ask_at(self.state.meeting_at_start(), site);
    }

    /// A loop goes round once more, or a function is called.
    #[inline]
    pub fn turn(&self, loc: *const c_char) {
        come_to(loc);
        let turns = self.turns.get() + 1;
        self.turns.set(turns);
        if (&raw const turns).addr() < self.lowest.get() {
            self.fail("its stack is full: is there an end to how often functions call themselves?".into(), loc);
        }
        if turns.is_multiple_of(TURNS) {
            self.look(loc);
        }
    }

    /// Makes this many turns without anything else a step, so that --steps ends them.
    #[cold]
    fn look(&self, loc: *const c_char) {
        if self.done.get() == self.so_far() {
            self.ask(Op::Issue, loc);
        }
        self.done.set(self.so_far());
    }

    fn so_far(&self) -> (u64, usize) {
        (self.resumed.get(), ahead().map_or(0, |ahead| ahead.done()))
    }

    /// Lets the checker do an op, when it is this task's turn.
    pub fn ask(&self, op: Op, loc: *const c_char) -> Answer {
        come_to(loc);
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

    /// It would do what ends a process, for this reason.
    pub fn fault(&self, reason: String, loc: *const c_char) -> ! {
        self.hand_over(Next::Fault(self.state.site(loc), reason));
        unreachable!("a task that has failed is not resumed")
    }

    /// It comes to a limit of the checker, which says so: the check ends.
    pub fn give_up(&self, reason: &str, loc: *const c_char) -> ! {
        self.state.launching.limit.reach(&self.state.site(loc), reason);
        self.hand_over(Next::End);
        unreachable!("a task that has ended is not resumed")
    }

    /// Whether an address is near the end of its stack.
    pub fn stack_ends_about(&self, address: usize, beyond: usize) -> bool {
        let end = self.lowest.get() - SPARE;
        (end - beyond..self.lowest.get()).contains(&address)
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

    /// Comes to a barrier of a group around a put.
    pub fn meet_for_put(&self, group: Group, loc: *const c_char) {
        if let Some((key, members)) = self.group(group) {
            self.ask(Op::Barrier(key | COPIES, Arc::clone(members)), loc);
        }
    }

    /// Whether this task does what its group does once.
    pub fn leads(&self, group: Group) -> bool {
        self.group(group).is_none_or(|(_, members)| members[0] == self.task)
    }
}
