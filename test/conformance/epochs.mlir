// RUN: %run-all
// Kernels that count their own launches, so that every launch has the same arguments and nothing is reset: what a graph
// can replay. test/device/graphs.c does that with the kernels of this file. Here the host launches each 20 times, with a
// host barrier after each, where the graph has a barrier in the order of the stream.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Each block writes 64 words into the next rank's inbox, signals it twice (set to the epoch, add one) and checks what
    // came from the rank before.
    gpu.func @ring(%ctx: !symm.ctx, %inbox: memref<?xi64>, %set: memref<?xi64>, %added: memref<?xi64>,
                   %epochs: memref<?xi64>, %wrong: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %words = arith.constant 64 : index
      %one = arith.constant 1 : i64
      %one32 = arith.constant 1 : i32
      %million = arith.constant 1000000 : i64
      %thousand = arith.constant 1000 : i64
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one32 : i32
      %next = arith.remui %after, %n : i32
      %around = arith.addi %me, %n : i32
      %before = arith.subi %around, %one32 : i32
      %prev = arith.remui %before, %n : i32
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %first = arith.muli %block, %words : index
      %last = memref.load %epochs[%block] : memref<?xi64>
      %epoch = arith.addi %last, %one : i64
      %base = arith.muli %epoch, %million : i64
      %mine64 = arith.extui %me : i32 to i64
      %mine = arith.muli %mine64, %thousand : i64
      %sent = arith.addi %base, %mine : i64
      %theirs64 = arith.extui %prev : i32 to i64
      %theirs = arith.muli %theirs64, %thousand : i64
      %wanted = arith.addi %base, %theirs : i64
      scf.for %i = %thread to %words step %threads {
        %at = arith.addi %first, %i : index
        %number = arith.index_cast %i : index to i64
        %v = arith.addi %sent, %number : i64
        symm.remote_store %ctx, %inbox[%at], %v, %next : memref<?xi64>, i64
      }
      symm.signal set %ctx, %set[%block], %epoch, %next group block : memref<?xi64>, i64
      symm.signal add %ctx, %added[%block], %one, %next group block : memref<?xi64>, i64
      symm.wait %ctx, %set[%block] ge %epoch group block : memref<?xi64>, i64
      symm.wait %ctx, %added[%block] ge %epoch group block : memref<?xi64>, i64
      scf.for %i = %thread to %words step %threads {
        %at = arith.addi %first, %i : index
        %number = arith.index_cast %i : index to i64
        %want = arith.addi %wanted, %number : i64
        %got = memref.load %inbox[%at] : memref<?xi64>
        %differs = arith.cmpi ne, %got, %want : i64
        scf.if %differs {
          %old = symm.atomic_rmw add %ctx, %wrong[%c0], %one32, %me sem relaxed : memref<1xi32>, i32
        }
      }
      // All threads have read the epoch: each has passed the waits since.
      %is_first = arith.cmpi eq, %thread, %c0 : index
      scf.if %is_first {
        memref.store %epoch, %epochs[%block] : memref<?xi64>
      }
      gpu.return
    }

    // Each block writes a word on every rank and checks, after the device's barrier, that all others have done so.
    gpu.func @meet(%ctx: !symm.ctx, %board: memref<?xi64>, %epochs: memref<?xi64>, %wrong: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i64
      %one32 = arith.constant 1 : i32
      %thousand = arith.constant 1000 : i64
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %ranks = arith.index_cast %n : i32 to index
      %place = arith.index_cast %me : i32 to index
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %first = arith.muli %block, %ranks : index
      %at = arith.addi %first, %place : index
      %last = memref.load %epochs[%block] : memref<?xi64>
      %epoch = arith.addi %last, %one : i64
      %base = arith.muli %epoch, %thousand : i64
      %mine = arith.extui %me : i32 to i64
      %v = arith.addi %base, %mine : i64
      scf.for %r = %thread to %ranks step %threads {
        %peer = arith.index_cast %r : index to i32
        symm.remote_store %ctx, %board[%at], %v, %peer : memref<?xi64>, i64
      }
      symm.barrier %ctx group block
      scf.for %r = %thread to %ranks step %threads {
        %from = arith.addi %first, %r : index
        %number = arith.index_cast %r : index to i64
        %want = arith.addi %base, %number : i64
        %got = memref.load %board[%from] : memref<?xi64>
        %differs = arith.cmpi ne, %got, %want : i64
        scf.if %differs {
          %old = symm.atomic_rmw add %ctx, %wrong[%c0], %one32, %me sem relaxed : memref<1xi32>, i32
        }
      }
      %is_first = arith.cmpi eq, %thread, %c0 : index
      scf.if %is_first {
        memref.store %epoch, %epochs[%block] : memref<?xi64>
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %threads = arith.constant 32 : index
    %c20 = arith.constant 20 : index
    %twenty = arith.constant 20 : i64
    %zero = arith.constant 0 : i32
    %words = arith.constant 256 : index
    %n = symm.num_ranks %ctx
    %ranks = arith.index_cast %n : i32 to index
    %places = arith.muli %c4, %ranks : index
    %inbox = symm.alloc %ctx(%words) : memref<?xi64>
    %set = symm.alloc %ctx(%c4) : memref<?xi64>
    %added = symm.alloc %ctx(%c4) : memref<?xi64>
    %rings = symm.alloc %ctx(%c4) : memref<?xi64>
    %board = symm.alloc %ctx(%places) : memref<?xi64>
    %meets = symm.alloc %ctx(%c4) : memref<?xi64>
    %wrong = symm.alloc %ctx : memref<1xi32>
    scf.for %launch = %c0 to %c20 step %c1 {
      gpu.launch_func @kernels::@ring blocks in (%c4, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%ctx : !symm.ctx, %inbox : memref<?xi64>, %set : memref<?xi64>, %added : memref<?xi64>,
             %rings : memref<?xi64>, %wrong : memref<1xi32>)
      symm.barrier_all %ctx
      gpu.launch_func @kernels::@meet blocks in (%c4, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%ctx : !symm.ctx, %board : memref<?xi64>, %meets : memref<?xi64>, %wrong : memref<1xi32>)
      symm.barrier_all %ctx
    }
    %bad = memref.alloc() : memref<1xi32>
    %counted = memref.alloc(%c4) : memref<?xi64>
    gpu.memcpy %bad, %wrong : memref<1xi32>, memref<1xi32>
    %b = memref.load %bad[%c0] : memref<1xi32>
    %none = arith.cmpi eq, %b, %zero : i32
    symm.check %none, "{} words were wrong"(%b) : i32
    gpu.memcpy %counted, %rings : memref<?xi64>, memref<?xi64>
    scf.for %block = %c0 to %c4 step %c1 {
      %e = memref.load %counted[%block] : memref<?xi64>
      %all = arith.cmpi eq, %e, %twenty : i64
      symm.check %all, "block {} counted {} launches"(%block, %e) : index, i64
    }
    memref.dealloc %bad : memref<1xi32>
    memref.dealloc %counted : memref<?xi64>
    return
  }
}
