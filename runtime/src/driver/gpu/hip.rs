//! AMD's driver library, loaded when it is first needed. See `library.rs` for its functions and where they come from.
//!
//! It has never run on an AMD GPU: runtime/tests/hip runs it against a library that stands in for AMD's.

mod library;

use std::ffi::{CStr, c_int, c_void};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::Arc;

use self::library::{Access, Allocation, Handle, Hip as Library, MAX_THREADS_PER_BLOCK, NUM_REGS, Properties};
use super::api::{Api, Device, DeviceInfo, Event, Function, Graph, Identity, IpcHandle, Module, Start, Stream};
use super::plain;
use crate::error::Error;
use symm_abi::heap::HEAP_ALIGN;

/// The library, and its devices.
#[derive(Debug)]
pub(crate) struct Hip {
    library: Library,
    devices: Vec<DeviceInfo>,
    identities: Vec<Identity>,
    /// Whether memory can be mapped and is to be.
    maps: bool,
}

/// A string that the library has stored.
fn text(chars: &[std::ffi::c_char]) -> String {
    let bytes = chars.iter().take_while(|char| **char != 0).map(|char| char.cast_unsigned()).collect::<Vec<_>>();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn handle(value: usize) -> Handle {
    value as Handle
}

fn address(value: u64) -> *mut c_void {
    value as *mut c_void
}

impl Hip {
    /// Loads the library and finds the devices.
    pub(crate) fn open() -> Result<Arc<Self>, Error> {
        let library = Library::load()?;
        let mut count = 0;
        // SAFETY: the library stores a number.
        let counted = library.check(unsafe { (library.functions.device_count)(&raw mut count) }, "count devices");
        let none = |reason| Error::NoGpu { vendor: "HIP", reason };
        counted.map_err(|error| none(error.to_string()))?;
        if count == 0 {
            return Err(none("the driver knows no device".to_owned()));
        }
        let described = (0..count).map(|device| describe(&library, device)).collect::<Result<Vec<_>, _>>()?;
        let (devices, identities): (Vec<_>, Vec<_>) = described.into_iter().unzip();
        let maps = devices.iter().all(|device| device.mapped) && !plain::is_asked_for();
        let devices = devices.into_iter().map(|device| DeviceInfo { mapped: maps, ..device }).collect();
        Ok(Arc::new(Self { library, devices, identities, maps }))
    }

    fn check(&self, status: library::Status, action: &str) -> Result<(), Error> {
        self.library.check(status, action)
    }

    /// Takes memory of a device. It is not cached where that can be had, so that peers see it in the middle of a
    /// kernel; where the library is too old for that, chips of which it is known that their caches do it by themselves
    /// get the other kind.
    fn take(&self, device: Device, bytes: u64) -> Result<Handle, Error> {
        let action = format!("take {bytes} bytes of device {device} for a symmetric heap");
        let create = |kind| {
            let (properties, mut memory) = (Allocation::on(device, kind), ptr::null_mut());
            // SAFETY: the library stores a handle.
            let status = unsafe {
                (self.library.functions.mem_create)(&raw mut memory, bytes as usize, &raw const properties, 0)
            };
            (status, memory)
        };
        let (status, memory) = create(library::UNCACHED);
        let (status, memory) = match status {
            library::INVALID_VALUE if self.devices[device as usize].chip != "gfx90a" => create(library::PINNED),
            _ => (status, memory),
        };
        self.check(status, &action)?;
        Ok(memory)
    }
}

fn describe(library: &Library, device: c_int) -> Result<(DeviceInfo, Identity), Error> {
    let (mut properties, mut maps, action) = (Properties::new(), 0, "ask about a device");
    // SAFETY: the library stores the structure, and a number.
    unsafe {
        library.check((library.functions.properties)(&raw mut properties, device), action)?;
        let asked = (library.functions.attribute)(&raw mut maps, library::SUPPORTS_MAPPING, device);
        library.check(asked, action)?;
    }
    let name = text(&properties.name);
    // Behind the chip come settings: gfx942:sramecc+:xnack-.
    let chip = text(&properties.gcn_arch_name).split(':').next().unwrap_or_default().to_owned();
    let multiprocessors = properties.multi_processor_count.cast_unsigned();
    Ok((DeviceInfo { name, chip, multiprocessors, mapped: maps != 0 }, properties.uuid))
}

impl Api for Hip {
    fn name(&self) -> &'static str {
        if self.maps { "hip" } else { "hip (IPC)" }
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, Error> {
        Ok(self.devices.clone())
    }

    fn make_current(&self, device: Device) -> Result<(), Error> {
        // SAFETY: changes only what this thread's calls are about.
        self.check(unsafe { (self.library.functions.set_device)(device.cast_signed()) }, "use a device")
    }

    fn current(&self) -> Result<usize, Error> {
        let mut device = 0;
        // SAFETY: the library stores a number.
        self.check(unsafe { (self.library.functions.get_device)(&raw mut device) }, "ask for the current device")?;
        Ok(device.cast_unsigned() as usize)
    }

    fn restore(&self, current: usize) {
        // It fails only for a device that is gone, which is told by whoever uses it.
        let _ = self.make_current(current as Device);
    }

    fn identity(&self, device: Device) -> Option<Identity> {
        self.identities.get(device as usize).copied().filter(|identity| *identity != Identity::default())
    }

    fn can_access(&self, from: Device, to: Device) -> Result<bool, Error> {
        if from == to {
            return Ok(true);
        }
        let mut can = 0;
        let (from, to) = (from.cast_signed(), to.cast_signed());
        // SAFETY: the library stores a number.
        self.check(unsafe { (self.library.functions.can_access_peer)(&raw mut can, from, to) }, "ask about peers")?;
        Ok(can != 0)
    }

    fn maps(&self) -> bool {
        self.maps
    }

    fn create_plain(&self, device: Device, bytes: u64) -> Result<u64, Error> {
        let mut memory = ptr::null_mut();
        // SAFETY: the library stores an address.
        let taken =
            unsafe { (self.library.functions.ext_malloc)(&raw mut memory, bytes as usize, library::NOT_CACHED) };
        self.check(taken, &format!("take {bytes} bytes of device {device} for a symmetric heap"))?;
        Ok(memory as u64)
    }

    fn free_plain(&self, memory: u64) {
        // SAFETY: from `create_plain`, and no kernel runs any more.
        unsafe { (self.library.functions.free_now)(address(memory)) };
    }

    fn handle(&self, memory: u64) -> Result<IpcHandle, Error> {
        let mut handle = library::IpcHandle([0; 64]);
        // SAFETY: from `create_plain`; the library stores 64 bytes.
        let named = unsafe { (self.library.functions.ipc_handle)(&raw mut handle, address(memory)) };
        self.check(named, "share a heap's memory").map(|()| handle.0)
    }

    fn open(&self, handle: &IpcHandle) -> Result<u64, Error> {
        let (handle, mut memory) = (library::IpcHandle(*handle), ptr::null_mut());
        // SAFETY: the library checks the handle, and stores an address.
        let opened = unsafe { (self.library.functions.ipc_open)(&raw mut memory, handle, library::LAZY_PEER_ACCESS) };
        self.check(opened, "open a rank's heap, which is another version's or another driver's")?;
        Ok(memory as u64)
    }

    fn close(&self, memory: u64) {
        // SAFETY: from `open`, and no kernel runs any more.
        unsafe { (self.library.functions.ipc_close)(address(memory)) };
    }

    fn enable_peer(&self, peer: Device) -> Result<(), Error> {
        // SAFETY: changes only what the current device may do.
        match unsafe { (self.library.functions.enable_peer)(peer.cast_signed(), 0) } {
            library::PEER_ALREADY_ENABLED => Ok(()),
            status => self.check(status, "give a device access to a rank's heap"),
        }
    }

    fn create_shared(&self, device: Device, bytes: u64) -> Result<OwnedFd, Error> {
        let functions = &self.library.functions;
        let (properties, mut unit, mut fd) = (Allocation::on(device, library::PINNED), 0, RawFd::from(-1));
        // SAFETY: the library stores a number.
        let asked = unsafe { (functions.granularity)(&raw mut unit, &raw const properties, library::SMALLEST) };
        self.check(asked, "ask for the granularity of memory")?;
        if unit == 0 || !HEAP_ALIGN.is_multiple_of(unit as u64) {
            let reason =
                format!("device {device} maps memory in units of {unit} bytes, and heaps are in units of 2 MiB");
            return Err(Error::NoGpu { vendor: "HIP", reason });
        }
        let memory = self.take(device, bytes)?;
        // SAFETY: the library stores a descriptor, which keeps the memory when the handle is let go.
        unsafe {
            let exported = (functions.mem_export)((&raw mut fd).cast(), memory, library::FILE_DESCRIPTOR, 0);
            let exported = self.check(exported, "share a heap's memory");
            self.check((functions.mem_release)(memory), "share a heap's memory")?;
            exported?;
            Ok(OwnedFd::from_raw_fd(fd))
        }
    }

    fn reserve(&self, bytes: u64) -> Result<u64, Error> {
        let (mut start, align) = (ptr::null_mut(), HEAP_ALIGN as usize);
        // SAFETY: the library stores an address.
        let reserved =
            unsafe { (self.library.functions.reserve)(&raw mut start, bytes as usize, align, ptr::null_mut(), 0) };
        self.check(reserved, &format!("reserve {bytes} bytes of addresses"))?;
        Ok(start as u64)
    }

    fn map_shared(&self, at: u64, memory: BorrowedFd<'_>, bytes: u64, by: &[Device]) -> Result<(), Error> {
        let (functions, mut imported) = (&self.library.functions, ptr::null_mut());
        let access: Vec<_> = by.iter().map(|device| Access::by(*device)).collect();
        let taken = self.library.import(&mut imported, memory.as_raw_fd());
        self.check(taken, "take a rank's heap, which is another version's or another driver's")?;
        // SAFETY: the range was reserved and has nothing mapped in it; the mapping keeps the memory.
        unsafe {
            let mapped = (functions.map)(address(at), bytes as usize, 0, imported, 0);
            let mapped = self.check(mapped, "map a rank's heap");
            self.check((functions.mem_release)(imported), "map a rank's heap")?;
            mapped?;
            let set = (functions.set_access)(address(at), bytes as usize, access.as_ptr(), access.len());
            self.check(set, "give devices access to a rank's heap").inspect_err(|_| self.unmap(at, bytes))
        }
    }

    fn unmap(&self, at: u64, bytes: u64) {
        // SAFETY: mapped by `map_shared`, and no kernel runs any more.
        unsafe { (self.library.functions.unmap)(address(at), bytes as usize) };
    }

    fn release(&self, start: u64, bytes: u64) {
        // SAFETY: reserved by `reserve`; nothing is mapped in it any more.
        unsafe { (self.library.functions.address_free)(address(start), bytes as usize) };
    }

    fn alloc_host(&self, bytes: usize) -> Result<*mut u8, Error> {
        let mut memory = ptr::null_mut();
        // SAFETY: the library stores a pointer to memory of this many bytes, which are then set.
        unsafe {
            let taken = (self.library.functions.host_malloc)(&raw mut memory, bytes, library::FOR_ALL_DEVICES);
            self.check(taken, "take host memory that devices can write")?;
            memory.cast::<u8>().write_bytes(0, bytes);
        }
        Ok(memory.cast())
    }

    fn free_host(&self, memory: *mut u8) {
        // SAFETY: from `alloc_host`, and no kernel runs any more.
        unsafe { (self.library.functions.host_free)(memory.cast()) };
    }

    fn alloc(&self, bytes: u64, stream: Stream) -> Result<u64, Error> {
        let mut memory = ptr::null_mut();
        // SAFETY: the library stores an address; the stream exists.
        let taken = unsafe { (self.library.functions.malloc)(&raw mut memory, bytes as usize, handle(stream.0)) };
        self.check(taken, &format!("take {bytes} bytes of device memory"))?;
        Ok(memory as u64)
    }

    fn free(&self, memory: u64, stream: Stream) -> Result<(), Error> {
        // SAFETY: the library refuses what it has not given out.
        let freed = unsafe { (self.library.functions.free)(address(memory), handle(stream.0)) };
        self.check(freed, "give back device memory")
    }

    fn create_stream(&self) -> Result<Stream, Error> {
        let mut stream = ptr::null_mut();
        // SAFETY: the library stores a stream.
        let made = unsafe { (self.library.functions.stream_create)(&raw mut stream, library::NON_BLOCKING) };
        self.check(made, "make a stream")?;
        Ok(Stream(stream as usize))
    }

    fn destroy_stream(&self, stream: Stream) {
        // SAFETY: from `create_stream`, and not used any more.
        unsafe { (self.library.functions.stream_destroy)(handle(stream.0)) };
    }

    fn is_done(&self, stream: Stream) -> Result<bool, Error> {
        // SAFETY: the stream exists.
        match unsafe { (self.library.functions.stream_query)(handle(stream.0)) } {
            library::NOT_READY => Ok(false),
            status => self.check(status, "run a kernel or a copy").map(|()| true),
        }
    }

    fn create_event(&self) -> Result<Event, Error> {
        let mut event = ptr::null_mut();
        // SAFETY: the library stores an event.
        self.check(unsafe { (self.library.functions.event_create)(&raw mut event, 0) }, "make an event")?;
        Ok(Event(event as usize))
    }

    fn destroy_event(&self, event: Event) {
        // SAFETY: from `create_event`, and not used any more.
        unsafe { (self.library.functions.event_destroy)(handle(event.0)) };
    }

    fn record(&self, event: Event, stream: Stream) -> Result<(), Error> {
        // SAFETY: both exist.
        let recorded = unsafe { (self.library.functions.event_record)(handle(event.0), handle(stream.0)) };
        self.check(recorded, "record an event")
    }

    fn await_event(&self, stream: Stream, event: Event) -> Result<(), Error> {
        // SAFETY: both exist.
        let asked = unsafe { (self.library.functions.stream_wait)(handle(stream.0), handle(event.0), 0) };
        self.check(asked, "let a stream wait for an event")
    }

    fn has_happened(&self, event: Event) -> Result<bool, Error> {
        // SAFETY: the event exists.
        match unsafe { (self.library.functions.event_query)(handle(event.0)) } {
            library::NOT_READY => Ok(false),
            status => self.check(status, "run a kernel or a copy").map(|()| true),
        }
    }

    fn elapsed(&self, from: Event, to: Event) -> Result<f32, Error> {
        let mut time = 0.0;
        // SAFETY: both exist; the library stores a number.
        let asked = unsafe { (self.library.functions.event_elapsed)(&raw mut time, handle(from.0), handle(to.0)) };
        self.check(asked, "ask for the time between events")?;
        Ok(time)
    }

    fn begin_capture(&self, stream: Stream) -> Result<(), Error> {
        // SAFETY: the stream exists.
        let begun = unsafe { (self.library.functions.begin_capture)(handle(stream.0), library::THIS_THREAD) };
        self.check(begun, "begin to capture a graph")
    }

    fn end_capture(&self, stream: Stream) -> Result<Graph, Error> {
        let (functions, mut recorded, mut graph) = (&self.library.functions, ptr::null_mut(), ptr::null_mut());
        // SAFETY: the library stores a graph, and one that can be started, which does not need the first.
        unsafe {
            self.check((functions.end_capture)(handle(stream.0), &raw mut recorded), "capture a graph")?;
            let made = (functions.graph_instantiate)(&raw mut graph, recorded, 0);
            (functions.graph_destroy)(recorded);
            self.check(made, "make a graph that can be launched")?;
        }
        Ok(Graph(graph as usize))
    }

    fn launch_graph(&self, graph: Graph, stream: Stream) -> Result<(), Error> {
        // SAFETY: both exist; what a graph uses is alive, says who captured it.
        let launched = unsafe { (self.library.functions.graph_launch)(handle(graph.0), handle(stream.0)) };
        self.check(launched, "launch a graph")
    }

    fn destroy_graph(&self, graph: Graph) {
        // SAFETY: from `end_capture`, and not used any more.
        unsafe { (self.library.functions.graph_exec_destroy)(handle(graph.0)) };
    }

    fn barrier_code(&self) -> Option<&'static [u8]> {
        // A code object is for one chip, and this crate has no compiler.
        None
    }

    unsafe fn copy(&self, dst: u64, src: u64, bytes: usize, stream: Stream) -> Result<(), Error> {
        let (dst, src, stream) = (address(dst), address(src), handle(stream.0));
        // SAFETY: the caller's promise.
        let copied = unsafe { (self.library.functions.copy)(dst, src, bytes, library::BY_ADDRESS, stream) };
        self.check(copied, "copy memory")
    }

    unsafe fn clear(&self, dst: u64, bytes: usize, stream: Stream) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        let cleared = unsafe { (self.library.functions.set_bytes)(address(dst), 0, bytes, handle(stream.0)) };
        self.check(cleared, "clear memory")
    }

    fn load(&self, image: &[u8]) -> Result<Module, Error> {
        let mut module = ptr::null_mut();
        // SAFETY: a code object says its own size; the library stores a module.
        let loaded = unsafe { (self.library.functions.module_load)(&raw mut module, image.as_ptr().cast()) };
        self.check(loaded, "load the kernels")?;
        Ok(Module(module as usize))
    }

    fn unload(&self, module: Module) {
        // SAFETY: from `load`, and no kernel of it runs any more.
        unsafe { (self.library.functions.module_unload)(handle(module.0)) };
    }

    fn function(&self, module: Module, name: &CStr) -> Result<Function, Error> {
        let mut function = ptr::null_mut();
        let module = handle(module.0);
        // SAFETY: the module is loaded; the library stores a function.
        let found = unsafe { (self.library.functions.module_function)(&raw mut function, module, name.as_ptr()) };
        self.check(found, &format!("find kernel {}", name.to_string_lossy()))?;
        Ok(Function(function as usize))
    }

    fn global(&self, module: Module, name: &CStr) -> Option<(u64, usize)> {
        let (mut start, mut bytes) = (ptr::null_mut(), 0);
        let module = handle(module.0);
        // SAFETY: the module is loaded; the library stores an address and a size.
        let found =
            unsafe { (self.library.functions.module_global)(&raw mut start, &raw mut bytes, module, name.as_ptr()) };
        (found == library::SUCCESS).then_some((start as u64, bytes))
    }

    fn most_threads(&self, function: Function) -> Result<(u32, u32), Error> {
        let attribute = |which| {
            let mut value = 0;
            // SAFETY: the function is loaded; the library stores a number.
            let asked =
                unsafe { (self.library.functions.function_attribute)(&raw mut value, which, handle(function.0)) };
            self.check(asked, "ask how large blocks may be").map(|()| value.cast_unsigned())
        };
        Ok((attribute(MAX_THREADS_PER_BLOCK)?, attribute(NUM_REGS)?))
    }

    fn resident_blocks(&self, function: Function, threads: u32, shared: u32) -> Result<u32, Error> {
        let (function, threads, mut blocks) = (handle(function.0), threads.cast_signed(), 0);
        // SAFETY: the function is loaded; the library stores a number.
        let asked = unsafe { (self.library.functions.occupancy)(&raw mut blocks, function, threads, shared as usize) };
        self.check(asked, "ask how many blocks fit")?;
        Ok(blocks.cast_unsigned())
    }

    unsafe fn launch(&self, start: &Start, args: &mut [*mut c_void], stream: Stream) -> Result<(), Error> {
        let (functions, function, stream) = (&self.library.functions, handle(start.function.0), handle(stream.0));
        let ([gx, gy, gz], [bx, by, bz]) = (start.grid, start.block);
        let args = args.as_mut_ptr();
        // SAFETY: the caller's promise.
        let launched = unsafe {
            if start.cooperative {
                (functions.launch_cooperative)(function, gx, gy, gz, bx, by, bz, start.shared, stream, args)
            } else {
                (functions.launch)(function, gx, gy, gz, bx, by, bz, start.shared, stream, args, ptr::null_mut())
            }
        };
        self.check(launched, "launch a kernel")
    }
}
