// A context becomes a pointer everywhere; memory spaces go on the CPU and stay on a GPU.
// RUN: symm-opt %s --symm-lower-to-cpu | FileCheck %s --check-prefix=CPU
// RUN: symm-opt %s --symm-lower-to-nvvm | FileCheck %s --check-prefix=GPU

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CPU: func.func private @_symm_device_kernels_shared(%{{.*}}: !llvm.ptr, %{{.*}}: i1, %{{.*}}: !llvm.ptr)
    // CPU: memref.alloca() : memref<8xf32>
    // GPU: gpu.func @shared(%{{.*}}: !llvm.ptr, %{{.*}}: i1) workgroup(%{{.*}} : memref<8xf32, #gpu.address_space<workgroup>>) kernel
    gpu.func @shared(%ctx: !symm.ctx, %c: i1) workgroup(%buffer: memref<8xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %x = arith.constant 1.0 : f32
      memref.store %x, %buffer[%c0] : memref<8xf32, #gpu.address_space<workgroup>>
      // Through a branch of the control flow and a call.
      // GPU: scf.if %{{.*}} -> (!llvm.ptr) {
      %same = scf.if %c -> !symm.ctx {
        scf.yield %ctx : !symm.ctx
      } else {
        scf.yield %ctx : !symm.ctx
      }
      // GPU: func.call @device(%{{.*}}) : (!llvm.ptr) -> !llvm.ptr
      %back = func.call @device(%same) : (!symm.ctx) -> !symm.ctx
      gpu.return
    }
    // GPU: func.func private @device(%{{.*}}: !llvm.ptr) -> !llvm.ptr
    func.func private @device(%ctx: !symm.ctx) -> !symm.ctx {
      return %ctx : !symm.ctx
    }
    // A memref of memrefs: the space within.
    // CPU: func.func private @_symm_device_kernels_views(%{{.*}}: memref<?xmemref<8xf32>>, %{{.*}}: !llvm.ptr)
    // GPU: func.func private @views(%{{.*}}: memref<?xmemref<8xf32, #gpu.address_space<global>>>)
    func.func private @views(%views: memref<?xmemref<8xf32, #gpu.address_space<global>>>) {
      return
    }
  }
}
