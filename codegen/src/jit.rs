//! Code in this process.

use crate::{Error, Level, LlvmModule, conversions};
use inkwell::execution_engine::ExecutionEngine;
use std::ffi::c_void;

/// A module compiled into this process.
pub struct Jit {
    // Before the module: the engine owns the code, the module the context that it was made in.
    engine: ExecutionEngine<'static>,
    module: LlvmModule,
}

impl Jit {
    /// Compiles a module and resolves what it calls: first from `symbols` (name and address), then from this process.
    ///
    /// # Errors
    /// [`Error::UndefinedSymbol`] if a function is found in neither, [`Error::Llvm`] if code generation fails.
    pub fn new(module: LlvmModule, level: Level, symbols: &[(&str, usize)]) -> Result<Self, Error> {
        for (name, address) in conversions::symbols() {
            // SAFETY: the name is copied, and a function stays where it is.
            unsafe { llvm_sys::support::LLVMAddSymbol(name.as_ptr(), address as *mut c_void) };
        }
        let engine = module
            .module
            .create_jit_execution_engine(level.codegen())
            .map_err(|error| Error::Llvm(error.to_string()))?;
        for function in module.module.get_functions().filter(|function| function.count_basic_blocks() == 0) {
            let name = function.get_name().to_string_lossy();
            if name.starts_with("llvm.") {
                continue;
            }
            match symbols.iter().find(|(symbol, _)| *symbol == name) {
                Some((_, address)) => engine.add_global_mapping(&function, *address),
                None if is_in_process(&name) => {}
                None => return Err(Error::UndefinedSymbol { symbol: name.into_owned(), place: String::new() }),
            }
        }
        Ok(Self { engine, module })
    }

    /// The address of a function of the module, compiled now if it has not been; `None` if there is none.
    #[must_use]
    pub fn address(&self, name: &str) -> Option<usize> {
        self.module.module.get_function(name)?;
        self.engine.get_function_address(name).ok()
    }
}

/// Whether the dynamic linker of this process knows a function (libc's and libm's).
fn is_in_process(name: &str) -> bool {
    let Ok(name) = std::ffi::CString::new(name) else { return false };
    // SAFETY: a lookup by name among the loaded libraries.
    !unsafe { llvm_sys::support::LLVMSearchForAddressOfSymbol(name.as_ptr()) }.is_null()
}
