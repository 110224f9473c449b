//! Faults of MLIR 22.1 itself that no change of ours can mend: each says where it is and what triggers it. Our tools
//! end with one diagnostic where MLIR crashes (tools/common/src/crash.rs); here they are counted apart.
//!
//! An entry never covers a process that died inside of code of ours.

use crate::findings::Finding;

/// A fault of MLIR.
pub struct Known {
    /// What happens, for the table.
    pub what: &'static str,
    /// What the signature begins with.
    stage: &'static str,
    /// What the signature contains.
    signature: &'static str,
    /// A function that is active, or nothing.
    frame: &'static str,
}

/// Every known fault.
pub const KNOWN: &[Known] = &[
    // Parsers of ops, regions, types, attributes, locations and affine expressions call each other for what is
    // nested, without a limit: the stack ends at some ten thousand levels of regions, or types.
    Known {
        what: "the parser's stack ends: nested too deep",
        stage: "parse: stack overflow",
        signature: "",
        frame: "arse",
    },
    // Printing, verifying and walking recurse as the parser does, with smaller frames: a module that could just be
    // parsed may be too deep for them where they run on top of a deeper stack.
    Known {
        what: "MLIR's walk of a module that is nested too deep",
        stage: "",
        signature: "stack overflow in mlir::",
        frame: "mlir::",
    },
    // parseDenseArrayAttr takes `array<index: 1>` and asks index, which has no width, for its width.
    Known {
        what: "array<index: …> as an attribute",
        stage: "",
        signature: "segmentation fault in mlir::FloatType::getWidth",
        frame: "parseDenseArrayAttr",
    },
    // AtomicRMWOp::parse asks whether the value's type is a scalable vector before it asks whether it is one of LLVM's.
    Known {
        what: "llvm.atomicrmw of a type that LLVM does not have",
        stage: "parse: segmentation fault in mlir::LLVM::isScalableVectorType",
        signature: "",
        frame: "mlir::LLVM::AtomicRMWOp::parse",
    },
    // The attribute of a container module is verified before the ops in it: a gpu.func whose body does not have the
    // arguments of its type, or a gpu.launch_func with a wrong number of operands, is read as if it were right.
    Known {
        what: "gpu.container_module with a gpu.func or gpu.launch_func that does not verify",
        stage: "",
        signature: "segmentation fault",
        frame: "mlir::gpu::GPUDialect::verifyOperationAttribute",
    },
    // verifyAttributions reads the types of workgroup and private attributions after the arguments without asking
    // whether the entry block has as many arguments.
    Known {
        what: "gpu.func or gpu.launch whose entry block has too few arguments",
        stage: "",
        signature: "segmentation fault in verifyAttributions",
        frame: "mlir::gpu::",
    },
    // The inliner asks for the visibility of every function relative to a symbol table around it: a private function
    // in the region of an op without one (any unregistered op) has no such table.
    Known {
        what: "--inline on a function within an op that is no symbol table",
        stage: "symm-",
        signature: "",
        frame: "mlir::Inliner::doInlining",
    },
    // An op that is not registered might be a symbol table, so that a call within its region finds no function.
    Known {
        what: "a call of a function within the region of an op that is not registered",
        stage: "symm-",
        signature: "does not reference a valid function",
        frame: "",
    },
    // memref.dim of an alloc with a constant index beyond the rank folds to the operand after the last one.
    Known {
        what: "memref.dim of a memref.alloc, index out of range",
        stage: "",
        signature: "SimplifyDimOfAllocOp::matchAndRewrite",
        frame: "",
    },
    // memref.generic_atomic_rmw of floats becomes a compare and swap of floats, which the LLVM dialect has not.
    Known {
        what: "memref.generic_atomic_rmw of floats",
        stage: "symm-",
        signature: "finalize-memref-to-llvm: no longer verifies: llvm.cmpxchg",
        frame: "",
    },
    // GenericAtomicRMWOp::parse takes any type for that of a memref and its element type, which then is none, for the
    // result's: to print the op for the verifier's error reads it.
    Known {
        what: "memref.generic_atomic_rmw of a value that is no memref",
        stage: "parse: segmentation fault in mlir::",
        signature: "",
        frame: "mlir::memref::GenericAtomicRMWOp::verifyInvariantsImpl",
    },
    // Casts fold into gpu.memcpy, also where the sizes that they know differ.
    Known {
        what: "gpu.memcpy whose ends turn out to have different sizes",
        stage: "symm-",
        signature: "canonicalize: no longer verifies: gpu.memcpy op arguments have incompatible shape",
        frame: "",
    },
    // llvm.getelementptr, llvm.alloca and others verify with an element type of another dialect, such as memref or
    // an unsized one, and the translation takes it for one of LLVM's.
    Known {
        what: "an op of the LLVM dialect with an element type that LLVM does not have",
        stage: "symm-",
        signature: "translate: segmentation fault",
        frame: "mlir::LLVM::ModuleTranslation::convertOperation",
    },
    // llvm.func makes its type without asking whether arguments and result may be in one; the reader of bytecode asks.
    Known {
        what: "llvm.func whose type LLVM does not have: an argument or a result that is a function",
        stage: "write as bytecode: what was written is not read: invalid function ",
        signature: "",
        frame: "",
    },
    // Some faults of bytecode make it fail without a diagnostic; symm-opt then prints one of its own.
    Known {
        what: "malformed bytecode: refused without a diagnostic",
        stage: "read bytecode: failure without an error",
        signature: "",
        frame: "",
    },
    // Bytecode holds names with any bytes and attributes in places where the text form has none for them, and
    // their verifiers let them pass.
    Known {
        what: "bytecode with what has no text form",
        stage: "print what was bytecode: what was written is",
        signature: "",
        frame: "",
    },
    // Where a builtin attribute can't be made of what was read, the reader reports an error and goes on without it.
    Known {
        what: "malformed bytecode: an error, and success",
        stage: "read bytecode: success with an error: ",
        signature: "success with an error",
        frame: "",
    },
    // The reader of bytecode checks indices and sizes in part only. Counts of values, blocks and elements become
    // allocations as they are, or exceptions and aborts of the containers; types within types are read again for
    // each use; a value may be defined twice, or beyond those of its region, which writes outside of an array, so
    // that anything may fail from then on.
    Known {
        what: "malformed bytecode: the reader crashes, hangs, or damages its memory",
        stage: "read bytecode: ",
        signature: "",
        frame: "",
    },
    // The same, seen a little later.
    Known {
        what: "malformed bytecode: what was read crashes MLIR's printer or writer",
        stage: "print what was bytecode: ",
        signature: "",
        frame: "",
    },
    Known {
        what: "malformed bytecode: what was read crashes MLIR's printer or writer",
        stage: "write what was bytecode: ",
        signature: "",
        frame: "",
    },
    // A gpu.launch_func in the body of a gpu.launch, moved into a kernel of its own.
    Known {
        what: "--gpu-kernel-outlining of a launch within a launch",
        stage: "symm-",
        signature: "gpu-kernel-outlining: segmentation fault in mlir::Operation::clone",
        frame: "",
    },
    // A subview with a negative offset verifies; what it expands to does not.
    Known {
        what: "--expand-strided-metadata of a negative offset",
        stage: "symm-",
        signature: "expand-strided-metadata: no longer verifies: expected offsets to be non-negative",
        frame: "",
    },
    // A function that takes a memref with a layout that has no strides: an error, and success.
    Known {
        what: "--convert-func-to-llvm of a memref without strides",
        stage: "symm-",
        signature: "convert-func-to-llvm: success with an error: conversion to strided form failed",
        frame: "",
    },
    // An argument of type !llvm.void: the translation fails without a word; our tools print one.
    Known {
        what: "!llvm.void as an argument",
        stage: "symm-",
        signature: "translate: failure without an error",
        frame: "",
    },
    // What MLIR's parser and verifiers do with an op of MLIR, before any pass, when nothing of ours is active (see
    // `position`). Each change of the corpus has the mutations meet others of these.
    Known {
        what: "MLIR's parser or verifier crashes on an op of its own",
        stage: "parse: segmentation fault",
        signature: "",
        frame: "mlir::parseSourceFile",
    },
];

