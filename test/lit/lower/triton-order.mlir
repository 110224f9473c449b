// Signals, waits and fences in a Triton kernel (O1, O3 to O6), for NVIDIA and AMD, with the barrier of each version.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation \
// RUN:     '--symm-lower-to-triton=target=cuda:90 version=3.6.0' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CUDA '-D$BARRIER=gpu.barrier'
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation \
// RUN:     '--symm-lower-to-triton=target=cuda:90 version=3.7.1' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CUDA '-D$BARRIER="ttg.barrier"() {addrSpace = 31 : i32}'
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation \
// RUN:     '--symm-lower-to-triton=target=hip:gfx942 version=3.9.0' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,HIP '-D$BARRIER="ttg.barrier"() {addrSpace = 31 : i32}'

// What all threads did is released by one: after a barrier (O3), before which each wave of AMD's releases for itself.
// CHECK-LABEL: sym_name = "signal"
// CHECK: ^bb0(%{{.*}}: !tt.ptr<i64>, %[[F:.*]]: !tt.ptr<i64>, %[[V:.*]]: i64,
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i64, i32) -> (), sym_name = "signal"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i64>, %v: i64, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CHECK: %[[THEIRS:.*]] = "tt.addptr"(%[[F]], %{{.*}})
  // HIP-NEXT: asm_string = "buffer_wbl2 sc0 sc1\0As_waitcnt vmcnt(0) lgkmcnt(0)\0Av_mov_b32 $0, 0"
  // HIP-SAME: constraints = "=v,~{memory}", packed_element = 1 : i32, pure = false}
  // CHECK-NEXT: [[$BARRIER]]
  // CUDA-NEXT: "tt.atomic_rmw"(%[[THEIRS]], %[[V]]) {atomic_rmw_op = 10 : i32, scope = 3 : i32, sem = 3 : i32}
  // HIP-NEXT: "tt.atomic_rmw"(%[[THEIRS]], %[[V]]) {atomic_rmw_op = 10 : i32, scope = 3 : i32, sem = 1 : i32}
  symm.signal set %ctx, %f, %v, %r : !tt.ptr<i64>, i64
  // CHECK: %[[THEIRS:.*]] = "tt.addptr"(%[[F]], %{{.*}})
  // CHECK-NEXT: "tt.atomic_rmw"(%[[THEIRS]], %[[V]]) {atomic_rmw_op = 4 : i32, scope = 3 : i32, sem = 1 : i32}
  symm.signal add %ctx, %f, %v, %r sem relaxed : !tt.ptr<i64>, i64
  "tt.return"() : () -> ()
}) : () -> ()

