// RUN: symm-opt %s --allow-unregistered-dialect --symm-infer-order | FileCheck %s
// What it makes is finished, and nothing that symm-check-memory-order would mend.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-infer-order -o %t
// RUN: symm-opt %t --allow-unregistered-dialect --symm-infer-order | diff %t -
// RUN: symm-opt %s --allow-unregistered-dialect --symm-check-memory-order --symm-infer-order \
// RUN:   --symm-check-memory-order=strict=true | FileCheck %s

// The signals of a broadcast: one fence for all.
// CHECK-LABEL: @straight_line
func.func @straight_line(%ctx: !symm.ctx, %m: memref<8xf32>, %x: f32, %flag: memref<8xi64>, %i: index, %v: i64,
                         %p: i32, %q: i32, %r: i32) {
  // CHECK: symm.remote_store
  // CHECK-NEXT: symm.remote_store
  // CHECK-NEXT: symm.fence sem release{{$}}
  // CHECK-NEXT: symm.signal set {{.*}} sem relaxed :
  // CHECK-NEXT: arith.addi
  // CHECK-NEXT: symm.heap_delta
  // CHECK-NEXT: symm.signal set {{.*}} sem relaxed :
  // CHECK-NEXT: symm.signal set {{.*}} sem relaxed :
  // CHECK-NEXT: return
  symm.remote_store %ctx, %m[%i], %x, %p : memref<8xf32>, f32
  symm.remote_store %ctx, %m[%i], %x, %q : memref<8xf32>, f32
  symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  %s = arith.addi %p, %q : i32
  %delta = symm.heap_delta %ctx, %s
  symm.signal set %ctx, %flag[%i], %v, %s via %delta : memref<8xi64>, i64
  symm.signal set %ctx, %flag[%i], %v, %r : memref<8xi64>, i64
  return
}

// The loop form, with the usual way around this rank; equal constants count as one value.
// CHECK-LABEL: @loop
func.func @loop(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %n: i32, %me: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: symm.fence sem release{{$}}
  // CHECK-NEXT: scf.for
  // CHECK: scf.if
  // CHECK-NEXT: arith.constant 7
  // CHECK-NEXT: symm.signal add {{.*}} sem relaxed :
  scf.for %p = %c0 to %n step %c1 : i32 {
    %other = arith.cmpi ne, %p, %me : i32
    scf.if %other {
      %one = arith.constant 7 : i64
      symm.signal add %ctx, %flag[%i], %one, %p : memref<8xi64>, i64
    }
  }
  // CHECK: symm.signal add {{.*}} sem relaxed :
  // CHECK-NEXT: return
  %again = arith.constant 7 : i64
  symm.signal add %ctx, %flag[%i], %again, %me : memref<8xi64>, i64
  return
}

// A group's fence is the group's: its first thread makes it, after a barrier.
// CHECK-LABEL: @groups
func.func @groups(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64, %p: i32, %q: i32) {
  // CHECK: symm.fence sem release group block
  // CHECK-NEXT: symm.signal set {{.*}} sem relaxed group block
  // CHECK-NEXT: symm.signal set {{.*}} sem relaxed group block
  symm.signal set %ctx, %flag[%i], %v, %p group block : memref<8xi64>, i64
  symm.signal set %ctx, %flag[%i], %v, %q group block : memref<8xi64>, i64
  // CHECK-NEXT: symm.fence sem release group warp
  // CHECK-NEXT: symm.signal set {{.*}} sem relaxed group warp
  // CHECK-NEXT: symm.signal set {{.*}} sem relaxed group warp
  symm.signal set %ctx, %flag[%i], %v, %p group warp : memref<8xi64>, i64
  symm.signal set %ctx, %flag[%i], %v, %q group warp : memref<8xi64>, i64
  // CHECK-NEXT: symm.wait {{.*}} sem relaxed group block
  // CHECK-NEXT: symm.wait {{.*}} sem relaxed group block
  // CHECK-NEXT: symm.fence sem acquire group block
  // CHECK-NEXT: return
  symm.wait %ctx, %flag[%i] ge %v group block : memref<8xi64>, i64
  symm.wait %ctx, %flag[%i] gt %v group block : memref<8xi64>, i64
  return
}

