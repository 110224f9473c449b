//! Where inputs come from: the seeds in every form MLIR has for them, sorted by what can be done with them.

use crate::corpus::Seed;
use crate::random::Random;
use crate::words::Words;
use crate::{binary, mlir, signals, text, worker};
use anyhow::{Context as _, Result, bail};
use std::io::Write;
use std::path::Path;
use symm_codegen::Frontend;

/// The seeds by form.
#[derive(Default)]
pub struct Pools {
    forms: [Vec<Vec<u8>>; 4],
}

/// The forms, in the order of `Pools::forms`.
#[derive(Clone, Copy)]
enum Form {
    /// Text that parses.
    Text,
    /// Text that does not: tests of errors.
    Broken,
    /// The generic form of what parses.
    Generic,
    /// The bytecode of what parses.
    Bytecode,
}

/// An input of the fuzzer.
pub struct Input {
    /// The file's content.
    pub bytes: Vec<u8>,
    /// The file's extension.
    pub extension: &'static str,
}

impl Pools {
    /// Sorts the seeds. One on which MLIR dies is one that does not parse.
    pub fn prepare(seeds: Vec<Seed>) -> Result<Self> {
        let mut pools = Self::default();
        for seed in seeds {
            signals::enter(&seed.name);
            let forms = worker::apart(|| {
                let frontend = Frontend::with_diagnostics(|_, _| {});
                frontend.context().set_allow_unregistered_dialects(true);
                let module = mlir::parse(frontend.context(), &seed.bytes)?;
                Some((mlir::print_generic(module.as_operation()), mlir::bytecode(module.as_operation())))
            })?;
            let is_text = std::str::from_utf8(&seed.bytes).is_ok();
            let mut form = if is_text { Form::Broken } else { Form::Bytecode };
            if let Ok(Some((generic, bytecode))) = forms {
                pools.forms[Form::Generic as usize].push(generic);
                pools.forms[Form::Bytecode as usize].push(bytecode);
                form = if is_text { Form::Text } else { Form::Bytecode };
            }
            pools.forms[form as usize].push(seed.bytes);
        }
        Ok(pools)
    }

    /// How many inputs come before the mutated ones: each text as it is.
    pub fn unmutated(&self) -> u64 {
        (self.forms[Form::Text as usize].len() + self.forms[Form::Broken as usize].len()) as u64
    }

    /// Input `number` of a run: the seeds as they are first, then mutations.
    pub fn input(&self, words: &Words, seed: u64, number: u64) -> Input {
        let [texts, broken, generic, bytecode] = &self.forms;
        let is_text = |bytes| Input { bytes, extension: "mlir" };
        if let Some(seed) = usize::try_from(number).ok().and_then(|number| texts.iter().chain(broken).nth(number)) {
            return is_text(seed.clone());
        }
        let mut random = Random::new(seed, number);
        let pool = match random.below(100) {
            0..25 => {
                let (one, other) = (random.pick(bytecode), random.pick(bytecode));
                let (one, other) = (one.map_or(&[][..], Vec::as_slice), other.map_or(&[][..], Vec::as_slice));
                return Input { bytes: binary::mutate(one, other, &mut random), extension: "mlirbc" };
            }
            25..30 => broken,
            30..45 => generic,
            _ => texts,
        };
        let text = random.pick(pool).map_or(&[][..], Vec::as_slice);
        is_text(text::mutate(text, words, &mut random))
    }

    /// The vocabulary of the texts.
    pub fn words(&self) -> Words {
        Words::of(self.forms[..3].iter().flatten().map(Vec::as_slice))
    }

    /// Writes the pools, for the workers to read.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
        for (form, seeds) in self.forms.iter().enumerate() {
            for seed in seeds {
                writeln!(file, "{form} {}", seed.len())?;
                file.write_all(seed)?;
            }
        }
        file.flush()?;
        Ok(())
    }

    /// Reads what `write` wrote.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        let mut pools = Self::default();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let line = rest.iter().position(|byte| *byte == b'\n').context("a line")?;
            let (form, length) = std::str::from_utf8(&rest[..line])?.split_once(' ').context("two numbers")?;
            let (form, length): (usize, usize) = (form.parse()?, length.parse()?);
            let Some(seed) = rest.get(line + 1..line + 1 + length) else { bail!("{} is cut short", path.display()) };
            pools.forms.get_mut(form).context("a form")?.push(seed.to_vec());
            rest = &rest[line + 1 + length..];
        }
        Ok(pools)
    }
}

#[cfg(test)]
mod tests {
    use super::{Form, Pools};

    #[test]
    fn inputs_are_the_same_from_what_was_written_and_read() {
        let mut pools = Pools::default();
        pools.forms[Form::Text as usize] = vec![b"func.func @f() {\n  return\n}\n".to_vec(), b"module {\n}\n".to_vec()];
        pools.forms[Form::Bytecode as usize] = vec![(0..100).collect()];
        let path = std::env::temp_dir().join(format!("symm-fuzz-pools-{}", std::process::id()));
        pools.write(&path).expect("it can be written");
        let read = Pools::read(&path).expect("it can be read");
        std::fs::remove_file(&path).expect("it is there");
        assert_eq!(pools.forms, read.forms);
        let (words, other) = (pools.words(), read.words());
        for number in 0..100 {
            assert_eq!(pools.input(&words, 1, number).bytes, read.input(&other, 1, number).bytes);
        }
        assert_eq!(pools.input(&words, 1, 1).bytes, b"module {\n}\n");
    }
}
