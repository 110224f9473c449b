//! Code for GPUs: LLVM IR, PTX, AMD assembly and HSACO from a module whose kernels have been lowered.

use crate::llvm::module_of;
use crate::{DeviceLibrary, Error, Level, LlvmModule, convergent};
use inkwell::module::Linkage;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple};
use inkwell::types::AnyTypeEnum;
use inkwell::values::{AsValueRef, BasicValue};
use melior::ir::attribute::StringAttribute;
use melior::ir::operation::{OperationLike, OperationMutLike, OperationRefMut, WalkOrder, WalkResult};
use melior::ir::{BlockLike, Module, OperationRef};
use std::process::Command;
use symm_dialect::diagnostic::{Severity, report};
use symm_dialect::symbol::symbol;

/// LLVM's numbers for kernels' calling conventions.
const PTX_KERNEL: u32 = 71;
const AMDGPU_KERNEL: u32 = 91;

/// A GPU to compile for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gpu {
    /// An NVIDIA GPU: `sm_90`.
    Nvidia(String),
    /// An AMD GPU: `gfx942`.
    Amd(String),
}

impl Gpu {
    /// The GPU with this name.
    ///
    /// # Errors
    /// [`Error::UnknownChip`] if no pass lowers to it.
    pub fn new(chip: &str) -> Result<Self, Error> {
        let nvidia = symm_passes::NVIDIA_CHIPS;
        let amd = symm_passes::AMD_CHIPS;
        if nvidia.contains(&chip) {
            return Ok(Self::Nvidia(chip.into()));
        }
        if amd.contains(&chip) {
            return Ok(Self::Amd(chip.into()));
        }
        Err(Error::UnknownChip { chip: chip.into(), known: [nvidia, amd].concat().join(", ") })
    }

    /// The NVIDIA GPUs that symm lowers to.
    #[must_use]
    pub fn nvidia_chips() -> &'static [&'static str] {
        symm_passes::NVIDIA_CHIPS
    }

    /// The pipeline that lowers a program's kernels for this GPU.
    #[must_use]
    pub fn pipeline(&self) -> String {
        self.pipeline_with("")
    }

    /// The same with more of the pipeline's options, such as `strict=true`.
    #[must_use]
    pub fn pipeline_with(&self, options: &str) -> String {
        let space = if options.is_empty() { "" } else { " " };
        match self {
            Self::Nvidia(chip) => format!("symm-nvvm{{chip={chip}{space}{options}}}"),
            Self::Amd(chip) => format!("symm-rocdl{{chip={chip}{space}{options}}}"),
        }
    }

    /// LLVM's code generator for this GPU.
    fn machine(&self, level: Level) -> Result<TargetMachine, Error> {
        self.machine_with(level, OLDEST_PTX)
    }

    /// The same for code that needs this version of PTX.
    fn machine_with(&self, level: Level, ptx: &'static str) -> Result<TargetMachine, Error> {
        let (triple, chip, features) = match self {
            Self::Nvidia(chip) => {
                Target::initialize_nvptx(&InitializationConfig::default());
                ("nvptx64-nvidia-cuda", chip, ptx_version(chip, ptx))
            }
            Self::Amd(chip) => {
                Target::initialize_amd_gpu(&InitializationConfig::default());
                ("amdgcn-amd-amdhsa", chip, "")
            }
        };
        let triple = TargetTriple::create(triple);
        let target = Target::from_triple(&triple).map_err(|error| Error::Llvm(error.to_string()))?;
        target
            .create_target_machine(&triple, chip, features, level.codegen(), RelocMode::PIC, CodeModel::Default)
            .ok_or_else(|| Error::Llvm(format!("no code generator for {chip}")))
    }
}

/// The oldest PTX that knows a chip and its atomics; drivers of CUDA 12 take it where the chip allows.
fn ptx_version(chip: &str, needed: &'static str) -> &'static str {
    match chip {
        "sm_103" | "sm_103a" | "sm_121" | "sm_121a" => "+ptx88",
        "sm_110" | "sm_110a" => "+ptx90",
        "sm_120" | "sm_120a" => "+ptx87",
        "sm_100" | "sm_100a" => "+ptx86",
        _ => needed,
    }
}

/// The PTX of what symm itself makes.
const OLDEST_PTX: &str = "+ptx80";

/// What assembly in an engine's code needs newer PTX for; NVSHMEM 3.8 has all of it.
const NEWER_PTX: [(&str, &str); 3] = [("fence.acquire", "+ptx86"), ("fence.release", "+ptx86"), (".mmio", "+ptx82")];

/// The PTX that code needs.
fn needed_ptx(llvm: &LlvmModule) -> &'static str {
    if !DeviceLibrary::is_linked(llvm) {
        return OLDEST_PTX;
    }
    let text = llvm.text();
    NEWER_PTX.iter().find(|(instruction, _)| text.contains(instruction)).map_or(OLDEST_PTX, |(_, version)| version)
}

