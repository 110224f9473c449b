//! A module of LLVM IR, read, linked, made smaller and written.

mod transports;

pub use transports::TRANSPORT_STATES;

use crate::Error;
use llvm_sys::LLVMLinkage;
use llvm_sys::bit_reader::LLVMParseBitcodeInContext2;
use llvm_sys::bit_writer::LLVMWriteBitcodeToMemoryBuffer;
use llvm_sys::core as llvm;
use llvm_sys::debuginfo::LLVMStripModuleDebugInfo;
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMContextRef, LLVMModuleRef, LLVMValueRef};
use std::collections::HashSet;
use std::ptr;

/// What would say that a function is for another GPU than the kernel, and keep it from being inlined there.
const TARGETS: [&str; 3] = ["target-cpu", "target-features", "frame-pointer"];

/// What LLVM 22 says of an intrinsic and the one that Triton 3.6 is made with, of a few months before, cannot read.
const TOO_NEW: &str = "nocreateundeforpoison";

/// What keeps a function a function of its own, and what would have it inlined.
const APART: [&str; 2] = ["noinline", "cold"];
const INLINED: &str = "alwaysinline";

/// LLVM's number for the attributes of a function itself.
const FUNCTION: u32 = u32::MAX;

/// A module and its context.
pub struct Library {
    context: LLVMContextRef,
    module: LLVMModuleRef,
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: both are this value's own; the module goes before its context.
        unsafe {
            llvm::LLVMDisposeModule(self.module);
            llvm::LLVMContextDispose(self.context);
        }
    }
}

/// Reads a module without what debuggers need.
fn read(context: LLVMContextRef, bitcode: &[u8]) -> Result<LLVMModuleRef, Error> {
    // SAFETY: the buffer is a copy of the bytes; the reader does not keep it. It gives a module where it returns 0.
    unsafe {
        let buffer = llvm::LLVMCreateMemoryBufferWithMemoryRangeCopy(
            bitcode.as_ptr().cast(),
            bitcode.len(),
            c"bitcode".as_ptr(),
        );
        let mut module = ptr::null_mut();
        let failed = LLVMParseBitcodeInContext2(context, buffer, &raw mut module);
        llvm::LLVMDisposeMemoryBuffer(buffer);
        if failed != 0 {
            return Err(Error::Llvm("it is not bitcode of this version or an older one".into()));
        }
        LLVMStripModuleDebugInfo(module);
        Ok(module)
    }
}

/// What a module lists, from its first one on.
fn listed(first: LLVMValueRef, next: unsafe extern "C" fn(LLVMValueRef) -> LLVMValueRef) -> Vec<LLVMValueRef> {
    let following = |value: &LLVMValueRef| {
        // SAFETY: a value of a module that is still there.
        Some(unsafe { next(*value) }).filter(|value| !value.is_null())
    };
    std::iter::successors(Some(first).filter(|value| !value.is_null()), following).collect()
}

fn name(value: LLVMValueRef) -> Vec<u8> {
    let mut length = 0;
    // SAFETY: LLVM says how long the name of the value is, which it keeps.
    unsafe {
        let start = llvm::LLVMGetValueName2(value, &raw mut length);
        std::slice::from_raw_parts(start.cast(), length).to_vec()
    }
}

fn text(value: LLVMValueRef) -> String {
    String::from_utf8_lossy(&name(value)).into_owned()
}

/// The constants that a value or an instruction has as operands; functions and variables are such.
fn constants_of(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: a value of a module that is still there; what is no user of others has no operands.
    unsafe {
        if llvm::LLVMIsAUser(value).is_null() {
            return Vec::new();
        }
        let count = u32::try_from(llvm::LLVMGetNumOperands(value)).unwrap_or(0);
        let operands = (0..count).map(|index| llvm::LLVMGetOperand(value, index));
        operands.filter(|operand| !operand.is_null() && !llvm::LLVMIsAConstant(*operand).is_null()).collect()
    }
}

