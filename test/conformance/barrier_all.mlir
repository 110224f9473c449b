// RUN: %run-all
// symm.barrier_all: what any rank's kernel or host wrote before it is there after it, on all ranks, 30 times over.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // The round less this rank, and what the host of this rank wrote, go to the right neighbour.
    gpu.func @tell(%ctx: !symm.ctx, %mine: memref<1xi32>, %told: memref<2xi32>, %round: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %v = memref.load %mine[%c0] : memref<1xi32>
      %signed = arith.subi %round, %me : i32
      symm.remote_store %ctx, %told[%c0], %signed, %right : memref<2xi32>, i32
      symm.remote_store %ctx, %told[%c1], %v, %right : memref<2xi32>, i32
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %thirty = arith.constant 30 : i32
    %thousand = arith.constant 1000 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %before = arith.subi %n, %one : i32
    %back = arith.addi %me, %before : i32
    %left = arith.remui %back, %n : i32
    %my_start = arith.muli %me, %thousand : i32
    %their_start = arith.muli %left, %thousand : i32
    %mine = symm.alloc %ctx : memref<1xi32>
    %told = symm.alloc %ctx : memref<2xi32>
    %note = memref.alloc() : memref<1xi32>
    %got = memref.alloc() : memref<2xi32>
    scf.for %round = %zero to %thirty step %one : i32 {
      %v = arith.addi %my_start, %round : i32
      memref.store %v, %note[%c0] : memref<1xi32>
      gpu.memcpy %mine, %note : memref<1xi32>, memref<1xi32>
      gpu.launch_func @kernels::@tell blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%ctx : !symm.ctx, %mine : memref<1xi32>, %told : memref<2xi32>, %round : i32)
      symm.barrier_all %ctx
      gpu.memcpy %got, %told : memref<2xi32>, memref<2xi32>
      %r = memref.load %got[%c0] : memref<2xi32>
      %signed = arith.subi %round, %left : i32
      %same = arith.cmpi eq, %r, %signed : i32
      symm.check %same, "round {}: told {}, expected {}"(%round, %r, %signed) : i32, i32, i32
      %want = arith.addi %their_start, %round : i32
      %w = memref.load %got[%c1] : memref<2xi32>
      %same_value = arith.cmpi eq, %w, %want : i32
      symm.check %same_value, "round {}: told value {}, expected {}"(%round, %w, %want) : i32, i32, i32
      // So that nobody tells the next round before all have looked.
      symm.barrier_all %ctx
    }
    memref.dealloc %note : memref<1xi32>
    memref.dealloc %got : memref<2xi32>
    return
  }
}
