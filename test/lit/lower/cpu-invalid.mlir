// What the CPU has no form for (S1), and programs that don't fit together.
// RUN: symm-opt %s --allow-unregistered-dialect --split-input-file --symm-lower-to-cpu --verify-diagnostics

func.func @barrier_of_the_host(%ctx: !symm.ctx) {
  // expected-error @below {{'symm.barrier' op S1: is for kernels; a host function uses symm.barrier_all}}
  symm.barrier %ctx
  return
}

// -----

gpu.module @m {
  gpu.func @host_ops(%ctx: !symm.ctx, %m: memref<4xf32>) kernel {
    // expected-error @below {{'symm.alloc' op S1: is for host functions, not for kernels}}
    %a = symm.alloc %ctx : memref<4xf32>
    // expected-error @below {{'symm.free' op S1: is for host functions, not for kernels}}
    symm.free %ctx, %m : memref<4xf32>
    // expected-error @below {{'symm.barrier_all' op S1: is for host functions, not for kernels}}
    symm.barrier_all %ctx
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @instructions(%mask: i32) kernel {
    // expected-error @below {{'nvvm.bar.warp.sync' op S1: is an instruction of a GPU, which a CPU does not have}}
    nvvm.bar.warp.sync %mask : i32
    // expected-error @below {{'rocdl.s.barrier' op S1: is an instruction of a GPU, which a CPU does not have}}
    rocdl.s.barrier
    gpu.return
  }
}

// -----

// By LLVM's names, as a call, and as text.
gpu.module @m {
  llvm.func @llvm.amdgcn.s.barrier()
  gpu.func @by_name(%at: memref<4xf32>) kernel {
    // expected-error @below {{'llvm.call_intrinsic' op S1: is an instruction of a GPU, which a CPU does not have}}
    llvm.call_intrinsic "llvm.nvvm.membar.sys"() : () -> ()
    // expected-error @below {{'llvm.call' op S1: is an instruction of a GPU, which a CPU does not have}}
    llvm.call @llvm.amdgcn.s.barrier() : () -> ()
    // expected-error @below {{'llvm.inline_asm' op S1: is assembly of a GPU, which a CPU does not have}}
    llvm.inline_asm has_side_effects "membar.sys;", "~{memory}" : () -> ()
    // What has no text keeps the compiler from moving accesses.
    llvm.inline_asm has_side_effects "", "~{memory}" : () -> ()
    llvm.call_intrinsic "llvm.x86.sse2.pause"() : () -> ()
    gpu.return
  }
}

// -----

func.func @main(%ctx: !symm.ctx) {
  // expected-error @below {{'llvm.call_intrinsic' op S1: is an instruction of a GPU, which a CPU does not have}}
  llvm.call_intrinsic "llvm.amdgcn.s.barrier"() : () -> ()
  return
}

// -----

func.func @triton(%ctx: !symm.ctx, %p: !tt.ptr<f32>, %many: tensor<8x!tt.ptr<f32>>, %r: i32, %n: index) {
  // expected-error @below {{'symm.remote_load' op S1: the CPU has no Triton pointers}}
  %0 = symm.remote_load %ctx, %p, %r : !tt.ptr<f32> -> f32
  // expected-error @below {{'symm.as_remote' op S1: the CPU has no Triton pointers}}
  %1 = symm.as_remote %ctx, %many, %r : tensor<8x!tt.ptr<f32>>
  // expected-error @below {{'symm.heap_base' op S1: the CPU has no Triton pointers}}
  %2 = symm.heap_base %ctx, %r : !tt.ptr<f32>
  // expected-error @below {{'symm.get' op S1: the CPU has no Triton pointers}}
  symm.get %ctx, %p, %p, %r count %n : index of f32 : !tt.ptr<f32>, !tt.ptr<f32>
  return
}

// -----

func.func @table_in_a_memref(%table: memref<?xi64>, %me: i32, %n: i32, %p: !llvm.ptr) -> f32 {
  // expected-error @below {{'symm.ctx' op S1: takes the table as an !llvm.ptr on this target}}
  %0 = symm.ctx %table : memref<?xi64>
  // expected-error @below {{'symm.ctx' op S1: takes the table as an !llvm.ptr on this target}}
  %1 = symm.ctx %table rank %me of %n : memref<?xi64>
  %2 = symm.remote_load %1, %p, %n : !llvm.ptr -> f32
  return %2 : f32
}

// -----

// A context from parts has no table, so it stays where it was made.
func.func @parts_to_a_function(%bases: !llvm.ptr, %me: i32, %n: i32) {
  // expected-error @below {{'symm.ctx' op S1: a context made from parts has no table to pass to a function or a block}}
  %ctx = symm.ctx %bases rank %me of %n : !llvm.ptr
  func.call @helper(%ctx) : (!symm.ctx) -> ()
  return
}
func.func private @helper(!symm.ctx)

// -----

func.func @parts_to_a_block(%bases: !llvm.ptr, %me: i32, %n: i32, %p: !llvm.ptr, %r: i32) -> f32 {
  // expected-error @below {{'symm.ctx' op S1: a context made from parts has no table to pass to a function or a block}}
  %made = symm.ctx %bases rank %me of %n : !llvm.ptr
  cf.br ^next(%made : !symm.ctx)
^next(%ctx: !symm.ctx):
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> f32
  return %0 : f32
}

// -----

llvm.func @function_of_llvm(%x: i64) {
  // expected-error @below {{'symm.print' op S1: is lowered only in a func.func or a gpu.func}}
  symm.print "{}"(%x) : i64
  llvm.return
}

// -----

// expected-error @below {{'symm.print' op S1: is lowered only in a func.func or a gpu.func}}
symm.print "in no function"

// -----

func.func @host() -> index {
  // expected-error @below {{'gpu.block_id' op S1: is for functions of a gpu.module}}
  %0 = gpu.block_id x
  return %0 : index
}

// -----

gpu.module @kernels {
  gpu.func @one_thread(%x: f32, %i: i32) kernel {
    // expected-error @below {{'gpu.shuffle' op S1: the CPU driver runs blocks of one thread and has no gpu.shuffle}}
    %0, %1 = gpu.shuffle xor %x, %i, %i : f32
    // expected-error @below {{'gpu.dynamic_shared_memory' op S1: the CPU driver runs blocks of one thread and has no}}
    %2 = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    // expected-error @below {{'gpu.printf' op S1: the CPU driver runs blocks of one thread and has no gpu.printf}}
    gpu.printf "%f\0A", %x : f32
    gpu.return
  }
}

// -----

// Nothing is asynchronous.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel() kernel {
      gpu.return
    }
  }
  func.func @asynchronous(%a: memref<4xf32>, %b: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error @below {{'gpu.wait' op S1: the CPU driver is synchronous; leave out 'async' and its tokens}}
    %t = gpu.wait async
    // expected-error @below {{'gpu.launch_func' op S1: the CPU driver is synchronous; leave out 'async' and its}}
    %u = gpu.launch_func async [%t] @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    // expected-error @below {{'gpu.memcpy' op S1: the CPU driver is synchronous; leave out 'async' and its tokens}}
    %v = gpu.memcpy async [%u] %a, %b : memref<4xf32>, memref<4xf32>
    // expected-error @below {{'gpu.alloc' op S1: the CPU driver is synchronous; leave out 'async' and its tokens}}
    %m, %w = gpu.alloc async [%v] () : memref<4xf32>
    // expected-error @below {{'gpu.dealloc' op S1: the CPU driver is synchronous; leave out 'async' and its tokens}}
    %x = gpu.dealloc async [%w] %m : memref<4xf32>
    // expected-error @below {{'gpu.wait' op S1: the CPU driver is synchronous; leave out 'async' and its tokens}}
    gpu.wait [%x]
    return
  }
}

