//! What the driver needs from a vendor's library. The rest of `gpu` is the same for all vendors.

use std::ffi::{CStr, c_void};
use std::fmt::Debug;
use std::os::fd::{BorrowedFd, OwnedFd};

use crate::error::Error;

/// A device, by its number in this process.
pub(crate) type Ordinal = u32;

/// A queue of work on one device, as the vendor's handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stream(pub(crate) usize);

/// A point in a stream's work, as the vendor's handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event(pub(crate) usize);

/// Recorded work that can be launched again, as the vendor's handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Graph(pub(crate) usize);

/// Loaded code, as the vendor's handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Module(pub(crate) usize);

/// A kernel of loaded code, as the vendor's handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Function(pub(crate) usize);

/// A handle by which other processes open memory.
pub(crate) type IpcHandle = [u8; 64];

/// The vendor's identity of a device, which is the same in all processes.
pub(crate) type Identity = [u8; 16];

/// Restores what was current on a thread of the caller.
#[derive(Debug)]
pub(crate) struct Before<'a> {
    devices: &'a (dyn Devices + 'a),
    /// `None` if it cannot be told.
    current: Option<usize>,
}

impl<'a> Before<'a> {
    /// Remembers what is current on this thread until the value is dropped.
    pub(crate) fn of(devices: &'a (dyn Devices + 'a)) -> Self {
        Self { devices, current: devices.current().ok() }
    }
}

impl Drop for Before<'_> {
    fn drop(&mut self) {
        if let Some(current) = self.current {
            self.devices.restore(current);
        }
    }
}

/// What a device is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The vendor's name for it.
    pub name: String,
    /// The chip that code is compiled for: `sm_90`, `gfx942`.
    pub chip: String,
    /// Multiprocessors (NVIDIA) or compute units (AMD).
    pub multiprocessors: u32,
    /// Whether heaps are mapped at a fixed stride. Otherwise kernels must be compiled for the context table.
    pub mapped: bool,
}

/// One launch, with all of its parameters.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) function: Function,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub(crate) shared: u32,
    /// Whether all blocks have to be on the device at the same time.
    pub(crate) cooperative: bool,
}

/// A vendor's driver library. Calls that do not choose a device act on the calling thread's current one.
pub(crate) trait Api: Devices + Memory + Queues + Kernels {}

impl<T: Devices + Memory + Queues + Kernels> Api for T {}

/// The devices, and a thread's current one.
pub(crate) trait Devices: Debug + Send + Sync {
    /// The driver's name, and how heaps are shared. Both must be the same on all ranks.
    fn name(&self) -> &'static str;

    fn devices(&self) -> Result<Vec<DeviceInfo>, Error>;

    /// Makes a device current on this thread.
    fn make_current(&self, device: Ordinal) -> Result<(), Error>;

    /// What is current on this thread, for [`Self::restore`].
    fn current(&self) -> Result<usize, Error>;

    /// Makes the former device current again.
    fn restore(&self, current: usize);

    /// A device's identity, which is the same in every process, unlike its number; `None` where it is unknown.
    fn identity(&self, device: Ordinal) -> Option<Identity>;

    /// Whether `from` can load and store the memory of `to`.
    fn can_access(&self, from: Ordinal, to: Ordinal) -> Result<bool, Error>;

    /// Lets the current device use memory from [`Self::create_plain`] on `peer`.
    fn enable_peer(&self, peer: Ordinal) -> Result<(), Error>;
}

/// Memory of the current device, and how ranks share it.
pub(crate) trait Memory: Debug + Send + Sync {
    /// Whether memory can be mapped at addresses of the caller's choice, on all devices.
    fn maps(&self) -> bool;

    /// Memory of `device`, the current one, that other processes can open.
    fn create_plain(&self, device: Ordinal, bytes: u64) -> Result<u64, Error>;

    fn free_plain(&self, address: u64);

    /// A handle by which other processes open memory from [`Self::create_plain`].
    fn handle(&self, address: u64) -> Result<IpcHandle, Error>;

    /// Another process's memory at an address of this one, for the current device.
    fn open(&self, handle: &IpcHandle) -> Result<u64, Error>;

    /// Undoes [`Self::open`].
    fn close(&self, address: u64);

    /// Memory of `device` that other processes can map; `bytes` is a multiple of 2 MiB.
    fn create_shared(&self, device: Ordinal, bytes: u64) -> Result<OwnedFd, Error>;

