// A fence of NVVM's after a poll with plain loads acquires as ours do: no argument stays llvm.noalias (O1).
// RUN: symm-opt %s --symm-lower-to-nvvm --verify-diagnostics | FileCheck %s

module attributes {gpu.container_module} {
gpu.module @kernels {
  // CHECK: gpu.func @fences(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr)
  // expected-remark @below {{drops llvm.noalias of argument 1: peers write while a kernel runs (O1)}}
  gpu.func @fences(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}) kernel {
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
    gpu.return
  }

  // CHECK: gpu.func @text(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr)
  // expected-remark @below {{drops llvm.noalias of argument 1: peers write while a kernel runs (O1)}}
  gpu.func @text(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}) kernel {
    nvvm.inline_ptx "fence.acq_rel.sys;"
    gpu.return
  }

  // CHECK: gpu.func @adds(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr<1>,
  // expected-remark @below {{drops llvm.noalias of argument 1: peers write while a kernel runs (O1)}}
  gpu.func @adds(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %q: !llvm.ptr<1>, %x: i32) kernel {
    // expected-remark @below {{O2: reaches the threads of this GPU only}}
    %old = llvm.atomicrmw add %q, %x monotonic : !llvm.ptr<1>, i32
    gpu.return
  }

  // CHECK: gpu.func @updates(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr,
  // expected-remark @below {{drops llvm.noalias of argument 1: peers write while a kernel runs (O1)}}
  gpu.func @updates(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %m: memref<4xi32>, %i: index, %x: i32) kernel {
    // expected-remark @below {{O2: reaches the threads of this GPU only}}
    %old = memref.atomic_rmw assign %x, %m[%i] : (i32, memref<4xi32>) -> i32
    gpu.return
  }

  // CHECK: gpu.func @asks(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr {llvm.noalias})
  gpu.func @asks(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}) kernel {
    %lane = nvvm.read.ptx.sreg.laneid : i32
    llvm.store %lane, %p : i32, !llvm.ptr
    gpu.return
  }
}
}
