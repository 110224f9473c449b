//! The command line.

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, Parser, ValueEnum};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use symm_abi::heap::MAX_RANKS;
use symm_codegen::Level;
use symm_tool::number::whole;

/// Run a symm program on N ranks.
///
/// The program's host function runs once per rank. Each rank is a thread, or a process with --processes or under
/// torchrun, mpirun or srun. The exit status is not zero if a check of the program fails, if it cannot be compiled, if
/// it does not end in time, or if a rank dies.
///
/// Examples:
///
///   symm-run examples/ring_all_reduce.mlir --ranks 4
///
///   symm-run examples/heat.mlir --ranks 4 --processes --input image=in.npy --output result=out.npy --trace t.json
///
///   oshrun -n 4 symm-run examples/ring_all_reduce.mlir --engine openshmem
///
///   symm-run examples/ring_all_reduce.mlir --ranks 4 --driver cuda --engine nvshmem --domain 2
#[expect(clippy::doc_markdown, reason = "it is the text of --help")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[derive(Parser)]
#[command(version, verbatim_doc_comment)]
pub struct Options {
    /// The program: MLIR text or bytecode; '-' is standard input.
    pub file: PathBuf,
    /// Number of ranks; default 1, or as many as the launcher has started.
    #[arg(short = 'n', long, value_parser = whole(1..=MAX_RANKS), allow_hyphen_values = true)]
    pub ranks: Option<u32>,
    /// What the ranks run on.
    #[arg(long, value_enum, default_value_t = Driver::Cpu)]
    pub driver: Driver,
    /// Run each rank as a process instead of a thread.
    #[arg(long)]
    pub processes: bool,
    /// Engine that reaches ranks on other nodes: openshmem, started by its launcher, or nvshmem, a process per rank.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(symm_runtime::ENGINES))]
    pub engine: Option<String>,
    /// Treat this many ranks as one node, even on one host; default: all ranks whose memory is mapped.
    #[arg(
        long,
        value_name = "RANKS",
        value_parser = whole(1..=u32::MAX),
        requires = "engine",
        allow_hyphen_values = true,
    )]
    pub domain: Option<u32>,
    /// Which host function runs, and on what.
    #[command(flatten)]
    pub host: HostFunction,
    /// File for an array result: rank 0's, or every rank's if the name contains {rank}.
    #[arg(
        long = "output",
        value_name = "NAME=FILE.npy",
        value_parser = OsStringValueParser::new().try_map(|text| file(&text)),
    )]
    pub outputs: Vec<(String, OsString)>,
    /// Write a timeline of ranks and blocks, for ui.perfetto.dev.
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
    /// Stop after this time and report which rank waits where.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub timeout: Option<f64>,
    /// LLVM's optimization level, 0 to 3; default 2, for GPUs 3.
    #[arg(short = 'O', long, value_name = "LEVEL", value_parser = level, allow_negative_numbers = true)]
    pub optimize: Option<Level>,
    /// Size of each rank's symmetric heap, with a suffix K, M or G.
    #[arg(long, value_name = "BYTES", default_value = "64M", value_parser = bytes, allow_hyphen_values = true)]
    pub heap_size: u64,
    /// Report an error where the compiler would repair a memory order or a scope.
    #[arg(long)]
    pub strict: bool,
    /// Check every rank and address at run time, and end the run at the first op that is wrong.
    #[arg(long)]
    pub check_bounds: bool,
    /// Standard input holds the program as the symm-run that has started this rank has compiled it; the file is not
    /// read.
    #[arg(long, hide = true)]
    pub compiled: bool,
}

/// Which host function runs, and on what; symm-check has the same.
#[derive(Args)]
pub struct HostFunction {
    /// The host function to run.
    #[arg(long, default_value = "main")]
    pub entry: String,
    /// An array argument, from a NumPy file.
    #[arg(
        long = "input",
        value_name = "NAME=FILE.npy",
        value_parser = OsStringValueParser::new().try_map(|text| input(&text)),
    )]
    pub inputs: Vec<(String, OsString)>,
    /// A scalar argument.
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = pair, allow_hyphen_values = true)]
    pub args: Vec<(String, String)>,
}

