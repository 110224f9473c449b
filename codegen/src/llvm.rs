//! The LLVM side: translation, LLVM's own passes, text and objects.

use crate::Error;
use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine};
use melior::ir::Module;
use mlir_sys::MlirOperation;
use std::mem::ManuallyDrop;

/// How much LLVM optimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Not at all.
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
        let (cpu, features) = (TargetMachine::get_host_cpu_name(), TargetMachine::get_host_cpu_features());
        for function in self.module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
            for (key, value) in [("target-cpu", &cpu), ("target-features", &features)] {
                let attribute = self.context.create_string_attribute(key, &value.to_string());
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

    /// A relocatable object for this machine.
    ///
    /// # Errors
    /// [`Error::Llvm`] if code generation fails.
    pub fn object(&self, level: Level) -> Result<Vec<u8>, Error> {
        let object = host(level)?.write_to_memory_buffer(&self.module, FileType::Object);
        object.map(|buffer| buffer.as_slice().to_vec()).map_err(|error| Error::Llvm(error.to_string()))
    }
}

/// The code generator for this machine.
fn host(level: Level) -> Result<TargetMachine, Error> {
    Target::initialize_native(&InitializationConfig::default()).map_err(Error::Llvm)?;
    let triple = TargetMachine::get_default_triple();
    let target = Target::from_triple(&triple).map_err(|error| Error::Llvm(error.to_string()))?;
    let (cpu, features) = (TargetMachine::get_host_cpu_name(), TargetMachine::get_host_cpu_features());
    target
        .create_target_machine(
            &triple,
            &cpu.to_string(),
            &features.to_string(),
            level.codegen(),
            RelocMode::PIC,
            CodeModel::Default,
        )
        .ok_or_else(|| Error::Llvm(format!("no code generator for {triple}")))
}