/// The place in the list of the fault that a finding shows.
pub fn position(finding: &Finding) -> Option<usize> {
    // MLIR does not panic.
    if finding.signature.contains("panic at") {
        return None;
    }
    let ours =
        |frame: &String| ["symm_dialect::", "symm_passes::", "symm::"].iter().any(|start| frame.starts_with(start));
    if finding.frames.iter().any(ours) && !finding.details.contains("malloc") && !finding.details.contains("free()") {
        return None;
    }
    KNOWN.iter().position(|known| {
        let frame = known.frame.is_empty() || finding.frames.iter().any(|frame| frame.contains(known.frame));
        // An error where all went well is known only where the list says so.
        let error = "success with an error";
        let error = !finding.signature.contains(error) || known.signature.contains(error);
        frame && error && finding.signature.starts_with(known.stage) && finding.signature.contains(known.signature)
    })
}

#[cfg(test)]
mod tests {
    use super::position;
    use crate::findings::Finding;

    fn finding(signature: &str, frames: &[&str]) -> Finding {
        let frames = frames.iter().map(|frame| (*frame).to_owned()).collect();
        Finding { signature: signature.into(), details: String::new(), frames }
    }

    #[test]
    fn what_dies_in_our_code_is_never_known() {
        let signature = "read bytecode: segmentation fault in x";
        assert!(position(&finding(signature, &["readBytecodeFileImpl"])).is_some());
        assert!(position(&finding(signature, &["symm_dialect::verify::verify", "readBytecodeFileImpl"])).is_none());
        assert!(position(&finding("read bytecode: panic at x", &[])).is_none());
        assert!(position(&finding("print: segmentation fault in x", &["mlir::Operation::print"])).is_none());
    }

    #[test]
    fn crashes_of_mlirs_own_verifiers_are_known() {
        let of = |stage: &str, frame: &str| {
            let signature = format!("{stage}: segmentation fault in mlir::Type::getContext");
            position(&finding(&signature, &[frame, "mlir::verify", "mlir::parseSourceFile"]))
        };
        assert!(of("parse", "mlir::gpu::LaunchOp::verifyRegions").is_some());
        assert!(of("parse", "symm::PutOp::verifyInvariantsImpl").is_none());
        assert!(of("print", "mlir::gpu::LaunchOp::verifyRegions").is_none());
    }

    #[test]
    fn types_that_only_text_has_are_known() {
        let lost = "write as bytecode: what was written is not read: ";
        let of = |what: &str| position(&finding(&format!("{lost}{what}"), &[]));
        assert!(of("invalid function argument type: !llvm.func<void (iN, iN)>").is_some());
        assert!(of("invalid function result type: !llvm.func<void (iN)>").is_some());
        assert!(of("expected a type").is_none());
    }
}
