//! What can go wrong between a program file and machine code.

use std::path::PathBuf;

/// Each message says what is wrong and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file can't be read.
    #[error("{path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The program is wrong; the diagnostics have been printed at their locations.
    #[error("{path}: the program does not parse or verify")]
    Parse {
        /// The file.
        path: PathBuf,
    },
    /// The program's text nests brackets deeper than MLIR can read.
    #[error("{}:{line}:{column}: error: is nested more than {} deep", path.display(), symm_dialect::nesting::MOST)]
    TooDeep {
        /// The file.
        path: PathBuf,
        /// The line, from 1 on.
        line: usize,
        /// The column, from 1 on.
        column: usize,
    },
    /// A pass refused the program; the diagnostics have been printed at their locations.
    #[error("the program can't be compiled: pass pipeline '{pipeline}' failed")]
    Pipeline {
        /// The pipeline's text.
        pipeline: String,
    },
    /// The pipeline's text is wrong.
    #[error("'{pipeline}' is not a pass pipeline: {reason}")]
    PipelineText {
        /// The pipeline's text.
        pipeline: String,
        /// The parser's message.
        reason: String,
    },
    /// An operation is left that has no LLVM form; the diagnostics have been printed.
    #[error(
        "the pipeline's output has no LLVM form; after one of symm's own pipelines that is a bug, please report
    #it"
    )]
    Translate,
    /// LLVM refused the module or the target.
    #[error("LLVM: {0}")]
    Llvm(String),
    /// The program calls a function that neither it nor the runtime defines.
    #[error("{place}the program calls '{symbol}', which neither it nor the runtime defines")]
    UndefinedSymbol {
        /// The function.
        symbol: String,
        /// Where the program declares it, `file:line:column: error: `; empty where that is not known.
        place: String,
    },
    /// A kernel calls a function that nothing defines: MLIR lowers some math to a library that is not linked.
    #[error("a kernel calls '{symbol}', which is not in the program, and no library is linked (S1)")]
    UndefinedOnDevice {
        /// The function.
        symbol: String,
    },
    /// A device library of NVSHMEM is none, or lacks a function that far accesses call.
    #[error("{path}: {why}")]
    NotNvshmem {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: symm_far::Error,
    },
    /// A program is for another engine than the run; the diagnostic has been printed.
    #[error("the program is for the engine '{program}'")]
    OtherEngine {
        /// The program's.
        program: String,
    },
    /// Kernels call an engine whose device library is not there.
    #[error("the kernels call NVSHMEM, and no device library of it was given: give --engine nvshmem")]
    NoDeviceLibrary,
    /// No pass lowers to this GPU.
    #[error("unknown chip '{chip}'; the chips are {known}")]
    UnknownChip {
        /// The name that was given.
        chip: String,
        /// The known names.
        known: String,
    },
    /// The pipeline has not made of the kernels what a GPU's code generator takes; the diagnostic has been printed.
    #[error("the kernels are not lowered for {chip}: '{pipeline}' does that")]
    NotLowered {
        /// The GPU.
        chip: String,
        /// The pipeline for it.
        pipeline: String,
    },
    /// A device has the kernels of one `gpu.module`.
    #[error(
        "a device module is made from one gpu.module at the top of the program, which has {}",
        match found.len() { 0 => "none".to_owned(), _ => found.join(", ") }
    )]
    NoKernels {
        /// The names of those there are.
        found: Vec<String>,
    },
    /// A code object was asked for a GPU that has none.
    #[error("a code object (hsaco) is for AMD GPUs; for NVIDIA's make ptx")]
    NotAmd,
    /// lld does not run.
    #[error("'{linker}' is needed to link a code object: install lld-22, or name it in SYMM_LLD")]
    MissingLinker {
        /// What was tried.
        linker: String,
        /// Why it did not run.
        source: std::io::Error,
    },
    /// A file of the link can't be read or written.
    #[error("linking a code object")]
    Link(#[source] std::io::Error),
    /// There is no such host function.
    #[error(
        "no host function '{entry}' whose first argument is a !symm.ctx; {}",
        match candidates.join(", ").as_str() {
            "" => "the program has none".to_owned(),
            names => format!("there is {names}"),
        }
    )]
    MissingEntry {
        /// The name that was given.
        entry: String,
        /// The host functions there are.
        candidates: Vec<String>,
    },
    /// The attributes of the host function's arguments or results are wrong; the diagnostic has been printed.
    #[error("{function}: its arguments and results can't be given by name")]
    Signature {
        /// The host function.
        function: String,
    },
    /// An argument or result of the host function can't be given from outside.
    #[error(
        "{function}: {what} has type {ty}: give scalars (integers of 1, 8, 16, 32 or 64 bits, index, f16, bf16, \
         f32, f64) or ranked memrefs of them; those of arguments without a layout"
    )]
    UnsupportedArgument {
        /// The host function.
        function: String,
        /// Which argument or result.
        what: String,
        /// Its type.
        ty: String,
    },
}
