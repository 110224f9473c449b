// RUN: %run-all
// symm.atomic_rmw on integers: all blocks of all ranks update the same i32 and i64 of every rank, and none is lost.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // One place for each kind: add, sub, and, or, xor, min, max, umin, umax.
    gpu.func @update(%ctx: !symm.ctx, %narrow: memref<9xi32>, %wide: memref<9xi64>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %c6 = arith.constant 6 : index
      %c7 = arith.constant 7 : index
      %c8 = arith.constant 8 : index
      %c64 = arith.constant 64 : index
      %ones = arith.constant -1 : i32
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %forty = arith.constant 40 : i32
      %sixty_four = arith.constant 64 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %mine = arith.muli %me, %sixty_four : i32
      %first = gpu.global_id x
      %blocks = gpu.grid_dim x
      %threads = gpu.block_dim x
      %all = arith.muli %blocks, %threads : index
      scf.for %i = %first to %c64 step %all {
        %count = arith.index_cast %i : index to i32
        %id = arith.addi %mine, %count : i32
        %next_id = arith.addi %id, %one : i32
        %low = arith.subi %id, %forty : i32
        %rest = arith.xori %id, %ones : i32
        %id_wide = arith.extsi %id : i32 to i64
        %next_id_wide = arith.extsi %next_id : i32 to i64
        %low_wide = arith.extsi %low : i32 to i64
        %rest_wide = arith.extsi %rest : i32 to i64
        scf.for %peer = %zero to %n step %one : i32 {
          %add32 = symm.atomic_rmw add %ctx, %narrow[%c0], %id, %peer : memref<9xi32>, i32
          %add64 = symm.atomic_rmw add %ctx, %wide[%c0], %id_wide, %peer : memref<9xi64>, i64
          %sub32 = symm.atomic_rmw sub %ctx, %narrow[%c1], %id, %peer : memref<9xi32>, i32
          %sub64 = symm.atomic_rmw sub %ctx, %wide[%c1], %id_wide, %peer : memref<9xi64>, i64
          %and32 = symm.atomic_rmw and %ctx, %narrow[%c2], %rest, %peer : memref<9xi32>, i32
          %and64 = symm.atomic_rmw and %ctx, %wide[%c2], %rest_wide, %peer : memref<9xi64>, i64
          %or32 = symm.atomic_rmw or %ctx, %narrow[%c3], %id, %peer : memref<9xi32>, i32
          %or64 = symm.atomic_rmw or %ctx, %wide[%c3], %id_wide, %peer : memref<9xi64>, i64
          %xor32 = symm.atomic_rmw xor %ctx, %narrow[%c4], %next_id, %peer : memref<9xi32>, i32
          %xor64 = symm.atomic_rmw xor %ctx, %wide[%c4], %next_id_wide, %peer : memref<9xi64>, i64
          %min32 = symm.atomic_rmw min %ctx, %narrow[%c5], %low, %peer : memref<9xi32>, i32
          %min64 = symm.atomic_rmw min %ctx, %wide[%c5], %low_wide, %peer : memref<9xi64>, i64
          %max32 = symm.atomic_rmw max %ctx, %narrow[%c6], %low, %peer : memref<9xi32>, i32
          %max64 = symm.atomic_rmw max %ctx, %wide[%c6], %low_wide, %peer : memref<9xi64>, i64
          %umin32 = symm.atomic_rmw umin %ctx, %narrow[%c7], %low, %peer : memref<9xi32>, i32
          %umin64 = symm.atomic_rmw umin %ctx, %wide[%c7], %low_wide, %peer : memref<9xi64>, i64
          %umax32 = symm.atomic_rmw umax %ctx, %narrow[%c8], %low, %peer : memref<9xi32>, i32
          %umax64 = symm.atomic_rmw umax %ctx, %wide[%c8], %low_wide, %peer : memref<9xi64>, i64
        }
      }
      gpu.return
    }
  }

  // and and umin begin at -1, the others at 0.
  memref.global "private" constant @initial : memref<9xi32> = dense<[0, 0, -1, 0, 0, 0, 0, -1, 0]>

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %ones = arith.constant -1 : i32
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %forty = arith.constant 40 : i32
    %sixty_four = arith.constant 64 : i32
    %n = symm.num_ranks %ctx
    %narrow = symm.alloc %ctx : memref<9xi32>
    %wide = symm.alloc %ctx : memref<9xi64>
    %initial = memref.get_global @initial : memref<9xi32>
    %initial_wide = memref.alloc() : memref<9xi64>
    scf.for %kind = %c0 to %c9 step %c1 {
      %v = memref.load %initial[%kind] : memref<9xi32>
      %w = arith.extsi %v : i32 to i64
      memref.store %w, %initial_wide[%kind] : memref<9xi64>
    }
    gpu.memcpy %narrow, %initial : memref<9xi32>, memref<9xi32>
    gpu.memcpy %wide, %initial_wide : memref<9xi64>, memref<9xi64>
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@update blocks in (%c4, %c1, %c1) threads in (%c8, %c1, %c1)
      args(%ctx : !symm.ctx, %narrow : memref<9xi32>, %wide : memref<9xi64>)
    symm.barrier_all %ctx

    // The same updates, one after the other.
    %ids = arith.muli %n, %sixty_four : i32
    %want = memref.alloc() : memref<9xi32>
    memref.copy %initial, %want : memref<9xi32> to memref<9xi32>
    scf.for %id = %zero to %ids step %one : i32 {
      %next_id = arith.addi %id, %one : i32
      %low = arith.subi %id, %forty : i32
      %rest = arith.xori %id, %ones : i32
      %add_old = memref.load %want[%c0] : memref<9xi32>
      %add_new = arith.addi %add_old, %id : i32
      memref.store %add_new, %want[%c0] : memref<9xi32>
      %sub_old = memref.load %want[%c1] : memref<9xi32>
      %sub_new = arith.subi %sub_old, %id : i32
      memref.store %sub_new, %want[%c1] : memref<9xi32>
      %and_old = memref.load %want[%c2] : memref<9xi32>
      %and_new = arith.andi %and_old, %rest : i32
      memref.store %and_new, %want[%c2] : memref<9xi32>
      %or_old = memref.load %want[%c3] : memref<9xi32>
      %or_new = arith.ori %or_old, %id : i32
      memref.store %or_new, %want[%c3] : memref<9xi32>
      %xor_old = memref.load %want[%c4] : memref<9xi32>
      %xor_new = arith.xori %xor_old, %next_id : i32
      memref.store %xor_new, %want[%c4] : memref<9xi32>
      %min_old = memref.load %want[%c5] : memref<9xi32>
      %min_new = arith.minsi %min_old, %low : i32
      memref.store %min_new, %want[%c5] : memref<9xi32>
      %max_old = memref.load %want[%c6] : memref<9xi32>
      %max_new = arith.maxsi %max_old, %low : i32
      memref.store %max_new, %want[%c6] : memref<9xi32>
      %umin_old = memref.load %want[%c7] : memref<9xi32>
      %umin_new = arith.minui %umin_old, %low : i32
      memref.store %umin_new, %want[%c7] : memref<9xi32>
      %umax_old = memref.load %want[%c8] : memref<9xi32>
      %umax_new = arith.maxui %umax_old, %low : i32
      memref.store %umax_new, %want[%c8] : memref<9xi32>
    }
    %got = memref.alloc() : memref<9xi32>
    %got_wide = memref.alloc() : memref<9xi64>
    gpu.memcpy %got, %narrow : memref<9xi32>, memref<9xi32>
    gpu.memcpy %got_wide, %wide : memref<9xi64>, memref<9xi64>
    scf.for %kind = %c0 to %c9 step %c1 {
      %w = memref.load %want[%kind] : memref<9xi32>
      %v = memref.load %got[%kind] : memref<9xi32>
      %same = arith.cmpi eq, %v, %w : i32
      symm.check %same, "kind {} of i32: {}, expected {}"(%kind, %v, %w) : index, i32, i32
      %w_wide = arith.extsi %w : i32 to i64
      %v_wide = memref.load %got_wide[%kind] : memref<9xi64>
      %same_wide = arith.cmpi eq, %v_wide, %w_wide : i64
      symm.check %same_wide, "kind {} of i64: {}, expected {}"(%kind, %v_wide, %w_wide) : index, i64, i64
    }
    memref.dealloc %initial_wide : memref<9xi64>
    memref.dealloc %want : memref<9xi32>
    memref.dealloc %got : memref<9xi32>
    memref.dealloc %got_wide : memref<9xi64>
    return
  }
}