// Waits that follow each other, some in a loop: one fence after the last, and one with the signals' before them.
// CHECK-LABEL: @waits
func.func @waits(%ctx: !symm.ctx, %m: memref<8xf32>, %flag: memref<8xi64>, %i: index, %n: index, %v: i64, %p: i32,
                 %q: i32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: symm.wait {{.*}} unsigned gt {{.*}} sem relaxed :
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: symm.wait {{.*}} ge {{.*}} sem relaxed :
  // CHECK-NEXT: }
  // CHECK-NEXT: symm.fence{{$}}
  // CHECK-NEXT: symm.signal
  // CHECK-NEXT: symm.signal
  // CHECK-NEXT: memref.load
  symm.wait %ctx, %flag[%i] unsigned gt %v : memref<8xi64>, i64
  scf.for %f = %c0 to %n step %c1 {
    symm.wait %ctx, %flag[%f] ge %v : memref<8xi64>, i64
  }
  symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  symm.signal set %ctx, %flag[%i], %v, %q : memref<8xi64>, i64
  %x = memref.load %m[%i] : memref<8xf32>
  return %x : f32
}

// Fences: merged where that makes none of them stronger than both are, and dropped after an acquire wait.
// CHECK-LABEL: @fences
func.func @fences(%ctx: !symm.ctx, %flag: memref<8xi64>, %m: memref<8xf32>, %i: index, %v: i64, %x: f32) {
  // CHECK: memref.store
  // CHECK-NEXT: symm.fence sem release{{$}}
  // CHECK-NEXT: memref.store
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem release scope gpu
  symm.fence sem release
  symm.fence sem release
  memref.store %x, %m[%i] : memref<8xf32>
  // CHECK-NEXT: symm.fence scope gpu
  // CHECK-NEXT: memref.store
  symm.fence sem acquire scope gpu
  symm.fence sem release scope gpu
  memref.store %x, %m[%i] : memref<8xf32>
  // CHECK-NEXT: symm.fence sem acquire{{$}}
  // CHECK-NEXT: symm.fence sem release scope gpu
  // CHECK-NEXT: memref.store
  symm.fence sem acquire
  symm.fence sem release scope gpu
  memref.store %x, %m[%i] : memref<8xf32>
  // CHECK-NEXT: symm.fence sem release{{$}}
  // CHECK-NEXT: symm.fence sem release group block
  // CHECK-NEXT: memref.store
  symm.fence sem release
  symm.fence sem release group block
  memref.store %x, %m[%i] : memref<8xf32>
  // CHECK-NEXT: symm.wait {{.*}} eq %{{[a-z0-9]+}} :
  // CHECK-NEXT: memref.store
  symm.wait %ctx, %flag[%i] eq %v : memref<8xi64>, i64
  symm.fence sem acquire
  memref.store %x, %m[%i] : memref<8xf32>
  // CHECK-NEXT: symm.wait {{.*}} group block
  // CHECK-NEXT: symm.fence sem acquire{{$}}
  // CHECK-NEXT: memref.store
  symm.wait %ctx, %flag[%i] ge %v group block : memref<8xi64>, i64
  symm.fence sem acquire
  memref.store %x, %m[%i] : memref<8xf32>
  // CHECK-NEXT: symm.wait
  // CHECK-NEXT: symm.fence{{$}}
  // CHECK-NEXT: return
  symm.wait %ctx, %flag[%i] ge %v : memref<8xi64>, i64
  symm.fence
  return
}

// A fence that is there already serves: for one signal too, if it is of its group and reaches as far.
// CHECK-LABEL: @fence_before
func.func @fence_before(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64, %p: i32, %x: f32,
                        %m: memref<8xf32>) {
  // CHECK: symm.fence{{$}}
  // CHECK-NEXT: symm.signal set {{.*}} sem relaxed :
  symm.fence
  symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: symm.fence scope gpu
  // CHECK-NEXT: symm.signal set [[RELEASE:%[a-z0-9]+, %[a-z0-9]+\[%[a-z0-9]+\], %[a-z0-9]+, %[a-z0-9]+ :]]
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence scope gpu
  symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: symm.fence sem acquire{{$}}
  // CHECK-NEXT: symm.signal set [[RELEASE]]
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem acquire
  symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: symm.fence sem release{{$}}
  // CHECK-NEXT: symm.signal set {{.*}}, %{{[a-z0-9]+}} group block
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem release
  symm.signal set %ctx, %flag[%i], %v, %p group block : memref<8xi64>, i64
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: symm.fence sem release group block
  // CHECK-NEXT: symm.signal set [[RELEASE]]
  // CHECK-NEXT: return
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem release group block
  symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  return
}

