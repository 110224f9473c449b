// RUN: symm-opt %s --symm-check-sync -split-input-file -verify-diagnostics | FileCheck %s
// RUN: not symm-opt %s --symm-check-sync=strict=true -split-input-file 2>&1 | FileCheck %s --check-prefix=STRICT

// One thread signals for its block: its release covers its own writes alone.
// STRICT: error: 'symm.signal' op O3: one thread signals what the other threads of its block have written before
// CHECK-LABEL: gpu.func @one_thread
// CHECK: symm.remote_store
// CHECK-NEXT: arith.cmpi
// CHECK-NEXT: symm.fence sem release group block
// CHECK-NEXT: scf.if
// CHECK-NEXT: symm.signal
gpu.module @kernels {
  gpu.func @one_thread(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %x: f32, %one: i32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
    %first = arith.cmpi eq, %i, %c0 : index
    scf.if %first {
      // expected-remark @+1 {{O3: one thread signals what the other threads of its block have written before, and nothing releases that; use group block; put a release fence of the block in front of the branch}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.return
  }
}

// -----

// Not every thread gets here, so that no barrier can be put in.
// STRICT: error: 'symm.signal' op O3: one thread signals
// CHECK-LABEL: gpu.func @not_together
// CHECK-NOT: symm.fence
gpu.module @kernels {
  gpu.func @not_together(%ctx: !symm.ctx, %m: memref<?xf32>, %n: index, %flag: memref<1xi32>, %x: f32, %one: i32,
                         %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    %inside = arith.cmpi ult, %i, %n : index
    scf.if %inside {
      memref.store %x, %m[%i] : memref<?xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark-re @+1 {{{{use group block$}}}}
        symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
    }
    gpu.return
  }
}

// -----

// Fine: a barrier of the block in between, a signal that releases nothing, a branch that holds what it signals, every
// thread for itself.
// CHECK-LABEL: gpu.func @barrier_in_between
// CHECK-NOT: symm.fence
gpu.module @kernels {
  gpu.func @barrier_in_between(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<?xi32>, %x: f32, %one: i32,
                               %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    scf.if %first {
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<?xi32>, i32
    }
    symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer sem relaxed : memref<?xi32>, i32
    }
    symm.signal set %ctx, %flag[%i], %one, %peer : memref<?xi32>, i32
    gpu.barrier
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<?xi32>, i32
    }
    gpu.return
  }
}

// -----

// A counter that only grows may be past what eq waits for.
// STRICT: error: 'symm.wait' op a counter that is added to may already be past what 'eq' waits for
// CHECK-LABEL: gpu.func @eq_of_counter
// CHECK: symm.wait %{{.*}}, %{{.*}}[%{{.*}}] ge %
gpu.module @kernels {
  gpu.func @eq_of_counter(%ctx: !symm.ctx, %flag: memref<1xi32>, %n: i32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    // expected-remark @+1 {{a counter that is added to may already be past what 'eq' waits for; made ge}}
    symm.wait %ctx, %flag[%c0] eq %n : memref<1xi32>, i32
    gpu.return
  }
}

// -----

// Fine: a flag that is set, one that may count down, an unsigned one (it may start below zero), another flag.
// CHECK-LABEL: gpu.func @eq_of_others
// CHECK-COUNT-4: eq %
gpu.module @kernels {
  gpu.func @eq_of_others(%ctx: !symm.ctx, %a: memref<1xi32>, %b: memref<1xi32>, %c: memref<1xi32>, %d: memref<1xi32>,
                         %v: i32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    symm.signal set %ctx, %a[%c0], %one, %peer : memref<1xi32>, i32
    symm.signal add %ctx, %b[%c0], %v, %peer : memref<1xi32>, i32
    symm.signal add %ctx, %c[%c0], %one, %peer : memref<1xi32>, i32
    symm.wait %ctx, %a[%c0] eq %one : memref<1xi32>, i32
    symm.wait %ctx, %b[%c0] eq %v : memref<1xi32>, i32
    symm.wait %ctx, %c[%c0] unsigned eq %v : memref<1xi32>, i32
    symm.wait %ctx, %d[%c0] eq %v : memref<1xi32>, i32
    gpu.return
  }
}

// -----

