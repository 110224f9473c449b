//! Devices and their primary contexts.

use std::ffi::c_int;
use std::ptr;
use std::sync::Mutex;

use cudarc::driver::sys;

use super::check;
use crate::error::Error;
use crate::lock::lock;

/// A device, with its primary context once it has been used: creating one takes long.
#[derive(Debug)]
pub(super) struct Primary {
    pub(super) device: sys::CUdevice,
    context: Mutex<Option<usize>>,
}

impl Primary {
    /// The device with this number.
    pub(super) fn find(ordinal: c_int) -> Result<Self, Error> {
        let mut device = 0;
        // SAFETY: the driver stores a device.
        check(unsafe { sys::cuDeviceGet(&raw mut device, ordinal) }, "find a device")?;
        Ok(Self { device, context: Mutex::new(None) })
    }

    /// Its primary context.
    pub(super) fn context(&self) -> Result<sys::CUcontext, Error> {
        let mut known = lock(&self.context);
        if let Some(context) = *known {
            return Ok(context as sys::CUcontext);
        }
        let mut context = ptr::null_mut();
        let retained =
            // SAFETY: the driver stores a context.
            unsafe { sys::cuDevicePrimaryCtxRetain(&raw mut context, self.device) };
        check(retained, &format!("start device {}", self.device))?;
        *known = Some(context as usize);
        Ok(context)
    }
}
