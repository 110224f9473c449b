//! What a pass and a pipeline are: a row of the tables in `lib.rs`.

use melior::ir::OperationRef;
use std::panic::{AssertUnwindSafe, catch_unwind};
use symm_dialect::diagnostic::{Reported, Severity, report};

/// A pass: its flag, its documentation and what it does.
pub struct Pass {
    /// The flag, without the dashes: `symm-hoist-translation`.
    pub flag: &'static str,
    /// One line for `--help`.
    pub summary: &'static str,
    /// Its options.
    pub options: &'static [PassOption],
    /// Rewrites or checks one operation (of any kind) and all that it holds.
    pub run: for<'c, 'a> fn(OperationRef<'c, 'a>, &Values) -> Result<Ir, Reported>,
}

impl Pass {
    /// Runs the pass; a panic in it becomes a diagnostic: unwinding into C++ would abort.
    ///
    /// # Errors
    /// The pass refused the program, and has said why.
    pub fn run_on<'c: 'a, 'a>(&self, root: OperationRef<'c, 'a>, values: &Values) -> Result<Ir, Reported> {
        catch_unwind(AssertUnwindSafe(|| (self.run)(root, values))).unwrap_or_else(|_| {
            report(Severity::Error, root, &format!("hit a bug in {}; please report it", self.flag));
            Err(Reported)
        })
    }
}

/// Whether a pass has changed the IR; what it has kept is not verified again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ir {
    /// It is what it was.
    Kept = 1,
    /// It may differ.
    Changed = 2,
}

/// A named pipeline of passes.
pub struct Pipeline {
    /// The flag, without the dashes: `symm-cpu`.
    pub flag: &'static str,
    /// One line for `--help`.
    pub summary: &'static str,
    /// Its options.
    pub options: &'static [PassOption],
    /// The pipeline in MLIR's textual form.
    pub text: fn(&Values) -> String,
}

/// An option of a pass or a pipeline.
#[derive(Clone, Copy)]
pub struct PassOption {
    /// The name.
    pub name: &'static str,
    /// What values it takes.
    pub kind: OptionKind,
    /// The value if it is not given.
    pub initial: &'static str,
    /// One line for `--help`.
    pub help: &'static str,
}

/// The values an option takes.
#[derive(Clone, Copy)]
pub enum OptionKind {
    /// `true` or `false`.
    Bool,
    /// A whole number above zero.
    Number,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// What this description is of, and this function takes.
    Form(&'static str, fn(&str) -> bool),
}

impl PassOption {
    /// Why `value` is not one of the option's values, if it is not.
    #[must_use]
    pub fn complaint(&self, value: &str) -> Option<String> {
        let choices: &[&str] = match self.kind {
            OptionKind::Bool => &["true", "false"],
            OptionKind::Choice(choices) => choices,
            OptionKind::Form(form, takes) => {
                return (!takes(value)).then(|| format!("option '{}' takes {form}, got '{value}'", self.name));
            }
            OptionKind::Number => {
                return (!value.parse().is_ok_and(|number: i64| number > 0)).then(|| {
                    format!("option '{}' takes a whole number from 1 to {}, got '{value}'", self.name, i64::MAX)
                });
            }
        };
        (!choices.contains(&value))
            .then(|| format!("option '{}' takes {}, got '{value}'", self.name, choices.join(" or ")))
    }
}

/// The values of the options of a pass or a pipeline in one run.
pub struct Values<'v> {
    options: &'static [PassOption],
    given: Vec<(&'v str, &'v str)>,
}

impl<'v> Values<'v> {
    /// `given` are options by name and their values; every other option has its initial value.
    #[must_use]
    pub fn new(options: &'static [PassOption], given: Vec<(&'v str, &'v str)>) -> Self {
        Self { options, given }
    }

    /// Why these values are not valid for the options, if they are not.
    #[must_use]
    pub fn complaint(&self) -> Option<String> {
        self.given.iter().find_map(|(name, value)| match self.options.iter().find(|option| option.name == *name) {
            Some(option) => option.complaint(value),
            None => Some(format!("there is no option '{name}'")),
        })
    }

    /// The value of an option.
    ///
    /// # Panics
    /// The pass or pipeline has no such option.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        let option = self.options.iter().find(|option| option.name == name);
        let initial = option.unwrap_or_else(|| panic!("there is no option '{name}'")).initial;
        self.given.iter().find(|(given, _)| *given == name).map_or(initial, |(_, value)| value)
    }

    /// The value of an option that is a number.
    #[must_use]
    pub fn number(&self, name: &str) -> i64 {
        self.text(name).parse().unwrap_or(i64::MAX)
    }

    /// Whether an option is `true`.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.text(name) == "true"
    }
}
