//! All tools in one executable, which holds LLVM and MLIR once: `symm run FILE`, or through a link, `symm-run FILE`.

#![deny(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use symm_tool::Call;
use symm_tool::closed::has_reader_left;

struct Tool {
    /// The word that asks for it, and the name of a link to it.
    word: &'static str,
    name: &'static str,
    summary: &'static str,
    main: fn(&Call) -> ExitCode,
}

const TOOLS: &[Tool] = &[
    Tool { word: "run", name: "symm-run", summary: "run a program on N ranks", main: symm_run::main },
    Tool {
        word: "check",
        name: "symm-check",
        summary: "find races, missing releases and deadlocks of a program",
        main: symm_check::main,
    },
    Tool { word: "opt", name: "symm-opt", summary: "run passes: mlir-opt with the symm dialect", main: symm_opt::main },
    Tool {
        word: "translate",
        name: "symm-translate",
        summary: "translate a program to LLVM IR, an object, PTX or AMD code",
        main: symm_translate::main,
    },
    Tool {
        word: "lsp-server",
        name: "symm-lsp-server",
        summary: "serve editors: mlir-lsp-server with the symm dialect",
        main: symm_lsp_server::main,
    },
];

symm_tool::main!(dispatch(std::env::args_os().collect()));

/// Calls the tool that the executable's name or its first argument asks for.
fn dispatch(line: Vec<OsString>) -> ExitCode {
    match choose(&line) {
        Ok((tool, from)) => {
            let arguments = line.into_iter().skip(from).collect();
            (tool.main)(&Call { name: tool.name, arguments, words: vec![tool.word.into()] })
        }
        Err(asked) => answer(asked.as_deref()),
    }
}

/// The tool, and how many words of the command line named it; or else the word that names no tool, if there is one.
fn choose(line: &[OsString]) -> Result<(&'static Tool, usize), Option<OsString>> {
    let called = line.first().and_then(|path| Path::new(path).file_name()).unwrap_or_default();
    if let Some(tool) = TOOLS.iter().find(|tool| called == tool.name) {
        return Ok((tool, 1));
    }
    let asked = line.get(1);
    TOOLS.iter().find(|tool| asked.is_some_and(|asked| asked == tool.word)).map(|tool| (tool, 2)).ok_or(asked.cloned())
}

/// The message if no tool was named.
fn answer(asked: Option<&OsStr>) -> ExitCode {
    match asked.map(|asked| asked.to_string_lossy()).as_deref() {
        None | Some("--help" | "-h" | "help") => print(&usage()),
        Some("--version" | "-V") => print(&format!("symm {}\n", env!("CARGO_PKG_VERSION"))),
        Some(asked) => {
            let _ = write!(std::io::stderr(), "symm: there is no tool {asked}\n\n{}", usage());
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    let tools = TOOLS.iter().map(|tool| format!("  {:<12}{}\n", tool.word, tool.summary));
    format!(
        "Usage: symm TOOL [ARGUMENT]...\n\n{}\n`symm TOOL --help` says more. A link to this executable that is called \
         symm-TOOL is that tool.\n",
        tools.collect::<String>()
    )
}

fn print(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !has_reader_left(&error.to_string()) {
                let _ = writeln!(std::io::stderr(), "symm: standard output: {error}");
            }
            ExitCode::FAILURE
        }
    }
}
