//! Addresses of memory that the checker holds: heaps, what blocks share, and each rank's other memory. No page of them
//! is mapped, so that an access that the checker is not told of ends the process instead of going by unseen.

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
pub use symm_abi::check::HEAP;
use symm_abi::heap::HEAP_ALIGN;
use symm_checker::op::{OWN, Range, SHARED};

/// Where heaps usually are.
const USUAL: usize = 1 << 44;

/// Where memory is that a program accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The checker holds it.
    Held(Range),
    /// It is this process's: a host's memory, or a thread's own.
    Plain,
    /// Nothing can be there.
    Unmapped,
}

/// The addresses of the memory that the checker holds.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    base: u64,
    ranks: u32,
}

impl Held {
    /// The address of a range.
    pub fn address(self, range: Range) -> u64 {
        let nth = match range.heap {
            SHARED => self.ranks,
            own if own >= OWN => self.ranks + 1 + (own - OWN),
            heap => heap,
        };
        self.base + HEAP * u64::from(nth) + range.start
    }

    /// The range of this many bytes from an address on, if the checker holds it.
    #[inline]
    pub fn held(self, address: u64, bytes: u64) -> Option<Range> {
        let offset = address.wrapping_sub(self.base);
        let heap = match u32::try_from(offset / HEAP).ok()? {
            heap if heap < self.ranks => heap,
            shared if shared == self.ranks => SHARED,
            own => Some(own - self.ranks - 1).filter(|&rank| rank < self.ranks)? + OWN,
        };
        Some(Range { heap, start: offset % HEAP, bytes })
    }
}

/// The addresses.
#[derive(Debug)]
pub struct Space {
    start: *mut c_void,
    length: usize,
    base: u64,
    ranks: u32,
}

impl Space {
    /// Addresses for the heaps of this many ranks.
    ///
    /// # Errors
    /// The system does not have this many addresses left.
    pub fn new(ranks: u32) -> rustix::io::Result<Self> {
        let bytes = HEAP * (2 * u64::from(ranks) + 1) + HEAP_ALIGN;
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: new addresses, which nothing else has. They are the same in each process where they are free, so that
        // a program that looks at them does the same there.
        let start = unsafe { mmap_anonymous(USUAL as *mut c_void, length, ProtFlags::empty(), flags)? };
        let base = (start as u64).next_multiple_of(HEAP_ALIGN);
        Ok(Self { start, length, base, ranks })
    }

    /// Where a rank's heap starts.
    pub fn heap(&self, rank: u32) -> u64 {
        self.base + HEAP * u64::from(rank)
    }

    /// The addresses of the memory that the checker holds.
    pub fn held_addresses(&self) -> Held {
        Held { base: self.base, ranks: self.ranks }
    }

    /// Where this many bytes from an address on are.
    pub fn place(&self, address: u64, bytes: u64) -> Place {
        const LOWEST: u64 = 1 << 12;
        const HIGHEST: u64 = 1 << 47;
        if let Some(range) = self.held_addresses().held(address, bytes) {
            return Place::Held(range);
        }
        let is_possible = address >= LOWEST && address.checked_add(bytes).is_some_and(|end| end <= HIGHEST);
        if is_possible { Place::Plain } else { Place::Unmapped }
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, and nothing points there any more.
        let _ = unsafe { munmap(self.start, self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_of_one_heap() {
        let space = Space::new(2).unwrap();
        let range = |heap, start| Place::Held(Range { heap, start, bytes: 4 });
        assert_eq!(space.place(space.heap(0) + 8, 4), range(0, 8));
        assert_eq!(space.place(space.heap(1), 4), range(1, 0));
        for other in [SHARED, OWN, OWN + 1] {
            let address = space.held_addresses().address(Range { heap: other, start: 16, bytes: 4 });
            assert_eq!(space.place(address, 4), range(other, 16));
        }
        assert_eq!(space.place(space.heap(0) + 5 * HEAP, 4), Place::Plain);
        let here = 0u64;
        assert_eq!(space.place(&raw const here as u64, 8), Place::Plain);
        assert_eq!((space.place(0, 1), space.place(1 << 60, 8)), (Place::Unmapped, Place::Unmapped));
    }
}
