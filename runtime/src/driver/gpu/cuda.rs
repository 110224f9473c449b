//! NVIDIA's driver library, loaded when it is first needed.

mod code;
mod primary;

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys;
use cudarc::driver::sys::{CUdevice_attribute as Attribute, CUresult};

use super::api::{Api, Device, DeviceInfo, Event, Function, Graph, Identity, IpcHandle, Module, Start, Stream};
use super::plain;
use crate::error::Error;
use code::allow_shared;
use primary::Primary;
use symm_abi::heap::HEAP_ALIGN;

/// The oldest version that has all of what is called here and takes code for every GPU that we compile for, as the
/// driver counts: CUDA 12.0, of driver 525.
const OLDEST_VERSION: c_int = 12_000;

/// The library, and the devices that it knows.
#[derive(Debug)]
pub(crate) struct Cuda {
    devices: Vec<Primary>,
    version: c_int,
    /// Whether memory can be mapped and is to be.
    maps: bool,
}

/// An error from what the driver answered to `action`.
fn check(result: CUresult, action: &str) -> Result<(), Error> {
    if result == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let text = |get: unsafe fn(CUresult, *mut *const std::ffi::c_char) -> CUresult| {
        let mut text = ptr::null();
        // SAFETY: the driver stores a pointer to a string of its own, or null.
        let known = unsafe { get(result, &raw mut text) } == CUresult::CUDA_SUCCESS && !text.is_null();
        // SAFETY: just seen to be a string.
        known.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    };
    let name = text(sys::cuGetErrorName).unwrap_or_else(|| format!("error {}", result as u32));
    let reason = text(sys::cuGetErrorString).unwrap_or_else(|| "the driver does not say why".to_owned());
    Err(Error::Gpu { vendor: "CUDA", action: action.to_owned(), name, reason })
}

impl Cuda {
    /// Loads the library and finds the devices; once for the whole process.
    pub(crate) fn open() -> Result<Arc<Self>, Error> {
        static OPENED: Mutex<Option<Arc<Cuda>>> = Mutex::new(None);
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cuda) = &*opened {
            return Ok(Arc::clone(cuda));
        }
        let cuda = Arc::new(Self::load_library()?);
        *opened = Some(Arc::clone(&cuda));
        Ok(cuda)
    }

    fn load_library() -> Result<Self, Error> {
        // SAFETY: it looks whether the library can be loaded.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::NoGpu {
                vendor: "CUDA",
                reason: "libcuda.so is not here; install NVIDIA's driver, or use the driver cpu".to_owned(),
            });
        }
        // A kernel that is loaded when it is first launched would wait for kernels that wait for it.
        if std::env::var_os("CUDA_MODULE_LOADING").is_none_or(|value| value != "EAGER") {
            // SAFETY: set before the library starts threads that could read the environment at the same time; whoever
            // calls `run` or `join` beside threads of its own has to set it.
            unsafe { std::env::set_var("CUDA_MODULE_LOADING", "EAGER") };
        }
        // SAFETY: the library is there.
        let started = check(unsafe { sys::cuInit(0) }, "start the driver");
        started.map_err(|error| Error::NoGpu { vendor: "CUDA", reason: error.to_string() })?;
        let mut version = 0;
        // SAFETY: the driver stores a number.
        check(unsafe { sys::cuDriverGetVersion(&raw mut version) }, "ask for its version")?;
        if version < OLDEST_VERSION {
            let of = |version: c_int| format!("CUDA {}.{}", version / 1000, version % 1000 / 10);
            let (found, needed) = (of(version), of(OLDEST_VERSION));
            let reason = format!("the driver is one for {found}, too old: install one for {needed} or later");
            return Err(Error::NoGpu { vendor: "CUDA", reason });
        }
        let mut count = 0;
        // SAFETY: the driver stores a number.
        check(unsafe { sys::cuDeviceGetCount(&raw mut count) }, "count devices")?;
        if count == 0 {
            return Err(Error::NoGpu { vendor: "CUDA", reason: "the driver knows no device".to_owned() });
        }
        let devices = (0..count).map(Primary::find).collect::<Result<_, _>>()?;
        let mut cuda = Self { devices, version, maps: !plain::is_asked_for() };
        for device in 0..count.cast_unsigned() {
            for needed in [
                Attribute::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                Attribute::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
            ] {
                cuda.maps &= cuda.attribute(device, needed)? != 0;
            }
        }
        Ok(cuda)
    }

    fn attribute(&self, device: Device, attribute: Attribute) -> Result<c_int, Error> {
        let mut value = 0;
        let device = self.devices[device as usize].device;
        // SAFETY: the driver stores a number.
        check(unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, device) }, "ask about a device")?;
        Ok(value)
    }

    fn describe(&self, device: Device) -> Result<DeviceInfo, Error> {
        let mut name = [0; 128];
        let raw = self.devices[device as usize].device;
        // SAFETY: the driver stores at most 128 bytes, the last of them zero.
        check(unsafe { sys::cuDeviceGetName(name.as_mut_ptr(), 128, raw) }, "ask about a device")?;
        // SAFETY: as above.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let major = self.attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = self.attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let multiprocessors = self.attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let (chip, multiprocessors) = (format!("sm_{major}{minor}"), multiprocessors.cast_unsigned());
        Ok(DeviceInfo { name, chip, multiprocessors, mapped: self.maps })
    }
}

