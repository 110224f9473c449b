// Loops that load blocks from other ranks get as many stages as keep 80 KiB in flight, where what they load and what they
// store do not overlap; others stay as they are.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation --symm-pipeline-remote 2>&1 | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation --symm-pipeline-remote=target=cuda:75 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation --symm-pipeline-remote=target=hip:gfx942 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation --symm-pipeline-remote=target=cuda:89 \
// RUN:   | FileCheck %s --check-prefix=SMALL
// SMALL: } {tt.num_stages = 5 : i32}
// NONE-NOT: tt.num_stages = {{[^2]}}

"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f16>, !tt.ptr<f16>, !tt.ptr<f16>, i32, i32, tensor<8192xi1>,
  tensor<8192xi32>, !tt.ptr<i64>) -> (), sym_name = "kernel"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %s: !tt.ptr<f16>, %peer: i32, %n: i32,
     %m: tensor<8192xi1>,
     %o: tensor<8192xi32>, %f: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<8192xf16>
  %ps = "tt.splat"(%p) : (!tt.ptr<f16>) -> tensor<8192x!tt.ptr<f16>>
  %ss = "tt.splat"(%s) : (!tt.ptr<f16>) -> tensor<8192x!tt.ptr<f16>>
  %qs = "tt.splat"(%q) : (!tt.ptr<f16>) -> tensor<8192x!tt.ptr<f16>>

  // A load from another rank, 16 KiB: five ahead, where its last byte, in the last iteration, lies before what is stored
  // or what is stored before its first one.
  // CHECK: remark: 'scf.for' op is given 6 stages of 16384 bytes if the bytes it loads and the bytes it stores do not overlap
  // CHECK-LABEL: sym_name = "kernel"
  // CHECK: ^bb0(%{{.*}}: !tt.ptr<i64>, %[[P:.*]]: !tt.ptr<f16>, %[[Q:.*]]: !tt.ptr<f16>, %{{.*}}: !tt.ptr<f16>,
  // CHECK-SAME: %{{.*}}: i32, %[[N:.*]]: i32,
  // CHECK: %[[DELTA:.*]] = symm.heap_delta
  // CHECK: %[[LOADED:.*]] = "tt.ptr_to_int"(%[[P]])
  // CHECK: %[[ROUNDS:.*]] = arith.divsi
  // CHECK: %[[WAY:.*]] = arith.muli %[[ROUNDS]], %{{.*}} : i64
  // CHECK: %[[LAST:.*]] = arith.addi %{{.*}}, %[[WAY]] : i64
  // CHECK: %[[RANGE:.*]] = arith.constant 8191 : i64
  // CHECK: %[[LAST_LANE:.*]] = arith.addi %[[LAST]], %[[RANGE]] : i64
  // The sum must not have wrapped around.
  // CHECK: %[[TOP:.*]] = arith.constant 2147483648 : i64
  // CHECK: arith.cmpi slt, %[[LAST_LANE]], %[[TOP]] : i64
  // CHECK: %[[BYTES:.*]] = arith.muli %[[LAST_LANE]], %{{.*}} : i64
  // CHECK: %[[LAST_BYTES:.*]] = arith.addi %[[LOADED]], %[[BYTES]] : i64
  // CHECK: arith.addi %[[LAST_BYTES]], %[[DELTA]] : i64
  // CHECK: "tt.ptr_to_int"(%[[Q]])
  // CHECK: arith.cmpi sle
  // CHECK: arith.cmpi sle
  // CHECK: arith.ori
  // CHECK: arith.andi
  // CHECK: scf.if %{{.*}} {
  // CHECK: scf.for
  // CHECK: symm.remote_load
  // CHECK: } {tt.num_stages = 6 : i32}
  // CHECK-NEXT: } else {
  // CHECK: scf.for
  // CHECK: symm.remote_load
  // CHECK: "tt.store"
  // CHECK-NEXT: }{{$}}
  // CHECK-NEXT: }{{$}}
  %range = "tt.make_range"() {start = 0 : i32, end = 8192 : i32} : () -> tensor<8192xi32>
  scf.for %i = %c0 to %n step %n : i32 {
    %is = "tt.splat"(%i) : (i32) -> tensor<8192xi32>
    %at = arith.addi %is, %range : tensor<8192xi32>
    %from = "tt.addptr"(%ps, %at) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xi32>) -> tensor<8192x!tt.ptr<f16>>
    %to = "tt.addptr"(%qs, %at) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xi32>) -> tensor<8192x!tt.ptr<f16>>
    %v = symm.remote_load %ctx, %from, %peer mask %m : tensor<8192xi1> other %zero : tensor<8192xf16>
      : tensor<8192x!tt.ptr<f16>> -> tensor<8192xf16>
    "tt.store"(%to, %v, %m) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xf16>, tensor<8192xi1>) -> ()
  }

  // Two loads a time; pointers that are carried around the loop, whose results the branch hands on; a remote pointer for
  // Triton's own load.
  // CHECK: symm.as_remote
  // CHECK: %[[MOVED:.*]]:2 = scf.if %{{.*}} -> (tensor<8192x!tt.ptr<f16>>, tensor<8192x!tt.ptr<f16>>) {
  // CHECK: %[[STAGED:.*]]:2 = scf.for
  // CHECK: "tt.load"
  // CHECK: } {tt.num_stages = 3 : i32}
  // CHECK-NEXT: scf.yield %[[STAGED]]#0, %[[STAGED]]#1
  // CHECK: } else {
  // CHECK: %[[PLAIN:.*]]:2 = scf.for
  // CHECK: scf.yield %[[PLAIN]]#0, %[[PLAIN]]#1
  // CHECK: "keep"(%[[MOVED]]#1)
  %remote = symm.as_remote %ctx, %ps, %peer : tensor<8192x!tt.ptr<f16>>
  %moved:2 = scf.for %i = %c0 to %n step %n iter_args(%from = %remote, %to = %qs)
      -> (tensor<8192x!tt.ptr<f16>>, tensor<8192x!tt.ptr<f16>>) : i32 {
    %v = "tt.load"(%from) {isVolatile = false} : (tensor<8192x!tt.ptr<f16>>) -> tensor<8192xf16>
    %w = "tt.load"(%ss) : (tensor<8192x!tt.ptr<f16>>) -> tensor<8192xf16>
    %sum = arith.addf %v, %w : tensor<8192xf16>
    "tt.store"(%to, %sum) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xf16>) -> ()
    %from2 = "tt.addptr"(%from, %range) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xi32>) -> tensor<8192x!tt.ptr<f16>>
    %to2 = "tt.addptr"(%to, %range) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xi32>) -> tensor<8192x!tt.ptr<f16>>
    scf.yield %from2, %to2 : tensor<8192x!tt.ptr<f16>>, tensor<8192x!tt.ptr<f16>>
  }
  "keep"(%moved#1) : (tensor<8192x!tt.ptr<f16>>) -> ()

  // A copy, of the innermost loop.
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK: symm.get
  // CHECK: } {tt.num_stages = 6 : i32}
  // CHECK: symm.get
  // CHECK-NEXT: }{{$}}
  // CHECK-NEXT: }{{$}}
  // CHECK-NEXT: }{{$}}
  scf.for %i = %c0 to %n step %n : i32 {
    scf.for %j = %c0 to %n step %n : i32 {
      symm.get %ctx, %ps, %qs, %peer : tensor<8192x!tt.ptr<f16>>, tensor<8192x!tt.ptr<f16>>
    }
  }

  // A sum of what the ranks have: nothing is stored.
  // CHECK: scf.for
  // CHECK: symm.remote_load
  // CHECK: } {tt.num_stages = 6 : i32}
  %sum = scf.for %i = %c0 to %n step %n iter_args(%so_far = %zero) -> (tensor<8192xf16>) : i32 {
    %v = symm.remote_load %ctx, %ps, %i : tensor<8192x!tt.ptr<f16>> -> tensor<8192xf16>
    %next = arith.addf %so_far, %v : tensor<8192xf16>
    scf.yield %next : tensor<8192xf16>
  }
  "keep"(%sum) : (tensor<8192xf16>) -> ()

  // CHECK-NOT: tt.num_stages
  // CHECK: "left alone"
  // A number that is given stays.
  // CHECK: tt.num_stages = 2 : i32
  // CHECK-NOT: tt.num_stages
  "left alone"() : () -> ()
  scf.for %i = %c0 to %n step %n : i32 {
    symm.get %ctx, %ps, %qs, %peer : tensor<8192x!tt.ptr<f16>>, tensor<8192x!tt.ptr<f16>>
  } {tt.num_stages = 2 : i32}
  // Nothing remote.
  scf.for %i = %c0 to %n step %n : i32 {
    %v = "tt.load"(%ps) : (tensor<8192x!tt.ptr<f16>>) -> tensor<8192xf16>
    "tt.store"(%qs, %v) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xf16>) -> ()
  }
  // Only what it stores is remote.
  scf.for %i = %c0 to %n step %n : i32 {
    symm.put %ctx, %ps, %qs, %peer : tensor<8192x!tt.ptr<f16>>, tensor<8192x!tt.ptr<f16>>
  }
  // It reads what it has written.
  scf.for %i = %c0 to %n step %n : i32 {
    %v = symm.remote_load %ctx, %ss, %peer : tensor<8192x!tt.ptr<f16>> -> tensor<8192xf16>
    %at = "tt.addptr"(%qs, %range) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xi32>) -> tensor<8192x!tt.ptr<f16>>
    %w = "tt.load"(%at) : (tensor<8192x!tt.ptr<f16>>) -> tensor<8192xf16>
    %sum2 = arith.addf %v, %w : tensor<8192xf16>
    %at2 = "tt.addptr"(%qs, %range) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xi32>) -> tensor<8192x!tt.ptr<f16>>
    "tt.store"(%at2, %sum2) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xf16>) -> ()
  }
  // The same, with all of the address computed again.
  scf.for %i = %c0 to %n step %n : i32 {
    %v = symm.remote_load %ctx, %ss, %peer : tensor<8192x!tt.ptr<f16>> -> tensor<8192xf16>
    %by = arith.muli %i, %n : i32
    %r = "tt.make_range"() <{end = 8192 : i32, start = 0 : i32}> : () -> tensor<8192xi32>
    %bys = "tt.splat"(%by) : (i32) -> tensor<8192xi32>
    %offset = arith.addi %bys, %r : tensor<8192xi32>
    %at = "tt.addptr"(%qs, %offset) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xi32>) -> tensor<8192x!tt.ptr<f16>>
    %w = "tt.load"(%at) : (tensor<8192x!tt.ptr<f16>>) -> tensor<8192xf16>
    %sum3 = arith.addf %v, %w : tensor<8192xf16>
    %by2 = arith.muli %i, %n : i32
    %r2 = "tt.make_range"() <{end = 8192 : i32, start = 0 : i32}> : () -> tensor<8192xi32>
    %bys2 = "tt.splat"(%by2) : (i32) -> tensor<8192xi32>
    %offset2 = arith.addi %bys2, %r2 : tensor<8192xi32>
    %at2 = "tt.addptr"(%qs, %offset2) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xi32>) -> tensor<8192x!tt.ptr<f16>>
    "tt.store"(%at2, %sum3) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xf16>) -> ()
  }
  // Offsets that are not followed: any, and those that a carried pointer is not moved by alone.
  // CHECK-NOT: arith.cmpi
  scf.for %i = %c0 to %n step %n : i32 {
    %at = "tt.addptr"(%qs, %o) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xi32>) -> tensor<8192x!tt.ptr<f16>>
    symm.get %ctx, %ps, %at, %peer : tensor<8192x!tt.ptr<f16>>, tensor<8192x!tt.ptr<f16>>
  }
  %other = scf.for %i = %c0 to %n step %n iter_args(%to = %qs) -> (tensor<8192x!tt.ptr<f16>>) : i32 {
    symm.get %ctx, %ps, %to, %peer : tensor<8192x!tt.ptr<f16>>, tensor<8192x!tt.ptr<f16>>
    scf.yield %ps : tensor<8192x!tt.ptr<f16>>
  }
  // Any peer, and stores: of one of them it is not known whether it is this rank.
  scf.for %i = %c0 to %n step %n : i32 {
    symm.get %ctx, %ps, %qs, %i : tensor<8192x!tt.ptr<f16>>, tensor<8192x!tt.ptr<f16>>
  }
  // Few iterations: a constant number, and one for each rank.
  %c8 = arith.constant 8 : i32
  %c1 = arith.constant 1 : i32
  %ranks = symm.num_ranks %ctx
  %after = arith.addi %ranks, %c1 : i32
  %few = scf.for %i = %c0 to %c8 step %c1 iter_args(%so_far = %zero) -> (tensor<8192xf16>) : i32 {
    %v = symm.remote_load %ctx, %ps, %i : tensor<8192x!tt.ptr<f16>> -> tensor<8192xf16>
    %next = arith.addf %so_far, %v : tensor<8192xf16>
    scf.yield %next : tensor<8192xf16>
  }
  %each = scf.for %i = %c1 to %after step %c1 iter_args(%so_far = %zero) -> (tensor<8192xf16>) : i32 {
    %v = symm.remote_load %ctx, %ps, %i : tensor<8192x!tt.ptr<f16>> -> tensor<8192xf16>
    %next = arith.addf %so_far, %v : tensor<8192xf16>
    scf.yield %next : tensor<8192xf16>
  }
  // It is not seen what is written.
  scf.for %i = %c0 to %n step %n : i32 {
    %v = symm.remote_load %ctx, %ps, %peer : tensor<8192x!tt.ptr<f16>> -> tensor<8192xf16>
    %z = "tt.int_to_ptr"(%one) : (i64) -> !tt.ptr<f16>
    %zs = "tt.splat"(%z) : (!tt.ptr<f16>) -> tensor<8192x!tt.ptr<f16>>
    "tt.store"(%zs, %v) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xf16>) -> ()
  }
  // It waits (O4), signals, updates, calls.
  scf.for %i = %c0 to %n step %n : i32 {
    symm.wait %ctx, %f ge %one : !tt.ptr<i64>, i64
    symm.get %ctx, %ps, %qs, %peer : tensor<8192x!tt.ptr<f16>>, tensor<8192x!tt.ptr<f16>>
  }
  scf.for %i = %c0 to %n step %n : i32 {
    symm.get %ctx, %ps, %qs, %peer : tensor<8192x!tt.ptr<f16>>, tensor<8192x!tt.ptr<f16>>
    symm.signal set %ctx, %f, %one, %peer : !tt.ptr<i64>, i64
  }
  scf.for %i = %c0 to %n step %n : i32 {
    symm.get %ctx, %ps, %qs, %peer : tensor<8192x!tt.ptr<f16>>, tensor<8192x!tt.ptr<f16>>
    %old = "tt.atomic_rmw"(%f, %one) : (!tt.ptr<i64>, i64) -> i64
  }
  scf.for %i = %c0 to %n step %n : i32 {
    symm.get %ctx, %ps, %qs, %peer : tensor<8192x!tt.ptr<f16>>, tensor<8192x!tt.ptr<f16>>
    "tt.call"() <{callee = @other}> : () -> ()
  }
  // Volatile.
  scf.for %i = %c0 to %n step %n : i32 {
    %v = symm.remote_load %ctx, %ps, %peer volatile : tensor<8192x!tt.ptr<f16>> -> tensor<8192xf16>
    "tt.store"(%qs, %v) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xf16>) -> ()
  }
  scf.for %i = %c0 to %n step %n : i32 {
    %v = "tt.load"(%remote) {isVolatile = true} : (tensor<8192x!tt.ptr<f16>>) -> tensor<8192xf16>
    "tt.store"(%qs, %v) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xf16>) -> ()
  }
  scf.for %i = %c0 to %n step %n : i32 {
    %v = symm.remote_load %ctx, %ps, %peer cache cv : tensor<8192x!tt.ptr<f16>> -> tensor<8192xf16>
    "tt.store"(%qs, %v) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xf16>) -> ()
  }
  scf.for %i = %c0 to %n step %n : i32 {
    %v = "tt.load"(%remote) {cache = 7 : i32} : (tensor<8192x!tt.ptr<f16>>) -> tensor<8192xf16>
    "tt.store"(%qs, %v) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xf16>) -> ()
  }
  scf.for %i = %c0 to %n step %n : i32 {
    %v = "tt.load"(%remote) {cachePolicy = #tt.cache_policy<cache_modifier = cv, eviction_policy = evict_normal>}
      : (tensor<8192x!tt.ptr<f16>>) -> tensor<8192xf16>
    "tt.store"(%qs, %v) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xf16>) -> ()
  }
  // Single elements, and blocks of which one is enough.
  scf.for %i = %c0 to %n step %n : i32 {
    symm.get %ctx, %p, %q, %peer : !tt.ptr<f16>, !tt.ptr<f16>
  }
  %pl = "tt.splat"(%p) : (!tt.ptr<f16>) -> tensor<32768x!tt.ptr<f16>>
  %ql = "tt.splat"(%q) : (!tt.ptr<f16>) -> tensor<32768x!tt.ptr<f16>>
  scf.for %i = %c0 to %n step %n : i32 {
    symm.get %ctx, %pl, %ql, %peer : tensor<32768x!tt.ptr<f16>>, tensor<32768x!tt.ptr<f16>>
  }
  "tt.return"() : () -> ()
}) : () -> ()
