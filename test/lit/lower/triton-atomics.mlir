// Atomics in a Triton kernel: Triton's numbers for kinds, orders and scopes, and a barrier on the side that is ordered.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation \
// RUN:     '--symm-lower-to-triton=target=cuda:90 version=3.6.0' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation \
// RUN:     '--symm-lower-to-triton=target=hip:gfx942 version=3.7.0' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,HIP

// CHECK-LABEL: sym_name = "kinds"
// CHECK: ^bb0(%{{.*}}: !tt.ptr<i64>, %{{.*}}: !tt.ptr<i32>, %[[V:.*]]: i32, %{{.*}}: !tt.ptr<bf16>, %[[X:.*]]: bf16,
// CHECK-SAME: %{{.*}}: i32, %[[M:.*]]: i1):
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, !tt.ptr<bf16>, bf16, i32, i1) -> (),
  sym_name = "kinds"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i32>, %v: i32, %q: !tt.ptr<bf16>, %x: bf16, %r: i32, %m: i1):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CHECK: "tt.atomic_rmw"(%{{.*}}, %[[V]]) {atomic_rmw_op = 1 : i32, scope = 3 : i32, sem = 1 : i32}
  %0 = symm.atomic_rmw and %ctx, %p, %v, %r sem relaxed : !tt.ptr<i32>, i32
  // CHECK: {atomic_rmw_op = 2 : i32, scope = 1 : i32, sem = 1 : i32}
  %1 = symm.atomic_rmw or %ctx, %p, %v, %r sem relaxed scope gpu : !tt.ptr<i32>, i32
  // CHECK: {atomic_rmw_op = 3 : i32, scope = 2 : i32, sem = 1 : i32}
  %2 = symm.atomic_rmw xor %ctx, %p, %v, %r sem relaxed scope cta : !tt.ptr<i32>, i32
  // CHECK: {atomic_rmw_op = 4 : i32, scope = 1 : i32, sem = 1 : i32}
  %3 = symm.atomic_rmw add %ctx, %p, %v, %r sem relaxed scope cluster : !tt.ptr<i32>, i32
  // CHECK: "tt.atomic_rmw"(%{{.*}}, %[[X]], %[[M]]) {atomic_rmw_op = 5 : i32, scope = 3 : i32, sem = 1 : i32}
  // CHECK-SAME: : (!tt.ptr<bf16>, bf16, i1) -> bf16
  %4 = symm.atomic_rmw fadd %ctx, %q, %x, %r mask %m : i1 sem relaxed : !tt.ptr<bf16>, bf16
  // CHECK: {atomic_rmw_op = 6 : i32,
  %5 = symm.atomic_rmw max %ctx, %p, %v, %r sem relaxed : !tt.ptr<i32>, i32
  // CHECK: {atomic_rmw_op = 7 : i32,
  %6 = symm.atomic_rmw min %ctx, %p, %v, %r sem relaxed : !tt.ptr<i32>, i32
  // CHECK: {atomic_rmw_op = 8 : i32,
  %7 = symm.atomic_rmw umax %ctx, %p, %v, %r sem relaxed : !tt.ptr<i32>, i32
  // CHECK: {atomic_rmw_op = 9 : i32,
  %8 = symm.atomic_rmw umin %ctx, %p, %v, %r sem relaxed : !tt.ptr<i32>, i32
  // CHECK: {atomic_rmw_op = 10 : i32,
  %9 = symm.atomic_rmw xchg %ctx, %p, %v, %r sem relaxed : !tt.ptr<i32>, i32
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[NEGATIVE:.*]] = arith.subi %[[ZERO]], %[[V]] : i32
  // CHECK-NEXT: "tt.atomic_rmw"(%{{.*}}, %[[NEGATIVE]]) {atomic_rmw_op = 4 : i32,
  %10 = symm.atomic_rmw sub %ctx, %p, %v, %r sem relaxed : !tt.ptr<i32>, i32
  "tt.return"() : () -> ()
}) : () -> ()

// CHECK-LABEL: sym_name = "orders"
// CHECK: ^bb0(%{{.*}}: !tt.ptr<i64>, %[[P:.*]]: !tt.ptr<i64>, %[[V:.*]]: i64, %{{.*}}: i32):
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i64, i32) -> (), sym_name = "orders"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i64>, %v: i64, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CHECK: "tt.addptr"(%[[P]],
  // CHECK-NEXT: "tt.atomic_rmw"({{.*}}sem = 2 : i32}
  // CHECK-NEXT: barrier
  // CHECK-NEXT: "between"
  %0 = symm.atomic_rmw add %ctx, %p, %v, %r sem acquire : !tt.ptr<i64>, i64
  "between"() : () -> ()
  // HIP: buffer_wbl2 sc0 sc1
  // HIP-NEXT: barrier
  // HIP-NEXT: "tt.atomic_rmw"({{.*}}sem = 1 : i32}
  // CUDA: "tt.addptr"(%[[P]],
  // CUDA-NEXT: barrier
  // CUDA-NEXT: "tt.atomic_rmw"({{.*}}sem = 3 : i32}
  // CHECK-NEXT: "between"
  %1 = symm.atomic_rmw add %ctx, %p, %v, %r sem release : !tt.ptr<i64>, i64
  "between"() : () -> ()
  // HIP: buffer_wbl2 sc0 sc1
  // CHECK: barrier
  // CUDA-NEXT: "tt.atomic_cas"(%{{.*}}, %[[V]], %[[V]]) {scope = 3 : i32, sem = 4 : i32}
  // CUDA-SAME: : (!tt.ptr<i64>, i64, i64) -> i64
  // HIP-NEXT: "tt.atomic_cas"(%{{.*}}, %[[V]], %[[V]]) {scope = 3 : i32, sem = 2 : i32}
  // HIP-SAME: : (!tt.ptr<i64>, i64, i64) -> i64
  // CHECK-NEXT: barrier
  // CHECK-NEXT: "tt.return"
  %2 = symm.atomic_cas %ctx, %p, %v, %v, %r : !tt.ptr<i64>, i64
  "tt.return"() : () -> ()
}) : () -> ()

