// One unit of the modules that `./x bench compile` gives to `mlir-opt --canonicalize --cse`: the kernels of
// compile_symm.mlir, on local memory and with upstream ops only. What was remote is a load or a store of another
// memref, a signal is an atomic update, a wait a load and a comparison.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @produce(%slots: memref<8x256xf32>, %full: memref<8xi64>, %free: memref<8xi64>,
                      %data: memref<?x256xf32>, %count: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c256 = arith.constant 256 : index
      %one_message = arith.constant 1 : i64
      %id = gpu.thread_id x
      %threads = gpu.block_dim x
      scf.for %i = %c0 to %count step %c1 {
        %slot = arith.remui %i, %c8 : index
        %round = arith.divui %i, %c8 : index
        %freed = arith.index_cast %round : index to i64
        %seen = memref.load %free[%slot] : memref<8xi64>
        %is_free = arith.cmpi sge, %seen, %freed : i64
        scf.if %is_free {
          scf.for %j = %id to %c256 step %threads {
            %x = memref.load %data[%i, %j] : memref<?x256xf32>
            memref.store %x, %slots[%slot, %j] : memref<8x256xf32>
          }
        }
        gpu.barrier
        %old = memref.atomic_rmw addi %one_message, %full[%slot] : (i64, memref<8xi64>) -> i64
      }
      gpu.return
    }

    gpu.func @consume(%slots: memref<8x256xf32>, %full: memref<8xi64>, %free: memref<8xi64>, %sums: memref<?xf32>,
                      %count: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c256 = arith.constant 256 : index
      %zero = arith.constant 0.0 : f32
      %one_slot = arith.constant 1 : i64
      scf.for %i = %c0 to %count step %c1 {
        %slot = arith.remui %i, %c8 : index
        %round = arith.divui %i, %c8 : index
        %sent = arith.index_cast %round : index to i64
        %wanted = arith.addi %sent, %one_slot : i64
        %seen = memref.load %full[%slot] : memref<8xi64>
        %is_full = arith.cmpi sge, %seen, %wanted : i64
        scf.if %is_full {
          %sum = scf.for %j = %c0 to %c256 step %c1 iter_args(%acc = %zero) -> (f32) {
            %x = memref.load %slots[%slot, %j] : memref<8x256xf32>
            %more = arith.addf %acc, %x : f32
            scf.yield %more : f32
          }
          memref.store %sum, %sums[%i] : memref<?xf32>
        }
        gpu.barrier
        %old = memref.atomic_rmw addi %one_slot, %free[%slot] : (i64, memref<8xi64>) -> i64
      }
      gpu.return
    }

    gpu.func @stencil(%old: memref<66x512xf32>, %new: memref<66x512xf32>, %flags: memref<2xi64>, %me: i32, %n: i32,
                      %step: i64) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c65 = arith.constant 65 : index
      %c511 = arith.constant 511 : index
      %quarter = arith.constant 2.500000e-01 : f32
      %one = arith.constant 1 : i32
      %last = arith.subi %n, %one : i32
      %zero_rank = arith.constant 0 : i32
      %has_up = arith.cmpi sgt, %me, %zero_rank : i32
      %has_down = arith.cmpi slt, %me, %last : i32
      scf.if %has_up {
        %mine = memref.subview %old[1, 0] [1, 512] [1, 1]
          : memref<66x512xf32> to memref<1x512xf32, strided<[512, 1], offset: 512>>
        %theirs = memref.subview %new[65, 0] [1, 512] [1, 1]
          : memref<66x512xf32> to memref<1x512xf32, strided<[512, 1], offset: 33280>>
        memref.copy %mine, %theirs
          : memref<1x512xf32, strided<[512, 1], offset: 512>> to memref<1x512xf32, strided<[512, 1], offset: 33280>>
        memref.store %step, %flags[%c1] : memref<2xi64>
      }
      scf.if %has_down {
        %mine = memref.subview %old[64, 0] [1, 512] [1, 1]
          : memref<66x512xf32> to memref<1x512xf32, strided<[512, 1], offset: 32768>>
        %theirs = memref.subview %new[0, 0] [1, 512] [1, 1]
          : memref<66x512xf32> to memref<1x512xf32, strided<[512, 1]>>
        memref.copy %mine, %theirs
          : memref<1x512xf32, strided<[512, 1], offset: 32768>> to memref<1x512xf32, strided<[512, 1]>>
        memref.store %step, %flags[%c0] : memref<2xi64>
      }
      gpu.barrier
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

    gpu.func @gather(%table: memref<1024x64xf32>, %hits: memref<1xi32>, %rows: memref<?xi32>, %out: memref<?x64xf32>,
                     %n: i32, %count: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %c1024 = arith.constant 1024 : i32
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1 : i32
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
          %x = memref.load %table[%at, %j] : memref<1024x64xf32>
          %y = arith.select %inside, %x, %zero : f32
          memref.store %y, %out[%i, %j] : memref<?x64xf32>
        }
        %old = memref.atomic_rmw addi %one, %hits[%c0] : (i32, memref<1xi32>) -> i32
      }
      gpu.barrier
      gpu.return
    }

    gpu.func @all_gather(%part: memref<256xf32>, %whole: memref<8x256xf32>, %flags: memref<8xi64>, %me: i32, %n: i32,
                         %epoch: i64) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %mine = arith.index_cast %me : i32 to index
      %ranks = arith.index_cast %n : i32 to index
      scf.for %peer = %zero to %n step %one : i32 {
        %theirs = memref.subview %whole[%mine, 0] [1, 256] [1, 1]
          : memref<8x256xf32> to memref<256xf32, strided<[1], offset: ?>>
        memref.copy %part, %theirs : memref<256xf32> to memref<256xf32, strided<[1], offset: ?>>
        gpu.barrier
        memref.store %epoch, %flags[%mine] : memref<8xi64>
      }
      scf.for %rank = %c0 to %ranks step %c1 {
        %seen = memref.load %flags[%rank] : memref<8xi64>
        %late = arith.subi %epoch, %seen : i64
        memref.store %late, %flags[%rank] : memref<8xi64>
      }
      gpu.barrier
      %x = memref.load %whole[%mine, %c0] : memref<8x256xf32>
      memref.store %x, %part[%mine] : memref<256xf32>
      gpu.return
    }
  }

  func.func @main(%data: memref<?x256xf32>, %rows: memref<?xi32>, %me: i32, %n: i32, %count: index, %steps: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c128 = arith.constant 128 : index
    %step = arith.constant 1 : i64
    %zero = arith.constant 0.0 : f32
    %slots = memref.alloc() : memref<8x256xf32>
    %full = memref.alloc() : memref<8xi64>
    %free = memref.alloc() : memref<8xi64>
    %old = memref.alloc() : memref<66x512xf32>
    %new = memref.alloc() : memref<66x512xf32>
    %halo = memref.alloc() : memref<2xi64>
    %table = memref.alloc() : memref<1024x64xf32>
    %hits = memref.alloc() : memref<1xi32>
    %sums = memref.alloc(%count) : memref<?xf32>
    %part = memref.alloc() : memref<256xf32>
    %whole = memref.alloc() : memref<8x256xf32>
    %flags = memref.alloc() : memref<8xi64>
    %out = memref.alloc(%count) : memref<?x64xf32>
    scf.for %i = %c0 to %steps step %c1 {
      gpu.launch_func @kernels::@produce blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%slots : memref<8x256xf32>, %full : memref<8xi64>, %free : memref<8xi64>, %data : memref<?x256xf32>,
             %count : index)
      gpu.launch_func @kernels::@consume blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%slots : memref<8x256xf32>, %full : memref<8xi64>, %free : memref<8xi64>, %sums : memref<?xf32>,
             %count : index)
      gpu.launch_func @kernels::@stencil blocks in (%c8, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%old : memref<66x512xf32>, %new : memref<66x512xf32>, %halo : memref<2xi64>, %me : i32, %n : i32,
             %step : i64)
      gpu.launch_func @kernels::@gather blocks in (%c8, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%table : memref<1024x64xf32>, %hits : memref<1xi32>, %rows : memref<?xi32>, %out : memref<?x64xf32>,
             %n : i32, %count : index)
      gpu.launch_func @kernels::@all_gather blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%part : memref<256xf32>, %whole : memref<8x256xf32>, %flags : memref<8xi64>, %me : i32, %n : i32,
             %step : i64)
    }
    %host = memref.alloc() : memref<256xf32>
    gpu.memcpy %host, %part : memref<256xf32>, memref<256xf32>
    %x = memref.load %host[%c1] : memref<256xf32>
    %ok = arith.cmpf oge, %x, %zero : f32
    cf.assert %ok, "an element is negative"
    memref.dealloc %host : memref<256xf32>
    memref.dealloc %slots : memref<8x256xf32>
    memref.dealloc %table : memref<1024x64xf32>
    return
  }
}
