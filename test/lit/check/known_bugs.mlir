// Bugs that others have shipped and that one kernel can show: refused, repaired with a remark, or impossible to write.
// The text is PTX's, after each bug what it has become; rocdl-*.mlir and nvvm-*.mlir hold every form.
// RUN: split-file %s %t

// One: a release at GPU scope, for which the peer waits for ever. Repaired.
// RUN: symm-translate %t/1.mlir --to ptx 2>&1 | FileCheck %t/1.mlir
// RUN: not symm-translate %t/1.mlir --to ptx --pipeline 'symm-nvvm{strict=true}' 2>&1 | FileCheck %s --check-prefix=STRICT
// STRICT: error: 'symm.signal' op O2: scope gpu does not reach another rank
// STRICT: symm-translate: the program can't be compiled

// Two: a wait that polls a flag at GPU scope. Repaired.
// RUN: symm-translate %t/2.mlir --to ptx 2>&1 | FileCheck %t/2.mlir

// Three: a signal by one thread, with no barrier of the block before it. Remarked upon, refused under strict; with `group
// block` impossible. A relaxed one is made release first.
// RUN: symm-translate %t/3.mlir --to ptx 2>&1 | FileCheck %t/3.mlir
// RUN: not symm-translate %t/3.mlir --to ptx --pipeline 'symm-nvvm{strict=true}'
// RUN: sed 's/ : memref<1xi32>, i32/ sem relaxed&/' %t/3.mlir > %t/3_relaxed.mlir
// RUN: symm-translate %t/3_relaxed.mlir --to ptx 2>&1 | FileCheck %t/3.mlir

// Four: a wait whose result nobody uses is deleted. Impossible: it reads and writes everything (O4).
// RUN: symm-translate %t/4.mlir --to ptx | FileCheck %t/4.mlir
// RUN: symm-translate %t/4.mlir --to amdgcn | FileCheck %t/4.mlir --check-prefix=AMD

// Five and six: a wait for equality with a counter that is past, and a count of what several ranks add, taken for the
// number of the sender. symm-check finds them: @passed_by and @sum_of_two of test/lit/races/bugs.mlir.

// Eight: a counter that starts below zero, compared as unsigned. Impossible by accident: signed is the default (O6).
// RUN: symm-translate %t/8.mlir --to ptx | FileCheck %t/8.mlir
// RUN: symm-translate %t/8.mlir --to amdgcn | FileCheck %t/8.mlir --check-prefix=AMD

// Twelve: a flag that is set, waited for as if it were added to. Remarked upon, refused under strict.
// RUN: symm-translate %t/12.mlir --to ptx 2>&1 | FileCheck %t/12.mlir
// RUN: not symm-translate %t/12.mlir --to ptx --pipeline 'symm-nvvm{strict=true}'

// Thirteen: no acquire after the poll. Repaired: by a remark where the wait says relaxed, by default where it doesn't.
// RUN: symm-translate %t/13.mlir --to ptx 2>&1 | FileCheck %t/13.mlir
// RUN: symm-translate %t/13.mlir --to amdgcn 2>&1 | FileCheck %t/13.mlir --check-prefix=AMD

// Fourteen: the backend drops an atomic's order and scope. Impossible: the text is written out.
// RUN: symm-translate %t/14.mlir --to ptx | FileCheck %t/14.mlir --implicit-check-not=atom.global --implicit-check-not=red.global
// RUN: symm-translate %t/14.mlir --to amdgcn | FileCheck %t/14.mlir --check-prefix=AMD

//--- 1.mlir
gpu.module @kernels {
  gpu.func @release(%ctx: !symm.ctx, %m: memref<1xf32>, %flag: memref<1xi32>, %x: f32, %one: i32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    symm.remote_store %ctx, %m[%c0], %x, %peer : memref<1xf32>, f32
    symm.signal set %ctx, %flag[%c0], %one, %peer scope gpu : memref<1xi32>, i32
    gpu.return
  }
}
// CHECK: remark: 'symm.signal' op O2: scope gpu does not reach another rank; widened to sys
// CHECK: st.global.b32
// CHECK: st.release.sys.global.b32

//--- 2.mlir
gpu.module @kernels {
  gpu.func @poll(%ctx: !symm.ctx, %m: memref<1xf32>, %flag: memref<1xi32>, %out: memref<1xf32>, %one: i32) kernel {
    %c0 = arith.constant 0 : index
    symm.wait %ctx, %flag[%c0] ge %one scope gpu : memref<1xi32>, i32
    %x = memref.load %m[%c0] : memref<1xf32>
    memref.store %x, %out[%c0] : memref<1xf32>
    gpu.return
  }
}
// CHECK: remark: 'symm.wait' op O2: scope gpu does not reach another rank; widened to sys
// CHECK: ld.relaxed.sys.global.b32
// CHECK: fence.acq_rel.sys
// CHECK: ld.global.b32

