//! Tasks of compiled code: each runs on a stack of its own until it has something to ask.

use crate::stacks::Stacks;
use crate::task::Context;
use corosensei::stack::Stack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::ffi::c_char;
use std::rc::Rc;
use symm_checker::ahead::Ahead;
use symm_checker::op::Answer;
use symm_checker::run::Next;

/// Bytes of a thread's stack: what a GPU has at most, 512 KiB, and as many for what its accesses pass. Pages that
/// nobody touches cost nothing.
pub const STACK: usize = 1 << 20;
/// Bytes of a host's.
pub const HOST_STACK: usize = 8 << 20;
/// Bytes more, which what the task calls has at least.
pub const SPARE: usize = 128 << 10;

thread_local! {
    /// Where the task is that runs on this thread: the text of the last place that it has come to.
    static LAST: Cell<*const c_char> = const { Cell::new(std::ptr::null()) };
    /// The task that runs on this thread.
    static CURRENT: Cell<*const Context> = const { Cell::new(std::ptr::null()) };
}

/// A task on its way.
pub struct Fiber {
    coroutine: Coroutine<Answer, Next, Next>,
    context: Rc<Context>,
}

impl Fiber {
    /// Before its first step.
    ///
    /// # Errors
    /// The system has no memory for another stack.
    pub fn new(context: Rc<Context>, stacks: &mut Stacks) -> std::io::Result<Self> {
        // A stack that is reset drops nothing, so nothing is owned there.
        let inner = Rc::as_ptr(&context);
        let stack = stacks.take(context.stack_bytes())?;
        context.lowest.set(stack.limit().get() + SPARE);
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<Answer, Next>, _| {
            // SAFETY: the fiber has the context for as long as it has the stack.
            let context = unsafe { &*inner };
            context.set_yielder(yielder);
            context.run();
            Next::End
        });
        context.trap.set(Some(coroutine.trap_handler()));
        Ok(Self { coroutine, context })
    }

    /// Goes on until the task asks or ends.
    pub fn resume(&mut self, answer: Answer, ahead: Option<&mut Ahead>) -> Next {
        let before = CURRENT.replace(Rc::as_ptr(&self.context));
        self.context.set_ahead(ahead);
        come_to(self.context.last.get());
        let result = self.coroutine.resume(answer);
        self.context.last.set(last());
        self.context.set_ahead(None);
        CURRENT.set(before);
        match result {
            CoroutineResult::Yield(next) | CoroutineResult::Return(next) => next,
        }
    }

    /// Gives the stack back. What a task had not done yet, it does not do.
    pub fn end(mut self, stacks: &mut Stacks) {
        if !self.coroutine.done() {
            // SAFETY: on the stack are frames of compiled code, which own nothing, and frames of `calls`, which own
            // nothing while they ask.
            unsafe { self.coroutine.force_reset() };
        }
        stacks.give_back(self.context.stack_bytes(), self.coroutine.into_stack());
    }
}

/// Notes where the task is that runs.
#[inline]
pub fn come_to(loc: *const c_char) {
    LAST.set(loc);
}

/// Where the task is that runs.
pub fn last() -> *const c_char {
    LAST.get()
}

/// The task that runs on this thread, if one does.
pub fn running() -> *const Context {
    CURRENT.get()
}

/// The task that has called.
///
/// # Panics
/// Compiled code does not run as a task: it is called through [`Fiber`] alone.
#[inline]
pub fn current<'t>() -> &'t Context {
    // SAFETY: set for as long as the task runs, which holds its context.
    unsafe { CURRENT.get().as_ref() }.expect("compiled code runs as a task")
}
