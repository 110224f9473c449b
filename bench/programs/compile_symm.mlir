// One unit of the modules that `./x bench compile` gives to the symm passes: the bench repeats it, with the names
// @kernels and @main numbered, until the module has as many ops as asked for. compile_upstream.mlir is the same
// kind of code without symm ops, for MLIR's own passes.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // A ring buffer of slots on the right neighbour, with a counter of free slots on the way back.
    gpu.func @produce(%ctx: !symm.ctx, %slots: memref<8x256xf32>, %full: memref<8xi64>, %free: memref<8xi64>,
                      %data: memref<?x256xf32>, %count: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c256 = arith.constant 256 : index
      %one = arith.constant 1 : i32
      %one_message = arith.constant 1 : i64
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %id = gpu.thread_id x
      %threads = gpu.block_dim x
      scf.for %i = %c0 to %count step %c1 {
        %slot = arith.remui %i, %c8 : index
        %round = arith.divui %i, %c8 : index
        %freed = arith.index_cast %round : index to i64
        symm.wait %ctx, %free[%slot] ge %freed group block : memref<8xi64>, i64
        scf.for %j = %id to %c256 step %threads {
          %x = memref.load %data[%i, %j] : memref<?x256xf32>
          symm.remote_store %ctx, %slots[%slot, %j], %x, %right : memref<8x256xf32>, f32
        }
        symm.signal add %ctx, %full[%slot], %one_message, %right group block : memref<8xi64>, i64
      }
      gpu.return
    }

    gpu.func @consume(%ctx: !symm.ctx, %slots: memref<8x256xf32>, %full: memref<8xi64>, %free: memref<8xi64>,
                      %sums: memref<?xf32>, %count: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c256 = arith.constant 256 : index
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1 : i32
      %one_slot = arith.constant 1 : i64
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %later = arith.addi %me, %n : i32
      %previous = arith.subi %later, %one : i32
      %left = arith.remui %previous, %n : i32
      scf.for %i = %c0 to %count step %c1 {
        %slot = arith.remui %i, %c8 : index
        %round = arith.divui %i, %c8 : index
        %sent = arith.index_cast %round : index to i64
        %wanted = arith.addi %sent, %one_slot : i64
        symm.wait %ctx, %full[%slot] ge %wanted group block : memref<8xi64>, i64
        %sum = scf.for %j = %c0 to %c256 step %c1 iter_args(%acc = %zero) -> (f32) {
          %x = memref.load %slots[%slot, %j] : memref<8x256xf32>
          %more = arith.addf %acc, %x : f32
          scf.yield %more : f32
        }
        memref.store %sum, %sums[%i] : memref<?xf32>
        symm.signal add %ctx, %free[%slot], %one_slot, %left group block : memref<8xi64>, i64
      }
      gpu.return
    }

    // A step of a stencil: halo rows to both neighbours, then the rows between.
    gpu.func @stencil(%ctx: !symm.ctx, %old: memref<66x512xf32>, %new: memref<66x512xf32>, %flags: memref<2xi64>,
                      %step: i64) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %c65 = arith.constant 65 : index
      %c511 = arith.constant 511 : index
      %quarter = arith.constant 2.500000e-01 : f32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %last = arith.subi %n, %one : i32
      %zero_rank = arith.constant 0 : i32
      %has_up = arith.cmpi sgt, %me, %zero_rank : i32
      %has_down = arith.cmpi slt, %me, %last : i32
      scf.if %has_up {
        %up = arith.subi %me, %one : i32
        %mine = memref.subview %old[1, 0] [1, 512] [1, 1]
          : memref<66x512xf32> to memref<1x512xf32, strided<[512, 1], offset: 512>>
        %theirs = memref.subview %old[65, 0] [1, 512] [1, 1]
          : memref<66x512xf32> to memref<1x512xf32, strided<[512, 1], offset: 33280>>
        symm.put_signal set %ctx, %mine, %theirs, %flags[%c1], %step, %up group block
          : memref<1x512xf32, strided<[512, 1], offset: 512>>, memref<1x512xf32, strided<[512, 1], offset: 33280>>,
            memref<2xi64>, i64
        symm.wait %ctx, %flags[%c0] ge %step group block : memref<2xi64>, i64
      }
      scf.if %has_down {
        %down = arith.addi %me, %one : i32
        %mine = memref.subview %old[64, 0] [1, 512] [1, 1]
          : memref<66x512xf32> to memref<1x512xf32, strided<[512, 1], offset: 32768>>
        %theirs = memref.subview %old[0, 0] [1, 512] [1, 1]
          : memref<66x512xf32> to memref<1x512xf32, strided<[512, 1]>>
        symm.put_signal set %ctx, %mine, %theirs, %flags[%c0], %step, %down group block
          : memref<1x512xf32, strided<[512, 1], offset: 32768>>, memref<1x512xf32, strided<[512, 1]>>,
            memref<2xi64>, i64
        symm.wait %ctx, %flags[%c1] ge %step group block : memref<2xi64>, i64
      }
      %first = gpu.global_id x
      %blocks = gpu.grid_dim x
      %threads = gpu.block_dim x
      %all = arith.muli %blocks, %threads : index
      scf.for %i = %c1 to %c65 step %c1 {
        %above = arith.subi %i, %c1 : index
        %below = arith.addi %i, %c1 : index
        scf.for %j = %first to %c511 step %all {
          %right = arith.addi %j, %c1 : index
          %left = arith.maxsi %j, %c1 : index
          %west = arith.subi %left, %c1 : index
          %a = memref.load %old[%above, %j] : memref<66x512xf32>
          %b = memref.load %old[%below, %j] : memref<66x512xf32>
          %c = memref.load %old[%i, %west] : memref<66x512xf32>
          %d = memref.load %old[%i, %right] : memref<66x512xf32>
          %ab = arith.addf %a, %b : f32
          %cd = arith.addf %c, %d : f32
          %abcd = arith.addf %ab, %cd : f32
          %mean = arith.mulf %abcd, %quarter : f32
          memref.store %mean, %new[%i, %j] : memref<66x512xf32>
        }
      }
      gpu.return
    }

    // A row of a table that is spread over the ranks, by remote loads; how often each rank was asked is counted.
    gpu.func @gather(%ctx: !symm.ctx, %table: memref<1024x64xf32>, %hits: memref<1xi32>, %rows: memref<?xi32>,
                     %out: memref<?x64xf32>, %count: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %c1024 = arith.constant 1024 : i32
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1 : i32
      %n = symm.num_ranks %ctx
      %first = gpu.global_id x
      %blocks = gpu.grid_dim x
      %threads = gpu.block_dim x
      %all = arith.muli %blocks, %threads : index
      scf.for %i = %first to %count step %all {
        %row = memref.load %rows[%i] : memref<?xi32>
        %owner = arith.divui %row, %c1024 : i32
        %inside = arith.cmpi ult, %owner, %n : i32
        %local = arith.remui %row, %c1024 : i32
        %at = arith.index_cast %local : i32 to index
        scf.for %j = %c0 to %c64 step %c1 {
          %x = symm.remote_load %ctx, %table[%at, %j], %owner mask %inside : i1 other %zero : f32
            : memref<1024x64xf32> -> f32
          memref.store %x, %out[%i, %j] : memref<?x64xf32>
        }
        %old = symm.atomic_rmw add %ctx, %hits[%c0], %one, %owner mask %inside : i1 sem relaxed : memref<1xi32>, i32
      }
      symm.barrier %ctx group block
      gpu.return
    }

    // Every rank's part to every other rank, and the mean of what came.
    gpu.func @all_gather(%ctx: !symm.ctx, %part: memref<256xf32>, %whole: memref<8x256xf32>, %flags: memref<8xi64>,
                         %epoch: i64) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %mine = arith.index_cast %me : i32 to index
      %ranks = arith.index_cast %n : i32 to index
      scf.for %peer = %zero to %n step %one : i32 {
        %theirs = memref.subview %whole[%mine, 0] [1, 256] [1, 1]
          : memref<8x256xf32> to memref<256xf32, strided<[1], offset: ?>>
        symm.put %ctx, %part, %theirs, %peer group block
          : memref<256xf32>, memref<256xf32, strided<[1], offset: ?>>
        symm.signal set %ctx, %flags[%mine], %epoch, %peer group block : memref<8xi64>, i64
      }
      scf.for %rank = %c0 to %ranks step %c1 {
        symm.wait %ctx, %flags[%rank] ge %epoch sem relaxed : memref<8xi64>, i64
      }
      symm.fence sem acquire
      %root = arith.constant 0 : i32
      %x = memref.load %whole[%mine, %c0] : memref<8x256xf32>
      %at_root = symm.as_remote %ctx, %part, %root : memref<256xf32>
      memref.store %x, %at_root[%mine] : memref<256xf32>
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx, %data: memref<?x256xf32>, %rows: memref<?xi32>, %count: index, %steps: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c128 = arith.constant 128 : index
    %step = arith.constant 1 : i64
    %zero = arith.constant 0.0 : f32
    %slots = symm.alloc %ctx : memref<8x256xf32>
    %full = symm.alloc %ctx : memref<8xi64>
    %free = symm.alloc %ctx : memref<8xi64>
    %old = symm.alloc %ctx : memref<66x512xf32>
    %new = symm.alloc %ctx : memref<66x512xf32>
    %halo = symm.alloc %ctx : memref<2xi64>
    %table = symm.alloc %ctx : memref<1024x64xf32>
    %hits = symm.alloc %ctx : memref<1xi32>
    %sums = symm.alloc %ctx(%count) : memref<?xf32>
    %part = symm.alloc %ctx : memref<256xf32>
    %whole = symm.alloc %ctx : memref<8x256xf32>
    %flags = symm.alloc %ctx : memref<8xi64>
    %out = symm.alloc %ctx(%count) : memref<?x64xf32>
    symm.barrier_all %ctx
    scf.for %i = %c0 to %steps step %c1 {
      gpu.launch_func @kernels::@produce blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%ctx : !symm.ctx, %slots : memref<8x256xf32>, %full : memref<8xi64>, %free : memref<8xi64>,
             %data : memref<?x256xf32>, %count : index)
      gpu.launch_func @kernels::@consume blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%ctx : !symm.ctx, %slots : memref<8x256xf32>, %full : memref<8xi64>, %free : memref<8xi64>,
             %sums : memref<?xf32>, %count : index)
      gpu.launch_func @kernels::@stencil blocks in (%c8, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%ctx : !symm.ctx, %old : memref<66x512xf32>, %new : memref<66x512xf32>, %halo : memref<2xi64>, %step : i64)
      gpu.launch_func @kernels::@gather blocks in (%c8, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%ctx : !symm.ctx, %table : memref<1024x64xf32>, %hits : memref<1xi32>, %rows : memref<?xi32>,
             %out : memref<?x64xf32>, %count : index)
      gpu.launch_func @kernels::@all_gather blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%ctx : !symm.ctx, %part : memref<256xf32>, %whole : memref<8x256xf32>, %flags : memref<8xi64>, %step : i64)
    }
    %host = memref.alloc() : memref<256xf32>
    gpu.memcpy %host, %part : memref<256xf32>, memref<256xf32>
    %x = memref.load %host[%c1] : memref<256xf32>
    %ok = arith.cmpf oge, %x, %zero : f32
    symm.check %ok, "element {} is {}"(%c1, %x) : index, f32
    memref.dealloc %host : memref<256xf32>
    symm.free %ctx, %slots : memref<8x256xf32>
    symm.free %ctx, %table : memref<1024x64xf32>
    return
  }
}