//--- 3.mlir
gpu.module @kernels {
  gpu.func @one_thread(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %x: f32, %one: i32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %first = arith.cmpi eq, %i, %c0 : index
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.return
  }
}
// CHECK: remark: 'symm.signal' op O3: one thread signals what the other threads of its block have written before
// CHECK: st.global.b32
// CHECK: st.release.sys.global.b32

//--- 4.mlir
gpu.module @kernels {
  gpu.func @unused(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %ns: i64) kernel {
    %c0 = arith.constant 0 : index
    %seen = symm.wait %ctx, %flag[%c0] ge %one timeout %ns : memref<1xi32>, i32 -> i1
    symm.wait %ctx, %flag[%c0] ge %one : memref<1xi32>, i32
    symm.wait %ctx, %flag[%c0] ge %one : memref<1xi32>, i32
    gpu.return
  }
}
// CHECK: %globaltimer
// CHECK: ld.relaxed.sys.global.b32
// CHECK: fence.acq_rel.sys
// CHECK: ld.relaxed.sys.global.b32
// CHECK: ld.relaxed.sys.global.b32
// CHECK: fence.acq_rel.sys
// CHECK: ret;
// AMD: s_memrealtime
// AMD: global_load_dword {{.*}} sc0 sc1
// AMD: buffer_inv sc0 sc1
// AMD: global_load_dword {{.*}} sc0 sc1
// AMD: global_load_dword {{.*}} sc0 sc1
// AMD: buffer_inv sc0 sc1
// AMD: s_endpgm

//--- 8.mlir
gpu.module @kernels {
  gpu.func @below_zero(%ctx: !symm.ctx, %flag: memref<1xi32>) kernel {
    %c0 = arith.constant 0 : index
    %target = arith.constant -4 : i32
    symm.wait %ctx, %flag[%c0] ge %target : memref<1xi32>, i32
    gpu.return
  }
}
// CHECK: ld.relaxed.sys.global.b32
// CHECK-NEXT: setp.lt.s32 {{.*}}, -4
// AMD: v_cmp_gt_i32_e32 vcc, -4,

//--- 12.mlir
gpu.module @kernels {
  gpu.func @set(%ctx: !symm.ctx, %flag: memref<1xi32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %eight = arith.constant 8 : i32
    scf.for %peer = %zero to %eight step %one : i32 {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    symm.wait %ctx, %flag[%c0] ge %eight : memref<1xi32>, i32
    gpu.return
  }
}
// CHECK: remark: 'symm.wait' op the kernel only sets this flag, and to nothing that satisfies the wait

//--- 13.mlir
gpu.module @kernels {
  gpu.func @relaxed(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %out: memref<?xf32>, %one: i32) kernel {
    %c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    symm.wait %ctx, %flag[%c0] ge %one sem relaxed : memref<1xi32>, i32
    %x = memref.load %m[%i] : memref<?xf32>
    memref.store %x, %out[%i] : memref<?xf32>
    gpu.return
  }
}
// CHECK: remark: 'symm.wait' op O1: relaxed, but reads come after it without an acquire fence; made acquire
// CHECK: ld.relaxed.sys.global.b32
// CHECK: fence.acq_rel.sys
// CHECK: ld.global.b32
// AMD: global_load_dword {{.*}} sc0 sc1
// AMD: buffer_inv sc0 sc1
// AMD: global_load_dword

//--- 14.mlir
gpu.module @kernels {
  gpu.func @atomics(%ctx: !symm.ctx, %flag: memref<1xi64>, %v: i64, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %old = symm.atomic_rmw add %ctx, %flag[%c0], %v, %peer : memref<1xi64>, i64
    symm.signal add %ctx, %flag[%c0], %old, %peer : memref<1xi64>, i64
    gpu.return
  }
}
// CHECK: atom.acq_rel.sys.global.add.u64
// CHECK: atom.release.sys.global.add.u64
// AMD: buffer_wbl2 sc0 sc1
// AMD: s_waitcnt vmcnt(0)
// AMD: global_atomic_add_x2 {{.*}} sc1
// AMD: buffer_inv sc0 sc1
// AMD: buffer_wbl2 sc0 sc1
// AMD: s_waitcnt vmcnt(0)
// AMD: global_atomic_add_x2 {{.*}} sc1
