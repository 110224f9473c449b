//! The kernels: with symm ops, and with direct pointers.

use std::fmt::Write as _;
use symm_abi::wait::{EAGER_POLLS, ORDERED_POLLS};

const PEERS: usize = 4;
/// The peer that a reduction gives its result to.
const STORED_TO: usize = 3;

/// What the kernels do.
#[derive(Clone, Copy)]
pub struct Mix {
    pub name: &'static str,
    pub loops: usize,
    pub accesses: usize,
    pub signals: usize,
}

/// A kernel with symm ops, in a module with attributes.
pub fn with_symm(mix: Mix, attributes: &str) -> String {
    let mut body = String::new();
    for number in 0..mix.loops {
        let access = |body: &mut String, peer: usize| {
            let _ = match peer {
                STORED_TO => {
                    writeln!(body, "symm.remote_store %ctx, %there, %sum, %peer{peer} : !llvm.ptr, vector<4xf32>")
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
            let _ = writeln!(body, "symm.remote_store %ctx, %p{op}, %v{value}, %peer{peer} : !llvm.ptr, vector<4xf32>");
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
pub fn with_pointers(mix: Mix) -> String {
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
         %ordered = arith.constant {ORDERED_POLLS} : i64
         %polls = arith.constant {} : i64
         %nap = arith.constant 64 : i32
         %thread = gpu.thread_id x
         %at = arith.index_cast %thread : index to i64
         %first = gpu.global_id x
         %blocks = gpu.grid_dim x
         %threads = gpu.block_dim x
         %all = arith.muli %blocks, %threads : index
         {body}
         gpu.return }} }} }}",
        EAGER_POLLS - ORDERED_POLLS
    )
}
