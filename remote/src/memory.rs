//! Memory of somebody else's, such as a tensor's, that a transfer reads or writes.

use rustix::mm::{Advice, madvise};
use std::any::Any;

/// Memory of so many bytes is worth pages of another size.
const LARGE: usize = 4 << 20;

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

    /// Says that all bytes will be written: the kernel may take huge pages for what it has not given yet, which is
    /// faster than a fault for every small one.
    pub fn expect_all(&mut self) {
        let page = rustix::param::page_size();
        let start = self.address.align_offset(page);
        if self.length < LARGE || start >= self.length {
            return;
        }
        let length = (self.length - start) / page * page;
        // SAFETY: these are whole pages of the owner's bytes, and the advice changes no byte. It may be refused.
        let _ = unsafe { madvise(self.address.add(start).cast(), length, Advice::LinuxHugepage) };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_what_they_are_where_all_are_expected() {
        for (length, start) in [(0, 0), (100, 1), (LARGE + 5, 0), (3 * LARGE, 4097)] {
            let mut owner = vec![7_u8; length + start];
            // SAFETY: the bytes are the owner's, which nobody else has.
            let mut memory = unsafe { Memory::new(owner.as_mut_ptr().add(start), length, Box::new(())) };
            memory.expect_all();
            assert!(memory.bytes().iter().all(|byte| *byte == 7));
            memory.bytes_mut().fill(9);
            let (before, mine) = owner.split_at(start);
            assert!(before.iter().all(|byte| *byte == 7) && mine.iter().all(|byte| *byte == 9));
        }
    }
}