// NVIDIA: at first polls that acquire; then, and on AMD from the start, relaxed ones, which pause after a while,
// and one acquire (O5). Then a barrier (O3).
// CHECK-LABEL: sym_name = "wait"
// CHECK: ^bb0(%{{.*}}: !tt.ptr<i64>, %[[F:.*]]: !tt.ptr<i64>, %[[V:.*]]: i64, %[[F32:.*]]: !tt.ptr<i32>,
// CHECK-SAME: %[[V32:.*]]: i32):
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i64, !tt.ptr<i32>, i32) -> (), sym_name = "wait"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i64>, %v: i64, %f32: !tt.ptr<i32>, %v32: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CUDA-NEXT: %[[C1:.*]] = arith.constant 1 : i32
  // CUDA-NEXT: %[[POLLED:.*]]:2 = scf.while (%[[POLLS:.*]] = %[[C1]]) : (i32) -> (i32, i1) {
  // CUDA-NEXT: %[[SEEN:.*]] = "tt.elementwise_inline_asm"(%[[F]])
  // CUDA-SAME: {asm_string = "ld.acquire.sys.global.b64 $0, [$1];", constraints = "=l,l,~{memory}",
  // CUDA-SAME: packed_element = 1 : i32, pure = false} : (!tt.ptr<i64>) -> i64
  // CUDA-NEXT: %[[ENOUGH:.*]] = arith.cmpi uge, %[[SEEN]], %[[V]] : i64
  // CUDA-NEXT: %[[TRUE:.*]] = arith.constant true
  // CUDA-NEXT: %[[MISSING:.*]] = arith.xori %[[ENOUGH]], %[[TRUE]] : i1
  // CUDA-NEXT: %[[MOST:.*]] = arith.constant 64 : i32
  // CUDA-NEXT: %[[FEW:.*]] = arith.cmpi ult, %[[POLLS]], %[[MOST]] : i32
  // CUDA-NEXT: %[[AGAIN:.*]] = arith.andi %[[MISSING]], %[[FEW]] : i1
  // CUDA-NEXT: scf.condition(%[[AGAIN]]) %[[POLLS]], %[[MISSING]] : i32, i1
  // CUDA-NEXT: } do {
  // CUDA: scf.if %[[POLLED]]#1 {
  // CHECK-NEXT: %[[C1:.*]] = arith.constant 1 : i32
  // CHECK-NEXT: scf.while (%{{.*}} = %[[C1]]) : (i32) -> (i32, i1) {
  // CHECK-NEXT: %[[SEEN:.*]] = "tt.elementwise_inline_asm"(%[[F]])
  // CUDA-SAME: {asm_string = "ld.relaxed.sys.global.b64 $0, [$1];", constraints = "=l,l,~{memory}",
  // HIP-SAME: {asm_string = "global_load_dwordx2 $0, $1, off sc0 sc1\0As_waitcnt vmcnt(0)",
  // HIP-SAME: constraints = "=&v,v,~{memory}",
  // CHECK-SAME: packed_element = 1 : i32, pure = false} : (!tt.ptr<i64>) -> i64
  // CHECK-NEXT: %[[ENOUGH:.*]] = arith.cmpi uge, %[[SEEN]], %[[V]] : i64
  // CHECK-NEXT: %[[TRUE:.*]] = arith.constant true
  // CHECK-NEXT: %[[MISSING:.*]] = arith.xori %[[ENOUGH]], %[[TRUE]] : i1
  // CHECK-NEXT: scf.condition(%[[MISSING]])
  // CHECK-NEXT: } do {
  // CHECK-NEXT: ^bb0(%[[POLLS:.*]]: i32, %{{.*}}: i1):
  // CUDA-NEXT: %[[EAGER:.*]] = arith.constant 192 : i32
  // HIP-NEXT: %[[EAGER:.*]] = arith.constant 256 : i32
  // CHECK-NEXT: %[[LATE:.*]] = arith.cmpi ugt, %[[POLLS]], %[[EAGER]] : i32
  // CHECK-NEXT: scf.if %[[LATE]] {
  // CUDA-NEXT: "tt.elementwise_inline_asm"() {asm_string = "nanosleep.u32 64;\0Amov.u32 $0, 0;", constraints = "=r",
  // HIP-NEXT: "tt.elementwise_inline_asm"() {asm_string = "s_sleep 1\0Av_mov_b32 $0, 0", constraints = "=v",
  // CHECK: scf.yield
  // CHECK-NEXT: }
  // CUDA-NEXT: "tt.elementwise_inline_asm"(%[[F]]) {asm_string = "ld.acquire.sys.global.b64 $0, [$1];",
  // CUDA-SAME: {{.*}} -> i64{{$}}
  // CUDA-NEXT: {{^ *\}$}}
  // HIP-NEXT: asm_string = "s_waitcnt vmcnt(0) lgkmcnt(0)\0Abuffer_inv sc0 sc1\0Av_mov_b32 $0, 0",
  // CHECK-NEXT: [[$BARRIER]]
  symm.wait %ctx, %f unsigned ge %v : !tt.ptr<i64>, i64
  // CHECK: scf.while
  // CUDA: asm_string = "ld.relaxed.sys.global.b32 $0, [$1];", constraints = "=r,l,~{memory}"
  // HIP: asm_string = "global_load_dword $0, $1, off sc0 sc1\0As_waitcnt vmcnt(0)"
  // CHECK-NEXT: arith.cmpi slt
  // CHECK: scf.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: [[$BARRIER]]
  // CHECK-NEXT: "tt.return"
  symm.wait %ctx, %f32 lt %v32 sem relaxed : !tt.ptr<i32>, i32
  "tt.return"() : () -> ()
}) : () -> ()

