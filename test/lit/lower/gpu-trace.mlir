// Records in the trace buffer, on both kinds of GPU; code that is not traced has none of it.
// RUN: symm-opt %s --symm-lower-to-nvvm | FileCheck %s --check-prefixes=CHECK,NVVM
// RUN: symm-opt %s --symm-lower-to-rocdl | FileCheck %s --check-prefixes=CHECK,ROCDL
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s --check-prefix=PTX
// RUN: symm-translate %s --to amdgcn --chip gfx942 | FileCheck %s --check-prefix=GCN
// RUN: symm-translate %S/../../../examples/hello.mlir --to ptx --chip sm_90 --pipeline "symm-nvvm{chip=sm_90}" \
// RUN: | FileCheck %s --check-prefix=OFF
// RUN: symm-translate %S/../../../examples/hello.mlir --to ptx --chip sm_90 \
// RUN:   --pipeline "symm-nvvm{chip=sm_90 trace=true}" | FileCheck %s --check-prefix=ON
// RUN: symm-translate %S/../../../examples/hello.mlir --to amdgcn --chip gfx942 \
// RUN:   --pipeline "symm-rocdl{chip=gfx942 trace=true}" | FileCheck %s --check-prefix=ON-GCN
// OFF-NOT: globaltimer
// OFF-NOT: _symm_clock
// ON: .entry _symm_clock(
// ON: .entry greet(
// ON: globaltimer
// ON-GCN: _symm_clock:
// ON-GCN: greet:
// ON-GCN: s_memrealtime

gpu.module @kernels {
  // The texts of the sites: where it is and what it is, without types of values.
  // CHECK: llvm.mlir.global external constant @_symm_sites("{{.*}}gpu-trace.mlir:[[@LINE+25]]:10\09\09wait ge\00{{.*}}gpu-trace.mlir:[[@LINE+27]]:10\09\09put\00")

  // CHECK: gpu.func @kernel(
  // PTX: .entry kernel(
  // GCN: kernel:
  gpu.func @kernel(%ctx: !symm.ctx, %a: i64, %b: i64) kernel {
    // CHECK: scf.if %{{.*}} -> (i64) {
    // CHECK-NEXT: %[[AT:.*]] = llvm.inttoptr %{{.*}} : i64 to !llvm.ptr<1>
    // NVVM: %[[INDEX:.*]] = llvm.inline_asm has_side_effects "atom.relaxed.gpu.global.add.u64 $0, [$1], $2;"
    // ROCDL: %[[INDEX:.*]] = llvm.atomicrmw add %[[AT]], %{{.*}} syncscope("agent") monotonic
    // CHECK: %[[FITS:.*]] = arith.cmpi ult, %[[INDEX]], %{{.*}} : i64
    // CHECK: scf.if %[[FITS]] -> (i64) {
    // CHECK-COUNT-4: llvm.store volatile
    // NVVM: llvm.inline_asm has_side_effects "mov.u64 $0, %globaltimer;"
    // ROCDL: llvm.call_intrinsic "llvm.amdgcn.s.memrealtime"
    // CHECK: llvm.store volatile
    // CHECK: llvm.ptrtoint
    // The thread's number in its block decides who records for the block.
    // PTX: mov.u32 %{{.*}}, %tid.x
    // PTX: atom.relaxed.gpu.global.add.u64
    // PTX-COUNT-4: st.volatile.global.b64
    // PTX: mov.u64 %{{.*}}, %globaltimer;
    // PTX: st.volatile.global.b64
    // GCN: global_atomic_add_x2
    // GCN: s_memrealtime
    %0 = symm.trace_begin %ctx, "wait ge"(%a, %b) group block
    // Of threads that come together, the first one does.
    %1 = symm.trace_begin %ctx, "put"
    // NVVM: llvm.call_intrinsic "llvm.nvvm.activemask"
    // NVVM: nvvm.read.ptx.sreg.lanemask.lt
    // ROCDL: llvm.call_intrinsic "llvm.amdgcn.ballot.i64"
    // ROCDL: llvm.call_intrinsic "llvm.amdgcn.mbcnt.lo"
    // ROCDL: llvm.call_intrinsic "llvm.amdgcn.mbcnt.hi"
    // PTX: activemask.b32
    // GCN: v_mbcnt_hi_u32_b32
    // The time first, then the values; the end last.
    // CHECK: scf.if
    // NVVM: llvm.inline_asm has_side_effects "mov.u64 $0, %globaltimer;"
    // ROCDL: llvm.call_intrinsic "llvm.amdgcn.s.memrealtime"
    // CHECK: scf.if
    // NVVM: llvm.inline_asm has_side_effects "mov.u64 $0, %globaltimer;"
    // ROCDL: llvm.call_intrinsic "llvm.amdgcn.s.memrealtime"
    // CHECK-COUNT-3: llvm.store volatile
    symm.trace_end %0(%a, %b)
    symm.trace_end %1
    gpu.return
  }

  // A context from parts has no table, and so no buffer.
  // CHECK: gpu.func @from_parts(
  // CHECK-NOT: atom
  // CHECK: gpu.return
  gpu.func @from_parts(%bases: !llvm.ptr, %rank: i32, %ranks: i32) -> i64 {
    %ctx = symm.ctx %bases rank %rank of %ranks : !llvm.ptr
    %0 = symm.trace_begin %ctx, "put"
    gpu.return %0 : i64
  }
}
