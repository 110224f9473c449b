//! Code and launches through AMD's library.

use std::ffi::{CStr, c_void};
use std::ptr;

use super::super::api::{Function, Kernels, Module, Start, Stream};
use super::{Hip, handle, library};
use crate::error::Error;

impl Kernels for Hip {
    fn barrier_code(&self) -> Option<&'static [u8]> {
        // A code object is for one chip, and this crate has no compiler.
        None
    }

    fn load(&self, image: &[u8]) -> Result<Module, Error> {
        let mut module = ptr::null_mut();
        // SAFETY: a code object says its own size; the library stores a module.
        let loaded = unsafe { (self.library.functions.module_load)(&raw mut module, image.as_ptr().cast()) };
        self.check(loaded, "load the kernels")?;
        Ok(Module(module as usize))
    }

    fn unload(&self, module: Module) {
        // SAFETY: from `load`, and no kernel of it runs any more.
        unsafe { (self.library.functions.module_unload)(handle(module.0)) };
    }

    fn function(&self, module: Module, name: &CStr) -> Result<Function, Error> {
        let mut function = ptr::null_mut();
        let module = handle(module.0);
        // SAFETY: the module is loaded; the library stores a function.
        let found = unsafe { (self.library.functions.module_function)(&raw mut function, module, name.as_ptr()) };
        self.check(found, &format!("find kernel {}", name.to_string_lossy()))?;
        Ok(Function(function as usize))
    }

    fn global(&self, module: Module, name: &CStr) -> Option<(u64, usize)> {
        let (mut start, mut bytes) = (ptr::null_mut(), 0);
        let module = handle(module.0);
        // SAFETY: the module is loaded; the library stores an address and a size.
        let found =
            unsafe { (self.library.functions.module_global)(&raw mut start, &raw mut bytes, module, name.as_ptr()) };
        (found == library::SUCCESS).then_some((start as u64, bytes))
    }

    fn most_threads(&self, function: Function) -> Result<(u32, u32), Error> {
        let attribute = |which| {
            let mut value = 0;
            // SAFETY: the function is loaded; the library stores a number.
            let asked =
                unsafe { (self.library.functions.function_attribute)(&raw mut value, which, handle(function.0)) };
            self.check(asked, "ask how large blocks may be").map(|()| value.cast_unsigned())
        };
        Ok((attribute(library::MAX_THREADS_PER_BLOCK)?, attribute(library::NUM_REGS)?))
    }

    fn resident_blocks(&self, function: Function, threads: u32, shared: u32) -> Result<u32, Error> {
        let (function, threads, mut blocks) = (handle(function.0), threads.cast_signed(), 0);
        // SAFETY: the function is loaded; the library stores a number.
        let asked = unsafe { (self.library.functions.occupancy)(&raw mut blocks, function, threads, shared as usize) };
        self.check(asked, "ask how many blocks fit")?;
        Ok(blocks.cast_unsigned())
    }

    unsafe fn launch(&self, start: &Start, args: &mut [*mut c_void], stream: Stream) -> Result<(), Error> {
        let (functions, function, stream) = (&self.library.functions, handle(start.function.0), handle(stream.0));
        let ([gx, gy, gz], [bx, by, bz]) = (start.grid, start.block);
        let args = args.as_mut_ptr();
        // SAFETY: the caller's promise.
        let launched = unsafe {
            if start.cooperative {
                (functions.launch_cooperative)(function, gx, gy, gz, bx, by, bz, start.shared, stream, args)
            } else {
                (functions.launch)(function, gx, gy, gz, bx, by, bz, start.shared, stream, args, ptr::null_mut())
            }
        };
        self.check(launched, "launch a kernel")
    }
}
