// What an author may acquire with, apart from symm's ops: what was loaded before it through an argument with
// llvm.noalias is loaded again after it, and through no cache that it does not reach. Ops that order nothing beyond the
// block leave the argument as it is.
// RUN: split-file %s %t
// RUN: symm-opt %t/ordered.mlir --symm-lower-to-nvvm 2>/dev/null | FileCheck %t/ordered.mlir
// RUN: symm-opt %t/ordered.mlir --symm-lower-to-rocdl 2>/dev/null | FileCheck %t/ordered.mlir
// RUN: symm-translate %t/ordered.mlir --to ptx --chip sm_90 2>/dev/null | FileCheck %t/ordered.mlir --check-prefix=PTX
// RUN: symm-translate %t/ordered.mlir --to amdgcn --chip gfx942 2>/dev/null | FileCheck %t/ordered.mlir --check-prefix=AMD
// RUN: symm-opt %t/outside.mlir --symm-lower-to-nvvm 2>/dev/null | FileCheck %t/outside.mlir
// RUN: symm-translate %t/outside.mlir --to ptx --chip sm_90 2>/dev/null | FileCheck %t/outside.mlir --check-prefix=PTX
// RUN: symm-opt %t/nvidia.mlir --symm-lower-to-nvvm 2>/dev/null | FileCheck %t/nvidia.mlir
// RUN: symm-translate %t/nvidia.mlir --to ptx --chip sm_90 2>/dev/null | FileCheck %t/nvidia.mlir --check-prefix=PTX
// RUN: symm-opt %t/amd.mlir --symm-lower-to-rocdl 2>/dev/null | FileCheck %t/amd.mlir
// RUN: symm-opt %t/kept.mlir --symm-lower-to-nvvm 2>&1 | FileCheck %t/kept.mlir
// RUN: symm-opt %t/kept.mlir --symm-lower-to-rocdl 2>&1 | FileCheck %t/kept.mlir
// RUN: symm-opt %t/unknown.mlir --allow-unregistered-dialect --symm-lower-to-nvvm 2>/dev/null | FileCheck %t/unknown.mlir

//--- ordered.mlir
module attributes {gpu.container_module} {
gpu.module @kernels {
  // CHECK: gpu.func @generic(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr,
  // PTX-LABEL: .entry generic
  // PTX: ld.global.b32
  // PTX: atom{{.*}}.cas
  // PTX: ld.global.b32
  // PTX: st.global.b32
  // AMD-LABEL: {{^}}generic:
  // AMD: atomic_cmpswap
  // AMD: {{global|flat}}_load_dword
  // AMD: s_endpgm
  gpu.func @generic(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias},
      %m: memref<4xi32>, %i: index, %x: i32) kernel {
    %before = llvm.load %p : !llvm.ptr -> i32
    %new = memref.generic_atomic_rmw %m[%i] : memref<4xi32> {
    ^bb0(%seen: i32):
      %next = arith.addi %seen, %x : i32
      memref.atomic_yield %next : i32
    }
    %after = llvm.load %p : !llvm.ptr -> i32
    %sum = arith.subi %after, %before : i32
    llvm.store %sum, %out : i32, !llvm.ptr
    gpu.return
  }

  // In a loop whose iterations may run at the same time.
  // CHECK: gpu.func @parallel(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr,
  // PTX-LABEL: .entry parallel
  // PTX: ld.global.b32
  // PTX: atom{{.*}}.exch
  // PTX: ld.global.b32
  // AMD-LABEL: {{^}}parallel:
  // AMD: atomic_swap
  // AMD: {{global|flat}}_load_dword
  // AMD: s_endpgm
  gpu.func @parallel(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias},
      %m: memref<4xi32>, %n: index, %x: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %before = llvm.load %p : !llvm.ptr -> i32
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %old = memref.atomic_rmw assign %x, %m[%i] : (i32, memref<4xi32>) -> i32
      memref.store %old, %m[%i] : memref<4xi32>
    }
    %after = llvm.load %p : !llvm.ptr -> i32
    %sum = arith.subi %after, %before : i32
    llvm.store %sum, %out : i32, !llvm.ptr
    gpu.return
  }

  // Assembly with side effects may be an acquire, whatever it says that it clobbers.
  // CHECK: gpu.func @assembly(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr)
  // PTX-LABEL: .entry assembly
  // PTX: ld.global.b32
  // PTX: begin inline asm
  // PTX: ld.global.b32
  // AMD-LABEL: {{^}}assembly:
  // AMD: ;#ASMSTART
  // AMD: {{global|flat}}_load_dword
  // AMD: s_endpgm
  gpu.func @assembly(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias}) kernel {
    %before = llvm.load %p : !llvm.ptr -> i32
    llvm.inline_asm has_side_effects "", "" : () -> ()
    %after = llvm.load %p : !llvm.ptr -> i32
    %sum = arith.subi %after, %before : i32
    llvm.store %sum, %out : i32, !llvm.ptr
    gpu.return
  }
}
}

