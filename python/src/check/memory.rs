//! The memory of an interpreted program: which addresses are whose, what is there, and what the host has changed.

use std::collections::BTreeMap;
use symm_checker::op::{PRIVATE, Range};

/// Heaps from this number on are memory of one rank alone.
pub const PRIVATE_HEAPS: u32 = PRIVATE;
/// Where in a heap, whatever its size, the checker has the flags of barriers: after all else.
pub const BARRIERS: u64 = 1 << 48;

/// Bytes that are compared at once.
const PAGE: usize = 4096;

/// A piece of memory that the checker knows.
struct Region {
    range: Range,
    /// Bytes of an element.
    width: usize,
    /// What the checker has been told of.
    told: Vec<u8>,
}

/// All pieces of an execution, by their first addresses, and the heaps that some of them are in.
#[derive(Default)]
pub struct Memory {
    regions: BTreeMap<u64, Region>,
    heaps: BTreeMap<u64, Range>,
}

impl Memory {
    /// Whether these bytes are known by this place.
    pub fn knows(&self, address: u64, range: Range) -> bool {
        self.regions.get(&address).is_some_and(|region| region.range == range)
    }

    /// Records these bytes, of elements of this many, in place of others at these addresses.
    pub fn add(&mut self, address: u64, range: Range, width: usize) {
        let end = address + range.bytes;
        let ends_after = |(start, region): &(&u64, &Region)| **start + region.range.bytes > address;
        let old: Vec<_> = self.regions.range(..end).rev().take_while(ends_after).map(|(&start, _)| start).collect();
        for start in old {
            self.regions.remove(&start);
        }
        let mut told = vec![0; usize::try_from(range.bytes).unwrap_or(0)];
        if range.heap >= PRIVATE_HEAPS {
            // Something is there already, all of which is told.
            told = read(address, told.len()).iter().map(|byte| !byte).collect();
        }
        self.regions.insert(address, Region { range, width: width.max(1), told });
    }

    /// A heap: what is in none of its pieces is an error of who accesses it.
    pub fn add_heap(&mut self, address: u64, range: Range) {
        self.heaps.insert(address, range);
    }

    /// Where an address is, and how many bytes from there are of the same piece, or heap.
    pub fn find(&self, address: u64) -> Option<Range> {
        let within = |start: u64, range: Range| {
            let left = range.bytes.checked_sub(address - start).filter(|&left| left > 0)?;
            Some(Range { start: range.start + (address - start), bytes: left, ..range })
        };
        let region = self.regions.range(..=address).next_back();
        let found = region.and_then(|(&start, region)| within(start, region.range));
        found.or_else(|| self.heaps.range(..=address).next_back().and_then(|(&start, &range)| within(start, range)))
    }

    /// Writes bytes.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        // SAFETY: the kernel says that this memory is there, as in Triton's interpreter; no other thread runs.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), pointer(address), bytes.len()) };
        if let Some((&start, region)) = self.regions.range_mut(..=address).next_back()
            && let Ok(from) = usize::try_from(address - start)
            && let Some(told) = region.told.get_mut(from..from + bytes.len())
        {
            told.copy_from_slice(bytes);
        }
    }

    /// What the host has written since the checker was last told of this piece: ranges of whole elements, and their
    /// bytes.
    pub fn changes(&mut self, address: u64) -> (Vec<Range>, Vec<u8>) {
        let Some(region) = self.regions.get_mut(&address) else { return Default::default() };
        // SAFETY: the program says that this memory is there; no other thread runs.
        let there = unsafe { std::slice::from_raw_parts(pointer(address).cast_const(), region.told.len()) };
        let (mut ranges, mut bytes): (Vec<Range>, Vec<u8>) = Default::default();
        let mut end = 0;
        let (width, page) = (region.width, PAGE.next_multiple_of(region.width));
        for (nth, (new, old)) in there.chunks(page).zip(region.told.chunks_mut(page)).enumerate() {
            // Most pages are as they were, and to see that takes a small part of a copy.
            if new == old {
                continue;
            }
            let elements = new.chunks(width).zip(old.chunks(width)).enumerate();
            for (at, (element, _)) in elements.filter(|(_, (new, old))| new != old) {
                let (offset, size) = (nth * page + at * width, element.len() as u64);
                if let Some(last) = ranges.last_mut().filter(|_| offset == end) {
                    last.bytes += size;
                } else {
                    let start = region.range.start + offset as u64;
                    ranges.push(Range { start, bytes: size, ..region.range });
                }
                end = offset + element.len();
                bytes.extend(element);
            }
            old.copy_from_slice(new);
        }
        (ranges, bytes)
    }

    /// The first addresses of the pieces of which `is_asked` is true.
    pub fn addresses(&self, is_asked: impl Fn(Range) -> bool) -> Vec<u64> {
        self.regions.iter().filter(|(_, region)| is_asked(region.range)).map(|(&address, _)| address).collect()
    }
}

fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0))
}

/// The bytes at an address.
pub fn read(address: u64, bytes: usize) -> Vec<u8> {
    let mut found = vec![0; bytes];
    // SAFETY: the program says that this memory is there; no other thread runs.
    unsafe { std::ptr::copy_nonoverlapping(pointer(address).cast_const(), found.as_mut_ptr(), bytes) };
    found
}
