// RUN: symm-opt %s --symm-check-sync --verify-diagnostics --split-input-file
// A warp may run the branch of its threads that wait before the one of those that send (O5).

gpu.module @kernels {
  gpu.func @parted(%ctx: !symm.ctx, %p: memref<64xi64>, %e: i32, %peer: i32, %v: i64) kernel {
    %t = gpu.thread_id x
    %c16 = arith.constant 16 : index
    %low = arith.cmpi ult, %t, %c16 : index
    scf.if %low {
      symm.put_packet %ctx, %p[%t], %v, %e, %peer : memref<64xi64>, i64
    } else {
      // expected-remark @+1 {{O5: threads of a warp wait here, and others of it send in the other branch}}
      %w = symm.wait_packet %ctx, %p[%t], %e : memref<64xi64> -> i64
    }
    gpu.return
  }

  gpu.func @lanes(%ctx: !symm.ctx, %flags: memref<64xi32>, %one: i32, %peer: i32) kernel {
    %t = gpu.lane_id
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      scf.if %first {
        // expected-remark @+1 {{O5}}
        symm.wait %ctx, %flags[%t] ge %one : memref<64xi32>, i32
      }
    } else {
      scf.if %first {
        symm.signal set %ctx, %flags[%t], %one, %peer : memref<64xi32>, i32
      }
    }
    gpu.return
  }
}

// -----

// Whole warps take each branch, or a wait gives up, or the group is more than a thread.
gpu.module @kernels {
  gpu.func @whole(%ctx: !symm.ctx, %flags: memref<64xi32>, %one: i32, %peer: i32, %soon: i64) kernel {
    %t = gpu.thread_id x
    %y = gpu.thread_id y
    %c0 = arith.constant 0 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %c32 = arith.constant 32 : index
    %warp = arith.divui %t, %c64 : index
    %half = arith.divui %t, %c32 : index
    %c2 = arith.constant 2 : index
    %a = arith.cmpi ult, %t, %c64 : index
    %b = arith.cmpi sgt, %t, %c63 : index
    %c = arith.cmpi eq, %warp, %c0 : index
    %d = arith.cmpi uge, %half, %c2 : index
    %e = arith.cmpi eq, %y, %c0 : index
    %below = arith.cmpi ugt, %c64, %t : index
    scf.if %a {
      symm.signal set %ctx, %flags[%c0], %one, %peer : memref<64xi32>, i32
    } else {
      symm.wait %ctx, %flags[%c0] ge %one : memref<64xi32>, i32
    }
    scf.if %b {
      symm.signal set %ctx, %flags[%c0], %one, %peer : memref<64xi32>, i32
    } else {
      symm.wait %ctx, %flags[%c0] ge %one : memref<64xi32>, i32
    }
    scf.if %c {
      symm.signal set %ctx, %flags[%c0], %one, %peer : memref<64xi32>, i32
    } else {
      symm.wait %ctx, %flags[%c0] ge %one : memref<64xi32>, i32
    }
    scf.if %d {
      symm.signal set %ctx, %flags[%c0], %one, %peer : memref<64xi32>, i32
    } else {
      symm.wait %ctx, %flags[%c0] ge %one : memref<64xi32>, i32
    }
    scf.if %e {
      symm.signal set %ctx, %flags[%c0], %one, %peer : memref<64xi32>, i32
    } else {
      symm.wait %ctx, %flags[%c0] ge %one : memref<64xi32>, i32
    }
    scf.if %below {
      symm.signal set %ctx, %flags[%c0], %one, %peer : memref<64xi32>, i32
    } else {
      symm.wait %ctx, %flags[%c0] ge %one : memref<64xi32>, i32
    }
    %few = arith.cmpi ult, %t, %c2 : index
    scf.if %few {
      symm.signal set %ctx, %flags[%c0], %one, %peer : memref<64xi32>, i32
    } else {
      %ok = symm.wait %ctx, %flags[%c0] ge %one timeout %soon : memref<64xi32>, i32 -> i1
    }
    // What both do, and what one branch does alone.
    scf.if %few {
      symm.wait %ctx, %flags[%c0] ge %one : memref<64xi32>, i32
      symm.signal set %ctx, %flags[%c0], %one, %peer : memref<64xi32>, i32
    }
    gpu.return
  }
}