    /// A range of addresses, aligned to 2 MiB, with nothing mapped in it.
    fn reserve(&self, bytes: u64) -> Result<u64, Error>;

    /// Maps shared memory at `at` for the devices `by`; nothing is mapped after an error.
    fn map_shared(&self, at: u64, memory: BorrowedFd<'_>, bytes: u64, by: &[Ordinal]) -> Result<(), Error>;

    /// Undoes [`Self::map_shared`].
    fn unmap(&self, at: u64, bytes: u64);

    /// Undoes [`Self::reserve`].
    fn release(&self, start: u64, bytes: u64);

    /// Zeroed memory of the host that every device can write, at the same address.
    fn alloc_host(&self, bytes: usize) -> Result<*mut u8, Error>;

    fn free_host(&self, memory: *mut u8);

    /// Memory of the current device, in stream order.
    fn alloc(&self, bytes: u64, stream: Stream) -> Result<u64, Error>;

    fn free(&self, memory: u64, stream: Stream) -> Result<(), Error>;

    /// Copies between any two of host memory and device memory.
    ///
    /// # Safety
    /// Both ranges are valid for `bytes` bytes until the stream has done the copy.
    unsafe fn copy(&self, dst: u64, src: u64, bytes: usize, stream: Stream) -> Result<(), Error>;

    /// Writes zeros.
    ///
    /// # Safety
    /// The range is valid for `bytes` bytes until the stream has done the write.
    unsafe fn clear(&self, dst: u64, bytes: usize, stream: Stream) -> Result<(), Error>;
}

/// Streams, events and graphs of the current device.
pub(crate) trait Queues: Debug + Send + Sync {
    fn create_stream(&self) -> Result<Stream, Error>;

    fn destroy_stream(&self, stream: Stream);

    /// Whether all work of a stream is done; an error if the work has failed.
    fn is_done(&self, stream: Stream) -> Result<bool, Error>;

    fn create_event(&self) -> Result<Event, Error>;

    fn destroy_event(&self, event: Event);

    /// Marks the end of what the stream has been given so far.
    fn record(&self, event: Event, stream: Stream) -> Result<(), Error>;

    /// Makes a stream wait for what was last marked.
    fn await_event(&self, stream: Stream, event: Event) -> Result<(), Error>;

    /// Whether what was last marked is done; an error if it has failed.
    fn has_happened(&self, event: Event) -> Result<bool, Error>;

    /// Milliseconds between two events that have happened.
    fn elapsed(&self, from: Event, to: Event) -> Result<f32, Error>;

    /// From here on, what this thread gives the stream is recorded and not executed.
    fn begin_capture(&self, stream: Stream) -> Result<(), Error>;

    /// Ends the recording and returns it.
    fn end_capture(&self, stream: Stream) -> Result<Graph, Error>;

    fn launch_graph(&self, graph: Graph, stream: Stream) -> Result<(), Error>;

    fn destroy_graph(&self, graph: Graph);
}

/// Code on the current device.
pub(crate) trait Kernels: Debug + Send + Sync {
    /// Code with a kernel `symm_barrier(table)`, the barrier of all ranks, where the vendor has it.
    fn barrier_code(&self) -> Option<&'static [u8]>;

    /// Loads code for the current device; the error holds the compiler's log.
    fn load(&self, image: &[u8]) -> Result<Module, Error>;

    fn unload(&self, module: Module);

    fn function(&self, module: Module, name: &CStr) -> Result<Function, Error>;

    /// Address and size in bytes of a global of loaded code; `None` if there is no such global.
    fn global(&self, module: Module, name: &CStr) -> Option<(u64, usize)>;

    /// The most threads that a block of a kernel may have, and the registers that each takes.
    fn most_threads(&self, function: Function) -> Result<(u32, u32), Error>;

    /// How many blocks of this many threads and this much dynamic shared memory fit a multiprocessor at the same time.
    fn resident_blocks(&self, function: Function, threads: u32, shared: u32) -> Result<u32, Error>;

    /// Launches. `args` points to one value for each parameter of the kernel.
    ///
    /// # Safety
    /// The values have the types of the kernel's parameters, and the kernel may run with them.
    unsafe fn launch(&self, start: &Start, args: &mut [*mut c_void], stream: Stream) -> Result<(), Error>;
}
