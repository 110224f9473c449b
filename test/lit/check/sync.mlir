// What is signalled to flags and waited for there. What is sure is an error under strict, the rest stays a remark, and
// nothing is changed.
// RUN: sed 's/expected-sure/expected-remark/' %s > %t.1
// RUN: symm-opt %t.1 --symm-check-sync --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed 's/expected-sure/expected-error/' %s > %t.2
// RUN: symm-opt %t.2 --symm-check-sync=strict=true --split-input-file --verify-diagnostics

// A counter that only grows may be past what eq waits for.
// CHECK-LABEL: gpu.func @eq_of_counter
// CHECK: symm.wait %{{.*}}, %{{.*}}[%{{.*}}] eq %
gpu.module @kernels {
  gpu.func @eq_of_counter(%ctx: !symm.ctx, %flag: memref<1xi32>, %n: i32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    // expected-remark @+1 {{a counter that is added to may already be past what 'eq' waits for; use 'ge', or 'unsigned eq' for a counter that wraps around or is taken back}}
    symm.wait %ctx, %flag[%c0] eq %n : memref<1xi32>, i32
    gpu.return
  }
  // `unsigned eq` says that it is meant.
  gpu.func @meant(%ctx: !symm.ctx, %flag: memref<1xi32>, %n: i32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    symm.wait %ctx, %flag[%c0] unsigned eq %n : memref<1xi32>, i32
    gpu.return
  }
  // Fine: a flag that is set, one that may count down, one that somebody takes back to zero, another flag.
  gpu.func @others(%ctx: !symm.ctx, %a: memref<1xi32>, %b: memref<1xi32>, %c: memref<1xi32>, %d: memref<1xi32>,
                   %v: i32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    symm.signal set %ctx, %a[%c0], %one, %peer : memref<1xi32>, i32
    symm.signal add %ctx, %b[%c0], %v, %peer : memref<1xi32>, i32
    symm.signal add %ctx, %c[%c0], %one, %peer : memref<1xi32>, i32
    symm.wait %ctx, %a[%c0] eq %one : memref<1xi32>, i32
    symm.wait %ctx, %b[%c0] eq %v : memref<1xi32>, i32
    symm.wait %ctx, %c[%c0] eq %zero : memref<1xi32>, i32
    symm.wait %ctx, %d[%c0] eq %v : memref<1xi32>, i32
    gpu.return
  }
  // Fine: the kernel itself takes it back, in another way, or somebody it calls may.
  func.func private @reset(memref<?xi32>)
  gpu.func @taken_back(%ctx: !symm.ctx, %a: memref<1xi32>, %b: memref<1xi32>, %c: memref<4xi32>, %bytes: memref<64xi8>,
                       %n: i32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    symm.signal add %ctx, %a[%c0], %one, %peer : memref<1xi32>, i32
    symm.wait %ctx, %a[%c0] eq %n : memref<1xi32>, i32
    memref.store %zero, %a[%c0] : memref<1xi32>
    symm.signal add %ctx, %b[%c0], %one, %peer : memref<1xi32>, i32
    symm.wait %ctx, %b[%c0] eq %n : memref<1xi32>, i32
    %old = symm.atomic_rmw sub %ctx, %b[%c0], %one, %peer : memref<1xi32>, i32
    symm.signal add %ctx, %c[%c0], %one, %peer : memref<4xi32>, i32
    symm.wait %ctx, %c[%c0] eq %n : memref<4xi32>, i32
    %view = memref.cast %c : memref<4xi32> to memref<?xi32>
    func.call @reset(%view) : (memref<?xi32>) -> ()
    %busy = memref.view %bytes[%c0][] : memref<64xi8> to memref<4xi32>
    symm.signal add %ctx, %busy[%c0], %one, %peer : memref<4xi32>, i32
    symm.wait %ctx, %busy[%c0] eq %n : memref<4xi32>, i32
    %again = memref.view %bytes[%c0][] : memref<64xi8> to memref<2xi64>
    %null = arith.constant 0 : i64
    symm.signal set %ctx, %again[%c0], %null, %peer : memref<2xi64>, i64
    gpu.return
  }
}

// -----

// Every signal sets the flag to 1 or 2, and 8 are waited for.
gpu.module @kernels {
  gpu.func @set_but_counted(%ctx: !symm.ctx, %flag: memref<1xi32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %eight = arith.constant 8 : i32
    scf.for %peer = %zero to %eight step %one : i32 {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      symm.signal set %ctx, %flag[%c0], %two, %peer : memref<1xi32>, i32
    }
    // expected-sure @+1 {{the kernel only sets this flag, and to nothing that satisfies the wait; a flag that counts is signalled with add}}
    symm.wait %ctx, %flag[%c0] ge %eight : memref<1xi32>, i32
    // expected-sure @+1 {{to nothing that satisfies the wait}}
    symm.wait %ctx, %flag[%c0] eq %zero : memref<1xi32>, i32
    // expected-sure @+1 {{to nothing that satisfies the wait}}
    symm.wait %ctx, %flag[%c0] lt %one : memref<1xi32>, i32
    // Fine: these are satisfied.
    symm.wait %ctx, %flag[%c0] ge %two : memref<1xi32>, i32
    symm.wait %ctx, %flag[%c0] eq %one : memref<1xi32>, i32
    symm.wait %ctx, %flag[%c0] ne %one : memref<1xi32>, i32
    symm.wait %ctx, %flag[%c0] le %one : memref<1xi32>, i32
    gpu.return
  }
}

