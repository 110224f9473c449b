//! Translates a program to LLVM IR or machine code, for this machine or for a GPU.

#![forbid(unsafe_code)]

use anyhow::Context as _;
use clap::{Parser, ValueEnum};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use symm_codegen::{
    DeviceLibrary, Frontend, Gpu, Level, Source, assembly, engine_of, ensure_engine, hsaco, translate, translate_device,
};
use symm_dialect::set_engine;
use symm_runtime::{NVSHMEM, nvshmem};
use symm_tool::{Call, closed::has_reader_left, number::whole, on_large_stack};

/// Translate a symm program to LLVM IR or machine code, for this machine or for a GPU.
///
/// The program may be at any level: the pipeline lowers it first.
#[expect(clippy::doc_markdown, reason = "it is the text of --help")]
#[derive(Parser)]
#[command(version)]
struct Options {
    /// The program: MLIR text or bytecode; '-' is standard input.
    file: PathBuf,
    /// The form of the output.
    #[arg(long, value_enum, default_value_t = Form::Llvm)]
    to: Form,
    /// The GPU to compile the kernels for, such as sm_90 or gfx942; default: this machine's processor.
    #[arg(long)]
    chip: Option<String>,
    /// Engine that reaches ranks on other nodes.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(symm_runtime::ENGINES))]
    engine: Option<String>,
    /// The pass pipeline that lowers the program; default: the chip's; empty for none.
    #[arg(long)]
    pipeline: Option<String>,
    /// LLVM's optimization level, 0 to 3.
    #[arg(
        short = 'O',
        long,
        value_name = "LEVEL",
        default_value_t = 2,
        value_parser = whole(0..=3u8),
        allow_negative_numbers = true,
    )]
    optimize: u8,
    /// The output file; '-' is standard output.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Form {
    /// LLVM IR as text.
    Llvm,
    /// A relocatable object file for this machine.
    Obj,
    /// PTX for an NVIDIA GPU.
    Ptx,
    /// Assembly for an AMD GPU.
    Amdgcn,
    /// A linked code object for an AMD GPU.
    Hsaco,
}

/// Runs the tool.
#[must_use]
pub fn main(call: &Call) -> ExitCode {
    let options = Options::parse_from(call.line());
    on_large_stack(|| match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let error = format!("{error:#}");
            if !has_reader_left(&error) {
                say(&error);
            }
            ExitCode::FAILURE
        }
    })
}

fn say(text: &str) {
    // A failure to write is ignored.
    let _ = writeln!(std::io::stderr(), "symm-translate: {text}");
}

impl Options {
    /// The GPU to compile for, if it is one: the chip that is given, or a usual one for the form.
    fn gpu(&self) -> anyhow::Result<Option<Gpu>> {
        let usual = match self.to {
            Form::Llvm | Form::Obj => None,
            Form::Ptx => Some("sm_90"),
            Form::Amdgcn | Form::Hsaco => Some("gfx942"),
        };
        let Some(chip) = self.chip.as_deref().or(usual) else { return Ok(None) };
        let gpu = Gpu::new(chip)?;
        let fits = match self.to {
            Form::Llvm => true,
            Form::Obj => false,
            Form::Ptx => matches!(gpu, Gpu::Nvidia(_)),
            Form::Amdgcn | Form::Hsaco => matches!(gpu, Gpu::Amd(_)),
        };
        anyhow::ensure!(
            fits,
            "--to {} does not go with --chip {chip}",
            self.to.to_possible_value().map_or_else(String::new, |form| form.get_name().to_owned())
        );
        Ok(Some(gpu))
    }
}

fn run(options: &Options) -> anyhow::Result<()> {
    let guard = symm_tool::crash::guard("symm-translate");
    let source = Source::new(&options.file)?;
    guard.reads_bytes(&source.bytes());
    let frontend = Frontend::new();
    let mut module = source.parse(&frontend)?;
    let level = [Level::O0, Level::O1, Level::O2, Level::O3][usize::from(options.optimize)];
    let gpu = options.gpu()?;
    if let Some(engine) = &options.engine {
        ensure_engine(&module, Some(engine))?;
        set_engine(&mut module, engine);
    }
    let engine = engine_of(&module);
    let default = gpu.as_ref().map_or_else(|| "symm-cpu".to_owned(), Gpu::pipeline);
    let pipeline = options.pipeline.as_ref().unwrap_or(&default);
    if !pipeline.is_empty() {
        frontend.run_pipeline(&mut module, pipeline)?;
    }
    let bytes = match &gpu {
        None => {
            let llvm = translate(&module)?;
            llvm.optimize(level)?;
            if options.to == Form::Llvm { llvm.text().into_bytes() } else { llvm.object(level)? }
        }
        Some(gpu) => {
            let library = match (gpu, engine.as_deref()) {
                (Gpu::Nvidia(chip), Some(NVSHMEM)) => Some(DeviceLibrary::read(&nvshmem::bitcode(chip)?, say)?),
                _ => None,
            };
            let llvm = translate_device(&module, gpu, level, library.as_ref())?;
            match options.to {
                Form::Hsaco => hsaco(&llvm, gpu, level)?,
                Form::Llvm => llvm.text().into_bytes(),
                _ => assembly(&llvm, gpu, level)?.into_bytes(),
            }
        }
    };
    if options.output.as_os_str() == "-" {
        std::io::stdout().write_all(&bytes).context("standard output")
    } else {
        std::fs::write(&options.output, bytes).with_context(|| options.output.display().to_string())
    }
}