/// Translates the kernels of a module that a device pipeline has lowered, and optimises them, with the engine's device
/// library where they call it.
///
/// # Errors
/// [`Error::NoDeviceLibrary`]; [`Error::NoKernels`] if the module has no `gpu.module`, or more than one;
/// [`Error::NotLowered`] if they are not lowered for this GPU; [`Error::Translate`] and [`Error::Llvm`] as in
/// [`crate::translate`].
pub fn translate_device(
    module: &Module,
    gpu: &Gpu,
    level: Level,
    library: Option<&DeviceLibrary>,
) -> Result<LlvmModule, Error> {
    let found = gpu_modules(module);
    if let [kernels] = found[..] {
        return translate_kernels(kernels, gpu, level, library);
    }
    Err(Error::NoKernels { found: found.into_iter().filter_map(symbol).collect() })
}

/// The same for each `gpu.module` of a module, by name; there may be none.
///
/// # Errors
/// [`Error::NotLowered`], and as in [`crate::translate`].
pub fn translate_devices(
    module: &Module,
    gpu: &Gpu,
    level: Level,
    library: Option<&DeviceLibrary>,
) -> Result<Vec<(String, LlvmModule)>, Error> {
    let named = |kernels| Ok((symbol(kernels).unwrap_or_default(), translate_kernels(kernels, gpu, level, library)?));
    gpu_modules(module).into_iter().map(named).collect()
}

fn translate_kernels(
    kernels: OperationRef,
    gpu: &Gpu,
    level: Level,
    library: Option<&DeviceLibrary>,
) -> Result<LlvmModule, Error> {
    ensure_lowered(kernels, gpu)?;
    let machine = gpu.machine(level)?;
    describe(kernels, &machine);
    let llvm = module_of(kernels.to_raw())?;
    DeviceLibrary::link_into(library, &llvm)?;
    if matches!(gpu, Gpu::Nvidia(_)) {
        declare_dynamic_shared(&llvm);
    }
    for function in llvm.module.get_functions() {
        // Only kernels are called from outside; a function inlined everywhere is not compiled again.
        let is_kernel = [PTX_KERNEL, AMDGPU_KERNEL].contains(&function.get_call_conventions());
        if function.count_basic_blocks() > 0 && !is_kernel {
            function.set_linkage(Linkage::Internal);
        }
    }
    convergent::mark(&llvm);
    llvm.optimize_for(&machine, level)?;
    Ok(llvm)
}

/// Turns MLIR's dynamic shared memory into what CUDA calls `extern __shared__`: a variable without a definition. As the
/// empty one that MLIR defines it takes one byte among the static ones, and lies on those that follow.
fn declare_dynamic_shared(llvm: &LlvmModule) {
    for variable in llvm.module.get_globals() {
        let is_dynamic = variable.get_name().to_string_lossy().starts_with("__dynamic_shmem__");
        if is_dynamic && matches!(variable.get_value_type(), AnyTypeEnum::ArrayType(array) if array.is_empty()) {
            // SAFETY: a variable may be without an initial value, which inkwell can't say.
            unsafe { llvm_sys::core::LLVMSetInitializer(variable.as_value_ref(), std::ptr::null_mut()) };
            variable.set_linkage(Linkage::External);
        }
    }
}

/// Checks that a pipeline has lowered the kernels for this kind of GPU: LLVM ends the process on another's.
fn ensure_lowered(kernels: OperationRef, gpu: &Gpu) -> Result<(), Error> {
    let (mine, mark, other, others) = match gpu {
        Gpu::Nvidia(_) => ("nvvm", "rocdl.kernel", "rocdl", "an AMD GPU"),
        Gpu::Amd(_) => ("rocdl", "nvvm.kernel", "nvvm", "an NVIDIA GPU"),
    };
    let mut is_lowered = true;
    kernels.walk(WalkOrder::PreOrder, |op| {
        let name = op.name();
        let dialect = name.as_string_ref().as_str().unwrap_or_default().split('.').next().unwrap_or_default();
        let is_foreign = dialect == other || op.has_attribute(mark);
        if !is_foreign && (dialect == "llvm" || dialect == mine || op == kernels) {
            return WalkResult::Advance;
        }
        let complaint = if is_foreign { format!("is for {others}") } else { "is not lowered for a GPU".to_owned() };
        report(Severity::Error, op, &complaint);
        is_lowered = false;
        WalkResult::Interrupt
    });
    if is_lowered {
        return Ok(());
    }
    let (Gpu::Nvidia(chip) | Gpu::Amd(chip)) = gpu;
    Err(Error::NotLowered { chip: chip.clone(), pipeline: gpu.pipeline() })
}