// From here on every signal and wait keeps its order: no fence stands for it.

func.func private @callee()

// An access, a wait, a call, an atomic or a barrier in between has to be released, too.
// CHECK-LABEL: @something_between
func.func @something_between(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64, %p: i32, %q: i32, %x: f32,
                             %m: memref<8xf32>) {
  // CHECK-NOT: symm.fence
  // CHECK-NOT: relaxed
  // CHECK: return
  symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  symm.remote_store %ctx, %m[%i], %x, %q : memref<8xf32>, f32
  symm.signal set %ctx, %flag[%i], %v, %q : memref<8xi64>, i64
  memref.store %x, %m[%i] : memref<8xf32>
  symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  %y = memref.load %m[%i] : memref<8xf32>
  symm.signal set %ctx, %flag[%i], %v, %q : memref<8xi64>, i64
  symm.wait %ctx, %flag[%i] ge %v : memref<8xi64>, i64
  symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  func.call @callee() : () -> ()
  symm.signal set %ctx, %flag[%i], %v, %q : memref<8xi64>, i64
  gpu.barrier
  symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  %old = symm.atomic_rmw add %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  symm.signal set %ctx, %flag[%i], %v, %q : memref<8xi64>, i64
  symm.put_signal set %ctx, %m, %m, %flag[%i], %v, %p : memref<8xf32>, memref<8xf32>, memref<8xi64>, i64
  symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  "unknown.op"() : () -> ()
  symm.signal set %ctx, %flag[%i], %v, %q : memref<8xi64>, i64
  return
}

// Signals that differ in more than the rank: what the first says is released by the second. The flag may be one by
// two names; the second may hand over what the first has reset.
// CHECK-LABEL: @no_broadcast
func.func @no_broadcast(%ctx: !symm.ctx, %flag: memref<8xi64>, %alias: memref<8xi64>, %i: index, %j: index, %v: i64,
                        %w: i64, %p: i32, %q: i32) {
  // CHECK-NOT: symm.fence
  // CHECK-NOT: relaxed
  // CHECK: return
  symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  symm.signal set %ctx, %flag[%i], %w, %q : memref<8xi64>, i64
  symm.signal set %ctx, %alias[%i], %w, %q : memref<8xi64>, i64
  symm.signal set %ctx, %alias[%j], %w, %q : memref<8xi64>, i64
  symm.signal add %ctx, %alias[%j], %w, %q : memref<8xi64>, i64
  symm.signal add %ctx, %alias[%j], %w, %q group block : memref<8xi64>, i64
  symm.signal add %ctx, %alias[%j], %w, %q group warp : memref<8xi64>, i64
  return
}

// One signal after a fence is covered; the next one says something else, so it releases the first.
// CHECK-LABEL: @fence_before_two
func.func @fence_before_two(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %j: index, %v: i64, %p: i32) {
  // CHECK: symm.fence sem release{{$}}
  // CHECK-NEXT: symm.signal set {{.*}} sem relaxed :
  // CHECK-NEXT: symm.signal set {{.*}}, %{{[a-z0-9]+}} :
  symm.fence sem release
  symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  symm.signal set %ctx, %flag[%j], %v, %p : memref<8xi64>, i64
  // CHECK-NEXT: symm.signal set {{.*}} sem relaxed :
  // CHECK-NEXT: symm.signal set {{.*}}, %{{[a-z0-9]+}} :
  // CHECK-NEXT: return
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed : memref<8xi64>, i64
  symm.signal set %ctx, %flag[%j], %v, %p : memref<8xi64>, i64
  return
}

