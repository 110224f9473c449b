//! Code in this process.

use crate::{Error, Level, LlvmModule, conversions};
use inkwell::targets::{InitializationConfig, Target};
use llvm_sys::core::LLVMCreateMemoryBufferWithMemoryRangeCopy;
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use llvm_sys::orc2::lljit::{
    LLVMOrcCreateLLJIT, LLVMOrcDisposeLLJIT, LLVMOrcLLJITAddObjectFile, LLVMOrcLLJITGetExecutionSession,
    LLVMOrcLLJITGetMainJITDylib, LLVMOrcLLJITLookup, LLVMOrcLLJITMangleAndIntern, LLVMOrcLLJITRef,
};
use llvm_sys::orc2::{
    LLVMJITEvaluatedSymbol, LLVMJITSymbolFlags, LLVMJITSymbolGenericFlags, LLVMOrcAbsoluteSymbols,
    LLVMOrcCSymbolMapPair, LLVMOrcExecutionSessionSetErrorReporter, LLVMOrcJITDylibDefine,
};
use std::ffi::{CStr, CString, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An object loaded into this process.
pub struct Jit {
    engine: LLVMOrcLLJITRef,
    /// LLVM's errors while linking, which it reports apart from the call that fails. Declared after the engine, which
    /// writes to it.
    reports: Box<Reports>,
}

type Reports = Mutex<Vec<String>>;

impl Jit {
    /// Compiles a module and resolves what it calls: first from `symbols` (name and address), then from this process.
    ///
    /// # Errors
    /// [`Error::UndefinedSymbol`] if a function is found in neither, [`Error::Llvm`] if code generation fails.
    pub fn new(module: &LlvmModule, level: Level, symbols: &[(&str, usize)]) -> Result<Self, Error> {
        ensure_defined(module, symbols)?;
        Self::load(&module.object(level)?, symbols)
    }

    /// Loads an object that [`LlvmModule::object`] has made, here or in another process of this machine.
    ///
    /// # Errors
    /// [`Error::Llvm`] if it is no object for this machine.
    pub fn load(object: &[u8], symbols: &[(&str, usize)]) -> Result<Self, Error> {
        Target::initialize_native(&InitializationConfig::default()).map_err(Error::Llvm)?;
        let mut engine = std::ptr::null_mut();
        // SAFETY: without a builder the engine is for this process.
        taken(unsafe { LLVMOrcCreateLLJIT(&raw mut engine, std::ptr::null_mut()) })?;
        let jit = Self { engine, reports: Box::default() };
        let context = std::ptr::from_ref(&*jit.reports).cast_mut().cast();
        // SAFETY: the reports lie where they are until the engine is gone.
        unsafe { LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(engine), note, context) };
        jit.define(symbols)?;
        // SAFETY: the bytes are copied, and the engine takes the copy.
        taken(unsafe {
            let (start, length) = (object.as_ptr().cast(), object.len());
            let copy = LLVMCreateMemoryBufferWithMemoryRangeCopy(start, length, c"program".as_ptr());
            LLVMOrcLLJITAddObjectFile(engine, LLVMOrcLLJITGetMainJITDylib(engine), copy)
        })?;
        Ok(jit)
    }

    /// Defines symbols for functions of this process.
    fn define(&self, symbols: &[(&str, usize)]) -> Result<(), Error> {
        let conversions = conversions::symbols().map(|(name, address)| (name.to_owned(), address));
        let named = |(name, address): &(&str, usize)| Some((CString::new(*name).ok()?, *address));
        let pair = |(name, address): (CString, usize)| LLVMOrcCSymbolMapPair {
            // SAFETY: the name is copied.
            Name: unsafe { LLVMOrcLLJITMangleAndIntern(self.engine, name.as_ptr()) },
            Sym: LLVMJITEvaluatedSymbol { Address: address as u64, Flags: function() },
        };
        let mut pairs: Vec<_> = symbols.iter().filter_map(named).chain(conversions).map(pair).collect();
        // SAFETY: the list is copied, with the names that it holds; a function stays where it is.
        taken(unsafe {
            let symbols = LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len());
            LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(self.engine), symbols)
        })
    }

    /// The address of a function of the object, which is linked now if it has not been.
    ///
    /// # Errors
    /// [`Error::Llvm`] if there is none, or if it calls what neither the symbols nor this process have.
    pub fn address(&self, name: &str) -> Result<usize, Error> {
        let name = CString::new(name).map_err(|_| Error::Llvm(format!("'{name}' is no name of a function")))?;
        let mut address = 0;
        // SAFETY: the engine lives, and the name during the call.
        let found = taken(unsafe { LLVMOrcLLJITLookup(self.engine, &raw mut address, name.as_ptr()) });
        found.map_err(|error| match lock(&self.reports).join("; ") {
            reports if reports.is_empty() => error,
            reports => Error::Llvm(reports),
        })?;
        usize::try_from(address).map_err(|_| Error::Llvm(format!("{name:?} is not in this process's memory")))
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        // SAFETY: dropped once; nobody is left who could be told of an error.
        drop(taken(unsafe { LLVMOrcDisposeLLJIT(self.engine) }));
    }
}

/// Checks that what a module calls is in `symbols` or in this process.
///
/// # Errors
/// [`Error::UndefinedSymbol`] if a function is in neither.
pub fn ensure_defined(module: &LlvmModule, symbols: &[(&str, usize)]) -> Result<(), Error> {
    for function in module.module.get_functions().filter(|function| function.count_basic_blocks() == 0) {
        let name = function.get_name().to_string_lossy();
        let is_known = name.starts_with("llvm.") || symbols.iter().any(|(symbol, _)| *symbol == name);
        if !is_known && !is_in_process(&name) {
            return Err(Error::UndefinedSymbol { symbol: name.into_owned(), place: String::new() });
        }
    }
    Ok(())
}

/// Whether the dynamic linker of this process knows a function (libc's and libm's).
fn is_in_process(name: &str) -> bool {
    let Ok(name) = CString::new(name) else { return false };
    // SAFETY: without a name it is the loaded libraries that are looked through; a lookup by name among them.
    unsafe {
        llvm_sys::support::LLVMLoadLibraryPermanently(std::ptr::null());
        !llvm_sys::support::LLVMSearchForAddressOfSymbol(name.as_ptr()).is_null()
    }
}

fn function() -> LLVMJITSymbolFlags {
    use LLVMJITSymbolGenericFlags::{LLVMJITSymbolGenericFlagsCallable, LLVMJITSymbolGenericFlagsExported};
    let flags = LLVMJITSymbolGenericFlagsExported as u8 | LLVMJITSymbolGenericFlagsCallable as u8;
    LLVMJITSymbolFlags { GenericFlags: flags, TargetFlags: 0 }
}

/// LLVM calls it with errors while linking.
extern "C" fn note(reports: *mut c_void, error: LLVMErrorRef) {
    // SAFETY: LLVM is given the reports of an engine that lives.
    let reports = unsafe { &*reports.cast::<Reports>() };
    if let Err(error) = message(error) {
        lock(reports).push(error);
    }
}

fn lock(reports: &Reports) -> MutexGuard<'_, Vec<String>> {
    reports.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result of an LLVM call.
fn taken(error: LLVMErrorRef) -> Result<(), Error> {
    message(error).map_err(Error::Llvm)
}

fn message(error: LLVMErrorRef) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the error is taken by the call that makes a text of it, and the text is disposed of once.
    unsafe {
        let text = LLVMGetErrorMessage(error);
        let message = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(text);
        Err(message)
    }
}
