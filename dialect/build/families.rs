//! What several ops have under one name and of one type: a method of `SymmOp` that asks whichever has it.

use crate::views::{Argument, Arity};
use std::collections::BTreeMap;
use std::fmt::Write;

/// An op by its Rust name, with its arguments.
pub type Op = (String, Vec<(Argument, String)>);

/// Writes a method for each argument that two ops or more have, and for each optional keyword. Names that mean
/// different things have none.
pub fn write(out: &mut String, ops: &[Op]) {
    let mut families: BTreeMap<&str, Vec<(&str, &Argument)>> = BTreeMap::new();
    for (op, arguments) in ops {
        for (argument, name) in arguments {
            families.entry(name).or_default().push((op, argument));
        }
    }
    let is_asked = |members: &[(&str, &Argument)]| {
        members.len() > 1 || matches!(members[0].1, Argument::Enum { optional: true, .. })
    };
    for (name, members) in families.iter().filter(|(_, members)| is_asked(members)) {
        let forms: Vec<Form> = members.iter().map(|(_, argument)| Form::of(argument)).collect();
        if forms.iter().any(|form| form.ty != forms[0].ty) {
            continue;
        }
        let Form { ty, nothing, .. } = &forms[0];
        write_lines!(
            out,
            "",
            "    /// `{name}` of the ops that have it.",
            "    #[must_use]",
            "    pub fn {name}(self) -> {ty} {{",
            "        match self {{",
        );
        for ((op, _), form) in members.iter().zip(&forms) {
            let get = format!("op.{name}()");
            let get = if form.is_there { format!("Some({get})") } else { get };
            writeln!(out, "            Self::{op}(op) => {get},").unwrap();
        }
        if members.len() < ops.len() {
            writeln!(out, "            _ => {nothing},").unwrap();
        }
        writeln!(out, "        }}\n    }}").unwrap();
    }
}

/// What a family's method returns.
struct Form {
    ty: String,
    nothing: &'static str,
    /// Whether an op that has it always has a value.
    is_there: bool,
}

impl Form {
    fn of(argument: &Argument) -> Self {
        let (ty, nothing, is_there) = match argument {
            Argument::Operand(Arity::One) => ("Option<Value<'c, 'a>>".into(), "None", true),
            Argument::Operand(Arity::Optional) => ("Option<Value<'c, 'a>>".into(), "None", false),
            Argument::Operand(Arity::Variadic) => ("Vec<Value<'c, 'a>>".into(), "Vec::new()", false),
            Argument::Flag => ("bool".into(), "false", false),
            Argument::Integer => ("Option<i64>".into(), "None", false),
            Argument::Type => ("Option<Type<'c>>".into(), "None", false),
            Argument::String => ("Option<String>".into(), "None", true),
            Argument::Enum { name, optional, .. } => (format!("Option<{name}>"), "None", !optional),
        };
        Self { ty, nothing, is_there }
    }
}
