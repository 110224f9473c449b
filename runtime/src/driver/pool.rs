//! The threads that run a rank's blocks. Blocks wait for each other, so each has its own thread; the host thread, which
//! waits for them anyway, runs the first.

use std::ffi::c_void;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use super::limits::{met, refusal};
use super::thread::Thread;
use crate::agent::{Agent, coordinates};
use crate::clock;
use crate::control::{BLOCK_IDLE, BLOCK_RUNNING};
use crate::error::Error;
use crate::launch::{Code, Launch};
use crate::loc::Loc;
use crate::lock::lock;
use crate::trace::What;
use symm_abi::kernel::{Coords, KernelFn};

/// Stack of a block, in bytes. The system gives it pages only as they are touched.
const STACK: usize = 1 << 20;
/// Below this many threads to start, the system's limits are not checked first.
const MANY: u32 = 64;
/// Polls for the end of the last block before the host thread parks.
const SPINS: u32 = 1000;
/// The longest sleep of a joined rank between two checks whether the run has failed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// One rank's threads.
#[derive(Debug, Default)]
pub(super) struct Pool {
    /// Thread `i` runs block `i + 1`, or block `i` where none may run on the host thread.
    workers: Mutex<Vec<Worker>>,
}

#[derive(Debug)]
struct Worker {
    mailbox: Arc<Mailbox>,
    thread: Thread,
}

/// How a thread gets its orders.
#[derive(Debug, Default)]
struct Mailbox {
    order: Mutex<Option<Order>>,
    /// The thread, to be woken after an order was put in; set before it looks for its first.
    reader: OnceLock<std::thread::Thread>,
}

#[derive(Debug)]
enum Order {
    Run(Arc<Job>, u32),
    Exit,
}

/// A launch, for as long as its blocks run.
#[derive(Debug)]
struct Job {
    kernel: KernelFn,
    args: *const *const c_void,
    grid: [i64; 3],
    name: Arc<str>,
    loc: Loc<'static>,
    /// Blocks that have not finished.
    pending: AtomicU32,
    host: std::thread::Thread,
}

// SAFETY: `args` and `loc` point to what the launching thread keeps alive until `pending` is 0, and the promise of
// `Pool::run`'s caller is that the kernel may be called on several threads.
unsafe impl Send for Job {}
// SAFETY: as above; nothing is written through either pointer here.
unsafe impl Sync for Job {}

impl Pool {
    /// # Safety
    /// As for [`super::Driver::launch`].
    pub(super) unsafe fn run(&self, agent: &Agent, launch: &Launch<'_>) -> Result<(), Error> {
        let Code::Host(kernel) = launch.code else {
            return Err(Error::Program(format!("@{} has no code for the CPU", launch.name)));
        };
        // A block may stay in its kernel forever when the run fails: then a joined rank still returns to its caller.
        let hosted = u32::from(!agent.world.joined);
        let mut workers = lock(&self.workers);
        let wanted = (launch.blocks - hosted).saturating_sub(workers.len() as u32);
        start(agent, launch, &mut workers, wanted)
            .inspect_err(|_| agent.area().wanted.0.store(0, Ordering::Relaxed))?;
        let job = Arc::new(Job {
            kernel,
            args: launch.args,
            grid: launch.grid,
            name: launch.name.into(),
            // SAFETY: the string outlives the launch, and the job is not used after it.
            loc: unsafe { Loc::new(launch.loc.key() as *const _) },
            pending: AtomicU32::new(launch.blocks),
            host: std::thread::current(),
        });
        agent.area().live.0.store(launch.blocks, Ordering::Release);
        agent.count_runnable(launch.blocks.cast_signed() - 1);
        for (worker, block) in workers.iter().zip(hosted..launch.blocks) {
            worker.send(Order::Run(Arc::clone(&job), block));
        }
        drop(workers);
        if hosted == 1 {
            // SAFETY: the caller's promise; block 0 is run here only.
            unsafe { job.run_block(agent, 0) };
        }
        let mut spins = 0;
        while job.pending.load(Ordering::Acquire) != 0 {
            if spins < SPINS && agent.world.cores_suffice() {
                std::hint::spin_loop();
                spins += 1;
            } else if hosted == 1 {
                std::thread::park();
            } else {
                std::thread::park_timeout(LOOK_EVERY);
                if job.pending.load(Ordering::Acquire) != 0 {
                    agent.goes_on().inspect_err(|_| agent.count_runnable(1))?;
                }
            }
        }
        agent.count_runnable(1);
        Ok(())
    }

