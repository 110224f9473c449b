//! What a driver provides: whatever differs between kinds of device.

#[expect(unsafe_code, reason = "copies between ranges whose validity the caller promises")]
mod cpu;
pub(crate) mod gpu;
mod limits;
#[expect(unsafe_code, reason = "kernels and their arguments, on other threads")]
mod pool;
#[expect(unsafe_code, reason = "threads whose stack this crate maps")]
mod thread;

use std::ffi::CStr;
use std::fmt::Debug;
use std::os::fd::OwnedFd;

pub(crate) use cpu::Cpu;
use gpu::Gpu;
use gpu::api::DeviceInfo;
use gpu::cuda::Cuda;
use gpu::hip::Hip;

use self::gpu::api::{Before, Devices as _, Function, Identity, Module, Queues, Stream};
use crate::agent::Agent;
use crate::control::ENGINE_ID_WORDS;
use crate::engine::nvshmem::Nvshmem;
use crate::error::Error;
use crate::heap::{GoesOn, HeapMap};
use crate::launch::Launch;
use crate::loc::Loc;
use crate::trace::Sink;
use crate::world::World;

/// A kind of device: how its memory is shared and how kernels run on it.
#[expect(unsafe_code, reason = "copies and launches take pointers whose validity the caller promises")]
pub(crate) trait Driver: Debug + Send + Sync {
    /// What must be the same on all ranks.
    fn name(&self) -> &'static str;

    /// Starts the devices of the ranks of this process.
    fn prepare(&self, local: &[u32]) -> Result<(), Error>;

    /// Creates a heap that can be sent to the other ranks as a file descriptor.
    fn create_heap(&self, rank: u32, size: u64) -> Result<OwnedFd, Error>;

    /// Whether a heap sent by another process must be a sealed memfd, so that it cannot shrink while this one uses it.
    fn checks_heaps(&self) -> bool;

    /// Maps every rank's heap, in the order of ranks; `local` are the ranks of this process.
    /// `identities` are those of the ranks' devices.
    fn map_heaps(
        &self,
        heaps: Vec<OwnedFd>,
        size: u64,
        local: &[u32],
        identities: &[Option<Identity>],
    ) -> Result<HeapMap, Error>;

    /// Starts an engine for a rank, of this many, and takes the ranks' heaps of this size in its memory. `is_of_node`
    /// says whose heaps may be near, and `goes_on` whether the others still come: the engine may wait for one that
    /// has died.
    fn map_engine(
        &self,
        engine: Nvshmem,
        of: (u32, u32, u64),
        id: [u64; ENGINE_ID_WORDS],
        is_of_node: &dyn Fn(u32) -> bool,
        goes_on: GoesOn<'_>,
    ) -> Result<HeapMap, Error>;

    /// The name that all processes have for the device of a rank of this one; `None` where it does not matter or is
    /// unknown.
    fn identity(&self, rank: u32) -> Option<Identity>;

    /// Prepares the device of a rank of this process, whose context table is `table`, to record if `trace`.
    fn start(&self, rank: u32, table: &[i64], trace: bool) -> Result<(), Error>;

    /// Called first on a rank's host thread.
    fn enter(&self, rank: u32) -> Result<(), Error>;

    /// The largest number of blocks in one launch.
    fn max_blocks(&self) -> u32;

    /// The streams, events and graphs of the vendor's library; the CPU has none, and does everything immediately.
    fn queues(&self) -> Option<&dyn Queues>;

    /// Remembers which device is current on this thread, until the value is dropped.
    fn before(&self) -> Option<Before<'_>>;

    /// A kernel of loaded code.
    fn function(&self, module: Module, name: &CStr) -> Result<Function, Error>;

    /// The stream and the context table of a rank of this process.
    fn own(&self, rank: u32) -> Own;

    /// Copies between host memory and heaps, or between heaps, in stream order.
    ///
    /// # Safety
    /// Both ranges are valid for `bytes` bytes until the stream has done the copy.
    unsafe fn copy(&self, rank: u32, dst: *mut u8, src: *const u8, bytes: usize, stream: Stream) -> Result<(), Error>;

