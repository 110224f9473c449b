//! The ops of other dialects that access memory through their pointers, and what they do to it. Triton's for the GPU's
//! engine are in `order.rs`.

/// What an op of another dialect does to the memory of its pointers.
pub struct Accesses {
    pub does: Does,
    /// How its operands are read; none where no pass asks.
    pub operands: Option<Operands>,
}

#[derive(PartialEq, Eq)]
pub enum Does {
    /// It writes nothing.
    Read,
    /// It writes, and nothing else happens.
    Write,
    /// It reads and writes one place in one step: an atomic, which may acquire and release.
    Update,
    /// It copies from one place to another.
    Copy,
}

pub struct Operands {
    /// Which operand is the pointer; indices follow it.
    pub pointer: usize,
    /// How many operands follow the indices.
    pub trailing: usize,
    pub moved: Moved,
}

/// The value that is read or written.
pub enum Moved {
    Result,
    Operand(usize),
}

/// What an op does, if it is one of them.
pub fn of(name: &str) -> Option<Accesses> {
    let at = |pointer, trailing, moved| Some(Operands { pointer, trailing, moved });
    let (does, operands) = match name.split_once('.')? {
        ("llvm" | "memref" | "vector", "load") => (Does::Read, at(0, 0, Moved::Result)),
        ("llvm" | "memref" | "vector", "store") => (Does::Write, at(1, 0, Moved::Operand(0))),
        ("llvm", "atomicrmw") => (Does::Update, at(0, 1, Moved::Result)),
        ("llvm", "cmpxchg") => (Does::Update, at(0, 2, Moved::Operand(1))),
        ("memref", "atomic_rmw") => (Does::Update, at(1, 0, Moved::Result)),
        ("memref", "generic_atomic_rmw") => (Does::Update, at(0, 0, Moved::Result)),
        ("memref", "copy") | ("llvm", "intr.memcpy" | "intr.memcpy.inline" | "intr.memmove") => (Does::Copy, None),
        ("affine", "load" | "vector_load")
        | ("vector", "maskedload" | "transfer_read" | "gather" | "expandload")
        | ("gpu", "subgroup_mma_load_matrix")
        | ("llvm", "intr.masked.load" | "intr.masked.gather" | "intr.masked.expandload")
        | ("tt", "load")
        | ("ttg", "async_copy_global_to_local") => (Does::Read, None),
        ("affine", "store" | "vector_store")
        | ("vector", "maskedstore" | "transfer_write" | "scatter" | "compressstore")
        | ("gpu", "subgroup_mma_store_matrix")
        | (
            "llvm",
            "intr.masked.store"
            | "intr.masked.scatter"
            | "intr.masked.compressstore"
            | "intr.memset"
            | "intr.memset.inline",
        ) => (Does::Write, None),
        _ => return None,
    };
    Some(Accesses { does, operands })
}

/// Whether an op's result points into what its first operand points to.
pub fn passes_on(name: &str) -> bool {
    let (dialect, rest) = name.split_once('.').unwrap_or_default();
    match dialect {
        "llvm" => matches!(rest, "getelementptr" | "addrspacecast" | "ptrtoint" | "inttoptr" | "bitcast" | "add"),
        "memref" => {
            matches!(rest, "cast" | "subview" | "reinterpret_cast" | "view" | "memory_space_cast" | "transpose")
                || matches!(rest, "collapse_shape" | "expand_shape" | "extract_aligned_pointer_as_index")
                || matches!(rest, "extract_strided_metadata" | "assume_alignment")
        }
        "arith" => matches!(rest, "index_cast" | "index_castui" | "addi"),
        "vector" => rest == "type_cast",
        "builtin" => rest == "unrealized_conversion_cast",
        _ => false,
    }
}
