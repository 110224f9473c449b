//! What the passes know of each op: `facts` in `td/`, read from the TableGen records, and written as methods of
//! `SymmOp`.

use serde_json::Value;
use std::fmt::Write;

/// When an op orders memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    Never,
    Always,
    /// As its `sem` says.
    BySem,
}

/// The memory that one operand names.
#[derive(Debug)]
struct Access {
    pointer: String,
    reads: bool,
    writes: bool,
    is_flag: bool,
    /// The operands of the rank and of the distance, if it is another rank's.
    way: Option<(String, String)>,
}

/// The facts of one op.
#[derive(Debug)]
pub struct Facts {
    computes: bool,
    waits: bool,
    acquires: When,
    releases: When,
    accesses: Vec<Access>,
    translations: Vec<(String, String)>,
    looks: Vec<Look>,
}

/// What its definition has, apart from its `facts`.
#[derive(Debug, PartialEq)]
enum Look {
    /// An argument `group`.
    Group,
    /// A result that is memory.
    Memory,
    Folder,
}

impl Facts {
    /// Those of a record; what is wrong with them otherwise.
    pub fn of(records: &Value, name: &str) -> Result<Self, String> {
        let record = &records[name];
        let mnemonic = record["opName"].as_str().unwrap_or(name);
        let Some(facts) = record["facts"].as_array() else {
            return Err(format!(
                "symm.{mnemonic} does not say what passes know of it: write `let facts = […];` \
                 (td/Dialect.td, Symm_Fact)"
            ));
        };
        let mut found = Self {
            computes: false,
            waits: false,
            acquires: When::Never,
            releases: When::Never,
            accesses: Vec::new(),
            translations: Vec::new(),
            looks: looks(record),
        };
        for fact in facts {
            let name = fact["def"].as_str().unwrap_or_default();
            let way = way(records, &records[name]);
            if let Some(way) = &way
                && !found.translations.contains(way)
            {
                found.translations.push(way.clone());
            }
            match name {
                "Symm_Computes" => found.computes = true,
                "Symm_Waits" => found.waits = true,
                "Symm_Acquires" => found.acquires = When::Always,
                "Symm_AcquiresBySem" => found.acquires = When::BySem,
                "Symm_Releases" => found.releases = When::Always,
                "Symm_ReleasesBySem" => found.releases = When::BySem,
                _ => match access(&records[name], way.clone()) {
                    Some(access) => found.accesses.push(access),
                    None if way.is_some() => {}
                    None => {
                        return Err(format!("symm.{mnemonic}: {name} is no fact that dialect/build/facts.rs knows"));
                    }
                },
            }
        }
        found.check(record).map_err(|complaint| format!("symm.{mnemonic}: {complaint}"))?;
        Ok(found)
    }

    /// Whether it asks about ranks and heaps: it computes, and translates nothing.
    pub fn is_question(&self) -> bool {
        self.computes && self.translations.is_empty()
    }

    /// Whether it changes what another rank may look at meanwhile: a flag, or data in one step.
    pub fn is_update(&self) -> bool {
        self.accesses.iter().any(|access| access.writes && (access.is_flag || access.reads))
    }

    /// The operands that point to what it writes.
    pub fn written(&self) -> Vec<&str> {
        self.accesses.iter().filter(|access| access.writes).map(|access| access.pointer.as_str()).collect()
    }

    /// Whether it reads or writes memory through its operands.
    pub fn is_access(&self) -> bool {
        !self.accesses.is_empty()
    }

    pub fn waits(&self) -> bool {
        self.waits
    }

    /// Whether a `group` of threads does it together.
    pub fn has_group(&self) -> bool {
        self.looks.contains(&Look::Group)
    }

    /// Whether its result is memory.
    pub fn returns_memory(&self) -> bool {
        self.looks.contains(&Look::Memory)
    }

    /// Whether its definition says that it has a folder.
    pub fn has_folder(&self) -> bool {
        self.looks.contains(&Look::Folder)
    }

    /// Whether it releases, always or as its `sem` says.
    pub fn may_release(&self) -> bool {
        self.releases != When::Never
    }

    fn check(&self, record: &Value) -> Result<(), String> {
        let orders = self.waits || self.acquires != When::Never || self.releases != When::Never;
        if self.computes && (orders || !self.accesses.is_empty()) {
            return Err("what only computes accesses and orders nothing: drop Symm_Computes or the other facts".into());
        }
        let arguments: Vec<&str> = arguments(record).map(|(_, name)| name).collect();
        let pointers = self.accesses.iter().map(|access| &access.pointer);
        let ways = self.translations.iter().flat_map(|(rank, delta)| [rank, delta]);
        if let Some(name) = pointers.chain(ways).find(|name| !arguments.contains(&name.as_str())) {
            return Err(format!("a fact names '{name}', which is not one of its arguments"));
        }
        if (self.acquires == When::BySem || self.releases == When::BySem) && !arguments.contains(&"sem") {
            return Err("a fact names its 'sem', and it has none".into());
        }
        check_assembly(record)
    }
}

