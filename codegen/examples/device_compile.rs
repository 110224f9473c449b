//! How long the whole way to PTX takes for a kernel of 100 symm ops, against the same kernel with direct pointers:
//! `cargo run --release -p symm-codegen --example device_compile`.
//!
//! Both are parsed, lowered, translated, optimised and emitted in this process, taking turns. The kernel with direct
//! pointers has an argument for each peer's data and goes through the same pipeline without any pass of ours. `reduce`
//! is 25 grid-stride loops that load from three peers, add up and store to the fourth; `accesses` are
//! 50 loads and 50 stores on four peers in one block, with nothing else to compile; `protocol` is 40 of each with 10
//! signals and 10 waits, for which the other kernel writes LLVM's atomics. What is taken is the processor time of the
//! thread, which does it all: others may use the machine meanwhile. The sources and the PTX stay in the folder that is
//! given, if one is.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use symm_codegen::{Device, Error, Frontend, Level, assembly, translate_device};

const PEERS: usize = 4;
/// The peer that a reduction gives its result to.
const STORED_TO: usize = 3;
const ROUNDS: usize = 60;
const CHIP: &str = "sm_90";

/// What the kernels do.
#[derive(Clone, Copy)]
struct Mix {
    name: &'static str,
    loops: usize,
    accesses: usize,
    signals: usize,
}

const MIXES: &[Mix] = &[
    Mix { name: "reduce", loops: 25, accesses: 0, signals: 0 },
    Mix { name: "accesses", loops: 0, accesses: 100, signals: 0 },
    Mix { name: "protocol", loops: 0, accesses: 80, signals: 20 },
];

/// What is known of the heaps when kernels are compiled: nothing, or what symm-run knows where heaps can be mapped.
const HEAPS: &[(&str, &str)] = &[
    ("table", ""),
    ("strided", "symm.num_ranks = 8 : i32, symm.heap_stride = 4294967296 : i64, symm.table_in_heap, "),
];

/// A kernel with symm ops, in a module with attributes.
fn with_symm(mix: Mix, attributes: &str) -> String {
    let mut body = String::new();
    for number in 0..mix.loops {
        let access = |body: &mut String, peer: usize| {
            let _ = match peer {
                STORED_TO => {
                    writeln!(body, "symm.remote_store %ctx, %sum, %there, %peer{peer} : vector<4xf32>, !llvm.ptr")
                }
                _ => {
                    writeln!(body, "%v{peer} = symm.remote_load %ctx, %here, %peer{peer} : !llvm.ptr -> vector<4xf32>")
                }
            };
        };
        reduce(&mut body, number, |_| "data".into(), access);
    }
    for op in 0..mix.accesses {
        let peer = op / 2 % PEERS;
        address(&mut body, op);
        if op % 2 == 0 {
            let _ = writeln!(body, "%v{op} = symm.remote_load %ctx, %p{op}, %peer{peer} : !llvm.ptr -> vector<4xf32>");
        } else {
            let value = op - 1;
            let _ = writeln!(body, "symm.remote_store %ctx, %v{value}, %p{op}, %peer{peer} : vector<4xf32>, !llvm.ptr");
        }
    }
    for op in 0..mix.signals {
        let peer = op / 2 % PEERS;
        let _ = writeln!(body, "%f{op} = llvm.getelementptr %flags[{op}] : (!llvm.ptr) -> !llvm.ptr, i64");
        if op % 2 == 0 {
            let _ = writeln!(body, "symm.signal set %ctx, %f{op}, %one, %peer{peer} : !llvm.ptr, i64");
        } else {
            let _ = writeln!(body, "symm.wait %ctx, %f{op} ge %one : !llvm.ptr, i64");
        }
    }
    let peers: Vec<String> = (0..PEERS).map(|peer| format!("%peer{peer}: i32")).collect();
    kernel(attributes, &format!("%ctx: !symm.ctx, {}", peers.join(", ")), &body)
}