/// The blocks of a function; none of another value.
fn blocks(value: LLVMValueRef) -> Vec<LLVMBasicBlockRef> {
    // SAFETY: a value of a module that is still there, and its blocks.
    unsafe {
        if llvm::LLVMIsAFunction(value).is_null() {
            return Vec::new();
        }
        let first = Some(llvm::LLVMGetFirstBasicBlock(value)).filter(|block| !block.is_null());
        let next =
            |block: &LLVMBasicBlockRef| Some(llvm::LLVMGetNextBasicBlock(*block)).filter(|block| !block.is_null());
        std::iter::successors(first, next).collect()
    }
}

fn is_declared(value: LLVMValueRef) -> bool {
    // SAFETY: a global value of a module that is still there.
    unsafe { llvm::LLVMIsDeclaration(value) != 0 }
}

impl Library {
    /// A module from bitcode.
    pub fn new(bitcode: &[u8]) -> Result<Self, Error> {
        // SAFETY: the context is the result's own.
        let context = unsafe { llvm::LLVMContextCreate() };
        // SAFETY: LLVM passes what it complains of to a function, which does nothing; else it would end the process.
        unsafe { llvm::LLVMContextSetDiagnosticHandler(context, Some(ignore), ptr::null_mut()) };
        match read(context, bitcode) {
            Ok(module) => Ok(Self { context, module }),
            Err(error) => {
                // SAFETY: nothing is in it.
                unsafe { llvm::LLVMContextDispose(context) };
                Err(error)
            }
        }
    }

    /// Adds another module.
    pub fn link(&self, bitcode: &[u8]) -> Result<(), Error> {
        let other = read(self.context, bitcode)?;
        // SAFETY: both are of one context; linking takes the other one over.
        let failed = unsafe {
            llvm::LLVMSetDataLayout(other, llvm::LLVMGetDataLayoutStr(self.module));
            LLVMLinkModules2(self.module, other)
        };
        if failed == 0 { Ok(()) } else { Err(Error::Llvm("its functions have other types".into())) }
    }

    fn functions(&self) -> Vec<LLVMValueRef> {
        // SAFETY: the module is there.
        listed(unsafe { llvm::LLVMGetFirstFunction(self.module) }, llvm::LLVMGetNextFunction)
    }

    /// Makes what is defined internal, but for what has such a name; for no GPU in particular.
    pub fn keep(&self, is_kept: impl Fn(&[u8]) -> bool) {
        for value in self.functions().into_iter().chain(self.variables()) {
            if !is_declared(value) && !is_kept(&name(value)) {
                // SAFETY: a definition may be internal.
                unsafe { llvm::LLVMSetLinkage(value, LLVMLinkage::LLVMInternalLinkage) };
            }
        }
        // SAFETY: the name is as long as said.
        let too_new = unsafe { llvm::LLVMGetEnumAttributeKindForName(TOO_NEW.as_ptr().cast(), TOO_NEW.len()) };
        for function in self.functions() {
            // SAFETY: LLVM has given the number; a function may lack the attribute.
            unsafe { llvm::LLVMRemoveEnumAttributeAtIndex(function, FUNCTION, too_new) };
            for key in TARGETS {
                let length = u32::try_from(key.len()).unwrap_or(0);
                // SAFETY: the key is as long as said.
                unsafe { llvm::LLVMRemoveStringAttributeAtIndex(function, FUNCTION, key.as_ptr().cast(), length) };
            }
        }
    }

