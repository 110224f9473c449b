// What all threads load alike may come from the scalar cache on AMD GPUs, which no acquire invalidates. So it does where
// nothing before it may have let in what a peer wrote, and from the vector cache after every acquire (O1).
// RUN: symm-translate %s --to amdgcn --chip gfx942 | FileCheck %s
// RUN: symm-translate %s --to amdgcn --chip gfx950 | FileCheck %s

!data = memref<64xi32>
!flags = memref<8xi32>

gpu.module @kernels {
  // CHECK-LABEL: {{^}}before:
  // CHECK: s_load_dword s{{[0-9]+}}, {{.*}}, 0x1c
  gpu.func @before(%ctx: !symm.ctx, %a: !data, %b: !data) kernel {
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    %y = memref.load %a[%c7] : !data
    memref.store %y, %b[%c0] : !data
    gpu.return
  }

  // CHECK-LABEL: {{^}}by_wait:
  // CHECK-NOT: s_load_dword {{.*}}, 0x1c
  // CHECK: buffer_inv sc0 sc1
  // CHECK-NOT: s_load_dword {{.*}}, 0x1c
  // CHECK: global_load_dword {{.*}} offset:28
  // CHECK: s_endpgm
  gpu.func @by_wait(%ctx: !symm.ctx, %a: !data, %b: !data, %flags: !flags, %one: i32) kernel {
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    symm.wait %ctx, %flags[%c0] ge %one group block : !flags, i32
    %y = memref.load %a[%c7] : !data
    memref.store %y, %b[%c0] : !data
    gpu.return
  }

  // By a fence after a relaxed wait of one warp.
  // CHECK-LABEL: {{^}}by_fence:
  // CHECK: buffer_inv sc0 sc1
  // CHECK-NOT: s_load_dword {{.*}}, 0x1c
  // CHECK: global_load_dword {{.*}} offset:28
  // CHECK: s_endpgm
  gpu.func @by_fence(%ctx: !symm.ctx, %a: !data, %b: !data, %flags: !flags, %one: i32) kernel {
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    symm.wait %ctx, %flags[%c0] eq %one sem relaxed group warp : !flags, i32
    symm.fence sem acquire group warp
    %y = memref.load %a[%c7] : !data
    memref.store %y, %b[%c0] : !data
    gpu.return
  }

  // By a volatile read of the program's own and a fence, in a branch.
  // CHECK-LABEL: {{^}}by_volatile:
  // CHECK: buffer_inv sc0 sc1
  // CHECK-NOT: s_load_dword {{.*}}, 0x1c
  // CHECK: global_load_dword {{.*}} offset:28
  // CHECK: s_endpgm
  gpu.func @by_volatile(%ctx: !symm.ctx, %a: !data, %b: !data, %flags: !flags, %one: i32, %p: i32) kernel {
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    %seen = symm.remote_load %ctx, %flags[%c0], %p volatile : !flags -> i32
    %is_there = arith.cmpi eq, %seen, %one : i32
    scf.if %is_there {
      symm.fence sem acquire
      %y = memref.load %a[%c7] : !data
      memref.store %y, %b[%c0] : !data
    }
    gpu.return
  }

  // CHECK-LABEL: {{^}}by_atomic:
  // CHECK: buffer_inv sc0 sc1
  // CHECK-NOT: s_load_dword {{.*}}, 0x1c
  // CHECK: global_load_dword {{.*}} offset:28
  // CHECK: s_endpgm
  gpu.func @by_atomic(%ctx: !symm.ctx, %a: !data, %b: !data, %flags: !flags, %one: i32, %p: i32) kernel {
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    %old = symm.atomic_rmw add %ctx, %flags[%c0], %one, %p sem acquire : !flags, i32
    %y = memref.load %a[%c7] : !data
    memref.store %y, %b[%c0] : !data
    gpu.return
  }

  // CHECK-LABEL: {{^}}by_barrier:
  // CHECK: buffer_inv sc0 sc1
  // CHECK-NOT: s_load_dword {{.*}}, 0x1c
  // CHECK: global_load_dword {{.*}} offset:28
  // CHECK: s_endpgm
  gpu.func @by_barrier(%ctx: !symm.ctx, %a: !data, %b: !data) kernel {
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    symm.barrier %ctx group block
    %y = memref.load %a[%c7] : !data
    memref.store %y, %b[%c0] : !data
    gpu.return
  }

  // From one iteration to the next: the load comes before the wait in the text.
  // CHECK-LABEL: {{^}}by_the_iteration_before:
  // CHECK-NOT: s_load_dword {{.*}}, 0x1c
  // CHECK: global_load_dword {{.*}} offset:28
  // CHECK-NOT: s_load_dword {{.*}}, 0x1c
  // CHECK: buffer_inv sc0 sc1
  // CHECK-NOT: s_load_dword {{.*}}, 0x1c
  // CHECK: {{^}}by_call:
  gpu.func @by_the_iteration_before(%ctx: !symm.ctx, %a: !data, %b: !data, %flags: !flags, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    scf.for %i = %c0 to %n step %c1 {
      %y = memref.load %a[%c7] : !data
      memref.store %y, %b[%i] : !data
      %round = arith.index_cast %i : index to i32
      symm.wait %ctx, %flags[%c0] ge %round : !flags, i32
    }
    gpu.return
  }

  // In a function that is called.
  // CHECK: s_swappc_b64
  // CHECK-NOT: s_load_dword {{.*}}, 0x1c
  // CHECK: {{global|flat}}_load_dword {{.*}} offset:28
  // CHECK: s_endpgm
  func.func private @come(%ctx: !symm.ctx, %flags: !flags, %one: i32) attributes {no_inline, passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    symm.wait %ctx, %flags[%c0] ge %one : !flags, i32
    return
  }
  gpu.func @by_call(%ctx: !symm.ctx, %a: !data, %b: !data, %flags: !flags, %one: i32) kernel {
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    func.call @come(%ctx, %flags, %one) : (!symm.ctx, !flags, i32) -> ()
    %y = memref.load %a[%c7] : !data
    memref.store %y, %b[%c0] : !data
    gpu.return
  }
}
