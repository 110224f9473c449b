// A remark at an op that stays as it is comes with the report, and is no repair.

// RUN: not symm-check %s --threads 4 --html %t.html | FileCheck %s
// RUN: not symm-check %s --threads 4 --json | FileCheck %s --check-prefix=JSON
// RUN: FileCheck %s --check-prefix=PAGE < %t.html

// CHECK: remark: 'symm.signal' op O3: one thread signals what the other threads of its block have written before
// CHECK: error: race (O1)
// CHECK-NOT: repair
// CHECK: symm-check: 1 error; 1 execution tried; nothing is known of other schedules
// JSON: "repairs": [],
// JSON-NEXT: "remarks": [
// JSON-NEXT: O3: one thread signals
// PAGE-NOT: Repaired
// PAGE: Remarks of the compiler

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @send(%ctx: !symm.ctx, %box: memref<4xi32>, %sums: memref<4xi32>, %flag: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %id = gpu.thread_id x
      %me = symm.rank %ctx
      %sends = arith.cmpi eq, %me, %zero : i32
      %leads = arith.cmpi eq, %id, %c0 : index
      scf.if %sends {
        symm.remote_store %ctx, %box[%id], %one, %one : memref<4xi32>, i32
        scf.if %leads {
          symm.signal set %ctx, %flag[%c0], %one, %one : memref<1xi32>, i32
        }
      } else {
        symm.wait %ctx, %flag[%c0] ge %one group block : memref<1xi32>, i32
        %v = memref.load %box[%id] : memref<4xi32>
        memref.store %v, %sums[%id] : memref<4xi32>
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %box = symm.alloc %ctx : memref<4xi32>
    %sums = symm.alloc %ctx : memref<4xi32>
    %flag = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@send blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
      args(%ctx : !symm.ctx, %box : memref<4xi32>, %sums : memref<4xi32>, %flag : memref<1xi32>)
    return
  }
}
