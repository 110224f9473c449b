//! What one kind of device does differently from the others.

#[expect(unsafe_code, reason = "copies between ranges that the caller answers for")]
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
use crate::error::Error;
use crate::heap::HeapMap;
use crate::launch::Launch;
use crate::loc::Loc;
use crate::trace::Sink;
use crate::world::World;

/// A kind of device: how its memory is shared and how kernels run on it.
#[expect(unsafe_code, reason = "copies and launches take pointers that the caller answers for")]
pub(crate) trait Driver: Debug + Send + Sync {
    /// What all ranks have to have the same of.
    fn name(&self) -> &'static str;

    /// Starts the devices of the ranks of this process.
    fn prepare(&self, local: &[u32]) -> Result<(), Error>;

    /// Creates a heap that can be sent to the other ranks as a file descriptor.
    fn create_heap(&self, rank: u32, size: u64) -> Result<OwnedFd, Error>;

    /// Whether a heap that another process sends has to be a sealed memfd, so that it cannot shrink under this one.
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

    /// What all processes call the device of a rank of this one; `None` where that does not matter or is not known.
    fn identity(&self, rank: u32) -> Option<Identity>;

    /// Prepares the device of a rank of this process, whose context table is `table`, to record if `trace`.
    fn start(&self, rank: u32, table: &[i64], trace: bool) -> Result<(), Error>;

    /// Called first on a rank's host thread.
    fn enter(&self, rank: u32) -> Result<(), Error>;

    /// Most blocks of one launch.
    fn max_blocks(&self) -> u32;

    /// The streams, events and graphs of the vendor's library; the CPU has none, and does everything at once.
    fn queues(&self) -> Option<&dyn Queues>;

    /// Remembers which device is current on this thread, until the value is dropped.
    fn before(&self) -> Option<Before<'_>>;

    /// A kernel of loaded code.
    fn function(&self, module: Module, name: &CStr) -> Result<Function, Error>;

    /// The stream and the context table that a rank of this process has.
    fn own(&self, rank: u32) -> Own;

    /// Copies between host memory and heaps, or between heaps, in the order of a stream.
    ///
    /// # Safety
    /// Both ranges are valid for `bytes` bytes until the stream has come to the copy.
    unsafe fn copy(&self, rank: u32, dst: *mut u8, src: *const u8, bytes: usize, stream: Stream) -> Result<(), Error>;

    /// As [`Driver::copy`] and at once, from a heap that others may write to at the same time.
    ///
    /// # Safety
    /// Both ranges are valid for `bytes` bytes; nobody else uses `dst`.
    unsafe fn read_now(&self, agent: &Agent, dst: *mut u8, src: *const u8, bytes: usize) -> Result<(), Error>;

    /// Likewise to such a heap.
    ///
    /// # Safety
    /// Both ranges are valid for `bytes` bytes; nobody writes to `src`.
    unsafe fn write_now(&self, agent: &Agent, dst: *mut u8, src: *const u8, bytes: usize) -> Result<(), Error>;

    /// Loads code for a rank's device, or finds it loaded.
    fn load(&self, agent: &Agent, code: &gpu::DeviceCode) -> Result<Module, Error>;

    /// Runs all blocks of a checked launch, in the order of a stream.
    ///
    /// # Safety
    /// The kernel may be called once for each block, on several threads at once, with these arguments.
    unsafe fn launch(&self, agent: &Agent, launch: &Launch<'_>, stream: Stream) -> Result<(), Error>;

    /// A barrier of all ranks, in the order of a stream.
    fn barrier(&self, agent: &Agent, stream: Stream, loc: Loc<'_>) -> Result<(), Error>;

    /// Waits until a stream is done; the error of a kernel names `launch`, or else what was launched last.
    fn wait(&self, agent: &Agent, stream: Stream, launch: Option<&Launch<'_>>) -> Result<(), Error>;

    /// Adds what this process's kernels have recorded to the trace of a run that has failed.
    fn trace_failed(&self, world: &World, sink: &Sink);

    /// Lets go of `rank`'s threads once it will launch nothing more; `failed` says that some may never end.
    fn finish(&self, rank: u32, failed: bool);
}

#[expect(unsafe_code, reason = "as the trait")]
impl dyn Driver {
    /// Copies in the order of the rank's own stream, and waits for it.
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

/// What a rank of this process has on its device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Own {
    pub(crate) stream: Stream,
    /// The context table as kernels take it.
    pub(crate) table: u64,
}

/// A kind of device to run on.
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
    /// The CUDA devices of this machine, in the order in which ranks use them.
    ///
    /// # Errors
    /// [`Error::NoGpu`] where there is no driver library or no device.
    pub fn cuda_devices() -> Result<Vec<DeviceInfo>, Error> {
        Cuda::open()?.devices()
    }

    /// The HIP devices of this machine, in the order in which ranks use them.
    ///
    /// The library is `libamdhip64.so`, or what the environment variable `SYMM_HIP_LIBRARY` names.
    ///
    /// # Errors
    /// [`Error::NoGpu`] where there is no driver library, one that is too old, or no device.
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
