//! What every input goes through, and what is wrong about it if something is.

use crate::mlir;
use crate::random::{Random, hash};
use crate::signals;
use melior::diagnostic::DiagnosticSeverity;
use melior::ir::Module;
use melior::pass::PassManager;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;
use symm_codegen::{Error, Frontend, Gpu, Level, Signature, translate, translate_device};
use symm_dialect::{HeapLayout, set_heap_layout};
use symm_passes::{OptionKind, PASSES, PIPELINES, PassOption, Values};

/// How far an input came.
#[derive(Default, Serialize, Deserialize)]
pub struct Report {
    /// Each stage that it entered, and whether it got through.
    pub stages: Vec<(String, bool)>,
    /// What is wrong, if something is.
    pub finding: Option<Wrong>,
}

/// Something that must not happen, other than the death of the process.
#[derive(Serialize, Deserialize)]
pub struct Wrong {
    /// Where.
    pub stage: String,
    /// What, the same text for the same cause.
    pub what: String,
    /// The whole story.
    pub details: String,
}

/// What bytecode begins with.
const BYTECODE: &[u8] = b"ML\xefR";

/// Marks the diagnostics that a panic in a pass or a hook becomes.
const PANIC: &str = "hit a bug in";

/// Takes the program in `path` through everything. Choices (options, ranks) depend on its bytes alone.
///
/// Of bytecode this reads, prints and writes only, and leaves the text in `printed` for the rest: reading malformed
/// bytecode can damage MLIR's memory, for which the passes are not to be blamed.
pub fn run(path: &Path, bytes: &[u8], printed: &Path) -> Report {
    let mut checker = Checker::new(Random::new(hash(bytes), 0));
    let printed = bytes.starts_with(BYTECODE).then_some(printed);
    let outcome = catch_unwind(AssertUnwindSafe(|| checker.all(path, printed)));
    let stage = checker.stage.clone();
    checker.report.finding = match outcome {
        Ok(Ok(())) => None,
        Ok(Err(wrong)) => Some(wrong),
        Err(_) => Some(Wrong { stage, what: format!("panic at {}", signals::last_panic()), details: String::new() }),
    };
    checker.report
}

struct Checker {
    random: Random,
    report: Report,
    stage: String,
    diagnostics: Rc<RefCell<Vec<(DiagnosticSeverity, String)>>>,
}

type Step<T> = Result<T, Wrong>;

impl Checker {
    fn new(random: Random) -> Self {
        Self { random, report: Report::default(), stage: String::new(), diagnostics: Rc::default() }
    }

