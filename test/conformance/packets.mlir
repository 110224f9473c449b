// RUN: %run-all
// symm.put_packet, symm.wait_packet, symm.try_packet: scalars, vectors with tails, masks, and epochs that wrap. Each thread
// sends its values to the next rank, waits for those of the rank before and answers with a packet, without any order.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @ring(%ctx: !symm.ctx, %slots: memref<?xi32>, %wrong: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %c28 = arith.constant 28 : index
      %c40 = arith.constant 40 : index
      %c44 = arith.constant 44 : index
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      // From -3: the epoch that wraps to 0 is the fourth one.
      %start = arith.constant -3 : i32
      %steps = arith.constant 9 : i32
      %true = arith.constant true
      %false = arith.constant false
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %up = arith.addi %me, %one : i32
      %next = arith.remui %up, %n : i32
      %around = arith.addi %me, %n : i32
      %down = arith.subi %around, %one : i32
      %prev = arith.remui %down, %n : i32
      %block = gpu.block_id x
      %threads = gpu.block_dim x
      %thread = gpu.thread_id x
      %before = arith.muli %block, %threads : index
      %number = arith.addi %before, %thread : index
      %number32 = arith.index_cast %number : index to i32
      // Eleven lines for each thread: 10 of values, and one of the answer.
      %f = arith.muli %number, %c44 : index
      %w = arith.addi %f, %c4 : index
      %t = arith.addi %f, %c8 : index
      %s = arith.addi %f, %c16 : index
      %m = arith.addi %f, %c28 : index
      %a = arith.addi %f, %c40 : index
      %lanes = arith.constant dense<[1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1]> : vector<20xi1>
      scf.for %step = %zero to %steps step %one : i32 {
        %epoch = arith.addi %start, %step : i32
        // Another number in each epoch and thread, on each rank.
        %c1000 = arith.constant 1000 : i32
        %c100 = arith.constant 100 : i32
        %by_step = arith.muli %step, %c1000 : i32
        %by_thread = arith.addi %by_step, %number32 : i32
        %mine_by = arith.muli %me, %c100 : i32
        %mine = arith.addi %by_thread, %mine_by : i32
        %theirs_by = arith.muli %prev, %c100 : i32
        %theirs = arith.addi %by_thread, %theirs_by : i32

        %f_sent = arith.sitofp %mine : i32 to f32
        %w_low = arith.extsi %mine : i32 to i64
        %large = arith.constant -81985529216486896 : i64
        %w_sent = arith.xori %w_low, %large : i64
        %t_sent = vector.broadcast %f_sent : f32 to vector<3xf32>
        %s_narrow = arith.trunci %mine : i32 to i16
        %s_all = vector.broadcast %s_narrow : i16 to vector<11xi16>
        %s_steps = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]> : vector<11xi16>
        %s_sent = arith.addi %s_all, %s_steps : vector<11xi16>
        %m_narrow = arith.trunci %mine : i32 to i8
        %m_sent = vector.broadcast %m_narrow : i8 to vector<20xi8>
        symm.put_packet %ctx, %slots[%f], %f_sent, %epoch, %next : memref<?xi32>, f32
        symm.put_packet %ctx, %slots[%w], %w_sent, %epoch, %next : memref<?xi32>, i64
        symm.put_packet %ctx, %slots[%t], %t_sent, %epoch, %next mask %true : i1 : memref<?xi32>, vector<3xf32>
        symm.put_packet %ctx, %slots[%s], %s_sent, %epoch, %next : memref<?xi32>, vector<11xi16>
        // Of three lines the second one has no element that is on.
        symm.put_packet %ctx, %slots[%m], %m_sent, %epoch, %next mask %lanes : vector<20xi1>
          : memref<?xi32>, vector<20xi8>

        %f_got = symm.wait_packet %ctx, %slots[%f], %epoch : memref<?xi32> -> f32
        %w_got, %tries = scf.while (%none = %zero) : (i32) -> (i64, i32) {
          %value, %valid = symm.try_packet %ctx, %slots[%w], %epoch : memref<?xi32> -> i64, i1
          %missing = arith.xori %valid, %true : i1
          scf.condition(%missing) %value, %none : i64, i32
        } do {
        ^bb0(%value: i64, %none: i32):
          scf.yield %none : i32
        }
        %t_got = symm.wait_packet %ctx, %slots[%t], %epoch : memref<?xi32> -> vector<3xf32>
        %s_got = symm.wait_packet %ctx, %slots[%s], %epoch mask %true : i1 : memref<?xi32> -> vector<11xi16>
        %m_got = symm.wait_packet %ctx, %slots[%m], %epoch mask %lanes : vector<20xi1> : memref<?xi32> -> vector<20xi8>
        // What is not asked for is there, and zero.
        %off = symm.wait_packet %ctx, %slots[%f], %steps mask %false : i1 : memref<?xi32> -> i64
        %f_off, %is_off = symm.try_packet %ctx, %slots[%f], %steps mask %false : i1 : memref<?xi32> -> f32, i1
        %late, %is_late = symm.try_packet %ctx, %slots[%f], %c1000 : memref<?xi32> -> f32, i1

        %f_want = arith.sitofp %theirs : i32 to f32
        %w_want_low = arith.extsi %theirs : i32 to i64
        %w_want = arith.xori %w_want_low, %large : i64
        %t_want = vector.broadcast %f_want : f32 to vector<3xf32>
        %s_want_narrow = arith.trunci %theirs : i32 to i16
        %s_want_all = vector.broadcast %s_want_narrow : i16 to vector<11xi16>
        %s_want = arith.addi %s_want_all, %s_steps : vector<11xi16>
        %m_want_narrow = arith.trunci %theirs : i32 to i8
        %m_want_all = vector.broadcast %m_want_narrow : i8 to vector<20xi8>
        %m_none = arith.constant dense<0> : vector<20xi8>
        %m_want = arith.select %lanes, %m_want_all, %m_none : vector<20xi1>, vector<20xi8>
        %f_right = arith.cmpf oeq, %f_got, %f_want : f32
        %w_right = arith.cmpi eq, %w_got, %w_want : i64
        %t_lanes = arith.cmpf oeq, %t_got, %t_want : vector<3xf32>
        %t_right = vector.reduction <and>, %t_lanes : vector<3xi1> into i1
        %s_lanes = arith.cmpi eq, %s_got, %s_want : vector<11xi16>
        %s_right = vector.reduction <and>, %s_lanes : vector<11xi1> into i1
        %m_lanes = arith.cmpi eq, %m_got, %m_want : vector<20xi8>
        %m_right = vector.reduction <and>, %m_lanes : vector<20xi1> into i1
        %none = arith.constant 0 : i64
        %off_right = arith.cmpi eq, %off, %none : i64
        %not_late = arith.xori %is_late, %true : i1
        %r0 = arith.andi %f_right, %w_right : i1
        %r1 = arith.andi %r0, %t_right : i1
        %r2 = arith.andi %r1, %s_right : i1
        %r3 = arith.andi %r2, %m_right : i1
        %r4 = arith.andi %r3, %off_right : i1
        %r5 = arith.andi %r4, %is_off : i1
        %r6 = arith.andi %r5, %not_late : i1
        %bad = arith.xori %r6, %true : i1
        scf.if %bad {
          %old = symm.atomic_rmw add %ctx, %wrong[%c0], %one, %me sem relaxed : memref<1xi32>, i32
        }
        // The answer: the slots are free.
        symm.put_packet %ctx, %slots[%a], %one, %epoch, %prev : memref<?xi32>, i32
        %answer = symm.wait_packet %ctx, %slots[%a], %epoch : memref<?xi32> -> i32
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %threads = arith.constant 32 : index
    %zero = arith.constant 0 : i32
    // 44 words for each of 64 threads.
    %words = arith.constant 2816 : index
    %slots = symm.alloc %ctx(%words) {align = 16 : i64} : memref<?xi32>
    %wrong = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@ring blocks in (%c2, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : memref<?xi32>, %wrong : memref<1xi32>)
    symm.barrier_all %ctx
    %bad = memref.alloc() : memref<1xi32>
    gpu.memcpy %bad, %wrong : memref<1xi32>, memref<1xi32>
    %b = memref.load %bad[%c0] : memref<1xi32>
    %right = arith.cmpi eq, %b, %zero : i32
    symm.check %right, "{} steps were wrong"(%b) : i32
    memref.dealloc %bad : memref<1xi32>
    return
  }
}
