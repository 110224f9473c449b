//! Named pipelines: from a program to what a code generator takes.

use crate::pass::{Kind, PassOption, Pipeline, Values};

/// Every named pipeline.
pub const PIPELINES: &[Pipeline] = &[Pipeline {
    flag: "symm-cpu",
    summary: "From a program to the LLVM dialect for the CPU driver",
    options: &[
        PassOption { name: "strict", kind: Kind::Bool, initial: "false", help: "what would be repaired is an error" },
        PassOption { name: "trace", kind: Kind::Bool, initial: "false", help: "record puts, gets and signals" },
    ],
    text: cpu,
}];

fn cpu(options: &Values) -> String {
    let (strict, trace) = (options.text("strict"), options.text("trace"));
    // `any(…)`: on one function after the other, while it is in the caches, and on several threads.
    format!(
        "any(symm-check-ranks,symm-check-host-access,symm-check-memory-order{{strict={strict}}}),\
         gpu-kernel-outlining,inline,canonicalize,cse,loop-invariant-code-motion,cse,\
         any(symm-hoist-translation),symm-lower-to-cpu{{trace={trace}}},\
         canonicalize,convert-linalg-to-loops,convert-vector-to-scf,lower-affine,expand-strided-metadata,lower-affine,\
         convert-scf-to-cf,convert-math-to-llvm,convert-vector-to-llvm,arith-expand,convert-arith-to-llvm,\
         convert-index-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,convert-ub-to-llvm,\
         canonicalize,cse,reconcile-unrealized-casts"
    )
}
