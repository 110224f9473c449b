//! Whether an op of another dialect may acquire what peers have released, or release: an author's own acquire or
//! release, or a part of one.
//!
//! What is not known to do neither may. An op is known by the table of accesses, by the lists here and in `order.rs`,
//! and by MLIR's own effects, which say that it touches its operands' memory and does nothing else.

use super::accesses::{self, Does};
use super::order::{is_quiet, is_volatile, touches_no_heap};
use crate::ir::{name, ordering};
use crate::registration::has_other_effects;
use melior::ir::{OperationRef, operation::OperationLike};
use symm_dialect::text;

/// What begins the names of NVVM's ops that order nothing beyond the blocks of one cluster: MLIR does not know the
/// effects of most. One that is forgotten costs a kernel its `llvm.noalias`, and is right.
const NVVM: [&str; 22] = [
    "bar.warp.sync",
    "barrier",
    "cluster.",
    "convert.",
    "cp.async.",
    "dot.",
    "elect.",
    "ldmatrix",
    "match.",
    "mbarrier.",
    "mma.",
    "nanosleep",
    "prefetch",
    "read.",
    "redux.",
    "setmaxregister",
    "shfl.",
    "stmatrix",
    "tcgen05.",
    "vote.",
    "wgmma.",
    "wmma.",
];

/// The same of ROCDL's ops that order nothing beyond their block.
const ROCDL: [&str; 21] = [
    "ballot",
    "barrier",
    "cvt.",
    "ds.",
    "ds_",
    "global.load.",
    "iglp.",
    "load.to.lds",
    "mfma.",
    "permlane",
    "raw.buffer.load",
    "raw.buffer.store",
    "raw.ptr.buffer.load",
    "raw.ptr.buffer.store",
    "readfirstlane",
    "readlane",
    "s.",
    "sched.",
    "smfmac.",
    "update.dpp",
    "wmma.",
];

/// Whether an op of another dialect may acquire or release, apart from what its regions and its callee hold.
pub fn may_order<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    if let Some(access) = accesses::of(name(op)) {
        return access.does == Does::Update || ordering::of(op, "ordering") != ordering::NOT_ATOMIC;
    }
    if is_quiet(op) || touches_no_heap(op) {
        return false;
    }
    match name(op).split_once('.') {
        Some(("nvvm", rest)) => orders(rest) || !is_one_of(&NVVM, rest) && has_other_effects(op),
        Some(("rocdl", rest)) => orders(rest) || !is_one_of(&ROCDL, rest) && has_other_effects(op),
        Some(("llvm", "inline_asm")) => clobbers_memory(op) || has_other_effects(op),
        _ => has_other_effects(op),
    }
}

/// Whether a GPU's own op is a fence or an atomic, which MLIR may take for an access like any other.
fn orders(rest: &str) -> bool {
    rest.contains("fence") || rest.contains("atomic")
}

fn is_one_of(beginnings: &[&str], rest: &str) -> bool {
    beginnings.iter().any(|beginning| rest.starts_with(beginning))
}

/// Whether an op of another dialect may see a flag that another rank has set, apart from what its regions hold: it is
/// volatile, or may acquire.
pub fn may_see_flags<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    op.has_attribute("volatile_") || is_volatile(op) || may_order(op)
}

fn clobbers_memory<'c: 'a, 'a>(assembly: OperationRef<'c, 'a>) -> bool {
    let constraints = assembly.attribute("constraints").ok().and_then(text::string);
    constraints.is_none_or(|constraints| constraints.contains("~{memory}"))
}