/// The same kernel with pointers that lead to the peers already: one to the data and one to the flags of each.
fn with_pointers(mix: Mix) -> String {
    let mut body = String::new();
    for number in 0..mix.loops {
        let access = |body: &mut String, peer: usize| {
            let _ = match peer {
                STORED_TO => writeln!(body, "llvm.store %sum, %there : vector<4xf32>, !llvm.ptr"),
                _ => writeln!(body, "%v{peer} = llvm.load %here{peer} : !llvm.ptr -> vector<4xf32>"),
            };
        };
        reduce(&mut body, number, |peer| format!("data{peer}"), access);
    }
    for op in 0..mix.accesses {
        let peer = op / 2 % PEERS;
        let _ = writeln!(body, "%p{op} = llvm.getelementptr %data{peer}[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32");
        let _ = writeln!(body, "%q{op} = llvm.getelementptr %p{op}[{}] : (!llvm.ptr) -> !llvm.ptr, f32", 4 * op);
        if op % 2 == 0 {
            let _ = writeln!(body, "%v{op} = llvm.load %q{op} : !llvm.ptr -> vector<4xf32>");
        } else {
            let _ = writeln!(body, "llvm.store %v{}, %q{op} : vector<4xf32>, !llvm.ptr", op - 1);
        }
    }
    for op in 0..mix.signals {
        let peer = op / 2 % PEERS;
        let table = if op % 2 == 0 { format!("flags{peer}") } else { "flags".into() };
        let _ = writeln!(body, "%f{op} = llvm.getelementptr %{table}[{op}] : (!llvm.ptr) -> !llvm.ptr, i64");
        let _ = writeln!(body, "%g{op} = llvm.addrspacecast %f{op} : !llvm.ptr to !llvm.ptr<1>");
        if op % 2 == 0 {
            let _ =
                writeln!(body, "llvm.store %one, %g{op} atomic release {{alignment = 8 : i64}} : i64, !llvm.ptr<1>");
        } else {
            let _ = writeln!(body, "{}", WAIT.replace('@', &op.to_string()));
        }
    }
    let pointers = (0..PEERS).map(|peer| format!("%data{peer}: !llvm.ptr, %flags{peer}: !llvm.ptr"));
    kernel("", &format!("%unused: i32, {}", pointers.collect::<Vec<_>>().join(", ")), &body)
}

/// A loop that adds up what three peers have and gives it to the fourth. `array` names where a peer's data start.
fn reduce(body: &mut String, number: usize, array: impl Fn(usize) -> String, access: impl Fn(&mut String, usize)) {
    let _ = writeln!(body, "scf.for %i = %first to %n step %all {{");
    let _ = writeln!(body, "%e = arith.index_cast %i : index to i64");
    let arrays: Vec<String> = (0..PEERS).map(array).collect();
    let one_array = arrays[0] == arrays[1];
    for (peer, array) in arrays.iter().enumerate() {
        let name = if one_array { String::new() } else { peer.to_string() };
        let (place, offset) =
            if peer == STORED_TO { ("there".into(), 2 * number + 1) } else { (format!("here{name}"), 2 * number) };
        if !one_array || peer == 0 || peer == STORED_TO {
            let _ = writeln!(
                body,
                "%start{peer} = llvm.getelementptr %{array}[{}] : (!llvm.ptr) -> !llvm.ptr, i8",
                offset << 20
            );
            let _ = writeln!(
                body,
                "%{place} = llvm.getelementptr %start{peer}[%e] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xf32>"
            );
        }
    }
    for peer in 0..STORED_TO {
        access(body, peer);
    }
    let _ = writeln!(body, "%part = arith.addf %v0, %v1 : vector<4xf32>");
    let _ = writeln!(body, "%sum = arith.addf %part, %v2 : vector<4xf32>");
    access(body, STORED_TO);
    let _ = writeln!(body, "}}");
}

/// What a wait is: it polls in order for a while, then relaxed, backs off, and acquires.
const WAIT: &str = "
%early@:2 = scf.while (%n@ = %one) : (i64) -> (i64, i1) {
  %seen@ = llvm.load %g@ atomic acquire {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %here@ = arith.cmpi sge, %seen@, %one : i64
  %missing@ = arith.cmpi slt, %seen@, %one : i64
  %few@ = arith.cmpi slt, %n@, %ordered : i64
  %again@ = arith.andi %missing@, %few@ : i1
  scf.condition(%again@) %n@, %here@ : i64, i1
} do {
^bb0(%m@: i64, %h@: i1):
  %next@ = arith.addi %m@, %one : i64
  scf.yield %next@ : i64
}
scf.if %early@#1 {
} else {
  scf.while (%n@ = %one) : (i64) -> (i64) {
    %seen@ = llvm.load %g@ atomic monotonic {alignment = 8 : i64} : !llvm.ptr<1> -> i64
    %missing@ = arith.cmpi slt, %seen@, %one : i64
    scf.condition(%missing@) %n@ : i64
  } do {
  ^bb0(%m@: i64):
    %impatient@ = arith.cmpi sgt, %m@, %polls : i64
    scf.if %impatient@ {
      nvvm.nanosleep %nap
    }
    %next@ = arith.addi %m@, %one : i64
    scf.yield %next@ : i64
  }
  llvm.fence acquire
}";

