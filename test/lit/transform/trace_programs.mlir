// Each op between the begin and the end of its record, and the kernel from its start to its returns.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-trace-programs | FileCheck %s

!words = !tt.ptr<i64>
!flags = tensor<8x!tt.ptr<i32>>

// CHECK-LABEL: sym_name = "scalars"
"tt.func"() <{function_type = (!words, !words, i64, i32, i1) -> (), sym_name = "scalars"}> ({
// CHECK: ^bb0(%[[TABLE:.*]]: !tt.ptr<i64>, %[[P:.*]]: !tt.ptr<i64>, %[[V:.*]]: i64, %[[R:.*]]: i32, %[[M:.*]]: i1):
^bb0(%table: !words, %p: !words, %v: i64, %r: i32, %m: i1):
  // CHECK-NEXT: %[[OUTER:.*]] = symm.ctx %[[TABLE]]
  // CHECK-NEXT: %[[KERNEL:.*]] = symm.trace_begin %[[OUTER]], "kernel 0" group block
  // CHECK: %[[CTX:.*]] = symm.ctx %[[TABLE]]
  %ctx = symm.ctx %table : !words
  // The flag's address in the peer's heap, no block of ranks, and the value.
  // CHECK-DAG: %[[FLAG:.*]] = "tt.ptr_to_int"(%[[P]])
  // CHECK-DAG: %[[DELTA:.*]] = symm.heap_delta %[[CTX]], %[[R]]
  // CHECK: %[[THERE:.*]] = arith.addi %[[FLAG]], %[[DELTA]]
  // CHECK: %[[RECORD:.*]] = symm.trace_begin %[[CTX]], "signal 0 add"(%[[THERE]], %{{.*}}, %[[V]]) group block
  // CHECK-NEXT: symm.signal add
  // CHECK-NEXT: symm.trace_end %[[RECORD]]
  symm.signal add %ctx, %p, %v, %r : !words, i64
  // A flag of this rank's own.
  // CHECK: %[[MINE:.*]] = "tt.ptr_to_int"(%[[P]])
  // CHECK-NOT: symm.heap_delta
  // CHECK: symm.trace_begin %[[CTX]], "wait 0 unsigned gt"(%[[MINE]], %{{.*}}, %[[V]]) group block
  // CHECK-NEXT: symm.wait
  // CHECK-NEXT: symm.trace_end
  symm.wait %ctx, %p unsigned gt %v : !words, i64
  // Of data where the peer's heap starts.
  // CHECK: %[[BASE:.*]] = symm.heap_base %[[CTX]], %[[R]]
  // CHECK: %[[HEAP:.*]] = "tt.ptr_to_int"(%[[BASE]])
  // CHECK: symm.trace_begin %[[CTX]], "load <8"(%[[HEAP]]
  // CHECK-NEXT: symm.remote_load
  // CHECK-NEXT: symm.trace_end
  %0 = symm.remote_load %ctx, %p, %r mask %m : i1 : !words -> i64
  // CHECK: "atomic 8"
  %1 = symm.atomic_rmw max %ctx, %p, %v, %r : !words, i64
  // A look is no event.
  // CHECK-NOT: symm.trace_begin
  // CHECK: symm.atomic_rmw or
  %2 = symm.atomic_rmw or %ctx, %p, %v, %r : !words, i64
  // CHECK: symm.trace_begin %[[CTX]], "barrier 0"
  // CHECK-NEXT: symm.barrier
  // CHECK-NEXT: symm.trace_end
  symm.barrier %ctx group block
  // CHECK-NEXT: symm.trace_end %[[KERNEL]]
  // CHECK-NEXT: tt.return
  "tt.return"() : () -> ()
}) : () -> ()

