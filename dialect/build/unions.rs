//! Ops that have a fact in common, as an enum of their own. A match on one names every member: an op that gets the fact
//! later does not build before each such match has its answer.

use crate::facts::Facts;
use std::fmt::Write;

struct Union {
    name: &'static str,
    /// The method of `SymmOp` that returns it.
    method: &'static str,
    doc: &'static str,
    has: fn(&Facts) -> bool,
}

const UNIONS: [Union; 7] = [
    Union {
        name: "Waiting",
        method: "waiting",
        doc: "An op that goes on when another rank has done something",
        has: Facts::waits,
    },
    Union {
        name: "Releasing",
        method: "releasing",
        doc: "An op that hands over what came before it, always or as its `sem` says",
        has: Facts::may_release,
    },
    Union {
        name: "Update",
        method: "update",
        doc: "An op that changes what another rank may look at meanwhile: a flag, or data in one step",
        has: Facts::is_update,
    },
    Union {
        name: "Accessing",
        method: "accessing",
        doc: "An op that reads or writes memory through its operands",
        has: Facts::is_access,
    },
    Union {
        name: "Grouped",
        method: "grouped",
        doc: "An op that a `group` of threads does together",
        has: Facts::has_group,
    },
    Union { name: "Pointing", method: "pointing", doc: "An op that returns memory", has: Facts::returns_memory },
    Union { name: "Folding", method: "folding", doc: "An op that has a folder", has: Facts::has_folder },
];

/// Methods of `SymmOp`: the op as a member of each union.
pub fn write_methods(out: &mut String, ops: &[(String, Facts)]) {
    for Union { name, method, doc, has } in UNIONS {
        write_lines!(
            out,
            "",
            "    /// {doc}.",
            "    #[must_use]",
            "    pub fn {method}(self) -> Option<{name}<'c, 'a>> {{",
            "        match self {{",
        );
        for (op, facts) in ops {
            if has(facts) {
                writeln!(out, "            Self::{op}(op) => Some({name}::{op}(op)),").unwrap();
            } else {
                writeln!(out, "            Self::{op}(_) => None,").unwrap();
            }
        }
        writeln!(out, "        }}\n    }}").unwrap();
    }
}

/// The enums.
pub fn write(out: &mut String, ops: &[(String, Facts)]) {
    for Union { name, doc, has, .. } in UNIONS {
        writeln!(out, "/// {doc}.\n#[derive(Clone, Copy)]\npub enum {name}<'c, 'a> {{").unwrap();
        for (op, _) in ops.iter().filter(|(_, facts)| has(facts)) {
            writeln!(out, "    /// The op of this name.\n    {op}({op}<'c, 'a>),").unwrap();
        }
        writeln!(out, "}}\n").unwrap();
    }
}

/// The end of the union, and its two halves, which lowerings match one after the other.
pub fn write_halves(out: &mut String, ops: &[(String, Facts)]) {
    write_lines!(
        out,
        "",
        "    /// An op that asks about ranks and heaps, or else one that does something.",
        "    ///",
        "    /// # Errors",
        "    /// It does something.",
        "    pub fn question(self) -> Result<Question<'c, 'a>, Action<'c, 'a>> {{",
        "        match self {{",
    );
    for (op, facts) in ops {
        let half = if facts.is_question() { "Ok(Question" } else { "Err(Action" };
        writeln!(out, "            Self::{op}(op) => {half}::{op}(op)),").unwrap();
    }
    writeln!(out, "        }}\n    }}\n}}\n").unwrap();
    for (half, doc, is_question) in
        [("Question", "An op that asks about ranks and heaps", true), ("Action", "An op that does something", false)]
    {
        writeln!(out, "/// {doc}.\n#[derive(Clone, Copy)]\npub enum {half}<'c, 'a> {{").unwrap();
        for (op, _) in ops.iter().filter(|(_, facts)| facts.is_question() == is_question) {
            writeln!(out, "    /// The op of this name.\n    {op}({op}<'c, 'a>),").unwrap();
        }
        writeln!(out, "}}\n").unwrap();
    }
}
