// RUN: %run-all
// symm.wait: every comparison, signed and unsigned, on 32 and 64 bits, with counters below zero (O6). While it does not
// hold, the wait gives up after its timeout; once the peer has signalled it goes on, and sees the peer's data.

module attributes {gpu.container_module} {
  // Signed eq, ne, lt, le, gt, ge, then unsigned lt, le, gt, ge. With the equality left out or the sign misread, each
  // holds too early or never.
  memref.global "private" constant @initial : memref<10xi32> = dense<[ 0,  0,  0,  0, -3, -5, -1, -2,  5,  7]>
  memref.global "private" constant @expected : memref<10xi32> = dense<[-3,  0,  0, -1, -3,  3, -1,  5,  5, -2]>
  memref.global "private" constant @final : memref<10xi32> = dense<[-3, -3, -1, -1,  2,  3,  3,  5, -1, -2]>

  gpu.module @kernels {
    // seen[k] = how many of the two waits of comparison k were satisfied within %limit nanoseconds.
    gpu.func @try(%ctx: !symm.ctx, %flags32: memref<10xi32>, %flags64: memref<10xi64>, %expected: memref<10xi32>,
                  %seen: memref<10xi32>, %limit: i64) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %c6 = arith.constant 6 : index
      %c7 = arith.constant 7 : index
      %c8 = arith.constant 8 : index
      %c9 = arith.constant 9 : index
      %e32_0 = memref.load %expected[%c0] : memref<10xi32>
      %e64_0 = arith.extsi %e32_0 : i32 to i64
      %e32_1 = memref.load %expected[%c1] : memref<10xi32>
      %e64_1 = arith.extsi %e32_1 : i32 to i64
      %e32_2 = memref.load %expected[%c2] : memref<10xi32>
      %e64_2 = arith.extsi %e32_2 : i32 to i64
      %e32_3 = memref.load %expected[%c3] : memref<10xi32>
      %e64_3 = arith.extsi %e32_3 : i32 to i64
      %e32_4 = memref.load %expected[%c4] : memref<10xi32>
      %e64_4 = arith.extsi %e32_4 : i32 to i64
      %e32_5 = memref.load %expected[%c5] : memref<10xi32>
      %e64_5 = arith.extsi %e32_5 : i32 to i64
      %e32_6 = memref.load %expected[%c6] : memref<10xi32>
      %e64_6 = arith.extsi %e32_6 : i32 to i64
      %e32_7 = memref.load %expected[%c7] : memref<10xi32>
      %e64_7 = arith.extsi %e32_7 : i32 to i64
      %e32_8 = memref.load %expected[%c8] : memref<10xi32>
      %e64_8 = arith.extsi %e32_8 : i32 to i64
      %e32_9 = memref.load %expected[%c9] : memref<10xi32>
      %e64_9 = arith.extsi %e32_9 : i32 to i64
      %w32_0 = symm.wait %ctx, %flags32[%c0] eq %e32_0 timeout %limit group block : memref<10xi32>, i32 -> i1
      %n32_0 = arith.extui %w32_0 : i1 to i32
      %w64_0 = symm.wait %ctx, %flags64[%c0] eq %e64_0 timeout %limit group block : memref<10xi64>, i64 -> i1
      %n64_0 = arith.extui %w64_0 : i1 to i32
      %sum_0 = arith.addi %n32_0, %n64_0 : i32
      memref.store %sum_0, %seen[%c0] : memref<10xi32>
      %w32_1 = symm.wait %ctx, %flags32[%c1] ne %e32_1 timeout %limit group block : memref<10xi32>, i32 -> i1
      %n32_1 = arith.extui %w32_1 : i1 to i32
      %w64_1 = symm.wait %ctx, %flags64[%c1] ne %e64_1 timeout %limit group block : memref<10xi64>, i64 -> i1
      %n64_1 = arith.extui %w64_1 : i1 to i32
      %sum_1 = arith.addi %n32_1, %n64_1 : i32
      memref.store %sum_1, %seen[%c1] : memref<10xi32>
      %w32_2 = symm.wait %ctx, %flags32[%c2] lt %e32_2 timeout %limit group block : memref<10xi32>, i32 -> i1
      %n32_2 = arith.extui %w32_2 : i1 to i32
      %w64_2 = symm.wait %ctx, %flags64[%c2] lt %e64_2 timeout %limit group block : memref<10xi64>, i64 -> i1
      %n64_2 = arith.extui %w64_2 : i1 to i32
      %sum_2 = arith.addi %n32_2, %n64_2 : i32
      memref.store %sum_2, %seen[%c2] : memref<10xi32>
      %w32_3 = symm.wait %ctx, %flags32[%c3] le %e32_3 timeout %limit group block : memref<10xi32>, i32 -> i1
      %n32_3 = arith.extui %w32_3 : i1 to i32
      %w64_3 = symm.wait %ctx, %flags64[%c3] le %e64_3 timeout %limit group block : memref<10xi64>, i64 -> i1
      %n64_3 = arith.extui %w64_3 : i1 to i32
      %sum_3 = arith.addi %n32_3, %n64_3 : i32
      memref.store %sum_3, %seen[%c3] : memref<10xi32>
      %w32_4 = symm.wait %ctx, %flags32[%c4] gt %e32_4 timeout %limit group block : memref<10xi32>, i32 -> i1
      %n32_4 = arith.extui %w32_4 : i1 to i32
      %w64_4 = symm.wait %ctx, %flags64[%c4] gt %e64_4 timeout %limit group block : memref<10xi64>, i64 -> i1
      %n64_4 = arith.extui %w64_4 : i1 to i32
      %sum_4 = arith.addi %n32_4, %n64_4 : i32
      memref.store %sum_4, %seen[%c4] : memref<10xi32>
      %w32_5 = symm.wait %ctx, %flags32[%c5] ge %e32_5 timeout %limit group block : memref<10xi32>, i32 -> i1
      %n32_5 = arith.extui %w32_5 : i1 to i32
      %w64_5 = symm.wait %ctx, %flags64[%c5] ge %e64_5 timeout %limit group block : memref<10xi64>, i64 -> i1
      %n64_5 = arith.extui %w64_5 : i1 to i32
      %sum_5 = arith.addi %n32_5, %n64_5 : i32
      memref.store %sum_5, %seen[%c5] : memref<10xi32>
      %w32_6 = symm.wait %ctx, %flags32[%c6] unsigned lt %e32_6 timeout %limit group block : memref<10xi32>, i32 -> i1
      %n32_6 = arith.extui %w32_6 : i1 to i32
      %w64_6 = symm.wait %ctx, %flags64[%c6] unsigned lt %e64_6 timeout %limit group block : memref<10xi64>, i64 -> i1
      %n64_6 = arith.extui %w64_6 : i1 to i32
      %sum_6 = arith.addi %n32_6, %n64_6 : i32
      memref.store %sum_6, %seen[%c6] : memref<10xi32>
      %w32_7 = symm.wait %ctx, %flags32[%c7] unsigned le %e32_7 timeout %limit group block : memref<10xi32>, i32 -> i1
      %n32_7 = arith.extui %w32_7 : i1 to i32
      %w64_7 = symm.wait %ctx, %flags64[%c7] unsigned le %e64_7 timeout %limit group block : memref<10xi64>, i64 -> i1
      %n64_7 = arith.extui %w64_7 : i1 to i32
      %sum_7 = arith.addi %n32_7, %n64_7 : i32
      memref.store %sum_7, %seen[%c7] : memref<10xi32>
      %w32_8 = symm.wait %ctx, %flags32[%c8] unsigned gt %e32_8 timeout %limit group block : memref<10xi32>, i32 -> i1
      %n32_8 = arith.extui %w32_8 : i1 to i32
      %w64_8 = symm.wait %ctx, %flags64[%c8] unsigned gt %e64_8 timeout %limit group block : memref<10xi64>, i64 -> i1
      %n64_8 = arith.extui %w64_8 : i1 to i32
      %sum_8 = arith.addi %n32_8, %n64_8 : i32
      memref.store %sum_8, %seen[%c8] : memref<10xi32>
      %w32_9 = symm.wait %ctx, %flags32[%c9] unsigned ge %e32_9 timeout %limit group block : memref<10xi32>, i32 -> i1
      %n32_9 = arith.extui %w32_9 : i1 to i32
      %w64_9 = symm.wait %ctx, %flags64[%c9] unsigned ge %e64_9 timeout %limit group block : memref<10xi64>, i64 -> i1
      %n64_9 = arith.extui %w64_9 : i1 to i32
      %sum_9 = arith.addi %n32_9, %n64_9 : i32
      memref.store %sum_9, %seen[%c9] : memref<10xi32>
      gpu.return
    }

