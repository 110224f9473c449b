// RUN: %run-all
// RUN: %run-all --arg m=13 --arg k=29 --arg n=17
//
// C = A B on shards: every rank has some rows of A and, at the start, some rows of B. It pushes its rows of B to all
// others, with a signal after them, and multiplies with each shard as soon as that has come, its own first: the sends
// of the others are hidden behind the work on what is already here. Rank r then has its rows of C.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // a: this rank's rows of A; b: all of B, complete in this rank's rows; arrived[s] = 1 when shard s of b has come.
    gpu.func @multiply(%ctx: !symm.ctx, %a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>,
                       %arrived: memref<?xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %me32 = symm.rank %ctx
      %ranks32 = symm.num_ranks %ctx
      %me = arith.index_cast %me32 : i32 to index
      %ranks = arith.index_cast %ranks32 : i32 to index
      %rows = memref.dim %c, %c0 : memref<?x?xf32>
      %columns = memref.dim %c, %c1 : memref<?x?xf32>
      %inner = memref.dim %b, %c0 : memref<?x?xf32>
      %block = gpu.block_id x
      %blocks = gpu.grid_dim x
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x

      %my_start = func.call @shard(%me, %inner, %ranks) : (index, index, index) -> index
      %next = arith.addi %me, %c1 : index
      %my_end = func.call @shard(%next, %inner, %ranks) : (index, index, index) -> index
      %my_size = arith.subi %my_end, %my_start : index
      %mine = memref.subview %b[%my_start, 0] [%my_size, %columns] [1, 1]
        : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
      %first = arith.addi %block, %c1 : index
      scf.for %i = %first to %ranks step %blocks {
        %sum = arith.addi %me, %i : index
        %p = arith.remui %sum, %ranks : index
        %peer = arith.index_cast %p : index to i32
        symm.put_signal set %ctx, %mine, %mine, %arrived[%me], %one, %peer group block
          : memref<?x?xf32, strided<[?, 1], offset: ?>>, memref<?x?xf32, strided<[?, 1], offset: ?>>, memref<?xi32>, i32
      }

      // Shard me, which is here, then those that come from the left: that is the order in which they were sent.
      scf.for %i = %c0 to %ranks step %c1 {
        %ahead = arith.addi %me, %ranks : index
        %sum = arith.subi %ahead, %i : index
        %s = arith.remui %sum, %ranks : index
        %comes = arith.cmpi ne, %s, %me : index
        scf.if %comes {
          symm.wait %ctx, %arrived[%s] eq %one group block : memref<?xi32>, i32
        }
        %start = func.call @shard(%s, %inner, %ranks) : (index, index, index) -> index
        %s_next = arith.addi %s, %c1 : index
        %end = func.call @shard(%s_next, %inner, %ranks) : (index, index, index) -> index
        scf.for %row = %block to %rows step %blocks {
          scf.for %column = %thread to %columns step %threads {
            %before = memref.load %c[%row, %column] : memref<?x?xf32>
            %after = scf.for %k = %start to %end step %c1 iter_args(%total = %before) -> f32 {
              %x = memref.load %a[%row, %k] : memref<?x?xf32>
              %y = memref.load %b[%k, %column] : memref<?x?xf32>
              %product = arith.mulf %x, %y : f32
              %total_next = arith.addf %total, %product : f32
              scf.yield %total_next : f32
            }
            memref.store %after, %c[%row, %column] : memref<?x?xf32>
          }
        }
      }
      gpu.return
    }

    func.func private @shard(%rank: index, %size: index, %ranks: index) -> index {
      %product = arith.muli %rank, %size : index
      %first = arith.divui %product, %ranks : index
      return %first : index
    }
  }

  func.func @main(%ctx: !symm.ctx, %m64: i64 {symm.name = "m", symm.default = 64 : i64},
                  %k64: i64 {symm.name = "k", symm.default = 96 : i64},
                  %n64: i64 {symm.name = "n", symm.default = 80 : i64}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %m = arith.index_cast %m64 : i64 to index
    %k = arith.index_cast %k64 : i64 to index
    %n = arith.index_cast %n64 : i64 to index
    %me32 = symm.rank %ctx
    %ranks32 = symm.num_ranks %ctx
    %me = arith.index_cast %me32 : i32 to index
    %ranks = arith.index_cast %ranks32 : i32 to index
    %next = arith.addi %me, %c1 : index
    %m_start = func.call @shard(%me, %m, %ranks) : (index, index, index) -> index
    %m_end = func.call @shard(%next, %m, %ranks) : (index, index, index) -> index
    %rows = arith.subi %m_end, %m_start : index
    %k_start = func.call @shard(%me, %k, %ranks) : (index, index, index) -> index
    %k_end = func.call @shard(%next, %k, %ranks) : (index, index, index) -> index

    // A and C are a rank's own business, but every rank has to allocate as much of the heap.
    %most = arith.ceildivui %m, %ranks : index
    %a_heap = symm.alloc %ctx(%most, %k) : memref<?x?xf32>
    %b = symm.alloc %ctx(%k, %n) : memref<?x?xf32>
    %c_heap = symm.alloc %ctx(%most, %n) : memref<?x?xf32>
    %arrived = symm.alloc %ctx(%ranks) : memref<?xi32>

    %host_a = memref.alloc(%most, %k) : memref<?x?xf32>
    scf.for %i = %c0 to %rows step %c1 {
      %row = arith.addi %m_start, %i : index
      scf.for %j = %c0 to %k step %c1 {
        %v = func.call @element_a(%row, %j) : (index, index) -> f32
        memref.store %v, %host_a[%i, %j] : memref<?x?xf32>
      }
    }
    // Of B only this rank's rows; the others hold what must not be used.
    %host_b = memref.alloc(%k, %n) : memref<?x?xf32>
    %nonsense = arith.constant 1.0e6 : f32
    scf.for %i = %c0 to %k step %c1 {
      %after = arith.cmpi uge, %i, %k_start : index
      %before = arith.cmpi ult, %i, %k_end : index
      %mine = arith.andi %after, %before : i1
      scf.for %j = %c0 to %n step %c1 {
        %element = func.call @element_b(%i, %j) : (index, index) -> f32
        %v = arith.select %mine, %element, %nonsense : f32
        memref.store %v, %host_b[%i, %j] : memref<?x?xf32>
      }
    }
    gpu.memcpy %a_heap, %host_a : memref<?x?xf32>, memref<?x?xf32>
    gpu.memcpy %b, %host_b : memref<?x?xf32>, memref<?x?xf32>
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@multiply blocks in (%c4, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%ctx : !symm.ctx, %a_heap : memref<?x?xf32>, %b : memref<?x?xf32>, %c_heap : memref<?x?xf32>,
        %arrived : memref<?xi32>)

    // Small whole numbers: every order of adding gives the same sum.
    %host_c = memref.alloc(%most, %n) : memref<?x?xf32>
    gpu.memcpy %host_c, %c_heap : memref<?x?xf32>, memref<?x?xf32>
    scf.for %i = %c0 to %rows step %c1 {
      %row = arith.addi %m_start, %i : index
      scf.for %j = %c0 to %n step %c1 {
        %want = scf.for %l = %c0 to %k step %c1 iter_args(%sum = %zero) -> f32 {
          %x = func.call @element_a(%row, %l) : (index, index) -> f32
          %y = func.call @element_b(%l, %j) : (index, index) -> f32
          %product = arith.mulf %x, %y : f32
          %sum_next = arith.addf %sum, %product : f32
          scf.yield %sum_next : f32
        }
        %v = memref.load %host_c[%i, %j] : memref<?x?xf32>
        %same = arith.cmpf oeq, %v, %want : f32
        symm.check %same, "C({}, {}) is {}, expected {}"(%row, %j, %v, %want) : index, index, f32, f32
      }
    }
    memref.dealloc %host_a : memref<?x?xf32>
    memref.dealloc %host_b : memref<?x?xf32>
    memref.dealloc %host_c : memref<?x?xf32>
    return
  }

  // The first of the rows that are a rank's: rank * size / ranks.
  func.func private @shard(%rank: index, %size: index, %ranks: index) -> index {
    %product = arith.muli %rank, %size : index
    %first = arith.divui %product, %ranks : index
    return %first : index
  }

  // (i + 2 j) mod 7 - 3
  func.func private @element_a(%i: index, %j: index) -> f32 {
    %two = arith.constant 2 : index
    %seven = arith.constant 7 : index
    %three = arith.constant 3 : i32
    %twice = arith.muli %j, %two : index
    %sum = arith.addi %i, %twice : index
    %rest = arith.remui %sum, %seven : index
    %word = arith.index_cast %rest : index to i32
    %v = arith.subi %word, %three : i32
    %f = arith.sitofp %v : i32 to f32
    return %f : f32
  }

  // (3 i + j) mod 5 - 2
  func.func private @element_b(%i: index, %j: index) -> f32 {
    %three = arith.constant 3 : index
    %five = arith.constant 5 : index
    %two = arith.constant 2 : i32
    %thrice = arith.muli %i, %three : index
    %sum = arith.addi %thrice, %j : index
    %rest = arith.remui %sum, %five : index
    %word = arith.index_cast %rest : index to i32
    %v = arith.subi %word, %two : i32
    %f = arith.sitofp %v : i32 to f32
    return %f : f32
  }
}
