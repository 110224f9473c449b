//! Memory through NVIDIA's driver.

use std::ffi::{c_char, c_uint, c_void};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use cudarc::driver::sys;

use super::super::api::{IpcHandle, Memory, Ordinal, Stream};
use super::{Cuda, check};
use crate::error::Error;
use symm_abi::heap::HEAP_ALIGN;

fn properties(device: Ordinal) -> sys::CUmemAllocationProp {
    sys::CUmemAllocationProp {
        type_: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        location: place(device),
        win32HandleMetaData: ptr::null_mut(),
        // SAFETY: plain numbers, of which zero is one.
        allocFlags: unsafe { std::mem::zeroed() },
    }
}

fn place(device: Ordinal) -> sys::CUmemLocation {
    sys::CUmemLocation { type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: device.cast_signed() }
}

impl Memory for Cuda {
    fn maps(&self) -> bool {
        self.maps
    }

    fn create_plain(&self, device: Ordinal, bytes: u64) -> Result<u64, Error> {
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

    fn create_shared(&self, device: Ordinal, bytes: u64) -> Result<OwnedFd, Error> {
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

    fn map_shared(&self, at: u64, memory: BorrowedFd<'_>, bytes: u64, by: &[Ordinal]) -> Result<(), Error> {
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

    unsafe fn copy(&self, dst: u64, src: u64, bytes: usize, stream: Stream) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        check(unsafe { sys::cuMemcpyAsync(dst, src, bytes, stream.0 as sys::CUstream) }, "copy memory")
    }

    unsafe fn clear(&self, dst: u64, bytes: usize, stream: Stream) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        check(unsafe { sys::cuMemsetD8Async(dst, 0, bytes, stream.0 as sys::CUstream) }, "clear memory")
    }
}
