//! The tests of every crate, and the names of those that fail.

use super::Tally;
use crate::run;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};

/// `cargo test` of the workspace.
pub fn test() -> Result<Tally> {
    let mut command = run::cargo();
    command.args(["test", "--release", "--no-fail-fast", "--color", "never"]);
    let line = run::line(&command);
    // Both streams in one: cargo says on the second what the lines of the first are of.
    let (reader, writer) = std::io::pipe()?;
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn().with_context(|| line.clone())?;
    // The command holds ends of the pipe that writes: the reader would wait for them.
    drop(command);
    let mut log = Log::default();
    for line in BufReader::new(reader).lines() {
        let line = line?;
        println!("{line}");
        log.read(&line);
    }
    let status = child.wait()?;
    if log.tally.failed.is_empty() && !status.success() {
        bail!("{status}: {line}");
    }
    Ok(log.tally)
}

/// What is read of a log of `cargo test`.
#[derive(Default)]
struct Log {
    tally: Tally,
    /// Whether a list of failures has begun; there are two, one with what each test has printed, one with names alone.
    in_list: bool,
    /// What the target that runs has failed.
    names: Vec<String>,
}

impl Log {
    fn read(&mut self, line: &str) {
        if line == "failures:" {
            self.in_list = true;
            self.names.clear();
        } else if let Some((passed, failed)) = counts(line) {
            self.in_list = false;
            self.tally.passed += passed;
            self.names.resize(failed, "a test without a name".to_owned());
        } else if let Some(target) = failed_target(line) {
            if self.names.is_empty() {
                self.names.push("ended before its tests".to_owned());
            }
            self.tally.failed.extend(self.names.drain(..).map(|name| format!("cargo test {target} {name}")));
        } else if self.in_list
            && let Some(name) = line.strip_prefix("    ")
        {
            self.names.push(name.to_owned());
        }
    }
}

/// `-p symm-abi --lib` of ``error: test failed, to rerun pass `-p symm-abi --lib` ``, which follows a target's tests.
fn failed_target(line: &str) -> Option<&str> {
    let (_, target) = line.strip_prefix("error: ")?.split_once("test failed, to rerun pass `")?;
    target.strip_suffix('`')
}

/// The counts in `test result: ok. 3 passed; 0 failed; …`.
fn counts(line: &str) -> Option<(usize, usize)> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut numbers = counts.split("; ").map_while(|part| part.split_once(' ')?.0.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

#[cfg(test)]
mod tests {
    use super::{Log, counts};

    #[test]
    fn counts_are_read_from_the_summary_alone() {
        let line = "test result: FAILED. 3 passed; 12 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s";
        assert_eq!(counts(line), Some((3, 12)));
        assert_eq!(counts("test pool::drops ... ok"), None);
    }

    #[test]
    fn what_failed_is_named_with_its_target() {
        let text = "\
test a::right ... ok
test a::wrong ... FAILED

failures:

---- a::wrong stdout ----
    a line of its output

failures:
    a::wrong

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `-p symm-abi --lib`
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
error: test failed, to rerun pass `-p symm-runtime --test crash`

Caused by:
  process didn't exit successfully: `target/release/deps/crash-0` (signal: 6, SIGABRT: process abort signal)
error: doctest failed, to rerun pass `-p symm-abi --doc`
error: 3 targets failed:
    `-p symm-abi --lib`
";
        let mut log = Log::default();
        text.lines().for_each(|line| log.read(line));
        assert_eq!(log.tally.passed, 3);
        assert_eq!(
            log.tally.failed,
            [
                "cargo test -p symm-abi --lib a::wrong",
                "cargo test -p symm-runtime --test crash ended before its tests",
                "cargo test -p symm-abi --doc ended before its tests",
            ]
        );
    }
}
