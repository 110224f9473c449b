// A call through a pointer may acquire or release as one by name does: noalias is dropped, and every wave's stores are
// complete before the barrier that comes before it.
// RUN: split-file %s %t
// RUN: symm-opt %t/noalias.mlir --symm-lower-to-nvvm --verify-diagnostics -o %t/lowered.mlir
// RUN: symm-translate %t/noalias.mlir --to ptx --chip sm_90 -O3 2>/dev/null | FileCheck %t/noalias.mlir --check-prefix=PTX
// RUN: symm-translate %t/noalias.mlir --to amdgcn --chip gfx942 -O3 2>/dev/null | FileCheck %t/noalias.mlir --check-prefix=AMD
// RUN: symm-translate %t/release.mlir --to amdgcn --chip gfx942 -O3 | FileCheck %t/release.mlir --check-prefix=AMD

//--- noalias.mlir
module attributes {gpu.container_module} {
  gpu.module @k {
    func.func @await(%ctx: !symm.ctx, %flags: memref<4xi64>) attributes {passthrough = ["noinline"]} {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i64
      symm.wait %ctx, %flags[%c0] ge %one : memref<4xi64>, i64
      return
    }
    func.func @await2(%ctx: !symm.ctx, %flags: memref<4xi64>) attributes {passthrough = ["noinline"]} {
      %c0 = arith.constant 0 : index
      %one = arith.constant 2 : i64
      symm.wait %ctx, %flags[%c0] ge %one : memref<4xi64>, i64
      return
    }
    // PTX-LABEL: .entry k(
    // PTX: ld.global.b32
    // PTX: call
    // PTX: ld.global.b32
    // PTX: sub
    // AMD-LABEL: {{^}}k:
    // AMD: s_swappc_b64
    // AMD: {{global|flat}}_load_dword
    // AMD: s_endpgm
    // expected-remark @below {{drops llvm.noalias of argument 1}}
    // expected-remark @below {{drops llvm.noalias of argument 2}}
    gpu.func @k(%ctx: !symm.ctx, %in: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias}, %flags: memref<4xi64>, %which: i1) kernel {
      %f = func.constant @await : (!symm.ctx, memref<4xi64>) -> ()
      %f2 = func.constant @await2 : (!symm.ctx, memref<4xi64>) -> ()
      %g = arith.select %which, %f, %f2 : (!symm.ctx, memref<4xi64>) -> ()
      %a = llvm.load %in : !llvm.ptr -> i32
      func.call_indirect %g(%ctx, %flags) : (!symm.ctx, memref<4xi64>) -> ()
      %b = llvm.load %in : !llvm.ptr -> i32
      %s = arith.subi %b, %a : i32
      llvm.store %s, %out : i32, !llvm.ptr
      gpu.return
    }
  }
}

//--- release.mlir
module attributes {gpu.container_module} {
  gpu.module @k {
    func.func @tell(%ctx: !symm.ctx, %flags: memref<4xi64>, %peer: i32) attributes {passthrough = ["noinline"]} {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i64
      symm.signal set %ctx, %flags[%c0], %one, %peer : memref<4xi64>, i64
      return
    }
    func.func @tell2(%ctx: !symm.ctx, %flags: memref<4xi64>, %peer: i32) attributes {passthrough = ["noinline"]} {
      %c0 = arith.constant 0 : index
      %one = arith.constant 2 : i64
      symm.signal set %ctx, %flags[%c0], %one, %peer : memref<4xi64>, i64
      return
    }
    // AMD-LABEL: {{^}}put:
    // AMD: global_store_dword v
    // AMD-NOT: s_barrier
    // AMD: s_waitcnt vmcnt(0)
    // AMD: s_barrier
    // AMD: s_swappc_b64
    gpu.func @put(%ctx: !symm.ctx, %src: memref<64xi32>, %flags: memref<4xi64>, %peer: i32, %which: i1) kernel {
      %c0 = arith.constant 0 : index
      %v = arith.constant 7 : i32
      %t = gpu.thread_id x
      symm.remote_store %ctx, %src[%t], %v, %peer : memref<64xi32>, i32
      gpu.barrier
      %f = func.constant @tell : (!symm.ctx, memref<4xi64>, i32) -> ()
      %f2 = func.constant @tell2 : (!symm.ctx, memref<4xi64>, i32) -> ()
      %g = arith.select %which, %f, %f2 : (!symm.ctx, memref<4xi64>, i32) -> ()
      %first = arith.cmpi eq, %t, %c0 : index
      scf.if %first {
        func.call_indirect %g(%ctx, %flags, %peer) : (!symm.ctx, memref<4xi64>, i32) -> ()
      }
      gpu.return
    }
  }
}
