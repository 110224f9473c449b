// RUN: %run-all
// Protocol: reduction to rank 0 along a binomial tree. In round k a rank whose bit k is set sends its sum to the rank
// without that bit and is done; the other waits for it, if it exists, and adds it to its own.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // inbox[k] and arrived[k] belong to round k; 7 rounds do for 128 ranks.
    gpu.func @reduce(%ctx: !symm.ctx, %data: memref<100xi64>, %inbox: memref<7x100xi64>,
                     %arrived: memref<7xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c100 = arith.constant 100 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %true = arith.constant true
      %end:3 = scf.while (%bit = %one, %round = %c0, %takes_part = %true) : (i32, index, i1) -> (i32, index, i1) {
        %more = arith.cmpi ult, %bit, %n : i32
        %goes_on = arith.andi %more, %takes_part : i1
        scf.condition(%goes_on) %bit, %round, %takes_part : i32, index, i1
      } do {
      ^bb0(%bit: i32, %round: index, %takes_part: i1):
        %mine = arith.andi %me, %bit : i32
        %receives = arith.cmpi eq, %mine, %zero : i32
        scf.if %receives {
          %child = arith.addi %me, %bit : i32
          %exists = arith.cmpi ult, %child, %n : i32
          scf.if %exists {
            symm.wait %ctx, %arrived[%round] eq %one group block : memref<7xi32>, i32
            scf.for %i = %thread to %c100 step %threads {
              %a = memref.load %data[%i] : memref<100xi64>
              %b = memref.load %inbox[%round, %i] : memref<7x100xi64>
              %sum = arith.addi %a, %b : i64
              memref.store %sum, %data[%i] : memref<100xi64>
            }
          }
        } else {
          %parent = arith.subi %me, %bit : i32
          %dst = memref.subview %inbox[%round, 0] [1, 100] [1, 1]
            : memref<7x100xi64> to memref<100xi64, strided<[1], offset: ?>>
          symm.put_signal set %ctx, %data, %dst, %arrived[%round], %one, %parent group block
            : memref<100xi64>, memref<100xi64, strided<[1], offset: ?>>, memref<7xi32>, i32
        }
        %twice = arith.addi %bit, %bit : i32
        %round_next = arith.addi %round, %c1 : index
        scf.yield %twice, %round_next, %receives : i32, index, i1
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c100 = arith.constant 100 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %thousand = arith.constant 1000 : i64
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %rank = arith.extsi %me : i32 to i64
    %ranks = arith.extsi %n : i32 to i64
    %factor = arith.addi %rank, %one : i64
    %data = symm.alloc %ctx : memref<100xi64>
    %inbox = symm.alloc %ctx : memref<7x100xi64>
    %arrived = symm.alloc %ctx : memref<7xi32>

    // Element i of rank r is (r + 1) (1000 + i).
    %host = memref.alloc() : memref<100xi64>
    scf.for %i = %c0 to %c100 step %c1 {
      %count = arith.index_cast %i : index to i64
      %base = arith.addi %count, %thousand : i64
      %v = arith.muli %base, %factor : i64
      memref.store %v, %host[%i] : memref<100xi64>
    }
    gpu.memcpy %data, %host : memref<100xi64>, memref<100xi64>
    gpu.launch_func @kernels::@reduce blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<100xi64>, %inbox : memref<7x100xi64>, %arrived : memref<7xi32>)

    %is_root = arith.cmpi eq, %me, %zero : i32
    scf.if %is_root {
      // The factors sum to n (n + 1) / 2.
      %ranks_next = arith.addi %ranks, %one : i64
      %product = arith.muli %ranks, %ranks_next : i64
      %factors = arith.divui %product, %two : i64
      gpu.memcpy %host, %data : memref<100xi64>, memref<100xi64>
      scf.for %i = %c0 to %c100 step %c1 {
        %count = arith.index_cast %i : index to i64
        %base = arith.addi %count, %thousand : i64
        %want = arith.muli %base, %factors : i64
        %v = memref.load %host[%i] : memref<100xi64>
        %same = arith.cmpi eq, %v, %want : i64
        symm.check %same, "element {} is {}, expected {}"(%i, %v, %want) : index, i64, i64
      }
    }
    memref.dealloc %host : memref<100xi64>
    return
  }
}