/// The types of results stand where the dialect's rule of assembly has them (td/Dialect.td).
fn check_assembly(record: &Value) -> Result<(), String> {
    let format = record["assemblyFormat"].as_str().unwrap_or_default();
    for (ty, name) in typed_names(&record["results"]) {
        let Some((before, _)) = format.split_once(&format!("type(${name})")) else { continue };
        match (is_memory(ty), before.contains("`->`")) {
            (true, false) | (false, true) => {}
            (true, true) => return Err(format!("its result '{name}' is memory: its type comes before `->`")),
            (false, false) => return Err(format!("the type of its result '{name}' comes after `->`")),
        }
    }
    Ok(())
}

fn is_memory(ty: &str) -> bool {
    matches!(ty, "Symm_Pointer" | "AnyMemRef")
}

fn looks(record: &Value) -> Vec<Look> {
    let all = [
        (Look::Group, arguments(record).any(|(_, name)| name == "group")),
        (Look::Memory, typed_names(&record["results"]).any(|(ty, _)| is_memory(ty))),
        (Look::Folder, record["hasFolder"].as_i64() == Some(1)),
    ];
    all.into_iter().filter_map(|(look, has)| has.then_some(look)).collect()
}

/// The types and names of an op's arguments.
fn arguments(record: &Value) -> impl Iterator<Item = (&str, &str)> {
    typed_names(&record["arguments"])
}

fn typed_names(dag: &Value) -> impl Iterator<Item = (&str, &str)> {
    let entries = dag["args"].as_array().into_iter().flatten();
    entries.filter_map(|entry| Some((entry[0]["def"].as_str().unwrap_or_default(), entry[1].as_str()?)))
}

/// The operands of a fact's translation, if it has one.
fn way(records: &Value, fact: &Value) -> Option<(String, String)> {
    let way = &records[fact["way"]["def"].as_str()?];
    Some((way["rank"].as_str()?.to_owned(), way["delta"].as_str()?.to_owned()))
}

fn access(fact: &Value, way: Option<(String, String)>) -> Option<Access> {
    let bit = |name: &str| fact[name].as_i64() == Some(1);
    let pointer = fact["pointer"].as_str()?.to_owned();
    Some(Access { pointer, reads: bit("reads"), writes: bit("writes"), is_flag: bit("flag"), way })
}

/// Methods of `SymmOp`, of the facts of each op by its Rust name.
pub fn write(out: &mut String, ops: &[(String, Facts)]) {
    predicate(out, ops, "Whether it touches no memory and waits for nobody", "is_pure", |facts| flag(facts.computes));
    predicate(out, ops, "Whether it goes on when another rank has done something", "waits", |facts| flag(facts.waits));
    let doc = "Whether it lets in what others have released";
    predicate(out, ops, doc, "acquires", |facts| order(facts.acquires, "acquires"));
    predicate(out, ops, "Whether it hands over what came before it", "releases", |facts| {
        order(facts.releases, "releases")
    });
    table(out, ops, "What it accesses through its operands", "accesses", "Access", |facts| {
        facts.accesses.iter().map(access_literal).collect()
    });
    let doc = "Every translation it makes: the names of its rank operand and of its distance operand";
    table(out, ops, doc, "translations", "(&'static str, &'static str)", |facts| {
        facts.translations.iter().map(|(rank, delta)| format!("(\"{rank}\", \"{delta}\")")).collect()
    });
}

fn access_literal(access: &Access) -> String {
    let Access { pointer, reads, writes, is_flag, way } = access;
    let way = way.as_ref().map_or("None".into(), |(rank, delta)| format!("Some((\"{rank}\", \"{delta}\"))"));
    format!("Access {{ pointer: \"{pointer}\", reads: {reads}, writes: {writes}, is_flag: {is_flag}, way: {way} }}")
}

fn flag(holds: bool) -> String {
    holds.to_string()
}

fn order(when: When, method: &str) -> String {
    match when {
        When::Never => "false".into(),
        When::Always => "true".into(),
        When::BySem => format!("op.sem().{method}()"),
    }
}

fn predicate(out: &mut String, ops: &[(String, Facts)], doc: &str, name: &str, of: impl Fn(&Facts) -> String) {
    writeln!(out, "\n    /// {doc}.\n    #[must_use]\n    pub fn {name}(self) -> bool {{\n        match self {{")
        .unwrap();
    for (op, facts) in ops {
        let value = of(facts);
        let binding = if value.contains("op.") { "op" } else { "_" };
        writeln!(out, "            Self::{op}({binding}) => {value},").unwrap();
    }
    writeln!(out, "        }}\n    }}").unwrap();
}

fn table(
    out: &mut String,
    ops: &[(String, Facts)],
    doc: &str,
    name: &str,
    ty: &str,
    of: impl Fn(&Facts) -> Vec<String>,
) {
    writeln!(
        out,
        "\n    /// {doc}.\n    #[must_use]\n    pub fn {name}(self) -> &'static [{ty}] {{\n        match self {{"
    )
    .unwrap();
    for (op, facts) in ops {
        writeln!(out, "            Self::{op}(_) => &[{}],", of(facts).join(", ")).unwrap();
    }
    writeln!(out, "        }}\n    }}").unwrap();
}