// Blocks: the lowest of the flags that the mask leaves, and a bit for each rank.
// CHECK-LABEL: sym_name = "blocks"
"tt.func"() <{function_type = (!words, !flags, tensor<8xi32>, tensor<8xi32>, tensor<8xi1>) -> (),
    sym_name = "blocks"}> ({
^bb0(%table: !words, %p: !flags, %v: tensor<8xi32>, %r: tensor<8xi32>, %m: tensor<8xi1>):
  %ctx = symm.ctx %table : !words
  // CHECK: %[[ALL:.*]] = "tt.ptr_to_int"
  // CHECK: %[[LEFT:.*]] = arith.select %{{.*}}, %[[ALL]], %{{.*}} : tensor<8xi1>, tensor<8xi64>
  // CHECK: %[[LOWEST:.*]] = "tt.reduce"(%[[LEFT]])
  // CHECK: arith.minui
  // CHECK: arith.cmpi ult
  // CHECK: %[[BITS:.*]] = arith.shli
  // CHECK: %[[KNOWN:.*]] = arith.select %{{.*}}, %[[BITS]]
  // CHECK: %[[THEIRS:.*]] = arith.select %{{.*}}, %[[KNOWN]]
  // CHECK: %[[RANKS:.*]] = "tt.reduce"(%[[THEIRS]])
  // CHECK: arith.ori
  // CHECK: arith.extsi
  // CHECK: symm.trace_begin %{{.*}}, "atomic <32 set"(%[[LOWEST]], %[[RANKS]], %{{.*}}) group block
  %0 = symm.atomic_rmw xchg %ctx, %p, %v, %r each tensor<8xi32> mask %m : tensor<8xi1>
    : !flags, tensor<8xi32>
  // A signal to a block of ranks is an atomic that releases; one whose result is used is none, nor one to a rank.
  // CHECK: symm.trace_begin %{{.*}}, "signal 32 set"
  // CHECK-NEXT: symm.atomic_rmw xchg
  %1 = symm.atomic_rmw xchg %ctx, %p, %v, %r each tensor<8xi32> sem release : !flags, tensor<8xi32>
  // CHECK: symm.trace_begin %{{.*}}, "atomic 32 add"
  // CHECK-NEXT: symm.atomic_rmw add
  %2 = symm.atomic_rmw add %ctx, %p, %v, %r each tensor<8xi32> sem release : !flags, tensor<8xi32>
  "use"(%2) : (tensor<8xi32>) -> ()
  // CHECK: symm.trace_begin %{{.*}}, "atomic 32 add"
  // CHECK-NEXT: symm.atomic_rmw add
  %3 = symm.atomic_rmw add %ctx, %p, %v, %r each tensor<8xi32> sem acq_rel : !flags, tensor<8xi32>
  %one = symm.rank %ctx
  // CHECK: symm.trace_begin %{{.*}}, "atomic 32 add"
  // CHECK-NEXT: symm.atomic_rmw add
  %4 = symm.atomic_rmw add %ctx, %p, %v, %one sem release : !flags, tensor<8xi32>
  "tt.return"() : () -> ()
}) : () -> ()

// A context that is not made of the kernel's arguments alone: the kernel is recorded from there on. What a loop's
// condition looks at is a wait of its own; its body is as any code.
// CHECK-LABEL: sym_name = "loop"
"tt.func"() <{function_type = (!words, !words, i64, i32) -> (), sym_name = "loop"}> ({
^bb0(%argument: !words, %p: !words, %v: i64, %r: i32):
  // CHECK: %[[TABLE:.*]] = "tt.addptr"
  // CHECK-NEXT: %[[OUTER:.*]] = symm.ctx %[[TABLE]]
  // CHECK-NEXT: %[[KERNEL:.*]] = symm.trace_begin %[[OUTER]], "kernel 0" group block
  %table = "tt.addptr"(%argument, %v) : (!words, i64) -> !words
  %ctx = symm.ctx %table : !words
  // CHECK-NOT: symm.trace_begin
  // CHECK: scf.while
  scf.while : () -> () {
    // CHECK-NOT: symm.trace_begin
    // CHECK: symm.atomic_cas
    %old = symm.atomic_cas %ctx, %p, %v, %v, %r : !words, i64
    %go = arith.cmpi ne, %old, %v : i64
    // CHECK: scf.condition
    scf.condition(%go)
  } do {
    // CHECK: "atomic_cas 8"
    // CHECK-NEXT: symm.atomic_cas
    // CHECK-NEXT: symm.trace_end
    %old = symm.atomic_cas %ctx, %p, %v, %v, %r : !words, i64
    scf.yield
  }
  // CHECK: symm.trace_end %[[KERNEL]]
  // CHECK-NEXT: tt.return
  "tt.return"() : () -> ()
}) : () -> ()

// Nor one that comes after what others hear of: its ops are recorded, the kernel is not.
// CHECK-LABEL: sym_name = "late"
// CHECK-NOT: "kernel 0"
// CHECK: "tt.return"
"tt.func"() <{function_type = (!words, !words, i64, i32) -> (), sym_name = "late"}> ({
^bb0(%argument: !words, %p: !words, %v: i64, %r: i32):
  "tt.store"(%p, %v) : (!words, i64) -> ()
  %table = "tt.addptr"(%argument, %v) : (!words, i64) -> !words
  %ctx = symm.ctx %table : !words
  symm.signal set %ctx, %p, %v, %r : !words, i64
  "tt.return"() : () -> ()
}) : () -> ()