// Another kernel, or this one, may take the counter back, or zero is waited for: left as it is, also under strict.
// STRICT-NOT: error: 'symm.wait' op a counter
// CHECK-LABEL: gpu.func @taken_back
// CHECK-COUNT-2: eq %
gpu.module @kernels {
  gpu.func @taken_back(%ctx: !symm.ctx, %busy: memref<1xi64>, %n: i64, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    // expected-remark @+1 {{a counter that is added to may already be past what 'eq' waits for, unless something takes it back in time; left as it is}}
    symm.wait %ctx, %busy[%c0] eq %zero : memref<1xi64>, i64
    symm.signal add %ctx, %busy[%c0], %one, %peer : memref<1xi64>, i64
    // expected-remark @+1 {{left as it is}}
    symm.wait %ctx, %busy[%c0] eq %n : memref<1xi64>, i64
    gpu.return
  }
  gpu.func @take_back(%ctx: !symm.ctx, %flag: memref<4xi64>, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i64
    symm.signal set %ctx, %flag[%c0], %zero, %peer : memref<4xi64>, i64
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @awaits_zero
// CHECK: eq %
gpu.module @kernels {
  gpu.func @awaits_zero(%ctx: !symm.ctx, %flag: memref<1xi64>, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi64>, i64
    // expected-remark @+1 {{left as it is}}
    symm.wait %ctx, %flag[%c0] eq %zero : memref<1xi64>, i64
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @by_exchange
// CHECK: eq %
gpu.module @kernels {
  gpu.func @by_exchange(%ctx: !symm.ctx, %flag: memref<1xi64>, %other: memref<8xi64>, %n: i64, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi64>, i64
    // expected-remark @+1 {{left as it is}}
    symm.wait %ctx, %flag[%c0] eq %n : memref<1xi64>, i64
    %old = symm.atomic_rmw xchg %ctx, %other[%c0], %n, %peer : memref<8xi64>, i64
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @by_subtraction
// CHECK: eq %
gpu.module @kernels {
  gpu.func @by_subtraction(%ctx: !symm.ctx, %flag: memref<1xi64>, %other: memref<8xi64>, %n: i64, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi64>, i64
    // expected-remark @+1 {{left as it is}}
    symm.wait %ctx, %flag[%c0] eq %n : memref<1xi64>, i64
    %old = symm.atomic_rmw sub %ctx, %other[%c0], %one, %peer : memref<8xi64>, i64
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @by_swap
// CHECK: eq %
gpu.module @kernels {
  gpu.func @by_swap(%ctx: !symm.ctx, %flag: memref<1xi64>, %other: memref<8xi64>, %n: i64, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi64>, i64
    // expected-remark @+1 {{left as it is}}
    symm.wait %ctx, %flag[%c0] eq %n : memref<1xi64>, i64
    %old = symm.atomic_cas %ctx, %other[%c0], %n, %one, %peer : memref<8xi64>, i64
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @by_addition_of_any
// CHECK: eq %
gpu.module @kernels {
  gpu.func @by_addition_of_any(%ctx: !symm.ctx, %flag: memref<1xi64>, %other: memref<8xi64>, %n: i64, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi64>, i64
    // expected-remark @+1 {{left as it is}}
    symm.wait %ctx, %flag[%c0] eq %n : memref<1xi64>, i64
    symm.signal add %ctx, %other[%c0], %n, %peer : memref<8xi64>, i64
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @by_remote_store
// CHECK: eq %
gpu.module @kernels {
  gpu.func @by_remote_store(%ctx: !symm.ctx, %flag: memref<1xi64>, %other: memref<8xi64>, %n: i64, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi64>, i64
    // expected-remark @+1 {{left as it is}}
    symm.wait %ctx, %flag[%c0] eq %n : memref<1xi64>, i64
    symm.remote_store %ctx, %n, %other[%c0], %peer : i64, memref<8xi64>
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @by_bulk
// CHECK: eq %
gpu.module @kernels {
  gpu.func @by_bulk(%ctx: !symm.ctx, %flag: memref<1xi64>, %other: memref<8xi64>, %n: i64, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi64>, i64
    // expected-remark @+1 {{left as it is}}
    symm.wait %ctx, %flag[%c0] eq %n : memref<1xi64>, i64
    symm.put %ctx, %other, %other, %peer : memref<8xi64>, memref<8xi64>
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @by_store
// CHECK: eq %
gpu.module @kernels {
  gpu.func @by_store(%ctx: !symm.ctx, %flag: memref<1xi64>, %other: memref<8xi64>, %n: i64, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi64>, i64
    // expected-remark @+1 {{left as it is}}
    symm.wait %ctx, %flag[%c0] eq %n : memref<1xi64>, i64
    memref.store %n, %other[%c0] : memref<8xi64>
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @by_unknown
// CHECK: eq %
gpu.module @kernels {
  gpu.func @by_unknown(%ctx: !symm.ctx, %flag: memref<1xi64>, %other: memref<8xi64>, %n: i64, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi64>, i64
    // expected-remark @+1 {{left as it is}}
    symm.wait %ctx, %flag[%c0] eq %n : memref<1xi64>, i64
    llvm.inline_asm has_side_effects "", "" : () -> ()
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @by_unknown_function
// CHECK: eq %
gpu.module @kernels {
  func.func private @elsewhere()
  gpu.func @by_unknown_function(%ctx: !symm.ctx, %flag: memref<1xi64>, %other: memref<8xi64>, %n: i64, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi64>, i64
    // expected-remark @+1 {{left as it is}}
    symm.wait %ctx, %flag[%c0] eq %n : memref<1xi64>, i64
    func.call @elsewhere() : () -> ()
    gpu.return
  }
}

// -----

// STRICT: error: 'symm.wait' op a counter that is added to may already be past what 'eq' waits for
// Nothing here takes it back: other types, memory of the block, more additions, functions that are here, the host.
// CHECK-LABEL: gpu.func @only_grows
// CHECK: ge %
module attributes {gpu.container_module} {
  gpu.module @kernels {
    func.func private @visit(%m: memref<?xf32>, %x: f32) {
      %c0 = arith.constant 0 : index
      memref.store %x, %m[%c0] : memref<?xf32>
      return
    }
    gpu.func @only_grows(%ctx: !symm.ctx, %flag: memref<1xi64>, %m: memref<?xf32>, %half: memref<8xi32>, %x: f32,
                         %n: i64, %i: i32, %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i64
      %own = memref.alloca() : memref<4xi64>
      memref.store %n, %own[%c0] : memref<4xi64>
      memref.store %i, %half[%c0] : memref<8xi32>
      func.call @visit(%m, %x) : (memref<?xf32>, f32) -> ()
      symm.put %ctx, %m, %m, %peer : memref<?xf32>, memref<?xf32>
      symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi64>, i64
      // expected-remark @+1 {{made ge}}
      symm.wait %ctx, %flag[%c0] eq %n : memref<1xi64>, i64
      gpu.return
    }
    gpu.func @grows_too(%ctx: !symm.ctx, %flag: memref<1xi64>, %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %two = arith.constant 2 : i64
      %old = symm.atomic_rmw add %ctx, %flag[%c0], %two, %peer : memref<1xi64>, i64
      gpu.return
    }
  }
  func.func @main(%ctx: !symm.ctx, %from: memref<1xi64>) {
    %flag = symm.alloc %ctx : memref<1xi64>
    gpu.memcpy %flag, %from : memref<1xi64>, memref<1xi64>
    return
  }
}

// -----

// Every signal sets the flag to 1, and 8 are waited for.
// STRICT: error: 'symm.wait' op the kernel only sets this flag, and to nothing that satisfies the wait
gpu.module @kernels {
  gpu.func @set_but_counted(%ctx: !symm.ctx, %flag: memref<1xi32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %eight = arith.constant 8 : i32
    scf.for %peer = %zero to %eight step %one : i32 {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    // expected-remark @+1 {{the kernel only sets this flag, and to nothing that satisfies the wait; a flag that counts is signalled with add}}
    symm.wait %ctx, %flag[%c0] ge %eight : memref<1xi32>, i32
    // Fine: this one is satisfied.
    symm.wait %ctx, %flag[%c0] ge %one : memref<1xi32>, i32
    gpu.return
  }
}

// -----

// Every rank adds to one flag, and the count is taken for the sender's number.
// STRICT: error: 'symm.wait' op every rank adds to this flag: a count does not say whose data has come
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
      // expected-remark @+1 {{every rank adds to this flag: a count does not say whose data has come; give each rank a flag of its own}}
      symm.wait %ctx, %flag[%c0] ge %count : memref<1xi32>, i32
      %i = arith.index_cast %sender : i32 to index
      %x = memref.load %m[%i] : memref<8xf32>
      memref.store %x, %out[%i] : memref<8xf32>
    }
    gpu.return
  }
}

// -----

// Fine: a flag for each sender, a wait for all of them, rounds of all of them.
gpu.module @kernels {
  gpu.func @count_of_all(%ctx: !symm.ctx, %each: memref<8xi32>, %all: memref<1xi32>) kernel {
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
      }
      %count = arith.muli %rounds, %n : i32
      symm.wait %ctx, %all[%c0] ge %count : memref<1xi32>, i32
    }
    symm.wait %ctx, %all[%c0] ge %n : memref<1xi32>, i32
    gpu.return
  }
}

// -----

// Memory may be seen as of two types: what is written as one may be the counter, which is of another.
gpu.module @kernels {
  gpu.func @sender(%ctx: !symm.ctx, %bytes: memref<64xi8>, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %busy = memref.view %bytes[%c0][] : memref<64xi8> to memref<4xi32>
    symm.signal add %ctx, %busy[%c0], %one, %peer : memref<4xi32>, i32
    // expected-remark @+1 {{left as it is}}
    symm.wait %ctx, %busy[%c0] eq %one : memref<4xi32>, i32
    gpu.return
  }
  gpu.func @receiver(%ctx: !symm.ctx, %bytes: memref<64xi8>, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i64
    %busy = memref.view %bytes[%c0][] : memref<64xi8> to memref<2xi64>
    symm.signal set %ctx, %busy[%c0], %zero, %peer : memref<2xi64>, i64
    gpu.return
  }
}