// -----

// Below zero, signed and not.
gpu.module @kernels {
  gpu.func @below_zero(%ctx: !symm.ctx, %flag: memref<1xi32>, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %below = arith.constant -4 : i32
    %one = arith.constant 1 : i32
    %eight = arith.constant 8 : i32
    symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    symm.signal set %ctx, %flag[%c0], %below, %peer : memref<1xi32>, i32
    symm.wait %ctx, %flag[%c0] unsigned ge %eight : memref<1xi32>, i32
    // expected-sure @+1 {{to nothing that satisfies the wait}}
    symm.wait %ctx, %flag[%c0] ge %eight : memref<1xi32>, i32
    gpu.return
  }
}

// -----

// Fine: the kernel writes the flag in another way, or it sets what is not known, or adds.
gpu.module @kernels {
  gpu.func @set_by_others(%ctx: !symm.ctx, %a: memref<1xi32>, %b: memref<1xi32>, %c: memref<1xi32>, %v: i32,
                          %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %eight = arith.constant 8 : i32
    symm.signal set %ctx, %a[%c0], %one, %peer : memref<1xi32>, i32
    %old = symm.atomic_rmw add %ctx, %a[%c0], %one, %peer : memref<1xi32>, i32
    symm.wait %ctx, %a[%c0] ge %eight : memref<1xi32>, i32
    symm.signal set %ctx, %b[%c0], %v, %peer : memref<1xi32>, i32
    symm.wait %ctx, %b[%c0] ge %eight : memref<1xi32>, i32
    symm.signal set %ctx, %c[%c0], %one, %peer : memref<1xi32>, i32
    symm.signal add %ctx, %c[%c0], %one, %peer : memref<1xi32>, i32
    symm.wait %ctx, %c[%c0] ge %eight : memref<1xi32>, i32
    gpu.return
  }
}

// -----

// Fine: another kernel signals flags of this type.
gpu.module @kernels {
  gpu.func @waits(%ctx: !symm.ctx, %flag: memref<1xi32>, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %eight = arith.constant 8 : i32
    symm.signal set %ctx, %flag[%c0], %zero, %peer : memref<1xi32>, i32
    symm.wait %ctx, %flag[%c0] ge %eight : memref<1xi32>, i32
    gpu.return
  }
  gpu.func @signals(%ctx: !symm.ctx, %flag: memref<1xi32>, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    gpu.return
  }
}

// -----

// Every rank adds to one flag, and the count is taken for the sender's number.
gpu.module @kernels {
  gpu.func @count_for_sender(%ctx: !symm.ctx, %m: memref<8xf32>, %flag: memref<1xi32>, %out: memref<8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %n = symm.num_ranks %ctx
    scf.for %peer = %zero to %n step %one : i32 {
      symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    scf.for %sender = %zero to %n step %one : i32 {
      %count = arith.addi %sender, %one : i32
      // expected-sure @+1 {{every rank adds to this flag: a count does not say whose data has come; give each rank a flag of its own}}
      symm.wait %ctx, %flag[%c0] ge %count : memref<1xi32>, i32
      %i = arith.index_cast %sender : i32 to index
      %x = memref.load %m[%i] : memref<8xf32>
      memref.store %x, %out[%i] : memref<8xf32>
    }
    // Fine: nothing is read by the sender's number, all are here after the loop.
    scf.for %sender = %zero to %n step %one : i32 {
      %count = arith.addi %sender, %one : i32
      symm.wait %ctx, %flag[%c0] ge %count : memref<1xi32>, i32
    }
    gpu.return
  }
}

// -----

// Fine: a flag for each sender, a wait for all of them, rounds of all of them.
gpu.module @kernels {
  gpu.func @count_of_all(%ctx: !symm.ctx, %m: memref<8xi32>, %each: memref<8xi32>, %all: memref<1xi32>,
                         %out: memref<8xi32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %n = symm.num_ranks %ctx
    %me = symm.rank %ctx
    %mine = arith.index_cast %me : i32 to index
    scf.for %round = %zero to %n step %one : i32 {
      scf.for %peer = %zero to %n step %one : i32 {
        symm.signal add %ctx, %each[%mine], %one, %peer : memref<8xi32>, i32
        symm.signal add %ctx, %all[%c0], %one, %peer : memref<1xi32>, i32
      }
      %rounds = arith.addi %round, %one : i32
      scf.for %sender = %zero to %n step %one : i32 {
        %i = arith.index_cast %sender : i32 to index
        symm.wait %ctx, %each[%i] ge %rounds : memref<8xi32>, i32
        %x = memref.load %m[%i] : memref<8xi32>
        memref.store %x, %out[%i] : memref<8xi32>
      }
      %count = arith.muli %rounds, %n : i32
      symm.wait %ctx, %all[%c0] ge %count : memref<1xi32>, i32
    }
    symm.wait %ctx, %all[%c0] ge %n : memref<1xi32>, i32
    gpu.return
  }
}
