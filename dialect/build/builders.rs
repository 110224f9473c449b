//! What each op is made of: a struct with a field for each operand and attribute, so that one that is forgotten or of
//! another type does not compile. The number of values in each operand is counted, and written where the op needs it.

use crate::views::{Argument, Arity};
use std::fmt::Write;

/// Writes the parts of the op `name`, whose operations are `symm.<mnemonic>`.
pub fn write(out: &mut String, name: &str, mnemonic: &str, arguments: &[(Argument, String)]) {
    let takes_values = arguments.iter().any(|(argument, _)| matches!(argument, Argument::Operand(_)));
    let lifetimes = if takes_values { "<'c, 'a>" } else { "" };
    writeln!(out, "/// What a `symm.{mnemonic}` is made of.\n#[derive(Clone)]\npub struct {name}Parts{lifetimes} {{")
        .unwrap();
    for (argument, field) in arguments {
        writeln!(out, "    /// `{field}`\n    pub {field}: {},", field_type(argument)).unwrap();
    }
    write_lines!(
        out,
        "}}",
        "",
        "impl<'c, 'a> {name}<'c, 'a> {{",
        "    /// What this one is made of.",
        "    #[must_use]",
        "    pub fn parts(self) -> {name}Parts{lifetimes} {{",
        "        {name}Parts {{",
    );
    for (_, field) in arguments {
        writeln!(out, "            {field}: self.{field}(),").unwrap();
    }
    write_lines!(
        out,
        "        }}",
        "    }}",
        "}}",
        "",
        "impl<'c, 'a> Make<'c, 'a> for {name}Parts{lifetimes} {{",
        "    const NAME: &'static str = {name}::NAME;",
        "    const OPERANDS: &'static [Operands] = {name}::OPERANDS;",
        "",
        "    fn values(&self) -> Vec<Vec<Value<'c, 'a>>> {{",
        "        vec![",
    );
    for (argument, field) in arguments {
        let values = match argument {
            Argument::Operand(Arity::One) => format!("vec![self.{field}]"),
            Argument::Operand(Arity::Optional) => format!("self.{field}.into_iter().collect()"),
            Argument::Operand(Arity::Variadic) => format!("self.{field}.clone()"),
            _ => continue,
        };
        writeln!(out, "            {values},").unwrap();
    }
    writeln!(out, "        ]\n    }}\n").unwrap();
    write_named(out, arguments);
    writeln!(out, "}}\n").unwrap();
}

/// The method that makes the attributes.
fn write_named(out: &mut String, arguments: &[(Argument, String)]) {
    let attributes: Vec<String> = arguments.iter().filter_map(|(argument, field)| attribute(argument, field)).collect();
    if attributes.is_empty() {
        write_lines!(
            out,
            "    fn named(&self, _: &'c Context) -> Vec<(&'static str, MlirAttribute<'c>)> {{",
            "        Vec::new()",
            "    }}",
        );
    } else {
        writeln!(
            out,
            "    fn named(&self, context: &'c Context) -> Vec<(&'static str, MlirAttribute<'c>)> {{\n        ["
        )
        .unwrap();
        for attribute in attributes {
            writeln!(out, "            {attribute},").unwrap();
        }
        writeln!(out, "        ].into_iter().flatten().collect()\n    }}").unwrap();
    }
}

fn field_type(argument: &Argument) -> String {
    match argument {
        Argument::Operand(Arity::One) => "Value<'c, 'a>".into(),
        Argument::Operand(Arity::Optional) => "Option<Value<'c, 'a>>".into(),
        Argument::Operand(Arity::Variadic) => "Vec<Value<'c, 'a>>".into(),
        Argument::Flag => "bool".into(),
        Argument::Integer => "Option<i64>".into(),
        Argument::Type => "Option<Type<'c>>".into(),
        Argument::String => "String".into(),
        Argument::Enum { name, optional: true, .. } => format!("Option<{name}>"),
        Argument::Enum { name, .. } => name.clone(),
    }
}

/// An expression for the attribute with its name; `None` where it is left out: a default is.
fn attribute(argument: &Argument, field: &str) -> Option<String> {
    let value = match argument {
        Argument::Operand(_) => return None,
        Argument::Flag => format!("self.{field}.then(|| MlirAttribute::unit(context))"),
        Argument::Integer => format!("self.{field}.map(|value| make::integer(context, 64, value))"),
        Argument::Type => format!("self.{field}.map(|value| make::ty(value))"),
        Argument::String => format!("Some(make::string(context, &self.{field}))"),
        Argument::Enum { optional: true, .. } => {
            format!("self.{field}.map(|value| make::integer(context, 32, value as i64))")
        }
        Argument::Enum { name, default: Some(default), .. } => {
            format!("(self.{field} != {name}::{default}).then(|| make::integer(context, 32, self.{field} as i64))")
        }
        Argument::Enum { .. } => format!("Some(make::integer(context, 32, self.{field} as i64))"),
    };
    Some(format!("({value}).map(|value| (\"{field}\", value))"))
}
