//! Writes a typed Rust view of every op and enum from the TableGen records (`llvm-tblgen --dump-json`).
//!
//! melior's own `dialect!` macro wraps owned operations only and looks for a `operand_segment_sizes` attribute
//! that MLIR no longer writes; a pass holds references, and most ops here have optional operands.

use crate::facts::Facts;
use crate::{builders, facts, families, unions};
use serde_json::Value;
use std::fmt::Write;

/// How many values an operand or result name stands for.
#[derive(Clone, Copy, PartialEq)]
pub enum Arity {
    One,
    Optional,
    Variadic,
}

/// An operand or an attribute.
pub enum Argument {
    Operand(Arity),
    Flag,
    Integer,
    Type,
    String,
    Enum { name: String, default: Option<String>, optional: bool },
}

/// The Rust source of `dialect::ops`.
pub fn generate(records: &Value) -> String {
    let mut out = String::new();
    for name in instances(records, "Symm_Enum") {
        write_enum(&mut out, records, &name);
    }
    let ops = instances(records, "Op");
    for name in &ops {
        write_op(&mut out, records, name);
    }
    write_union(&mut out, records, &ops);
    out
}

fn instances(records: &Value, class: &str) -> Vec<String> {
    let names = records["!instanceof"][class].as_array().unwrap();
    let mut names: Vec<String> = names.iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    names.retain(|name| name.starts_with("Symm_"));
    names
}

fn text<'a>(record: &'a Value, field: &str) -> &'a str {
    record[field].as_str().unwrap_or_default()
}

/// `Symm_RemoteLoadOp` → `RemoteLoad`.
fn rust_name(record: &str) -> &str {
    record.trim_start_matches("Symm_").trim_end_matches("Op")
}

fn write_enum(out: &mut String, records: &Value, name: &str) {
    let record = &records[name];
    let class = text(record, "className");
    writeln!(out, "/// The {}.", text(record, "summary")).unwrap();
    writeln!(out, "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]\npub enum {class} {{").unwrap();
    let cases: Vec<(String, i64, String)> = record["enumerants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| {
            let case = &records[case["def"].as_str().unwrap()];
            (text(case, "symbol").into(), case["value"].as_i64().unwrap(), text(case, "str").into())
        })
        .collect();
    for (symbol, value, keyword) in &cases {
        writeln!(out, "    /// `{keyword}`\n    {symbol} = {value},").unwrap();
    }
    writeln!(out, "}}\n\nimpl {class} {{").unwrap();
    writeln!(out, "    /// Every case, in the order of their values.\n    pub const ALL: &'static [Self] = &[")
        .unwrap();
    for (symbol, ..) in &cases {
        writeln!(out, "        Self::{symbol},").unwrap();
    }
    write_lines!(
        out,
        "    ];",
        "",
        "    /// Every keyword of the assembly with the number that attributes hold.",
        "    pub const KEYWORDS: &'static [(&'static str, i64)] = &[",
    );
    for (_, value, keyword) in &cases {
        writeln!(out, "        (\"{keyword}\", {value}),").unwrap();
    }
    write_lines!(
        out,
        "    ];",
        "",
        "    /// The keyword of the assembly.",
        "    #[must_use]",
        "    pub fn keyword(self) -> &'static str {{",
        "        match self {{",
    );
    for (symbol, _, keyword) in &cases {
        writeln!(out, "            Self::{symbol} => \"{keyword}\",").unwrap();
    }
    writeln!(out, "        }}\n    }}\n}}\n").unwrap();
}

