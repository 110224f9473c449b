// What is signalled to flags and waited for there: a remark, and an error under strict. Nothing is changed.
// RUN: sed 's/expected-sure/expected-remark/' %s > %t.1
// RUN: symm-opt %t.1 --symm-check-sync --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed 's/expected-sure/expected-error/' %s > %t.2
// RUN: symm-opt %t.2 --symm-check-sync=strict=true --split-input-file --verify-diagnostics

// Every signal sets the flag to 1 or 2, and 8 are waited for.
// CHECK-LABEL: gpu.func @set_but_counted
// CHECK: symm.wait %{{.*}}, %{{.*}}[%{{.*}}] ge %
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

// Fine: it is also written in another way, through a view, or by somebody who is called.
gpu.module @kernels {
  func.func private @reset(memref<?xi32>)
  gpu.func @written(%ctx: !symm.ctx, %a: memref<1xi32>, %c: memref<4xi32>, %bytes: memref<64xi8>, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %eight = arith.constant 8 : i32
    symm.signal set %ctx, %a[%c0], %one, %peer : memref<1xi32>, i32
    symm.wait %ctx, %a[%c0] ge %eight : memref<1xi32>, i32
    memref.store %eight, %a[%c0] : memref<1xi32>
    symm.signal set %ctx, %c[%c0], %one, %peer : memref<4xi32>, i32
    symm.wait %ctx, %c[%c0] ge %eight : memref<4xi32>, i32
    %view = memref.cast %c : memref<4xi32> to memref<?xi32>
    func.call @reset(%view) : (memref<?xi32>) -> ()
    %busy = memref.view %bytes[%c0][] : memref<64xi8> to memref<4xi32>
    symm.signal set %ctx, %busy[%c0], %one, %peer : memref<4xi32>, i32
    symm.wait %ctx, %busy[%c0] ge %eight : memref<4xi32>, i32
    %again = memref.view %bytes[%c0][] : memref<64xi8> to memref<2xi64>
    %count = arith.constant 8 : i64
    symm.signal set %ctx, %again[%c0], %count, %peer : memref<2xi64>, i64
    gpu.return
  }
}

// -----

// Fine: counters, whose values symm-check sees.
gpu.module @kernels {
  gpu.func @counters(%ctx: !symm.ctx, %m: memref<8xf32>, %flag: memref<1xi32>, %out: memref<8xf32>, %k: i32) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %n = symm.num_ranks %ctx
    scf.for %peer = %zero to %n step %one : i32 {
      symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    symm.wait %ctx, %flag[%c0] eq %k : memref<1xi32>, i32
    scf.for %sender = %zero to %n step %one : i32 {
      %count = arith.addi %sender, %one : i32
      symm.wait %ctx, %flag[%c0] ge %count : memref<1xi32>, i32
      %i = arith.index_cast %sender : i32 to index
      %x = memref.load %m[%i] : memref<8xf32>
      memref.store %x, %out[%i] : memref<8xf32>
    }
    gpu.return
  }
}
