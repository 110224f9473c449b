//! Adds the attributes to the functions of a `gpu.module` that LLVM expects from a GPU's front end.
//!
//! ```mlir
//! llvm.func @exchange(…) { … }                  // convergent, no_unwind
//! llvm.call @exchange(…) : (…) -> ()            // convergent, no_unwind
//! llvm.inline_asm has_side_effects "bar.sync 1;", "~{memory}" : () -> ()
//! ```
//!
//! - **Convergent**: which threads execute a call together is part of its meaning, so LLVM must not move it into a
//!   branch or duplicate it. That is true of a group op, and of a function that contains one. LLVM removes the
//!   attribute from functions in which nothing is convergent.
//! - **Assembly** with an instruction of a group cannot have the attribute in MLIR. An intrinsic next to it keeps its
//!   block in one piece: `llvm.nvvm.activemask`, or `llvm.amdgcn.wave.barrier`, which emits no instruction.
//! - **Block sizes** on AMD: MLIR says that a block has at most 256 threads, and LLVM allocates registers accordingly.
//!   A kernel that does not state its block size may have up to 1024.
//!
//! Limits: functions of a `gpu.module`; instructions of groups are known by their names.

use crate::ir::{Builder, collect, context, name, select, set_attribute, structure};
use crate::pass::{Ir, OptionKind, Pass, PassOption, Values};
use melior::ir::attribute::StringAttribute;
use melior::ir::{Attribute, OperationRef, operation::OperationLike};
use symm_dialect::text;

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-mark-convergent",
    summary: "Mark device functions, calls and assembly as convergent for LLVM",
    options: &[PassOption {
        name: "target",
        kind: OptionKind::Choice(&["nvvm", "rocdl"]),
        initial: "nvvm",
        help: "the kind of GPU",
    }],
    run: |root, options| Ok(run(root, options)),
};

/// The threads of the largest block.
const LARGEST_BLOCK: &str = "1,1024";

fn run(root: OperationRef, options: &Values) -> Ir {
    let is_amd = options.text("target") == "rocdl";
    for module in select(root, |op| (name(op) == structure::GPU_MODULE).then_some(op)) {
        for op in collect(module) {
            mark(op, is_amd);
        }
    }
    Ir::Changed
}

fn mark<'c: 'a, 'a>(op: OperationRef<'c, 'a>, is_amd: bool) {
    match name(op) {
        structure::LLVM_FUNC => {
            set_unit(op, &["convergent", "no_unwind"]);
            let sizes = ["rocdl.flat_work_group_size", "rocdl.max_flat_work_group_size", "rocdl.reqd_work_group_size"];
            if op.has_attribute("rocdl.kernel") && !sizes.iter().any(|size| op.has_attribute(size)) {
                set_attribute(op, sizes[0], StringAttribute::new(context(op), LARGEST_BLOCK).into());
            }
        }
        "llvm.call" => set_unit(op, &["convergent", "no_unwind"]),
        "llvm.inline_asm" => keep_together(op, is_amd),
        _ => {}
    }
}

fn set_unit<'c: 'a, 'a>(op: OperationRef<'c, 'a>, names: &[&str]) {
    for name in names {
        set_attribute(op, name, Attribute::unit(context(op)));
    }
}

/// Puts a convergent intrinsic before assembly whose meaning depends on who runs it.
fn keep_together<'c: 'a, 'a>(op: OperationRef<'c, 'a>, is_amd: bool) {
    let Some(assembly) = op.attribute("asm_string").ok().and_then(text::string) else { return };
    let b = Builder::before(op);
    if is_amd && names_any(&assembly, AMD_GROUP) {
        b.intrinsic("llvm.amdgcn.wave.barrier", &[], &[]);
    } else if !is_amd && names_any(&assembly, PTX_GROUP) {
        b.intrinsic("llvm.nvvm.activemask", &[], &[b.int(32)]);
    }
}

/// Parts of the names of PTX instructions that several threads run together.
const PTX_GROUP: &[&str] = &["bar", "barrier", "sync", "aligned", "activemask"];

/// Parts of the names of AMD instructions that barrier, or read what other lanes hold.
const AMD_GROUP: &[&str] = &[
    "s_barrier",
    "readlane",
    "readfirstlane",
    "writelane",
    "dpp",
    "permute",
    "bpermute",
    "permlane",
    "swizzle",
    // DPP, without its name: row_shr, quad_perm, wave_shl.
    "row",
    "quad",
    "wave",
    "exec",
];

/// Whether a text holds one of these words; words end at `.`, `_` and any other character that is not a letter.
fn names_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            let letter = |c: char| c.is_ascii_alphabetic();
            !text[..at].ends_with(letter) && !text[at + word.len()..].starts_with(letter)
        })
    })
}
