// RUN: %run-all
// Blocks that are not whole warps: each warp copies a neighbour's line whole, into a line of its own, with as many
// threads as it has, and two threads meet those of any number of ranks. (On the CPU a block is one thread.)

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fill(%ctx: !symm.ctx, %line: memref<1024xi32>) kernel {
      %c1 = arith.constant 1 : index
      %c1024 = arith.constant 1024 : index
      %me = symm.rank %ctx
      %scale = arith.constant 10000 : i32
      %start = arith.muli %me, %scale : i32
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      scf.for %i = %thread to %c1024 step %threads {
        %i32 = arith.index_cast %i : index to i32
        %v = arith.addi %start, %i32 : i32
        memref.store %v, %line[%i] : memref<1024xi32>
      }
      gpu.return
    }

    func.func private @copy(%ctx: !symm.ctx, %line: memref<1024xi32>, %lines: memref<8x1024xi32>,
        %warps: memref<1xindex>) {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %id = gpu.subgroup_id : index
      %mine = memref.subview %lines[%id, 0] [1, 1024] [1, 1]
        : memref<8x1024xi32> to memref<1024xi32, strided<[1], offset: ?>>
      %view = memref.cast %line : memref<1024xi32> to memref<1024xi32, strided<[1], offset: ?>>
      symm.get %ctx, %view, %mine, %right group warp
        : memref<1024xi32, strided<[1], offset: ?>>, memref<1024xi32, strided<[1], offset: ?>>
      %count = gpu.num_subgroups : index
      memref.store %count, %warps[%c0] : memref<1xindex>
      return
    }

    gpu.func @copies(%ctx: !symm.ctx, %line: memref<1024xi32>, %lines: memref<8x1024xi32>, %warps: memref<1xindex>)
        kernel {
      func.call @copy(%ctx, %line, %lines, %warps)
        : (!symm.ctx, memref<1024xi32>, memref<8x1024xi32>, memref<1xindex>) -> ()
      gpu.return
    }

    gpu.func @meet(%ctx: !symm.ctx) kernel {
      symm.barrier %ctx group warp
      symm.barrier %ctx group warp
      gpu.return
    }
  }

  // Copies with blocks of so many threads, and looks at the line of each warp.
  func.func private @try(%ctx: !symm.ctx, %line: memref<1024xi32>, %lines: memref<8x1024xi32>, %warps: memref<1xindex>,
      %x: index, %y: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %one = arith.constant 1 : i32
    %none = arith.constant -1 : i32
    %lines_host = memref.alloc() : memref<8x1024xi32>
    %warps_host = memref.alloc() : memref<1xindex>
    linalg.fill ins(%none : i32) outs(%lines_host : memref<8x1024xi32>)
    gpu.memcpy %lines, %lines_host : memref<8x1024xi32>, memref<8x1024xi32>
    gpu.launch_func @kernels::@copies blocks in (%c1, %c1, %c1) threads in (%x, %y, %c1)
      args(%ctx : !symm.ctx, %line : memref<1024xi32>, %lines : memref<8x1024xi32>, %warps : memref<1xindex>)
    gpu.memcpy %lines_host, %lines : memref<8x1024xi32>, memref<8x1024xi32>
    gpu.memcpy %warps_host, %warps : memref<1xindex>, memref<1xindex>
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %next = arith.addi %me, %one : i32
    %right = arith.remui %next, %n : i32
    %scale = arith.constant 10000 : i32
    %start = arith.muli %right, %scale : i32
    %count = memref.load %warps_host[%c0] : memref<1xindex>
    scf.for %warp = %c0 to %count step %c1 {
      scf.for %i = %c0 to %c1024 step %c1 {
        %i32 = arith.index_cast %i : index to i32
        %want = arith.addi %start, %i32 : i32
        %got = memref.load %lines_host[%warp, %i] : memref<8x1024xi32>
        %same = arith.cmpi eq, %got, %want : i32
        symm.check %same, "{} by {} threads, warp {}, element {}: {}, expected {}"(%x, %y, %warp, %i, %got, %want)
          : index, index, index, index, i32, i32
      }
    }
    memref.dealloc %lines_host : memref<8x1024xi32>
    memref.dealloc %warps_host : memref<1xindex>
    return
  }

  func.func @main(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c5 = arith.constant 5 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c104 = arith.constant 104 : index
    %line = symm.alloc %ctx : memref<1024xi32>
    %lines = symm.alloc %ctx : memref<8x1024xi32>
    %warps = symm.alloc %ctx : memref<1xindex>
    gpu.launch_func @kernels::@fill blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%ctx : !symm.ctx, %line : memref<1024xi32>)
    symm.barrier_all %ctx
    func.call @try(%ctx, %line, %lines, %warps, %c16, %c1)
      : (!symm.ctx, memref<1024xi32>, memref<8x1024xi32>, memref<1xindex>, index, index) -> ()
    func.call @try(%ctx, %line, %lines, %warps, %c5, %c2)
      : (!symm.ctx, memref<1024xi32>, memref<8x1024xi32>, memref<1xindex>, index, index) -> ()
    func.call @try(%ctx, %line, %lines, %warps, %c32, %c1)
      : (!symm.ctx, memref<1024xi32>, memref<8x1024xi32>, memref<1xindex>, index, index) -> ()
    func.call @try(%ctx, %line, %lines, %warps, %c104, %c1)
      : (!symm.ctx, memref<1024xi32>, memref<8x1024xi32>, memref<1xindex>, index, index) -> ()
    gpu.launch_func @kernels::@meet blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1) args(%ctx : !symm.ctx)
    return
  }
}
