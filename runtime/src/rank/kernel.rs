//! Code on a rank's device, and what a launch needs.

use std::ffi::{CString, c_void};

use super::{Alone, Seat};
use crate::agent::Agent;
use crate::driver::gpu::{DeviceCode, api};
use crate::error::Error;
use crate::launch::{self, Code, Launch};
use crate::loc::Loc;
use symm_abi::kernel::{Argument, KernelFn};

/// Loaded code. It stays loaded as long as the run.
#[derive(Debug)]
pub struct Module {
    seat: Seat,
    name: String,
    raw: api::Module,
    /// A rank makes one call at a time.
    alone: Alone,
}

impl Module {
    #[track_caller]
    pub(super) fn load(seat: &Seat, code: &DeviceCode) -> Result<Self, Error> {
        let raw = seat.act(|agent, _| agent.world.driver.load(agent, code))?;
        Ok(Self { seat: seat.clone(), name: code.module.clone(), raw, alone: Alone::default() })
    }

    /// The kernel of this name.
    ///
    /// # Errors
    /// [`Error::Gpu`] when there is none.
    #[track_caller]
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        let no_name = |_| Error::Program(format!("the name of a kernel contains no zero byte, but {name:?} does"));
        let code = self.seat.act(|agent, _| {
            let name = CString::new(name).map_err(no_name)?;
            agent.world.driver.function(self.raw, &name).map(Code::Device)
        })?;
        Ok(Kernel { name: format!("{}::{name}", self.name), code })
    }
}

/// A kernel.
#[derive(Debug, Clone)]
pub struct Kernel {
    name: String,
    code: Code,
}

impl Kernel {
    /// A function of this process, for the CPU: it is called once for each block, on a thread of its own.
    #[must_use]
    pub fn host(name: &str, function: KernelFn) -> Self {
        Self { name: name.to_owned(), code: Code::Host(function) }
    }

    /// # Safety
    /// As for [`super::Stream::launch_with`].
    pub(super) unsafe fn launch(
        &self,
        agent: &Agent,
        grid: &Grid,
        args: &[*const c_void],
        stream: api::Stream,
        loc: Loc<'_>,
    ) -> Result<(), Error> {
        let (blocks, threads) = (grid.blocks.map(i64::from), grid.threads.map(i64::from));
        let limits = (agent.world.driver.max_blocks(), agent.world.num_ranks());
        let launch = Launch {
            name: &self.name,
            code: self.code,
            grid: blocks,
            block: threads,
            blocks: launch::count_blocks(&self.name, blocks, threads, grid.barrier, limits)?,
            shared: grid.shared_bytes.into(),
            waits: grid.waits || grid.barrier,
            args: args.as_ptr(),
            kinds: &vec![Argument::Value; args.len()],
            loc,
        };
        // SAFETY: the caller's promise.
        unsafe { launch::launch(agent, &launch, stream, false) }
    }
}

/// How many blocks of how many threads, and what they need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Blocks in each dimension.
    pub blocks: [u32; 3],
    /// Threads of a block in each dimension. The CPU runs one of them.
    pub threads: [u32; 3],
    /// Bytes of dynamic shared memory for each block.
    pub shared_bytes: u32,
    /// Whether blocks wait for flags or for each other, so that all have to be on the device at the same time.
    pub waits: bool,
    /// Whether the kernel uses `symm.barrier`, for which a run has a limited number of blocks.
    pub barrier: bool,
}

impl Grid {
    /// This many blocks of this many threads, which wait for nothing.
    #[must_use]
    pub fn new(blocks: u32, threads: u32) -> Self {
        Self { blocks: [blocks, 1, 1], threads: [threads, 1, 1], shared_bytes: 0, waits: false, barrier: false }
    }

    /// The same, with blocks that wait for flags or for each other.
    #[must_use]
    pub fn waiting(self) -> Self {
        Self { waits: true, ..self }
    }
}

/// A kernel's argument: a number or an address. A kernel reads as many of its bytes as its parameter has.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Arg(u64);

impl Arg {
    pub(super) fn pointer(&self) -> *const c_void {
        (&raw const self.0).cast()
    }
}

macro_rules! arg_from {
    ($($from:ty: $value:ident => $bits:expr;)*) => {
        $(impl From<$from> for Arg {
            fn from($value: $from) -> Self {
                Self($bits)
            }
        })*
    };
}

arg_from! {
    i32: value => value.cast_unsigned().into();
    u32: value => value.into();
    i64: value => value.cast_unsigned();
    u64: value => value;
    f32: value => value.to_bits().into();
    f64: value => value.to_bits();
    *mut u8: value => value as u64;
    *const u8: value => value as u64;
    *const i64: value => value as u64;
}