    fn all(&mut self, path: &Path, printed: Option<&Path>) -> Step<()> {
        let diagnostics = Rc::clone(&self.diagnostics);
        let frontend = Frontend::with_diagnostics(move |severity, text| {
            diagnostics.borrow_mut().push((severity, text.to_owned()));
        });
        let context = frontend.context();
        context.set_allow_unregistered_dialects(true);

        self.enter(if printed.is_some() { "read bytecode" } else { "parse" });
        let parsed = frontend.parse(path).ok();
        self.leave(parsed.is_some())?;
        let Some(module) = parsed else { return Ok(()) };

        self.enter(if printed.is_some() { "print what was bytecode" } else { "print" });
        let text = self.round_trip(&module, |module| mlir::print(module.as_operation()), mlir::print)?;
        self.leave(true)?;
        self.enter(if printed.is_some() { "write what was bytecode" } else { "write as bytecode" });
        self.round_trip(&module, |module| mlir::bytecode(module.as_operation()), |_| text.clone())?;
        self.leave(true)?;
        if let Some(printed) = printed {
            return std::fs::write(printed, text)
                .map_err(|error| self.wrong("the text can't be kept", &error.to_string()));
        }
        self.enter("signature");
        // Only this error comes with a diagnostic; the others speak for themselves, and most inputs have no `main`.
        let refused = matches!(Signature::of(&module, "main"), Err(Error::Signature { .. }));
        self.leave(!refused)?;

        for pass in PASSES {
            let mut copy = mlir::clone(&module);
            let options = self.options(pass.options);
            self.enter(pass.flag);
            if self.pass(&frontend, &mut copy, &format!("{}{{{options}}}", pass.flag))? {
                self.round_trip(&copy, |module| mlir::print(module.as_operation()), mlir::print)?;
            }
        }
        for pipeline in PIPELINES {
            let mut copy = mlir::clone(&module);
            if !self.random.once_in(3) {
                let ranks = 1 << self.random.below(4);
                let layout = HeapLayout { num_ranks: ranks, heap_size: 1 << 30, heap_stride: Some(1 << 30) };
                set_heap_layout(&mut copy, layout);
            }
            let options = pipeline.options.iter().map(|option| (option.name, value(&mut self.random, option)));
            let options: Vec<(&str, &str)> = options.collect();
            let text = (pipeline.text)(&Values::new(pipeline.options, options.clone()));
            let mut through = true;
            for pass in split(&text) {
                self.enter(&format!("{}: {}", pipeline.flag, pass.split('{').next().unwrap_or(pass)));
                through = self.pass(&frontend, &mut copy, pass)?;
                if !through {
                    break;
                }
            }
            if through {
                self.enter(&format!("{}: translate", pipeline.flag));
                let chip = options.iter().find(|(name, _)| *name == "chip").map(|(_, chip)| *chip);
                self.translate(&copy, chip)?;
            }
        }
        Ok(())
    }

    fn options(&mut self, options: &[PassOption]) -> String {
        let texts = options.iter().map(|option| format!("{}={}", option.name, value(&mut self.random, option)));
        texts.collect::<Vec<_>>().join(" ")
    }

    /// Begins a stage: what is reported and printed from here on belongs to it.
    fn enter(&mut self, stage: &str) {
        stage.clone_into(&mut self.stage);
        signals::enter(stage);
        self.diagnostics.borrow_mut().clear();
    }

    /// Ends a stage that said it succeeded or failed.
    fn leave(&mut self, succeeded: bool) -> Step<()> {
        self.report.stages.push((self.stage.clone(), succeeded));
        let error = self.first(is_error);
        if let Some(text) = self.first(|_, text| text.contains(PANIC)) {
            return Err(self.wrong(&format!("panic at {}", signals::last_panic()), &text));
        }
        match (succeeded, error) {
            (true, Some(error)) => Err(self.wrong(&format!("success with an error: {}", normal(&error)), &error)),
            (false, None) => Err(self.wrong("failure without an error", "")),
            _ => Ok(()),
        }
    }

    fn first(&self, holds: impl Fn(DiagnosticSeverity, &str) -> bool) -> Option<String> {
        let diagnostics = self.diagnostics.borrow();
        diagnostics.iter().find(|(severity, text)| holds(*severity, text)).map(|(_, text)| text.clone())
    }

    fn wrong(&self, what: &str, details: &str) -> Wrong {
        Wrong { stage: self.stage.clone(), what: what.into(), details: details.into() }
    }

    /// Writes a module, reads it back and compares the two, both made by `show`. Returns what was written.
    fn round_trip(
        &self,
        module: &Module,
        write: impl Fn(&Module) -> Vec<u8>,
        show: impl Fn(melior::ir::OperationRef) -> Vec<u8>,
    ) -> Step<Vec<u8>> {
        let written = write(module);
        let context = symm_dialect::context(module.context());
        let Some(read) = mlir::parse(context, &written) else {
            let error = self.first(is_error).unwrap_or_default();
            return Err(self.wrong(&format!("what was written is not read: {}", normal(&error)), &error));
        };
        let (before, after) = (show(module.as_operation()), mlir::print(read.as_operation()));
        if before != after {
            let details = difference(&before, &after);
            return Err(self.wrong("what was written is read as something else", &details));
        }
        Ok(written)
    }

