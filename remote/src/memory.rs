//! Borrowed memory, such as a tensor's, that a transfer reads or writes.

use rustix::mm::{Advice, madvise};
use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// From this many bytes on, a thread that prepares the memory pays off.
const LARGE: usize = 4 << 20;
/// Bytes of each request.
const BLOCK: usize = 4 << 20;
/// How many bytes ahead of the writes are requested, and no more: a sender may never send them.
const AHEAD: usize = 16 << 20;

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

    /// Lets `read` write all the bytes, from the first to the last; it tells how many it has written.
    ///
    /// Meanwhile another thread asks the kernel for the pages that come next, huge ones where it has them: to get and
    /// clear new pages takes half as long as to write them.
    pub fn fill<T>(&mut self, read: impl FnOnce(&mut [u8], &dyn Fn(usize)) -> T) -> T {
        let page = rustix::param::page_size();
        let start = self.address.align_offset(page);
        if self.length < LARGE || start >= self.length {
            return read(self.bytes_mut(), &|_| ());
        }
        let pages = Pages { address: self.address as usize + start, length: (self.length - start) / page * page };
        let written = AtomicUsize::new(0);
        thread::scope(|scope| {
            let name = thread::Builder::new().name("symm-pages".into());
            // Without it, each page is asked for when it is written.
            let ahead = name.spawn_scoped(scope, || pages.prepare(&written)).ok();
            let tell = |count| {
                written.store(count, Ordering::Release);
                if let Some(ahead) = &ahead {
                    ahead.thread().unpark();
                }
            };
            let _end = Told(&tell);
            read(self.bytes_mut(), &tell)
        })
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

/// Whole pages of a memory.
struct Pages {
    address: usize,
    length: usize,
}

impl Pages {
    /// Asks the kernel for all of them, a little before they are `written`.
    fn prepare(&self, written: &AtomicUsize) {
        self.advise(0, self.length, Advice::LinuxHugepage);
        for start in (0..self.length).step_by(BLOCK) {
            while start > written.load(Ordering::Acquire).saturating_add(AHEAD) {
                thread::park();
            }
            if written.load(Ordering::Acquire) >= self.length {
                return;
            }
            self.advise(start, BLOCK.min(self.length - start), Advice::LinuxPopulateWrite);
        }
    }

    fn advise(&self, start: usize, length: usize, advice: Advice) {
        // SAFETY: these are whole pages of the owner's bytes, and the advice changes no byte. It may be refused.
        let _ = unsafe { madvise((self.address + start) as *mut _, length, advice) };
    }
}

/// Tells at its end that all is written, also when what writes has failed.
struct Told<'a>(&'a dyn Fn(usize));

impl Drop for Told<'_> {
    fn drop(&mut self) {
        (self.0)(usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    fn memory(owner: &mut [u8]) -> Memory {
        // SAFETY: the bytes are the owner's, which nobody else has as long as a test uses this.
        unsafe { Memory::new(owner.as_mut_ptr(), owner.len(), Box::new(())) }
    }

    /// How many of these bytes have pages.
    fn present(bytes: &[u8]) -> usize {
        let page = rustix::param::page_size();
        let first = (bytes.as_ptr() as usize).div_ceil(page);
        let mut entries = vec![0; bytes.len() / page * 8];
        let table = std::fs::File::open("/proc/self/pagemap").unwrap();
        table.read_exact_at(&mut entries, first as u64 * 8).unwrap();
        entries.chunks(8).filter(|entry| entry[7] & 0x80 != 0).count() * page
    }

    #[test]
    fn only_what_is_written_changes() {
        for (length, start) in [(0, 0), (100, 1), (LARGE + 5, 0), (10 * LARGE, 4097)] {
            let mut owner = vec![7_u8; length + start];
            let (before, mine) = owner.split_at_mut(start);
            memory(mine).fill(|bytes, tell| {
                let half = length / 2;
                bytes[..half].fill(9);
                tell(half);
            });
            assert!(before.iter().all(|byte| *byte == 7));
            assert!(mine[..length / 2].iter().all(|byte| *byte == 9));
            assert!(mine[length / 2..].iter().all(|byte| *byte == 7));
        }
    }

    #[test]
    fn pages_are_there_before_they_are_written_but_only_some() {
        let mut owner = vec![0_u8; 64 * AHEAD];
        assert!(present(&owner) < AHEAD / 2);
        let failed: Result<(), ()> = memory(&mut owner).fill(|bytes, tell| {
            bytes[0] = 1;
            tell(1);
            thread::sleep(std::time::Duration::from_millis(300));
            Err(())
        });
        assert!(failed.is_err());
        let there = present(&owner);
        assert!((AHEAD / 2..2 * AHEAD).contains(&there), "{there} bytes are there");
    }

    #[test]
    fn who_panics_does_not_hang() {
        let mut owner = vec![0_u8; 8 * AHEAD];
        let mut memory = memory(&mut owner);
        let run = std::panic::AssertUnwindSafe(|| memory.fill(|_, _| panic!("no more")));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
