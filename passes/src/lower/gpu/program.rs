//! What a program for a GPU looks like: its `gpu.module`s are at the top, functions take what a GPU has registers for,
//! and assemblers know their names (S1).

use crate::ir::{blocks, enclosing, is_kernel, name, operations, select, structure};
use crate::lower::updates;
use melior::ir::attribute::DenseI32ArrayAttribute;
use melior::ir::{OperationRef, TypeLike, operation::OperationLike};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::symbol::{signature, symbol as symbol_of};

/// What the names of functions and variables begin with that a lowering adds.
const OURS: [&str; 4] = ["_symm_bulk_", "_symm_copy_", "_symm_dynamic_shared", "_symm_shared_words"];

/// What a kernel says of how large its blocks are.
pub const SIZES: [&str; 3] = ["known_block_size", "nvvm.maxntid", "nvvm.reqntid"];

/// What threads add up together, for which MLIR's conversions to GPUs have no pattern.
const REDUCTIONS: [&str; 2] = ["gpu.all_reduce", "gpu.subgroup_reduce"];

/// Refuses what is not lowered, or what no assembler takes.
pub fn check<'c: 'a, 'a>(root: OperationRef<'c, 'a>) -> Result<(), Reported> {
    let modules = select(root, |op| (name(op) == structure::GPU_MODULE).then_some(op));
    let mut outcome = Ok(());
    for module in modules {
        if enclosing(module, &[structure::MODULE]).is_some_and(|around| around != root) {
            outcome = Err(error(
                module,
                "S1: is in a nested module; kernels must be in a gpu.module at the top of the program",
            ));
        }
        for reduction in select(module, |op| REDUCTIONS.contains(&name(op)).then_some(op)) {
            let complaint = "S1: has no lowering for GPUs; reduce with gpu.shuffle, and between warps in shared memory";
            outcome = Err(error(reduction, complaint));
        }
        outcome = outcome.and(updates::refuse(module));
        for op in operations(blocks(module)[0]) {
            for complaint in complaints(op) {
                outcome = Err(error(op, &format!("S1: {complaint}")));
            }
        }
    }
    outcome
}

fn complaints<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<String> {
    let (inputs, results) = signature(op);
    let kinds = inputs.iter().map(|ty| ("takes", ty)).chain(results.iter().map(|ty| ("returns", ty)));
    let odd = kinds.filter(|(_, ty)| ty.is_tensor() || ty.is_tuple() || ty.is_none() || ty.is_function());
    let types = odd.map(|(verb, ty)| {
        format!("{verb} {ty}; a GPU's functions take and return scalars, vectors, memrefs and LLVM pointers")
    });
    let symbol = symbol_of(op).filter(|symbol| !is_name(symbol, is_kernel(op)));
    let names = symbol.map(|symbol| {
        format!("assemblers reject the name '{symbol}': use letters, digits, _ and $, with no digit first")
    });
    let ours = symbol_of(op).filter(|symbol| OURS.iter().any(|ours| symbol.starts_with(ours)));
    let ours = ours.map(|symbol| format!("'{symbol}' is a name of the device library, which is reserved"));
    let sizes = SIZES.iter().filter(|attribute| has_no_size(op, attribute));
    let sizes = sizes.map(|attribute| format!("{attribute} is not a block size: each dimension has at least 1 thread"));
    types.chain(names).chain(ours).chain(sizes).collect()
}

/// Whether an attribute of sizes has a size below one. LLVM would end the process.
fn has_no_size(op: OperationRef, attribute: &str) -> bool {
    let sizes = op.attribute(attribute).ok().and_then(|sizes| DenseI32ArrayAttribute::try_from(sizes).ok());
    sizes.is_some_and(|sizes| (0..sizes.len()).any(|index| sizes.element(index).is_ok_and(|size| size < 1)))
}

/// Whether what is called so can be assembled. LLVM renames what is called from within only, but for the first
/// character.
fn is_name(symbol: &str, is_called_from_outside: bool) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$');
    !symbol.starts_with(|first: char| first.is_ascii_digit())
        && (!is_called_from_outside || symbol.chars().all(is_letter))
}
