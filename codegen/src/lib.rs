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

mod convergent;
mod conversions;
mod device;
mod error;
mod frontend;
mod jit;
mod llvm;
mod signature;
mod source;

pub use device::{Device, assembly, hsaco, translate_device, translate_devices};
pub use error::Error;
pub use frontend::{Frontend, copy_of, declared};
pub use jit::Jit;
pub use llvm::{Level, LlvmModule, translate};
pub use melior::ir::Module;
pub use signature::{Argument, ArgumentType, Element, Output, Signature};
pub use source::Source;
