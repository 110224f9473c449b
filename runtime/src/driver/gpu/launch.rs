//! Launches: arguments as kernels take them, and whether all blocks fit the device.

use std::ffi::c_void;

use super::api::{Function, Start};
use super::{Local, Shared};
use crate::agent::Agent;
use crate::error::Error;
use crate::heap::HeapAddress;
use crate::launch::Launch;
use symm_abi::kernel::Argument;

/// The arguments of a launch: a memref is passed field by field, the context as its table in device memory.
pub(super) struct Arguments {
    /// One for each parameter of the kernel.
    pub(super) pointers: Vec<*mut c_void>,
    /// What a pointer to the context points to.
    _table: Box<u64>,
}

impl Arguments {
    pub(super) fn new(launch: &Launch<'_>, local: &Local, agent: &Agent) -> Result<Self, Error> {
        let heaps = &agent.world.heaps;
        let is_mine = |place: HeapAddress| place.rank == agent.rank;
        let mut table = Box::new(local.table);
        let mut pointers = Vec::new();
        for (index, kind) in launch.kinds.iter().enumerate() {
            // SAFETY: compiled code passes a pointer for each argument.
            let value = unsafe { launch.args.add(index).read() }.cast::<u64>();
            match *kind {
                Argument::Context => {
                    // SAFETY: a context is a pointer in memory.
                    let context = unsafe { value.read() };
                    if context == local.host_table {
                        pointers.push((&raw mut *table).cast());
                    } else if context == *table || heaps.locate(context as *const u8).is_some_and(is_mine) {
                        pointers.push(value.cast_mut().cast());
                    } else {
                        return Err(Error::WrongContext { kernel: launch.name.to_owned(), index, address: context });
                    }
                }
                Argument::Value => pointers.push(value.cast_mut().cast()),
                Argument::Memref { rank } => {
                    // Allocated and aligned pointer, offset, sizes, strides: words, one after the other.
                    let words = 3 + 2 * rank;
                    // SAFETY: compiled code passes a descriptor of this many words.
                    let fields = unsafe { std::slice::from_raw_parts(value, words) };
                    let elements = fields[3..3 + rank].iter().product::<u64>();
                    if elements > 0 && heaps.locate(fields[1] as *const u8).is_none() {
                        return Err(Error::HostArgument { kernel: launch.name.to_owned(), index });
                    }
                    pointers.extend(fields.iter().map(|field| std::ptr::from_ref(field).cast_mut().cast()));
                }
            }
        }
        Ok(Self { pointers, _table: table })
    }
}

/// A launch in numbers. It is refused if its blocks wait for each other and cannot all be on the device.
pub(super) fn start(shared: &Shared, agent: &Agent, launch: &Launch<'_>, function: Function) -> Result<Start, Error> {
    let number = |value: i64| u32::try_from(value).unwrap_or(u32::MAX);
    let (grid, block) = (launch.grid.map(number), launch.block.map(number));
    let mut start = Start { function, grid, block, shared: number(launch.shared), cooperative: false };
    let threads = block.iter().product();
    let (most, registers) = shared.api.most_threads(function)?;
    if threads > most {
        let mend = format!(
            "that is {threads} threads, and a block of this kernel has at most {most}: it is compiled for no more, or \
             takes too many registers, {registers} a thread; launch smaller blocks, or write attributes \
             {{nvvm.maxntid = array<i32: {threads}, 1, 1>}} at its gpu.func"
        );
        return Err(Error::BadLaunch { kernel: launch.name.to_owned(), what: "block", dims: launch.block, mend });
    }
    if !launch.waits {
        return Ok(start);
    }
    let device = shared.device(agent.rank);
    let multiprocessors = shared.devices[device as usize].multiprocessors;
    let each = shared.api.resident_blocks(function, threads, start.shared)?;
    // Ranks of one process share a device at the same time; processes take turns.
    let sharing = agent.world.local().iter().filter(|local| shared.device(local.rank) == device).count() as u32;
    let fit = u64::from(each) * u64::from(multiprocessors) / u64::from(sharing);
    if u64::from(launch.blocks) > fit {
        let ranks = if sharing > 1 { format!(", shared by {sharing} ranks") } else { String::new() };
        let mend = format!(
            "its blocks wait for each other, so all {} have to be on the device at the same time, and {fit} fit: \
             {each} \
             of {} threads and {} bytes of shared memory on each of {multiprocessors} multiprocessors{ranks}; launch \
             fewer blocks and let them stride",
            launch.blocks, threads, start.shared,
        );
        return Err(Error::BadLaunch { kernel: launch.name.to_owned(), what: "grid", dims: launch.grid, mend });
    }
    start.cooperative = sharing == 1;
    Ok(start)
}