fn classify(records: &Value, def: &str) -> Argument {
    let record = &records[def];
    let classes: Vec<&str> = record["!superclasses"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let has = |class: &str| classes.contains(&class);
    if has("Variadic") {
        return Argument::Operand(Arity::Variadic);
    }
    if has("Optional") {
        return Argument::Operand(Arity::Optional);
    }
    if has("Symm_Enum") {
        return Argument::Enum { name: text(record, "className").into(), default: None, optional: false };
    }
    if has("DefaultValuedAttr") || has("OptionalAttr") {
        let base = record["baseAttr"]["def"].as_str().unwrap();
        return match classify(records, base) {
            Argument::Enum { name, .. } => {
                let default = has("DefaultValuedAttr")
                    .then(|| text(record, "defaultValue").rsplit("::").next().unwrap().to_owned());
                Argument::Enum { name, optional: default.is_none(), default }
            }
            other => other,
        };
    }
    match def {
        "UnitAttr" => Argument::Flag,
        "I64Attr" => Argument::Integer,
        "StrAttr" => Argument::String,
        "TypeAttr" => Argument::Type,
        _ if has("Attr") => panic!("{def}: teach dialect/build/views.rs this kind of attribute"),
        _ => Argument::Operand(Arity::One),
    }
}

/// `(kind, name)` of every entry of an `(ins …)` or `(outs …)`.
fn entries(records: &Value, dag: &Value) -> Vec<(Argument, String)> {
    let args = dag["args"].as_array().unwrap();
    args.iter()
        .map(|entry| (classify(records, entry[0]["def"].as_str().unwrap()), entry[1].as_str().unwrap().to_owned()))
        .collect()
}

fn write_op(out: &mut String, records: &Value, record_name: &str) {
    let record = &records[record_name];
    let name = rust_name(record_name);
    let mnemonic = text(record, "opName");
    let arguments = entries(records, &record["arguments"]);
    let results = entries(records, &record["results"]);
    let groups: Vec<(Arity, &str)> = arguments
        .iter()
        .filter_map(|(kind, name)| match kind {
            Argument::Operand(arity) => Some((*arity, name.as_str())),
            _ => None,
        })
        .collect();

    writeln!(out, "/// {}: `symm.{mnemonic}`.", text(record, "summary")).unwrap();
    writeln!(out, "#[derive(Clone, Copy)]\npub struct {name}<'c, 'a>(OperationRef<'c, 'a>);\n").unwrap();
    writeln!(out, "impl<'c, 'a> {name}<'c, 'a> {{").unwrap();
    writeln!(out, "    /// The operation's name.\n    pub const NAME: &'static str = \"symm.{mnemonic}\";").unwrap();
    write_names(out, &arguments, &groups);
    write_lines!(
        out,
        "    /// The operation itself.",
        "    #[must_use]",
        "    pub fn operation(self) -> OperationRef<'c, 'a> {{",
        "        self.0",
        "    }}",
    );
    write_operands(out, &groups);
    write_attributes(out, &arguments);
    write_result(out, &results, &groups);
    writeln!(out, "}}\n").unwrap();
    builders::write(out, name, mnemonic, &arguments);
}

/// The tables of what an op takes.
fn write_names(out: &mut String, arguments: &[(Argument, String)], groups: &[(Arity, &str)]) {
    writeln!(out, "    /// The names of the operands, in order.\n    pub const OPERANDS: &'static [Operands] = &[")
        .unwrap();
    for (arity, group) in groups {
        let arity = match arity {
            Arity::One => "One",
            Arity::Optional => "Optional",
            Arity::Variadic => "Variadic",
        };
        writeln!(out, "        Operands {{ name: \"{group}\", arity: Arity::{arity} }},").unwrap();
    }
    writeln!(out, "    ];\n\n    /// The attributes.\n    pub const ATTRIBUTES: &'static [Attribute] = &[").unwrap();
    for (kind, attribute) in arguments {
        let form = match kind {
            Argument::Operand(_) => continue,
            Argument::Flag => "Flag".to_owned(),
            Argument::Integer => "Integer".to_owned(),
            Argument::Type => "Type".to_owned(),
            Argument::String => "String".to_owned(),
            Argument::Enum { name, .. } => format!("Keyword({name}::KEYWORDS)"),
        };
        writeln!(out, "        Attribute {{ name: \"{attribute}\", form: Form::{form} }},").unwrap();
    }
    writeln!(out, "    ];\n").unwrap();
}

/// A method for each operand.
fn write_operands(out: &mut String, groups: &[(Arity, &str)]) {
    for (index, (arity, group)) in groups.iter().enumerate() {
        let (ty, getter) = match arity {
            Arity::One => ("Value<'c, 'a>", "one"),
            Arity::Optional => ("Option<Value<'c, 'a>>", "optional"),
            Arity::Variadic => ("Vec<Value<'c, 'a>>", "all"),
        };
        write_lines!(
            out,
            "",
            "    /// The operand `{group}`.",
            "    #[must_use]",
            "    pub fn {group}(self) -> {ty} {{",
            "        access::{getter}(self.0, Self::OPERANDS, {index})",
            "    }}",
        );
    }
}

/// A method for each attribute.
fn write_attributes(out: &mut String, arguments: &[(Argument, String)]) {
    for (kind, argument) in arguments {
        let (ty, body) = match kind {
            Argument::Operand(_) => continue,
            Argument::Flag => ("bool".to_owned(), format!("self.0.has_attribute(\"{argument}\")")),
            Argument::Integer => ("Option<i64>".to_owned(), format!("access::integer(self.0, \"{argument}\")")),
            Argument::Type => ("Option<Type<'c>>".to_owned(), format!("access::ty(self.0, \"{argument}\")")),
            Argument::String => ("String".to_owned(), format!("access::string(self.0, \"{argument}\")")),
            Argument::Enum { name, optional: true, .. } => (
                format!("Option<{name}>"),
                format!("access::integer(self.0, \"{argument}\").and_then(|value| access::case({name}::ALL, value))"),
            ),
            Argument::Enum { name, default, .. } => {
                let default =
                    default.as_ref().map_or_else(|| format!("{name}::ALL[0]"), |case| format!("{name}::{case}"));
                (
                    name.clone(),
                    format!(
                        "access::integer(self.0, \"{argument}\")\
                         .and_then(|value| access::case({name}::ALL, value)).unwrap_or({default})"
                    ),
                )
            }
        };
        write_lines!(
            out,
            "",
            "    /// The attribute `{argument}`.",
            "    #[must_use]",
            "    pub fn {argument}(self) -> {ty} {{",
            "        {body}",
            "    }}",
        );
    }
}

/// A method for the result, if there is one that is always there.
fn write_result(out: &mut String, results: &[(Argument, String)], groups: &[(Arity, &str)]) {
    let is_optional = |(result, _): &(Argument, String)| matches!(result, Argument::Operand(Arity::Optional));
    if let [(Argument::Operand(arity), result), others @ ..] = results
        && others.iter().all(is_optional)
    {
        // An operand may bear the result's name (`ctx`): the operand keeps it.
        let method = if groups.iter().any(|(_, group)| group == result) { "result" } else { result.as_str() };
        let (ty, getter) = match arity {
            Arity::One => ("Value<'c, 'a>", "result"),
            _ => ("Option<Value<'c, 'a>>", "optional_result"),
        };
        write_lines!(
            out,
            "",
            "    /// The result `{result}`.",
            "    #[must_use]",
            "    pub fn {method}(self) -> {ty} {{",
            "        access::{getter}(self.0)",
            "    }}",
        );
    }
}

fn write_union(out: &mut String, records: &Value, ops: &[String]) {
    writeln!(out, "/// Any op of the dialect.\n#[derive(Clone, Copy)]\npub enum SymmOp<'c, 'a> {{").unwrap();
    for op in ops {
        writeln!(out, "    /// `symm.{0}`\n    {1}({1}<'c, 'a>),", text(&records[op], "opName"), rust_name(op))
            .unwrap();
    }
    writeln!(out, "}}\n\nimpl<'c, 'a> SymmOp<'c, 'a> {{").unwrap();
    writeln!(out, "    /// The names of all ops.\n    pub const NAMES: &'static [&'static str] = &[").unwrap();
    for op in ops {
        writeln!(out, "        {}::NAME,", rust_name(op)).unwrap();
    }
    write_casts(out, records, ops);
    write_method(out, ops, "The operation itself.", "operation(self) -> OperationRef<'c, 'a>", |name| {
        format!("Self::{name}(op) => op.operation()")
    });
    write_method(out, ops, "The names of the operands, in order.", "operands(self) -> &'static [Operands]", |name| {
        format!("Self::{name}(_) => {name}::OPERANDS")
    });
    let facts: Vec<(String, Facts)> = ops.iter().map(|op| (rust_name(op).to_owned(), facts_of(records, op))).collect();
    facts::write(out, &facts);
    let arguments = |op: &String| (rust_name(op).to_owned(), entries(records, &records[op]["arguments"]));
    families::write(out, &ops.iter().map(arguments).collect::<Vec<_>>());
    unions::write_methods(out, &facts);
    unions::write_halves(out, &facts);
    unions::write(out, &facts);
}

fn facts_of(records: &Value, op: &str) -> Facts {
    Facts::of(records, op).unwrap_or_else(|complaint| panic!("{complaint}"))
}

/// From a name, or an operation, to the op.
fn write_casts(out: &mut String, records: &Value, ops: &[String]) {
    write_lines!(
        out,
        "    ];",
        "",
        "    /// What the definition of the op of this name, without `symm.`, says.",
        "    #[must_use]",
        "    pub fn definition(mnemonic: &str) -> Option<Definition> {{",
        "        let (name, operands, attributes, written): (_, _, _, &[_]) = match mnemonic {{",
    );
    for op in ops {
        writeln!(
            out,
            "            \"{0}\" => ({1}::NAME, {1}::OPERANDS, {1}::ATTRIBUTES, &{2:?}),",
            text(&records[op], "opName"),
            rust_name(op),
            facts_of(records, op).written()
        )
        .unwrap();
    }
    write_lines!(
        out,
        "            _ => return None,",
        "        }};",
        "        Some(Definition {{ name, operands, attributes, written }})",
        "    }}",
        "",
        "    /// The view of `operation`, if it is an op of this dialect.",
        "    #[must_use]",
        "    pub fn cast(operation: OperationRef<'c, 'a>) -> Option<Self> {{",
        "        let name = operation.name();",
        "        match name.as_string_ref().as_str().ok()?.strip_prefix(\"symm.\")? {{",
    );
    for op in ops {
        writeln!(
            out,
            "            \"{0}\" => Some(Self::{1}({1}(operation))),",
            text(&records[op], "opName"),
            rust_name(op)
        )
        .unwrap();
    }
    writeln!(out, "            _ => None,\n        }}\n    }}").unwrap();
}

/// A method of the union that matches its op: `arm` says what it does for one.
fn write_method(out: &mut String, ops: &[String], doc: &str, signature: &str, arm: impl Fn(&str) -> String) {
    writeln!(out, "\n    /// {doc}\n    #[must_use]\n    pub fn {signature} {{\n        match self {{").unwrap();
    for op in ops {
        writeln!(out, "            {},", arm(rust_name(op))).unwrap();
    }
    writeln!(out, "        }}\n    }}").unwrap();
}
