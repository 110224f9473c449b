// RUN: %run-all
//
// Every rank writes its number into the memory of the next one, signals it, and waits for its own neighbour.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @greet(%ctx: !symm.ctx, %mail: memref<1xi32>, %arrived: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32

      symm.remote_store %ctx, %mail[%c0], %me, %next : memref<1xi32>, i32
      symm.signal set %ctx, %arrived[%c0], %one, %next group block : memref<1xi32>, i32
      symm.wait %ctx, %arrived[%c0] eq %one group block : memref<1xi32>, i32
      gpu.return
    }
  }

  // Runs once on each rank.
  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : memref<1xi32>
    %arrived = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@greet blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : memref<1xi32>, %arrived : memref<1xi32>)

    %copy = memref.alloc() : memref<1xi32>
    gpu.memcpy %copy, %mail : memref<1xi32>, memref<1xi32>
    %sender = memref.load %copy[%c0] : memref<1xi32>
    symm.print "got a message from rank {}"(%sender) : i32

    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %one = arith.constant 1 : i32
    %last = arith.subi %n, %one : i32
    %before = arith.addi %me, %last : i32
    %expected = arith.remui %before, %n : i32
    %same = arith.cmpi eq, %sender, %expected : i32
    symm.check %same, "expected rank {}"(%expected) : i32
    memref.dealloc %copy : memref<1xi32>
    return
  }
}
