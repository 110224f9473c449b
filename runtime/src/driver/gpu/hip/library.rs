//! AMD's library `libamdhip64.so`: its functions, found by name at run time, and the types that they take.
//!
//! Signatures, numbers and layouts are those of `include/hip/hip_runtime_api.h` (github.com/ROCm/HIP) from ROCm 6.0 on;
//! later versions add to them and change none of these.

use std::ffi::{CStr, OsString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::fmt;
use std::os::fd::RawFd;
use std::ptr;

use libloading::Library;

use crate::error::{Error, system::why};

/// The variable that names another library, by path or file name.
const LIBRARY_VARIABLE: &str = "SYMM_HIP_LIBRARY";
/// The library where the variable is not set.
const LIBRARY: &str = "libamdhip64.so";

/// `hipError_t`, as a number: a library may be newer than this file.
pub(super) type Status = c_int;

pub(super) const SUCCESS: Status = 0;
pub(super) const INVALID_VALUE: Status = 1;
pub(super) const NOT_READY: Status = 600;
/// `hipErrorPeerAccessAlreadyEnabled`
pub(super) const PEER_ALREADY_ENABLED: Status = 704;

/// `hipDeviceAttributeVirtualMemoryManagementSupported`
pub(super) const SUPPORTS_MAPPING: c_int = 89;
/// `hipMemAllocationTypePinned`
pub(super) const PINNED: c_int = 1;
/// `hipMemAllocationTypeUncached`
pub(super) const UNCACHED: c_int = 0x4000_0000;
/// `hipMemHandleTypePosixFileDescriptor`
pub(super) const FILE_DESCRIPTOR: c_int = 1;
/// `hipMemLocationTypeDevice`
const ON_DEVICE: c_int = 1;
/// `hipMemAllocationGranularityMinimum`
pub(super) const SMALLEST: c_int = 0;
/// `hipMemAccessFlagsProtReadWrite`
const READ_WRITE: c_int = 3;
/// `HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK`
pub(super) const MAX_THREADS_PER_BLOCK: c_int = 0;
/// `HIP_FUNC_ATTRIBUTE_NUM_REGS`
pub(super) const NUM_REGS: c_int = 4;
/// `hipMemcpyDefault`
pub(super) const BY_ADDRESS: c_int = 4;
/// `hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent`
pub(super) const FOR_ALL_DEVICES: c_uint = 0x1 | 0x2 | 0x4000_0000;
/// `hipDeviceMallocUncached`
pub(super) const NOT_CACHED: c_uint = 3;
/// `hipIpcMemLazyEnablePeerAccess`
pub(super) const LAZY_PEER_ACCESS: c_uint = 1;
/// `hipStreamCaptureModeThreadLocal`
pub(super) const THIS_THREAD: c_int = 1;
/// `hipStreamNonBlocking`
pub(super) const NON_BLOCKING: c_uint = 1;

/// From this `HIP_VERSION` on (ROCm 7.1), a descriptor is imported by value and no longer by address.
const IMPORTS_BY_VALUE: c_int = 70_100_000;

/// `hipDeviceProp_tR0600`, with unused fields as bytes.
#[repr(C, align(8))]
pub(super) struct Properties {
    pub(super) name: [c_char; 256],
    pub(super) uuid: [u8; 16],
    before: [u8; 116],
    pub(super) multi_processor_count: c_int,
    between: [u8; 768],
    pub(super) gcn_arch_name: [c_char; 256],
    after: [u8; 56],
}

impl Properties {
    pub(super) fn new() -> Self {
        // SAFETY: numbers, of which zero is one.
        unsafe { std::mem::zeroed() }
    }
}

/// `hipMemLocation`
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Location {
    kind: c_int,
    id: c_int,
}

impl Location {
    pub(super) fn of(device: u32) -> Self {
        Self { kind: ON_DEVICE, id: device.cast_signed() }
    }
}

/// `hipMemAllocationProp`
#[repr(C)]
pub(super) struct Allocation {
    pub(super) kind: c_int,
    handle_type: c_int,
    location: Location,
    windows: *mut c_void,
    compression: u8,
    rdma: u8,
    usage: u16,
}

impl Allocation {
    /// Memory of a device that can be exported as a file descriptor.
    pub(super) fn on(device: u32, kind: c_int) -> Self {
        let (handle_type, location) = (FILE_DESCRIPTOR, Location::of(device));
        Self { kind, handle_type, location, windows: ptr::null_mut(), compression: 0, rdma: 0, usage: 0 }
    }
}

/// `hipIpcMemHandle_t`
#[repr(C)]
pub(super) struct IpcHandle(pub(super) [u8; 64]);

/// `hipMemAccessDesc`
#[repr(C)]
pub(super) struct Access {
    location: Location,
    flags: c_int,
}

impl Access {
    pub(super) fn by(device: u32) -> Self {
        Self { location: Location::of(device), flags: READ_WRITE }
    }
}

/// A handle, opaque to us.
pub(super) type Handle = *mut c_void;

/// Declares the table of functions, and how it is filled.
macro_rules! functions {
    ($($field:ident: $symbol:literal ($($argument:ty),*) -> $result:ty;)*) => {
        /// Every function that the driver calls.
        pub(super) struct Functions {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            /// Finds all of them, or returns the name of a missing one.
            fn find(library: &Library) -> Result<Self, &'static str> {
                // SAFETY: these are the signatures of the header; the pointers are used while the library is loaded.
                Ok(Self { $($field: *unsafe { library.get($symbol) }.map_err(|_| $symbol)?,)* })
            }
        }
    };
}

