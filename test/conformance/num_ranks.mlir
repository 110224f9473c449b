// RUN: %run-all
// symm.num_ranks: the ranks count themselves on every rank, and all find as many as host and kernel are told.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // seen = [how many have counted themselves, num_ranks in a kernel]
    gpu.func @count(%ctx: !symm.ctx, %seen: memref<2xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %n = symm.num_ranks %ctx
      scf.for %peer = %zero to %n step %one : i32 {
        symm.signal add %ctx, %seen[%c0], %one, %peer group block : memref<2xi32>, i32
      }
      memref.store %n, %seen[%c1] : memref<2xi32>
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %n = symm.num_ranks %ctx
    %seen = symm.alloc %ctx : memref<2xi32>
    gpu.launch_func @kernels::@count blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %seen : memref<2xi32>)
    symm.barrier_all %ctx

    %got = memref.alloc() : memref<2xi32>
    gpu.memcpy %got, %seen : memref<2xi32>, memref<2xi32>
    scf.for %i = %c0 to %c2 step %c1 {
      %v = memref.load %got[%i] : memref<2xi32>
      %same = arith.cmpi eq, %v, %n : i32
      symm.check %same, "count {} is {} of {} ranks"(%i, %v, %n) : index, i32, i32
    }
    memref.dealloc %got : memref<2xi32>
    return
  }
}
