// A kernel that stores to a peer, signals it and meets it in a barrier reads no word of the context table (T5).
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s
// CHECK-LABEL: .entry exchange
// CHECK-NOT: ld.global.nc
// CHECK: st.global.b32
// CHECK-NOT: ld.global.nc
// CHECK: st.release.sys
// CHECK-NOT: ld.global.nc
// CHECK: fence.acq_rel.sys
// CHECK-NOT: ld.global.nc
// CHECK: st.relaxed.sys
// CHECK-NOT: ld.global.nc
// CHECK: ret;
module attributes {gpu.container_module, symm.num_ranks = 4 : i32, symm.heap_stride = 67108864 : i64,
                   symm.table_in_heap} {
  gpu.module @kernels {
    gpu.func @exchange(%ctx: !symm.ctx, %value: f32, %mine: !llvm.ptr, %flag: !llvm.ptr, %peer: i32, %one: i64) kernel {
      symm.remote_store %ctx, %mine, %value, %peer : !llvm.ptr, f32
      symm.signal set %ctx, %flag, %one, %peer : !llvm.ptr, i64
      symm.barrier %ctx group block
      gpu.return
    }
  }
}
