// Updates that are not symm's. LLVM makes atom.relaxed.gpu of most, which does not reach another rank (O2): one of
// memory that is surely another rank's is widened; of memory that may be, a remark says so. What becomes a loop around
// a compare-and-swap keeps its order and scope.
// RUN: symm-opt %s --symm-nvvm -verify-diagnostics -o %t
// RUN: symm-translate %t --pipeline= --to ptx --chip sm_90 | FileCheck %s --implicit-check-not=atom --implicit-check-not=red.
// RUN: symm-opt %s --symm-rocdl -o %t
// RUN: FileCheck %s --check-prefix=AMD --input-file=%t

gpu.module @kernels {
  // CHECK-LABEL: .entry remote(
  // CHECK: atom.relaxed.sys.global.add.u32
  // CHECK: atom.relaxed.sys.global.max.s32
  // CHECK: atom.relaxed.sys.global.max.u32
  // CHECK: atom.relaxed.sys.global.min.s32
  // CHECK: atom.relaxed.sys.global.min.u32
  // CHECK: atom.relaxed.sys.global.and.b32
  // CHECK: atom.relaxed.sys.global.or.b32
  // CHECK: atom.relaxed.sys.global.exch.b32
  // CHECK: atom.relaxed.sys.global.xor.b32
  // CHECK: ret;
  // AMD-LABEL: @remote(
  // AMD: llvm.atomicrmw add {{.*}} acq_rel : !llvm.ptr
  gpu.func @remote(%ctx: !symm.ctx, %m: memref<8xi32>, %x: i32, %peer: i32, %out: memref<1xi32>) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %all = symm.as_remote %ctx, %m, %peer : memref<8xi32>
    // expected-remark @+1 {{'memref.atomic_rmw' op O2: LLVM makes atom.relaxed.gpu of it, which does not reach another rank; widened to sys}}
    %a = memref.atomic_rmw addi %x, %all[%t] : (i32, memref<8xi32>) -> i32
    // expected-remark @+1 {{O2: LLVM makes atom.relaxed.gpu of it, which does not reach another rank; widened to sys}}
    %b = memref.atomic_rmw maxs %x, %all[%t] : (i32, memref<8xi32>) -> i32
    // expected-remark @+1 {{widened to sys}}
    %f = memref.atomic_rmw maxu %x, %all[%t] : (i32, memref<8xi32>) -> i32
    // expected-remark @+1 {{widened to sys}}
    %g = memref.atomic_rmw mins %x, %all[%t] : (i32, memref<8xi32>) -> i32
    // expected-remark @+1 {{widened to sys}}
    %c = memref.atomic_rmw minu %x, %all[%t] : (i32, memref<8xi32>) -> i32
    // expected-remark @+1 {{widened to sys}}
    %h = memref.atomic_rmw andi %x, %all[%t] : (i32, memref<8xi32>) -> i32
    // expected-remark @+1 {{widened to sys}}
    %i = memref.atomic_rmw ori %x, %all[%t] : (i32, memref<8xi32>) -> i32
    // expected-remark @+1 {{widened to sys}}
    %d = memref.atomic_rmw assign %x, %all[%t] : (i32, memref<8xi32>) -> i32
    // expected-remark @+1 {{widened to sys}}
    %e = memref.atomic_rmw xori %a, %all[%t] : (i32, memref<8xi32>) -> i32
    memref.store %e, %out[%c0] : memref<1xi32>
    gpu.return
  }

  // CHECK-LABEL: .entry remote_floats(
  // CHECK: atom.relaxed.sys.global.add.f32
  // CHECK: atom.relaxed.sys.global.add.noftz.bf16
  // CHECK: atom.acq_rel.sys.global.cas.b32
  // CHECK: ret;
  gpu.func @remote_floats(%ctx: !symm.ctx, %m: memref<8xf32>, %n: memref<8xbf16>, %x: f32, %y: bf16, %p: i32) kernel {
    %t = gpu.thread_id x
    %r = symm.as_remote %ctx, %m, %p : memref<8xf32>
    %s = symm.as_remote %ctx, %n, %p : memref<8xbf16>
    // expected-remark @+1 {{widened to sys}}
    %a = memref.atomic_rmw addf %x, %r[%t] : (f32, memref<8xf32>) -> f32
    // expected-remark @+1 {{widened to sys}}
    %b = memref.atomic_rmw addf %y, %s[%t] : (bf16, memref<8xbf16>) -> bf16
    %c = memref.atomic_rmw maximumf %x, %r[%t] : (f32, memref<8xf32>) -> f32
    gpu.return
  }

  // A view of another rank's memory is another rank's memory.
  // CHECK-LABEL: .entry view(
  // CHECK: atom.relaxed.sys.global.add.u32
  // CHECK: ret;
  gpu.func @view(%ctx: !symm.ctx, %m: memref<8xi32>, %x: i32, %peer: i32) kernel {
    %t = gpu.thread_id x
    %all = symm.as_remote %ctx, %m, %peer : memref<8xi32>
    %r = memref.subview %all[4] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1], offset: 4>>
    // expected-remark @+1 {{widened to sys}}
    %a = memref.atomic_rmw addi %x, %r[%t] : (i32, memref<4xi32, strided<[1], offset: 4>>) -> i32
    gpu.return
  }

  // CHECK-LABEL: .entry loops(
  // CHECK: atom.acq_rel.sys.global.cas.b64
  // CHECK: atom.acq_rel.sys.global.cas.b32
  // CHECK: ret;
  gpu.func @loops(%ctx: !symm.ctx, %m: memref<8xi64>, %n: memref<8xi16>, %x: i64, %y: i16, %peer: i32) kernel {
    %t = gpu.thread_id x
    %r = symm.as_remote %ctx, %m, %peer : memref<8xi64>
    %new = memref.generic_atomic_rmw %r[%t] : memref<8xi64> {
    ^bb0(%old: i64):
      %twice = arith.muli %old, %x : i64
      memref.atomic_yield %twice : i64
    }
    %a = memref.atomic_rmw addi %y, %n[%t] : (i16, memref<8xi16>) -> i16
    gpu.return
  }

  // It may be a counter of this GPU, which symm cannot tell, so it is left as it is.
  // CHECK-LABEL: .entry unknown(
  // CHECK: atom.global.add.u32
  // CHECK: ret;
  gpu.func @unknown(%ctx: !symm.ctx, %m: memref<8xi32>, %x: i32) kernel {
    %t = gpu.thread_id x
    // expected-remark @+1 {{'memref.atomic_rmw' op O2: reaches the threads of this GPU only: LLVM makes atom.relaxed.gpu of it; symm.atomic_rmw reaches other ranks}}
    %a = memref.atomic_rmw addi %x, %m[%t] : (i32, memref<8xi32>) -> i32
    gpu.return
  }

  // No other rank sees a block's memory.
  // CHECK-LABEL: .entry own(
  // CHECK: atom.shared.add.u32
  // CHECK: atom.shared.add.u32
  // CHECK: ret;
  gpu.func @own(%ctx: !symm.ctx, %n: memref<8xi32, 3>, %x: i32)
      workgroup(%m: memref<8xi32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %a = memref.atomic_rmw addi %x, %m[%t] : (i32, memref<8xi32, #gpu.address_space<workgroup>>) -> i32
    %b = memref.atomic_rmw addi %x, %n[%t] : (i32, memref<8xi32, 3>) -> i32
    gpu.return
  }
}

// An update in host code is not for the GPU.
func.func @host(%m: memref<8xi32>, %x: i32, %i: index) {
  %a = memref.atomic_rmw addi %x, %m[%i] : (i32, memref<8xi32>) -> i32
  return
}
