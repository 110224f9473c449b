// RUN: symm-opt %s --pass-pipeline='builtin.module(symm-lower-to-cpu{offload=true})' | FileCheck %s
// A kernel that waits for flags or packets, or looks for them in a loop, is told by `~`: its blocks have to be on the
// device together. One that looks once is not.

module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @waits_for_a_packet(%ctx: !symm.ctx, %slots: memref<4xi32>, %e: i32) kernel {
      %c0 = arith.constant 0 : index
      %v = symm.wait_packet %ctx, %slots[%c0], %e : memref<4xi32> -> f32
      gpu.return
    }
    gpu.func @tries_in_a_loop(%ctx: !symm.ctx, %slots: memref<4xi32>, %e: i32) kernel {
      %c0 = arith.constant 0 : index
      %true = arith.constant true
      scf.while : () -> () {
        %v, %there = symm.try_packet %ctx, %slots[%c0], %e : memref<4xi32> -> f32, i1
        %again = arith.xori %there, %true : i1
        scf.condition(%again)
      } do {
        scf.yield
      }
      gpu.return
    }
    gpu.func @tries_in_a_cycle_of_blocks(%ctx: !symm.ctx, %slots: memref<4xi32>, %e: i32) kernel {
      %c0 = arith.constant 0 : index
      cf.br ^look
    ^look:
      %v, %there = symm.try_packet %ctx, %slots[%c0], %e : memref<4xi32> -> f32, i1
      cf.cond_br %there, ^done, ^again
    ^again:
      cf.br ^look
    ^done:
      gpu.return
    }
    gpu.func @tries_once(%ctx: !symm.ctx, %slots: memref<4xi32>, %e: i32) kernel {
      %c0 = arith.constant 0 : index
      %on = arith.trunci %e : i32 to i1
      cf.cond_br %on, ^look, ^done
    ^look:
      %v, %there = symm.try_packet %ctx, %slots[%c0], %e : memref<4xi32> -> f32, i1
      cf.br ^done
    ^done:
      gpu.return
    }
    gpu.func @signals(%ctx: !symm.ctx, %slots: memref<4xi32>, %e: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %peer = arith.constant 0 : i32
      scf.for %i = %c0 to %c4 step %c1 {
        symm.signal set %ctx, %slots[%i], %e, %peer : memref<4xi32>, i32
      }
      gpu.return
    }
  }
  gpu.module @helped {
    func.func @look(%ctx: !symm.ctx, %slots: memref<4xi32>, %e: i32) -> i1 {
      %c0 = arith.constant 0 : index
      %v, %there = symm.try_packet %ctx, %slots[%c0], %e : memref<4xi32> -> f32, i1
      return %there : i1
    }
    gpu.func @calls(%ctx: !symm.ctx, %slots: memref<4xi32>, %e: i32) kernel {
      %there = func.call @look(%ctx, %slots, %e) : (!symm.ctx, memref<4xi32>, i32) -> i1
      gpu.return
    }
  }

  // One text for each kind of launch.
  // CHECK-DAG: @[[$WAITS:.*]]("~cm1v\00")
  // CHECK-DAG: @[[$PLAIN:.*]]("cm1v\00")
  // CHECK-LABEL: func.func @main
  func.func @main(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %e = arith.constant 1 : i32
    %slots = symm.alloc %ctx : memref<4xi32>
    // CHECK: llvm.mlir.addressof @[[$WAITS]]
    gpu.launch_func @k::@waits_for_a_packet blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : memref<4xi32>, %e : i32)
    // CHECK: call @symm_rt_launch
    // CHECK: llvm.mlir.addressof @[[$WAITS]]
    gpu.launch_func @k::@tries_in_a_loop blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : memref<4xi32>, %e : i32)
    // CHECK: call @symm_rt_launch
    // CHECK: llvm.mlir.addressof @[[$WAITS]]
    gpu.launch_func @k::@tries_in_a_cycle_of_blocks blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : memref<4xi32>, %e : i32)
    // CHECK: call @symm_rt_launch
    // CHECK: llvm.mlir.addressof @[[$PLAIN]]
    gpu.launch_func @k::@tries_once blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : memref<4xi32>, %e : i32)
    // CHECK: call @symm_rt_launch
    // CHECK: llvm.mlir.addressof @[[$PLAIN]]
    gpu.launch_func @k::@signals blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : memref<4xi32>, %e : i32)
    // CHECK: call @symm_rt_launch
    // CHECK: llvm.mlir.addressof @[[$WAITS]]
    gpu.launch_func @helped::@calls blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : memref<4xi32>, %e : i32)
    return
  }
}
