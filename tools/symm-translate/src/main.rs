//! Translates a program to LLVM IR or to an object file for this machine.

use anyhow::Context as _;
use clap::{Parser, ValueEnum};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use symm_codegen::{Frontend, Level, translate};

/// Translate a symm program to LLVM IR or to an object file for this machine.
///
/// The program may be at any level: the pipeline lowers it first.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// The program: MLIR text or bytecode.
    file: PathBuf,
    /// What to make.
    #[arg(long, value_enum, default_value_t = Form::Llvm)]
    to: Form,
    /// The pass pipeline that lowers the program to the LLVM dialect; empty for none.
    #[arg(long, default_value = "symm-cpu")]
    pipeline: String,
    /// How much LLVM optimises, 0 to 3.
    #[arg(short = 'O', long, value_name = "LEVEL", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=3))]
    optimize: u8,
    /// Where to write; '-' is standard output.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Form {
    /// LLVM IR as text.
    Llvm,
    /// A relocatable object file.
    Obj,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("symm-translate: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> anyhow::Result<()> {
    let guard = symm_dialect::crash::guard("symm-translate");
    guard.reads(&options.file);
    let frontend = Frontend::new();
    let mut module = frontend.parse(&options.file)?;
    if !options.pipeline.is_empty() {
        frontend.run_pipeline(&mut module, &options.pipeline)?;
    }
    let llvm = translate(&module)?;
    let level = [Level::O0, Level::O1, Level::O2, Level::O3][usize::from(options.optimize)];
    llvm.optimize(level)?;
    let bytes = match options.to {
        Form::Llvm => llvm.text().into_bytes(),
        Form::Obj => llvm.object(level)?,
    };
    if options.output.as_os_str() == "-" {
        std::io::stdout().write_all(&bytes).context("standard output")
    } else {
        std::fs::write(&options.output, bytes).with_context(|| options.output.display().to_string())
    }
}
