// What takes long is between the begin and the end of its record, in kernels only.
// RUN: symm-opt %s --symm-insert-trace | FileCheck %s
// A second time changes nothing.
// RUN: symm-opt %s --symm-insert-trace --symm-insert-trace | FileCheck %s

module attributes {gpu.container_module} {
  // CHECK: gpu.module @kernels
  gpu.module @kernels {
    // CHECK: gpu.func @_symm_clock(%[[CTX:.*]]: !symm.ctx, %[[WORDS:.*]]: !llvm.ptr, %[[ROUNDS:.*]]: i64) kernel {
    // CHECK: %[[AFTER:.*]] = arith.constant 64 : i64
    // CHECK: %[[AT:.*]] = llvm.getelementptr %[[WORDS]][%[[AFTER]]]
    // CHECK: %[[RECORD:.*]] = llvm.ptrtoint %[[AT]]
    // CHECK: scf.for %[[ROUND:.*]] = %{{.*}} to %[[ROUNDS]]
    // CHECK: %[[ASKED:.*]] = arith.addi %[[ROUND]], %{{.*}} : i64
    // CHECK: %[[SEEN:.*]] = symm.wait %[[CTX]], %[[WORDS]] ge %[[ASKED]] timeout %{{.*}} sem relaxed
    // CHECK: scf.if %[[SEEN]] {
    // CHECK-NEXT: symm.trace_end %[[RECORD]]{{$}}

    // CHECK: gpu.func @kernel(%[[CTX:.*]]: !symm.ctx, %[[M:.*]]: memref<4xi64>, %[[P:.*]]: !llvm.ptr, %[[V:.*]]: i64, %[[W:.*]]: i32, %[[R:.*]]: i32, %[[I:.*]]: index, %{{.*}}: i1) kernel {
    gpu.func @kernel(%ctx: !symm.ctx, %m: memref<4xi64>, %p: !llvm.ptr, %v: i64, %w: i32, %r: i32, %i: index, %c: i1)
        kernel {
      // CHECK-NEXT: %[[BLOCK:.*]] = symm.trace_begin %[[CTX]], "block" group block
      // CHECK: %[[RECORD:.*]] = symm.trace_begin %[[CTX]], "fence release sys"
      // CHECK-NEXT: symm.fence sem release
      // CHECK-NEXT: symm.trace_end %[[RECORD]]{{$}}
      symm.fence sem release
      // CHECK: %[[RECORD:.*]] = symm.trace_begin %[[CTX]], "barrier" group warp
      // CHECK-NEXT: symm.barrier %[[CTX]] group warp
      // CHECK-NEXT: symm.trace_end %[[RECORD]]{{$}}
      symm.barrier %ctx group warp

      // CHECK: %[[FLAG:.*]] = llvm.ptrtoint
      // CHECK: %[[PEER:.*]] = arith.extsi %[[R]] : i32 to i64
      // CHECK: %[[RECORD:.*]] = symm.trace_begin %[[CTX]], "signal add"(%[[FLAG]], %[[PEER]], %[[V]])
      // CHECK-NEXT: symm.signal add %[[CTX]], %[[M]][%[[I]]]
      // CHECK-NEXT: symm.trace_end %[[RECORD]]{{$}}
      symm.signal add %ctx, %m[%i], %v, %r : memref<4xi64>, i64
      // CHECK: %[[VALUE:.*]] = arith.extsi %[[W]] : i32 to i64
      // CHECK: symm.trace_begin %[[CTX]], "signal set"(%{{.*}}, %{{.*}}, %[[VALUE]]) group block
      symm.signal set %ctx, %p, %w, %r group block : !llvm.ptr, i32

      // CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
      // CHECK: symm.trace_begin %[[CTX]], "put"(%{{.*}}, %{{.*}}, %[[BYTES]]) group block
      // CHECK-NEXT: symm.put
      // CHECK-NEXT: symm.trace_end
      symm.put %ctx, %m, %m, %r group block : memref<4xi64>, memref<4xi64>
      // CHECK: symm.trace_begin %[[CTX]], "get"
      // CHECK-NEXT: symm.get
      // CHECK-NEXT: symm.trace_end
      symm.get %ctx, %p, %p, %r count %v : i64 of f32 : !llvm.ptr, !llvm.ptr
      // CHECK: symm.trace_begin %[[CTX]], "copy"
      // CHECK-NEXT: symm.copy
      // CHECK-NEXT: symm.trace_end
      symm.copy %ctx, %m at %r, %m at %r : memref<4xi64>, memref<4xi64>
      // The signal is outside, and the copy inside.
      // CHECK: %[[SIGNAL:.*]] = symm.trace_begin %[[CTX]], "put_signal set"
      // CHECK: %[[PUT:.*]] = symm.trace_begin %[[CTX]], "put"
      // CHECK-NEXT: symm.put_signal
      // CHECK-NEXT: symm.trace_end %[[PUT]]{{$}}
      // CHECK-NEXT: symm.trace_end %[[SIGNAL]]{{$}}
      symm.put_signal set %ctx, %m, %m, %p, %v, %r : memref<4xi64>, memref<4xi64>, !llvm.ptr, i64

      // Only who has the record looks at the flag.
      // CHECK: %[[RECORD:.*]] = symm.trace_begin %[[CTX]], "wait unsigned gt"(%{{.*}}, %[[V]]) group block
      // CHECK-NEXT: symm.wait %[[CTX]], %[[M]][%[[I]]] unsigned gt %[[V]] group block
      // CHECK: %[[MINE:.*]] = arith.cmpi ne, %[[RECORD]]
      // CHECK: scf.if %[[MINE]] {
      // CHECK: %[[SAW:.*]] = llvm.load volatile %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> i64
      // CHECK: %[[ONE:.*]] = arith.constant 1 : i64
      // CHECK: symm.trace_end %[[RECORD]](%[[SAW]], %[[ONE]])
      symm.wait %ctx, %m[%i] unsigned gt %v group block : memref<4xi64>, i64
      // CHECK: %[[RECORD:.*]] = symm.trace_begin %[[CTX]], "wait eq"
      // CHECK-NEXT: %[[SEEN:.*]] = symm.wait
      // CHECK: %[[SAW:.*]] = arith.extsi %{{.*}} : i32 to i64
      // CHECK: %[[SATISFIED:.*]] = arith.extui %[[SEEN]] : i1 to i64
      // CHECK: symm.trace_end %[[RECORD]](%[[SAW]], %[[SATISFIED]])
      %seen = symm.wait %ctx, %p eq %w timeout %v : !llvm.ptr, i32 -> i1

      // What takes no time of its own is not recorded, and each way out ends the block.
      // CHECK: cf.cond_br
      cf.cond_br %c, ^one, ^other
    ^one:
      // CHECK: symm.remote_store
      // CHECK-NEXT: symm.trace_end %[[BLOCK]]{{$}}
      // CHECK-NEXT: gpu.return
      symm.remote_store %ctx, %m[%i], %v, %r : memref<4xi64>, i64
      gpu.return
    ^other:
      // CHECK: symm.trace_end %[[BLOCK]]{{$}}
      // CHECK-NEXT: gpu.return
      gpu.return
    }

    // A function that a kernel calls is no block, and without a context nothing is recorded.
    // CHECK: gpu.func @called(
    // CHECK-NEXT: symm.trace_begin %{{.*}}, "fence acq_rel gpu"
    gpu.func @called(%ctx: !symm.ctx) {
      symm.fence scope gpu
      gpu.return
    }
    // CHECK: gpu.func @without_context(
    // CHECK-NEXT: symm.fence
    // CHECK-NEXT: gpu.return
    gpu.func @without_context() kernel {
      symm.fence
      gpu.return
    }
  }

  // CHECK: func.func @host(
  // CHECK-NOT: symm.trace
  // CHECK: return
  func.func @host(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i64) {
    symm.wait %ctx, %p eq %v : !llvm.ptr, i64
    return
  }
}