    pub(super) fn finish(&self, failed: bool) {
        for worker in lock(&self.workers).drain(..) {
            worker.send(Order::Exit);
            if failed {
                // It may be in a kernel forever.
                worker.thread.detach();
            } else {
                worker.thread.join();
            }
        }
    }
}

/// Starts this many more threads, or none if the system has no room for them and for those that other ranks start.
fn start(agent: &Agent, launch: &Launch<'_>, workers: &mut Vec<Worker>, wanted: u32) -> Result<(), Error> {
    let mine = &agent.area().wanted.0;
    // In this order: of ranks that start threads at once, the last sees the demand of all.
    mine.store(wanted, Ordering::SeqCst);
    if wanted >= MANY {
        let all = agent.world.control.areas().iter().map(|area| u64::from(area.wanted.0.load(Ordering::SeqCst))).sum();
        if let Some(why) = refusal(all) {
            let mend = format!("each block is a thread, and {why}; launch fewer blocks, or raise that limit");
            return Err(Error::BadLaunch { kernel: launch.name.to_owned(), what: "grid", dims: launch.grid, mend });
        }
    }
    for _ in 0..wanted {
        workers.push(Worker::start(agent).map_err(|answer| no_thread(&answer, workers.len()))?);
        mine.fetch_sub(1, Ordering::Relaxed);
    }
    Ok(())
}

impl Worker {
    fn start(agent: &Agent) -> io::Result<Self> {
        let mailbox = Arc::<Mailbox>::default();
        let (inbox, world, rank) = (Arc::clone(&mailbox), Arc::clone(&agent.world), agent.rank);
        let thread = Thread::start(&format!("symm rank {rank}"), STACK, move || {
            inbox.reader.get_or_init(std::thread::current);
            Agent::enter(world, rank);
            Agent::with(|agent| work(agent, &inbox.order));
        })?;
        Ok(Self { mailbox, thread })
    }

    fn send(&self, order: Order) {
        *lock(&self.mailbox.order) = Some(order);
        // A thread that has not started yet looks before it sleeps.
        if let Some(reader) = self.mailbox.reader.get() {
            reader.unpark();
        }
    }
}

/// Why there are only this many threads.
fn no_thread(answer: &io::Error, started: usize) -> Error {
    Error::Program(format!("could not start a thread for a block: {answer}; {}; launch fewer blocks", met(started)))
}

fn work(agent: &Agent, inbox: &Mutex<Option<Order>>) {
    loop {
        let order = lock(inbox).take();
        match order {
            // SAFETY: `Pool::run` sends each block of a job to one worker, and its caller promised the rest.
            Some(Order::Run(job, block)) => unsafe { job.run_block(agent, block) },
            Some(Order::Exit) => return,
            None => std::thread::park(),
        }
    }
}

impl Job {
    /// # Safety
    /// Called once for each block, while the launching thread waits in [`Pool::run`].
    unsafe fn run_block(&self, agent: &Agent, block: u32) {
        agent.block.set(Some(block));
        let slot = &agent.area().blocks[block as usize];
        slot.since.store(clock::now(), Ordering::Relaxed);
        slot.state.store(BLOCK_RUNNING, Ordering::Release);
        let coords = Coords { block: coordinates(block, self.grid), grid: self.grid };
        agent.begin(self.loc, || What::Block { kernel: Arc::clone(&self.name), coords: coords.block });
        // SAFETY: the launching thread's promise; `coords` lives until the call returns.
        unsafe { (self.kernel)(self.args, &raw const coords) };
        agent.end();
        agent.flush();
        agent.block.set(None);
        slot.state.store(BLOCK_IDLE, Ordering::Release);
        agent.count_runnable(-1);
        agent.transition();
        agent.area().live.0.fetch_sub(1, Ordering::AcqRel);
        if self.pending.fetch_sub(1, Ordering::AcqRel) == 1 && std::thread::current().id() != self.host.id() {
            self.host.unpark();
        }
    }
}
