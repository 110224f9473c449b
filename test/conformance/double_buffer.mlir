// RUN: %run-all
// Protocol: double buffering with epochs. In each of 101 epochs every rank passes what it holds, plus one, to its right
// neighbour: into the buffer of that epoch's parity, and not before the neighbour has read it two epochs ago.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Each block passes its own row. filled and drained hold the last epoch that was, beginning at -1.
    gpu.func @rotate(%ctx: !symm.ctx, %data: memref<3x32xi32>, %buffers: memref<2x3x32xi32>, %filled: memref<2x3xi64>,
                     %drained: memref<2x3xi64>) kernel {
      %c32 = arith.constant 32 : index
      %one = arith.constant 1 : i32
      %first = arith.constant 0 : i64
      %step = arith.constant 1 : i64
      %two = arith.constant 2 : i64
      %end = arith.constant 101 : i64
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %before = arith.subi %n, %one : i32
      %back = arith.addi %me, %before : i32
      %left = arith.remui %back, %n : i32
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      scf.for %epoch = %first to %end step %step : i64 {
        %parity64 = arith.remui %epoch, %two : i64
        %parity = arith.index_cast %parity64 : i64 to index
        %last = arith.subi %epoch, %two : i64
        symm.wait %ctx, %drained[%parity, %block] ge %last group block : memref<2x3xi64>, i64
        scf.for %i = %thread to %c32 step %threads {
          %v = memref.load %data[%block, %i] : memref<3x32xi32>
          %more = arith.addi %v, %one : i32
          symm.remote_store %ctx, %buffers[%parity, %block, %i], %more, %right : memref<2x3x32xi32>, i32
        }
        symm.signal set %ctx, %filled[%parity, %block], %epoch, %right group block : memref<2x3xi64>, i64
        symm.wait %ctx, %filled[%parity, %block] ge %epoch group block : memref<2x3xi64>, i64
        scf.for %i = %thread to %c32 step %threads {
          %v = memref.load %buffers[%parity, %block, %i] : memref<2x3x32xi32>
          memref.store %v, %data[%block, %i] : memref<3x32xi32>
        }
        symm.signal set %ctx, %drained[%parity, %block], %epoch, %left group block : memref<2x3xi64>, i64
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %epochs = arith.constant 101 : i32
    %minus_one = arith.constant -1 : i64
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %data = symm.alloc %ctx : memref<3x32xi32>
    %buffers = symm.alloc %ctx : memref<2x3x32xi32>
    %filled = symm.alloc %ctx : memref<2x3xi64>
    %drained = symm.alloc %ctx : memref<2x3xi64>

    // Element (i, j) of rank r begins as 10000 r + 1000 i + j.
    %host = memref.alloc() : memref<3x32xi32>
    scf.for %i = %c0 to %c3 step %c1 {
      scf.for %j = %c0 to %c32 step %c1 {
        %v = func.call @value(%me, %i, %j) : (i32, index, index) -> i32
        memref.store %v, %host[%i, %j] : memref<3x32xi32>
      }
    }
    %none = memref.alloc() : memref<2x3xi64>
    scf.for %i = %c0 to %c2 step %c1 {
      scf.for %j = %c0 to %c3 step %c1 {
        memref.store %minus_one, %none[%i, %j] : memref<2x3xi64>
      }
    }
    gpu.memcpy %data, %host : memref<3x32xi32>, memref<3x32xi32>
    gpu.memcpy %filled, %none : memref<2x3xi64>, memref<2x3xi64>
    gpu.memcpy %drained, %none : memref<2x3xi64>, memref<2x3xi64>
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@rotate blocks in (%c3, %c1, %c1) threads in (%c16, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<3x32xi32>, %buffers : memref<2x3x32xi32>, %filled : memref<2x3xi64>,
        %drained : memref<2x3xi64>)

    // 101 places to the right, and 101 more.
    %turns = arith.remui %epochs, %n : i32
    %back = arith.subi %n, %turns : i32
    %sum = arith.addi %me, %back : i32
    %origin = arith.remui %sum, %n : i32
    gpu.memcpy %host, %data : memref<3x32xi32>, memref<3x32xi32>
    scf.for %i = %c0 to %c3 step %c1 {
      scf.for %j = %c0 to %c32 step %c1 {
        %first = func.call @value(%origin, %i, %j) : (i32, index, index) -> i32
        %want = arith.addi %first, %epochs : i32
        %v = memref.load %host[%i, %j] : memref<3x32xi32>
        %same = arith.cmpi eq, %v, %want : i32
        symm.check %same, "element ({}, {}) is {}, expected {}"(%i, %j, %v, %want) : index, index, i32, i32
      }
    }
    memref.dealloc %host : memref<3x32xi32>
    memref.dealloc %none : memref<2x3xi64>
    return
  }

  func.func private @value(%rank: i32, %i: index, %j: index) -> i32 {
    %thousand = arith.constant 1000 : index
    %ten_thousand = arith.constant 10000 : i32
    %line = arith.muli %i, %thousand : index
    %place = arith.addi %line, %j : index
    %count = arith.index_cast %place : index to i32
    %start = arith.muli %rank, %ten_thousand : i32
    %v = arith.addi %start, %count : i32
    return %v : i32
  }
}
