// Loads, stores and translated pointers below the dialect: the same address and alignment on every target.
// RUN: symm-opt %s --symm-lower-to-cpu --canonicalize --cse | FileCheck %s

// CHECK-LABEL: @as_remote_pointer
// CHECK-SAME: (%{{.*}}: !llvm.ptr, %[[P:.*]]: !llvm.ptr<1>, %{{.*}}: i32, %[[DELTA:.*]]: i64)
// CHECK-NEXT: %[[Q:.*]] = llvm.getelementptr %[[P]][%[[DELTA]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
// CHECK-NEXT: return %[[Q]]
func.func private @as_remote_pointer(%ctx: !symm.ctx, %p: !llvm.ptr<1>, %r: i32, %d: i64) -> !llvm.ptr<1> {
  %q = symm.as_remote %ctx, %p, %r via %d : !llvm.ptr<1>
  return %q : !llvm.ptr<1>
}

// Both pointers of a memref move; offset, sizes and strides stay.
// CHECK-LABEL: @as_remote_memref
// CHECK-COUNT-2: llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-NOT: llvm.insertvalue {{.*}}[2]
// CHECK: return
func.func private @as_remote_memref(%ctx: !symm.ctx, %m: memref<4xf32, strided<[?], offset: ?>>, %r: i32, %d: i64)
    -> memref<4xf32, strided<[?], offset: ?>> {
  %q = symm.as_remote %ctx, %m, %r via %d : memref<4xf32, strided<[?], offset: ?>>
  return %q : memref<4xf32, strided<[?], offset: ?>>
}

// A vector is aligned to its size, or to what the op says.
// CHECK-LABEL: @alignment
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<8xf16>
// CHECK: llvm.load volatile %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<8xf16>
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : vector<3xf32>, !llvm.ptr
func.func private @alignment(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %d: i64, %v: vector<3xf32>)
    -> (vector<8xf16>, vector<8xf16>) {
  %a = symm.remote_load %ctx, %p, %r via %d : !llvm.ptr -> vector<8xf16>
  %b = symm.remote_load %ctx, %p, %r via %d volatile {alignment = 2 : i64} : !llvm.ptr -> vector<8xf16>
  symm.remote_store %ctx, %p, %v, %r via %d : !llvm.ptr, vector<3xf32>
  return %a, %b : vector<8xf16>, vector<8xf16>
}

// LLVM's masked accesses are never volatile: lanes are accessed one by one, aligned as an element is.
// CHECK-LABEL: @volatile_lanes
// CHECK-NOT: llvm.intr.masked
// CHECK: scf.if %{{.*}} -> (vector<2xf32>) {
// CHECK: llvm.load volatile %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> vector<2xf32>
// CHECK-COUNT-2: llvm.load volatile %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: llvm.store volatile %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr
// CHECK-COUNT-2: llvm.store volatile %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr
func.func private @volatile_lanes(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %d: i64, %in: vector<2xi1>)
    -> vector<2xf32> {
  %v = symm.remote_load %ctx, %p, %r via %d mask %in : vector<2xi1> volatile : !llvm.ptr -> vector<2xf32>
  symm.remote_store %ctx, %p, %v, %r via %d mask %in : vector<2xi1> volatile : !llvm.ptr, vector<2xf32>
  return %v : vector<2xf32>
}
