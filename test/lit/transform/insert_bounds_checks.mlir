// RUN: symm-opt %s --symm-insert-bounds-checks --canonicalize --cse | FileCheck %s
// RUN: symm-opt %s --symm-insert-bounds-checks --symm-insert-bounds-checks | symm-opt -o /dev/null

module attributes {symm.heap_size = 4194304 : i64} {
  // Rank, then address; both before the access. The heap's first 2 MiB are symm's own;
  // after them, the last place where four bytes fit is 2 MiB - 4.
  // CHECK-LABEL: @pointer
  // CHECK-SAME: (%[[CTX:.*]]: !symm.ctx, %[[V:.*]]: f32, %[[P:.*]]: !llvm.ptr, %[[PEER:.*]]: i32)
  // CHECK-DAG: %[[LAST:.*]] = arith.constant 2097148 : i64
  // CHECK-DAG: %[[RESERVED:.*]] = arith.constant 2097152 : i64
  // CHECK: %[[N:.*]] = symm.num_ranks %[[CTX]]
  // CHECK: %[[FAR:.*]] = arith.cmpi uge, %[[PEER]], %[[N]] : i32
  // CHECK: scf.if %[[FAR]] {
  // CHECK-NEXT: symm.fault %[[CTX]], "rank {} out of range [0, {})"(%[[PEER]], %[[N]]) : i32, i32
  // CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %[[P]]
  // CHECK: %[[ME:.*]] = symm.rank %[[CTX]]
  // CHECK: symm.heap_base %[[CTX]], %[[ME]]
  // CHECK: %[[OFFSET:.*]] = arith.subi %[[ADDRESS]]
  // CHECK: %[[FROM:.*]] = arith.subi %[[OFFSET]], %[[RESERVED]] : i64
  // CHECK: %[[BEYOND:.*]] = arith.cmpi ugt, %[[FROM]], %[[LAST]] : i64
  // CHECK: scf.if %[[BEYOND]] {
  // CHECK-NEXT: symm.fault %[[CTX]], "{} bytes at heap offset {} are outside of [2097152, {}), where allocations are"
  // CHECK: symm.remote_store
  func.func @pointer(%ctx: !symm.ctx, %v: f32, %p: !llvm.ptr, %peer: i32) {
    symm.remote_store %ctx, %p, %v, %peer : !llvm.ptr, f32
    return
  }

  // A vector is checked whole: 16 bytes.
  // CHECK-LABEL: @vector
  // CHECK-DAG: arith.constant 2097136 : i64
  // CHECK-DAG: %[[MASK:.*]] = arith.constant 15 : i64
  // CHECK-DAG: %[[SIXTEEN:.*]] = arith.constant 16 : i64
  // CHECK: %[[OFFSET:.*]] = arith.subi
  // CHECK: symm.fault {{.*}} outside
  // CHECK: %[[LOW:.*]] = arith.andi %[[OFFSET]], %[[MASK]] : i64
  // CHECK: %[[MISALIGNED:.*]] = arith.cmpi ne, %[[LOW]], %{{.*}} : i64
  // CHECK: scf.if %[[MISALIGNED]] {
  // CHECK-NEXT: symm.fault %{{.*}}, "{} bytes at heap offset {} are not aligned to {} bytes"(%[[SIXTEEN]], %[[OFFSET]], %[[SIXTEEN]])
  // CHECK: symm.remote_load
  func.func @vector(%ctx: !symm.ctx, %p: !llvm.ptr, %peer: i32) -> vector<4xf32> {
    %v = symm.remote_load %ctx, %p, %peer : !llvm.ptr -> vector<4xf32>
    return %v : vector<4xf32>
  }