functions! {
    init: "hipInit" (c_uint) -> Status;
    version: "hipRuntimeGetVersion" (*mut c_int) -> Status;
    device_count: "hipGetDeviceCount" (*mut c_int) -> Status;
    set_device: "hipSetDevice" (c_int) -> Status;
    get_device: "hipGetDevice" (*mut c_int) -> Status;
    properties: "hipGetDevicePropertiesR0600" (*mut Properties, c_int) -> Status;
    attribute: "hipDeviceGetAttribute" (*mut c_int, c_int, c_int) -> Status;
    can_access_peer: "hipDeviceCanAccessPeer" (*mut c_int, c_int, c_int) -> Status;
    granularity: "hipMemGetAllocationGranularity" (*mut usize, *const Allocation, c_int) -> Status;
    mem_create: "hipMemCreate" (*mut Handle, usize, *const Allocation, c_ulonglong) -> Status;
    mem_export: "hipMemExportToShareableHandle" (*mut c_void, Handle, c_int, c_ulonglong) -> Status;
    mem_import: "hipMemImportFromShareableHandle" (*mut Handle, *mut c_void, c_int) -> Status;
    mem_release: "hipMemRelease" (Handle) -> Status;
    reserve: "hipMemAddressReserve" (*mut *mut c_void, usize, usize, *mut c_void, c_ulonglong) -> Status;
    address_free: "hipMemAddressFree" (*mut c_void, usize) -> Status;
    map: "hipMemMap" (*mut c_void, usize, usize, Handle, c_ulonglong) -> Status;
    set_access: "hipMemSetAccess" (*mut c_void, usize, *const Access, usize) -> Status;
    unmap: "hipMemUnmap" (*mut c_void, usize) -> Status;
    ext_malloc: "hipExtMallocWithFlags" (*mut *mut c_void, usize, c_uint) -> Status;
    free_now: "hipFree" (*mut c_void) -> Status;
    ipc_handle: "hipIpcGetMemHandle" (*mut IpcHandle, *mut c_void) -> Status;
    ipc_open: "hipIpcOpenMemHandle" (*mut *mut c_void, IpcHandle, c_uint) -> Status;
    ipc_close: "hipIpcCloseMemHandle" (*mut c_void) -> Status;
    enable_peer: "hipDeviceEnablePeerAccess" (c_int, c_uint) -> Status;
    host_malloc: "hipHostMalloc" (*mut *mut c_void, usize, c_uint) -> Status;
    host_free: "hipHostFree" (*mut c_void) -> Status;
    malloc: "hipMallocAsync" (*mut *mut c_void, usize, Handle) -> Status;
    free: "hipFreeAsync" (*mut c_void, Handle) -> Status;
    stream_create: "hipStreamCreateWithFlags" (*mut Handle, c_uint) -> Status;
    stream_destroy: "hipStreamDestroy" (Handle) -> Status;
    stream_query: "hipStreamQuery" (Handle) -> Status;
    event_create: "hipEventCreateWithFlags" (*mut Handle, c_uint) -> Status;
    event_destroy: "hipEventDestroy" (Handle) -> Status;
    event_record: "hipEventRecord" (Handle, Handle) -> Status;
    event_query: "hipEventQuery" (Handle) -> Status;
    event_elapsed: "hipEventElapsedTime" (*mut f32, Handle, Handle) -> Status;
    stream_wait: "hipStreamWaitEvent" (Handle, Handle, c_uint) -> Status;
    begin_capture: "hipStreamBeginCapture" (Handle, c_int) -> Status;
    end_capture: "hipStreamEndCapture" (Handle, *mut Handle) -> Status;
    graph_instantiate: "hipGraphInstantiateWithFlags" (*mut Handle, Handle, c_ulonglong) -> Status;
    graph_launch: "hipGraphLaunch" (Handle, Handle) -> Status;
    graph_destroy: "hipGraphDestroy" (Handle) -> Status;
    graph_exec_destroy: "hipGraphExecDestroy" (Handle) -> Status;
    copy: "hipMemcpyAsync" (*mut c_void, *const c_void, usize, c_int, Handle) -> Status;
    set_bytes: "hipMemsetD8Async" (*mut c_void, u8, usize, Handle) -> Status;
    module_load: "hipModuleLoadData" (*mut Handle, *const c_void) -> Status;
    module_unload: "hipModuleUnload" (Handle) -> Status;
    module_function: "hipModuleGetFunction" (*mut Handle, Handle, *const c_char) -> Status;
    module_global: "hipModuleGetGlobal" (*mut *mut c_void, *mut usize, Handle, *const c_char) -> Status;
    function_attribute: "hipFuncGetAttribute" (*mut c_int, c_int, Handle) -> Status;
    occupancy: "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor" (*mut c_int, Handle, c_int, usize) -> Status;
    launch: "hipModuleLaunchKernel" (
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
    ) -> Status;
    launch_cooperative: "hipModuleLaunchCooperativeKernel" (
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void
    ) -> Status;
    error_name: "hipGetErrorName" (Status) -> *const c_char;
    error_text: "hipGetErrorString" (Status) -> *const c_char;
}

