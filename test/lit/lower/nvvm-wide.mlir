// Vectors of 128 bytes and more that are only moved are accesses of 128 bits, and no loop over bytes.
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: .entry load
  // CHECK-NOT: .b8
  // CHECK-COUNT-8: ld.global.v4.b32
  // CHECK-NOT: .b8
  // CHECK-COUNT-8: st.global.v4.b32
  // CHECK-NOT: .b8
  // CHECK: ret;
  gpu.func @load(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32) kernel {
    %v = symm.remote_load %ctx, %p, %peer : !llvm.ptr -> vector<32xf32>
    llvm.store %v, %q {alignment = 16 : i64} : vector<32xf32>, !llvm.ptr
    gpu.return
  }

  // CHECK-LABEL: .entry store
  // CHECK-NOT: .b8
  // CHECK-COUNT-8: ld.global.v4.b32
  // CHECK-NOT: .b8
  // CHECK-COUNT-8: st.global.v4.b32
  // CHECK-NOT: .b8
  // CHECK: ret;
  gpu.func @store(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32) kernel {
    %v = llvm.load %p {alignment = 16 : i64} : !llvm.ptr -> vector<128xi8>
    symm.remote_store %ctx, %q, %v, %peer : !llvm.ptr, vector<128xi8>
    gpu.return
  }
}
