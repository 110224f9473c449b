// The last rank stays in one place, until test/device/faults.py kills it there: before a kernel (stage 0), in it (1) or
// after it (2). The others wait for it, in the kernel or at the barrier of the hosts.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Each rank waits for its right neighbour's signal; the last one sends none in stage 1, and waits itself.
    gpu.func @exchange(%ctx: !symm.ctx, %flag: memref<2xi32>, %stays: i1) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %before = arith.subi %n, %one : i32
      %back = arith.addi %me, %before : i32
      %left = arith.remui %back, %n : i32
      scf.if %stays {
        symm.wait %ctx, %flag[%c1] eq %one group block : memref<2xi32>, i32
      }
      symm.signal set %ctx, %flag[%c0], %one, %left group block : memref<2xi32>, i32
      symm.wait %ctx, %flag[%c0] eq %one group block : memref<2xi32>, i32
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx, %stage: i64 {symm.name = "stage", symm.default = 0 : i64}) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %one32 = arith.constant 1 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %next = arith.addi %me, %one32 : i32
    %is_last = arith.cmpi eq, %next, %n : i32
    %is_0 = arith.cmpi eq, %stage, %zero : i64
    %is_1 = arith.cmpi eq, %stage, %one : i64
    %is_2 = arith.cmpi eq, %stage, %two : i64
    %flag = symm.alloc %ctx : memref<2xi32>
    %stays_0 = arith.andi %is_last, %is_0 : i1
    %stays_1 = arith.andi %is_last, %is_1 : i1
    %stays_2 = arith.andi %is_last, %is_2 : i1
    symm.barrier_all %ctx
    scf.if %stays_0 {
      symm.print "stage {}"(%stage) : i64
      func.call @stay(%flag) : (memref<2xi32>) -> ()
    }
    scf.if %is_1 {
      symm.print "stage {}"(%stage) : i64
    }
    gpu.launch_func @kernels::@exchange blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%ctx : !symm.ctx, %flag : memref<2xi32>, %stays_1 : i1)
    scf.if %stays_2 {
      symm.print "stage {}"(%stage) : i64
      func.call @stay(%flag) : (memref<2xi32>) -> ()
    }
    symm.barrier_all %ctx
    return
  }

  // Copies for hours.
  func.func private @stay(%heap: memref<2xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %hours = arith.constant 1000000000000 : index
    %copy = memref.alloc() : memref<2xi32>
    scf.for %i = %c0 to %hours step %c1 {
      %round = arith.index_cast %i : index to i32
      memref.store %round, %copy[%c1] : memref<2xi32>
      gpu.memcpy %heap, %copy : memref<2xi32>, memref<2xi32>
    }
    memref.dealloc %copy : memref<2xi32>
    return
  }
}
