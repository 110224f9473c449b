//! Named pipelines: from a program to what a code generator takes.

pub mod triton;

use crate::lower::{cpu, nvvm, rocdl};
use crate::pass::{OptionKind, PassOption, Pipeline, Values};
use crate::transform::insert_watchdog::TIMEOUT_MS;

const STRICT: PassOption = PassOption {
    name: "strict",
    kind: OptionKind::Bool,
    initial: "false",
    help: "report an error instead of repairing",
};

const BOUNDS: PassOption = PassOption {
    name: "bounds-checks",
    kind: OptionKind::Bool,
    initial: "false",
    help: "check ranks and addresses at run time",
};
const WATCHDOG: PassOption = PassOption {
    name: "watchdog",
    kind: OptionKind::Bool,
    initial: "false",
    help: "report waits that exceed a deadline",
};
const TRACE: PassOption = PassOption {
    name: "trace",
    kind: OptionKind::Bool,
    initial: "false",
    help: "record what blocks do, for the timeline",
};

const AS_WRITTEN: PassOption =
    PassOption { name: "as-written", kind: OptionKind::Bool, initial: "false", help: "repair and merge nothing" };

/// Every named pipeline.
pub const PIPELINES: &[Pipeline] = &[
    Pipeline {
        flag: "symm-cpu",
        summary: "From a program to the LLVM dialect for the CPU driver",
        options: &[
            STRICT,
            BOUNDS,
            WATCHDOG,
            TIMEOUT_MS,
            PassOption {
                name: "trace",
                kind: OptionKind::Bool,
                initial: "false",
                help: "record puts, gets and signals",
            },
            cpu::OFFLOAD,
        ],
        text: cpu_text,
    },
    Pipeline {
        flag: "symm-check",
        summary: "From a program to the LLVM dialect for symm-check, with a call for every access",
        options: &[STRICT, AS_WRITTEN],
        text: check_text,
    },
    Pipeline {
        flag: "symm-nvvm",
        summary: "From a program's kernels to the LLVM and NVVM dialects for an NVIDIA GPU",
        options: &[STRICT, BOUNDS, WATCHDOG, TIMEOUT_MS, TRACE, nvvm::CHIP],
        text: nvvm_text,
    },
    Pipeline {
        flag: "symm-rocdl",
        summary: "From a program's kernels to the LLVM and ROCDL dialects for an AMD GPU",
        options: &[STRICT, BOUNDS, WATCHDOG, TIMEOUT_MS, TRACE, rocdl::CHIP, rocdl::FINE_GRAINED_HEAP],
        text: rocdl_text,
    },
    triton::PIPELINE,
];

/// What every target does before it lowers; `fence_waits` says whether one fence costs less than the acquires of
/// several waits.
fn canonical(options: &Values, fence_waits: bool) -> String {
    let watchdog = if options.flag("watchdog") {
        format!("symm-insert-watchdog{{timeout-ms={}}},", options.text("timeout-ms"))
    } else {
        String::new()
    };
    let bounds = if options.flag("bounds-checks") { "symm-insert-bounds-checks," } else { "" };
    canonical_with(options, fence_waits, &format!("{watchdog}{bounds}"))
}

/// The same, with what safety passes are asked for.
fn canonical_with(options: &Values, fence_waits: bool, safety: &str) -> String {
    let strict = options.text("strict");
    // Memory order is looked at in what the author wrote, and again where calls are gone that held accesses or signals.
    // `any(…)`: on one function after the other, while it is in the caches, and on several threads. Signals and waits
    // are looked at in all of the program.
    format!(
        "any(symm-check-ranks,symm-check-reach,symm-check-host-access,symm-check-memory-order{{strict={strict}}}),\
         symm-check-sync{{strict={strict}}},\
         gpu-kernel-outlining,inline{{default-pipeline=}},any(symm-check-memory-order{{strict={strict}}}),\
         {safety}canonicalize,cse,loop-invariant-code-motion,cse,\
         any(symm-hoist-translation,symm-coalesce-signals,symm-infer-order{{fence-waits={fence_waits}}})"
    )
}

/// The same for a GPU, whose kernels record for a timeline if that is asked for. The CPU's calls of the runtime do.
fn canonical_on_gpu(options: &Values, fence_waits: bool) -> String {
    canonical(options, fence_waits) + if options.flag("trace") { ",symm-insert-trace" } else { "" }
}

/// What a GPU's kernels go through from structured control flow to branches.
const STRUCTURED: &str = "canonicalize,cse,loop-invariant-code-motion,convert-linalg-to-loops,convert-vector-to-scf,\
                          lower-affine,expand-strided-metadata,lower-affine,convert-scf-to-cf,arith-expand";

/// A mask may be made of a count that takes more than 32 bits: what is left of a large array.
const VECTORS: &str = "convert-vector-to-llvm{force-32bit-vector-indices=false}";

fn nvvm_text(options: &Values) -> String {
    // The first polls acquire, which costs nothing.
    let (canonical, chip) = (canonical_on_gpu(options, false), options.text("chip"));
    let strict = options.text("strict");
    format!(
        "{canonical},symm-lower-to-nvvm{{chip={chip} strict={strict}}},{STRUCTURED},{VECTORS},\
         gpu.module(convert-gpu-to-nvvm),canonicalize,cse,reconcile-unrealized-casts,symm-load-bits-as-bytes,\
         symm-mark-convergent"
    )
}

fn rocdl_text(options: &Values) -> String {
    let (canonical, chip) = (canonical_on_gpu(options, true), options.text("chip"));
    let fine_grained = options.text("fine-grained-heap");
    format!(
        "{canonical},symm-lower-to-rocdl{{chip={chip} fine-grained-heap={fine_grained}}},{STRUCTURED},{VECTORS},\
         gpu.module(convert-gpu-to-rocdl{{chipset={chip} runtime=HIP}}),canonicalize,cse,reconcile-unrealized-casts,\
         symm-mark-convergent{{target=rocdl}}"
    )
}

fn cpu_text(options: &Values) -> String {
    let (canonical, trace, offload) = (canonical(options, true), options.text("trace"), options.text("offload"));
    format!("{canonical},symm-lower-to-cpu{{trace={trace} offload={offload}}},{}", host_code(false))
}

fn check_text(options: &Values) -> String {
    let as_written = options.flag("as-written");
    let before = if as_written {
        "gpu-kernel-outlining,inline{default-pipeline=},canonicalize,cse".to_owned()
    } else {
        canonical_with(options, true, "")
    };
    format!(
        "symm-keep-loops{{barriers={as_written}}},{before},symm-lower-to-cpu{{check=true}},{},symm-instrument-accesses",
        host_code(true)
    )
}

/// From what is lowered to the CPU driver to the LLVM dialect. `convert-vector-to-llvm` makes one of blocks that differ
/// in nothing but values and places, which `keeps_places` prevents: there are no blocks yet when it runs.
fn host_code(keeps_places: bool) -> String {
    let (branches, vectors) = ("convert-scf-to-cf,convert-math-to-llvm", VECTORS);
    let both = if keeps_places { format!("{vectors},{branches}") } else { format!("{branches},{vectors}") };
    format!(
        "canonicalize,convert-linalg-to-loops,convert-vector-to-scf,lower-affine,expand-strided-metadata,lower-affine,\
         {both},arith-expand,convert-arith-to-llvm,\
         convert-index-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,convert-ub-to-llvm,\
         canonicalize,cse,reconcile-unrealized-casts"
    )
}
