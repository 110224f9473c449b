//! From a program's file to its host function in this process, and its kernels for a GPU.

use crate::call::Entry;
use crate::image::Image;
use crate::options::{Driver, Options};
use anyhow::Context as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read as _;
use symm_codegen::{
    DeviceLibrary, Frontend, Level, Module, Signature, Source, assembly, declared, ensure_defined, ensure_engine,
    hsaco, translate, translate_devices,
};
use symm_dialect::{HeapLayout, set_engine, set_heap_layout, set_table_in_heap};
use symm_runtime::{Bootstrap, Device, DeviceCode, DeviceInfo, heap_stride, nvshmem};

/// A compiled program.
pub struct Compiled {
    /// The host function.
    pub entry: Entry,
    /// What it takes and returns.
    pub signature: Signature,
    /// What the kernels run on.
    pub device: Device,
}

/// A program as this process is given it.
pub enum Program {
    /// To be compiled.
    Source(Source),
    /// Compiled by the symm-run that has started this one as a rank.
    Compiled(Image),
}

impl Program {
    /// The program that the command line names.
    pub fn new(options: &Options) -> anyhow::Result<Self> {
        if !options.compiled {
            return Ok(Self::Source(Source::new(&options.file)?));
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("standard input")?;
        let image = Image::from_bytes(&bytes);
        Ok(Self::Compiled(image.context("standard input is no compiled program, which --compiled says that it is")?))
    }

    /// What tells one program from another, so that ranks started with different ones notice.
    pub fn fingerprint(&self) -> anyhow::Result<Vec<u8>> {
        Ok(match self {
            Self::Source(source) => fingerprint(&source.read()?),
            Self::Compiled(image) => image.fingerprint.clone(),
        })
    }

    /// Gives a rank what has to be the same on all. One that cannot read its program tells the others.
    pub fn give_terms(&self, options: &Options, bootstrap: &mut Bootstrap) -> anyhow::Result<()> {
        let read = self.fingerprint().inspect_err(|error| bootstrap.decline(&format!("{error:#}")));
        bootstrap.fingerprint = read?;
        bootstrap.options = options.of_the_program();
        Ok(())
    }
}

fn fingerprint(program: &[u8]) -> Vec<u8> {
    let mut hasher = DefaultHasher::new();
    program.hash(&mut hasher);
    hasher.finish().to_be_bytes().into()
}

/// What becomes of the compiler's diagnostics.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Diagnostics {
    /// They are shown.
    Shown,
    /// Another rank shows them.
    Elsewhere,
}

/// Compiles the program for this many ranks.
pub fn program(source: &Source, options: &Options, num_ranks: u32, diagnostics: Diagnostics) -> anyhow::Result<Image> {
    let frontend = match diagnostics {
        Diagnostics::Shown => Frontend::new(),
        Diagnostics::Elsewhere => Frontend::with_diagnostics(|_, _| {}),
    };
    // A program that crashes later is to be seen as such.
    let guard = symm_tool::crash::guard("symm-run");
    guard.reads_bytes(&source.bytes());
    let mut module = source.parse(&frontend)?;
    let signature = Signature::of(&module, &options.host.entry)?;
    ensure_engine(&module, options.engine.as_deref())?;
    let gpus = gpus(options.driver)?;
    let heap_size = options.heap_size;
    // Where heaps cannot be mapped next to each other, kernels find them in the context table.
    let mapped = gpus.iter().all(|gpu| gpu.mapped);
    let heap_stride = (mapped && options.engine.is_none()).then(|| heap_stride(heap_size));
    set_heap_layout(&mut module, HeapLayout { num_ranks, heap_size, heap_stride });
    if let Some(engine) = &options.engine {
        set_engine(&mut module, engine);
    }
    let kernels = match options.driver {
        Driver::Cpu => Vec::new(),
        Driver::Cuda => kernels(options, &nvidia_chip(&gpus)?, &frontend, (&module, mapped))?,
        Driver::Hip => kernels(options, &amd_chip(&gpus)?, &frontend, (&module, mapped))?,
    };
    let entry = Entry::symbol(&options.host.entry);
    let object = host(options, &frontend, &mut module, &entry)?;
    Ok(Image { fingerprint: fingerprint(&source.bytes()), entry, signature, object, kernels })
}