  // The op says how it is aligned; bytes always are.
  // CHECK-LABEL: @alignment
  // CHECK: arith.constant 3 : i64
  // CHECK: symm.fault {{.*}} not aligned
  // CHECK: symm.remote_load
  // CHECK-NOT: not aligned
  // CHECK: symm.put
  func.func @alignment(%ctx: !symm.ctx, %p: !llvm.ptr, %n: index, %peer: i32) -> vector<4xf32> {
    %v = symm.remote_load %ctx, %p, %peer {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
    symm.put %ctx, %p, %p, %peer count %n : index of i8 : !llvm.ptr, !llvm.ptr
    return %v : vector<4xf32>
  }

  // Nothing is checked where the mask is false.
  // CHECK-LABEL: @masked
  // CHECK-SAME: %[[MASK:arg[0-9]+]]: i1)
  // CHECK: scf.if %[[MASK]] {
  // CHECK: symm.fault
  // CHECK: symm.remote_store {{.*}} mask %[[MASK]]
  func.func @masked(%ctx: !symm.ctx, %v: f32, %p: !llvm.ptr, %peer: i32, %mask: i1) {
    symm.remote_store %ctx, %p, %v, %peer mask %mask : i1 : !llvm.ptr, f32
    return
  }

  // A strided memref is checked from its first byte to its last one: (3 * 16 + 3) * 4 + 4 bytes.
  // CHECK-LABEL: @strided
  // CHECK-DAG: arith.constant 208 : i64
  // CHECK: symm.fault
  func.func @strided(%ctx: !symm.ctx, %src: memref<4x4xf32>, %dst: memref<4x4xf32, strided<[16, 1]>>, %peer: i32) {
    symm.put %ctx, %src, %dst, %peer : memref<4x4xf32>, memref<4x4xf32, strided<[16, 1]>>
    return
  }

  // With a negative stride the lowest element is the last one: 3 * -16 elements below the first, which is the one with
  // the offset 48.
  // CHECK-LABEL: @reversed
  // CHECK-DAG: %[[BYTES:.*]] = arith.constant 208 : i64
  // CHECK: %[[START:.*]] = llvm.extractvalue %{{.*}}[1]
  // CHECK: %[[LOWEST:.*]] = llvm.ptrtoint %[[START]]
  // CHECK: %[[OFFSET:.*]] = arith.subi %[[LOWEST]],
  // CHECK: symm.fault {{.*}} outside {{.*}}(%[[BYTES]], %[[OFFSET]],
  func.func @reversed(%ctx: !symm.ctx, %src: memref<4x4xf32, strided<[-16, 1], offset: 48>>, %dst: memref<4x4xf32>,
      %peer: i32) {
    symm.get %ctx, %src, %dst, %peer : memref<4x4xf32, strided<[-16, 1], offset: 48>>, memref<4x4xf32>
    return
  }

  // Sizes that types leave open are compared. What is copied has the source's shape, at the destination too.
  // CHECK-LABEL: @shapes
  // CHECK-SAME: %[[SRC:[a-z0-9]+]]: memref<?x4xf32>, %[[DST:[a-z0-9]+]]: memref<?x?xf32, strided<[?, 1]>>
  // CHECK: symm.fault {{.*}} out of range
  // CHECK: %[[SIZE:.*]] = memref.dim %[[SRC]], %c0
  // CHECK: %[[ROWS:.*]] = arith.index_cast %[[SIZE]]
  // CHECK: %[[SIZE:.*]] = memref.dim %[[DST]], %c0
  // CHECK: %[[THEIRS:.*]] = arith.index_cast %[[SIZE]]
  // CHECK: %[[DIFFERS:.*]] = arith.cmpi ne, %[[ROWS]], %[[THEIRS]] : i64
  // CHECK: scf.if %[[DIFFERS]] {
  // CHECK-NEXT: symm.fault %{{.*}}, "dimension 0 has {} elements at the source and {} at the destination"(%[[ROWS]], %[[THEIRS]])
  // CHECK: symm.fault %{{.*}}, "dimension 1 has
  // CHECK: %[[STEPS:.*]] = arith.subi %[[ROWS]], %c1_i64
  // CHECK: arith.mulsi_extended %[[STEPS]]
  // CHECK: symm.fault {{.*}} outside
  func.func @shapes(%ctx: !symm.ctx, %src: memref<?x4xf32>, %dst: memref<?x?xf32, strided<[?, 1]>>, %peer: i32) {
    symm.put %ctx, %src, %dst, %peer : memref<?x4xf32>, memref<?x?xf32, strided<[?, 1]>>
    return
  }

  // Both ranks of a copy; the flag of a wait, which has no rank.
  // CHECK-LABEL: @ranks
  // CHECK: arith.cmpi uge, %[[A:.*]], %{{.*}} : i32
  // CHECK: arith.cmpi uge, %[[B:.*]], %{{.*}} : i32
  // CHECK: symm.copy
  // CHECK-NOT: arith.cmpi uge
  // CHECK: symm.fault
  // CHECK: symm.wait
  func.func @ranks(%ctx: !symm.ctx, %p: !llvm.ptr, %n: index, %a: i32, %b: i32, %v: i64) {
    symm.copy %ctx, %p at %a, %p at %b count %n : index of i8 : !llvm.ptr, !llvm.ptr
    symm.wait %ctx, %p ge %v : !llvm.ptr, i64
    return
  }

  // What wraps around in 64 bits is out of bounds: the product with a stride, a sum, the bytes.
  // CHECK-LABEL: @wide
  // CHECK-SAME: %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index, %{{.*}}: i32)
  // CHECK-DAG: %[[MOST:.*]] = arith.constant 9223372036854775807 : i64
  // CHECK: %[[ROW:.*]] = arith.index_cast %[[I]]
  // CHECK: %[[ROWS:.*]], %[[HIGH:.*]] = arith.mulsi_extended %[[ROW]], %c64_i64
  // CHECK: %[[SIGN:.*]] = arith.shrsi %[[ROWS]], %c63_i64
  // CHECK: %[[ONE:.*]] = arith.cmpi ne, %[[HIGH]], %[[SIGN]]
  // CHECK: arith.addi %[[ROWS]],
  // CHECK: %[[TWO:.*]] = arith.cmpi slt,
  // CHECK: arith.mulsi_extended
  // CHECK: %[[OFFSET:.*]] = arith.select %{{.*}}, %[[MOST]], %{{.*}} : i64
  // CHECK: symm.fault {{.*}}outside of{{.*}}(%{{.*}}, %[[OFFSET]],
  func.func @wide(%ctx: !symm.ctx, %v: f32, %m: memref<?x64xf32>, %i: index, %j: index, %peer: i32) {
    symm.remote_store %ctx, %m[%i, %j], %v, %peer : memref<?x64xf32>, f32
    return
  }

  // A translation, and what ordinary ops access through it, in the heap of its rank; through other pointers they may
  // access what they like.
  // CHECK-LABEL: @translated
  // CHECK-SAME: %[[P:[a-z0-9]+]]: !llvm.ptr, %[[PEER:[a-z0-9]+]]: i32, %[[I:[a-z0-9]+]]: i64
  // CHECK: symm.fault {{.*}} out of range
  // CHECK: symm.fault %{{.*}}, "a pointer to heap offset {} is outside of [2097152, {}], where allocations are"
  // CHECK: symm.as_remote
  // CHECK: symm.heap_base %{{.*}}, %[[PEER]]
  // CHECK: symm.fault {{.*}} outside of [2097152, {})
  // CHECK: symm.fault {{.*}} not aligned to {} bytes"({{.*}}
  // CHECK-NEXT: }
  // CHECK-NEXT: llvm.load
  // CHECK: scf.for {{.*}} iter_args(%[[NEXT:.*]] =
  // CHECK-NEXT: llvm.ptrtoint %[[NEXT]]
  // CHECK: symm.fault {{.*}} outside of [2097152, {})
  // CHECK: llvm.store
  // CHECK-NOT: symm.fault
  // CHECK: llvm.load
  func.func @translated(%ctx: !symm.ctx, %p: !llvm.ptr, %peer: i32, %i: i64, %n: index) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %q = symm.as_remote %ctx, %p, %peer : !llvm.ptr
    %at = llvm.getelementptr %q[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %at : !llvm.ptr -> f32
    %end = scf.for %k = %c0 to %n step %c1 iter_args(%next = %q) -> !llvm.ptr {
      llvm.store %v, %next : f32, !llvm.ptr
      %further = llvm.getelementptr %next[1] : (!llvm.ptr) -> !llvm.ptr, f32
      scf.yield %further : !llvm.ptr
    }
    %w = llvm.load %p : !llvm.ptr -> f32
    %sum = arith.addf %v, %w : f32
    return %sum : f32
  }

  // Atomics and copies of memrefs, through views.
  // CHECK-LABEL: @views
  // CHECK: symm.as_remote
  // CHECK: symm.fault {{.*}} outside of
  // CHECK: llvm.atomicrmw
  // CHECK: symm.fault {{.*}} outside of
  // CHECK: memref.atomic_rmw
  // CHECK: symm.fault {{.*}} outside of
  // CHECK-NOT: symm.fault
  // CHECK: memref.copy
  func.func @views(%ctx: !symm.ctx, %m: memref<64xi32>, %local: memref<8xi32>, %peer: i32, %i: index, %one: i32) {
    %theirs = symm.as_remote %ctx, %m, %peer : memref<64xi32>
    %part = memref.subview %theirs[%i] [8] [1] : memref<64xi32> to memref<8xi32, strided<[1], offset: ?>>
    %address = memref.extract_aligned_pointer_as_index %theirs : memref<64xi32> -> index
    %number = arith.index_cast %address : index to i64
    %p = llvm.inttoptr %number : i64 to !llvm.ptr
    %0 = llvm.atomicrmw add %p, %one monotonic : !llvm.ptr, i32
    %1 = memref.atomic_rmw addi %one, %part[%i] : (i32, memref<8xi32, strided<[1], offset: ?>>) -> i32
    memref.copy %part, %local : memref<8xi32, strided<[1], offset: ?>> to memref<8xi32>
    return
  }

  // Lines of packets: two for 12 bytes, on both ends, aligned to 16 bytes.
  // CHECK-LABEL: @packets
  // CHECK: symm.fault %{{.*}}, "rank {} out of range
  // CHECK: symm.fault %{{.*}}, "{} bytes at heap offset {} are outside of {{.*}}"(%c32_i64
  // CHECK: symm.fault %{{.*}}, "{} bytes at heap offset {} are not aligned to {} bytes"(%c32_i64, %{{.*}}, %c16_i64
  // CHECK: symm.put_packet
  // CHECK: symm.fault {{.*}} outside
  // CHECK: symm.wait_packet
  // CHECK: symm.fault {{.*}} outside
  // CHECK: symm.try_packet
  func.func @packets(%ctx: !symm.ctx, %p: !llvm.ptr, %v: vector<3xf32>, %e: i32, %peer: i32) {
    symm.put_packet %ctx, %p, %v, %e, %peer : !llvm.ptr, vector<3xf32>
    %0 = symm.wait_packet %ctx, %p, %e : !llvm.ptr -> vector<3xf32>
    %1, %2 = symm.try_packet %ctx, %p, %e : !llvm.ptr -> f32, i1
    return
  }

  // Lines of floats are data alone: one for 12 bytes.
  // CHECK-LABEL: @floats
  // CHECK: symm.fault %{{.*}}, "{} bytes at heap offset {} are outside of {{.*}}"(%c16_i64
  // CHECK: symm.wait_packet
  func.func @floats(%ctx: !symm.ctx, %p: !llvm.ptr) {
    %0 = symm.wait_packet %ctx, %p, sentinel 32 : !llvm.ptr -> vector<3xf32>
    return
  }
}