// Floats of one sign are in the order of their bits, or in the reverse order; a compare-and-swap compares bits.
// CHECK-LABEL: sym_name = "floats"
// CHECK: ^bb0(%{{.*}}: !tt.ptr<i64>, %{{.*}}: tensor<8x!tt.ptr<f32>>, %[[V:.*]]: tensor<8xf32>,
// CHECK-SAME: %[[M:.*]]: tensor<8xi1>,
"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>, !tt.ptr<f64>, f64,
  i32) -> (), sym_name = "floats"}> ({
^bb0(%table: !tt.ptr<i64>, %p: tensor<8x!tt.ptr<f32>>, %v: tensor<8xf32>, %m: tensor<8xi1>, %d: !tt.ptr<f64>,
     %x: f64, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CHECK: %[[BITS:.*]] = "tt.bitcast"(%[[V]]) : (tensor<8xf32>) -> tensor<8xi32>
  // CHECK-NEXT: %[[P:.*]] = "tt.bitcast"(%{{.*}}) : (tensor<8x!tt.ptr<f32>>) -> tensor<8x!tt.ptr<i32>>
  // CHECK-NEXT: %[[ZERO:.*]] = arith.constant dense<0> : tensor<8xi32>
  // CHECK-NEXT: %[[POSITIVE:.*]] = arith.cmpi sge, %[[BITS]], %[[ZERO]] : tensor<8xi32>
  // CHECK-NEXT: %[[AND:.*]] = arith.andi %[[POSITIVE]], %[[M]] : tensor<8xi1>
  // CHECK-NEXT: %[[ABOVE:.*]] = "tt.atomic_rmw"(%[[P]], %[[BITS]], %[[AND]]) {atomic_rmw_op = 6 : i32,
  // CHECK-NEXT: %[[NEGATIVE:.*]] = arith.cmpi slt, %[[BITS]], %[[ZERO]] : tensor<8xi32>
  // CHECK-NEXT: %[[AND:.*]] = arith.andi %[[NEGATIVE]], %[[M]] : tensor<8xi1>
  // CHECK-NEXT: %[[BELOW:.*]] = "tt.atomic_rmw"(%[[P]], %[[BITS]], %[[AND]]) {atomic_rmw_op = 9 : i32,
  // CHECK-NEXT: %[[OLD:.*]] = arith.select %[[POSITIVE]], %[[ABOVE]], %[[BELOW]] : tensor<8xi1>, tensor<8xi32>
  // CHECK-NEXT: %[[FLOAT:.*]] = "tt.bitcast"(%[[OLD]]) : (tensor<8xi32>) -> tensor<8xf32>
  // CHECK-NEXT: "use"(%[[FLOAT]])
  %0 = symm.atomic_rmw max %ctx, %p, %v, %r mask %m : tensor<8xi1> sem relaxed : tensor<8x!tt.ptr<f32>>, tensor<8xf32>
  "use"(%0) : (tensor<8xf32>) -> ()
  // CHECK: "tt.bitcast"(%{{.*}}) : (!tt.ptr<f64>) -> !tt.ptr<i64>
  // CHECK: %[[POSITIVE:.*]] = arith.cmpi sge, %{{.*}} : i64
  // CHECK-NEXT: "tt.atomic_rmw"(%{{.*}}, %{{.*}}, %[[POSITIVE]]) {atomic_rmw_op = 7 : i32,
  // CHECK: "tt.atomic_rmw"({{.*}}) {atomic_rmw_op = 8 : i32,
  %1 = symm.atomic_rmw min %ctx, %d, %x, %r sem relaxed : !tt.ptr<f64>, f64
  // CHECK: "tt.atomic_cas"({{.*}} : (!tt.ptr<i64>, i64, i64) -> i64
  // CHECK-NEXT: %[[OLD:.*]] = "tt.bitcast"(%{{.*}}) : (i64) -> f64
  %2 = symm.atomic_cas %ctx, %d, %x, %x, %r sem relaxed : !tt.ptr<f64>, f64
  "tt.return"() : () -> ()
}) : () -> ()
