// What a warp does after a wait comes after the polls for all its lanes, also where the first lane goes on to something
// of its own: LLVM must not run the other lanes through to the end first. The barrier of a wave becomes no instruction.
// RUN: symm-translate %s --to amdgcn --chip gfx942 | FileCheck %s
// RUN: symm-translate %s --to amdgcn --chip gfx90a --pipeline 'symm-rocdl{chip=gfx90a fine-grained-heap=true}' \
// RUN:   | FileCheck %s --check-prefix=OLD

gpu.module @kernels {
  // CHECK-LABEL: {{^}}signals:
  // CHECK-NOT: {{global|flat}}_{{load|store}}_dword v
  // CHECK: global_load_dwordx2 {{.*}} sc0 sc1
  // CHECK-NOT: {{global|flat}}_{{load|store}}_dword v
  // CHECK: buffer_inv sc0 sc1
  // CHECK: global_load_dword v
  // CHECK: global_store_dword v
  // CHECK: buffer_wbl2 sc1
  // CHECK: global_store_dwordx2 {{.*}} sc0 sc1
  // OLD-LABEL: {{^}}signals:
  // OLD-NOT: {{global|flat}}_{{load|store}}_dword v
  // OLD: buffer_invl2
  // OLD: global_load_dword v
  // OLD: global_store_dword v
  gpu.func @signals(%ctx: !symm.ctx, %flag: memref<1xi64>, %one: i64, %data: memref<64xf32>, %out: memref<64xf32>,
                    %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    symm.wait %ctx, %flag[%c0] ge %one group warp : memref<1xi64>, i64
    %x = memref.load %data[%t] : memref<64xf32>
    memref.store %x, %out[%t] : memref<64xf32>
    symm.signal set %ctx, %flag[%c0], %one, %peer group warp : memref<1xi64>, i64
    gpu.return
  }

  // CHECK-LABEL: {{^}}fences:
  // CHECK-NOT: {{global|flat}}_{{load|store}}_dword v
  // CHECK: buffer_inv sc0 sc1
  // CHECK: global_load_dword v
  // CHECK: global_store_dword v
  // CHECK: buffer_wbl2 sc0 sc1
  gpu.func @fences(%ctx: !symm.ctx, %data: memref<64xf32>, %out: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    symm.fence sem acquire group warp
    %x = memref.load %data[%t] : memref<64xf32>
    memref.store %x, %out[%t] : memref<64xf32>
    symm.fence sem release group warp
    gpu.return
  }

  // CHECK-LABEL: {{^}}own:
  // CHECK-NOT: {{global|flat}}_{{load|store}}_dword v
  // CHECK: buffer_inv sc0 sc1
  // CHECK: global_load_dword v
  // CHECK: global_store_dword v
  gpu.func @own(%ctx: !symm.ctx, %flag: memref<1xi64>, %one: i64, %data: memref<64xf32>, %out: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %t = gpu.lane_id
    symm.wait %ctx, %flag[%c0] ge %one group warp : memref<1xi64>, i64
    %x = memref.load %data[%t] : memref<64xf32>
    memref.store %x, %out[%t] : memref<64xf32>
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      memref.store %x, %out[%c0] : memref<64xf32>
    }
    gpu.return
  }
}
