// A volatile access of 16 bytes is one of 128 bits, and to global memory, whatever the elements are.
// RUN: symm-translate %s --to amdgcn --chip gfx942 | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: {{^}}move:
  // CHECK-NOT: {{flat|ubyte|store_byte}}
  // CHECK: global_load_dwordx4 {{.*}} sc0 sc1
  // CHECK-NOT: {{flat|ubyte|store_byte}}
  // CHECK: global_store_dwordx4 {{.*}} sc0 sc1
  // CHECK-NOT: {{flat|ubyte|store_byte}}
  // CHECK: s_endpgm
  gpu.func @move(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32) kernel {
    %v = symm.remote_load %ctx, %p, %peer volatile : !llvm.ptr -> vector<16xi8>
    symm.remote_store %ctx, %q, %v, %peer volatile : !llvm.ptr, vector<16xi8>
    gpu.return
  }
}
