// RUN: %run-all
//
// All-reduce around a ring: every rank ends with the sum of all ranks' arrays. The array has a chunk for each rank.
//
//   reduce-scatter   in n - 1 steps a chunk travels once around, and each rank adds its own part to it;
//   all-gather       in n - 1 more steps the finished chunks travel around.
//
// Each block does this for its own columns of every chunk, with its own flags, and never waits for another block.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // data and inbox are [chunk or step, block, element]; flags are [block, step].
    gpu.func @all_reduce(%ctx: !symm.ctx, %data: memref<?x?x?xf32>, %inbox: memref<?x?x?xf32>,
                         %flags: memref<?x?xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %one = arith.constant 1 : i32
      %me32 = symm.rank %ctx
      %n32 = symm.num_ranks %ctx
      %next = arith.addi %me32, %one : i32
      %right = arith.remui %next, %n32 : i32
      %me = arith.index_cast %me32 : i32 to index
      %n = arith.index_cast %n32 : i32 to index
      %steps = arith.subi %n, %c1 : index
      %width = memref.dim %data, %c2 : memref<?x?x?xf32>
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %start = arith.addi %me, %n : index

      // Step s: chunk me - s goes to the right, chunk me - s - 1 comes from the left, and this rank's part is added.
      scf.for %s = %c0 to %steps step %c1 {
        %out_sum = arith.subi %start, %s : index
        %out = arith.remui %out_sum, %n : index
        %in_sum = arith.subi %out_sum, %c1 : index
        %in = arith.remui %in_sum, %n : index
        %src = memref.subview %data[%out, %block, 0] [1, 1, %width] [1, 1, 1]
          : memref<?x?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
        %dst = memref.subview %inbox[%s, %block, 0] [1, 1, %width] [1, 1, 1]
          : memref<?x?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
        symm.put_signal set %ctx, %src, %dst, %flags[%block, %s], %one, %right group block
          : memref<?xf32, strided<[1], offset: ?>>, memref<?xf32, strided<[1], offset: ?>>, memref<?x?xi32>, i32
        symm.wait %ctx, %flags[%block, %s] eq %one group block : memref<?x?xi32>, i32
        scf.for %i = %thread to %width step %threads {
          %a = memref.load %data[%in, %block, %i] : memref<?x?x?xf32>
          %b = memref.load %inbox[%s, %block, %i] : memref<?x?x?xf32>
          %sum = arith.addf %a, %b : f32
          memref.store %sum, %data[%in, %block, %i] : memref<?x?x?xf32>
        }
      }

      // Step s: finished chunk me + 1 - s goes to the right, chunk me - s comes from the left.
      scf.for %s = %c0 to %steps step %c1 {
        %ahead = arith.addi %start, %c1 : index
        %out_sum = arith.subi %ahead, %s : index
        %out = arith.remui %out_sum, %n : index
        %chunk = memref.subview %data[%out, %block, 0] [1, 1, %width] [1, 1, 1]
          : memref<?x?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
        %flag = arith.addi %steps, %s : index
        symm.put_signal set %ctx, %chunk, %chunk, %flags[%block, %flag], %one, %right group block
          : memref<?xf32, strided<[1], offset: ?>>, memref<?xf32, strided<[1], offset: ?>>, memref<?x?xi32>, i32
        symm.wait %ctx, %flags[%block, %flag] eq %one group block : memref<?x?xi32>, i32
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx, %width64: i64 {symm.name = "width", symm.default = 250 : i64},
                  %blocks64: i64 {symm.name = "blocks", symm.default = 4 : i64}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c128 = arith.constant 128 : index
    %width = arith.index_cast %width64 : i64 to index
    %blocks = arith.index_cast %blocks64 : i64 to index
    %me32 = symm.rank %ctx
    %n32 = symm.num_ranks %ctx
    %me = arith.index_cast %me32 : i32 to index
    %n = arith.index_cast %n32 : i32 to index
    %steps = arith.muli %n, %c2 : index
    %data = symm.alloc %ctx(%n, %blocks, %width) : memref<?x?x?xf32>
    %inbox = symm.alloc %ctx(%n, %blocks, %width) : memref<?x?x?xf32>
    %flags = symm.alloc %ctx(%blocks, %steps) : memref<?x?xi32>

    // Element i of rank r's array is r + (i mod 4096): small enough for every sum to be exact.
    %small = arith.constant 4096 : index
    %host = memref.alloc(%n, %blocks, %width) : memref<?x?x?xf32>
    scf.for %chunk = %c0 to %n step %c1 {
      scf.for %block = %c0 to %blocks step %c1 {
        scf.for %column = %c0 to %width step %c1 {
          %i = func.call @linear(%chunk, %blocks, %block, %width, %column)
            : (index, index, index, index, index) -> index
          %i_small = arith.remui %i, %small : index
          %sum = arith.addi %me, %i_small : index
          %v64 = arith.index_cast %sum : index to i64
          %v = arith.sitofp %v64 : i64 to f32
          memref.store %v, %host[%chunk, %block, %column] : memref<?x?x?xf32>
        }
      }
    }
    gpu.memcpy %data, %host : memref<?x?x?xf32>, memref<?x?x?xf32>
    gpu.launch_func @kernels::@all_reduce blocks in (%blocks, %c1, %c1) threads in (%c128, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<?x?x?xf32>, %inbox : memref<?x?x?xf32>, %flags : memref<?x?xi32>)

    // The sum over ranks is n (i mod 4096) + n (n - 1) / 2.
    %before = arith.subi %n, %c1 : index
    %pairs = arith.muli %n, %before : index
    %offset = arith.divui %pairs, %c2 : index
    gpu.memcpy %host, %data : memref<?x?x?xf32>, memref<?x?x?xf32>
    scf.for %chunk = %c0 to %n step %c1 {
      scf.for %block = %c0 to %blocks step %c1 {
        scf.for %column = %c0 to %width step %c1 {
          %i = func.call @linear(%chunk, %blocks, %block, %width, %column)
            : (index, index, index, index, index) -> index
          %i_small = arith.remui %i, %small : index
          %times = arith.muli %n, %i_small : index
          %sum = arith.addi %times, %offset : index
          %want64 = arith.index_cast %sum : index to i64
          %want = arith.sitofp %want64 : i64 to f32
          %v = memref.load %host[%chunk, %block, %column] : memref<?x?x?xf32>
          %same = arith.cmpf oeq, %v, %want : f32
          symm.check %same, "element {} is {}, expected {}"(%i, %v, %want) : index, f32, f32
        }
      }
    }
    memref.dealloc %host : memref<?x?x?xf32>
    return
  }

  func.func private @linear(%chunk: index, %blocks: index, %block: index, %width: index, %column: index) -> index {
    %a = arith.muli %chunk, %blocks : index
    %b = arith.addi %a, %block : index
    %c = arith.muli %b, %width : index
    %d = arith.addi %c, %column : index
    return %d : index
  }
}