    /// Like [`Driver::copy`], but immediate, from a heap that others may write at the same time.
    ///
    /// # Safety
    /// Both ranges are valid for `bytes` bytes; nobody else uses `dst`.
    unsafe fn read_now(&self, agent: &Agent, dst: *mut u8, src: *const u8, bytes: usize) -> Result<(), Error>;

    /// The same in the other direction, into such a heap.
    ///
    /// # Safety
    /// Both ranges are valid for `bytes` bytes; nobody writes to `src`.
    unsafe fn write_now(&self, agent: &Agent, dst: *mut u8, src: *const u8, bytes: usize) -> Result<(), Error>;

    /// Loads code for a rank's device, unless it is already loaded.
    fn load(&self, agent: &Agent, code: &gpu::DeviceCode) -> Result<Module, Error>;

    /// Runs all blocks of a checked launch, in stream order.
    ///
    /// # Safety
    /// The kernel may be called once for each block, on several threads at once, with these arguments.
    unsafe fn launch(&self, agent: &Agent, launch: &Launch<'_>, stream: Stream) -> Result<(), Error>;

    /// A barrier of all ranks, in stream order.
    fn barrier(&self, agent: &Agent, stream: Stream, loc: Loc<'_>) -> Result<(), Error>;

    /// Waits until a stream is done. A kernel's error names `launch`, or else the last launch.
    fn wait(&self, agent: &Agent, stream: Stream, launch: Option<&Launch<'_>>) -> Result<(), Error>;

    /// Adds what this process's kernels have recorded to the trace of a run that has failed.
    fn trace_failed(&self, world: &World, sink: &Sink);

    /// Releases `rank`'s threads when it will launch nothing more; `failed` says that some may never end.
    fn finish(&self, rank: u32, failed: bool);
}

#[expect(unsafe_code, reason = "as the trait")]
impl dyn Driver {
    /// Copies in the order of the rank's own stream, and waits for the copy.
    ///
    /// # Safety
    /// Both ranges are valid for `bytes` bytes.
    pub(crate) unsafe fn copy_now(
        &self,
        agent: &Agent,
        dst: *mut u8,
        src: *const u8,
        bytes: usize,
    ) -> Result<(), Error> {
        let stream = self.own(agent.rank).stream;
        // SAFETY: the caller's promise.
        unsafe { self.copy(agent.rank, dst, src, bytes, stream)? };
        self.wait(agent, stream, None)
    }
}

/// The state of a rank of this process on its device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Own {
    pub(crate) stream: Stream,
    /// The context table as kernels take it.
    pub(crate) table: u64,
}

/// The kind of device to run on.
#[derive(Debug, Clone, Default)]
pub enum Device {
    /// This machine's processor.
    #[default]
    Cpu,
    /// NVIDIA's GPUs, with the program's kernels compiled for them.
    Cuda(Vec<gpu::DeviceCode>),
    /// AMD's GPUs, with the program's kernels compiled for them.
    Hip(Vec<gpu::DeviceCode>),
}

impl Device {
    /// The CUDA devices of this machine, in the order that ranks use them.
    ///
    /// # Errors
    /// [`Error::NoGpu`] without a driver library or a device.
    pub fn cuda_devices() -> Result<Vec<DeviceInfo>, Error> {
        Cuda::open()?.devices()
    }

    /// The HIP devices of this machine, in the order that ranks use them.
    ///
    /// The library is `libamdhip64.so`, or what the environment variable `SYMM_HIP_LIBRARY` names.
    ///
    /// # Errors
    /// [`Error::NoGpu`] without a driver library or a device, or with a library that is too old.
    pub fn hip_devices() -> Result<Vec<DeviceInfo>, Error> {
        Hip::open()?.devices()
    }

    pub(crate) fn open(&self) -> Result<Box<dyn Driver>, Error> {
        Ok(match self {
            Self::Cpu => Box::new(Cpu::default()),
            Self::Cuda(code) => Box::new(Gpu::new(Cuda::open()?, code.clone())?),
            Self::Hip(code) => Box::new(Gpu::new(Hip::open()?, code.clone())?),
        })
    }
}