fn properties(device: Device) -> sys::CUmemAllocationProp {
    sys::CUmemAllocationProp {
        type_: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        location: place(device),
        win32HandleMetaData: ptr::null_mut(),
        // SAFETY: plain numbers, of which zero is one.
        allocFlags: unsafe { std::mem::zeroed() },
    }
}

fn place(device: Device) -> sys::CUmemLocation {
    sys::CUmemLocation { type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: device.cast_signed() }
}

impl Api for Cuda {
    fn name(&self) -> &'static str {
        if self.maps { "cuda" } else { "cuda (IPC)" }
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, Error> {
        (0..self.devices.len() as u32).map(|device| self.describe(device)).collect()
    }

    fn make_current(&self, device: Device) -> Result<(), Error> {
        let context = self.devices[device as usize].context()?;
        // SAFETY: a context that was retained and is never released.
        check(unsafe { sys::cuCtxSetCurrent(context) }, "use a device")
    }

    fn current(&self) -> Result<usize, Error> {
        let mut context = ptr::null_mut();
        // SAFETY: the driver stores a context, or null.
        check(unsafe { sys::cuCtxGetCurrent(&raw mut context) }, "ask for the current device")?;
        Ok(context as usize)
    }

    fn restore(&self, current: usize) {
        // SAFETY: it was current on this thread before; the driver refuses one that is gone.
        unsafe { sys::cuCtxSetCurrent(current as sys::CUcontext) };
    }

    fn identity(&self, device: Device) -> Option<Identity> {
        let mut uuid = sys::CUuuid { bytes: [0; 16] };
        let raw = self.devices[device as usize].device;
        // SAFETY: the driver stores 16 bytes.
        let known = unsafe { sys::cuDeviceGetUuid_v2(&raw mut uuid, raw) } == CUresult::CUDA_SUCCESS;
        let identity = uuid.bytes.map(c_char::cast_unsigned);
        (known && identity != Identity::default()).then_some(identity)
    }

