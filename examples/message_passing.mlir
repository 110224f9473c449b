// RUN: %run-all
//
// Producer and consumer. Every rank sends `messages` numbered messages to its right neighbour, through a ring of four
// slots in the neighbour's heap. Two counters, one on each side, keep them in step:
//
//   sent    on the consumer: how many messages have arrived; the producer raises it after each message;
//   taken   on the producer: how many slots have been read; a slot is written again only when it has been.
//
// Block 0 of each rank produces, block 1 consumes what the left neighbour sends and counts what it did not expect.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Word i of message m of rank r is 1000000 r + 1000 m + i.
    gpu.func @pass(%ctx: !symm.ctx, %slots: memref<4x64xi32>, %sent: memref<1xi32>, %taken: memref<1xi32>,
                   %wrong: memref<1xi32>, %messages: i32) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %four = arith.constant 4 : i32
      %thousand = arith.constant 1000 : i32
      %million = arith.constant 1000000 : i32
      %c64 = arith.constant 64 : index
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %before = arith.subi %n, %one : i32
      %back = arith.addi %me, %before : i32
      %left = arith.remui %back, %n : i32
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %block = gpu.block_id x
      %produces = arith.cmpi eq, %block, %c0 : index
      scf.if %produces {
        %mine = arith.muli %me, %million : i32
        scf.for %m = %zero to %messages step %one : i32 {
          // Message m needs message m - 4 out of its slot: m - 3 taken, which is below zero at first.
          %m_next = arith.addi %m, %one : i32
          %needed = arith.subi %m_next, %four : i32
          symm.wait %ctx, %taken[%c0] ge %needed group block : memref<1xi32>, i32
          %slot_number = arith.remui %m, %four : i32
          %slot = arith.index_cast %slot_number : i32 to index
          %thousands = arith.muli %m, %thousand : i32
          %start = arith.addi %mine, %thousands : i32
          scf.for %i = %thread to %c64 step %threads {
            %word = arith.index_cast %i : index to i32
            %v = arith.addi %start, %word : i32
            symm.remote_store %ctx, %slots[%slot, %i], %v, %right : memref<4x64xi32>, i32
          }
          symm.signal set %ctx, %sent[%c0], %m_next, %right group block : memref<1xi32>, i32
        }
      } else {
        %theirs = arith.muli %left, %million : i32
        %errors = scf.for %m = %zero to %messages step %one iter_args(%sum = %zero) -> i32 : i32 {
          %m_next = arith.addi %m, %one : i32
          symm.wait %ctx, %sent[%c0] ge %m_next group block : memref<1xi32>, i32
          %slot_number = arith.remui %m, %four : i32
          %slot = arith.index_cast %slot_number : i32 to index
          %thousands = arith.muli %m, %thousand : i32
          %start = arith.addi %theirs, %thousands : i32
          %found = scf.for %i = %thread to %c64 step %threads iter_args(%count = %sum) -> i32 {
            %word = arith.index_cast %i : index to i32
            %want = arith.addi %start, %word : i32
            %v = memref.load %slots[%slot, %i] : memref<4x64xi32>
            %differs = arith.cmpi ne, %v, %want : i32
            %error = arith.extui %differs : i1 to i32
            %count_next = arith.addi %count, %error : i32
            scf.yield %count_next : i32
          }
          symm.signal set %ctx, %taken[%c0], %m_next, %left group block : memref<1xi32>, i32
          scf.yield %found : i32
        }
        %old = symm.atomic_rmw add %ctx, %wrong[%c0], %errors, %me sem relaxed : memref<1xi32>, i32
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx, %messages: i64 {symm.name = "messages", symm.default = 200 : i64}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    %count = arith.trunci %messages : i64 to i32
    %slots = symm.alloc %ctx : memref<4x64xi32>
    %sent = symm.alloc %ctx : memref<1xi32>
    %taken = symm.alloc %ctx : memref<1xi32>
    %wrong = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@pass blocks in (%c2, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : memref<4x64xi32>, %sent : memref<1xi32>, %taken : memref<1xi32>,
        %wrong : memref<1xi32>, %count : i32)

    %got = memref.alloc() : memref<1xi32>
    gpu.memcpy %got, %wrong : memref<1xi32>, memref<1xi32>
    %errors = memref.load %got[%c0] : memref<1xi32>
    %right = arith.cmpi eq, %errors, %zero : i32
    symm.check %right, "{} words of {} messages are wrong"(%errors, %count) : i32, i32
    gpu.memcpy %got, %sent : memref<1xi32>, memref<1xi32>
    %arrived = memref.load %got[%c0] : memref<1xi32>
    %all = arith.cmpi eq, %arrived, %count : i32
    symm.check %all, "{} of {} messages arrived"(%arrived, %count) : i32, i32
    memref.dealloc %got : memref<1xi32>
    return
  }
}
