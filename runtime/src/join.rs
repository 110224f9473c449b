//! Joining a run without handing it over: ranks whose threads are the caller's own.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::collective;
use crate::control::HostState;
use crate::error::Error;
use crate::leave;
use crate::lock::lock;
use crate::process::{Link, Monitor};
use crate::rank::Rank;
use crate::run::Config;
use crate::supervisor::{Limit, watch};
use crate::world::World;

/// The threads that run beside the ranks of a process. They notice that the run has failed, and that another process
/// has ended.
#[derive(Debug)]
pub(crate) struct Session {
    world: Arc<World>,
    beside: Mutex<Option<(JoinHandle<()>, Option<Monitor>)>>,
}

/// Joins a run, and returns the ranks of this process: all of [`crate::Ranks::Threads`], for each of which the caller
/// has a thread, or the one of [`crate::Ranks::Process`].
///
/// A rank leaves with [`Rank::leave`]. Of `config`, `timeout` is the longest time that one call of this process's ranks
/// may take; nothing is traced. On CUDA, a process that has other threads sets `CUDA_MODULE_LOADING=EAGER` itself,
/// before anything uses CUDA: a kernel that is loaded only when it is launched would wait for those that wait for it.
///
/// ```
/// use symm_runtime::{Arg, Config, Coords, Error, Grid, Kernel, Rank, Ranks, join};
/// use std::ffi::c_void;
///
/// /// Writes the rank's number into the memory of the next one: on the CPU a kernel is a function.
/// unsafe extern "C" fn greet(args: *const *const c_void, _block: *const Coords) {
///     // SAFETY: launched with these two arguments.
///     let (table, mail) = unsafe { (**args.cast::<*const *const i64>(), **args.add(1).cast::<*const *mut i64>()) };
///     // SAFETY: a context table is [rank, num_ranks, base_0 …], and `mail` is in this rank's heap.
///     unsafe {
///         let (me, ranks) = (*table, *table.add(1));
///         let base = |rank: i64| *table.add(2 + rank as usize);
///         let next = mail.byte_offset((base((me + 1) % ranks) - base(me)) as isize);
///         *next = me;
///     }
/// }
///
/// fn work(rank: Rank) -> Result<(), Error> {
///     let (mail, stream) = (rank.alloc(8, 0)?, rank.stream());
///     let args = [Arg::from(rank.device_ctx()), Arg::from(mail)];
///     // SAFETY: the kernel takes these arguments and writes what alloc gave.
///     unsafe { stream.launch(&Kernel::host("greet", greet), &Grid::new(1, 1), &args)? };
///     stream.barrier()?;
///     let mut got = [0; 8];
///     rank.read(mail, &mut got)?;
///     assert_eq!(u64::from_le_bytes(got), u64::from((rank.rank() + rank.num_ranks() - 1) % rank.num_ranks()));
///     rank.free(mail)?;
///     rank.leave()
/// }
///
/// let ranks = join(&Config::new(Ranks::Threads(4)))?;
/// let threads: Vec<_> = ranks.into_iter().map(|rank| std::thread::spawn(move || work(rank))).collect();
/// for thread in threads {
///     thread.join().unwrap()?;
/// }
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Those of the bootstrap: [`Error::RanksAbsent`], [`Error::Refused`], [`Error::RunMismatch`], [`Error::NoGpu`],
/// [`Error::InvalidConfig`] and so on. The other ranks are told of it.
#[track_caller]
pub fn join(config: &Config) -> Result<Vec<Rank>, Error> {
    let (world, links) = World::start(config, true)?;
    let world = Arc::new(world);
    let apart = world.local().len() < world.num_ranks() as usize;
    let session = Session::start(&world, links, config.timeout);
    // The others would wait for it.
    let tell = |error: &Error| world.fail(world.local()[0].rank, Error::Program(error.to_string()));
    let session = Arc::new(session.inspect_err(tell)?);
    leave::note(&world);
    for local in world.local() {
        world.control.runnable.0.fetch_add(1, Ordering::Relaxed);
        let host = &world.control.areas()[local.rank as usize].host;
        host.since.store(crate::clock::now(), Ordering::Relaxed);
        host.state.store(HostState::Running as u32, Ordering::Release);
    }
    let ranks: Vec<Rank> =
        world.local().iter().map(|local| Rank::new(&world, local.rank, Some(Arc::clone(&session)))).collect();
    if apart {
        // No rank may write into a heap before its owner has cleared the signal pad.
        ranks.iter().try_for_each(|rank| rank.seat.act(|agent, _| collective::enter(agent)))?;
    }
    Ok(ranks)
}

impl Session {
    fn start(world: &Arc<World>, links: Vec<Link>, timeout: Option<Duration>) -> Result<Self, Error> {
        let monitor = (!links.is_empty()).then(|| Monitor::start(world, links)).transpose()?;
        let run = Arc::clone(world);
        let watcher = std::thread::Builder::new()
            .name("symm watch".to_owned())
            .spawn(move || watch(&run, timeout.map(Limit::Call)))
            .map_err(Error::io("start a thread"))?;
        Ok(Self { world: Arc::clone(world), beside: Mutex::new(Some((watcher, monitor))) })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let beside = lock(&self.beside).take();
        if self.world.is_a_parents() {
            // The threads and the device's state are the parent's.
            std::mem::forget((beside, Arc::clone(&self.world)));
            return;
        }
        if let Some((watcher, monitor)) = beside {
            // It ends because all ranks have left or the run has failed, which has been reported.
            let _ = watcher.join();
            let _ = monitor.map(|monitor| monitor.finish(None));
        }
        if self.world.failed() {
            // Kernels that never end may still use what they were given.
            std::mem::forget(Arc::clone(&self.world));
        }
    }
}
