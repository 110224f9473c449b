// An update by a constant that changes no value is a load, and one whose result is known an exchange; both at system
// scope, with the release before them and the acquire after.
// RUN: symm-translate %s --to amdgcn --chip gfx942 | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: {{^}}nothing:
  // CHECK: buffer_wbl2 sc0 sc1
  // CHECK-NEXT: s_waitcnt vmcnt(0)
  // CHECK: global_load_dwordx2 {{.*}} sc0 sc1
  // CHECK-NEXT: s_waitcnt vmcnt(0)
  // CHECK: buffer_inv sc0 sc1
  // CHECK: global_store_dwordx2
  gpu.func @nothing(%ctx: !symm.ctx, %flag: memref<1xi64>, %peer: i32, %out: memref<1xi64>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i64
    %old = symm.atomic_rmw add %ctx, %flag[%c0], %zero, %peer : memref<1xi64>, i64
    memref.store %old, %out[%c0] : memref<1xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}signal_of_nothing:
  // CHECK: global_store_dwordx2
  // CHECK: buffer_wbl2 sc0 sc1
  // CHECK-NEXT: s_waitcnt vmcnt(0)
  // CHECK: s_endpgm
  gpu.func @signal_of_nothing(%ctx: !symm.ctx, %flag: memref<1xi64>, %peer: i32, %m: memref<1xi64>, %x: i64) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i64
    memref.store %x, %m[%c0] : memref<1xi64>
    symm.signal add %ctx, %flag[%c0], %zero, %peer : memref<1xi64>, i64
    gpu.return
  }
  // CHECK-LABEL: {{^}}all_bits:
  // CHECK: buffer_wbl2 sc0 sc1
  // CHECK-NEXT: s_waitcnt vmcnt(0)
  // CHECK: global_atomic_swap_x2 {{.*}} sc0 sc1
  // CHECK: buffer_inv sc0 sc1
  gpu.func @all_bits(%ctx: !symm.ctx, %flag: memref<1xi64>, %peer: i32, %out: memref<1xi64>) kernel {
    %c0 = arith.constant 0 : index
    %ones = arith.constant -1 : i64
    %old = symm.atomic_rmw or %ctx, %flag[%c0], %ones, %peer : memref<1xi64>, i64
    memref.store %old, %out[%c0] : memref<1xi64>
    gpu.return
  }
}