// A loop that only looks at a block of flags: the first of those that the mask leaves, how far the last one is and how
// many they are, and what they are compared with.
// CHECK-LABEL: sym_name = "several"
"tt.func"() <{function_type = (!words, !flags, tensor<8xi1>, i32) -> (), sym_name = "several"}> ({
^bb0(%table: !words, %p: !flags, %m: tensor<8xi1>, %v: i32):
  %ctx = symm.ctx %table : !words
  %me = symm.rank %ctx
  // CHECK-DAG: %[[VALUE:.*]] = arith.extsi %arg3 : i32 to i64
  // CHECK-DAG: arith.minui
  // CHECK-DAG: arith.maxui
  // CHECK: %[[RECORD:.*]] = symm.trace_begin %{{.*}}, "wait_all 0 ge"(%{{.*}}, %{{.*}}, %[[VALUE]]) group block
  // CHECK-NEXT: scf.while
  // CHECK-NOT: symm.trace
  // CHECK: symm.trace_end %[[RECORD]]
  %found = scf.while : () -> tensor<8xi32> {
    %zero = arith.constant dense<0> : tensor<8xi32>
    %old = symm.atomic_rmw or %ctx, %p, %zero, %me mask %m : tensor<8xi1> sem acquire : !flags, tensor<8xi32>
    %values = "tt.splat"(%v) : (i32) -> tensor<8xi32>
    %holds = arith.cmpi sge, %old, %values : tensor<8xi32>
    %over = "tt.reduce"(%holds) <{axis = 0 : i32}> ({
    ^bb0(%a: i1, %b: i1):
      %both = arith.andi %a, %b : i1
      "tt.reduce.return"(%both) : (i1) -> ()
    }) : (tensor<8xi1>) -> i1
    %true = arith.constant true
    %go = arith.xori %over, %true : i1
    scf.condition(%go) %old : tensor<8xi32>
  } do {
  ^bb0(%seen: tensor<8xi32>):
    scf.yield
  }
  // A loop that does more between two looks is at work.
  // CHECK-NOT: "wait_any
  // CHECK: symm.signal
  scf.while : () -> () {
    %zero = arith.constant dense<0> : tensor<8xi32>
    %old = symm.atomic_rmw or %ctx, %p, %zero, %me sem acquire : !flags, tensor<8xi32>
    %values = "tt.splat"(%v) : (i32) -> tensor<8xi32>
    %holds = arith.cmpi sge, %old, %values : tensor<8xi32>
    %over = "tt.reduce"(%holds) <{axis = 0 : i32}> ({
    ^bb0(%a: i1, %b: i1):
      %either = arith.ori %a, %b : i1
      "tt.reduce.return"(%either) : (i1) -> ()
    }) : (tensor<8xi1>) -> i1
    %true = arith.constant true
    %go = arith.xori %over, %true : i1
    scf.condition(%go)
  } do {
    %i = arith.extsi %v : i32 to i64
    symm.signal set %ctx, %table, %i, %me : !words, i64
    scf.yield
  }
  "tt.return"() : () -> ()
}) : () -> ()

// CHECK-LABEL: sym_name = "specialized"
// CHECK-NOT: symm.trace_begin
"tt.func"() <{function_type = (!words, !words, i64, i32) -> (), sym_name = "specialized"}> ({
^bb0(%table: !words, %p: !words, %v: i64, %r: i32):
  %ctx = symm.ctx %table : !words
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %r step %one : i32 {
    symm.signal set %ctx, %p, %v, %r : !words, i64
  } {tt.warp_specialize}
  "tt.return"() : () -> ()
}) : () -> ()

// A function of an unregistered dialect may end with any op.
// CHECK-LABEL: sym_name = "unfinished"
// CHECK: symm.signal
// CHECK-NEXT: symm.trace_end
"tt.func"() <{function_type = (!words, !words, i64, i32) -> (), sym_name = "unfinished"}> ({
^bb0(%table: !words, %p: !words, %v: i64, %r: i32):
  %ctx = symm.ctx %table : !words
  symm.signal set %ctx, %p, %v, %r : !words, i64
}) : () -> ()