/// The address of access `op` on this rank.
fn address(body: &mut String, op: usize) {
    let _ = writeln!(body, "%a{op} = llvm.getelementptr %data[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32");
    let _ = writeln!(body, "%p{op} = llvm.getelementptr %a{op}[{}] : (!llvm.ptr) -> !llvm.ptr, f32", 4 * op);
}

fn kernel(attributes: &str, arguments: &str, body: &str) -> String {
    format!(
        "module attributes {{{attributes}gpu.container_module}} {{
         gpu.module @kernels {{
         gpu.func @kernel({arguments}, %data: !llvm.ptr, %flags: !llvm.ptr, %n: index) kernel {{
         %zero = arith.constant 0 : i64
         %one = arith.constant 1 : i64
         %ordered = arith.constant 64 : i64
         %polls = arith.constant 192 : i64
         %nap = arith.constant 64 : i32
         %thread = gpu.thread_id x
         %at = arith.index_cast %thread : index to i64
         %first = gpu.global_id x
         %blocks = gpu.grid_dim x
         %threads = gpu.block_dim x
         %all = arith.muli %blocks, %threads : index
         {body}
         gpu.return }} }} }}"
    )
}

/// The pipeline for the chip with its options as they are at first.
fn pipeline() -> String {
    let pipeline = symm_passes::PIPELINES.iter().find(|pipeline| pipeline.flag == "symm-nvvm").expect("there is one");
    let values = pipeline.options.iter().map(|option| option.initial).collect();
    (pipeline.text)(&symm_passes::Values::new(pipeline.options, values))
}

/// A pipeline without the passes of this project.
fn without_symm(pipeline: &str) -> String {
    let mut depth = 0;
    let at_top = |letter: char| {
        depth += i32::from("{(".contains(letter)) - i32::from("})".contains(letter));
        letter == ',' && depth == 0
    };
    let passes: Vec<&str> = pipeline.split(at_top).filter(|pass| !pass.starts_with("symm-")).collect();
    passes.join(",")
}

/// The processor time of this thread so far.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The stages of one compilation, in seconds: parse, lower, translate and optimise, emit.
fn compile(frontend: &Frontend, source: &Path, pipeline: &str) -> Result<([f64; 4], String), Error> {
    let device = Device::new(CHIP)?;
    let mut last = processor_time();
    let mut lap = || {
        let now = processor_time();
        let taken = now.saturating_sub(last);
        last = now;
        taken.as_secs_f64()
    };
    let mut module = frontend.parse(source)?;
    let parse = lap();
    frontend.run_pipeline(&mut module, pipeline)?;
    let lower = lap();
    let llvm = translate_device(&module, &device, Level::O2)?;
    let optimise = lap();
    let ptx = assembly(&llvm, &device, Level::O2)?;
    let emit = lap();
    Ok(([parse, lower, optimise, emit], ptx))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let frontend = Frontend::new();
    let temporary = tempfile::tempdir()?;
    let folder = std::env::args_os().nth(1).map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    let symm_pipeline = pipeline();
    let plain_pipeline = without_symm(&symm_pipeline);
    println!("| kernel | | parse | lower | optimise | emit | all, ms |\n|---|---|---:|---:|---:|---:|---:|");
    for (mix, (heaps, attributes)) in MIXES.iter().flat_map(|mix| HEAPS.iter().map(move |heaps| (mix, heaps))) {
        let sources = [with_symm(*mix, attributes), with_pointers(*mix)];
        let mut samples: [Vec<[f64; 4]>; 2] = [Vec::new(), Vec::new()];
        let mut files = Vec::new();
        for (index, text) in sources.iter().enumerate() {
            files.push(folder.join(format!("{}-{heaps}{index}.mlir", mix.name)));
            std::fs::write(&files[index], text)?;
        }
        for round in 0..ROUNDS + 3 {
            for (index, pipeline) in [&symm_pipeline, &plain_pipeline].into_iter().enumerate() {
                let (times, ptx) = compile(&frontend, &files[index], pipeline)?;
                // The first rounds fill caches.
                if round >= 3 {
                    samples[index].push(times);
                } else {
                    std::fs::write(files[index].with_extension("ptx"), ptx)?;
                }
            }
        }
        let total = |index: usize| median(samples[index].iter().map(|times| times.iter().sum()));
        for (index, what) in ["symm", "direct pointers"].into_iter().enumerate() {
            print!("| {}, {heaps} | {what} ", mix.name);
            for stage in 0..4 {
                print!("| {:.2} ", 1e3 * median(samples[index].iter().map(|times| times[stage])));
            }
            println!("| {:.2} |", 1e3 * total(index));
        }
        println!("| {}, {heaps} | ratio | | | | | {:.3} |", mix.name, total(0) / total(1));
    }
    Ok(())
}
