// RUN: %run-all
// Divergence: every thread stores to the peer, 16 threads store again in a branch, the block calls a function that
// signals and waits as a group, and 16 threads store once more; each warp does the same with flags of its own. LLVM may
// not put the call, or what it inlines of it, into the arms of the branches. Each round checks on the device what the
// left neighbour has stored, and counts what is wrong; blocks of 1, 16, 33, 64, 96, 256 and 1024 threads. (On the CPU a
// block is one thread.)

module attributes {gpu.container_module} {
  gpu.module @kernels {
    func.func private @exchange(%ctx: !symm.ctx, %arrived: memref<1xi64>, %round: i64, %right: i32)
        attributes {no_inline} {
      %c0 = arith.constant 0 : index
      symm.signal set %ctx, %arrived[%c0], %round, %right group block : memref<1xi64>, i64
      symm.wait %ctx, %arrived[%c0] ge %round group block : memref<1xi64>, i64
      return
    }

    // As above, for each warp, which has flags of its own.
    func.func private @exchange_by_warp(%ctx: !symm.ctx, %arrived: memref<64xi64>, %round: i64, %right: i32)
        attributes {no_inline} {
      %warp = gpu.subgroup_id : index
      symm.signal set %ctx, %arrived[%warp], %round, %right group warp : memref<64xi64>, i64
      symm.wait %ctx, %arrived[%warp] ge %round group warp : memref<64xi64>, i64
      return
    }

    // `all`: a place for every thread; `early` and `late`: for the first 16. What is read comes from the left.
    gpu.func @rounds(%ctx: !symm.ctx, %all: memref<1024xi64>, %early: memref<16xi64>, %late: memref<16xi64>,
        %arrived: memref<1xi64>, %read: memref<1xi64>, %wrong: memref<1xi64>, %start: i64, %end: i64) kernel {
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %one = arith.constant 1 : i64
      %zero = arith.constant 0 : i64
      %one_rank = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one_rank : i32
      %right = arith.remui %next, %n : i32
      %before = arith.subi %next, %one_rank : i32
      %up = arith.addi %before, %n : i32
      %down = arith.subi %up, %one_rank : i32
      %left = arith.remui %down, %n : i32
      %thread = gpu.thread_id x
      %first = arith.cmpi ult, %thread, %c16 : index
      scf.for %round = %start to %end step %one : i64 {
        symm.remote_store %ctx, %all[%thread], %round, %right : memref<1024xi64>, i64
        scf.if %first {
          symm.remote_store %ctx, %early[%thread], %round, %right : memref<16xi64>, i64
        }
        func.call @exchange(%ctx, %arrived, %round, %right) : (!symm.ctx, memref<1xi64>, i64, i32) -> ()
        scf.if %first {
          symm.remote_store %ctx, %late[%thread], %round, %right : memref<16xi64>, i64
        }
        // What came before the signal is there; what came after it is of this round or of the one before.
        %a = memref.load %all[%thread] : memref<1024xi64>
        %a_wrong = arith.cmpi ne, %a, %round : i64
        %e_wrong = scf.if %first -> i1 {
          %e = memref.load %early[%thread] : memref<16xi64>
          %is_old = arith.cmpi ne, %e, %round : i64
          scf.yield %is_old : i1
        } else {
          %never = arith.constant false
          scf.yield %never : i1
        }
        %is_wrong = arith.ori %a_wrong, %e_wrong : i1
        scf.if %is_wrong {
          %unused = symm.atomic_rmw add %ctx, %wrong[%c0], %one, %me : memref<1xi64>, i64
        }
        // The left neighbour may store again.
        symm.signal set %ctx, %read[%c0], %round, %left group block : memref<1xi64>, i64
        symm.wait %ctx, %read[%c0] ge %round group block : memref<1xi64>, i64
      }
      gpu.return
    }

    gpu.func @rounds_by_warp(%ctx: !symm.ctx, %all: memref<1024xi64>, %early: memref<1024xi64>,
        %late: memref<1024xi64>, %arrived: memref<64xi64>, %read: memref<64xi64>, %wrong: memref<1xi64>,
        %start: i64, %end: i64) kernel {
      %c0 = arith.constant 0 : index
      %c5 = arith.constant 5 : index
      %one = arith.constant 1 : i64
      %one_rank = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one_rank : i32
      %right = arith.remui %next, %n : i32
      %up = arith.addi %me, %n : i32
      %down = arith.subi %up, %one_rank : i32
      %left = arith.remui %down, %n : i32
      %thread = gpu.thread_id x
      %warp = gpu.subgroup_id : index
      %lane = gpu.lane_id
      %first = arith.cmpi ult, %lane, %c5 : index
      scf.for %round = %start to %end step %one : i64 {
        symm.remote_store %ctx, %all[%thread], %round, %right : memref<1024xi64>, i64
        scf.if %first {
          symm.remote_store %ctx, %early[%thread], %round, %right : memref<1024xi64>, i64
        }
        func.call @exchange_by_warp(%ctx, %arrived, %round, %right) : (!symm.ctx, memref<64xi64>, i64, i32) -> ()
        scf.if %first {
          symm.remote_store %ctx, %late[%thread], %round, %right : memref<1024xi64>, i64
        }
        %e_wrong = scf.if %first -> i1 {
          %e = memref.load %early[%thread] : memref<1024xi64>
          %is_old = arith.cmpi ne, %e, %round : i64
          scf.yield %is_old : i1
        } else {
          %never = arith.constant false
          scf.yield %never : i1
        }
        %a = memref.load %all[%thread] : memref<1024xi64>
        %a_wrong = arith.cmpi ne, %a, %round : i64
        %is_wrong = arith.ori %a_wrong, %e_wrong : i1
        scf.if %is_wrong {
          %unused = symm.atomic_rmw add %ctx, %wrong[%c0], %one, %me : memref<1xi64>, i64
        }
        symm.signal set %ctx, %read[%warp], %round, %left group warp : memref<64xi64>, i64
        symm.wait %ctx, %read[%warp] ge %round group warp : memref<64xi64>, i64
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx, %rounds: i64 {symm.name = "rounds", symm.default = 500 : i64}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %zero = arith.constant 0 : i64
    %start = arith.constant 1 : i64
    %all = symm.alloc %ctx : memref<1024xi64>
    %early = symm.alloc %ctx : memref<16xi64>
    %late = symm.alloc %ctx : memref<16xi64>
    %early_wide = symm.alloc %ctx : memref<1024xi64>
    %late_wide = symm.alloc %ctx : memref<1024xi64>
    %arrived = symm.alloc %ctx : memref<1xi64>
    %read = symm.alloc %ctx : memref<1xi64>
    %arrived_by_warp = symm.alloc %ctx : memref<64xi64>
    %read_by_warp = symm.alloc %ctx : memref<64xi64>
    %wrong = symm.alloc %ctx : memref<1xi64>
    %count = memref.alloc() : memref<1xi64>
    %zeros = memref.alloc() : memref<64xi64>
    linalg.fill ins(%zero : i64) outs(%zeros : memref<64xi64>)
    memref.store %zero, %count[%c0] : memref<1xi64>
    gpu.memcpy %arrived, %count : memref<1xi64>, memref<1xi64>
    gpu.memcpy %read, %count : memref<1xi64>, memref<1xi64>
    gpu.memcpy %wrong, %count : memref<1xi64>, memref<1xi64>
    gpu.memcpy %arrived_by_warp, %zeros : memref<64xi64>, memref<64xi64>
    gpu.memcpy %read_by_warp, %zeros : memref<64xi64>, memref<64xi64>
    symm.barrier_all %ctx
    %sizes = memref.alloc() : memref<7xindex>
    %s0 = arith.constant 1 : index
    %s1 = arith.constant 16 : index
    %s2 = arith.constant 33 : index
    %s3 = arith.constant 64 : index
    %s4 = arith.constant 96 : index
    %s5 = arith.constant 256 : index
    %s6 = arith.constant 1024 : index
    %i1 = arith.constant 1 : index
    %i2 = arith.constant 2 : index
    %i3 = arith.constant 3 : index
    %i4 = arith.constant 4 : index
    %i5 = arith.constant 5 : index
    %i6 = arith.constant 6 : index
    memref.store %s0, %sizes[%c0] : memref<7xindex>
    memref.store %s1, %sizes[%i1] : memref<7xindex>
    memref.store %s2, %sizes[%i2] : memref<7xindex>
    memref.store %s3, %sizes[%i3] : memref<7xindex>
    memref.store %s4, %sizes[%i4] : memref<7xindex>
    memref.store %s5, %sizes[%i5] : memref<7xindex>
    memref.store %s6, %sizes[%i6] : memref<7xindex>
    // Rounds are numbered on, so that no flag goes back.
    scf.for %i = %c0 to %c7 step %c1 {
      %threads = memref.load %sizes[%i] : memref<7xindex>
      %number = arith.index_cast %i : index to i64
      %done = arith.muli %number, %rounds : i64
      %begin = arith.addi %done, %start : i64
      %end = arith.addi %begin, %rounds : i64
      gpu.launch_func @kernels::@rounds blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%ctx : !symm.ctx, %all : memref<1024xi64>, %early : memref<16xi64>, %late : memref<16xi64>,
             %arrived : memref<1xi64>, %read : memref<1xi64>, %wrong : memref<1xi64>, %begin : i64, %end : i64)
      symm.barrier_all %ctx
      gpu.launch_func @kernels::@rounds_by_warp blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%ctx : !symm.ctx, %all : memref<1024xi64>, %early_wide : memref<1024xi64>,
             %late_wide : memref<1024xi64>, %arrived_by_warp : memref<64xi64>, %read_by_warp : memref<64xi64>,
             %wrong : memref<1xi64>, %begin : i64, %end : i64)
      symm.barrier_all %ctx
      gpu.memcpy %count, %wrong : memref<1xi64>, memref<1xi64>
      %v = memref.load %count[%c0] : memref<1xi64>
      %none = arith.cmpi eq, %v, %zero : i64
      symm.check %none, "blocks of {} threads: {} values were not of their round"(%threads, %v) : index, i64
    }
    memref.dealloc %count : memref<1xi64>
    memref.dealloc %zeros : memref<64xi64>
    memref.dealloc %sizes : memref<7xindex>
    return
  }
}
