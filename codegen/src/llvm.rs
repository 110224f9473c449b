//! The LLVM side: translation, LLVM's own passes, text and objects.

use crate::Error;
use inkwell::OptimizationLevel;
use inkwell::basic_block::BasicBlock;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Linkage;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine};
use inkwell::values::FunctionValue;
use melior::ir::Module;
use mlir_sys::MlirOperation;
use std::mem::ManuallyDrop;

/// From this many instructions in one block on, code is generated without optimisation: LLVM's scheduler and its
/// two-address pass would take longer than a second.
const MOST_INSTRUCTIONS: usize = 8192;

/// How much LLVM optimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// No optimisation.
    O0,
    /// Little.
    O1,
    /// The usual.
    O2,
    /// Aggressively.
    O3,
}

impl Level {
    pub(crate) fn codegen(self) -> OptimizationLevel {
        match self {
            Self::O0 => OptimizationLevel::None,
            Self::O1 => OptimizationLevel::Less,
            Self::O2 => OptimizationLevel::Default,
            Self::O3 => OptimizationLevel::Aggressive,
        }
    }

    fn passes(self) -> &'static str {
        match self {
            Self::O0 => "default<O0>",
            Self::O1 => "default<O1>",
            Self::O2 => "default<O2>",
            Self::O3 => "default<O3>",
        }
    }
}

/// A module of LLVM IR for this machine, with the context it lives in.
pub struct LlvmModule {
    // Dropped by hand: the module before its context.
    pub(crate) module: ManuallyDrop<inkwell::module::Module<'static>>,
    context: ManuallyDrop<Context>,
}

impl Drop for LlvmModule {
    fn drop(&mut self) {
        // SAFETY: dropped once, here, in the order in which one borrows from the other.
        unsafe {
            ManuallyDrop::drop(&mut self.module);
            ManuallyDrop::drop(&mut self.context);
        }
    }
}

/// Translates a module that holds nothing but the LLVM dialect.
///
/// # Errors
/// [`Error::Translate`] if something else is left, [`Error::Llvm`] if LLVM finds the result invalid.
pub fn translate(module: &Module) -> Result<LlvmModule, Error> {
    module_of(module.as_operation().to_raw())
}

/// Translates an operation that holds nothing but the LLVM dialect: a module or a `gpu.module`.
pub(crate) fn module_of(operation: MlirOperation) -> Result<LlvmModule, Error> {
    // SAFETY: the context is new and owned by the result; the translation returns a module in it or null.
    let translated = unsafe {
        let context = llvm_sys::core::LLVMContextCreate();
        let raw = mlir_sys::mlirTranslateModuleToLLVMIR(operation, context.cast());
        let context = Context::new(context);
        if raw.is_null() {
            return Err(Error::Translate);
        }
        let module = inkwell::module::Module::new(raw.cast());
        LlvmModule { module: ManuallyDrop::new(module), context: ManuallyDrop::new(context) }
    };
    translated.module.verify().map_err(|error| Error::Llvm(error.to_string()))?;
    Ok(translated)
}

impl LlvmModule {
    /// Adds the functions of another module, as bitcode.
    pub(crate) fn link(&self, bitcode: &[u8]) -> Result<(), Error> {
        let other = read(&self.context, bitcode)?;
        other.set_data_layout(&self.module.get_data_layout());
        // SAFETY: it becomes a part of a module of the same context.
        let other =
            unsafe { std::mem::transmute::<inkwell::module::Module<'_>, inkwell::module::Module<'static>>(other) };
        self.module.link_in_module(other).map_err(|error| Error::Llvm(error.to_string()))
    }

    /// LLVM IR as text.
    #[must_use]
    pub fn text(&self) -> String {
        self.module.print_to_string().to_string()
    }

    /// Sets this machine as the target and runs LLVM's passes.
    ///
    /// # Errors
    /// [`Error::Llvm`] if there is no code generator for this machine or a pass fails.
    pub fn optimize(&self, level: Level) -> Result<(), Error> {
        let machine = host(level)?;
        // The JIT takes the processor from the functions, not from the machine it was optimised for.
        let (cpu, features) = (TargetMachine::get_host_cpu_name(), host_features());
        for function in self.module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
            for (key, value) in [("target-cpu", cpu.to_string_lossy()), ("target-features", features.as_str().into())] {
                let attribute = self.context.create_string_attribute(key, &value);
                function.add_attribute(inkwell::attributes::AttributeLoc::Function, attribute);
            }
        }
        self.optimize_for(&machine, level)
    }

    /// Sets the target and runs LLVM's passes.
    pub(crate) fn optimize_for(&self, machine: &TargetMachine, level: Level) -> Result<(), Error> {
        self.module.set_triple(&machine.get_triple());
        self.module.set_data_layout(&machine.get_target_data().get_data_layout());
        let options = PassBuilderOptions::create();
        self.module.run_passes(level.passes(), machine, options).map_err(|error| Error::Llvm(error.to_string()))
    }

    /// Makes all functions but one internal: unused ones are not compiled, and those inlined everywhere are not
    /// compiled again.
    pub fn keep_only(&self, entry: &str) {
        for function in self.module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
            if function.get_name().to_bytes() != entry.as_bytes() {
                function.set_linkage(Linkage::Internal);
            }
        }
    }

    /// The code generator's default level: much of its work is quadratic in a block's instructions.
    #[must_use]
    pub fn affordable(&self, level: Level) -> Level {
        let blocks = self.module.get_functions().flat_map(FunctionValue::get_basic_block_iter);
        let is_huge = |block: BasicBlock| block.get_instructions().nth(MOST_INSTRUCTIONS).is_some();
        if blocks.into_iter().any(is_huge) { Level::O0 } else { level }
    }

    /// A relocatable object for this machine.
    ///
    /// # Errors
    /// [`Error::Llvm`] if code generation fails.
    pub fn object(&self, level: Level) -> Result<Vec<u8>, Error> {
        let object = host(level)?.write_to_memory_buffer(&self.module, FileType::Object);
        object.map(|buffer| buffer.as_slice().to_vec()).map_err(|error| Error::Llvm(error.to_string()))
    }
}

/// A module from bitcode, without what debuggers need.
fn read<'c>(context: &'c Context, bitcode: &[u8]) -> Result<inkwell::module::Module<'c>, Error> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "bitcode");
    let module = inkwell::module::Module::parse_bitcode_from_buffer(&buffer, context);
    let module = module.map_err(|error| Error::Llvm(error.to_string()))?;
    module.strip_debug_info();
    Ok(module)
}

/// The code generator for this machine.
fn host(level: Level) -> Result<TargetMachine, Error> {
    Target::initialize_native(&InitializationConfig::default()).map_err(Error::Llvm)?;
    let triple = TargetMachine::get_default_triple();
    let target = Target::from_triple(&triple).map_err(|error| Error::Llvm(error.to_string()))?;
    let cpu = TargetMachine::get_host_cpu_name();
    target
        .create_target_machine(
            &triple,
            &cpu.to_string(),
            &host_features(),
            level.codegen(),
            RelocMode::PIC,
            CodeModel::Default,
        )
        .ok_or_else(|| Error::Llvm(format!("no code generator for {triple}")))
}

/// What this machine's processor can do, without its instructions for bf16: they take the smallest values for zero,
/// which no GPU does, and LLVM 22 ends the process on vectors of 9, 17, 33, … elements of bf16 where it may use them.
fn host_features() -> String {
    let features = TargetMachine::get_host_cpu_features();
    let features = features.to_string_lossy();
    features.replace("+avx512bf16", "-avx512bf16").replace("+avxneconvert", "-avxneconvert")
}