    // Block 0 writes element k of row 0 and sets the flag, for 32 bits and in row 1 for 64; block 1 waits and reads.
    gpu.func @send_and_wait(%ctx: !symm.ctx, %flags32: memref<10xi32>, %flags64: memref<10xi64>,
                            %expected: memref<10xi32>, %final: memref<10xi32>, %data: memref<2x10xi32>,
                            %seen: memref<2x10xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %c6 = arith.constant 6 : index
      %c7 = arith.constant 7 : index
      %c8 = arith.constant 8 : index
      %c9 = arith.constant 9 : index
      %one = arith.constant 1 : i32
      %ten = arith.constant 10 : i32
      %hundred = arith.constant 100 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %block = gpu.block_id x
      %sends = arith.cmpi eq, %block, %c0 : index
      scf.if %sends {
        %next = arith.addi %me, %one : i32
        %right = arith.remui %next, %n : i32
        %mine = arith.muli %me, %hundred : i32
        %c10 = arith.constant 10 : index
        scf.for %k = %c0 to %c10 step %c1 {
          %count = arith.index_cast %k : index to i32
          %a = arith.addi %mine, %count : i32
          %b = arith.addi %a, %ten : i32
          %value = memref.load %final[%k] : memref<10xi32>
          %wide = arith.extsi %value : i32 to i64
          symm.remote_store %ctx, %data[%c0, %k], %a, %right : memref<2x10xi32>, i32
          symm.signal set %ctx, %flags32[%k], %value, %right group block : memref<10xi32>, i32
          symm.remote_store %ctx, %data[%c1, %k], %b, %right : memref<2x10xi32>, i32
          symm.signal set %ctx, %flags64[%k], %wide, %right group block : memref<10xi64>, i64
        }
      } else {
        %e32_0 = memref.load %expected[%c0] : memref<10xi32>
        %e64_0 = arith.extsi %e32_0 : i32 to i64
        %e32_1 = memref.load %expected[%c1] : memref<10xi32>
        %e64_1 = arith.extsi %e32_1 : i32 to i64
        %e32_2 = memref.load %expected[%c2] : memref<10xi32>
        %e64_2 = arith.extsi %e32_2 : i32 to i64
        %e32_3 = memref.load %expected[%c3] : memref<10xi32>
        %e64_3 = arith.extsi %e32_3 : i32 to i64
        %e32_4 = memref.load %expected[%c4] : memref<10xi32>
        %e64_4 = arith.extsi %e32_4 : i32 to i64
        %e32_5 = memref.load %expected[%c5] : memref<10xi32>
        %e64_5 = arith.extsi %e32_5 : i32 to i64
        %e32_6 = memref.load %expected[%c6] : memref<10xi32>
        %e64_6 = arith.extsi %e32_6 : i32 to i64
        %e32_7 = memref.load %expected[%c7] : memref<10xi32>
        %e64_7 = arith.extsi %e32_7 : i32 to i64
        %e32_8 = memref.load %expected[%c8] : memref<10xi32>
        %e64_8 = arith.extsi %e32_8 : i32 to i64
        %e32_9 = memref.load %expected[%c9] : memref<10xi32>
        %e64_9 = arith.extsi %e32_9 : i32 to i64
        symm.wait %ctx, %flags32[%c0] eq %e32_0 group block : memref<10xi32>, i32
        %v32_0 = memref.load %data[%c0, %c0] : memref<2x10xi32>
        memref.store %v32_0, %seen[%c0, %c0] : memref<2x10xi32>
        symm.wait %ctx, %flags64[%c0] eq %e64_0 group block : memref<10xi64>, i64
        %v64_0 = memref.load %data[%c1, %c0] : memref<2x10xi32>
        memref.store %v64_0, %seen[%c1, %c0] : memref<2x10xi32>
        symm.wait %ctx, %flags32[%c1] ne %e32_1 group block : memref<10xi32>, i32
        %v32_1 = memref.load %data[%c0, %c1] : memref<2x10xi32>
        memref.store %v32_1, %seen[%c0, %c1] : memref<2x10xi32>
        symm.wait %ctx, %flags64[%c1] ne %e64_1 group block : memref<10xi64>, i64
        %v64_1 = memref.load %data[%c1, %c1] : memref<2x10xi32>
        memref.store %v64_1, %seen[%c1, %c1] : memref<2x10xi32>
        symm.wait %ctx, %flags32[%c2] lt %e32_2 group block : memref<10xi32>, i32
        %v32_2 = memref.load %data[%c0, %c2] : memref<2x10xi32>
        memref.store %v32_2, %seen[%c0, %c2] : memref<2x10xi32>
        symm.wait %ctx, %flags64[%c2] lt %e64_2 group block : memref<10xi64>, i64
        %v64_2 = memref.load %data[%c1, %c2] : memref<2x10xi32>
        memref.store %v64_2, %seen[%c1, %c2] : memref<2x10xi32>
        symm.wait %ctx, %flags32[%c3] le %e32_3 group block : memref<10xi32>, i32
        %v32_3 = memref.load %data[%c0, %c3] : memref<2x10xi32>
        memref.store %v32_3, %seen[%c0, %c3] : memref<2x10xi32>
        symm.wait %ctx, %flags64[%c3] le %e64_3 group block : memref<10xi64>, i64
        %v64_3 = memref.load %data[%c1, %c3] : memref<2x10xi32>
        memref.store %v64_3, %seen[%c1, %c3] : memref<2x10xi32>
        symm.wait %ctx, %flags32[%c4] gt %e32_4 group block : memref<10xi32>, i32
        %v32_4 = memref.load %data[%c0, %c4] : memref<2x10xi32>
        memref.store %v32_4, %seen[%c0, %c4] : memref<2x10xi32>
        symm.wait %ctx, %flags64[%c4] gt %e64_4 group block : memref<10xi64>, i64
        %v64_4 = memref.load %data[%c1, %c4] : memref<2x10xi32>
        memref.store %v64_4, %seen[%c1, %c4] : memref<2x10xi32>
        symm.wait %ctx, %flags32[%c5] ge %e32_5 group block : memref<10xi32>, i32
        %v32_5 = memref.load %data[%c0, %c5] : memref<2x10xi32>
        memref.store %v32_5, %seen[%c0, %c5] : memref<2x10xi32>
        symm.wait %ctx, %flags64[%c5] ge %e64_5 group block : memref<10xi64>, i64
        %v64_5 = memref.load %data[%c1, %c5] : memref<2x10xi32>
        memref.store %v64_5, %seen[%c1, %c5] : memref<2x10xi32>
        symm.wait %ctx, %flags32[%c6] unsigned lt %e32_6 group block : memref<10xi32>, i32
        %v32_6 = memref.load %data[%c0, %c6] : memref<2x10xi32>
        memref.store %v32_6, %seen[%c0, %c6] : memref<2x10xi32>
        symm.wait %ctx, %flags64[%c6] unsigned lt %e64_6 group block : memref<10xi64>, i64
        %v64_6 = memref.load %data[%c1, %c6] : memref<2x10xi32>
        memref.store %v64_6, %seen[%c1, %c6] : memref<2x10xi32>
        symm.wait %ctx, %flags32[%c7] unsigned le %e32_7 group block : memref<10xi32>, i32
        %v32_7 = memref.load %data[%c0, %c7] : memref<2x10xi32>
        memref.store %v32_7, %seen[%c0, %c7] : memref<2x10xi32>
        symm.wait %ctx, %flags64[%c7] unsigned le %e64_7 group block : memref<10xi64>, i64
        %v64_7 = memref.load %data[%c1, %c7] : memref<2x10xi32>
        memref.store %v64_7, %seen[%c1, %c7] : memref<2x10xi32>
        symm.wait %ctx, %flags32[%c8] unsigned gt %e32_8 group block : memref<10xi32>, i32
        %v32_8 = memref.load %data[%c0, %c8] : memref<2x10xi32>
        memref.store %v32_8, %seen[%c0, %c8] : memref<2x10xi32>
        symm.wait %ctx, %flags64[%c8] unsigned gt %e64_8 group block : memref<10xi64>, i64
        %v64_8 = memref.load %data[%c1, %c8] : memref<2x10xi32>
        memref.store %v64_8, %seen[%c1, %c8] : memref<2x10xi32>
        symm.wait %ctx, %flags32[%c9] unsigned ge %e32_9 group block : memref<10xi32>, i32
        %v32_9 = memref.load %data[%c0, %c9] : memref<2x10xi32>
        memref.store %v32_9, %seen[%c0, %c9] : memref<2x10xi32>
        symm.wait %ctx, %flags64[%c9] unsigned ge %e64_9 group block : memref<10xi64>, i64
        %v64_9 = memref.load %data[%c1, %c9] : memref<2x10xi32>
        memref.store %v64_9, %seen[%c1, %c9] : memref<2x10xi32>
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c10 = arith.constant 10 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %ten = arith.constant 10 : i32
    %hundred = arith.constant 100 : i32
    %microsecond = arith.constant 1000 : i64
    %minute = arith.constant 60000000000 : i64
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %before = arith.subi %n, %one : i32
    %back = arith.addi %me, %before : i32
    %left = arith.remui %back, %n : i32
    %theirs = arith.muli %left, %hundred : i32
    %flags32 = symm.alloc %ctx : memref<10xi32>
    %flags64 = symm.alloc %ctx : memref<10xi64>
    %expected = symm.alloc %ctx : memref<10xi32>
    %final = symm.alloc %ctx : memref<10xi32>
    %data = symm.alloc %ctx : memref<2x10xi32>
    %seen = symm.alloc %ctx : memref<2x10xi32>
    %early = symm.alloc %ctx : memref<10xi32>
    %late = symm.alloc %ctx : memref<10xi32>

    %initial_values = memref.get_global @initial : memref<10xi32>
    %expected_values = memref.get_global @expected : memref<10xi32>
    %final_values = memref.get_global @final : memref<10xi32>
    %wide = memref.alloc() : memref<10xi64>
    scf.for %k = %c0 to %c10 step %c1 {
      %v = memref.load %initial_values[%k] : memref<10xi32>
      %w = arith.extsi %v : i32 to i64
      memref.store %w, %wide[%k] : memref<10xi64>
    }
    gpu.memcpy %flags32, %initial_values : memref<10xi32>, memref<10xi32>
    gpu.memcpy %flags64, %wide : memref<10xi64>, memref<10xi64>
    gpu.memcpy %expected, %expected_values : memref<10xi32>, memref<10xi32>
    gpu.memcpy %final, %final_values : memref<10xi32>, memref<10xi32>
    gpu.launch_func @kernels::@try blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %flags32 : memref<10xi32>, %flags64 : memref<10xi64>, %expected : memref<10xi32>,
        %early : memref<10xi32>, %microsecond : i64)
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@send_and_wait blocks in (%c2, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %flags32 : memref<10xi32>, %flags64 : memref<10xi64>, %expected : memref<10xi32>,
        %final : memref<10xi32>, %data : memref<2x10xi32>, %seen : memref<2x10xi32>)
    gpu.launch_func @kernels::@try blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %flags32 : memref<10xi32>, %flags64 : memref<10xi64>, %expected : memref<10xi32>,
        %late : memref<10xi32>, %minute : i64)

