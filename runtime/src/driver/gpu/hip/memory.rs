//! Memory through AMD's library.

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use super::super::api::{IpcHandle, Memory, Ordinal, Stream};
use super::library::{self, Access, Allocation, Handle};
use super::{Hip, address, handle};
use crate::error::Error;
use symm_abi::heap::HEAP_ALIGN;

impl Hip {
    /// Allocates memory of a device. It is uncached where the library supports that, so that peers see writes in the
    /// middle of a kernel. With an older library, chips whose caches are known to be coherent get cached memory.
    fn take(&self, device: Ordinal, bytes: u64) -> Result<Handle, Error> {
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

impl Memory for Hip {
    fn maps(&self) -> bool {
        self.maps
    }

    fn create_plain(&self, device: Ordinal, bytes: u64) -> Result<u64, Error> {
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

    fn create_shared(&self, device: Ordinal, bytes: u64) -> Result<OwnedFd, Error> {
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

    fn map_shared(&self, at: u64, memory: BorrowedFd<'_>, bytes: u64, by: &[Ordinal]) -> Result<(), Error> {
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
}
