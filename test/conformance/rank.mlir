// RUN: %run-all
// symm.rank: every rank writes its number into its place of every rank's roster, and finds the same one on the host.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sign(%ctx: !symm.ctx, %roster: memref<?xi32>) kernel {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %place = arith.index_cast %me : i32 to index
      scf.for %peer = %zero to %n step %one : i32 {
        symm.remote_store %ctx, %roster[%place], %me, %peer : memref<?xi32>, i32
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %ranks = arith.index_cast %n : i32 to index
    %roster = symm.alloc %ctx(%ranks) : memref<?xi32>
    gpu.launch_func @kernels::@sign blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %roster : memref<?xi32>)
    symm.barrier_all %ctx

    %got = memref.alloc(%ranks) : memref<?xi32>
    gpu.memcpy %got, %roster : memref<?xi32>, memref<?xi32>
    scf.for %i = %c0 to %ranks step %c1 {
      %v = memref.load %got[%i] : memref<?xi32>
      %want = arith.index_cast %i : index to i32
      %same = arith.cmpi eq, %v, %want : i32
      symm.check %same, "place {} of rank {}'s roster holds {}"(%i, %me, %v) : index, i32, i32
    }
    memref.dealloc %got : memref<?xi32>
    return
  }
}
