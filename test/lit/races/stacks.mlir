// Memory on a stack is looked at before it is taken, and threads that there are no stacks for are told of at their
// launch. Neither ends the process.

// DEFINE: %{limit} = bash -c "symm-check
// RUN: symm-check %s --ranks 1 --entry fits | FileCheck %s --check-prefix=FITS
// RUN: not symm-check %s --ranks 2 --entry large | FileCheck %s --check-prefix=LARGE
// RUN: not symm-check %s --ranks 2 --entry large --schedules 2 | FileCheck %s --check-prefix=LARGE
// RUN: not symm-check %s --ranks 2 --entry grows | FileCheck %s --check-prefix=GROWS
// RUN: not symm-check %s --ranks 1 --entry array | FileCheck %s --check-prefix=ARRAY
// RUN: not symm-check %s --ranks 1 --entry hosts | FileCheck %s --check-prefix=HOSTS

// The limit is that of one heap's addresses, 192 GiB, and 1.7 GiB for more than 1000 threads.
// RUN: not bash -c "ulimit -v 203000000; exec symm-check %s --ranks 1 --entry many" 2>&1 | FileCheck %s --check-prefix=MANY

// FITS: nothing found; 1 execution tried

// Other tasks go on: the other rank's thread is as wrong, and is the same finding.
// LARGE: stacks.mlir:[[#]]:[[#]]: error: fault
// LARGE-NEXT: rank 0 block 0 thread 0: takes 4000000 bytes from its stack, where 10{{[0-9]+}} KiB are left
// LARGE-NEXT: memref.alloca() : memref<1000000xf32>
// LARGE: symm-check: 1 error;

// Of a size that is not known, once for each round of a loop.
// GROWS: error: fault
// GROWS-NEXT: rank {{[01]}} block 0 thread 0: takes {{4|8}}00 bytes from its stack, where 0 KiB are left
// GROWS-NEXT: memref.alloca(%size)

// What is taken at a function's start touches the page after the stack's end: a signal of the system, at the launch.
// ARRAY: stacks.mlir:[[#]]:[[#]]: error: fault
// ARRAY-NEXT: rank 0 block 0 thread 0: its stack is full, here or before its next access
// ARRAY-NEXT: gpu.launch_func @kernels::@array

// HOSTS: error: fault
// HOSTS-NEXT: rank 0 host: takes 400000000 bytes from its stack, where 8{{[0-9]+}} KiB are left

// MANY-NOT: error:
// MANY: nothing found; 1 execution tried; nothing is known of other schedules
// MANY: symm-check: {{.*}}stacks.mlir:[[#]]:[[#]]: no stack for another thread: Cannot allocate memory
// MANY-SAME: give fewer --threads, or launch fewer blocks