    /// Runs one pass alone and verifies what it leaves; whether it succeeded.
    fn pass(&mut self, frontend: &Frontend, module: &mut Module, text: &str) -> Step<bool> {
        let manager = PassManager::new(frontend.context());
        // By hand below, to tell a pass that refuses its input from one that breaks it.
        manager.enable_verifier(false);
        let text = format!("builtin.module({text})");
        if let Err(error) = melior::utility::parse_pass_pipeline(manager.as_operation_pass_manager(), &text) {
            return Err(self.wrong("pipeline refused", &format!("{text}: {error}")));
        }
        let succeeded = manager.run(module).is_ok();
        self.leave(succeeded)?;
        if succeeded && !mlir::verify(module.as_operation()) {
            let error = self.first(is_error).unwrap_or_default();
            return Err(self.wrong(&format!("no longer verifies: {}", normal(&error)), &error));
        }
        Ok(succeeded)
    }

    /// Translates a lowered module, or its kernels, to LLVM IR. Ops of other dialects may be left, and are reported.
    fn translate(&mut self, module: &Module, chip: Option<&str>) -> Step<()> {
        let outcome = match chip {
            None => translate(module),
            Some(chip) => Gpu::new(chip).and_then(|gpu| translate_device(module, &gpu, Level::O0, None)),
        };
        match outcome {
            Err(Error::Llvm(message)) => Err(self.wrong(&format!("LLVM refuses: {}", normal(&message)), &message)),
            Err(Error::NoKernels { .. }) => Ok(()),
            outcome => self.leave(outcome.is_ok()),
        }
    }
}

fn is_error(severity: DiagnosticSeverity, _: &str) -> bool {
    matches!(severity, DiagnosticSeverity::Error)
}

/// A value of an option: mostly the one it has if it is not given.
fn value(random: &mut Random, option: &PassOption) -> &'static str {
    let choices: &[&str] = match option.kind {
        OptionKind::Bool => &["false", "true"],
        OptionKind::Choice(choices) => choices,
        OptionKind::Number => &["1", "1000"],
        OptionKind::Form(..) => &[option.initial],
    };
    if random.once_in(2) { option.initial } else { choices[random.below(choices.len())] }
}

/// The passes of a pipeline's text.
fn split(text: &str) -> Vec<&str> {
    let (mut passes, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'{' | b'(' | b'<' => depth += 1,
            b'}' | b')' | b'>' => depth -= 1,
            b',' if depth == 0 => {
                passes.push(text[start..index].trim());
                start = index + 1;
            }
            _ => {}
        }
    }
    passes.push(text[start..].trim());
    passes
}

/// The message of a diagnostic without what differs from input to input.
pub fn normal(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = line.split_once(": error: ").map_or(line, |(_, message)| message);
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let mut text = String::new();
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '\'' | '"' => quoted = !quoted,
            // Names of ops stay, names of the program's things go.
            '0'..='9' if text.ends_with('N') => {}
            '0'..='9' => text.push('N'),
            _ => text.push(character),
        }
    }
    text.chars().take(100).collect()
}

/// The first line that differs.
fn difference(before: &[u8], after: &[u8]) -> String {
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let pair = before.lines().zip(after.lines()).find(|(before, after)| before != after);
    pair.map_or_else(|| "one is longer".into(), |(before, after)| format!("- {before}\n+ {after}"))
}

#[cfg(test)]
mod tests {
    use super::{normal, split};

    #[test]
    fn a_pipeline_is_cut_at_its_own_commas() {
        assert_eq!(split("a{x=1,y=2}, b(c,d),e"), ["a{x=1,y=2}", "b(c,d)", "e"]);
    }

    #[test]
    fn messages_of_one_cause_are_one() {
        assert_eq!(normal("f.mlir:12:3: error: 'a.b' op takes 12\nsource"), normal("error: 'a.b' op takes 7"));
    }
}