    %got = memref.alloc() : memref<2x10xi32>
    %got_early = memref.alloc() : memref<10xi32>
    %got_late = memref.alloc() : memref<10xi32>
    gpu.memcpy %got, %seen : memref<2x10xi32>, memref<2x10xi32>
    gpu.memcpy %got_early, %early : memref<10xi32>, memref<10xi32>
    gpu.memcpy %got_late, %late : memref<10xi32>, memref<10xi32>
    scf.for %k = %c0 to %c10 step %c1 {
      %a = memref.load %got_early[%k] : memref<10xi32>
      %none = arith.cmpi eq, %a, %zero : i32
      symm.check %none, "comparison {} held {} times before its signal"(%k, %a) : index, i32
      %b = memref.load %got_late[%k] : memref<10xi32>
      %both = arith.cmpi eq, %b, %two : i32
      symm.check %both, "comparison {} held {} times after its signal, expected 2"(%k, %b) : index, i32
      scf.for %row = %c0 to %c2 step %c1 {
        %line = arith.index_cast %row : index to i32
        %count = arith.index_cast %k : index to i32
        %start = arith.muli %line, %ten : i32
        %place = arith.addi %start, %count : i32
        %want = arith.addi %theirs, %place : i32
        %v = memref.load %got[%row, %k] : memref<2x10xi32>
        %same = arith.cmpi eq, %v, %want : i32
        symm.check %same, "after wait {} of row {}: data is {}, expected {}"(%k, %row, %v, %want)
          : index, index, i32, i32
      }
    }
    memref.dealloc %wide : memref<10xi64>
    memref.dealloc %got : memref<2x10xi32>
    memref.dealloc %got_early : memref<10xi32>
    memref.dealloc %got_late : memref<10xi32>
    return
  }
}
