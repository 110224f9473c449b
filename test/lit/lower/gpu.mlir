// What both GPU targets do alike: host code goes, kernels and the functions they call stay; a wait of a group tells what
// it found through shared memory; warps are numbered.
// RUN: symm-opt %s --symm-lower-to-nvvm --canonicalize --cse | FileCheck %s -DWARP=32
// RUN: symm-opt %s --symm-lower-to-rocdl --canonicalize --cse | FileCheck %s -DWARP=64

// CHECK-NOT: func.func @main
// CHECK: gpu.module @kernels
// CHECK: llvm.mlir.global internal @_symm_shared_words() {addr_space = 3 : i32{{.*}}} : !llvm.array<32 x i32>
// CHECK: func.func private @visit(%{{.*}}: !llvm.ptr)
// CHECK: gpu.func @wait(%{{.*}}: !llvm.ptr,
// CHECK: %[[WORD:.*]] = llvm.mlir.addressof @_symm_shared_words : !llvm.ptr<3>
// CHECK: scf.if
// CHECK: llvm.store %{{.*}}, %[[WORD]] : i32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK-NEXT: %[[SEEN:.*]] = llvm.load volatile %[[WORD]] : !llvm.ptr<3> -> i32
// CHECK-NEXT: gpu.barrier
// CHECK: gpu.func @warps
// CHECK: %[[SIZE:.*]] = arith.constant [[WARP]] : index
// CHECK: memref.store %[[SIZE]]
// CHECK-NOT: gpu.subgroup_id
module attributes {gpu.container_module} {
  func.func @main(%ctx: !symm.ctx) {
    symm.barrier_all %ctx
    return
  }
  gpu.module @kernels {
    func.func private @visit(%ctx: !symm.ctx) {
      return
    }
    gpu.func @wait(%ctx: !symm.ctx, %f: memref<1xi64>, %v: i64, %ns: i64, %out: memref<1xi1>) kernel {
      %c0 = arith.constant 0 : index
      func.call @visit(%ctx) : (!symm.ctx) -> ()
      %seen = symm.wait %ctx, %f[%c0] ge %v timeout %ns group block : memref<1xi64>, i64 -> i1
      memref.store %seen, %out[%c0] : memref<1xi1>
      gpu.return
    }
    gpu.func @warps(%out: memref<2xindex>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %size = gpu.subgroup_size : index
      %number = gpu.subgroup_id : index
      memref.store %size, %out[%c0] : memref<2xindex>
      memref.store %number, %out[%c1] : memref<2xindex>
      gpu.return
    }
  }
}
