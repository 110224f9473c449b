// RUN: %run-all
//
// All-to-all: every rank has one row of data for each rank, sends each its row together with a signal, and waits until
// the rows of all of them have come. Rank r begins with itself, then r + 1, …, so that not all send to one at once.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Row p of send goes to row me of recv on rank p, whose flag me says so.
    gpu.func @exchange(%ctx: !symm.ctx, %send: memref<?x256xi32>, %recv: memref<?x256xi32>,
                       %flags: memref<?xi32>) kernel {
      %one = arith.constant 1 : i32
      %me32 = symm.rank %ctx
      %n32 = symm.num_ranks %ctx
      %me = arith.index_cast %me32 : i32 to index
      %n = arith.index_cast %n32 : i32 to index
      %block = gpu.block_id x
      %blocks = gpu.grid_dim x
      %dst = memref.subview %recv[%me, 0] [1, 256] [1, 1]
        : memref<?x256xi32> to memref<256xi32, strided<[1], offset: ?>>
      scf.for %i = %block to %n step %blocks {
        %sum = arith.addi %me, %i : index
        %p = arith.remui %sum, %n : index
        %peer = arith.index_cast %p : index to i32
        %src = memref.subview %send[%p, 0] [1, 256] [1, 1]
          : memref<?x256xi32> to memref<256xi32, strided<[1], offset: ?>>
        symm.put_signal set %ctx, %src, %dst, %flags[%me], %one, %peer group block
          : memref<256xi32, strided<[1], offset: ?>>, memref<256xi32, strided<[1], offset: ?>>, memref<?xi32>, i32
      }
      scf.for %p = %block to %n step %blocks {
        symm.wait %ctx, %flags[%p] eq %one group block : memref<?xi32>, i32
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c256 = arith.constant 256 : index
    %me32 = symm.rank %ctx
    %n32 = symm.num_ranks %ctx
    %me = arith.index_cast %me32 : i32 to index
    %n = arith.index_cast %n32 : i32 to index
    %send = symm.alloc %ctx(%n) : memref<?x256xi32>
    %recv = symm.alloc %ctx(%n) : memref<?x256xi32>
    %flags = symm.alloc %ctx(%n) : memref<?xi32>

    %host = memref.alloc(%n) : memref<?x256xi32>
    scf.for %p = %c0 to %n step %c1 {
      scf.for %i = %c0 to %c256 step %c1 {
        %v = func.call @value(%me, %p, %i) : (index, index, index) -> i32
        memref.store %v, %host[%p, %i] : memref<?x256xi32>
      }
    }
    gpu.memcpy %send, %host : memref<?x256xi32>, memref<?x256xi32>
    gpu.launch_func @kernels::@exchange blocks in (%c4, %c1, %c1) threads in (%c256, %c1, %c1)
      args(%ctx : !symm.ctx, %send : memref<?x256xi32>, %recv : memref<?x256xi32>, %flags : memref<?xi32>)

    gpu.memcpy %host, %recv : memref<?x256xi32>, memref<?x256xi32>
    scf.for %p = %c0 to %n step %c1 {
      scf.for %i = %c0 to %c256 step %c1 {
        %want = func.call @value(%p, %me, %i) : (index, index, index) -> i32
        %v = memref.load %host[%p, %i] : memref<?x256xi32>
        %same = arith.cmpi eq, %v, %want : i32
        symm.check %same, "element {} from rank {} is {}, expected {}"(%i, %p, %v, %want) : index, index, i32, i32
      }
    }
    memref.dealloc %host : memref<?x256xi32>
    return
  }

  // What rank `from` has for rank `to` at place i: 1000000 from + 1000 to + i.
  func.func private @value(%from: index, %to: index, %i: index) -> i32 {
    %thousand = arith.constant 1000 : index
    %a = arith.muli %from, %thousand : index
    %b = arith.addi %a, %to : index
    %c = arith.muli %b, %thousand : index
    %d = arith.addi %c, %i : index
    %v = arith.index_cast %d : index to i32
    return %v : i32
  }
}