/// The loaded library.
pub(super) struct Hip {
    pub(super) functions: Functions,
    pub(super) version: c_int,
    /// The functions are its own.
    _library: Library,
}

impl fmt::Debug for Hip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hip").field("version", &self.version).finish_non_exhaustive()
    }
}

impl Hip {
    /// Loads and starts the library.
    pub(super) fn load() -> Result<Self, Error> {
        let no = |reason: String| Error::NoGpu { vendor: "HIP", reason };
        let named = std::env::var_os(LIBRARY_VARIABLE).filter(|named| !named.is_empty());
        let path = named.unwrap_or_else(|| OsString::from(LIBRARY));
        let shown = path.to_string_lossy();
        // SAFETY: whoever installed or named the library vouches for what it does when it is loaded.
        let library = unsafe { Library::new(&path) }.map_err(|error| {
            let why = why(&error);
            no(format!(
                "{shown} cannot be loaded ({why}); install ROCm 6.0 or later, name its library in {LIBRARY_VARIABLE}, \
                 or use the driver cpu"
            ))
        })?;
        let functions = Functions::find(&library)
            .map_err(|symbol| no(format!("{shown} has no {symbol}, which is in ROCm 6.0 and later; install that")))?;
        let mut version = 0;
        // SAFETY: takes a number.
        let started = unsafe { (functions.init)(0) };
        // SAFETY: the library stores a number.
        let asked = unsafe { (functions.version)(&raw mut version) };
        let hip = Self { functions, version, _library: library };
        let started = hip.check(started, "start the driver").and_then(|()| hip.check(asked, "ask for its version"));
        started.map_err(|error| no(error.to_string()))?;
        Ok(hip)
    }

    /// An error from the library's answer to `action`.
    pub(super) fn check(&self, status: Status, action: &str) -> Result<(), Error> {
        if status == SUCCESS {
            return Ok(());
        }
        let text = |get: unsafe extern "C" fn(Status) -> *const c_char| {
            // SAFETY: the library knows a text for every number, or returns null.
            let text = unsafe { get(status) };
            // SAFETY: a string of the library that lives as long as it.
            (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        let name = text(self.functions.error_name).unwrap_or_else(|| format!("error {status}"));
        let reason = text(self.functions.error_text).unwrap_or_else(|| "the driver does not say why".to_owned());
        Err(Error::Gpu { vendor: "HIP", action: action.to_owned(), name, reason })
    }

    /// Imports the memory of `descriptor`.
    pub(super) fn import(&self, handle: &mut Handle, mut descriptor: RawFd) -> Status {
        let place = if self.version >= IMPORTS_BY_VALUE {
            ptr::without_provenance_mut(descriptor.cast_unsigned() as usize)
        } else {
            (&raw mut descriptor).cast()
        };
        // SAFETY: an open descriptor in the form that this version takes; the library stores a handle.
        unsafe { (self.functions.mem_import)(handle, place, FILE_DESCRIPTOR) }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::{align_of, offset_of, size_of};

    use super::*;

    /// The layout that a C compiler gives the header's structures.
    #[test]
    fn layouts_are_those_of_the_header() {
        assert_eq!((size_of::<Properties>(), align_of::<Properties>()), (1472, 8));
        assert_eq!(offset_of!(Properties, uuid), 256);
        assert_eq!(offset_of!(Properties, multi_processor_count), 388);
        assert_eq!(offset_of!(Properties, gcn_arch_name), 1160);
        assert_eq!((size_of::<Location>(), offset_of!(Location, id)), (8, 4));
        assert_eq!((size_of::<Allocation>(), align_of::<Allocation>()), (32, 8));
        assert_eq!((offset_of!(Allocation, handle_type), offset_of!(Allocation, location)), (4, 8));
        assert_eq!((offset_of!(Allocation, windows), offset_of!(Allocation, compression)), (16, 24));
        assert_eq!((offset_of!(Allocation, rdma), offset_of!(Allocation, usage)), (25, 26));
        assert_eq!((size_of::<Access>(), offset_of!(Access, flags)), (12, 8));
    }
}
