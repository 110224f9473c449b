//! Accesses to far ranks' heaps, called by compiled code.

use std::sync::atomic::{Ordering, fence};

use super::Data;
use crate::agent::Agent;
use crate::engine::Native;
use crate::error::Error;
use crate::heap::HeapAddress;
use symm_abi::far::Update;

/// Bytes of one piece of a copy from one far rank to another.
const PIECE: usize = 256 << 10;

impl Agent {
    /// Where an address lies in the heap of a far rank, with this many bytes; `None` if it lies in none.
    fn far(&self, at: *const u8, bytes: u64) -> Result<Option<HeapAddress>, Error> {
        let heaps = &self.world.heaps;
        let Some(found) = heaps.locate(at).filter(|found| !heaps.is_near(found.rank)) else { return Ok(None) };
        if found.offset.checked_add(bytes).is_some_and(|end| end <= heaps.size()) {
            return Ok(Some(found));
        }
        let (rank, offset) = (found.rank, found.offset);
        Err(Error::Program(format!("{bytes} bytes from heap+{offset:#x} of rank {rank} on leave the heap")))
    }
}

/// What reaches the heaps of far ranks.
fn data(agent: &Agent) -> Option<&Data> {
    agent.world.far.as_ref().and_then(|far| far.data.as_ref())
}

/// The error for an address in no heap: no op of the dialect makes one from valid operands.
fn nobodys(at: *const u8) -> Error {
    Error::Program(format!("{at:p} is in the heap of no rank that the engine reaches: a rank or an index out of range"))
}

/// [`symm_abi::functions::FAR_COPY`].
///
/// # Safety
/// What is not in a far rank's heap is valid for `bytes` bytes.
pub(crate) unsafe fn copy(agent: &Agent, dst: *mut u8, src: *const u8, bytes: u64) -> Result<(), Error> {
    let ends = (agent.far(dst, bytes)?, agent.far(src, bytes)?);
    let Some(far) = data(agent) else { return Err(nobodys(dst)) };
    let (engine, length) = (&far.engine, bytes as usize);
    fence(Ordering::SeqCst);
    // SAFETY: the far end lies in a heap, by `Agent::far`; the other one is the caller's promise.
    unsafe {
        match ends {
            (Some(to), None) => engine.put(to.rank, far.at(to), src, length),
            (None, Some(from)) => engine.get(from.rank, dst, far.at(from), length),
            (Some(to), Some(from)) => {
                let mut piece = vec![0; PIECE.min(length)];
                for start in (0..length).step_by(PIECE) {
                    let part = PIECE.min(length - start);
                    engine.get(from.rank, piece.as_mut_ptr(), far.at(from).wrapping_add(start), part);
                    engine.put(to.rank, far.at(to).wrapping_add(start), piece.as_ptr(), part);
                }
            }
            (None, None) => return if bytes == 0 { Ok(()) } else { Err(nobodys(dst)) },
        }
    }
    fence(Ordering::SeqCst);
    Ok(())
}

/// [`symm_abi::functions::FAR_UPDATE`].
pub(crate) fn update(
    agent: &Agent,
    ptr: *mut u8,
    (kind, bytes): (u32, u32),
    (value, expected): (u64, u64),
) -> Result<u64, Error> {
    let place = agent.far(ptr, bytes.into())?;
    let (Some(far), Some(place)) = (data(agent), place) else { return Err(nobodys(ptr)) };
    let unknown = || Error::Program(format!("an update of an unknown kind, {kind}, of {bytes} bytes"));
    let kind = Update::from_code(kind).filter(|_| matches!(bytes, 1 | 2 | 4 | 8)).ok_or_else(unknown)?;
    if !ptr.addr().is_multiple_of(bytes as usize) {
        return Err(Error::Program(format!("an update of {bytes} bytes at {ptr:p}, which is not aligned to them")));
    }
    fence(Ordering::SeqCst);
    let old = far.update(place, kind, bytes, (value, expected));
    fence(Ordering::SeqCst);
    Ok(old)
}

impl Data {
    fn update(&self, place: HeapAddress, kind: Update, bytes: u32, (value, expected): (u64, u64)) -> u64 {
        let native = match kind {
            Update::Add => Some(Native::Add(value)),
            Update::Sub => Some(Native::Add(value.wrapping_neg())),
            Update::Set => Some(Native::Set(value)),
            Update::Swap if bytes == 8 => Some(Native::Swap(expected, value)),
            _ => None,
        };
        let engine = &self.engine;
        if let Some(native) = native.filter(|_| bytes >= 4) {
            // SAFETY: in a heap and aligned, says the caller.
            return unsafe { engine.update(place.rank, self.at(place), bytes as usize, native) };
        }
        // A narrow value is updated with its whole word; the rest of the word stays as it is.
        let inside = place.offset % 8;
        let (shift, bits) = (8 * inside, 8 * bytes);
        let mask = u64::MAX >> (64 - bits);
        let word = self.at(HeapAddress { offset: place.offset - inside, ..place });
        // SAFETY: as above; a word is in the heap with each of its bytes.
        let mut seen = unsafe { engine.update(place.rank, word, 8, Native::Add(0)) };
        loop {
            let old = (seen >> shift) & mask;
            let new = (seen & !(mask << shift)) | (kind.apply(old, value & mask, expected & mask, bits) << shift);
            // SAFETY: as above.
            let found = unsafe { engine.update(place.rank, word, 8, Native::Swap(seen, new)) };
            if found == seen {
                return old;
            }
            seen = found;
        }
    }
}
