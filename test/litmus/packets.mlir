// RUN: %run-all
// RANKS: 2 4
// Packets (P1). Two actors write the same line at once, with an epoch and data of their own each; a third one looks at
// it all the time. What it finds of an epoch is that epoch's data, never the other's, nor half of each. In the second
// variant one actor writes three lines, and who waits for them has all of them of one epoch.
// README.md: rounds, instances, stress, and how the outcomes are printed.

!lines = memref<64x64x12xi32>
!gates = memref<3x64xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @rounds(%ctx: !symm.ctx, %variant: index, %e: i32, %instances: index, %lines: !lines, %gate: !gates,
                     %seen: memref<3xi64>, %done: memref<1xi32>, %src: memref<65536xi32>, %dst: memref<65536xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c64 = arith.constant 64 : index
      %looks = arith.constant 64 : index
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %per_launch = arith.constant 64 : i32
      %more = arith.constant 1 : i64
      %brief = arith.constant 2000 : i64
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %block = gpu.block_id x
      %actor = arith.remui %block, %c3 : index
      %inst = arith.divui %block, %c3 : index
      // Actor a of an instance is on the rank a places right of the instance's home, which has the lines.
      %place = arith.index_cast %actor : index to i32
      %cycle = arith.muli %n, %two : i32
      %up = arith.addi %me, %cycle : i32
      %down = arith.subi %up, %place : i32
      %home = arith.remui %down, %n : i32
      %acts = arith.cmpi ult, %inst, %instances : index
      scf.if %acts {
        %e_old = arith.subi %e, %one : i32
        %rounds = arith.muli %e_old, %per_launch : i32
        scf.for %i = %c0 to %c64 step %c1 {
          // All actors of the instance begin a round at about the same time.
          %round = arith.index_cast %i : index to i32
          %before = arith.addi %rounds, %round : i32
          %count = arith.addi %before, %one : i32
          %told = arith.muli %count, %two : i32
          scf.for %other = %c0 to %c3 step %c1 {
            %is_other = arith.cmpi ne, %actor, %other : index
            scf.if %is_other {
              %far = arith.index_cast %other : index to i32
              %at = arith.addi %home, %far : i32
              %to = arith.remui %at, %n : i32
              symm.signal add %ctx, %gate[%other, %inst], %one, %to group block : !gates, i32
            }
          }
          symm.wait %ctx, %gate[%actor, %inst] ge %told group block : !gates, i32
          // Epochs 2e and 2e + 1; the data are a product that has all of its bytes of the epoch.
          %twice = arith.muli %e, %two : i32
          %writer = arith.subi %place, %one : i32
          %epoch = arith.addi %twice, %writer : i32
          %is_reader = arith.cmpi eq, %actor, %c0 : index
          %is_first = arith.cmpi eq, %actor, %c1 : index
          %is_torn = arith.cmpi eq, %variant, %c0 : index
          scf.if %is_torn {
            scf.if %is_reader {
              scf.for %look = %c0 to %looks step %c1 {
                scf.for %which = %c0 to %c2 step %c1 {
                  %which32 = arith.index_cast %which : index to i32
                  %asked = arith.addi %twice, %which32 : i32
                  %got, %valid = symm.try_packet %ctx, %lines[%inst, %i, %c0], %asked : !lines -> i64, i1
                  %wanted = func.call @data(%asked) : (i32) -> i64
                  %same = arith.cmpi eq, %got, %wanted : i64
                  %outcome = arith.select %same, %c1, %c2 : index
                  %bin = arith.select %valid, %outcome, %c0 : index
                  %old = symm.atomic_rmw add %ctx, %seen[%bin], %more, %me sem relaxed : memref<3xi64>, i64
                }
              }
            } else {
              %mine = func.call @data(%epoch) : (i32) -> i64
              symm.put_packet %ctx, %lines[%inst, %i, %c0], %mine, %epoch, %home : !lines, i64
            }
          } else {
            %value = func.call @data(%twice) : (i32) -> i64
            %all = vector.broadcast %value : i64 to vector<3xi64>
            scf.if %is_reader {
              %got = symm.wait_packet %ctx, %lines[%inst, %i, %c0], %twice : !lines -> vector<3xi64>
              %lanes = arith.cmpi eq, %got, %all : vector<3xi64>
              %same = vector.reduction <and>, %lanes : vector<3xi1> into i1
              %bin = arith.select %same, %c1, %c2 : index
              %old = symm.atomic_rmw add %ctx, %seen[%bin], %more, %me sem relaxed : memref<3xi64>, i64
            }
            scf.if %is_first {
              symm.put_packet %ctx, %lines[%inst, %i, %c0], %all, %twice, %home : !lines, vector<3xi64>
            }
          }
        }
        symm.signal add %ctx, %done[%c0], %one, %me group block : memref<1xi32>, i32
      } else {
        // Stress: bulk stores to a neighbour until all actors of this rank are done.
        %blocks = arith.muli %instances, %c3 : index
        %blocks32 = arith.index_cast %blocks : index to i32
        %all = arith.muli %blocks32, %e : i32
        scf.while : () -> () {
          symm.put %ctx, %src, %dst, %right group block : memref<65536xi32>, memref<65536xi32>
          %over = symm.wait %ctx, %done[%c0] ge %all timeout %brief group block : memref<1xi32>, i32 -> i1
          %true = arith.constant true
          %again = arith.xori %over, %true : i1
          scf.condition(%again)
        } do {
          scf.yield
        }
      }
      gpu.return
    }

    func.func private @data(%epoch: i32) -> i64 {
      %wide = arith.extui %epoch : i32 to i64
      %factor = arith.constant -7046029254386353131 : i64
      %data = arith.muli %wide, %factor : i64
      return %data : i64
    }
  }

  func.func @main(%ctx: !symm.ctx, %rounds: i64 {symm.name = "rounds", symm.default = 128 : i64},
                  %instances: i64 {symm.name = "instances", symm.default = 2 : i64},
                  %stress: i64 {symm.name = "stress", symm.default = 1 : i64}) {
    %torn = arith.constant 0 : index
    %lines = arith.constant 1 : index
    func.call @try(%ctx, %torn, %rounds, %instances, %stress) : (!symm.ctx, index, i64, i64, i64) -> ()
    func.call @try(%ctx, %lines, %rounds, %instances, %stress) : (!symm.ctx, index, i64, i64, i64) -> ()
    return
  }

  func.func private @try(%ctx: !symm.ctx, %variant: index, %rounds: i64, %instances: i64, %stress: i64) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %actors = arith.constant 3 : i64
    %none = arith.constant 0 : i64
    %per_launch = arith.constant 64 : i64
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    %lines = symm.alloc %ctx align 16 : !lines
    %gate = symm.alloc %ctx : !gates
    %seen = symm.alloc %ctx : memref<3xi64>
    %done = symm.alloc %ctx : memref<1xi32>
    %src = symm.alloc %ctx : memref<65536xi32>
    %dst = symm.alloc %ctx : memref<65536xi32>
    %results = memref.alloc() : memref<3xi64>
    %at_once = arith.muli %instances, %per_launch : i64
    %times = arith.ceildivui %rounds, %at_once : i64
    %launches = arith.trunci %times : i64 to i32
    %end = arith.addi %launches, %one : i32
    %acting = arith.muli %instances, %actors : i64
    %all = arith.addi %acting, %stress : i64
    %blocks = arith.index_cast %all : i64 to index
    %width = arith.index_cast %instances : i64 to index
    scf.for %e = %one to %end step %one : i32 {
      symm.barrier_all %ctx
      gpu.launch_func @kernels::@rounds blocks in (%blocks, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%ctx : !symm.ctx, %variant : index, %e : i32, %width : index, %lines : !lines, %gate : !gates,
             %seen : memref<3xi64>, %done : memref<1xi32>, %src : memref<65536xi32>, %dst : memref<65536xi32>)
      symm.barrier_all %ctx
    }
    gpu.memcpy %results, %seen : memref<3xi64>, memref<3xi64>
    %waiting = memref.load %results[%c0] : memref<3xi64>
    %whole = memref.load %results[%c1] : memref<3xi64>
    %torn = memref.load %results[%c2] : memref<3xi64>
    %is_rank_0 = arith.cmpi eq, %me, %zero : i32
    scf.if %is_rank_0 {
      symm.print "not there: {}, whole: {}, torn: {}"(%waiting, %whole, %torn) : i64, i64, i64
    }
    %none_torn = arith.cmpi eq, %torn, %none : i64
    symm.check %none_torn, "packets: data of another epoch seen {} times"(%torn) : i64
    %some = arith.cmpi ne, %whole, %none : i64
    symm.check %some, "packets: {} came"(%whole) : i64
    symm.free %ctx, %dst : memref<65536xi32>
    symm.free %ctx, %src : memref<65536xi32>
    symm.free %ctx, %done : memref<1xi32>
    symm.free %ctx, %seen : memref<3xi64>
    symm.free %ctx, %gate : !gates
    symm.free %ctx, %lines : !lines
    memref.dealloc %results : memref<3xi64>
    return
  }
}
