// Programs on the CPU: entries, kernels, launches and what host functions do.
// RUN: symm-opt %s --symm-lower-to-cpu --canonicalize --cse | FileCheck %s
// RUN: symm-opt %s --symm-cpu | FileCheck %s --check-prefix=LLVM
// LLVM-DAG: llvm.func @_symm_entry_main(
// LLVM-DAG: llvm.func @_symm_kernel_kernels_kernel(
// RUN: symm-opt %s --symm-cpu | FileCheck %s --check-prefix=GONE
// GONE-NOT: {{(^ *|= |")(symm|scf|arith|memref|gpu|func)[.]}}
// GONE-NOT: unrealized_conversion_cast

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // A kernel is a function of its arguments and of where its block lies: [block x, y, z, grid x, y, z].
    // CHECK-LABEL: func.func private @_symm_device_kernels_kernel(
    // CHECK-SAME: %arg0: !llvm.ptr, %[[M:.*]]: memref<?xindex>, %arg2: f16, %arg3: vector<2xi32>, %[[AT:.*]]: !llvm.ptr)
    gpu.func @kernel(%ctx: !symm.ctx, %m: memref<?xindex, 1>, %x: f16, %v: vector<2xi32>)
        workgroup(%shared: memref<32xindex, #gpu.address_space<workgroup>>)
        private(%mine: memref<4xindex, #gpu.address_space<private>>) kernel {
      // What was in workgroup or private memory is on the stack.
      // CHECK-DAG: %[[SHARED:.*]] = memref.alloca() : memref<32xindex>
      // CHECK-DAG: %[[MINE:.*]] = memref.alloca() : memref<4xindex>
      // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
      // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
      // CHECK: %[[X:.*]] = llvm.load %[[AT]] invariant {alignment = 8 : i64} : !llvm.ptr -> i64
      // CHECK-NEXT: %[[BX:.*]] = arith.index_cast %[[X]] : i64 to index
      // CHECK-NEXT: %[[Z:.*]] = llvm.getelementptr %[[AT]][16]
      // CHECK-NEXT: %[[ZV:.*]] = llvm.load %[[Z]] invariant
      // CHECK-NEXT: %[[BZ:.*]] = arith.index_cast %[[ZV]]
      // CHECK-NEXT: %[[G:.*]] = llvm.getelementptr %[[AT]][32]
      // CHECK-NEXT: %[[GV:.*]] = llvm.load %[[G]] invariant
      // CHECK-NEXT: %[[GY:.*]] = arith.index_cast %[[GV]]
      // CHECK-NEXT: memref.store %[[BX]], %[[M]][%[[BZ]]] : memref<?xindex>
      // CHECK-NEXT: memref.store %[[GY]], %[[SHARED]][%[[ZERO]]] : memref<32xindex>
      // CHECK-NEXT: memref.store %[[ONE]], %[[MINE]][%[[ZERO]]] : memref<4xindex>
      // CHECK-NEXT: memref.load %[[SHARED]][%[[BX]]] : memref<32xindex>
      // CHECK-NEXT: memref.load %[[MINE]][%[[BX]]] : memref<4xindex>
      %bx = gpu.block_id x
      %bz = gpu.block_id z
      %gy = gpu.grid_dim y
      %tx = gpu.thread_id x
      %dx = gpu.block_dim x
      memref.store %bx, %m[%bz] : memref<?xindex, 1>
      memref.store %gy, %shared[%tx] : memref<32xindex, #gpu.address_space<workgroup>>
      gpu.barrier
      memref.store %dx, %mine[%tx] : memref<4xindex, #gpu.address_space<private>>
      %theirs = memref.load %shared[%bx] : memref<32xindex, #gpu.address_space<workgroup>>
      %own = memref.load %mine[%bx] : memref<4xindex, #gpu.address_space<private>>
      %both = arith.addi %theirs, %own : index
      memref.store %both, %m[%gy] : memref<?xindex, 1>
      // Reductions over one thread are nothing.
      // CHECK: memref.store %[[BX]], %[[M]][%[[ONE]]]
      %word = arith.index_cast %bx : index to i64
      %sum = gpu.all_reduce add %word {} : (i64) -> i64
      %max = gpu.subgroup_reduce maxsi %sum : (i64) -> i64
      %result = arith.index_cast %max : i64 to index
      memref.store %result, %m[%dx] : memref<?xindex, 1>
      // CHECK: return
      gpu.return
    }

    // The runtime passes arguments through memory: a pointer to each.
    // CHECK-LABEL: func.func @_symm_kernel_kernels_kernel(
    // CHECK-SAME: %[[ARGS:.*]]: !llvm.ptr, %[[WHERE:.*]]: !llvm.ptr)
    // CHECK: llvm.load %{{.*}} : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    // CHECK: llvm.load %{{.*}} : !llvm.ptr -> f16
    // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<2xi32>
    // CHECK: call @_symm_device_kernels_kernel(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[WHERE]])
  }

  // A public function that takes a context first is an entry; its results lie after its arguments.
  // CHECK-LABEL: func.func @_symm_entry_main(
  // CHECK: %[[R:.*]]:2 = call @main(
  // CHECK: llvm.store %[[R]]#0, %{{.*}} : i32, !llvm.ptr
  // CHECK: llvm.store %{{.*}}, %{{.*}} : i64, !llvm.ptr
  // CHECK-LABEL: func.func @main(
  func.func @main(%ctx: !symm.ctx, %n: index, %x: f16, %v: vector<2xi32>) -> (i32, index) {
    // CHECK: %[[SIZE:.*]] = arith.index_cast %{{.*}} : index to i64
    // CHECK-NEXT: %[[NEGATIVE:.*]] = arith.cmpi slt, %[[SIZE]], %c0_i64 : i64
    // CHECK-NEXT: scf.if %[[NEGATIVE]] {
    // CHECK: func.call @symm_rt_fault(
    // CHECK: %[[LOW:.*]], %[[HIGH:.*]] = arith.mului_extended %[[SIZE]], %c8_i64 : i64
    // CHECK-NEXT: %[[MANY:.*]] = arith.cmpi ne, %[[HIGH]], %c0_i64 : i64
    // CHECK-NEXT: %[[BYTES:.*]] = arith.select %[[MANY]], %c-1_i64, %[[LOW]] : i64
    // CHECK-NEXT: %[[TOO_LARGE:.*]] = arith.cmpi eq, %[[BYTES]], %c-1_i64 : i64
    // CHECK-NEXT: scf.if %[[TOO_LARGE]] {
    // CHECK-NEXT: func.call @symm_rt_fault(
    // CHECK-NEXT: }
    // CHECK-NEXT: %[[HEAP:.*]] = call @symm_rt_alloc(%arg0, %[[BYTES]], %c256_i64, %{{.*}})
    %m = symm.alloc %ctx(%n) : memref<?xindex, 1>
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 1024 : i32
    // Grid, block and dynamic shared memory; kernel, then a word for each kind of argument: the context, others.
    // CHECK: call @symm_rt_launch(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
    gpu.launch_func @kernels::@kernel blocks in (%n, %c1, %c1) threads in (%c1, %n, %c1)
      dynamic_shared_memory_size %bytes
      args(%ctx : !symm.ctx, %m : memref<?xindex, 1>, %x : f16, %v : vector<2xi32>)
    // CHECK: call @symm_rt_free(%arg0, %[[HEAP]], %{{.*}})
    symm.free %ctx, %m : memref<?xindex, 1>
    %me = symm.rank %ctx
    return %me, %n : i32, index
  }

  // So is one that says that it is public.
  // CHECK-LABEL: func.func @_symm_entry_said(
  func.func public @said(%ctx: !symm.ctx) {
    return
  }

  // Others are not: private, declared, without a context first.
  // CHECK-NOT: @_symm_entry_
  func.func private @private(%ctx: !symm.ctx) {
    return
  }
  func.func private @declared(!symm.ctx)
  // CHECK-LABEL: func.func @without(
  func.func @without(%n: index, %ctx: !symm.ctx) {
    return
  }

  // CHECK-LABEL: func.func @copies(
  func.func @copies(%host: memref<?x4xf32>, %heap: memref<?x4xf32>, %column: memref<4xf32, strided<[4]>>,
      %row: memref<4xf32>) {
    // A contiguous copy goes through the runtime, which knows whose memory it is; another one is made here.
    // CHECK: call @symm_rt_copy(
    gpu.memcpy %heap, %host : memref<?x4xf32>, memref<?x4xf32>
    // CHECK: scf.for
    gpu.memcpy %row, %column : memref<4xf32>, memref<4xf32, strided<[4]>>
    // CHECK-NOT: gpu.
    gpu.wait
    return
  }

  // CHECK-LABEL: func.func @memory(
  func.func @memory(%n: index, %old: memref<2xf32>) -> memref<?x2xf32> {
    // CHECK: memref.alloc(%arg0) : memref<?x2xf32>
    %m = gpu.alloc (%n) : memref<?x2xf32>
    // CHECK: memref.dealloc %arg1
    gpu.dealloc %old : memref<2xf32>
    return %m : memref<?x2xf32>
  }

  // CHECK-LABEL: func.func @barrier_all(
  func.func @barrier_all(%n: index, %ctx: !symm.ctx) {
    // CHECK: call @symm_rt_barrier_all(%arg1, %{{.*}})
    symm.barrier_all %ctx
    return
  }
}