// -----

func.func @memset(%m: memref<4xf32>, %x: f32) {
  // expected-error @below {{'gpu.memset' op S1: the CPU driver runs blocks of one thread and has no gpu.memset}}
  gpu.memset %m, %x : memref<4xf32>, f32
  return
}

// -----

// A launch of a kernel that is not there, or is another one.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%x: i32) kernel {
      gpu.return
    }
  }
  func.func @missing(%x: i32, %n: index) {
    // expected-error @below {{'gpu.launch_func' op kernel function '@kernels::@other' is undefined}}
    gpu.launch_func @kernels::@other blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : i32)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%x: i32) kernel {
      gpu.return
    }
  }
  func.func @mismatched(%x: f32, %n: index) {
    // expected-error @below {{'gpu.launch_func' op type of function argument 0 does not match}}
    gpu.launch_func @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : f32)
    return
  }
}

// -----

func.func @compares_halves_of_words(%ctx: !symm.ctx, %m: memref<1xi16>, %v: i16, %peer: i32) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{S1: compares and swaps i16 in Triton kernels only}}
  %was = symm.atomic_cas %ctx, %m[%c0], %v, %v, %peer : memref<1xi16>, i16
  return
}

// -----

func.func @compares_floats(%ctx: !symm.ctx, %m: memref<1xf32>, %v: f32, %peer: i32) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{S1: compares floats in Triton kernels only}}
  %old = symm.atomic_rmw min %ctx, %m[%c0], %v, %peer : memref<1xf32>, f32
  // expected-error @below {{S1: compares floats in Triton kernels only}}
  %was = symm.atomic_cas %ctx, %m[%c0], %v, %v, %peer : memref<1xf32>, f32
  return
}

// -----

func.func @traces(%ctx: !symm.ctx) {
  // expected-error @below {{S1: is for kernels on a GPU; the CPU's runtime records by itself}}
  %record = symm.trace_begin %ctx, "put"
  // expected-error @below {{S1: is for kernels on a GPU; the CPU's runtime records by itself}}
  symm.trace_end %record
  return
}

// -----

module attributes {symm.engine = "openshmem"} {
  func.func @parts(%bases: !llvm.ptr, %me: i32, %n: i32, %p: !llvm.ptr, %v: i64) {
    // expected-error @below {{S1: a context made from parts does not say which ranks the engine reaches}}
    %ctx = symm.ctx %bases rank %me of %n : !llvm.ptr
    symm.remote_store %ctx, %p, %v, %n : !llvm.ptr, i64
    return
  }
}
