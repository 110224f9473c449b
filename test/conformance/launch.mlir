// RUN: %run-all
// gpu.launch_func: grids of one, two and three dimensions, in which every block runs once and knows where it lies;
// arguments of every kind; and many launches, each complete before the next op of the host.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // visits[z, y, x] = 1000 times the depth + the block's linear number in the grid + 1, added once by each block.
    gpu.func @visit(%ctx: !symm.ctx, %visits: memref<4x4x4xi32>) kernel {
      %one = arith.constant 1 : i32
      %thousand = arith.constant 1000 : i32
      %x = gpu.block_id x
      %y = gpu.block_id y
      %z = gpu.block_id z
      %width = gpu.grid_dim x
      %height = gpu.grid_dim y
      %depth = gpu.grid_dim z
      %plane = arith.muli %z, %height : index
      %row = arith.addi %plane, %y : index
      %line = arith.muli %row, %width : index
      %place = arith.addi %line, %x : index
      %count = arith.index_cast %place : index to i32
      %v = arith.addi %count, %one : i32
      %planes = arith.index_cast %depth : index to i32
      %thousands = arith.muli %planes, %thousand : i32
      %add = arith.addi %thousands, %v : i32
      %me = symm.rank %ctx
      symm.signal add %ctx, %visits[%z, %y, %x], %add, %me group block : memref<4x4x4xi32>, i32
      gpu.return
    }

    // sums[0] += what the scalars say, which the host can tell from any other.
    gpu.func @scalars(%a: i8, %b: i16, %c: i32, %d: i64, %e: index, %f: f32, %g: f64, %h: i1,
                      %sums: memref<1xf64>) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0.0 : f64
      %thread = gpu.thread_id x
      %is_first = arith.cmpi eq, %thread, %c0 : index
      scf.if %is_first {
        %fa = arith.sitofp %a : i8 to f64
        %fb = arith.sitofp %b : i16 to f64
        %fc = arith.sitofp %c : i32 to f64
        %fd = arith.sitofp %d : i64 to f64
        %ie = arith.index_cast %e : index to i64
        %fe = arith.sitofp %ie : i64 to f64
        %ff = arith.extf %f : f32 to f64
        %s0 = arith.addf %fa, %fb : f64
        %s1 = arith.addf %s0, %fc : f64
        %s2 = arith.addf %s1, %fd : f64
        %s3 = arith.addf %s2, %fe : f64
        %s4 = arith.addf %s3, %ff : f64
        %s5 = arith.addf %s4, %g : f64
        %add = arith.select %h, %s5, %zero : f64
        %old = memref.load %sums[%c0] : memref<1xf64>
        %new = arith.addf %old, %add : f64
        memref.store %new, %sums[%c0] : memref<1xf64>
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    func.call @check_grid(%ctx, %c4, %c1, %c1) : (!symm.ctx, index, index, index) -> ()
    func.call @check_grid(%ctx, %c3, %c4, %c1) : (!symm.ctx, index, index, index) -> ()
    func.call @check_grid(%ctx, %c2, %c3, %c4) : (!symm.ctx, index, index, index) -> ()
    func.call @check_grid(%ctx, %c1, %c1, %c3) : (!symm.ctx, index, index, index) -> ()

    %a = arith.constant -1 : i8
    %b = arith.constant -20 : i16
    %c = arith.constant -300 : i32
    %d = arith.constant -4000 : i64
    %e = arith.constant 50000 : index
    %f = arith.constant 0.5 : f32
    %g = arith.constant 0.25 : f64
    %h = arith.constant true
    %no = arith.constant false
    %c500 = arith.constant 500 : index
    %sums = symm.alloc %ctx : memref<1xf64>
    scf.for %i = %c0 to %c500 step %c1 {
      gpu.launch_func @kernels::@scalars blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
        args(%a : i8, %b : i16, %c : i32, %d : i64, %e : index, %f : f32, %g : f64, %h : i1, %sums : memref<1xf64>)
      gpu.launch_func @kernels::@scalars blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
        args(%a : i8, %b : i16, %c : i32, %d : i64, %e : index, %f : f32, %g : f64, %no : i1, %sums : memref<1xf64>)
    }
    %got = memref.alloc() : memref<1xf64>
    gpu.memcpy %got, %sums : memref<1xf64>, memref<1xf64>
    %sum = memref.load %got[%c0] : memref<1xf64>
    // 500 (-1 - 20 - 300 - 4000 + 50000 + 0.5 + 0.25)
    %want = arith.constant 22839875.0 : f64
    %same = arith.cmpf oeq, %sum, %want : f64
    symm.check %same, "the scalars of 500 launches sum to {}, expected {}"(%sum, %want) : f64, f64
    memref.dealloc %got : memref<1xf64>
    return
  }

  func.func private @check_grid(%ctx: !symm.ctx, %width: index, %height: index, %depth: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0 : i32
    %thousand = arith.constant 1000 : i32
    %planes = arith.index_cast %depth : index to i32
    %thousands = arith.muli %planes, %thousand : i32
    %visits = symm.alloc %ctx : memref<4x4x4xi32>
    gpu.launch_func @kernels::@visit blocks in (%width, %height, %depth) threads in (%c2, %c2, %c2)
      args(%ctx : !symm.ctx, %visits : memref<4x4x4xi32>)
    %got = memref.alloc() : memref<4x4x4xi32>
    gpu.memcpy %got, %visits : memref<4x4x4xi32>, memref<4x4x4xi32>
    scf.for %z = %c0 to %c4 step %c1 {
      scf.for %y = %c0 to %c4 step %c1 {
        scf.for %x = %c0 to %c4 step %c1 {
          %in_x = arith.cmpi ult, %x, %width : index
          %in_y = arith.cmpi ult, %y, %height : index
          %in_z = arith.cmpi ult, %z, %depth : index
          %in_xy = arith.andi %in_x, %in_y : i1
          %in = arith.andi %in_xy, %in_z : i1
          %plane = arith.muli %z, %height : index
          %row = arith.addi %plane, %y : index
          %line = arith.muli %row, %width : index
          %sum = arith.addi %line, %x : index
          %place = arith.addi %sum, %c1 : index
          %count = arith.index_cast %place : index to i32
          %written = arith.addi %thousands, %count : i32
          %want = arith.select %in, %written, %zero : i32
          %v = memref.load %got[%z, %y, %x] : memref<4x4x4xi32>
          %same = arith.cmpi eq, %v, %want : i32
          symm.check %same, "block ({}, {}, {}) left {}, expected {}"(%x, %y, %z, %v, %want)
            : index, index, index, i32, i32
        }
      }
    }
    memref.dealloc %got : memref<4x4x4xi32>
    symm.free %ctx, %visits : memref<4x4x4xi32>
    return
  }
}