    /// Has definitions with such a name stay functions of their own, away from the code that calls them: then they take
    /// none of its registers.
    pub fn set_apart(&self, is_meant: impl Fn(&[u8]) -> bool) {
        for function in self.functions() {
            if is_declared(function) || !is_meant(&name(function)) {
                continue;
            }
            // SAFETY: the names are as long as said; a function may lack the attribute, or get it.
            unsafe {
                let kind = |name: &str| llvm::LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
                llvm::LLVMRemoveEnumAttributeAtIndex(function, FUNCTION, kind(INLINED));
                for apart in APART {
                    let attribute = llvm::LLVMCreateEnumAttribute(self.context, kind(apart), 0);
                    llvm::LLVMAddAttributeAtIndex(function, FUNCTION, attribute);
                }
            }
        }
    }

    /// Removes what nothing outside of the module can use, directly or through others.
    ///
    /// LLVM's pass for it would bring all of LLVM's passes into the Python package.
    pub fn drop_unused(&self) {
        let used = self.used();
        let is_unused = |value: &LLVMValueRef| !used.contains(value);
        for function in self.functions().into_iter().filter(is_unused) {
            // SAFETY: what uses it is removed, too; it is not looked at again.
            unsafe {
                llvm::LLVMReplaceAllUsesWith(function, llvm::LLVMGetPoison(llvm::LLVMTypeOf(function)));
                llvm::LLVMDeleteFunction(function);
            }
        }
        for variable in self.variables().into_iter().filter(is_unused) {
            // SAFETY: as above.
            unsafe {
                llvm::LLVMReplaceAllUsesWith(variable, llvm::LLVMGetPoison(llvm::LLVMTypeOf(variable)));
                llvm::LLVMDeleteGlobal(variable);
            }
        }
    }

    /// The values of the module that what is not internal uses, and they in turn.
    fn used(&self) -> HashSet<LLVMValueRef> {
        let is_root = |value: &LLVMValueRef| {
            // SAFETY: a global value of this module.
            !is_declared(*value) && unsafe { llvm::LLVMGetLinkage(*value) } != LLVMLinkage::LLVMInternalLinkage
        };
        // SAFETY: the module is there.
        let aliases = listed(unsafe { llvm::LLVMGetFirstGlobalAlias(self.module) }, llvm::LLVMGetNextGlobalAlias);
        let globals = self.functions().into_iter().chain(self.variables());
        let mut waiting: Vec<_> = globals.filter(is_root).chain(aliases).collect();
        let mut used = HashSet::new();
        while let Some(value) = waiting.pop() {
            if used.insert(value) {
                waiting.extend(constants_of(value));
                for block in blocks(value) {
                    // SAFETY: a block of a function of this module.
                    let first = unsafe { llvm::LLVMGetFirstInstruction(block) };
                    waiting.extend(listed(first, llvm::LLVMGetNextInstruction).into_iter().flat_map(constants_of));
                }
            }
        }
        used
    }

    fn variables(&self) -> Vec<LLVMValueRef> {
        // SAFETY: the module is there.
        listed(unsafe { llvm::LLVMGetFirstGlobal(self.module) }, llvm::LLVMGetNextGlobal)
    }

    /// The functions that are declared only.
    pub fn undefined(&self) -> Vec<String> {
        self.functions().into_iter().filter(|function| is_declared(*function)).map(text).collect()
    }

    /// The functions that are defined.
    pub fn defined(&self) -> HashSet<String> {
        self.functions().into_iter().filter(|function| !is_declared(*function)).map(text).collect()
    }

    /// The module as bitcode.
    pub fn bitcode(&self) -> Vec<u8> {
        // SAFETY: the buffer holds as many bytes as it says, and is freed once.
        unsafe {
            let buffer = LLVMWriteBitcodeToMemoryBuffer(self.module);
            let (start, size) = (llvm::LLVMGetBufferStart(buffer), llvm::LLVMGetBufferSize(buffer));
            let bytes = std::slice::from_raw_parts(start.cast(), size).to_vec();
            llvm::LLVMDisposeMemoryBuffer(buffer);
            bytes
        }
    }
}

extern "C" fn ignore(_: llvm_sys::prelude::LLVMDiagnosticInfoRef, _: *mut std::ffi::c_void) {}
