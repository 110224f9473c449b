//! Memory spaces of memrefs as GPU programs spell them: by number, or by the gpu dialect's names.
//!
//! What a name is as a number depends on the target, and MLIR's own conversion knows. So an operand in the memory of a
//! block or of a thread is cast to a memref that says nothing, which LLVM sees through:
//!
//! ```mlir
//! symm.put %ctx, %tile, %dst, %peer group block : memref<64xf32, #gpu.address_space<workgroup>>, memref<64xf32>
//! ```
//!
//! reads from
//!
//! ```mlir
//! %src = memref.memory_space_cast %tile : memref<64xf32, #gpu.address_space<workgroup>> to memref<64xf32>
//! ```

use crate::ir::{Builder, mutable};
use crate::lower::types::without_space;
use melior::ir::r#type::MemRefType;
use melior::ir::{OperationRef, ValueLike, operation::OperationLike, operation::OperationMutLike};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::pointer::{has_known_space, is_block_memory};

/// Takes the names from the memory spaces of `op`'s operands.
pub fn make_generic<'c: 'a, 'a>(op: OperationRef<'c, 'a>, b: &Builder<'c>) -> Result<(), Reported> {
    for (index, operand) in op.operands().enumerate() {
        let ty = operand.r#type();
        if !has_known_space(ty) {
            let message = "S1: takes memory spaces that are numbers or of the gpu dialect, got ";
            return Err(error(op, &format!("{message}{ty}")));
        }
        if is_block_memory(ty) {
            let memref = MemRefType::try_from(ty).expect("just seen to be one");
            let cast = b.value("memref.memory_space_cast", &[operand], without_space(memref), &[]);
            mutable(op).set_operand(index, cast);
        }
    }
    Ok(())
}
