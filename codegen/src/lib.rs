//! From a program to machine code: parse, run a pipeline, translate to LLVM IR, optimise, and emit an object or
//! load the code into this process.
//!
//! ```no_run
//! # fn main() -> Result<(), symm_codegen::Error> {
//! let frontend = symm_codegen::Frontend::new();
//! let mut module = frontend.parse("program.mlir".as_ref())?;
//! frontend.run_pipeline(&mut module, "symm-cpu")?;
//! let llvm = symm_codegen::translate(&module)?;
//! println!("{}", llvm.text());
//! # Ok(())
//! # }
//! ```

// Unsafe code is allowed by name.
#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "what inkwell does not ask of a call")]
mod convergent;
mod conversions;
#[expect(unsafe_code, reason = "what inkwell and melior cannot change")]
mod device;
mod device_library;
mod engine;
mod error;
#[expect(unsafe_code, reason = "parsing with a name for the text")]
mod frontend;
#[expect(unsafe_code, reason = "addresses in this process")]
mod jit;
#[expect(unsafe_code, reason = "modules that pass between MLIR's and LLVM's C interfaces")]
mod llvm;
mod signature;
#[expect(unsafe_code, reason = "reading bytecode, which melior does not")]
mod source;

pub use device::{Gpu, assembly, hsaco, translate_device, translate_devices};
pub use device_library::DeviceLibrary;
pub use engine::{engine_of, ensure_engine};
pub use error::Error;
pub use frontend::{Frontend, copy_of, declared};
pub use jit::{Jit, ensure_defined};
pub use llvm::{Level, LlvmModule, translate};
pub use melior::ir::Module;
pub use signature::{Argument, ArgumentType, Element, Output, Signature};
pub use source::Source;
