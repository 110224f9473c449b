//! Code and launches.

use std::ffi::{c_char, c_int, c_void};

use symm_runtime::{DeviceCode, Grid, Kernel, KernelFn, Module, Rank, Stream};

use crate::handle::{destroy, find, hand_over};
use crate::pointers::{borrow, bytes, text};
use crate::{call, invalid};

/// No kernel takes as many arguments: NVIDIA's take 32764 bytes of them, and AMD's fewer.
const MOST_ARGS: u32 = 1 << 15;

/// `symm_grid` of the header.
#[repr(C)]
pub struct CGrid {
    pub(crate) blocks: [u32; 3],
    pub(crate) threads: [u32; 3],
    pub(crate) shared_bytes: u32,
    pub(crate) waits: u32,
    pub(crate) barrier: u32,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_module_load(
    rank: *mut Rank,
    name: *const c_char,
    image: *const c_void,
    size: usize,
    module: *mut *mut Module,
) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe {
        let image = bytes(image.cast(), size, "the code")?.to_vec();
        let code = DeviceCode { module: text(name, "the name")?.to_owned(), image };
        hand_over(module, find(rank, "the rank")?.load(&code)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_module_destroy(module: *mut Module) {
    destroy(module, |_| ());
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_module_kernel(
    module: *mut Module,
    name: *const c_char,
    kernel: *mut *mut Kernel,
) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe {
        let found = find(module, "the module")?.kernel(text(name, "the name")?)?;
        hand_over(kernel, found)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_kernel_host(
    name: *const c_char,
    function: Option<KernelFn>,
    kernel: *mut *mut Kernel,
) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe {
        let function = function.ok_or_else(|| invalid("the function is null"))?;
        hand_over(kernel, Kernel::host(text(name, "the name")?, function))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_kernel_destroy(kernel: *mut Kernel) {
    destroy(kernel, |_| ());
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_launch(
    stream: *mut Stream,
    kernel: *const Kernel,
    grid: *const CGrid,
    args: *const *const c_void,
    num_args: u32,
) -> c_int {
    // SAFETY: as the header says.
    call(|| unsafe {
        let &CGrid { blocks, threads, shared_bytes, waits, barrier } = borrow(grid, "the grid")?;
        let grid = Grid { blocks, threads, shared_bytes, waits: waits != 0, barrier: barrier != 0 };
        let args = match num_args {
            0 => &[],
            MOST_ARGS.. => return Err(invalid(format!("{num_args} arguments are more than a kernel takes"))),
            _ => std::slice::from_raw_parts(borrow(args, "the list of arguments")?, num_args as usize),
        };
        if let Some(index) = args.iter().position(|arg| arg.is_null()) {
            return Err(invalid(format!("the pointer to argument {index} is null")));
        }
        find(stream, "the stream")?.launch_with(&*find(kernel, "the kernel")?, &grid, args)
    })
}
