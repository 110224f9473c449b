//! NVIDIA's driver library, loaded when it is first needed.

mod code;
mod kernels;
mod memory;
mod primary;
mod queues;

use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::sync::{Arc, Mutex};

use cudarc::driver::sys;
use cudarc::driver::sys::{CUdevice_attribute as Attribute, CUresult};

use super::api::{DeviceInfo, Devices, Identity, Ordinal};
use super::plain;
use crate::error::Error;
use crate::lock::lock;
use primary::Primary;

/// The oldest version, in the driver's numbering, that has every function called here and takes code for every GPU that
/// we compile for: CUDA 12.0, with driver 525.
const OLDEST_VERSION: c_int = 12_000;

/// The library, and the devices that it knows.
#[derive(Debug)]
pub(crate) struct Cuda {
    devices: Vec<Primary>,
    version: c_int,
    /// Whether heaps are mapped: the devices can, and `SYMM_IPC` does not say otherwise.
    maps: bool,
}

/// An error from the driver's answer to `action`.
fn check(result: CUresult, action: &str) -> Result<(), Error> {
    if result == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let text = |get: unsafe fn(CUresult, *mut *const std::ffi::c_char) -> CUresult| {
        let mut text = ptr::null();
        // SAFETY: the driver stores a pointer to a string of its own, or null.
        let known = unsafe { get(result, &raw mut text) } == CUresult::CUDA_SUCCESS && !text.is_null();
        // SAFETY: not null, so it is a string.
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
        let mut opened = lock(&OPENED);
        if let Some(cuda) = &*opened {
            return Ok(Arc::clone(cuda));
        }
        let cuda = Arc::new(Self::load_library()?);
        *opened = Some(Arc::clone(&cuda));
        Ok(cuda)
    }

    fn load_library() -> Result<Self, Error> {
        // SAFETY: it only tests whether the library can be loaded.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::NoGpu {
                vendor: "CUDA",
                reason: "libcuda.so was not found; install NVIDIA's driver, or use the driver cpu".to_owned(),
            });
        }
        // A kernel that is loaded when it is first launched would wait for kernels that wait for it.
        if std::env::var_os("CUDA_MODULE_LOADING").is_none_or(|value| value != "EAGER") {
            // SAFETY: set before the library starts threads that could read the environment at the same time; a caller
            // of `run` or `join` that has other threads must set it.
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
            let reason = format!("the driver is for {found}, which is too old: install one for {needed} or later");
            return Err(Error::NoGpu { vendor: "CUDA", reason });
        }
        let mut count = 0;
        // SAFETY: the driver stores a number.
        check(unsafe { sys::cuDeviceGetCount(&raw mut count) }, "count devices")?;
        if count == 0 {
            return Err(Error::NoGpu { vendor: "CUDA", reason: "the driver found no device".to_owned() });
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

    fn attribute(&self, device: Ordinal, attribute: Attribute) -> Result<c_int, Error> {
        let mut value = 0;
        let device = self.devices[device as usize].device;
        // SAFETY: the driver stores a number.
        check(unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, device) }, "ask about a device")?;
        Ok(value)
    }

    fn describe(&self, device: Ordinal) -> Result<DeviceInfo, Error> {
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

impl Devices for Cuda {
    fn name(&self) -> &'static str {
        if self.maps { "cuda" } else { "cuda (IPC)" }
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, Error> {
        (0..self.devices.len() as u32).map(|device| self.describe(device)).collect()
    }

    fn make_current(&self, device: Ordinal) -> Result<(), Error> {
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

    fn identity(&self, device: Ordinal) -> Option<Identity> {
        let mut uuid = sys::CUuuid { bytes: [0; 16] };
        let raw = self.devices[device as usize].device;
        // SAFETY: the driver stores 16 bytes.
        let known = unsafe { sys::cuDeviceGetUuid_v2(&raw mut uuid, raw) } == CUresult::CUDA_SUCCESS;
        let identity = uuid.bytes.map(c_char::cast_unsigned);
        (known && identity != Identity::default()).then_some(identity)
    }

    fn can_access(&self, from: Ordinal, to: Ordinal) -> Result<bool, Error> {
        if from == to {
            return Ok(true);
        }
        let mut can = 0;
        let device = |device: Ordinal| self.devices[device as usize].device;
        // SAFETY: the driver stores a number.
        check(unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, device(from), device(to)) }, "ask about peers")?;
        Ok(can != 0)
    }

    fn enable_peer(&self, peer: Ordinal) -> Result<(), Error> {
        let peer = self.devices[peer as usize].context()?;
        // SAFETY: the context is alive as long as the process.
        match unsafe { sys::cuCtxEnablePeerAccess(peer, 0) } {
            CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            result => check(result, "give a device access to a rank's heap"),
        }
    }
}