/// The host's code.
fn host(options: &Options, frontend: &Frontend, module: &mut Module, entry: &str) -> anyhow::Result<Vec<u8>> {
    let safety = format!("strict={} bounds-checks={}", options.strict, options.check_bounds);
    let (trace, offload) = (options.trace.is_some(), options.driver != Driver::Cpu);
    frontend.run_pipeline(module, &format!("symm-cpu{{{safety} trace={trace} offload={offload}}}"))?;
    let llvm = translate(module)?;
    llvm.keep_only(entry);
    let level = options.optimize.unwrap_or(Level::O2);
    llvm.optimize(level)?;
    ensure_defined(&llvm, &symm_runtime::symbols()).map_err(|error| declared(error, module))?;
    Ok(llvm.object(if options.optimize.is_some() { level } else { llvm.affordable(level) })?)
}

/// The program's kernels for a GPU, on which heaps are mapped or not: PTX, or a code object.
fn kernels(
    options: &Options,
    chip: &str,
    frontend: &Frontend,
    (program, mapped): (&Module, bool),
) -> anyhow::Result<Vec<DeviceCode>> {
    let gpu = symm_codegen::Gpu::new(chip)?;
    let mut module = symm_codegen::copy_of(program);
    // Then the runtime puts the context table there, too.
    if mapped && options.engine.is_none() {
        set_table_in_heap(&mut module);
    }
    let watchdog = options
        .timeout
        .map_or_else(String::new, |seconds| format!(" watchdog=true timeout-ms={}", (seconds * 1000.0).ceil()));
    let (strict, bounds, trace) = (options.strict, options.check_bounds, options.trace.is_some());
    let more = format!("strict={strict} bounds-checks={bounds} trace={trace}{watchdog}");
    frontend.run_pipeline(&mut module, &gpu.pipeline_with(&more))?;
    let level = options.optimize.unwrap_or(Level::O3);
    let library = match options.engine {
        Some(_) => {
            let say = |text: &str| crate::say(format_args!("symm-run: {text}"));
            Some(DeviceLibrary::read(&nvshmem::bitcode(chip)?, say)?)
        }
        None => None,
    };
    let translated = translate_devices(&module, &gpu, level, library.as_ref())?;
    let code = translated.into_iter().map(|(module, llvm)| {
        let image = match &gpu {
            symm_codegen::Gpu::Nvidia(_) => assembly(&llvm, &gpu, level)?.into_bytes(),
            symm_codegen::Gpu::Amd(_) => hsaco(&llvm, &gpu, level)?,
        };
        Ok(DeviceCode { module, image })
    });
    code.collect()
}

/// This machine's GPUs of the kind that a driver drives.
pub fn gpus(driver: Driver) -> anyhow::Result<Vec<DeviceInfo>> {
    let found = match driver {
        Driver::Cpu => return Ok(Vec::new()),
        Driver::Cuda => Device::cuda_devices(),
        Driver::Hip => Device::hip_devices(),
    };
    found.map_err(|error| anyhow::Error::msg(error.to_string()))
}

/// The oldest chip among this machine's GPUs, or the newest known one that is older: PTX for it runs on all of them.
fn nvidia_chip(devices: &[DeviceInfo]) -> anyhow::Result<String> {
    let version = |chip: &str| chip.strip_prefix("sm_").and_then(|digits| digits.parse::<u32>().ok());
    let oldest = devices.iter().filter_map(|device| version(&device.chip)).min().context("there is no GPU")?;
    let known = symm_codegen::Gpu::nvidia_chips().iter().filter_map(|chip| version(chip));
    let best = known.filter(|known| *known <= oldest).max();
    best.map(|best| format!("sm_{best}")).with_context(|| format!("sm_{oldest} is older than what symm compiles for"))
}

/// The chip of this machine's GPUs, which all have to be of one kind: a code object is for one.
fn amd_chip(devices: &[DeviceInfo]) -> anyhow::Result<String> {
    let chip = &devices.first().context("there is no GPU")?.chip;
    if let Some(other) = devices.iter().map(|device| &device.chip).find(|other| *other != chip) {
        anyhow::bail!("some GPUs are {chip} and some {other}: choose those of one kind with HIP_VISIBLE_DEVICES");
    }
    Ok(chip.clone())
}
