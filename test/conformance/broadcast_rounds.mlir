// RUN: %run-all
// Every rank puts its number into every rank's array, tells all of them, and waits for all of them: as blocks and as
// threads, over several rounds. The compiler makes one fence of the signals' releases and one of the waits' acquires.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @rounds(%ctx: !symm.ctx, %mine: memref<256xi32>, %all: memref<64x256xi32>, %arrived: memref<64xi64>,
                     %done: memref<64xi64>, %wrong: memref<1xi32>, %rounds: i64) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c256 = arith.constant 256 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %first = arith.constant 1 : i64
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %row = arith.index_cast %me : i32 to index
      %ranks = arith.index_cast %n : i32 to index
      %t = gpu.thread_id x
      %threads = gpu.block_dim x
      %is_first = arith.cmpi eq, %t, %c0 : index
      %place = memref.subview %all[%row, 0] [1, 256] [1, 1]
        : memref<64x256xi32> to memref<256xi32, strided<[1], offset: ?>>
      %end = arith.addi %rounds, %first : i64
      scf.for %round = %first to %end step %first : i64 {
        %r = arith.trunci %round : i64 to i32
        %value = arith.muli %r, %n : i32
        %sent = arith.addi %value, %me : i32
        scf.for %k = %t to %c256 step %threads {
          memref.store %sent, %mine[%k] : memref<256xi32>
        }
        scf.for %p = %zero to %n step %one : i32 {
          symm.put %ctx, %mine, %place, %p group block
            : memref<256xi32>, memref<256xi32, strided<[1], offset: ?>>
        }
        scf.for %p = %zero to %n step %one : i32 {
          symm.signal set %ctx, %arrived[%row], %round, %p group block : memref<64xi64>, i64
        }
        scf.for %p = %c0 to %ranks step %c1 {
          symm.wait %ctx, %arrived[%p] ge %round group block : memref<64xi64>, i64
        }
        scf.for %p = %c0 to %ranks step %c1 {
          %sender = arith.index_cast %p : index to i32
          %expected = arith.addi %value, %sender : i32
          scf.for %k = %t to %c256 step %threads {
            %got = memref.load %all[%p, %k] : memref<64x256xi32>
            %differs = arith.cmpi ne, %got, %expected : i32
            scf.if %differs {
              memref.store %one, %wrong[%c0] : memref<1xi32>
            }
          }
        }
        gpu.barrier
        // The places may be written again: one thread says so to all, and hears it from all.
        scf.if %is_first {
          scf.for %p = %zero to %n step %one : i32 {
            symm.signal add %ctx, %done[%row], %first, %p : memref<64xi64>, i64
          }
          scf.for %p = %c0 to %ranks step %c1 {
            symm.wait %ctx, %done[%p] ge %round : memref<64xi64>, i64
          }
        }
        gpu.barrier
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %threads = arith.constant 128 : index
    %zero = arith.constant 0 : i32
    %rounds = arith.constant 20 : i64
    %mine = symm.alloc %ctx : memref<256xi32>
    %all = symm.alloc %ctx : memref<64x256xi32>
    %arrived = symm.alloc %ctx : memref<64xi64>
    %done = symm.alloc %ctx : memref<64xi64>
    %wrong = symm.alloc %ctx : memref<1xi32>
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@rounds blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%ctx : !symm.ctx, %mine : memref<256xi32>, %all : memref<64x256xi32>, %arrived : memref<64xi64>,
           %done : memref<64xi64>, %wrong : memref<1xi32>, %rounds : i64)
    symm.barrier_all %ctx
    %host = memref.alloc() : memref<1xi32>
    gpu.memcpy %host, %wrong : memref<1xi32>, memref<1xi32>
    %was_wrong = memref.load %host[%c0] : memref<1xi32>
    %right = arith.cmpi eq, %was_wrong, %zero : i32
    symm.check %right, "a rank's row is not what it sent in that round"
    return
  }
}