// Control flow: a fence in a branch is not on every way, and one before a loop not on the second time around.
// CHECK-LABEL: @control_flow
func.func @control_flow(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64, %p: i32, %q: i32, %yes: i1,
                        %m: memref<8xf32>, %x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.if
  // CHECK-NEXT: symm.fence sem release{{$}}
  // CHECK-NEXT: }
  // CHECK-NEXT: symm.signal set {{.*}}, %{{[a-z0-9]+}} :
  scf.if %yes {
    symm.fence sem release
  }
  symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  // CHECK-NEXT: symm.fence sem release{{$}}
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: symm.signal set {{.*}}, %{{[a-z0-9]+}} :
  // CHECK-NEXT: memref.store
  symm.fence sem release
  scf.for %k = %c0 to %n step %c1 {
    symm.signal set %ctx, %flag[%i], %v, %q : memref<8xi64>, i64
    memref.store %x, %m[%k] : memref<8xf32>
  }
  // What the signal says changes from one time around to the next.
  // CHECK: scf.for
  // CHECK-NEXT: symm.signal set {{.*}}, %{{[a-z0-9]+}} :
  scf.for %k = %c0 to %n step %c1 {
    symm.signal set %ctx, %flag[%k], %v, %q : memref<8xi64>, i64
  }
  // Branches alone: on the way around them a fence would be for nothing.
  // CHECK: scf.if
  // CHECK-NEXT: symm.signal set {{.*}}, %{{[a-z0-9]+}} :
  // CHECK-NEXT: }
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: symm.signal set {{.*}}, %{{[a-z0-9]+}} :
  scf.if %yes {
    symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  }
  scf.if %yes {
    symm.signal set %ctx, %flag[%i], %v, %q : memref<8xi64>, i64
  }
  // CHECK: cf.br ^bb1{{$}}
  // CHECK-NEXT: ^bb1:
  // CHECK-NEXT: symm.signal set {{.*}}, %{{[a-z0-9]+}} :
  symm.fence sem release
  cf.br ^next
^next:
  symm.signal set %ctx, %flag[%i], %v, %q : memref<8xi64>, i64
  return
}

// Waits that may not change places: a value that was overwritten could satisfy them; groups; timeouts.
// CHECK-LABEL: @no_gather
func.func @no_gather(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %j: index, %n: index, %v: i64, %ns: i64,
                     %m: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-NOT: symm.fence
  // CHECK-NOT: relaxed
  // CHECK: return
  symm.wait %ctx, %flag[%i] eq %v : memref<8xi64>, i64
  symm.wait %ctx, %flag[%j] eq %v : memref<8xi64>, i64
  symm.wait %ctx, %flag[%j] le %v : memref<8xi64>, i64
  symm.wait %ctx, %flag[%j] ge %v : memref<8xi64>, i64
  symm.wait %ctx, %flag[%i] ge %v group block : memref<8xi64>, i64
  symm.wait %ctx, %flag[%i] ge %v group warp : memref<8xi64>, i64
  %seen = symm.wait %ctx, %flag[%i] ge %v timeout %ns : memref<8xi64>, i64 -> i1
  symm.wait %ctx, %flag[%i] ge %v : memref<8xi64>, i64
  %x = memref.load %m[%i] : memref<8xf32>
  symm.wait %ctx, %flag[%i] ge %v : memref<8xi64>, i64
  scf.for %k = %c0 to %n step %c1 {
    symm.wait %ctx, %flag[%k] eq %v : memref<8xi64>, i64
  }
  scf.for %k = %c0 to %n step %c1 {
    symm.wait %ctx, %flag[%k] ge %v : memref<8xi64>, i64
    %y = memref.load %m[%k] : memref<8xf32>
  }
  return
}

// A fence after a wait that may not have acquired stays.
// CHECK-LABEL: @fence_after
func.func @fence_after(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64, %ns: i64, %yes: i1) {
  // CHECK: symm.wait {{.*}} timeout
  // CHECK-NEXT: symm.fence sem acquire{{$}}
  %seen = symm.wait %ctx, %flag[%i] ge %v timeout %ns : memref<8xi64>, i64 -> i1
  symm.fence sem acquire
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: symm.wait
  // CHECK-NEXT: }
  // CHECK-NEXT: symm.fence sem acquire{{$}}
  // CHECK-NEXT: return
  scf.if %yes {
    symm.wait %ctx, %flag[%i] ge %v : memref<8xi64>, i64
  }
  symm.fence sem acquire
  return
}

