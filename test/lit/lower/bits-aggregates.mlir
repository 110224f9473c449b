// Bits in structures and arrays are loaded as bytes, too.
// RUN: symm-opt %s --symm-load-bits-as-bytes | FileCheck %s
// RUN: symm-translate %s --to ptx | FileCheck %s --check-prefix=PTX
// RUN: symm-translate %s --to ptx -O 0 | FileCheck %s --check-prefix=PTX

module attributes {gpu.container_module, symm.num_ranks = 2 : i32, symm.heap_stride = 67108864 : i64} {
  gpu.module @kernels {
    // CHECK-LABEL: llvm.func @structure(
    // CHECK: %[[BYTES:.*]] = llvm.load volatile %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> !llvm.struct<(i32, i8)>
    // CHECK-NEXT: %[[EMPTY:.*]] = llvm.mlir.poison : !llvm.struct<(i32, i1)>
    // CHECK-NEXT: %[[WORD:.*]] = llvm.extractvalue %[[BYTES]][0]
    // CHECK-NEXT: %[[FIRST:.*]] = llvm.insertvalue %[[WORD]], %[[EMPTY]][0]
    // CHECK-NEXT: %[[BYTE:.*]] = llvm.extractvalue %[[BYTES]][1]
    // CHECK-NEXT: %[[BIT:.*]] = llvm.trunc %[[BYTE]] : i8 to i1
    // CHECK-NEXT: %[[ALL:.*]] = llvm.insertvalue %[[BIT]], %[[FIRST]][1]
    // CHECK-NEXT: llvm.return %[[ALL]]
    llvm.func @structure(%p: !llvm.ptr) -> !llvm.struct<(i32, i1)> {
      %both = llvm.load volatile %p {alignment = 8 : i64} : !llvm.ptr -> !llvm.struct<(i32, i1)>
      llvm.return %both : !llvm.struct<(i32, i1)>
    }

    // CHECK-LABEL: llvm.func @nested(
    // CHECK: llvm.load %{{.*}} : !llvm.ptr -> !llvm.struct<packed (array<2 x struct<(i8, i64)>>, i32)>
    // CHECK: llvm.bitcast %{{.*}} : i1 to vector<1xi1>
    llvm.func @nested(%p: !llvm.ptr) -> !llvm.struct<packed (array<2 x struct<"pair", (vector<1xi1>, i64)>>, i32)> {
      %all = llvm.load %p : !llvm.ptr -> !llvm.struct<packed (array<2 x struct<"pair", (vector<1xi1>, i64)>>, i32)>
      llvm.return %all : !llvm.struct<packed (array<2 x struct<"pair", (vector<1xi1>, i64)>>, i32)>
    }

    // CHECK-LABEL: llvm.func @none(
    // CHECK-NEXT: llvm.load %{{.*}} : !llvm.ptr -> !llvm.struct<(i32, array<2 x i8>)>
    // CHECK-NEXT: llvm.return
    llvm.func @none(%p: !llvm.ptr) -> !llvm.struct<(i32, array<2 x i8>)> {
      %all = llvm.load %p : !llvm.ptr -> !llvm.struct<(i32, array<2 x i8>)>
      llvm.return %all : !llvm.struct<(i32, array<2 x i8>)>
    }

    // PTX-LABEL: .entry released(
    // PTX: ld.volatile{{(.global)?}}.b8
    // PTX: st.release.sys.global.b32
    // PTX: st{{(.global)?}}.b32
    gpu.func @released(%ctx: !symm.ctx, %flag: !llvm.ptr, %p: !llvm.ptr, %q: !llvm.ptr) kernel {
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %both = llvm.load volatile %p : !llvm.ptr -> !llvm.struct<(i32, i1)>
      %bit = llvm.extractvalue %both[1] : !llvm.struct<(i32, i1)>
      symm.signal set %ctx, %flag, %one, %me : !llvm.ptr, i32
      %number = arith.extui %bit : i1 to i32
      llvm.store %number, %q : i32, !llvm.ptr
      gpu.return
    }

    // PTX-LABEL: .entry of_array(
    // PTX: ld{{(.global)?}}.b8
    // PTX: st.release.sys.global.b32
    // PTX: st{{(.global)?}}.b32
    gpu.func @of_array(%ctx: !symm.ctx, %flag: !llvm.ptr, %p: !llvm.ptr, %q: !llvm.ptr) kernel {
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %both = llvm.load %p : !llvm.ptr -> !llvm.array<2 x i1>
      %bit = llvm.extractvalue %both[1] : !llvm.array<2 x i1>
      symm.signal set %ctx, %flag, %one, %me : !llvm.ptr, i32
      %number = arith.extui %bit : i1 to i32
      llvm.store %number, %q : i32, !llvm.ptr
      gpu.return
    }
  }
}
