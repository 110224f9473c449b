// A schedule is shortened within a budget of steps, which is the same each time; the report says where that has ended
// early.

// RUN: not symm-check %s --ranks 2 --seed 1 --changes 600 > %t.txt
// RUN: FileCheck %s < %t.txt
// RUN: not symm-check %s --ranks 2 --seed 1 --changes 600 > %t.again
// RUN: cmp %t.txt %t.again
// RUN: not symm-check %s --ranks 2 --seed 1 --changes 600 --json | FileCheck %s --check-prefix=JSON
// RUN: not symm-check %s --ranks 2 --seed 1 --changes 1 | FileCheck %s --check-prefix=SHORT

// CHECK: error: failed-check
// CHECK: again: {{.*}}symm-check
// CHECK: symm-check: 1 error; 2 executions tried; 1 schedule not shortened to the end; nothing is known of other
// JSON: "not_shortest": 1,
// SHORT: again: {{.*}} --replay '{{([0-9*]+ ?)+}}'
// SHORT: symm-check: 1 error; 2 executions tried; nothing is known of other

!word = memref<1xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @counts(%ctx: !symm.ctx, %count: !word) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %rounds = arith.constant 800 : index
      %half = arith.constant 400 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %first = arith.constant 400 : i32
      %last = arith.constant 1200 : i32
      %me = symm.rank %ctx
      %is_second = arith.cmpi eq, %me, %one : i32
      scf.for %round = %c0 to %rounds step %c1 {
        %old = symm.atomic_rmw add %ctx, %count[%c0], %one, %zero sem relaxed : !word, i32
        // True if one rank's rounds all come before the other's.
        %is_first = arith.cmpi eq, %old, %first : i32
        %is_last = arith.cmpi eq, %old, %last : i32
        %is_right = arith.ori %is_first, %is_last : i1
        %is_half = arith.cmpi eq, %round, %half : index
        %asks = arith.andi %is_half, %is_second : i1
        scf.if %asks {
          symm.check %is_right, "other rounds come between"
        }
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %count = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@counts blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %count : !word)
    return
  }
}
