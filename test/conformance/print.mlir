// RUN: %run-all
// RUN: symm-run %s --ranks 2 --driver cpu | sort | FileCheck %s
// RUN: symm-run %s --ranks 2 --driver cpu --processes | sort | FileCheck %s
// symm.print: a whole line for each call, with the rank in front, and its values in their places.

module attributes {gpu.container_module} {
  func.func @main(%ctx: !symm.ctx) {
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %i = arith.constant -7 : i8
    %x = arith.constant 2.5 : f32
    // CHECK: [rank 0] 0 of 2: {-7} is not 2.5
    // CHECK-NEXT: [rank 0] done
    // CHECK-NEXT: [rank 1] 1 of 2: {-7} is not 2.5
    // CHECK-NEXT: [rank 1] done
    // CHECK-NOT: rank
    symm.print "{} of {}: {{{}}} is not {}"(%me, %n, %i, %x) : i32, i32, i8, f32
    symm.print "done"
    return
  }
}
