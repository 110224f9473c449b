//! AMD's driver library, loaded when it is first needed. See `library.rs` for its functions and where they come from.
//!
//! It has never run on an AMD GPU: runtime/tests/hip runs it against a library that stands in for AMD's.

mod kernels;
mod library;
mod memory;
mod queues;

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use self::library::{Handle, Hip as Library, Properties};
use super::api::{DeviceInfo, Devices, Identity, Ordinal};
use super::plain;
use crate::error::Error;

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
            return Err(none("the driver found no device".to_owned()));
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
    // Settings follow the chip: gfx942:sramecc+:xnack-.
    let chip = text(&properties.gcn_arch_name).split(':').next().unwrap_or_default().to_owned();
    let multiprocessors = properties.multi_processor_count.cast_unsigned();
    Ok((DeviceInfo { name, chip, multiprocessors, mapped: maps != 0 }, properties.uuid))
}

impl Devices for Hip {
    fn name(&self) -> &'static str {
        if self.maps { "hip" } else { "hip (IPC)" }
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, Error> {
        Ok(self.devices.clone())
    }

    fn make_current(&self, device: Ordinal) -> Result<(), Error> {
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
        // It fails only for a device that is gone, which its next use reports.
        let _ = self.make_current(current as Ordinal);
    }

    fn identity(&self, device: Ordinal) -> Option<Identity> {
        self.identities.get(device as usize).copied().filter(|identity| *identity != Identity::default())
    }

    fn can_access(&self, from: Ordinal, to: Ordinal) -> Result<bool, Error> {
        if from == to {
            return Ok(true);
        }
        let mut can = 0;
        let (from, to) = (from.cast_signed(), to.cast_signed());
        // SAFETY: the library stores a number.
        self.check(unsafe { (self.library.functions.can_access_peer)(&raw mut can, from, to) }, "ask about peers")?;
        Ok(can != 0)
    }

    fn enable_peer(&self, peer: Ordinal) -> Result<(), Error> {
        // SAFETY: changes only what the current device may do.
        match unsafe { (self.library.functions.enable_peer)(peer.cast_signed(), 0) } {
            library::PEER_ALREADY_ENABLED => Ok(()),
            status => self.check(status, "give a device access to a rank's heap"),
        }
    }
}
