//! Mutated command lines of symm-opt: pass pipelines, options and flags.

use crate::findings::{Finding, Findings};
use crate::random::Random;
use anyhow::{Context as _, Result};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use symm_passes::{OptionKind, PASSES, PIPELINES, Values};

/// A program that every pass takes.
const PROGRAM: &str = "func.func @f(%c: !symm.ctx, %m: memref<4xi64>, %v: i64) {
  %me = symm.rank %c
  %i = arith.constant 0 : index
  symm.signal set %c, %m[%i], %v, %me : memref<4xi64>, i64
  return
}
";

/// How long a command may take on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

const MARKS: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    ",",
    "=",
    " ",
    "\"",
    "'",
    "true",
    "false",
    "yes",
    "0",
    "-1",
    "any",
    "builtin.module",
    "func.func",
    "\u{e9}",
    "--",
];

/// Runs `count` command lines of the symm-opt in `release`; how many ran.
pub fn run(release: &Path, folder: &Path, seed: u64, count: u64, findings: &mut Findings) -> Result<u64> {
    let tool = release.join("symm-opt");
    if count == 0 {
        return Ok(0);
    }
    let scratch = folder.join(format!("tools-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    std::fs::write(scratch.join("program.mlir"), PROGRAM)?;
    for number in 0..count {
        let arguments = arguments(&mut Random::new(seed, number));
        let errors = scratch.join("errors");
        let mut child = Command::new(&tool)
            .args(&arguments)
            .arg("program.mlir")
            .current_dir(&scratch)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&errors)?)
            .spawn()
            .with_context(|| format!("cannot run {}: start this with `./x fuzz`, which builds it", tool.display()))?;
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if start.elapsed() > DEADLINE {
                child.kill()?;
                child.wait()?;
                break None;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let errors = String::from_utf8_lossy(&std::fs::read(&errors)?).into_owned();
        let Some(what) = complaint(status, &errors) else { continue };
        let line = format!("symm-opt {}", arguments.join(" "));
        let finding = Finding {
            signature: format!("command line: {what}"),
            details: format!("{line}\n{errors}"),
            frames: Vec::new(),
        };
        findings.add(&finding, line.as_bytes(), "txt", &folder.join("findings"))?;
    }
    std::fs::remove_dir_all(&scratch)?;
    Ok(count)
}

/// What is wrong about how the tool ended.
fn complaint(status: Option<std::process::ExitStatus>, errors: &str) -> Option<String> {
    let Some(status) = status else { return Some("hang".into()) };
    let failed = !status.success();
    if status.code().is_none() || errors.contains("PLEASE submit") || errors.contains("Stack dump") {
        Some(format!("{status}"))
    } else if errors.contains(symm_tool::crash::MESSAGE) || errors.contains("hit a bug in") {
        Some("internal error".into())
    } else if failed && errors.trim().is_empty() {
        Some("failure without a message".into())
    } else {
        None
    }
}

/// A command line that is right, or was before it was mutated.
fn arguments(random: &mut Random) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let as_pipeline = random.once_in(2);
    for _ in 0..=random.below(3) {
        let (flag, options) = if random.once_in(3) {
            let row = &PIPELINES[random.below(PIPELINES.len())];
            (row.flag, row.options)
        } else {
            let row = &PASSES[random.below(PASSES.len())];
            (row.flag, row.options)
        };
        pieces.push(flag.into());
        if let Some(option) = random.pick(options) {
            let open = if as_pipeline { "{" } else { "=" };
            let value = match option.kind {
                OptionKind::Bool => "true",
                OptionKind::Number => "7",
                OptionKind::Choice(choices) => random.pick(choices).copied().unwrap_or_default(),
                OptionKind::Form(..) => option.initial,
            };
            let value = if random.once_in(3) { MARKS[random.below(MARKS.len())] } else { value };
            pieces.extend([open.into(), option.name.into(), "=".into(), value.into()]);
            if as_pipeline {
                pieces.push("}".into());
            }
        }
        pieces.push(if as_pipeline { "," } else { "\n" }.into());
    }
    pieces.pop();
    if as_pipeline && random.once_in(4) {
        let row = &PIPELINES[random.below(PIPELINES.len())];
        let text = (row.text)(&Values::new(row.options, Vec::new()));
        pieces = text.split_inclusive(['{', '}', ',', '=']).map(str::to_owned).collect();
    }
    for _ in 0..random.below(3) {
        let place = random.below(pieces.len().max(1));
        match random.below(4) {
            0 => drop((place < pieces.len()).then(|| pieces.remove(place))),
            1 => pieces.insert(place, MARKS[random.below(MARKS.len())].into()),
            2 if place < pieces.len() => {
                let mut characters: Vec<char> = pieces[place].chars().collect();
                let cut = random.below(characters.len().max(1));
                characters.truncate(cut);
                pieces[place] = characters.into_iter().collect();
            }
            _ => {
                let other = random.below(pieces.len().max(1));
                if place < pieces.len() && other < pieces.len() {
                    pieces.swap(place, other);
                }
            }
        }
    }
    if as_pipeline {
        let text = pieces.concat();
        vec![format!("--pass-pipeline={}", if random.once_in(8) { text } else { format!("builtin.module({text})") })]
    } else {
        pieces.concat().split('\n').map(|flag| format!("--{flag}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::arguments;
    use crate::random::Random;

    #[test]
    fn a_number_gives_one_command_line_that_writes_no_file() {
        for number in 0..500 {
            let line = arguments(&mut Random::new(1, number));
            assert_eq!(line, arguments(&mut Random::new(1, number)));
            assert!(!line.iter().any(|argument| argument.contains('/')), "{line:?}");
        }
    }
}
