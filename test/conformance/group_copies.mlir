// RUN: %run-all
// Copies of a group without a barrier of the program's (O3): each thread writes its part of a line, the group puts it,
// and each thread writes over it right after that; each thread reads what another one has fetched, and the group fetches
// over it right after that. A block does so, and each of its warps by itself.
//
// `rounds` is how often, `threads` how many a block has. The kernels say that these may be 1024: ptxas would give each
// thread more registers than that many can have.

!lines = memref<32x1024xi32>
!line = memref<1024xi32, strided<[1], offset: ?>>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // What rank `rank` has in place k of a line in a round: all of it is new in each round and for each line.
    func.func private @value(%rank: i32, %round: i64, %line: i32, %k: index) -> i32 {
      %c1024 = arith.constant 1024 : i32
      %c64 = arith.constant 64 : i32
      %r = arith.trunci %round : i64 to i32
      %i = arith.index_cast %k : index to i32
      %a = arith.muli %r, %c64 : i32
      %b = arith.addi %a, %rank : i32
      %c = arith.muli %b, %c64 : i32
      %d = arith.addi %c, %line : i32
      %e = arith.muli %d, %c1024 : i32
      %f = arith.addi %e, %i : i32
      return %f : i32
    }

    // Each of `n` threads writes its part.
    func.func private @fill(%to: !line, %rank: i32, %round: i64, %number: i32, %t: index, %n: index) {
      %c1024 = arith.constant 1024 : index
      scf.for %k = %t to %c1024 step %n {
        %v = func.call @value(%rank, %round, %number, %k) : (i32, i64, i32, index) -> i32
        memref.store %v, %to[%k] : !line
      }
      return
    }

    // Each of `n` threads reads, from the end, what others have written or fetched.
    func.func private @look(%from: !line, %rank: i32, %round: i64, %number: i32, %t: index, %n: index,
                            %wrong: memref<1xi32>) {
      %c0 = arith.constant 0 : index
      %c1023 = arith.constant 1023 : index
      %c1024 = arith.constant 1024 : index
      %one = arith.constant 1 : i32
      scf.for %i = %t to %c1024 step %n {
        %k = arith.subi %c1023, %i : index
        %got = memref.load %from[%k] : !line
        %want = func.call @value(%rank, %round, %number, %k) : (i32, i64, i32, index) -> i32
        %differs = arith.cmpi ne, %got, %want : i32
        scf.if %differs {
          memref.store %one, %wrong[%c0] : memref<1xi32>
        }
      }
      return
    }

    gpu.func @blocks(%ctx: !symm.ctx, %out: !lines, %in: !lines, %near: !lines, %flags: memref<32x2xi64>,
                     %wrong: memref<1xi32>, %rounds: i64) kernel attributes {nvvm.maxntid = array<i32: 1024, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %first = arith.constant 1 : i64
      %t = gpu.thread_id x
      %n = gpu.block_dim x
      %me = symm.rank %ctx
      %ranks = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %ranks : i32
      %before = arith.subi %ranks, %one : i32
      %back = arith.addi %me, %before : i32
      %left = arith.remui %back, %ranks : i32
      %a = memref.subview %out[%c0, 0] [1, 1024] [1, 1] : !lines to !line
      %b = memref.subview %out[%c1, 0] [1, 1024] [1, 1] : !lines to !line
      %c = memref.subview %out[%c2, 0] [1, 1024] [1, 1] : !lines to !line
      %in0 = memref.subview %in[%c0, 0] [1, 1024] [1, 1] : !lines to !line
      %in1 = memref.subview %in[%c1, 0] [1, 1024] [1, 1] : !lines to !line
      %got = memref.subview %near[%c0, 0] [1, 1024] [1, 1] : !lines to !line
      %end = arith.addi %rounds, %first : i64
      scf.for %round = %first to %end step %first : i64 {
        // Twice out of one line.
        func.call @fill(%a, %me, %round, %zero, %t, %n) : (!line, i32, i64, i32, index, index) -> ()
        symm.put %ctx, %a, %in0, %right group block : !line, !line
        func.call @fill(%a, %me, %round, %one, %t, %n) : (!line, i32, i64, i32, index, index) -> ()
        symm.put %ctx, %a, %in1, %right group block : !line, !line
        func.call @fill(%a, %me, %round, %two, %t, %n) : (!line, i32, i64, i32, index, index) -> ()
        func.call @fill(%b, %me, %round, %zero, %t, %n) : (!line, i32, i64, i32, index, index) -> ()
        symm.put_signal set %ctx, %b, %c, %flags[%c0, %c0], %round, %right group block
          : !line, !line, memref<32x2xi64>, i64
        symm.wait %ctx, %flags[%c0, %c0] ge %round group block : memref<32x2xi64>, i64
        func.call @look(%in0, %left, %round, %zero, %t, %n, %wrong)
          : (!line, i32, i64, i32, index, index, memref<1xi32>) -> ()
        func.call @look(%in1, %left, %round, %one, %t, %n, %wrong)
          : (!line, i32, i64, i32, index, index, memref<1xi32>) -> ()
        func.call @look(%c, %left, %round, %zero, %t, %n, %wrong)
          : (!line, i32, i64, i32, index, index, memref<1xi32>) -> ()
        // Twice into one line.
        symm.get %ctx, %a, %got, %left group block : !line, !line
        func.call @look(%got, %left, %round, %two, %t, %n, %wrong)
          : (!line, i32, i64, i32, index, index, memref<1xi32>) -> ()
        symm.copy %ctx, %b at %left, %got at %me group block : !line, !line
        func.call @look(%got, %left, %round, %zero, %t, %n, %wrong)
          : (!line, i32, i64, i32, index, index, memref<1xi32>) -> ()
        // The right neighbour has looked at all that is this rank's, and at all that this rank has put there.
        symm.signal set %ctx, %flags[%c0, %c1], %round, %left group block : memref<32x2xi64>, i64
        symm.wait %ctx, %flags[%c0, %c1] ge %round group block : memref<32x2xi64>, i64
      }
      gpu.return
    }

    // The same for each warp, with a line and flags of its own.
    gpu.func @warps(%ctx: !symm.ctx, %out: !lines, %in: !lines, %near: !lines, %flags: memref<32x2xi64>,
                    %wrong: memref<1xi32>, %rounds: i64) kernel attributes {nvvm.maxntid = array<i32: 1024, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %first = arith.constant 1 : i64
      %lane = gpu.lane_id
      %size = gpu.subgroup_size : index
      %warp = gpu.subgroup_id : index
      // The last warp may have fewer threads.
      %threads = gpu.block_dim x
      %start = arith.muli %warp, %size : index
      %rest = arith.subi %threads, %start : index
      %n = arith.minui %rest, %size : index
      %me = symm.rank %ctx
      %ranks = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %ranks : i32
      %before = arith.subi %ranks, %one : i32
      %back = arith.addi %me, %before : i32
      %left = arith.remui %back, %ranks : i32
      %a = memref.subview %out[%warp, 0] [1, 1024] [1, 1] : !lines to !line
      %in0 = memref.subview %in[%warp, 0] [1, 1024] [1, 1] : !lines to !line
      %got = memref.subview %near[%warp, 0] [1, 1024] [1, 1] : !lines to !line
      %end = arith.addi %rounds, %first : i64
      scf.for %round = %first to %end step %first : i64 {
        func.call @fill(%a, %me, %round, %zero, %lane, %n) : (!line, i32, i64, i32, index, index) -> ()
        symm.put %ctx, %a, %in0, %right group warp : !line, !line
        func.call @fill(%a, %me, %round, %one, %lane, %n) : (!line, i32, i64, i32, index, index) -> ()
        symm.signal set %ctx, %flags[%warp, %c0], %round, %right group warp : memref<32x2xi64>, i64
        symm.wait %ctx, %flags[%warp, %c0] ge %round group warp : memref<32x2xi64>, i64
        func.call @look(%in0, %left, %round, %zero, %lane, %n, %wrong)
          : (!line, i32, i64, i32, index, index, memref<1xi32>) -> ()
        symm.get %ctx, %a, %got, %left group warp : !line, !line
        func.call @look(%got, %left, %round, %one, %lane, %n, %wrong)
          : (!line, i32, i64, i32, index, index, memref<1xi32>) -> ()
        symm.signal set %ctx, %flags[%warp, %c1], %round, %left group warp : memref<32x2xi64>, i64
        symm.wait %ctx, %flags[%warp, %c1] ge %round group warp : memref<32x2xi64>, i64
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx, %rounds: i64 {symm.name = "rounds", symm.default = 20 : i64},
                  %threads64: i64 {symm.name = "threads", symm.default = 200 : i64}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %threads = arith.index_cast %threads64 : i64 to index
    %out = symm.alloc %ctx : !lines
    %in = symm.alloc %ctx : !lines
    %near = symm.alloc %ctx : !lines
    %flags = symm.alloc %ctx : memref<32x2xi64>
    %flags_of_warps = symm.alloc %ctx : memref<32x2xi64>
    %wrong = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@blocks blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%ctx : !symm.ctx, %out : !lines, %in : !lines, %near : !lines, %flags : memref<32x2xi64>,
           %wrong : memref<1xi32>, %rounds : i64)
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@warps blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%ctx : !symm.ctx, %out : !lines, %in : !lines, %near : !lines, %flags_of_warps : memref<32x2xi64>,
           %wrong : memref<1xi32>, %rounds : i64)
    %host = memref.alloc() : memref<1xi32>
    gpu.memcpy %host, %wrong : memref<1xi32>, memref<1xi32>
    %count = memref.load %host[%c0] : memref<1xi32>
    %right = arith.cmpi eq, %count, %zero : i32
    symm.check %right, "a line was not what its threads had written"
    memref.dealloc %host : memref<1xi32>
    return
  }
}
