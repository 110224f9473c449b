// A loop that polls by an atomic with a deadline counts its looks, and now and then looks at the clock; others stay.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-limit-polls --mlir-print-op-generic | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --symm-limit-polls=target=hip:gfx942 --mlir-print-op-generic | FileCheck %s --check-prefix=AMD

// A lock on another rank: the place is in the record with its rank.
// CHECK-LABEL: sym_name = "lock"
// AMD-LABEL: sym_name = "lock"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, !tt.ptr<i64>) -> (), sym_name = "lock"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i32>, %peer: i32, %d: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %free = arith.constant 0 : i32
  %mine = arith.constant 1 : i32
  // CHECK: "scf.while"
  // CHECK-NEXT: ^bb0(%[[POLLS:.*]]: i32, %[[START:.*]]: i64, %[[WAS:.*]]: i1):
  // CHECK-NEXT: "symm.atomic_cas"
  // CHECK: %[[COUNT:.*]] = "arith.addi"(%[[POLLS]],
  // CHECK: %[[LOOKED:.*]]:2 = "scf.if"
  // CHECK: "tt.ptr_to_int"
  // CHECK: "arith.shli"
  // CHECK: "arith.ori"
  // CHECK: "tt.elementwise_inline_asm"(%{{.*}}, %[[COUNT]], %[[START]])
  // CHECK-SAME: mov.u32 polls, $5;\0Amov.b64 start, $6;
  // CHECK-SAME: ld.relaxed.sys.global.b64 state, [$1+8];
  // CHECK-SAME: [$1+24], $2;
  // CHECK-SAME: POLL:\0Amov.b64 $0, start;
  // CHECK: "tt.atomic_rmw"
  // CHECK: "scf.yield"(%[[START]], %[[WAS]])
  // CHECK: "scf.condition"(%{{.*}}, %[[COUNT]], %[[LOOKED]]#0, %[[LOOKED]]#1)
  // CHECK-NEXT: }, {
  // AMD: s_memrealtime
  // AMD: global_atomic_smax_x2
  // AMD: "tt.atomic_rmw"
  scf.while : () -> () {
    %old = symm.atomic_cas %ctx, %p, %free, %mine, %peer deadline %d : !tt.ptr<i64> : !tt.ptr<i32>, i32 loc("k.py":7:3)
    %go_on = arith.cmpi ne, %old, %free : i32
    scf.condition(%go_on)
  } do {
    scf.yield
  }
  "tt.return"() : () -> ()
}) : () -> ()

// One that claims its turn as it looks is no poll, and neither is one that stores.
// CHECK-LABEL: sym_name = "work"
// CHECK-NOT: globaltimer
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, !tt.ptr<i64>) -> (), sym_name = "work"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i32>, %peer: i32, %d: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %one = arith.constant 1 : i32
  scf.while : () -> () {
    %old = symm.atomic_rmw add %ctx, %p, %one, %peer deadline %d : !tt.ptr<i64> : !tt.ptr<i32>, i32
    %go_on = arith.cmpi slt, %old, %peer : i32
    scf.condition(%go_on)
  } do {
    scf.yield
  }
  scf.while : () -> () {
    %old = symm.atomic_rmw or %ctx, %p, %one, %peer deadline %d : !tt.ptr<i64> : !tt.ptr<i32>, i32
    %go_on = arith.cmpi slt, %old, %peer : i32
    scf.condition(%go_on)
  } do {
    "tt.store"(%p, %one) : (!tt.ptr<i32>, i32) -> ()
    scf.yield
  }
  "tt.return"() : () -> ()
}) : () -> ()

// The poll comes after the condition: the loop exits the next time.
// CHECK-LABEL: sym_name = "after"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, !tt.ptr<i64>) -> (), sym_name = "after"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i32>, %peer: i32, %d: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  // CHECK: "scf.while"
  // CHECK: %[[NOT:.*]] = "arith.xori"(%[[GONE:.*]], %{{.*}}) : (i1, i1) -> i1
  // CHECK-NEXT: %[[STAYS:.*]] = "arith.andi"(%{{.*}}, %[[NOT]])
  // CHECK: "scf.condition"(%[[STAYS]], %{{.*}}, %{{.*}}, %{{.*}}, %[[GONE]])
  // CHECK: "symm.atomic_rmw"
  // CHECK: globaltimer
  // CHECK: "scf.yield"
  %last = scf.while (%seen = %zero) : (i32) -> i32 {
    %go_on = arith.cmpi slt, %seen, %peer : i32
    scf.condition(%go_on) %seen : i32
  } do {
  ^bb0(%was: i32):
    %old = symm.atomic_rmw or %ctx, %p, %zero, %peer deadline %d : !tt.ptr<i64> tag 5 : !tt.ptr<i32>, i32
    scf.yield %old : i32
  }
  "tt.return"() : () -> ()
}) : () -> ()

