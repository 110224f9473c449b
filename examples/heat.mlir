// RUN: %run-all --input image=%S/data/heat.npy --output result=%t.{ranks}.{mode}.npy
// RUN: cmp %t.1.threads.npy %t.1.processes.npy
// RUN: cmp %t.1.threads.npy %t.2.threads.npy
// RUN: cmp %t.1.threads.npy %t.2.processes.npy
// RUN: cmp %t.1.threads.npy %t.4.threads.npy
// RUN: cmp %t.1.threads.npy %t.4.processes.npy
// RUN: cmp %t.1.threads.npy %t.8.threads.npy
// RUN: cmp %t.1.threads.npy %t.8.processes.npy
// RUN: not cmp %t.1.threads.npy %S/data/heat.npy
//
// The heat equation on a plate, `image`, whose edges keep their temperature. The rows are shared out among the ranks.
// In each step a rank sends its first and last row to its neighbours, which wait for them only where they border: the
// rows in between are computed meanwhile. The result is the same, bit for bit, on any number of ranks.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // A part is the rows of one rank, with a halo: a row above and a row below that its neighbours send.
    gpu.func @split(%ctx: !symm.ctx, %whole: memref<?x?xf32>, %part: memref<?x?xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %height = memref.dim %whole, %c0 : memref<?x?xf32>
      %width = memref.dim %whole, %c1 : memref<?x?xf32>
      %me = symm.rank %ctx
      %start = func.call @first_row(%ctx, %me, %height) : (!symm.ctx, i32, index) -> index
      %next = arith.addi %me, %one : i32
      %end = func.call @first_row(%ctx, %next, %height) : (!symm.ctx, i32, index) -> index
      %block = gpu.block_id x
      %blocks = gpu.grid_dim x
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %from = arith.addi %start, %block : index
      scf.for %line = %from to %end step %blocks {
        %above = arith.subi %line, %start : index
        %i = arith.addi %above, %c1 : index
        scf.for %j = %thread to %width step %threads {
          %v = memref.load %whole[%line, %j] : memref<?x?xf32>
          memref.store %v, %part[%i, %j] : memref<?x?xf32>
        }
      }
      gpu.return
    }

    // new = old, one step later. arrived = [in how many steps a row came from above, from below].
    gpu.func @step(%ctx: !symm.ctx, %old: memref<?x?xf32>, %new: memref<?x?xf32>, %arrived: memref<2xi32>,
                   %height: index, %steps_done: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %width = memref.dim %old, %c1 : memref<?x?xf32>
      %me = symm.rank %ctx
      %above = arith.subi %me, %one : i32
      %below = arith.addi %me, %one : i32
      %start = func.call @first_row(%ctx, %me, %height) : (!symm.ctx, i32, index) -> index
      %end = func.call @first_row(%ctx, %below, %height) : (!symm.ctx, i32, index) -> index
      %rows = arith.subi %end, %start : index
      %has_above = arith.cmpi ugt, %start, %c0 : index
      %has_below = arith.cmpi ult, %end, %height : index
      %done = arith.index_cast %steps_done : index to i32
      %this = arith.addi %done, %one : i32
      %block = gpu.block_id x
      %blocks = gpu.grid_dim x
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x

      // My first row goes below the last row of the rank above, my last row above the first row of the rank below.
      %sends = arith.cmpi eq, %block, %c0 : index
      %sends_up = arith.andi %sends, %has_above : i1
      scf.if %sends_up {
        %their_start = func.call @first_row(%ctx, %above, %height) : (!symm.ctx, i32, index) -> index
        %their_rows = arith.subi %start, %their_start : index
        %their_halo = arith.addi %their_rows, %c1 : index
        %src = memref.subview %old[1, 0] [1, %width] [1, 1] : memref<?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
        %dst = memref.subview %old[%their_halo, 0] [1, %width] [1, 1]
          : memref<?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
        symm.put_signal set %ctx, %src, %dst, %arrived[%c1], %this, %above group block
          : memref<?xf32, strided<[1], offset: ?>>, memref<?xf32, strided<[1], offset: ?>>, memref<2xi32>, i32
      }
      %sends_down = arith.andi %sends, %has_below : i1
      scf.if %sends_down {
        %src = memref.subview %old[%rows, 0] [1, %width] [1, 1]
          : memref<?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
        %dst = memref.subview %old[0, 0] [1, %width] [1, 1] : memref<?x?xf32> to memref<?xf32, strided<[1]>>
        symm.put_signal set %ctx, %src, %dst, %arrived[%c0], %this, %below group block
          : memref<?xf32, strided<[1], offset: ?>>, memref<?xf32, strided<[1]>>, memref<2xi32>, i32
      }

      %four = arith.constant 4.0 : f32
      %speed = arith.constant 0.2 : f32
      %last_line = arith.subi %height, %c1 : index
      %last_column = arith.subi %width, %c1 : index
      %from = arith.addi %start, %block : index
      scf.for %line = %from to %end step %blocks {
        %row = arith.subi %line, %start : index
        %i = arith.addi %row, %c1 : index
        %up = arith.subi %i, %c1 : index
        %down = arith.addi %i, %c1 : index
        %is_first = arith.cmpi eq, %i, %c1 : index
        %borders_above = arith.andi %is_first, %has_above : i1
        scf.if %borders_above {
          symm.wait %ctx, %arrived[%c0] ge %this group block : memref<2xi32>, i32
        }
        %is_last = arith.cmpi eq, %i, %rows : index
        %borders_below = arith.andi %is_last, %has_below : i1
        scf.if %borders_below {
          symm.wait %ctx, %arrived[%c1] ge %this group block : memref<2xi32>, i32
        }
        %below_edge = arith.cmpi ugt, %line, %c0 : index
        %above_edge = arith.cmpi ult, %line, %last_line : index
        %in_lines = arith.andi %below_edge, %above_edge : i1
        scf.for %j = %thread to %width step %threads {
          %before = arith.subi %j, %c1 : index
          %after = arith.addi %j, %c1 : index
          %right_of_edge = arith.cmpi ugt, %j, %c0 : index
          %left_of_edge = arith.cmpi ult, %j, %last_column : index
          %in_columns = arith.andi %right_of_edge, %left_of_edge : i1
          %inside = arith.andi %in_lines, %in_columns : i1
          %u = memref.load %old[%i, %j] : memref<?x?xf32>
          %v = scf.if %inside -> f32 {
            %a = memref.load %old[%up, %j] : memref<?x?xf32>
            %b = memref.load %old[%down, %j] : memref<?x?xf32>
            %c = memref.load %old[%i, %before] : memref<?x?xf32>
            %d = memref.load %old[%i, %after] : memref<?x?xf32>
            %ab = arith.addf %a, %b : f32
            %cd = arith.addf %c, %d : f32
            %around = arith.addf %ab, %cd : f32
            %here = arith.mulf %u, %four : f32
            %difference = arith.subf %around, %here : f32
            %flow = arith.mulf %difference, %speed : f32
            %later = arith.addf %u, %flow : f32
            scf.yield %later : f32
          } else {
            scf.yield %u : f32
          }
          memref.store %v, %new[%i, %j] : memref<?x?xf32>
        }
      }
      gpu.return
    }

    // Every rank puts its rows into the whole image of rank 0.
    gpu.func @gather(%ctx: !symm.ctx, %part: memref<?x?xf32>, %whole: memref<?x?xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %height = memref.dim %whole, %c0 : memref<?x?xf32>
      %width = memref.dim %whole, %c1 : memref<?x?xf32>
      %me = symm.rank %ctx
      %next = arith.addi %me, %one : i32
      %start = func.call @first_row(%ctx, %me, %height) : (!symm.ctx, i32, index) -> index
      %end = func.call @first_row(%ctx, %next, %height) : (!symm.ctx, i32, index) -> index
      %block = gpu.block_id x
      %blocks = gpu.grid_dim x
      %from = arith.addi %start, %block : index
      scf.for %line = %from to %end step %blocks {
        %row = arith.subi %line, %start : index
        %i = arith.addi %row, %c1 : index
        %src = memref.subview %part[%i, 0] [1, %width] [1, 1]
          : memref<?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
        %dst = memref.subview %whole[%line, 0] [1, %width] [1, 1]
          : memref<?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
        symm.put %ctx, %src, %dst, %zero group block
          : memref<?xf32, strided<[1], offset: ?>>, memref<?xf32, strided<[1], offset: ?>>
      }
      gpu.return
    }

    // The first of the rows that are a rank's: rank * height / ranks.
    func.func private @first_row(%ctx: !symm.ctx, %rank: i32, %height: index) -> index {
      %n = symm.num_ranks %ctx
      %ranks = arith.index_cast %n : i32 to index
      %r = arith.index_cast %rank : i32 to index
      %product = arith.muli %r, %height : index
      %first = arith.divui %product, %ranks : index
      return %first : index
    }
  }

  func.func @main(%ctx: !symm.ctx, %image: memref<?x?xf32> {symm.name = "image"},
                  %steps64: i64 {symm.name = "steps", symm.default = 80 : i64})
      -> (memref<?x?xf32> {symm.name = "result"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c256 = arith.constant 256 : index
    %n = symm.num_ranks %ctx
    %ranks = arith.index_cast %n : i32 to index
    %height = memref.dim %image, %c0 : memref<?x?xf32>
    %width = memref.dim %image, %c1 : memref<?x?xf32>
    %enough = arith.cmpi uge, %height, %ranks : index
    symm.check %enough, "{} rows are too few for {} ranks"(%height, %ranks) : index, index
    %asked = arith.index_cast %steps64 : i64 to index
    %steps = arith.select %enough, %asked, %c0 : index

    %most_rows = arith.ceildivui %height, %ranks : index
    %part_height = arith.addi %most_rows, %c2 : index
    %whole = symm.alloc %ctx(%height, %width) : memref<?x?xf32>
    %a = symm.alloc %ctx(%part_height, %width) : memref<?x?xf32>
    %b = symm.alloc %ctx(%part_height, %width) : memref<?x?xf32>
    %arrived = symm.alloc %ctx : memref<2xi32>
    gpu.memcpy %whole, %image : memref<?x?xf32>, memref<?x?xf32>
    gpu.launch_func @kernels::@split blocks in (%c4, %c1, %c1) threads in (%c256, %c1, %c1)
      args(%ctx : !symm.ctx, %whole : memref<?x?xf32>, %a : memref<?x?xf32>)
    symm.barrier_all %ctx

    // Two buffers take turns. A neighbour's row comes into the one that this step reads. It was read last two steps
    // ago, and the neighbour knows that: it has had this rank's row of the step between.
    %last:2 = scf.for %step = %c0 to %steps step %c1 iter_args(%old = %a, %new = %b)
        -> (memref<?x?xf32>, memref<?x?xf32>) {
      gpu.launch_func @kernels::@step blocks in (%c4, %c1, %c1) threads in (%c256, %c1, %c1)
        args(%ctx : !symm.ctx, %old : memref<?x?xf32>, %new : memref<?x?xf32>, %arrived : memref<2xi32>,
          %height : index, %step : index)
      scf.yield %new, %old : memref<?x?xf32>, memref<?x?xf32>
    }
    gpu.launch_func @kernels::@gather blocks in (%c4, %c1, %c1) threads in (%c256, %c1, %c1)
      args(%ctx : !symm.ctx, %last#0 : memref<?x?xf32>, %whole : memref<?x?xf32>)
    symm.barrier_all %ctx

    // Nowhere is it colder than the coldest or hotter than the hottest place was.
    %result = memref.alloc(%height, %width) : memref<?x?xf32>
    gpu.memcpy %result, %whole : memref<?x?xf32>, memref<?x?xf32>
    %was:2 = func.call @extremes(%image) : (memref<?x?xf32>) -> (f32, f32)
    %is:2 = func.call @extremes(%result) : (memref<?x?xf32>) -> (f32, f32)
    %warm = arith.cmpf oge, %is#0, %was#0 : f32
    %cool = arith.cmpf ole, %is#1, %was#1 : f32
    %bounded = arith.andi %warm, %cool : i1
    symm.check %bounded, "temperatures were {} to {} and are {} to {}"(%was#0, %was#1, %is#0, %is#1)
      : f32, f32, f32, f32
    return %result : memref<?x?xf32>
  }

  // The smallest and the largest element; NaN if there is one. Of no elements: infinities.
  func.func private @extremes(%m: memref<?x?xf32>) -> (f32, f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %height = memref.dim %m, %c0 : memref<?x?xf32>
    %width = memref.dim %m, %c1 : memref<?x?xf32>
    %highest = arith.constant 0x7F800000 : f32
    %lowest = arith.constant 0xFF800000 : f32
    %all:2 = scf.for %i = %c0 to %height step %c1 iter_args(%low = %highest, %high = %lowest) -> (f32, f32) {
      %row:2 = scf.for %j = %c0 to %width step %c1 iter_args(%l = %low, %h = %high) -> (f32, f32) {
        %v = memref.load %m[%i, %j] : memref<?x?xf32>
        %lower = arith.minimumf %l, %v : f32
        %higher = arith.maximumf %h, %v : f32
        scf.yield %lower, %higher : f32, f32
      }
      scf.yield %row#0, %row#1 : f32, f32
    }
    return %all#0, %all#1 : f32, f32
  }
}
