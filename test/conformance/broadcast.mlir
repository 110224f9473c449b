// RUN: %run-all
// Protocol: broadcast from the last rank along a binomial tree. Who has the data sends it on to whoever is 1, 2, 4, …
// places further from the root; everyone else first waits for it.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @broadcast(%ctx: !symm.ctx, %data: memref<100xi32>, %arrived: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      // place: how far from the root, which is rank n - 1.
      %next = arith.addi %me, %one : i32
      %place = arith.remui %next, %n : i32
      %waits = arith.cmpi ne, %place, %zero : i32
      scf.if %waits {
        symm.wait %ctx, %arrived[%c0] eq %one group block : memref<1xi32>, i32
      }
      %end = scf.while (%reach = %one) : (i32) -> i32 {
        %more = arith.cmpi ult, %reach, %n : i32
        scf.condition(%more) %reach : i32
      } do {
      ^bb0(%reach: i32):
        %target = arith.addi %place, %reach : i32
        %has = arith.cmpi ult, %place, %reach : i32
        %exists = arith.cmpi ult, %target, %n : i32
        %sends = arith.andi %has, %exists : i1
        scf.if %sends {
          %ahead = arith.addi %me, %reach : i32
          %peer = arith.remui %ahead, %n : i32
          symm.put_signal set %ctx, %data, %data, %arrived[%c0], %one, %peer group block
            : memref<100xi32>, memref<100xi32>, memref<1xi32>, i32
        }
        %twice = arith.addi %reach, %reach : i32
        scf.yield %twice : i32
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c100 = arith.constant 100 : index
    %one = arith.constant 1 : i32
    %thousand = arith.constant 1000 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %root = arith.subi %n, %one : i32
    %mine = arith.muli %me, %thousand : i32
    %roots = arith.muli %root, %thousand : i32
    %data = symm.alloc %ctx : memref<100xi32>
    %arrived = symm.alloc %ctx : memref<1xi32>

    // Element i of rank r is 1000 r + i.
    %host = memref.alloc() : memref<100xi32>
    scf.for %i = %c0 to %c100 step %c1 {
      %count = arith.index_cast %i : index to i32
      %v = arith.addi %mine, %count : i32
      memref.store %v, %host[%i] : memref<100xi32>
    }
    gpu.memcpy %data, %host : memref<100xi32>, memref<100xi32>
    // Or data from the root would come before a rank's own.
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@broadcast blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<100xi32>, %arrived : memref<1xi32>)

    gpu.memcpy %host, %data : memref<100xi32>, memref<100xi32>
    scf.for %i = %c0 to %c100 step %c1 {
      %count = arith.index_cast %i : index to i32
      %want = arith.addi %roots, %count : i32
      %v = memref.load %host[%i] : memref<100xi32>
      %same = arith.cmpi eq, %v, %want : i32
      symm.check %same, "element {} is {}, expected {}"(%i, %v, %want) : index, i32, i32
    }
    memref.dealloc %host : memref<100xi32>
    return
  }
}