// A packet: the record has the line that is missing, and the epoch that is there instead.
// CHECK-LABEL: sym_name = "packet"
// AMD-LABEL: sym_name = "packet"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i32, !tt.ptr<i64>) -> (), sym_name = "packet"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i64>, %epoch: i32, %d: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %true = arith.constant true
  // CHECK: "scf.while"
  // CHECK: %[[TRY:.*]]:2 = "symm.try_packet"(
  // CHECK: %[[LOOKED:.*]]:2 = "scf.if"
  // CHECK: %[[ALL:.*]] = "tt.ptr_to_int"(%[[SLOTS:.*]]) : (!tt.ptr<i64>) -> i64
  // CHECK: %[[AT:.*]] = "arith.select"(%[[TRY]]#1, %{{.*}}, %[[ALL]]) : (i1, i64, i64) -> i64
  // CHECK: %[[EPOCH:.*]] = "arith.extsi"(%{{.*}}) : (i32) -> i64
  // CHECK: %[[SEEN:.*]] = "scf.if"
  // CHECK-COUNT-2: "tt.atomic_rmw"
  // CHECK: "tt.elementwise_inline_asm"(%{{.*}}, %[[AT]], %[[EPOCH]], %[[SEEN]], %{{.*}}, %{{.*}})
  // AMD: s_memrealtime
  %value = scf.while : () -> i64 {
    %v, %is_there = symm.try_packet %ctx, %p, %epoch deadline %d : !tt.ptr<i64> : !tt.ptr<i64> -> i64, i1 loc("k.py":17:3)
    %go_on = arith.xori %is_there, %true : i1
    scf.condition(%go_on) %v : i64
  } do {
  ^bb0(%was: i64):
    scf.yield
  }
  "tt.return"() : () -> ()
}) : () -> ()

// Of several packets, the first line that is missing. Masks may change: nothing is written.
// CHECK-LABEL: sym_name = "packets"
"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<4x!tt.ptr<i64>>, i32, !tt.ptr<i64>) -> (), sym_name = "packets"}> ({
^bb0(%table: !tt.ptr<i64>, %p: tensor<4x!tt.ptr<i64>>, %epoch: i32, %d: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %all = arith.constant dense<true> : tensor<4xi1>
  // CHECK: %[[TRY:.*]]:2 = "symm.try_packet"(
  // CHECK: %[[LEFT:.*]] = "arith.select"(%[[TRY]]#1, %{{.*}}, %{{.*}}) : (tensor<4xi1>, tensor<4xi64>, tensor<4xi64>)
  // CHECK: %[[AT:.*]] = "tt.reduce"(%[[LEFT]])
  // CHECK: arith.minui
  // CHECK: "arith.cmpi"(%[[AT]],
  // CHECK: "tt.int_to_ptr"(%[[AT]]) : (i64) -> !tt.ptr<i64>
  // CHECK: globaltimer
  %rest = scf.while (%missing = %all) : (tensor<4xi1>) -> tensor<4xi1> {
    %v, %is_there = symm.try_packet %ctx, %p, %epoch mask %missing : tensor<4xi1> deadline %d : !tt.ptr<i64> : tensor<4x!tt.ptr<i64>> -> tensor<4xi64>, tensor<4xi1>
    %left = arith.xori %is_there, %all : tensor<4xi1>
    %go_on = "tt.reduce"(%left) <{axis = 0 : i32}> ({
    ^bb0(%one: i1, %other: i1):
      %any = arith.ori %one, %other : i1
      "tt.reduce.return"(%any) : (i1) -> ()
    }) : (tensor<4xi1>) -> i1
    scf.condition(%go_on) %left : tensor<4xi1>
  } do {
  ^bb0(%was: tensor<4xi1>):
    scf.yield %was : tensor<4xi1>
  }
  "tt.return"() : () -> ()
}) : () -> ()

// Who looks at other slots, or for another epoch, each time receives.
// CHECK-LABEL: sym_name = "receives"
// CHECK-NOT: globaltimer
// CHECK: "tt.return"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i32, !tt.ptr<i64>) -> (), sym_name = "receives"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i64>, %first: i32, %d: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i32
  %last = scf.while (%epoch = %first) : (i32) -> i32 {
    %v, %is_there = symm.try_packet %ctx, %p, %epoch deadline %d : !tt.ptr<i64> : !tt.ptr<i64> -> i64, i1
    %go_on = arith.cmpi ne, %v, %zero : i64
    %more = arith.extui %is_there : i1 to i32
    %next = arith.addi %epoch, %more : i32
    scf.condition(%go_on) %next : i32
  } do {
  ^bb0(%was: i32):
    scf.yield %was : i32
  }
  %end = scf.while (%slot = %p) : (!tt.ptr<i64>) -> !tt.ptr<i64> {
    %v, %is_there = symm.try_packet %ctx, %slot, %first deadline %d : !tt.ptr<i64> : !tt.ptr<i64> -> i64, i1
    %go_on = arith.cmpi ne, %v, %zero : i64
    %next = "tt.addptr"(%slot, %one) : (!tt.ptr<i64>, i32) -> !tt.ptr<i64>
    scf.condition(%go_on) %next : !tt.ptr<i64>
  } do {
  ^bb0(%was: !tt.ptr<i64>):
    scf.yield %was : !tt.ptr<i64>
  }
  "tt.return"() : () -> ()
}) : () -> ()

// CHECK: symm.waits = "{{[0-9]+}}\09lock\09k.py\097\09wait eq\0A{{[0-9]+}}\09packet\09k.py\0917\09wait_packet\0A