//--- outside.mlir
// No other op of the module orders anything: a function that it does not define may.
module attributes {gpu.container_module} {
gpu.module @kernels {
  llvm.func @llvm.nvvm.membar.sys()
  // CHECK: gpu.func @calls(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr)
  // PTX-LABEL: .entry calls
  // PTX: ld.global.b32
  // PTX: membar.sys
  // PTX: ld.global.b32
  gpu.func @calls(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias}) kernel {
    %before = llvm.load %p : !llvm.ptr -> i32
    llvm.call @llvm.nvvm.membar.sys() : () -> ()
    %after = llvm.load %p : !llvm.ptr -> i32
    %sum = arith.subi %after, %before : i32
    llvm.store %sum, %out : i32, !llvm.ptr
    gpu.return
  }
}
}

//--- nvidia.mlir
module attributes {gpu.container_module} {
gpu.module @kernels {
  // CHECK: gpu.func @membar(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr)
  // PTX-LABEL: .entry membar
  // PTX: ld.global.b32
  // PTX: {{membar|fence}}
  // PTX: ld.global.b32
  gpu.func @membar(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias}) kernel {
    %before = llvm.load %p : !llvm.ptr -> i32
    nvvm.memory.barrier <sys>
    %after = llvm.load %p : !llvm.ptr -> i32
    %sum = arith.subi %after, %before : i32
    llvm.store %sum, %out : i32, !llvm.ptr
    gpu.return
  }

  // What the kernel before this one has written, and acquired.
  // CHECK: gpu.func @dependent(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr)
  // PTX-LABEL: .entry dependent
  // PTX: ld.global.b32
  // PTX: griddepcontrol.wait
  // PTX: ld.global.b32
  gpu.func @dependent(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias}) kernel {
    %before = llvm.load %p : !llvm.ptr -> i32
    nvvm.griddepcontrol wait
    %after = llvm.load %p : !llvm.ptr -> i32
    %sum = arith.subi %after, %before : i32
    llvm.store %sum, %out : i32, !llvm.ptr
    gpu.return
  }

  // CHECK: gpu.func @of_block(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr {llvm.noalias}
  gpu.func @of_block(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %x: i32, %mask: i32) kernel {
    nvvm.barrier0
    nvvm.barrier
    nvvm.bar.warp.sync %mask : i32
    nvvm.cluster.arrive
    nvvm.cluster.wait
    nvvm.nanosleep %x
    llvm.store %x, %p : i32, !llvm.ptr
    gpu.return
  }
}
}

//--- amd.mlir
module attributes {gpu.container_module} {
gpu.module @kernels {
  // CHECK: gpu.func @updates(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr<8>
  gpu.func @updates(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %rsrc: !llvm.ptr<8>, %x: i32) kernel {
    %c0 = arith.constant 0 : i32
    %old = rocdl.raw.ptr.buffer.atomic.cmpswap %x, %x, %rsrc, %c0, %c0, %c0 : i32
    gpu.return
  }

  // CHECK: gpu.func @of_block(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr {llvm.noalias}
  gpu.func @of_block(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %x: i32) kernel {
    rocdl.barrier
    rocdl.s.barrier
    rocdl.s.waitcnt 0
    rocdl.s.sleep 1
    llvm.store %x, %p : i32, !llvm.ptr
    gpu.return
  }
}
}

//--- kept.mlir
// CHECK-NOT: drops llvm.noalias
module attributes {gpu.container_module} {
gpu.module @kernels {
  memref.global "private" @shared : memref<4xi32>
  func.func @twice(%x: i32) -> i32 attributes {no_inline} {
    %y = arith.addi %x, %x : i32
    return %y : i32
  }
  // CHECK: gpu.func @plain(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr {llvm.noalias}
  gpu.func @plain(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %m: memref<16xf32>, %mm: memref<16x16xf16>, %n: index,
      %mask: vector<4xi1>, %go: i1) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c0_i32 = arith.constant 0 : i32
    %w = arith.constant 32 : i32
    %f = arith.constant 1.0 : f32
    %v0 = vector.broadcast %f : f32 to vector<4xf32>
    %v = vector.maskedload %m[%c0], %mask, %v0 : memref<16xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    vector.maskedstore %m[%c0], %mask, %v : memref<16xf32>, vector<4xi1>, vector<4xf32>
    affine.for %i = 0 to 4 {
      %a = affine.load %m[%i] : memref<16xf32>
      affine.store %a, %m[%i] : memref<16xf32>
    }
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      memref.store %f, %m[%i] : memref<16xf32>
    }
    %old = llvm.load volatile %p : !llvm.ptr -> i32
    %two = func.call @twice(%old) : (i32) -> i32
    %other, %valid = gpu.shuffle xor %two, %c0_i32, %w : i32
    %d = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    llvm.intr.assume %go : i1
    scf.if %go {
      gpu.printf "hello\0A"
    }
    gpu.barrier
    %s = math.sqrt %f : f32
    memref.copy %m, %m : memref<16xf32> to memref<16xf32>
    llvm.store %other, %p : i32, !llvm.ptr
    gpu.return
  }
}
}

//--- unknown.mlir
module attributes {gpu.container_module} {
gpu.module @kernels {
  // CHECK: gpu.func @does(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr)
  gpu.func @does(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}) kernel {
    "test.anything"() : () -> ()
    gpu.return
  }
}
}
