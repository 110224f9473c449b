// A load of one bit stays in its place, as a load of a byte, be it volatile and unused.
// RUN: symm-opt %s --symm-load-bits-as-bytes | FileCheck %s
// RUN: symm-translate %s --to ptx | FileCheck %s --check-prefix=PTX

module attributes {gpu.container_module, symm.num_ranks = 2 : i32, symm.heap_stride = 67108864 : i64} {
  gpu.module @kernels {
    // CHECK: %[[BYTE:.*]] = llvm.load volatile %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> i8
    // CHECK-NEXT: %[[BIT:.*]] = llvm.trunc %[[BYTE]] : i8 to i1
    // CHECK-NEXT: llvm.zext %[[BIT]] : i1 to i32
    // CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<8xi1>
    llvm.func @kept(%p: !llvm.ptr) -> i32 {
      %bit = llvm.load volatile %p {alignment = 4 : i64} : !llvm.ptr -> i1
      %number = llvm.zext %bit : i1 to i32
      %bits = llvm.load %p : !llvm.ptr -> vector<8xi1>
      llvm.return %number : i32
    }

    // PTX-LABEL: .entry released(
    // PTX: ld.volatile.global.b8
    // PTX: st.release.sys.global.b32
    // PTX: st.global.b32
    gpu.func @released(%ctx: !symm.ctx, %flag: !llvm.ptr, %p: !llvm.ptr, %q: !llvm.ptr) kernel {
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %bit = llvm.load volatile %p : !llvm.ptr -> i1
      symm.signal set %ctx, %flag, %one, %me : !llvm.ptr, i32
      %number = arith.extui %bit : i1 to i32
      llvm.store %number, %q : i32, !llvm.ptr
      gpu.return
    }

    // PTX-LABEL: .entry unused(
    // PTX: ld.volatile.global.b8
    // PTX: st.release.sys.global.b32
    gpu.func @unused(%ctx: !symm.ctx, %flag: !llvm.ptr, %p: !llvm.ptr) kernel {
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %bit = llvm.load volatile %p : !llvm.ptr -> i1
      symm.signal set %ctx, %flag, %one, %me : !llvm.ptr, i32
      gpu.return
    }

    // PTX-LABEL: .entry vector(
    // PTX: ld.volatile.global.b8
    // PTX: st.release.sys.global.b32
    // PTX: st.global.b32
    gpu.func @vector(%ctx: !symm.ctx, %flag: !llvm.ptr, %p: !llvm.ptr, %q: !llvm.ptr) kernel {
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %bit = llvm.load volatile %p : !llvm.ptr -> vector<1xi1>
      symm.signal set %ctx, %flag, %one, %me : !llvm.ptr, i32
      %number = arith.extui %bit : vector<1xi1> to vector<1xi32>
      llvm.store %number, %q : vector<1xi32>, !llvm.ptr
      gpu.return
    }

    // PTX-LABEL: .entry of_memref(
    // PTX: ld.global.b8
    // PTX: st.release.sys.global.b32
    // PTX: st.global.b32
    gpu.func @of_memref(%ctx: !symm.ctx, %flag: !llvm.ptr, %p: memref<4xi1>, %q: !llvm.ptr) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %bit = memref.load %p[%c0] : memref<4xi1>
      symm.signal set %ctx, %flag, %one, %me : !llvm.ptr, i32
      %number = arith.extui %bit : i1 to i32
      llvm.store %number, %q : i32, !llvm.ptr
      gpu.return
    }
  }
}
