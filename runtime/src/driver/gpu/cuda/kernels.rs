//! Code and launches through NVIDIA's driver.

use std::ffi::{CStr, c_void};
use std::ptr;

use cudarc::driver::sys;
use cudarc::driver::sys::CUresult;

use super::super::api::{Function, Kernels, Module, Start, Stream};
use super::code::{self, allow_shared};
use super::{Cuda, check};
use crate::error::Error;

impl Kernels for Cuda {
    fn barrier_code(&self) -> Option<&'static [u8]> {
        Some(include_bytes!("../barrier.ptx"))
    }

    fn load(&self, image: &[u8]) -> Result<Module, Error> {
        code::load(image).map(|module| Module(module as usize))
    }

    fn unload(&self, module: Module) {
        // SAFETY: from `load`, and no kernel of it runs any more.
        unsafe { sys::cuModuleUnload(module.0 as sys::CUmodule) };
    }

    fn function(&self, module: Module, name: &CStr) -> Result<Function, Error> {
        let mut function = ptr::null_mut();
        // SAFETY: the module is loaded; the driver stores a function.
        let found = unsafe { sys::cuModuleGetFunction(&raw mut function, module.0 as sys::CUmodule, name.as_ptr()) };
        check(found, &format!("find kernel {}", name.to_string_lossy()))?;
        code::finish_loading(function, self.version)?;
        Ok(Function(function as usize))
    }

    fn global(&self, module: Module, name: &CStr) -> Option<(u64, usize)> {
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded; the driver stores an address and a size.
        let found = unsafe {
            sys::cuModuleGetGlobal_v2(&raw mut address, &raw mut bytes, module.0 as sys::CUmodule, name.as_ptr())
        };
        (found == CUresult::CUDA_SUCCESS).then_some((address, bytes))
    }

    fn most_threads(&self, function: Function) -> Result<(u32, u32), Error> {
        use sys::CUfunction_attribute::{CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_NUM_REGS};
        let attribute = |which| code::attribute(function.0 as sys::CUfunction, which, "ask how large blocks may be");
        Ok((attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?, attribute(CU_FUNC_ATTRIBUTE_NUM_REGS)?))
    }

    fn resident_blocks(&self, function: Function, threads: u32, shared: u32) -> Result<u32, Error> {
        let (function, mut blocks) = (function.0 as sys::CUfunction, 0);
        allow_shared(function, shared)?;
        let threads = threads.cast_signed();
        // SAFETY: the function is loaded; the driver stores a number.
        let asked = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, function, threads, shared as usize)
        };
        check(asked, "ask how many blocks fit")?;
        Ok(blocks.cast_unsigned())
    }

    unsafe fn launch(&self, start: &Start, args: &mut [*mut c_void], stream: Stream) -> Result<(), Error> {
        let (function, stream) = (start.function.0 as sys::CUfunction, stream.0 as sys::CUstream);
        let ([gx, gy, gz], [bx, by, bz]) = (start.grid, start.block);
        let args = args.as_mut_ptr();
        allow_shared(function, start.shared)?;
        // SAFETY: the caller's promise.
        let launched = unsafe {
            if start.cooperative {
                sys::cuLaunchCooperativeKernel(function, gx, gy, gz, bx, by, bz, start.shared, stream, args)
            } else {
                sys::cuLaunchKernel(function, gx, gy, gz, bx, by, bz, start.shared, stream, args, ptr::null_mut())
            }
        };
        check(launched, "launch a kernel")
    }
}

#[cfg(test)]
mod tests {
    use symm_abi::WORD_BYTES;
    use symm_abi::heap::BARRIER_WORDS;
    use symm_abi::table::{HEADER_WORDS, NUM_RANKS, RANK};

    #[test]
    fn the_barriers_code_knows_the_table_and_the_reserved_words() {
        let code = include_str!("../barrier.ptx");
        assert_eq!(RANK, 0);
        for part in [
            "ld.global.u64 %me, [%ctx];".to_owned(),
            format!("ld.global.u64 %ranks, [%ctx+{}];", WORD_BYTES * NUM_RANKS),
            format!("mov.u64 %at, {BARRIER_WORDS};"),
            format!("ld.global.u64 %own, [%own+{}];", WORD_BYTES * HEADER_WORDS),
            format!("ld.global.u64 %peer, [%peer+{}];", WORD_BYTES * HEADER_WORDS),
        ] {
            assert!(code.contains(&part), "barrier.ptx does not say {part}");
        }
    }
}
