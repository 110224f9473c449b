// RUN: %run-all
// symm.atomic_rmw returns the old value: every ticket drawn at rank 0 is drawn once, with each memory order. Where the
// mask is false nothing happens, not even on a rank that does not exist.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // next[k] is the next ticket of roll k; drawn[k, t] counts who drew ticket t of it.
    gpu.func @draw(%ctx: !symm.ctx, %next: memref<4xi32>, %drawn: memref<4x?xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c32 = arith.constant 32 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %hundred = arith.constant 100 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %never = arith.cmpi uge, %me, %n : i32
      %first = gpu.global_id x
      %blocks = gpu.grid_dim x
      %threads = gpu.block_dim x
      %all = arith.muli %blocks, %threads : index
      scf.for %i = %first to %c32 step %all {
        %a = symm.atomic_rmw add %ctx, %next[%c0], %one, %zero : memref<4xi32>, i32
        func.call @count(%ctx, %drawn, %c0, %a) : (!symm.ctx, memref<4x?xi32>, index, i32) -> ()
        %b = symm.atomic_rmw add %ctx, %next[%c1], %one, %zero sem relaxed : memref<4xi32>, i32
        func.call @count(%ctx, %drawn, %c1, %b) : (!symm.ctx, memref<4x?xi32>, index, i32) -> ()
        %c = symm.atomic_rmw add %ctx, %next[%c2], %one, %zero sem acquire : memref<4xi32>, i32
        func.call @count(%ctx, %drawn, %c2, %c) : (!symm.ctx, memref<4x?xi32>, index, i32) -> ()
        %d = symm.atomic_rmw add %ctx, %next[%c3], %one, %zero sem release : memref<4xi32>, i32
        func.call @count(%ctx, %drawn, %c3, %d) : (!symm.ctx, memref<4x?xi32>, index, i32) -> ()

        %e = symm.atomic_rmw add %ctx, %next[%c0], %hundred, %n mask %never : i1 : memref<4xi32>, i32
      }
      gpu.return
    }

    func.func private @count(%ctx: !symm.ctx, %drawn: memref<4x?xi32>, %roll: index, %ticket: i32) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %t = arith.index_cast %ticket : i32 to index
      %old = symm.atomic_rmw add %ctx, %drawn[%roll, %t], %one, %zero sem relaxed : memref<4x?xi32>, i32
      return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %ranks = arith.index_cast %n : i32 to index
    %tickets = arith.muli %ranks, %c32 : index
    %next = symm.alloc %ctx : memref<4xi32>
    %drawn = symm.alloc %ctx(%tickets) : memref<4x?xi32>
    gpu.launch_func @kernels::@draw blocks in (%c4, %c1, %c1) threads in (%c8, %c1, %c1)
      args(%ctx : !symm.ctx, %next : memref<4xi32>, %drawn : memref<4x?xi32>)
    symm.barrier_all %ctx

    %is_zero = arith.cmpi eq, %me, %zero : i32
    scf.if %is_zero {
      %got = memref.alloc(%tickets) : memref<4x?xi32>
      gpu.memcpy %got, %drawn : memref<4x?xi32>, memref<4x?xi32>
      scf.for %roll = %c0 to %c4 step %c1 {
        scf.for %t = %c0 to %tickets step %c1 {
          %times = memref.load %got[%roll, %t] : memref<4x?xi32>
          %once = arith.cmpi eq, %times, %one : i32
          symm.check %once, "roll {}: ticket {} was drawn {} times"(%roll, %t, %times) : index, index, i32
        }
      }
      memref.dealloc %got : memref<4x?xi32>
    }
    return
  }
}
