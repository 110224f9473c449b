//! The process that takes requests, one line of standard input each, and answers each with a line. Every input runs
//! in a process that it forks.

use crate::checks::{self, Report};
use crate::pools::Pools;
use crate::{corpus, signals};
use anyhow::{Context as _, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Read as _, Write};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use symm_codegen::Frontend;

/// What the supervisor asks for.
#[derive(Serialize, Deserialize)]
pub enum Request {
    /// Sort the seeds of the tree in the first folder and write them to the second path.
    Prepare(PathBuf, PathBuf),
    /// Read the prepared seeds.
    Seeds(PathBuf),
    /// Write input `number` of the run with `seed` to a path and run it.
    Input {
        /// The seed of the run.
        seed: u64,
        /// The number of the input.
        number: u64,
        /// Where to write it.
        path: PathBuf,
    },
    /// Run a copy of a file.
    File {
        /// The file.
        path: PathBuf,
        /// Where to put the copy.
        scratch: PathBuf,
    },
}

/// How an input went.
#[derive(Serialize, Deserialize)]
pub struct Answer {
    /// How far it came.
    pub report: Report,
    /// How the process that ran it ended, if it did not answer.
    pub death: Option<Death>,
}

/// The end of a process that ran an input.
#[derive(Serialize, Deserialize)]
pub struct Death {
    /// Its last words.
    pub line: String,
    /// How it ended.
    pub status: String,
    /// What it wrote to standard error.
    pub errors: String,
}

/// Serves requests until there are no more.
pub fn serve() -> Result<()> {
    signals::install();
    // What MLIR registers once is there before any process forks off.
    drop(Frontend::new());
    let mut loaded = None;
    for line in std::io::stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?)? {
            Request::Prepare(root, path) => {
                let pools = Pools::prepare(corpus::read(&root)?)?;
                pools.write(&path)?;
                serde_json::to_string(&pools.unmutated())?
            }
            Request::Seeds(path) => {
                let pools = Pools::read(&path)?;
                let words = pools.words();
                loaded = Some((pools, words));
                "{}".into()
            }
            Request::Input { seed, number, path } => {
                let (pools, words) = loaded.as_ref().context("seeds come before inputs")?;
                let input = pools.input(words, seed, number);
                std::fs::write(&path, &input.bytes)?;
                serde_json::to_string(&run(&path, &input.bytes)?)?
            }
            Request::File { path, scratch } => {
                let bytes = std::fs::read(&path)?;
                std::fs::write(&scratch, &bytes)?;
                serde_json::to_string(&run(&scratch, &bytes)?)?
            }
        };
        std::io::stdout().write_all(format!("{answer}\n").as_bytes())?;
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// Runs an input; of bytecode that is read, then the text that it is printed as.
fn run(path: &Path, bytes: &[u8]) -> Result<Answer> {
    let printed = path.with_extension("printed");
    let mut answer = run_apart(path, bytes, &printed)?;
    if printed.exists() {
        let bytes = std::fs::read(&printed)?;
        let text = path.with_extension("text");
        std::fs::rename(&printed, &text)?;
        let rest = run_apart(&text, &bytes, &printed)?;
        answer.death = rest.death;
        answer.report.finding = rest.report.finding;
        let again = |stage: &str| ["parse", "print", "write as bytecode"].contains(&stage);
        answer.report.stages.extend(rest.report.stages.into_iter().filter(|(stage, _)| !again(stage)));
    }
    Ok(answer)
}

/// Runs an input in a process of its own, so that what it does to its memory harms no other input.
fn run_apart(path: &Path, bytes: &[u8], printed: &Path) -> Result<Answer> {
    Ok(match apart(|| checks::run(path, bytes, printed))? {
        Ok(report) => Answer { report, death: None },
        Err(death) => Answer { report: Report::default(), death: Some(death) },
    })
}

/// What `body` returns in a process that this one forks, or how that ended.
pub fn apart<T: Serialize + DeserializeOwned>(body: impl FnOnce() -> T) -> Result<Result<T, Death>> {
    let (mut reader, writer) = std::io::pipe()?;
    signals::forget_errors();
    // SAFETY: this process has one thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop(reader);
        signals::report_to(writer.as_raw_fd());
        signals::time();
        let text = serde_json::to_vec(&body()).unwrap_or_default();
        let written = (&writer).write_all(&text);
        // SAFETY: ends this process at once: what it shares with its parent is not to be cleaned up twice.
        unsafe { libc::_exit(i32::from(written.is_err())) };
    }
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text)?;
    let status = signals::wait(child)?;
    if status.success() {
        return Ok(Ok(serde_json::from_str(&text)?));
    }
    Ok(Err(Death { line: text.trim_end().to_owned(), status: status.to_string(), errors: signals::errors() }))
}