impl Options {
    /// What must be the same on all ranks, because it changes the program, with its name. The bootstrap itself compares
    /// what the ranks create: heaps, devices, traces.
    #[must_use]
    pub fn of_the_program(&self) -> Vec<(String, String)> {
        let flag = |given: bool| given.then(|| "given".to_owned());
        let options = [
            ("--entry", Some(self.host.entry.clone())),
            ("--engine", self.engine.clone()),
            ("--domain", self.domain.map(|ranks| ranks.to_string())),
            ("--strict", flag(self.strict)),
            ("--check-bounds", flag(self.check_bounds)),
            ("--timeout", self.timeout.map(|seconds| format!("{seconds} seconds"))),
        ];
        let options = options.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let args = self.host.args.iter().map(|(name, value)| (format!("--arg {name}"), value.clone()));
        options.chain(args).collect()
    }
}

/// What a program can run on.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Driver {
    /// This machine's processor.
    Cpu,
    /// NVIDIA's GPUs: rank r runs on device r modulo their number.
    Cuda,
    /// AMD's GPUs, likewise.
    Hip,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name.into(), value.into())),
        _ => Err("takes NAME=VALUE".into()),
    }
}

/// A name and a file, whose name need not be UTF-8.
fn file(text: &OsStr) -> Result<(String, OsString), &'static str> {
    let bytes = text.as_bytes();
    let split = bytes.iter().position(|letter| *letter == b'=').map(|at| (&bytes[..at], &bytes[at + 1..]));
    match split.and_then(|(name, file)| Some((str::from_utf8(name).ok()?, file))) {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.into(), OsStr::from_bytes(file).into())),
        _ => Err("takes NAME=FILE"),
    }
}

/// A name and a file that is read, whose name need not be UTF-8.
fn input(text: &OsStr) -> Result<(String, OsString), &'static str> {
    let (name, path) = file(text)?;
    if path == "-" { Err("takes a file; standard input is /dev/stdin") } else { Ok((name, path)) }
}

fn level(text: &str) -> Result<Level, String> {
    let levels = [("0", Level::O0), ("1", Level::O1), ("2", Level::O2), ("3", Level::O3)];
    levels
        .into_iter()
        .find(|(name, _)| *name == text)
        .map(|(_, level)| level)
        .ok_or_else(|| "takes 0, 1, 2 or 3".into())
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds < 1e9);
    seconds.ok_or_else(|| "takes a number of seconds above zero and below 1e9; for no limit leave it out".into())
}

/// Reads an option's value; symm-check has the same.
///
/// # Errors
/// What it takes, as text.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((end, 'K' | 'k')) => (&text[..end], 1 << 10),
        Some((end, 'M' | 'm')) => (&text[..end], 1 << 20),
        Some((end, 'G' | 'g')) => (&text[..end], 1 << 30),
        _ => (text, 1),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_ascii_digit()) {
        return Err("takes a number of bytes, such as 1048576 or 64M".into());
    }
    let count: Option<u64> = digits.parse().ok();
    count.and_then(|count| count.checked_mul(unit)).ok_or_else(|| "is more than any memory".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Options::command().debug_assert();
    }

    #[test]
    fn a_timeout_has_an_end() {
        assert_eq!(seconds("0.5"), Ok(0.5));
        for text in ["inf", "nan", "0", "-1", "1e9"] {
            assert!(seconds(text).unwrap_err().contains("for no limit leave it out"), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_says_what_can() {
        let said = |options: &[&str]| Options::try_parse_from([&["symm-run", "f"], options].concat()).err().unwrap();
        for number in ["0", "-1", "many", "1.5", "", "99999999999"] {
            let ranks = said(&["-n", number]).to_string();
            assert!(ranks.contains("takes a whole number from 1 to 128"), "{ranks}");
            let domain = said(&["--engine", "openshmem", "--domain", number]).to_string();
            assert!(domain.contains("takes a whole number from 1 to 4294967295"), "{domain}");
        }
        for number in ["-1", "many", "", "1e9"] {
            let timeout = said(&["--timeout", number]).to_string();
            assert!(timeout.contains("for no limit leave it out"), "{timeout}");
            let level = said(&["-O", number]).to_string();
            assert!(level.contains("takes 0, 1, 2 or 3"), "{level}");
            let size = said(&["--heap-size", number]).to_string();
            assert!(size.contains("takes a number of bytes"), "{size}");
        }
        assert!(said(&["--input", "x=-"]).to_string().contains("standard input is /dev/stdin"));
    }

    #[test]
    fn sizes_have_suffixes() {
        assert_eq!(bytes("3M"), Ok(3 << 20));
        assert_eq!(bytes("17"), Ok(17));
        assert!(bytes("many").is_err());
        for text in ["99999999999G", "99999999999999999999", "99999999999999999999K"] {
            assert_eq!(bytes(text), Err("is more than any memory".into()));
        }
    }
}
