// A ring of slots from rank 0 to rank 1, right, and with the mistakes of others: in each one line is another.

// RUN: symm-check %s --ranks 2 --as-written --schedules 10 | FileCheck %s --check-prefix=RIGHT
// RIGHT: symm-check: nothing found

// No wait for HEAD, the count of slots that were read: a fast sender overwrites.
// RUN: sed '/HEAD ge/d' %s > %t.none.mlir
// RUN: not symm-check %t.none.mlir --ranks 2 --as-written --schedules 10 | FileCheck %s --check-prefix=NONE
// NONE: error: write-after-read (O1)
// NONE: (a credit)
// NONE-NOT: error:

// A relaxed HEAD: the sender may overwrite what is still being read. So may one whose wait is relaxed.
// RUN: sed '/signal set/s/%head\[%c0\], %next, %zero/& sem relaxed/' %s > %t.signal.mlir
// RUN: not symm-check %t.signal.mlir --ranks 2 --as-written --schedules 10 | FileCheck %s --check-prefix=SIGNAL
// SIGNAL: error: missing-release (O1)
// SIGNAL: help: what announces the first access has to release at scope sys
// RUN: sed '/HEAD ge/s/%free/& sem relaxed/' %s > %t.wait.mlir
// RUN: not symm-check %t.wait.mlir --ranks 2 --as-written --schedules 10 | FileCheck %s --check-prefix=WAIT
// WAIT: error: missing-acquire (O1)
// WAIT: help: what sees it has to acquire at scope sys

// The first targets are below zero: compared as unsigned they are never reached.
// RUN: sed '/HEAD ge/s/ ge / unsigned ge /' %s > %t.unsigned.mlir
// RUN: not symm-check %t.unsigned.mlir --ranks 2 --as-written | FileCheck %s --check-prefix=UNSIGNED
// UNSIGNED: error: deadlock
// UNSIGNED: rank 0 block 0 thread 0: waits for {{.*}} of rank 0's heap >= 4294967293, sees 0

// The cursor starts again with each launch: the flags of the launch before satisfy the waits.
// RUN: sed 's/%calls : i32, %cursor : i32/%zero : i32, %cursor : i32/' %s > %t.cursor.mlir
// RUN: not symm-check %t.cursor.mlir --ranks 2 --as-written --schedules 10 | FileCheck %s --check-prefix=CURSOR
// CURSOR: error: {{wrong-event|write-after-read|race}}

// What is counted is pieces, and pieces get another size: the count of the old ones is enough for the new ones.
// RUN: sed 's/%unit = arith.constant 1 : i32/%unit = arith.addi %bytes, %zero : i32/' %s > %t.pieces.mlir
// RUN: not symm-check %t.pieces.mlir --ranks 2 --as-written --schedules 10 | FileCheck %s --check-prefix=PIECES
// PIECES: error: {{wrong-event|write-after-read|race}}

!word = memref<1xi32>
!slots = memref<4xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @ring(%ctx: !symm.ctx, %slots: !slots, %tail: !word, %head: !word, %got: !word, %start: i32, %end: i32)
        kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %three = arith.constant 3 : i32
      %four = arith.constant 4 : i32
      %me = symm.rank %ctx
      %sends = arith.cmpi eq, %me, %zero : i32
      scf.for %i = %start to %end step %one : i32 {
        %next = arith.addi %i, %one : i32
        %at = arith.remui %i, %four : i32
        %slot = arith.index_cast %at : i32 to index
        scf.if %sends {
          %free = arith.subi %i, %three : i32
          symm.wait %ctx, %head[%c0] ge %free : !word, i32 // HEAD ge
          symm.remote_store %ctx, %slots[%slot], %i, %one : !slots, i32
          symm.signal set %ctx, %tail[%c0], %next, %one : !word, i32
        } else {
          symm.wait %ctx, %tail[%c0] ge %next : !word, i32
          %v = memref.load %slots[%slot] : !slots
          memref.store %v, %got[%c0] : !word
          symm.signal set %ctx, %head[%c0], %next, %zero : !word, i32
        }
      }
      gpu.return
    }

    // A piece of some bytes. What is counted is bytes, so that pieces may get another size.
    gpu.func @piece(%ctx: !symm.ctx, %inbox: !slots, %count: !word, %got: !word, %start: i32, %bytes: i32) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %unit = arith.constant 1 : i32
      %me = symm.rank %ctx
      %sends = arith.cmpi eq, %me, %zero : i32
      %end = arith.addi %start, %bytes : i32
      %amount = arith.divui %bytes, %unit : i32
      %until = arith.divui %end, %unit : i32
      scf.if %sends {
        scf.for %i = %start to %end step %one : i32 {
          %at = arith.index_cast %i : i32 to index
          symm.remote_store %ctx, %inbox[%at], %i, %one : !slots, i32
        }
        symm.signal add %ctx, %count[%c0], %amount, %one : !word, i32
      } else {
        symm.wait %ctx, %count[%c0] ge %until : !word, i32
        scf.for %i = %start to %end step %one : i32 {
          %at = arith.index_cast %i : i32 to index
          %v = memref.load %inbox[%at] : !slots
          memref.store %v, %got[%c0] : !word
        }
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %calls = arith.constant 6 : i32
    %cursor = arith.constant 12 : i32
    %slots = symm.alloc %ctx : !slots
    %tail = symm.alloc %ctx : !word
    %head = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@ring blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : !slots, %tail : !word, %head : !word, %got : !word, %zero : i32, %calls : i32)
    gpu.launch_func @kernels::@ring blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : !slots, %tail : !word, %head : !word, %got : !word, %calls : i32, %cursor : i32)

    %inbox = symm.alloc %ctx : !slots
    %count = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@piece blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %inbox : !slots, %count : !word, %got : !word, %zero : i32, %one : i32)
    gpu.launch_func @kernels::@piece blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %inbox : !slots, %count : !word, %got : !word, %one : i32, %one : i32)
    gpu.launch_func @kernels::@piece blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %inbox : !slots, %count : !word, %got : !word, %two : i32, %two : i32)
    return
  }
}
