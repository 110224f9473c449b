// RUN: %run-all
// symm.put_packet, symm.wait_packet and symm.try_packet of floats that show by themselves that they have come: vectors of two
// lines, scalars of 64 and 16 bits, masks, NaNs and -0.0. In each launch every thread sends to all ranks, and clears what it
// has received: two buffers in turn.

!lines = memref<16384xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // The first word of a thread's lines from a source: 8 ranks, 64 threads, 4 lines of 4 words.
    func.func private @line(%call: i32, %source: i32, %thread: i32) -> index {
      %two = arith.constant 2 : i32
      %eight = arith.constant 8 : i32
      %threads = arith.constant 64 : i32
      %words = arith.constant 16 : i32
      %buffer = arith.remui %call, %two : i32
      %before = arith.muli %buffer, %eight : i32
      %number = arith.addi %before, %source : i32
      %all = arith.muli %number, %threads : i32
      %mine = arith.addi %all, %thread : i32
      %first = arith.muli %mine, %words : i32
      %at = arith.index_cast %first : i32 to index
      return %at : index
    }

    gpu.func @start(%ctx: !symm.ctx, %lines: !lines) kernel {
      %ones = arith.constant -1 : i32
      %thread = gpu.thread_id x
      %block = gpu.block_id x
      %threads = gpu.block_dim x
      %c2 = arith.constant 2 : index
      %before = arith.muli %block, %threads : index
      %at = arith.addi %before, %thread : index
      %step = arith.muli %threads, %c2 : index
      %end = arith.constant 16384 : index
      scf.for %i = %at to %end step %step {
        memref.store %ones, %lines[%i] : !lines
      }
      gpu.return
    }

    gpu.func @call(%ctx: !symm.ctx, %lines: !lines, %wrong: memref<1xi32>, %call: i32) kernel {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c12 = arith.constant 12 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %false = arith.constant false
      %lanes = arith.constant dense<[1, 0, 1, 1, 0, 0, 0, 0]> : vector<8xi1>
      %no_lanes = arith.constant dense<false> : vector<8xi1>
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %block = gpu.block_id x
      %threads = gpu.block_dim x
      %in_block = gpu.thread_id x
      %before = arith.muli %block, %threads : index
      %number = arith.addi %before, %in_block : index
      %thread = arith.index_cast %number : index to i32
      %odd = arith.trunci %call : i32 to i1

      // A number; what clears, -0.0, a NaN with a payload, zero, infinity, a denormal, ones but for one bit.
      %mine = func.call @number(%me, %thread, %call) : (i32, i32, i32) -> i32
      %rest = arith.constant dense<[0, -1, -2147483648, 2139095041, 0, -8388608, 1, -2]> : vector<8xi32>
      %v_bits = vector.insert %mine, %rest[0] : i32 into vector<8xi32>
      %v_sent = arith.bitcast %v_bits : vector<8xi32> to vector<8xf32>
      %ones = arith.constant -1 : i64
      %half = arith.constant 4294967295 : i64
      %w_bits = arith.select %odd, %ones, %half : i64
      %w_sent = arith.bitcast %w_bits : i64 to f64
      // Of a scalar of 16 bits the rest of the word is zero: ones come as they are.
      %h_bits = arith.constant -1 : i16
      %h_sent = arith.bitcast %h_bits : i16 to bf16
      %to = func.call @line(%call, %me, %thread) : (i32, i32, i32) -> index
      %to_w = arith.addi %to, %c8 : index
      %to_h = arith.addi %to, %c12 : index
      scf.for %peer = %zero to %n step %one : i32 {
        symm.put_packet %ctx, %lines[%to], %v_sent, sentinel 32, %peer : !lines, vector<8xf32>
        symm.put_packet %ctx, %lines[%to_w], %w_sent, sentinel 64, %peer mask %true : i1 : !lines, f64
        symm.put_packet %ctx, %lines[%to_h], %h_sent, sentinel 16, %peer : !lines, bf16
        // Nothing is sent, and nothing cleared.
        symm.put_packet %ctx, %lines[%to], %v_sent, sentinel 32, %peer mask %no_lanes : vector<8xi1> : !lines, vector<8xf32>
      }

      scf.for %source = %zero to %n step %one : i32 {
        %from = func.call @line(%call, %source, %thread) : (i32, i32, i32) -> index
        %from_w = arith.addi %from, %c8 : index
        %from_h = arith.addi %from, %c12 : index
        %v, %tries = scf.while (%none = %zero) : (i32) -> (vector<8xf32>, i32) {
          %value, %valid = symm.try_packet %ctx, %lines[%from], sentinel 32 : !lines -> vector<8xf32>, i1
          %missing = arith.xori %valid, %true : i1
          scf.condition(%missing) %value, %none : vector<8xf32>, i32
        } do {
        ^bb0(%value: vector<8xf32>, %none: i32):
          scf.yield %none : i32
        }
        %m = symm.wait_packet %ctx, %lines[%from], sentinel 32 mask %lanes : vector<8xi1> : !lines -> vector<8xf32>
        %w = symm.wait_packet %ctx, %lines[%from_w], sentinel 64 : !lines -> f64
        %h = symm.wait_packet %ctx, %lines[%from_h], sentinel 16 : !lines -> bf16

        %theirs = func.call @number(%source, %thread, %call) : (i32, i32, i32) -> i32
        %known = arith.constant dense<[0, 2147483647, -2147483648, 2139095041, 0, -8388608, 1, -2]> : vector<8xi32>
        %v_want = vector.insert %theirs, %known[0] : i32 into vector<8xi32>
        %v_got = arith.bitcast %v : vector<8xf32> to vector<8xi32>
        %v_lanes = arith.cmpi eq, %v_got, %v_want : vector<8xi32>
        %v_right = vector.reduction <and>, %v_lanes : vector<8xi1> into i1
        %off = arith.constant dense<0> : vector<8xi32>
        %m_want = arith.select %lanes, %v_want, %off : vector<8xi1>, vector<8xi32>
        %m_got = arith.bitcast %m : vector<8xf32> to vector<8xi32>
        %m_lanes = arith.cmpi eq, %m_got, %m_want : vector<8xi32>
        %m_right = vector.reduction <and>, %m_lanes : vector<8xi1> into i1
        %w_got = arith.bitcast %w : f64 to i64
        %w_ones = arith.constant 9223372036854775807 : i64
        %w_want = arith.select %odd, %w_ones, %half : i64
        %w_right = arith.cmpi eq, %w_got, %w_want : i64
        %h_got = arith.bitcast %h : bf16 to i16
        %h_right = arith.cmpi eq, %h_got, %h_bits : i16
        %r0 = arith.andi %v_right, %m_right : i1
        %r1 = arith.andi %r0, %w_right : i1
        %r2 = arith.andi %r1, %h_right : i1
        %bad = arith.xori %r2, %true : i1
        scf.if %bad {
          %old = symm.atomic_rmw add %ctx, %wrong[%c0], %one, %me sem relaxed : memref<1xi32>, i32
        }
        symm.put_packet %ctx, %lines[%from], %v, sentinel 32, %me clear : !lines, vector<8xf32>
        symm.put_packet %ctx, %lines[%from_w], %w, sentinel 64, %me clear : !lines, f64
        symm.put_packet %ctx, %lines[%from_h], %h, sentinel 16, %me clear mask %true : i1 : !lines, bf16
        // What is not asked for is there, and zero; what is clear is not.
        %z, %is_off = symm.try_packet %ctx, %lines[%from_w], sentinel 64 mask %false : i1 : !lines -> f64, i1
        %c, %is_clear = symm.try_packet %ctx, %lines[%from_w], sentinel 64 : !lines -> f64, i1
        %off_bad = arith.xori %is_off, %true : i1
        %either = arith.ori %off_bad, %is_clear : i1
        scf.if %either {
          %old = symm.atomic_rmw add %ctx, %wrong[%c0], %one, %me sem relaxed : memref<1xi32>, i32
        }
      }
      gpu.return
    }

    func.func private @number(%rank: i32, %thread: i32, %call: i32) -> i32 {
      %c1000 = arith.constant 1000 : i32
      %c100 = arith.constant 100 : i32
      %calls = arith.muli %call, %c1000 : i32
      %ranks = arith.muli %rank, %c100 : i32
      %both = arith.addi %calls, %ranks : i32
      %number = arith.addi %both, %thread : i32
      return %number : i32
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %threads = arith.constant 32 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %calls = arith.constant 7 : i32
    %lines = symm.alloc %ctx {align = 16 : i64} : !lines
    %wrong = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@start blocks in (%c2, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%ctx : !symm.ctx, %lines : !lines)
    symm.barrier_all %ctx
    scf.for %call = %zero to %calls step %one : i32 {
      gpu.launch_func @kernels::@call blocks in (%c2, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%ctx : !symm.ctx, %lines : !lines, %wrong : memref<1xi32>, %call : i32)
    }
    symm.barrier_all %ctx
    %bad = memref.alloc() : memref<1xi32>
    gpu.memcpy %bad, %wrong : memref<1xi32>, memref<1xi32>
    %b = memref.load %bad[%c0] : memref<1xi32>
    %right = arith.cmpi eq, %b, %zero : i32
    symm.check %right, "{} values were wrong"(%b) : i32
    memref.dealloc %bad : memref<1xi32>
    return
  }
}
