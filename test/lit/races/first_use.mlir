// Lines of floats that nobody has set to all bits before their first use, and packets whose epochs begin again (P1).

// Whoever comes first: what was there before is no float of the sender's.
// RUN: not symm-check %s --ranks 2 --entry floats | FileCheck %s --check-prefix=FLOATS
// RUN: not symm-check %s --ranks 2 --entry floats --schedules 10 | FileCheck %s --check-prefix=FLOATS
// RUN: not symm-check %s --ranks 2 --entry floats --exhaustive | FileCheck %s --check-prefixes=FLOATS,TAKEN
// FLOATS: :29:9: error: wrong-event
// FLOATS-NEXT: note: rank 0 block 0 thread 0: puts floats at {{.*}} of rank 1's heap, which nobody has cleared before
// FLOATS: help: its receiver sets all bits of a line before its first use: by fill_(-1), or put_packet … clear
// TAKEN: takes what is at {{.*}} of rank 1's heap for floats, but nobody has put them there

// The second launch counts from 1 again.
// RUN: not symm-check %s --ranks 2 --entry epochs | FileCheck %s --check-prefix=EPOCHS
// EPOCHS: error: packet-overwritten (P1)
// EPOCHS: help: the line already holds a packet of this epoch, which a wait may take for the new one: count epochs on,

!words = memref<64xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @send(%ctx: !symm.ctx, %slots: !words, %box: !words) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %value = arith.constant 1.5 : f32
      %me = symm.rank %ctx
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
        symm.put_packet %ctx, %slots[%c0], %value, sentinel 32, %one : !words, f32
      } else {
        %v = symm.wait_packet %ctx, %slots[%c0], sentinel 32 : !words -> f32
        %i = arith.bitcast %v : f32 to i32
        memref.store %i, %box[%c0] : !words
      }
      gpu.return
    }

    gpu.func @exchange(%ctx: !symm.ctx, %slots: !words, %box: !words, %more: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %end = arith.constant 3 : i32
      %me = symm.rank %ctx
      %peer = arith.subi %one, %me : i32
      scf.for %epoch = %one to %end step %one : i32 {
        %buffer = arith.remui %epoch, %two : i32
        %slot = arith.index_cast %buffer : i32 to index
        %at = arith.muli %slot, %c4 : index
        %value = arith.addi %more, %epoch : i32
        symm.put_packet %ctx, %slots[%at], %value, %epoch, %peer : !words, i32
        %v = symm.wait_packet %ctx, %slots[%at], %epoch : !words -> i32
        memref.store %v, %box[%slot] : !words
      }
      gpu.return
    }
  }

  func.func @floats(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %slots = symm.alloc %ctx {align = 16 : i64} : !words
    %box = symm.alloc %ctx : !words
    gpu.launch_func @kernels::@send blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : !words, %box : !words)
    return
  }

  func.func @epochs(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %ten = arith.constant 10 : i32
    %slots = symm.alloc %ctx {align = 16 : i64} : !words
    %box = symm.alloc %ctx : !words
    gpu.launch_func @kernels::@exchange blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : !words, %box : !words, %zero : i32)
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@exchange blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : !words, %box : !words, %ten : i32)
    return
  }
}