// A fence of a group is made by all of its threads: before a loop only if the loop is reached by all.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @uniform
  gpu.func @uniform(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64) kernel {
    %c1 = arith.constant 1 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.for
    // CHECK: symm.signal set {{.*}} sem relaxed group block
    scf.for %k = %c1 to %n step %c1 : i32 {
      %next = arith.addi %me, %k : i32
      %p = arith.remui %next, %n : i32
      symm.signal set %ctx, %flag[%i], %v, %p group block : memref<8xi64>, i64
    }
    gpu.return
  }

  // Never run, so no thread misses the others: the loop has no turns. A barrier before it would hang.
  // CHECK-LABEL: gpu.func @divergent
  gpu.func @divergent(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64, %none: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    // CHECK-NOT: symm.fence
    // CHECK-NOT: relaxed
    // CHECK: gpu.return
    scf.if %first {
      memref.store %v, %flag[%i] : memref<8xi64>
      scf.for %p = %one to %none step %one : i32 {
        symm.signal set %ctx, %flag[%i], %v, %p group block : memref<8xi64>, i64
      }
    }
    scf.for %k = %c0 to %t step %c1 {
      memref.store %v, %flag[%k] : memref<8xi64>
      scf.for %p = %one to %none step %one : i32 {
        symm.signal set %ctx, %flag[%i], %v, %p group block : memref<8xi64>, i64
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @device_function
  gpu.func @device_function(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64, %n: i32) {
    %c1 = arith.constant 1 : i32
    // CHECK-NOT: symm.fence
    // CHECK-NOT: relaxed
    // CHECK: gpu.return
    scf.for %p = %c1 to %n step %c1 : i32 {
      symm.signal set %ctx, %flag[%i], %v, %p group block : memref<8xi64>, i64
    }
    gpu.return
  }
}

// A fence after an acquire wait stays if something before the wait may leave it to the fence to let in what it saw.
gpu.module @relaxed_before {
  // CHECK-LABEL: gpu.func @relaxed_wait
  gpu.func @relaxed_wait(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %j: index, %v: i64) kernel {
    // CHECK: symm.wait {{.*}} sem relaxed group block
    // CHECK-NEXT: symm.wait {{.*}} eq %{{[a-z0-9]+}} group block
    // CHECK-NEXT: symm.fence sem acquire group block
    // CHECK-NEXT: gpu.return
    symm.wait %ctx, %flag[%i] eq %v sem relaxed group block : memref<8xi64>, i64
    symm.wait %ctx, %flag[%j] eq %v group block : memref<8xi64>, i64
    symm.fence sem acquire group block
    gpu.return
  }
  // Nor does a fence of each thread in between let it in for the group.
  // CHECK-LABEL: gpu.func @relaxed_wait_of_group
  gpu.func @relaxed_wait_of_group(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %j: index, %v: i64) kernel {
    // CHECK: symm.fence sem acquire{{$}}
    // CHECK-NEXT: symm.wait {{.*}} eq %{{[a-z0-9]+}} group block
    // CHECK-NEXT: symm.fence sem acquire group block
    symm.wait %ctx, %flag[%i] ge %v sem relaxed group block : memref<8xi64>, i64
    symm.fence sem acquire
    symm.wait %ctx, %flag[%j] eq %v group block : memref<8xi64>, i64
    symm.fence sem acquire group block
    gpu.return
  }

  // CHECK-LABEL: gpu.func @relaxed_atomic
  gpu.func @relaxed_atomic(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %j: index, %v: i64, %p: i32) kernel {
    // CHECK: symm.wait
    // CHECK-NEXT: symm.fence sem acquire{{$}}
    // CHECK-NEXT: gpu.return
    %old = symm.atomic_rmw add %ctx, %flag[%i], %v, %p sem relaxed : memref<8xi64>, i64
    symm.wait %ctx, %flag[%j] eq %v : memref<8xi64>, i64
    symm.fence sem acquire
    gpu.return
  }
  // What a volatile load sees may be a flag; a plain load is in no order with one anyway.
  // CHECK-LABEL: gpu.func @volatile_load
  // CHECK: symm.remote_load
  // CHECK: symm.wait
  // CHECK: symm.fence sem acquire
  gpu.func @volatile_load(%ctx: !symm.ctx, %flag: memref<8xi64>, %v: i64, %i: index, %p: i32, %out: memref<8xi64>)
      kernel {
    %seen = symm.remote_load %ctx, %flag[%i], %p volatile : memref<8xi64> -> i64
    symm.wait %ctx, %flag[%i] ge %v : memref<8xi64>, i64
    symm.fence sem acquire
    memref.store %seen, %out[%i] : memref<8xi64>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @plain_load
  // CHECK: symm.wait
  // CHECK-NOT: symm.fence
  gpu.func @plain_load(%ctx: !symm.ctx, %flag: memref<8xi64>, %v: i64, %i: index, %p: i32, %out: memref<8xi64>)
      kernel {
    %seen = symm.remote_load %ctx, %flag[%i], %p : memref<8xi64> -> i64
    symm.wait %ctx, %flag[%i] ge %v : memref<8xi64>, i64
    symm.fence sem acquire
    memref.store %seen, %out[%i] : memref<8xi64>
    gpu.return
  }
  // In a branch, in an earlier turn of a loop, after a branch of blocks.
  // CHECK-LABEL: gpu.func @elsewhere
  gpu.func @elsewhere(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64, %n: index, %yes: i1) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: symm.wait {{.*}} eq %{{[a-z0-9]+}} :
    // CHECK-NEXT: symm.fence sem acquire{{$}}
    scf.if %yes {
      "unknown.op"() : () -> ()
    }
    symm.wait %ctx, %flag[%i] eq %v : memref<8xi64>, i64
    symm.fence sem acquire
    // CHECK-NEXT: scf.for
    // CHECK-NEXT: symm.wait {{.*}} eq %{{[a-z0-9]+}} :
    // CHECK-NEXT: symm.fence sem acquire{{$}}
    // CHECK-NEXT: symm.wait {{.*}} sem relaxed
    // CHECK-NEXT: scf.if
    scf.for %k = %c0 to %n step %c1 {
      symm.wait %ctx, %flag[%k] eq %v : memref<8xi64>, i64
      symm.fence sem acquire
      symm.wait %ctx, %flag[%k] ne %v sem relaxed : memref<8xi64>, i64
      scf.if %yes {
        symm.fence sem acquire
      }
    }
    // CHECK: ^bb1:
    // CHECK-NEXT: symm.wait
    // CHECK-NEXT: symm.fence sem acquire{{$}}
    cf.br ^next
  ^next:
    symm.wait %ctx, %flag[%i] eq %v : memref<8xi64>, i64
    symm.fence sem acquire
    gpu.return
  }
  // CHECK-LABEL: gpu.func @device
  gpu.func @device(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64) {
    // CHECK-NEXT: symm.wait
    // CHECK-NEXT: symm.fence sem acquire{{$}}
    symm.wait %ctx, %flag[%i] eq %v : memref<8xi64>, i64
    symm.fence sem acquire
    gpu.return
  }

  // Here it goes: plain accesses see nothing that a fence lets in, and what came before has a fence of its own.
  // CHECK-LABEL: gpu.func @nothing_before
  gpu.func @nothing_before(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64, %n: index, %p: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK-NOT: symm.fence
    // CHECK: symm.wait {{.*}} sem relaxed
    scf.for %k = %c0 to %n step %c1 {
      symm.wait %ctx, %flag[%k] eq %v : memref<8xi64>, i64
      symm.fence sem acquire
      memref.store %v, %flag[%k] : memref<8xi64>
    }
    symm.wait %ctx, %flag[%i] eq %v sem relaxed : memref<8xi64>, i64
    // CHECK-NEXT: symm.fence sem acquire{{$}}
    // CHECK-NOT: symm.fence
    // CHECK: gpu.return
    symm.fence sem acquire
    %x = memref.load %flag[%i] : memref<8xi64>
    symm.wait %ctx, %flag[%i] eq %v : memref<8xi64>, i64
    symm.fence sem acquire
    gpu.return
  }
}
