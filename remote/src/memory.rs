//! Memory of somebody else's, such as a tensor's, that a transfer reads or writes.

use std::any::Any;

/// Bytes at an address, with what keeps them there.
pub struct Memory {
    address: *mut u8,
    length: usize,
    _owner: Box<dyn Any + Send>,
}

// SAFETY: who made it has promised that any thread may use the bytes, and the owner is Send.
unsafe impl Send for Memory {}
// SAFETY: a shared reference only reads.
unsafe impl Sync for Memory {}

impl Memory {
    /// Bytes that `owner` keeps alive.
    ///
    /// # Safety
    /// The bytes stay readable and writable until `owner` is dropped, and are only of types for which all bits are
    /// values. Nobody else writes them meanwhile; somebody who does gets a mixture of bytes.
    #[must_use]
    pub unsafe fn new(address: *mut u8, length: usize, owner: Box<dyn Any + Send>) -> Self {
        // A null pointer is no slice, not even an empty one.
        let address = if length == 0 { std::ptr::NonNull::dangling().as_ptr() } else { address };
        Self { address, length, _owner: owner }
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: as promised to `new`.
        unsafe { std::slice::from_raw_parts(self.address, self.length) }
    }

    /// The bytes, to write.
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as promised to `new`.
        unsafe { std::slice::from_raw_parts_mut(self.address, self.length) }
    }
}
