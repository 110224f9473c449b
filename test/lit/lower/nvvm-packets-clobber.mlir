// To LLVM a packet's line is memory like any other, though it is text: no access moves across it, one of its own line by
// another name for instance.
// RUN: symm-opt %s --symm-lower-to-nvvm | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @k(
  // CHECK: llvm.inline_asm has_side_effects "st.relaxed.sys.global.v2.b64 {{.*}}~{memory}"
  // CHECK: llvm.inline_asm has_side_effects "ld.relaxed.sys.global.v2.b64 {{.*}}~{memory}"
  // CHECK: llvm.inline_asm has_side_effects "ld.relaxed.sys.global.v2.b64 {{.*}}~{memory}"
  gpu.func @k(%ctx: !symm.ctx, %p: !llvm.ptr, %out: memref<8xi64>, %i: index, %v: i64, %e: i32, %r: i32) kernel {
    symm.put_packet %ctx, %p, %v, %e, %r : !llvm.ptr, i64
    %x = symm.wait_packet %ctx, %p, %e : !llvm.ptr -> i64
    %y, %valid = symm.try_packet %ctx, %p, %e : !llvm.ptr -> i64, i1
    memref.store %x, %out[%i] : memref<8xi64>
    gpu.return
  }
}