// A limit of the checker, in schedules of all kinds, is no error of the program. What was found before it is.
// RUN: %{limit} %s --ranks 1 --entry blocks; test $? = 2" 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: %{limit} %s --ranks 1 --entry blocks --exhaustive; test $? = 2" 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: %{limit} %s --ranks 1 --entry threads --schedules 3; test $? = 2" 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: %{limit} %s --ranks 2 --entry after --threads 2; test $? = 1" 2>&1 | FileCheck %s --check-prefix=AFTER
// BLOCKS: symm-check: nothing found; 1 execution tried; nothing is known of other schedules
// BLOCKS: symm-check: {{.*}}stacks.mlir:[[#]]:[[#]]: 40000 threads, and a launch has at most 32768 here: launch fewer
// BLOCKS-SAME: blocks{{$}}
// THREADS: symm-check: {{.*}}stacks.mlir:[[#]]:[[#]]: 64000 threads, and a launch has at most 32768 here: launch fewer
// THREADS-SAME: blocks, or give fewer --threads
// AFTER: error: race
// AFTER: symm-check: 1 error; 1 execution tried; nothing is known of other schedules
// AFTER: 80000 threads, and a launch has at most 32768 here

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // What a thread has at most on a GPU: 512 KiB.
    gpu.func @fits(%ctx: !symm.ctx, %box: memref<1xf32>, %size: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1.0 : f32
      %a = memref.alloca() : memref<131072xf32>
      %v = memref.load %box[%c0] : memref<1xf32>
      %i = arith.fptosi %v : f32 to i32
      %j = arith.index_cast %i : i32 to index
      memref.store %one, %a[%j] : memref<131072xf32>
      %w = memref.load %a[%c1] : memref<131072xf32>
      memref.store %w, %box[%c0] : memref<1xf32>
      gpu.return
    }

    gpu.func @large(%ctx: !symm.ctx, %box: memref<1xf32>, %size: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1.0 : f32
      %a = memref.alloca() : memref<1000000xf32>
      %v = memref.load %box[%c0] : memref<1xf32>
      %i = arith.fptosi %v : f32 to i32
      %j = arith.index_cast %i : i32 to index
      memref.store %one, %a[%j] : memref<1000000xf32>
      %w = memref.load %a[%c1] : memref<1000000xf32>
      memref.store %w, %box[%c0] : memref<1xf32>
      gpu.return
    }

    gpu.func @grows(%ctx: !symm.ctx, %box: memref<1xf32>, %size: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1.0 : f32
      %rounds = arith.constant 100000 : index
      scf.for %r = %c0 to %rounds step %c1 {
        %a = memref.alloca(%size) : memref<?xf32>
        memref.store %one, %a[%r] : memref<?xf32>
        %w = memref.load %a[%c1] : memref<?xf32>
        memref.store %w, %box[%c0] : memref<1xf32>
      }
      gpu.return
    }

    gpu.func @array(%ctx: !symm.ctx, %box: memref<1xf32>, %size: index) kernel {
      %c0 = arith.constant 0 : index
      %one = llvm.mlir.constant(1 : i64) : i64
      %a = llvm.alloca %one x !llvm.array<10000000 x f32> : (i64) -> !llvm.ptr
      %v = memref.load %box[%c0] : memref<1xf32>
      %i = arith.fptosi %v : f32 to i64
      %at = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %v, %at : f32, !llvm.ptr
      %w = llvm.load %a : !llvm.ptr -> f32
      memref.store %w, %box[%c0] : memref<1xf32>
      gpu.return
    }

    gpu.func @waits(%ctx: !symm.ctx, %box: memref<1xf32>, %size: index) kernel {
      gpu.barrier
      gpu.return
    }
  }

  gpu.module @more {
    gpu.func @races(%ctx: !symm.ctx, %box: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %id = gpu.thread_id x
      %v = arith.index_cast %id : index to i32
      memref.store %v, %box[%c0] : memref<1xi32>
      gpu.return
    }
  }

  func.func @blocks(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %blocks = arith.constant 40000 : index
    %box = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @more::@races blocks in (%blocks, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %box : memref<1xi32>)
    return
  }

  func.func @threads(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %blocks = arith.constant 1000 : index
    %threads = arith.constant 64 : index
    %box = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @more::@races blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%ctx : !symm.ctx, %box : memref<1xi32>)
    return
  }

  // The other rank waits for this one at the end.
  func.func @after(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %zero = arith.constant 0 : i32
    %blocks = arith.constant 40000 : index
    %box = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @more::@races blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %box : memref<1xi32>)
    %me = symm.rank %ctx
    %first = arith.cmpi eq, %me, %zero : i32
    scf.if %first {
      gpu.launch_func @more::@races blocks in (%blocks, %c1, %c1) threads in (%c2, %c1, %c1)
        args(%ctx : !symm.ctx, %box : memref<1xi32>)
    }
    symm.barrier_all %ctx
    return
  }

  func.func @fits(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %blocks = arith.constant 1 : index
    %threads = arith.constant 1 : index
    %size = arith.constant 100 : index
    %box = symm.alloc %ctx : memref<1xf32>
    gpu.launch_func @kernels::@fits blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%ctx : !symm.ctx, %box : memref<1xf32>, %size : index)
    return
  }

  func.func @large(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %blocks = arith.constant 1 : index
    %threads = arith.constant 1 : index
    %size = arith.constant 100 : index
    %box = symm.alloc %ctx : memref<1xf32>
    gpu.launch_func @kernels::@large blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%ctx : !symm.ctx, %box : memref<1xf32>, %size : index)
    return
  }

  func.func @grows(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %blocks = arith.constant 1 : index
    %threads = arith.constant 1 : index
    %size = arith.constant 100 : index
    %box = symm.alloc %ctx : memref<1xf32>
    gpu.launch_func @kernels::@grows blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%ctx : !symm.ctx, %box : memref<1xf32>, %size : index)
    return
  }

  func.func @array(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %size = arith.constant 100 : index
    %box = symm.alloc %ctx : memref<1xf32>
    gpu.launch_func @kernels::@array blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %box : memref<1xf32>, %size : index)
    return
  }

  func.func @many(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %blocks = arith.constant 4 : index
    %threads = arith.constant 1024 : index
    %size = arith.constant 100 : index
    %box = symm.alloc %ctx : memref<1xf32>
    gpu.launch_func @kernels::@waits blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%ctx : !symm.ctx, %box : memref<1xf32>, %size : index)
    return
  }

  func.func @hosts(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %a = memref.alloca() : memref<100000000xf32>
    memref.store %one, %a[%c1] : memref<100000000xf32>
    %same = memref.load %a[%c1] : memref<100000000xf32>
    %is = arith.cmpf oeq, %same, %one : f32
    symm.check %is, "it is"
    return
  }
}
