// RUN: %run-all
// symm.signal: set and add, on 32 and 64 bits, by a thread and by a block, release and relaxed. Sets arrive, and of the
// adds of all blocks none is lost.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // flags = [set by a block, set by a thread, added by each block, added for each of 100 items, the same relaxed]
    gpu.func @tell(%ctx: !symm.ctx, %narrow: memref<5xi32>, %wide: memref<5xi64>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c100 = arith.constant 100 : index
      %one = arith.constant 1 : i32
      %minus_ten = arith.constant -10 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %mine = arith.subi %minus_ten, %me : i32
      %mine_wide = arith.extsi %mine : i32 to i64
      %part = arith.addi %me, %one : i32
      %part_wide = arith.extsi %part : i32 to i64

      symm.signal set %ctx, %narrow[%c0], %mine, %right group block : memref<5xi32>, i32
      symm.signal set %ctx, %wide[%c0], %mine_wide, %right group block : memref<5xi64>, i64
      symm.signal set %ctx, %narrow[%c1], %mine, %right : memref<5xi32>, i32
      symm.signal set %ctx, %wide[%c1], %mine_wide, %right sem relaxed : memref<5xi64>, i64
      symm.signal add %ctx, %narrow[%c2], %part, %right group block : memref<5xi32>, i32
      symm.signal add %ctx, %wide[%c2], %part_wide, %right group block : memref<5xi64>, i64
      %first = gpu.global_id x
      %blocks = gpu.grid_dim x
      %threads = gpu.block_dim x
      %all = arith.muli %blocks, %threads : index
      scf.for %i = %first to %c100 step %all {
        symm.signal add %ctx, %narrow[%c3], %part, %right : memref<5xi32>, i32
        symm.signal add %ctx, %wide[%c3], %part_wide, %right : memref<5xi64>, i64
        symm.signal add %ctx, %narrow[%c4], %part, %right sem relaxed : memref<5xi32>, i32
        symm.signal add %ctx, %wide[%c4], %part_wide, %right sem relaxed : memref<5xi64>, i64
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c8 = arith.constant 8 : index
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %hundred = arith.constant 100 : i32
    %minus_ten = arith.constant -10 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %before = arith.subi %n, %one : i32
    %back = arith.addi %me, %before : i32
    %left = arith.remui %back, %n : i32
    %theirs = arith.subi %minus_ten, %left : i32
    %part = arith.addi %left, %one : i32
    %narrow = symm.alloc %ctx : memref<5xi32>
    %wide = symm.alloc %ctx : memref<5xi64>
    gpu.launch_func @kernels::@tell blocks in (%c3, %c1, %c1) threads in (%c8, %c1, %c1)
      args(%ctx : !symm.ctx, %narrow : memref<5xi32>, %wide : memref<5xi64>)
    symm.barrier_all %ctx

    %got = memref.alloc() : memref<5xi32>
    %got_wide = memref.alloc() : memref<5xi64>
    gpu.memcpy %got, %narrow : memref<5xi32>, memref<5xi32>
    gpu.memcpy %got_wide, %wide : memref<5xi64>, memref<5xi64>
    scf.for %i = %c0 to %c5 step %c1 {
      // The left neighbour sets, or adds its rank + 1 for each of 3 blocks or 100 items.
      %is_set = arith.cmpi ult, %i, %c2 : index
      %is_blocks = arith.cmpi eq, %i, %c2 : index
      %times = arith.select %is_blocks, %three, %hundred : i32
      %added = arith.muli %times, %part : i32
      %want = arith.select %is_set, %theirs, %added : i32
      %v = memref.load %got[%i] : memref<5xi32>
      %same = arith.cmpi eq, %v, %want : i32
      symm.check %same, "flag {} of i32 is {}, expected {}"(%i, %v, %want) : index, i32, i32
      %want_wide = arith.extsi %want : i32 to i64
      %v_wide = memref.load %got_wide[%i] : memref<5xi64>
      %same_wide = arith.cmpi eq, %v_wide, %want_wide : i64
      symm.check %same_wide, "flag {} of i64 is {}, expected {}"(%i, %v_wide, %want_wide) : index, i64, i64
    }
    memref.dealloc %got : memref<5xi32>
    memref.dealloc %got_wide : memref<5xi64>
    return
  }
}