    fn can_access(&self, from: Device, to: Device) -> Result<bool, Error> {
        if from == to {
            return Ok(true);
        }
        let mut can = 0;
        let device = |device: Device| self.devices[device as usize].device;
        // SAFETY: the driver stores a number.
        check(unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, device(from), device(to)) }, "ask about peers")?;
        Ok(can != 0)
    }

    fn maps(&self) -> bool {
        self.maps
    }

    fn create_plain(&self, device: Device, bytes: u64) -> Result<u64, Error> {
        let mut memory = 0;
        // SAFETY: the driver stores an address.
        let taken = unsafe { sys::cuMemAlloc_v2(&raw mut memory, bytes as usize) };
        check(taken, &format!("take {bytes} bytes of device {device} for a symmetric heap"))?;
        Ok(memory)
    }

    fn free_plain(&self, address: u64) {
        // SAFETY: from `create_plain`, and no kernel runs any more.
        unsafe { sys::cuMemFree_v2(address) };
    }

    fn handle(&self, address: u64) -> Result<IpcHandle, Error> {
        let mut handle = sys::CUipcMemHandle { reserved: [0; 64] };
        // SAFETY: from `create_plain`; the driver stores 64 bytes.
        check(unsafe { sys::cuIpcGetMemHandle(&raw mut handle, address) }, "share a heap's memory")?;
        Ok(handle.reserved.map(c_char::cast_unsigned))
    }

    fn open(&self, handle: &IpcHandle) -> Result<u64, Error> {
        let handle = sys::CUipcMemHandle { reserved: handle.map(u8::cast_signed) };
        let flags = sys::CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as c_uint;
        let mut memory = 0;
        // SAFETY: the driver checks the handle, and stores an address.
        let opened = unsafe { sys::cuIpcOpenMemHandle_v2(&raw mut memory, handle, flags) };
        check(opened, "open a rank's heap, which is another version's or another driver's")?;
        Ok(memory)
    }

    fn close(&self, address: u64) {
        // SAFETY: from `open`, and no kernel runs any more.
        unsafe { sys::cuIpcCloseMemHandle(address) };
    }

    fn enable_peer(&self, peer: Device) -> Result<(), Error> {
        let peer = self.devices[peer as usize].context()?;
        // SAFETY: the context is alive as long as the process.
        match unsafe { sys::cuCtxEnablePeerAccess(peer, 0) } {
            CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            result => check(result, "give a device access to a rank's heap"),
        }
    }

    fn create_shared(&self, device: Device, bytes: u64) -> Result<OwnedFd, Error> {
        let (properties, mut handle, mut fd) = (properties(device), 0, RawFd::from(-1));
        let kind = sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        let action = format!("take {bytes} bytes of device {device} for a symmetric heap");
        // SAFETY: the driver stores a handle and a descriptor, which keeps the memory when the handle is let go.
        unsafe {
            check(sys::cuMemCreate(&raw mut handle, bytes as usize, &raw const properties, 0), &action)?;
            let exported = sys::cuMemExportToShareableHandle((&raw mut fd).cast(), handle, kind, 0);
            let exported = check(exported, "share a heap's memory");
            check(sys::cuMemRelease(handle), "share a heap's memory")?;
            exported?;
            Ok(OwnedFd::from_raw_fd(fd))
        }
    }

    fn reserve(&self, bytes: u64) -> Result<u64, Error> {
        let mut start = 0;
        let reserved =
            // SAFETY: the driver stores an address.
            unsafe { sys::cuMemAddressReserve(&raw mut start, bytes as usize, HEAP_ALIGN as usize, 0, 0) };
        check(reserved, &format!("reserve {bytes} bytes of addresses"))?;
        Ok(start)
    }

    fn map_shared(&self, at: u64, memory: BorrowedFd<'_>, bytes: u64, by: &[Device]) -> Result<(), Error> {
        let mut handle = 0;
        let kind = sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        let flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        let access: Vec<_> = by.iter().map(|device| sys::CUmemAccessDesc { location: place(*device), flags }).collect();
        // The interface takes the descriptor in the place of a pointer.
        let descriptor = ptr::without_provenance_mut::<c_void>(memory.as_raw_fd().cast_unsigned() as usize);
        // SAFETY: the descriptor is open; the range was reserved and has nothing mapped in it.
        unsafe {
            let imported = sys::cuMemImportFromShareableHandle(&raw mut handle, descriptor, kind);
            check(imported, "take a rank's heap, which is another version's or another driver's")?;
            let mapped = check(sys::cuMemMap(at, bytes as usize, 0, handle, 0), "map a rank's heap");
            check(sys::cuMemRelease(handle), "map a rank's heap")?;
            mapped?;
            let set = sys::cuMemSetAccess(at, bytes as usize, access.as_ptr(), access.len());
            check(set, "give devices access to a rank's heap").inspect_err(|_| self.unmap(at, bytes))
        }
    }

    fn unmap(&self, at: u64, bytes: u64) {
        // SAFETY: mapped by `map_shared`, and no kernel runs any more.
        unsafe { sys::cuMemUnmap(at, bytes as usize) };
    }

    fn release(&self, start: u64, bytes: u64) {
        // SAFETY: reserved by `reserve`; nothing is mapped in it any more.
        unsafe { sys::cuMemAddressFree(start, bytes as usize) };
    }

    fn alloc_host(&self, bytes: usize) -> Result<*mut u8, Error> {
        let mut memory = ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the driver stores a pointer to memory of this many bytes, which are then set.
        unsafe {
            check(sys::cuMemHostAlloc(&raw mut memory, bytes, flags), "take host memory that devices can write")?;
            memory.cast::<u8>().write_bytes(0, bytes);
        }
        Ok(memory.cast())
    }

    fn free_host(&self, memory: *mut u8) {
        // SAFETY: from `alloc_host`, and no kernel runs any more.
        unsafe { sys::cuMemFreeHost(memory.cast()) };
    }

    fn alloc(&self, bytes: u64, stream: Stream) -> Result<u64, Error> {
        let mut memory = 0;
        // SAFETY: the driver stores an address; the stream exists.
        let taken = unsafe { sys::cuMemAllocAsync(&raw mut memory, bytes as usize, stream.0 as sys::CUstream) };
        check(taken, &format!("take {bytes} bytes of device memory"))?;
        Ok(memory)
    }

    fn free(&self, memory: u64, stream: Stream) -> Result<(), Error> {
        // SAFETY: the driver refuses what it has not given out.
        check(unsafe { sys::cuMemFreeAsync(memory, stream.0 as sys::CUstream) }, "give back device memory")
    }

    fn create_stream(&self) -> Result<Stream, Error> {
        let mut stream = ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as c_uint;
        // SAFETY: the driver stores a stream.
        check(unsafe { sys::cuStreamCreate(&raw mut stream, flags) }, "make a stream")?;
        Ok(Stream(stream as usize))
    }

    fn destroy_stream(&self, stream: Stream) {
        // SAFETY: from `create_stream`, and not used any more.
        unsafe { sys::cuStreamDestroy_v2(stream.0 as sys::CUstream) };
    }

    fn is_done(&self, stream: Stream) -> Result<bool, Error> {
        // SAFETY: the stream exists.
        match unsafe { sys::cuStreamQuery(stream.0 as sys::CUstream) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            result => check(result, "run a kernel or a copy").map(|()| true),
        }
    }

    fn create_event(&self) -> Result<Event, Error> {
        let mut event = ptr::null_mut();
        // SAFETY: the driver stores an event.
        check(unsafe { sys::cuEventCreate(&raw mut event, 0) }, "make an event")?;
        Ok(Event(event as usize))
    }

    fn destroy_event(&self, event: Event) {
        // SAFETY: from `create_event`, and not used any more.
        unsafe { sys::cuEventDestroy_v2(event.0 as sys::CUevent) };
    }

    fn record(&self, event: Event, stream: Stream) -> Result<(), Error> {
        // SAFETY: both exist.
        check(unsafe { sys::cuEventRecord(event.0 as sys::CUevent, stream.0 as sys::CUstream) }, "record an event")
    }

    fn await_event(&self, stream: Stream, event: Event) -> Result<(), Error> {
        // SAFETY: both exist.
        let asked = unsafe { sys::cuStreamWaitEvent(stream.0 as sys::CUstream, event.0 as sys::CUevent, 0) };
        check(asked, "let a stream wait for an event")
    }

    fn has_happened(&self, event: Event) -> Result<bool, Error> {
        // SAFETY: the event exists.
        match unsafe { sys::cuEventQuery(event.0 as sys::CUevent) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            result => check(result, "run a kernel or a copy").map(|()| true),
        }
    }

    fn elapsed(&self, from: Event, to: Event) -> Result<f32, Error> {
        let (from, to, mut time) = (from.0 as sys::CUevent, to.0 as sys::CUevent, 0.0);
        // SAFETY: both exist; the driver stores a number.
        check(unsafe { sys::cuEventElapsedTime(&raw mut time, from, to) }, "ask for the time between events")?;
        Ok(time)
    }

    fn begin_capture(&self, stream: Stream) -> Result<(), Error> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream exists.
        check(unsafe { sys::cuStreamBeginCapture_v2(stream.0 as sys::CUstream, mode) }, "begin to capture a graph")
    }

    fn end_capture(&self, stream: Stream) -> Result<Graph, Error> {
        let (mut recorded, mut graph) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the driver stores a graph, and one that can be started, which does not need the first.
        unsafe {
            check(sys::cuStreamEndCapture(stream.0 as sys::CUstream, &raw mut recorded), "capture a graph")?;
            let made = sys::cuGraphInstantiateWithFlags(&raw mut graph, recorded, 0);
            sys::cuGraphDestroy(recorded);
            check(made, "make a graph that can be launched")?;
        }
        Ok(Graph(graph as usize))
    }

    fn launch_graph(&self, graph: Graph, stream: Stream) -> Result<(), Error> {
        // SAFETY: both exist; what a graph uses is alive, says who captured it.
        check(unsafe { sys::cuGraphLaunch(graph.0 as sys::CUgraphExec, stream.0 as sys::CUstream) }, "launch a graph")
    }

    fn destroy_graph(&self, graph: Graph) {
        // SAFETY: from `end_capture`, and not used any more.
        unsafe { sys::cuGraphExecDestroy(graph.0 as sys::CUgraphExec) };
    }

    fn barrier_code(&self) -> Option<&'static [u8]> {
        Some(include_bytes!("barrier.ptx"))
    }

    unsafe fn copy(&self, dst: u64, src: u64, bytes: usize, stream: Stream) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        check(unsafe { sys::cuMemcpyAsync(dst, src, bytes, stream.0 as sys::CUstream) }, "copy memory")
    }

    unsafe fn clear(&self, dst: u64, bytes: usize, stream: Stream) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        check(unsafe { sys::cuMemsetD8Async(dst, 0, bytes, stream.0 as sys::CUstream) }, "clear memory")
    }

    fn load(&self, image: &[u8]) -> Result<Module, Error> {
        code::load(image).map(|module| Module(module as usize))
    }

    fn unload(&self, module: Module) {
        // SAFETY: from `load`, and no kernel of it runs any more.
        unsafe { sys::cuModuleUnload(module.0 as sys::CUmodule) };
    }

    fn function(&self, module: Module, name: &CStr) -> Result<Function, Error> {
        let mut function = ptr::null_mut();
        // SAFETY: the module is loaded; the driver stores a function.
        let found = unsafe { sys::cuModuleGetFunction(&raw mut function, module.0 as sys::CUmodule, name.as_ptr()) };
        check(found, &format!("find kernel {}", name.to_string_lossy()))?;
        code::finish_loading(function, self.version)?;
        Ok(Function(function as usize))
    }

    fn global(&self, module: Module, name: &CStr) -> Option<(u64, usize)> {
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded; the driver stores an address and a size.
        let found = unsafe {
            sys::cuModuleGetGlobal_v2(&raw mut address, &raw mut bytes, module.0 as sys::CUmodule, name.as_ptr())
        };
        (found == CUresult::CUDA_SUCCESS).then_some((address, bytes))
    }

    fn most_threads(&self, function: Function) -> Result<(u32, u32), Error> {
        use sys::CUfunction_attribute::{CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_NUM_REGS};
        let attribute = |which| code::attribute(function.0 as sys::CUfunction, which, "ask how large blocks may be");
        Ok((attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?, attribute(CU_FUNC_ATTRIBUTE_NUM_REGS)?))
    }

    fn resident_blocks(&self, function: Function, threads: u32, shared: u32) -> Result<u32, Error> {
        let (function, mut blocks) = (function.0 as sys::CUfunction, 0);
        allow_shared(function, shared)?;
        let threads = threads.cast_signed();
        // SAFETY: the function is loaded; the driver stores a number.
        let asked = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, function, threads, shared as usize)
        };
        check(asked, "ask how many blocks fit")?;
        Ok(blocks.cast_unsigned())
    }

    unsafe fn launch(&self, start: &Start, args: &mut [*mut c_void], stream: Stream) -> Result<(), Error> {
        let (function, stream) = (start.function.0 as sys::CUfunction, stream.0 as sys::CUstream);
        let ([gx, gy, gz], [bx, by, bz]) = (start.grid, start.block);
        let args = args.as_mut_ptr();
        allow_shared(function, start.shared)?;
        // SAFETY: the caller's promise.
        let launched = unsafe {
            if start.cooperative {
                sys::cuLaunchCooperativeKernel(function, gx, gy, gz, bx, by, bz, start.shared, stream, args)
            } else {
                sys::cuLaunchKernel(function, gx, gy, gz, bx, by, bz, start.shared, stream, args, ptr::null_mut())
            }
        };
        check(launched, "launch a kernel")
    }
}
