// RUN: %run-all
// Protocol: exclusive prefix sums over the ranks, along a chain. A rank waits for the sums of those before it, keeps
// them, and passes them on with its own part added. Each of 8 blocks does so for its own 32 elements.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @scan(%ctx: !symm.ctx, %data: memref<8x32xi64>, %sums: memref<8x32xi64>, %arrived: memref<8xi32>) kernel {
      %c32 = arith.constant 32 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %right = arith.addi %me, %one : i32
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %waits = arith.cmpi ne, %me, %zero : i32
      scf.if %waits {
        symm.wait %ctx, %arrived[%block] eq %one group warp : memref<8xi32>, i32
      }
      %sends = arith.cmpi ult, %right, %n : i32
      scf.if %sends {
        scf.for %i = %thread to %c32 step %threads {
          %a = memref.load %sums[%block, %i] : memref<8x32xi64>
          %b = memref.load %data[%block, %i] : memref<8x32xi64>
          %sum = arith.addi %a, %b : i64
          symm.remote_store %ctx, %sums[%block, %i], %sum, %right : memref<8x32xi64>, i64
        }
        symm.signal set %ctx, %arrived[%block], %one, %right group block : memref<8xi32>, i32
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %me = symm.rank %ctx
    %rank = arith.extsi %me : i32 to i64
    %factor = arith.addi %rank, %one : i64
    // The factors of the ranks before this one sum to r (r + 1) / 2.
    %product = arith.muli %rank, %factor : i64
    %factors = arith.divui %product, %two : i64
    %data = symm.alloc %ctx : memref<8x32xi64>
    %sums = symm.alloc %ctx : memref<8x32xi64>
    %arrived = symm.alloc %ctx : memref<8xi32>

    // Element i of rank r is (r + 1) (i + 1).
    %host = memref.alloc() : memref<8x32xi64>
    scf.for %i = %c0 to %c8 step %c1 {
      scf.for %j = %c0 to %c32 step %c1 {
        %line = arith.muli %i, %c32 : index
        %sum = arith.addi %line, %j : index
        %place = arith.addi %sum, %c1 : index
        %count = arith.index_cast %place : index to i64
        %v = arith.muli %count, %factor : i64
        memref.store %v, %host[%i, %j] : memref<8x32xi64>
      }
    }
    gpu.memcpy %data, %host : memref<8x32xi64>, memref<8x32xi64>
    gpu.launch_func @kernels::@scan blocks in (%c8, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<8x32xi64>, %sums : memref<8x32xi64>, %arrived : memref<8xi32>)

    gpu.memcpy %host, %sums : memref<8x32xi64>, memref<8x32xi64>
    scf.for %i = %c0 to %c8 step %c1 {
      scf.for %j = %c0 to %c32 step %c1 {
        %line = arith.muli %i, %c32 : index
        %sum = arith.addi %line, %j : index
        %place = arith.addi %sum, %c1 : index
        %count = arith.index_cast %place : index to i64
        %want = arith.muli %count, %factors : i64
        %v = memref.load %host[%i, %j] : memref<8x32xi64>
        %same = arith.cmpi eq, %v, %want : i64
        symm.check %same, "element ({}, {}) is {}, expected {}"(%i, %j, %v, %want) : index, index, i64, i64
      }
    }
    memref.dealloc %host : memref<8x32xi64>
    return
  }
}
