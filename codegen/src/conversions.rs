//! Functions that LLVM's code generator calls where a processor lacks an instruction. libgcc has them from version 13
//! on; Debian 12 has an older one.

use half::{bf16, f16};
use std::ffi::CStr;

/// Name and address of each.
pub fn symbols() -> [(&'static CStr, usize); 3] {
    [
        (c"__truncsfbf2", to_bf16 as *const () as usize),
        (c"__truncdfbf2", double_to_bf16 as *const () as usize),
        (c"__truncdfhf2", double_to_f16 as *const () as usize),
    ]
}

// The result is in the lower half of a register for an f32.

extern "C" fn to_bf16(value: f32) -> f32 {
    f32::from_bits(bf16::from_f32(value).to_bits().into())
}

extern "C" fn double_to_bf16(value: f64) -> f32 {
    f32::from_bits(bf16::from_f64(value).to_bits().into())
}

extern "C" fn double_to_f16(value: f64) -> f32 {
    f32::from_bits(f16::from_f64(value).to_bits().into())
}