/// Sets the target's data layout before the translation, which aligns accesses by it: LLVM's default layout aligns
/// i64 to 4 bytes, and an access of 8 bytes would be torn into two.
fn describe(kernels: OperationRef, machine: &TargetMachine) {
    let layout = machine.get_target_data().get_data_layout();
    let context = symm_dialect::context(kernels.context());
    let layout = StringAttribute::new(context, &layout.as_str().to_string_lossy());
    // SAFETY: the attribute belongs to the context of the operation, which nobody else changes meanwhile.
    let mut kernels = unsafe { OperationRefMut::from_raw(kernels.to_raw()) };
    kernels.set_attribute("llvm.data_layout", layout.into());
}

/// Functions that ptxas and the CUDA driver define.
const DEFINED_BY_CUDA: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// Checks that everything that kernels call is defined.
fn ensure_defined(llvm: &LlvmModule, gpu: &Gpu) -> Result<(), Error> {
    for function in llvm.module.get_functions() {
        let symbol = function.get_name().to_string_lossy();
        let is_called = function.as_global_value().as_pointer_value().get_first_use().is_some();
        let is_known =
            symbol.starts_with("llvm.") || matches!(gpu, Gpu::Nvidia(_)) && DEFINED_BY_CUDA.contains(&symbol.as_ref());
        if function.count_basic_blocks() == 0 && is_called && !is_known {
            return Err(Error::UndefinedOnDevice { symbol: symbol.into_owned() });
        }
    }
    Ok(())
}

/// PTX, or AMD assembly.
///
/// # Errors
/// [`Error::UndefinedOnDevice`] if a kernel calls what nothing defines, [`Error::Llvm`] if code generation fails.
pub fn assembly(llvm: &LlvmModule, gpu: &Gpu, level: Level) -> Result<String, Error> {
    ensure_defined(llvm, gpu)?;
    let machine = gpu.machine_with(level, needed_ptx(llvm))?;
    let text = machine.write_to_memory_buffer(&llvm.module, FileType::Assembly);
    let text = text.map_err(|error| Error::Llvm(error.to_string()))?;
    Ok(String::from_utf8_lossy(text.as_slice()).trim_end_matches('\0').to_owned())
}

/// A linked AMD code object.
///
/// # Errors
/// [`Error::MissingLinker`] if there is no `ld.lld`, [`Error::Link`] if it fails, [`Error::NotAmd`] for another GPU,
/// and as [`assembly`].
pub fn hsaco(llvm: &LlvmModule, gpu: &Gpu, level: Level) -> Result<Vec<u8>, Error> {
    let Gpu::Amd(chip) = gpu else { return Err(Error::NotAmd) };
    ensure_defined(llvm, gpu)?;
    let object = gpu.machine(level)?.write_to_memory_buffer(&llvm.module, FileType::Object);
    let object = object.map_err(|error| Error::Llvm(error.to_string()))?;
    let directory = tempfile::tempdir().map_err(Error::Link)?;
    let (input, output) = (directory.path().join("kernels.o"), directory.path().join("kernels.hsaco"));
    std::fs::write(&input, object.as_slice()).map_err(Error::Link)?;
    let lld = lld();
    let linked = Command::new(&lld).args(["-shared", "--no-undefined"]).arg(&input).arg("-o").arg(&output).output();
    let linked = linked.map_err(|source| Error::MissingLinker { linker: lld.clone(), source })?;
    if !linked.status.success() {
        let message = String::from_utf8_lossy(&linked.stderr).trim().to_owned();
        return Err(Error::Llvm(format!("{lld} could not link the kernels for {chip}: {message}")));
    }
    std::fs::read(&output).map_err(Error::Link)
}

/// lld: what `SYMM_LLD` names, or the one beside the LLVM that this was built with, or the first on the path.
fn lld() -> String {
    if let Some(named) = std::env::var("SYMM_LLD").ok().filter(|named| !named.is_empty()) {
        return named;
    }
    let beside = concat!(env!("MLIR_SYS_220_PREFIX"), "/bin/ld.lld");
    if std::path::Path::new(beside).exists() { beside.into() } else { "ld.lld".into() }
}

/// Every `gpu.module` of a module.
fn gpu_modules<'c, 'a>(module: &'a Module<'c>) -> Vec<OperationRef<'c, 'a>> {
    let mut found = Vec::new();
    let mut next = module.body().first_operation();
    while let Some(op) = next {
        next = op.next_in_block();
        if op.name().as_string_ref().as_str() == Ok(symm_passes::GPU_MODULE) {
            found.push(op);
        }
    }
    found
}
