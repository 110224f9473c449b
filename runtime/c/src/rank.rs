//! Joining, memory, and the other ranks.

use std::ffi::{c_int, c_void};
use std::time::Duration;

use symm_runtime::{Bootstrap, Config, Device, Error, Rank, Ranks, join};

use crate::handle::{destroy, find, give_up, hand_over};
use crate::pointers::{borrow, bytes, bytes_mut, store};
use crate::{call, invalid};

/// What times of the options are below, as symm-run's `--timeout` is.
const MOST: Duration = Duration::from_secs(1_000_000_000);

/// The drivers of the header, `SYMM_CPU` and the others.
pub(crate) const CPU: u32 = 0;
pub(crate) const CUDA: u32 = 1;
pub(crate) const HIP: u32 = 2;

/// `symm_options` of the header.
#[repr(C)]
pub struct Options {
    pub(crate) driver: u32,
    pub(crate) heap_size: u64,
    pub(crate) timeout: f64,
    pub(crate) deadline: f64,
    pub(crate) fingerprint: *const u8,
    pub(crate) fingerprint_bytes: usize,
    pub(crate) helpers_signal: u32,
}

/// `symm_rank_info` of the header.
#[repr(C)]
pub struct RankInfo {
    pub(crate) rank: u32,
    pub(crate) num_ranks: u32,
    pub(crate) heap_size: u64,
    pub(crate) heap_bases: *const i64,
    pub(crate) ctx: *const i64,
    pub(crate) device_ctx: u64,
}

/// A time of the options; none for zero.
fn seconds(value: f64, what: &str) -> Result<Option<Duration>, Error> {
    let time = Duration::try_from_secs_f64(value).ok().filter(|time| *time < MOST);
    // As Debug has it, 1e300 is not 301 digits.
    let no = || invalid(format!("{what} of {value:?} seconds: it is 0 or more, and less than 1e9; 0 is the default"));
    time.ok_or_else(no).map(|time| (!time.is_zero()).then_some(time))
}

impl Options {
    fn config(&self, ranks: Ranks) -> Result<Config, Error> {
        let mut config = Config::new(ranks);
        config.device = match self.driver {
            CPU => Device::Cpu,
            CUDA => Device::Cuda(Vec::new()),
            HIP => Device::Hip(Vec::new()),
            other => return Err(invalid(format!("no driver has the number {other}"))),
        };
        if self.heap_size != 0 {
            config.heap_size = self.heap_size;
        }
        config.timeout = seconds(self.timeout, "a timeout")?;
        config.helpers_signal = self.helpers_signal != 0;
        Ok(config)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_join(options: *const Options, rank: *mut *mut Rank) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe {
        let options = borrow(options, "options")?;
        borrow(rank, "the place for the rank")?;
        let mut bootstrap = Bootstrap::from_env()?;
        bootstrap.fingerprint = bytes(options.fingerprint, options.fingerprint_bytes, "fingerprint")?.to_vec();
        bootstrap.deadline = seconds(options.deadline, "a deadline")?.unwrap_or(bootstrap.deadline);
        let joined = join(&options.config(Ranks::Process(bootstrap))?)?.into_iter().next();
        hand_over(rank, joined.ok_or_else(|| invalid("this process has no rank"))?)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_join_threads(options: *const Options, num_ranks: u32, ranks: *mut *mut Rank) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe {
        let options = borrow(options, "options")?;
        borrow(ranks, "the place for the ranks")?;
        for (index, rank) in join(&options.config(Ranks::Threads(num_ranks))?)?.into_iter().enumerate() {
            hand_over(ranks.add(index), rank)?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_leave(rank: *mut Rank) -> c_int {
    call(|| give_up(rank, "the rank", Rank::try_leave))
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_abandon(rank: *mut Rank) {
    destroy(rank, Rank::abandon);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_get_info(rank: *const Rank, info: *mut RankInfo) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe {
        let rank = find(rank, "the rank")?;
        let found = RankInfo {
            rank: rank.rank(),
            num_ranks: rank.num_ranks(),
            heap_size: rank.heap_size(),
            heap_bases: rank.heap_bases().as_ptr(),
            ctx: rank.ctx(),
            device_ctx: rank.device_ctx(),
        };
        store(info, found)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_alloc(rank: *mut Rank, bytes: u64, align: u64, pointer: *mut *mut c_void) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe {
        borrow(pointer, "the place for the pointer")?;
        store(pointer, find(rank, "the rank")?.alloc(bytes, align)?.cast())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_free(rank: *mut Rank, pointer: *mut c_void) -> c_int {
    call(|| find(rank, "the rank")?.free(pointer.cast()))
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_is_symmetric(rank: *const Rank, pointer: *const c_void) -> c_int {
    let symmetric = find(rank, "the rank").is_ok_and(|rank| rank.is_symmetric(pointer.cast()));
    c_int::from(symmetric)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_as_remote(
    rank: *const Rank,
    pointer: *const c_void,
    peer: u32,
    remote: *mut *mut c_void,
) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe { store(remote, find(rank, "the rank")?.as_remote(pointer.cast(), peer)?.cast()) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_read(rank: *mut Rank, from: *const c_void, into: *mut c_void, bytes: usize) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe {
        let rank = find(rank, "the rank")?;
        rank.read(from.cast(), bytes_mut(into.cast(), bytes, "the memory to read into")?)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_write(rank: *mut Rank, to: *mut c_void, from: *const c_void, size: usize) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe { find(rank, "the rank")?.write(to.cast(), bytes(from.cast(), size, "the memory to write from")?) })
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_barrier(rank: *mut Rank) -> c_int {
    call(|| find(rank, "the rank")?.barrier())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_broadcast(rank: *mut Rank, root: u32, data: *mut c_void, bytes: usize) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe {
        let rank = find(rank, "the rank")?;
        rank.broadcast(root, bytes_mut(data.cast(), bytes, "the data")?)
    })
}