// CHECK-LABEL: sym_name = "fence"
"tt.func"() <{function_type = () -> (), sym_name = "fence"}> ({
  // CUDA-NEXT: [[$BARRIER]]
  // CUDA-NEXT: asm_string = "fence.acq_rel.sys;\0Amov.u32 $0, 0;", constraints = "=r,~{memory}"
  // HIP-NEXT: asm_string = "buffer_wbl2 sc0 sc1\0As_waitcnt vmcnt(0) lgkmcnt(0)\0Av_mov_b32 $0, 0"
  // HIP-NEXT: [[$BARRIER]]
  symm.fence sem release
  // CHECK-NEXT: "between"
  "between"() : () -> ()
  // CUDA-NEXT: asm_string = "fence.acq_rel.gpu;
  // HIP-NEXT: asm_string = "s_waitcnt vmcnt(0) lgkmcnt(0)\0Abuffer_inv sc1\0A
  // CHECK-NEXT: [[$BARRIER]]
  symm.fence sem acquire scope gpu
  // CHECK-NEXT: "between"
  "between"() : () -> ()
  // CUDA-NEXT: [[$BARRIER]]
  // CUDA-NEXT: asm_string = "fence.acq_rel.cta;
  // HIP-NEXT: asm_string = "s_waitcnt vmcnt(0) lgkmcnt(0)\0Abuffer_inv sc0\0A
  // CHECK-NEXT: [[$BARRIER]]
  symm.fence scope cta
  "tt.return"() : () -> ()
}) : () -> ()

// First the data, then the signal.
// CHECK-LABEL: sym_name = "put_signal"
// CHECK: ^bb0(%{{.*}}: !tt.ptr<i64>, %[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[F:.*]]: !tt.ptr<i32>, %[[V:.*]]: i32,
"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<8x!tt.ptr<f32>>, !tt.ptr<i32>, i32, i32) -> (),
  sym_name = "put_signal"}> ({
^bb0(%table: !tt.ptr<i64>, %p: tensor<8x!tt.ptr<f32>>, %f: !tt.ptr<i32>, %v: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CHECK: %[[DATA:.*]] = "tt.load"(%[[P]])
  // CHECK-NEXT: "tt.store"(%{{.*}}, %[[DATA]])
  // CHECK: %[[THEIRS:.*]] = "tt.addptr"(%[[F]],
  // CHECK: [[$BARRIER]]
  // CHECK-NEXT: "tt.atomic_rmw"(%[[THEIRS]], %[[V]]) {atomic_rmw_op = 4 : i32, scope = 3 : i32,
  symm.put_signal add %ctx, %p, %p, %f, %v, %r : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, !tt.ptr<i32>, i32
  "tt.return"() : () -> ()
}) : () -> ()

// The word of the program counts up; every rank is told, every rank is waited for.
// CHECK-LABEL: sym_name = "barrier"
"tt.func"() <{function_type = (!tt.ptr<i64>) -> (), sym_name = "barrier"}> ({
^bb0(%table: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CUDA: [[$BARRIER]]
  // CUDA-NEXT: asm_string = "fence.acq_rel.sys;
  // HIP: asm_string = "buffer_wbl2 sc0 sc1
  // HIP-NEXT: [[$BARRIER]]
  // CHECK: "tt.int_to_ptr"(%[[MINE:[0-9]+]]) : (i64) -> !tt.ptr<i64>
  // CHECK: "tt.atomic_rmw"({{.*}}) {atomic_rmw_op = 4 : i32, scope = 1 : i32, sem = 1 : i32}
  // CHECK-NEXT: %[[EPOCH:.*]] = arith.addi
  // CHECK: scf.for
  // CHECK: "tt.atomic_rmw"(%{{.*}}, %[[EPOCH]]) {atomic_rmw_op = 10 : i32, scope = 3 : i32, sem = 1 : i32}
  // CHECK: scf.for
  // CHECK: "tt.int_to_ptr"(%[[MINE]]) : (i64) -> !tt.ptr<i64>
  // CHECK: scf.while
  // CUDA: ld.acquire.sys.global.b64
  // HIP: sc0 sc1
  // CHECK: arith.cmpi sge, %{{.*}}, %[[EPOCH]]
  // CUDA: asm_string = "ld.acquire.sys{{.*}} -> i64{{$}}
  // CUDA-NEXT: {{^ *\}$}}
  // CUDA-NEXT: {{^ *\}$}}
  // HIP: buffer_inv sc0 sc1
  // CHECK-NEXT: [[$BARRIER]]
  // CHECK-NEXT: "tt.return"
  symm.barrier %ctx
  "tt.return"() : () -> ()
}) : () -> ()
