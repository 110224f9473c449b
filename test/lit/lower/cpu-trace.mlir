// With trace=true transfers and signals are recorded: what, to whom, how much, from where.
// RUN: symm-opt %s --symm-lower-to-cpu=trace=true --canonicalize --cse | FileCheck %s
// RUN: symm-opt %s --symm-lower-to-cpu | FileCheck %s --check-prefix=QUIET
// RUN: symm-opt %s --symm-cpu=trace=true | FileCheck %s --check-prefix=LLVM
// QUIET-NOT: trace
// LLVM: llvm.call @symm_rt_trace_begin

// CHECK-LABEL: func.func @transfers(
func.func @transfers(%ctx: !symm.ctx, %m: memref<8xf32>, %p: !llvm.ptr, %r: i32, %to: i32, %d: i64, %n: i64,
    %v: i64) {
  // CHECK-DAG: %[[PUT:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[GET:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[COPY:.*]] = arith.constant 2 : i32
  // CHECK-DAG: %[[BYTES:.*]] = arith.constant 32 : i64
  // CHECK: call @symm_rt_trace_begin(%[[GET]], %arg0, %arg3, %{{.*}}, %[[BYTES]], %{{.*}})
  // CHECK-NEXT: "llvm.intr.memcpy"
  // CHECK-NEXT: call @symm_rt_trace_end()
  symm.get %ctx, %m, %m, %r via %d : memref<8xf32>, memref<8xf32>
  // CHECK: call @symm_rt_trace_begin(%[[PUT]], %arg0, %arg3, %{{.*}}, %arg6, %{{.*}})
  // CHECK-NEXT: "llvm.intr.memcpy"
  // CHECK-NEXT: call @symm_rt_trace_end()
  symm.put %ctx, %p, %p, %r via %d count %n : i64 of i8 : !llvm.ptr, !llvm.ptr
  // CHECK: call @symm_rt_trace_begin(%[[COPY]], %arg0, %arg4,
  // CHECK: call @symm_rt_trace_end()
  symm.copy %ctx, %m at %r via %d, %m at %to via %d : memref<8xf32>, memref<8xf32>
  // The value after an add is the flag's new one; a signal is known before its waiter wakes.
  // CHECK: llvm.store %arg7, %[[F:.*]] atomic release
  // CHECK: call @symm_rt_trace_signal(%arg0, %arg3, %[[F]], %[[PUT]], %arg7, %{{.*}})
  // CHECK-NEXT: call @symm_rt_wake
  symm.signal set %ctx, %p, %v, %r via %d : !llvm.ptr, i64
  // CHECK: %[[OLD:.*]] = llvm.atomicrmw add %[[F]], %arg7 release
  // CHECK-NEXT: %[[NEW:.*]] = arith.addi %[[OLD]], %arg7
  // CHECK: call @symm_rt_trace_signal(%arg0, %arg3, %[[F]], %[[GET]], %[[NEW]], %{{.*}})
  symm.signal add %ctx, %p, %v, %r via %d : !llvm.ptr, i64
  // CHECK: call @symm_rt_trace_begin(%[[PUT]]
  // CHECK: call @symm_rt_trace_end
  // CHECK: call @symm_rt_trace_signal
  symm.put_signal set %ctx, %m, %m, %p, %v, %r via %d : memref<8xf32>, memref<8xf32>, !llvm.ptr, i64
  return
}
