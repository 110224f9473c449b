//! What symm's tools share: how they are called, their stack, and how their processes end.

// Unsafe code is allowed by name: in signal handlers, and where C main functions are called.
#![deny(unsafe_code)]

pub mod closed;
#[expect(unsafe_code, reason = "handlers of signals, and functions of LLVM that have no C form")]
pub mod crash;
#[expect(unsafe_code, reason = "main functions of MLIR's tools, which are C++")]
pub mod mlir;
pub mod number;

use std::ffi::OsString;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

/// The stack that MLIR and LLVM get, in bytes: they recurse along nested regions and long chains of operations. Pages
/// that nobody touches cost nothing.
pub const STACK: usize = 64 << 20;

/// How a tool was called.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool's name.
    pub name: &'static str,
    /// What comes after the name.
    pub arguments: Vec<OsString>,
    /// What this executable takes before those to be the tool: `run`, if it is all tools in one.
    pub words: Vec<OsString>,
}

impl Call {
    /// The call of an executable that is one tool.
    #[must_use]
    pub fn of_process(name: &'static str) -> Self {
        Self { name, arguments: std::env::args_os().skip(1).collect(), words: Vec::new() }
    }

    /// The name and the arguments, as a main function takes them.
    pub fn line(&self) -> impl Iterator<Item = OsString> + '_ {
        std::iter::once(self.name.into()).chain(self.arguments.iter().cloned())
    }

    /// The words that call the tool as the user has called it, from the same folder.
    #[must_use]
    pub fn typed(&self) -> Vec<String> {
        let first = std::env::args_os().next().unwrap_or_else(|| self.name.into());
        let is_tool = Path::new(&first).file_name().is_some_and(|file| file == self.name);
        let words = if is_tool { &[] } else { self.words.as_slice() };
        std::iter::once(&first).chain(words).map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// The executable, and the arguments with which it does the same with others of the tool's.
    ///
    /// # Errors
    /// The system's, if it does not say which file this process runs.
    pub fn again(&self, arguments: Vec<OsString>) -> std::io::Result<(PathBuf, Vec<OsString>)> {
        Ok((std::env::current_exe()?, self.words.iter().cloned().chain(arguments).collect()))
    }
}

/// Does `work` on a thread with [`STACK`], or on this one where the system gives no such thread.
pub fn on_large_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    let work = || {
        crash::note_stack(STACK);
        work()
    };
    thread::scope(|scope| match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
        Err(_) => work(),
    })
}

/// The main function of an executable, which calls `$main`. Output that is lost is an error.
#[macro_export]
macro_rules! main {
    ($main:expr) => {
        #[used]
        #[expect(unsafe_code, reason = "what the C library calls before `main`")]
        #[unsafe(link_section = ".init_array")]
        static BEFORE_MAIN: extern "C" fn() = $crate::closed::replace_output;

        fn main() -> std::process::ExitCode {
            $main
        }
    };
}
