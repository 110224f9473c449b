// Floats that show by themselves that they have come (P1): two ranks exchange one in each call, with two buffers in
// turn, and each call clears what it has received. A rank that is ahead has the peer's float of call e + 1 before it writes a
// line of call e again, and with it knows that the peer's call e has ended, which cleared that line.

// RUN: symm-check %s --ranks 2 --exhaustive | FileCheck %s --check-prefix=RIGHT
// RUN: symm-check %s --ranks 3 --schedules 50 | FileCheck %s --check-prefix=THREE
// RIGHT: symm-check: nothing found; {{[0-9]+}} execution{{s?}} tried; there are no others that differ
// THREE: symm-check: nothing found; 51 executions tried

// With one buffer the peer may still have to clear the line.
// RUN: sed 's/%buffers = arith.constant 2/%buffers = arith.constant 1/' %s > %t.one.mlir
// RUN: not symm-check %t.one.mlir --ranks 2 --exhaustive | FileCheck %s --check-prefix=ONE
// ONE: error: packet-overwritten (P1)
// ONE: clears a line
// ONE: puts floats into a line, the same one
// ONE: help: nothing tells the sender that the line is clear by now

// Nobody clears: what has come before is what is there.
// RUN: sed '/%got, sentinel/d' %s > %t.none.mlir
// RUN: not symm-check %t.none.mlir --ranks 2 --exhaustive | FileCheck %s --check-prefix=NONE
// NONE: error: packet-overwritten (P1)
// NONE: help: nobody has cleared the line: clear it when it has been received, or use more lines in turn

// A line that is cleared one call late is no longer clear for sure in the next one.
// RUN: sed 's/%late = arith.constant 0/%late = arith.constant 1/' %s > %t.late.mlir
// RUN: not symm-check %t.late.mlir --ranks 2 --exhaustive | FileCheck %s --check-prefix=LATE
// LATE: error: packet-overwritten (P1)
// LATE: help: nothing tells the sender that the line is clear by now
// Three buffers are enough for that.
// RUN: sed 's/%buffers = arith.constant 2/%buffers = arith.constant 3/' %t.late.mlir > %t.three.mlir
// RUN: symm-check %t.three.mlir --ranks 2 --exhaustive | FileCheck %s --check-prefix=RIGHT

// In one launch nothing completes what clears before the next call's floats.
// RUN: sed 's/%each = arith.constant 1/%each = arith.constant 4/' %s > %t.together.mlir
// RUN: not symm-check %t.together.mlir --ranks 2 --exhaustive | FileCheck %s --check-prefix=TOGETHER
// TOGETHER: error: packet-overwritten (P1)
// TOGETHER: help: nothing tells the sender that the line is clear by now

!lines = memref<64xi32>
!sums = memref<4xf32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Words of a source's line in a call's buffer.
    func.func private @line(%call: i32, %buffers: i32, %source: i32, %n: i32) -> index {
      %words = arith.constant 4 : i32
      %buffer = arith.remui %call, %buffers : i32
      %before = arith.muli %buffer, %n : i32
      %number = arith.addi %before, %source : i32
      %first = arith.muli %number, %words : i32
      %at = arith.index_cast %first : i32 to index
      return %at : index
    }

    gpu.func @start(%ctx: !symm.ctx, %lines: !lines) kernel {
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c64 = arith.constant 64 : index
      %me = symm.rank %ctx
      scf.for %i = %c0 to %c64 step %c4 {
        symm.put_packet %ctx, %lines[%i], %zero, sentinel 32, %me clear : !lines, f32
      }
      gpu.return
    }

    gpu.func @calls(%ctx: !symm.ctx, %lines: !lines, %sums: !sums, %first: i32, %end: i32, %buffers: i32,
                    %late: i32) kernel {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %ten = arith.constant 10 : i32
      %nothing = arith.constant 0.0 : f32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      scf.for %call = %first to %end step %one : i32 {
        %tens = arith.muli %call, %ten : i32
        %number = arith.addi %tens, %me : i32
        %value = arith.sitofp %number : i32 to f32
        %to = func.call @line(%call, %buffers, %me, %n) : (i32, i32, i32, i32) -> index
        scf.for %peer = %zero to %n step %one : i32 {
          symm.put_packet %ctx, %lines[%to], %value, sentinel 32, %peer : !lines, f32
        }
        %cleared = arith.subi %call, %late : i32
        %has_come = arith.cmpi sge, %cleared, %zero : i32
        %sum = scf.for %source = %zero to %n step %one iter_args(%total = %nothing) -> (f32) : i32 {
          %from = func.call @line(%call, %buffers, %source, %n) : (i32, i32, i32, i32) -> index
          %got = symm.wait_packet %ctx, %lines[%from], sentinel 32 : !lines -> f32
          %more = arith.addf %total, %got : f32
          scf.if %has_come {
            %old = func.call @line(%cleared, %buffers, %source, %n) : (i32, i32, i32, i32) -> index
            symm.put_packet %ctx, %lines[%old], %got, sentinel 32, %me clear : !lines, f32
          }
          scf.yield %more : f32
        }
        %at = arith.index_cast %call : i32 to index
        memref.store %sum, %sums[%at] : !sums
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %ten = arith.constant 10 : i32
    %calls = arith.constant 4 : i32
    %buffers = arith.constant 2 : i32
    %late = arith.constant 0 : i32
    // Calls of each launch.
    %each = arith.constant 1 : i32
    %n = symm.num_ranks %ctx
    %lines = symm.alloc %ctx {align = 16 : i64} : !lines
    %sums = symm.alloc %ctx : !sums
    gpu.launch_func @kernels::@start blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %lines : !lines)
    symm.barrier_all %ctx
    scf.for %call = %zero to %calls step %each : i32 {
      %end = arith.addi %call, %each : i32
      gpu.launch_func @kernels::@calls blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%ctx : !symm.ctx, %lines : !lines, %sums : !sums, %call : i32, %end : i32, %buffers : i32, %late : i32)
    }
    %host = memref.alloc() : !sums
    gpu.memcpy %host, %sums : !sums, !sums
    // The numbers of all ranks.
    %less = arith.subi %n, %one : i32
    %twice = arith.muli %n, %less : i32
    %ranks = arith.shrui %twice, %one : i32
    scf.for %i = %c0 to %c4 step %c1 {
      %call = arith.index_cast %i : index to i32
      %tens = arith.muli %call, %ten : i32
      %from_all = arith.muli %tens, %n : i32
      %whole = arith.addi %from_all, %ranks : i32
      %want = arith.sitofp %whole : i32 to f32
      %sum = memref.load %host[%i] : !sums
      %right = arith.cmpf oeq, %sum, %want : f32
      symm.check %right, "call {}: the sum is {}, expected {}"(%call, %sum, %want) : i32, f32, f32
    }
    memref.dealloc %host : !sums
    return
  }
}
