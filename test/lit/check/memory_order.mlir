// What publishes nothing or reaches nobody is reported and repaired (O1, O2).
// RUN: symm-opt %s --allow-unregistered-dialect --symm-check-memory-order --verify-diagnostics | FileCheck %s

// O2: a scope that does not reach another rank is widened.
// CHECK-LABEL: func.func @scopes(
func.func @scopes(%ctx: !symm.ctx, %f: memref<i32>, %v: i32, %r: i32) {
  // CHECK-NOT: scope
  // expected-remark @below {{'symm.atomic_rmw' op O2: scope gpu does not reach another rank; widened to sys}}
  %0 = symm.atomic_rmw add %ctx, %f, %v, %r scope gpu : memref<i32>, i32
  // expected-remark @below {{'symm.atomic_cas' op O2: scope cluster does not reach another rank; widened to sys}}
  %1 = symm.atomic_cas %ctx, %f, %v, %v, %r scope cluster : memref<i32>, i32
  // expected-remark @below {{'symm.signal' op O2: scope cta does not reach another rank; widened to sys}}
  symm.signal set %ctx, %f, %v, %r scope cta : memref<i32>, i32
  // expected-remark @below {{'symm.wait' op O2: scope gpu does not reach another rank; widened to sys}}
  symm.wait %ctx, %f eq %v scope gpu : memref<i32>, i32
  // expected-remark @below {{'symm.put_signal' op O2: scope gpu does not reach another rank; widened to sys}}
  symm.put_signal set %ctx, %f, %f, %f, %v, %r scope gpu : memref<i32>, memref<i32>, memref<i32>, i32
  // CHECK: return
  return
}

// What is right already, and a fence among the threads of one GPU, stay.
// CHECK-LABEL: func.func @nothing_to_do(
func.func @nothing_to_do(%ctx: !symm.ctx, %f: memref<i32>, %v: i32, %r: i32) {
  // CHECK-NEXT: symm.fence scope gpu
  // CHECK-NEXT: symm.fence sem release scope cta
  // CHECK-NEXT: symm.signal set %{{.*}} : memref<i32>, i32
  // CHECK-NEXT: symm.atomic_rmw add {{.*}} sem relaxed
  // CHECK-NEXT: symm.wait %{{.*}} : memref<i32>, i32
  // CHECK-NEXT: symm.wait {{.*}} sem relaxed : memref<i32>, i32
  // CHECK-NEXT: return
  symm.fence scope gpu
  symm.fence sem release scope cta
  symm.signal set %ctx, %f, %v, %r : memref<i32>, i32
  %0 = symm.atomic_rmw add %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.wait %ctx, %f eq %v : memref<i32>, i32
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  return
}

// O1, a relaxed signal: every kind of write before it.
// CHECK-LABEL: func.func @writes_before(
func.func @writes_before(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<8xf32>, %p: !llvm.ptr, %x: f32, %i: index,
    %v: i32, %r: i32) {
  // CHECK-NOT: relaxed
  symm.remote_store %ctx, %m[%i], %x, %r : memref<8xf32>, f32
  // expected-remark @below {{'symm.signal' op O1: relaxed, but writes come before it without a release fence; made}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  symm.put %ctx, %m, %m, %r : memref<8xf32>, memref<8xf32>
  // expected-remark @below {{made release}}
  symm.signal add %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  symm.get %ctx, %m, %m, %r : memref<8xf32>, memref<8xf32>
  // expected-remark @below {{made release}}
  symm.signal add %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  symm.copy %ctx, %m at %r, %m at %r : memref<8xf32>, memref<8xf32>
  // expected-remark @below {{made release}}
  symm.signal add %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  memref.store %x, %m[%i] : memref<8xf32>
  // expected-remark @below {{made release}}
  symm.signal add %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  llvm.store %x, %p : f32, !llvm.ptr
  // expected-remark @below {{made release}}
  symm.signal add %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  linalg.fill ins(%x : f32) outs(%m : memref<8xf32>)
  // expected-remark @below {{made release}}
  symm.signal add %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  func.call @unknown() : () -> ()
  // expected-remark @below {{made release}}
  symm.signal add %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  // CHECK: return
  return
}
func.func private @unknown()

// Reads before a signal: a peer that sees it may overwrite what they read.
// CHECK-LABEL: func.func @reads_before(
func.func @reads_before(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<8xf32>, %p: !llvm.ptr, %x: f32, %i: index, %v: i32,
    %r: i32) {
  // CHECK-NOT: relaxed
  %0 = symm.remote_load %ctx, %m[%i], %r : memref<8xf32> -> f32
  // expected-remark @below {{'symm.signal' op O1: relaxed, but reads come before it without a release fence: a peer may overwrite what they read; made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  %1 = memref.load %m[%i] : memref<8xf32>
  // expected-remark @below {{but reads come before it}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  %2 = llvm.load %p : !llvm.ptr -> f32
  // expected-remark @below {{but reads come before it}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  %3 = vector.transfer_read %m[%i], %x {in_bounds = [true]} : memref<8xf32>, vector<4xf32>
  // expected-remark @below {{but reads come before it}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  %4 = affine.load %m[0] : memref<8xf32>
  // expected-remark @below {{but reads come before it}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  // CHECK: return
  return
}

// Covered by a fence, or of memory that no peer sees.
// CHECK-LABEL: func.func @covered_reads(
func.func @covered_reads(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<8xf32>, %shared: memref<8xi32, #gpu.address_space<workgroup>>,
    %p: !llvm.ptr<3>, %x: f32, %i: index, %v: i32, %r: i32) {
  // CHECK-COUNT-2: symm.signal {{.*}} sem relaxed
  %0 = symm.remote_load %ctx, %m[%i], %r : memref<8xf32> -> f32
  symm.fence sem release
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  %own = memref.alloca() : memref<8xi32>
  memref.store %v, %own[%i] : memref<8xi32>
  memref.store %v, %shared[%i] : memref<8xi32, #gpu.address_space<workgroup>>
  llvm.store %v, %p : i32, !llvm.ptr<3>
  %1 = llvm.load %p : !llvm.ptr<3> -> i32
  %2 = memref.load %shared[%i] : memref<8xi32, #gpu.address_space<workgroup>>
  %3 = memref.load %own[%i] : memref<8xi32>
  symm.signal set %ctx, %f, %3, %r sem relaxed : memref<i32>, i32
  return
}

// A fence that releases at sys covers; one that only acquires, or is narrower, does not.
// CHECK-LABEL: func.func @fences_before(
func.func @fences_before(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<i32>, %v: i32, %r: i32) {
  memref.store %v, %m[] : memref<i32>
  symm.fence sem release
  // CHECK: symm.signal {{.*}} sem relaxed
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  memref.store %v, %m[] : memref<i32>
  symm.fence
  // CHECK: symm.signal {{.*}} sem relaxed
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  memref.store %v, %m[] : memref<i32>
  symm.barrier %ctx
  // CHECK: symm.signal {{.*}} sem relaxed
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  memref.store %v, %m[] : memref<i32>
  symm.fence sem acquire
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  memref.store %v, %m[] : memref<i32>
  symm.fence scope gpu
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  return
}

// Two repairs of one op.
// CHECK-LABEL: func.func @both(
func.func @both(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<i32>, %v: i32, %r: i32) {
  memref.store %v, %m[] : memref<i32>
  // CHECK: symm.signal set %{{.*}}, %{{.*}}, %{{.*}}, %{{[a-z0-9]*}} : memref<i32>, i32
  // expected-remark @below {{O2: scope gpu does not reach another rank; widened to sys}}
  // expected-remark @below {{O1: relaxed, but writes come before it without a release fence; made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed scope gpu : memref<i32>, i32
  return
}

// O1, a relaxed wait: every kind of read after it.
// CHECK-LABEL: func.func @reads_after(
func.func @reads_after(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<8xf32>, %p: !llvm.ptr, %i: index, %v: i32,
    %r: i32) {
  // CHECK-NOT: relaxed
  // expected-remark @below {{'symm.wait' op O1: relaxed, but reads come after it without an acquire fence; made}}
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  %0 = memref.load %m[%i] : memref<8xf32>
  symm.fence
  // expected-remark @below {{made acquire}}
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  %1 = symm.remote_load %ctx, %m[%i], %r : memref<8xf32> -> f32
  symm.fence
  // expected-remark @below {{made acquire}}
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  symm.get %ctx, %m, %m, %r : memref<8xf32>, memref<8xf32>
  symm.fence
  // expected-remark @below {{made acquire}}
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  %2 = llvm.load %p : !llvm.ptr -> f32
  symm.fence
  // Writes must not come before the flag either.
  // expected-remark @below {{made acquire}}
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  symm.remote_store %ctx, %m[%i], %2, %r : memref<8xf32>, f32
  symm.fence
  // expected-remark @below {{made acquire}}
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  func.call @unknown() : () -> ()
  // CHECK: return
  return
}

// CHECK-LABEL: func.func @fences_after(
func.func @fences_after(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<f32>, %v: i32) {
  // CHECK: symm.wait {{.*}} sem relaxed
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  symm.fence sem acquire
  %0 = memref.load %m[] : memref<f32>
  // CHECK: symm.wait {{.*}} eq %{{[a-z0-9]*}} : memref<i32>, i32
  // expected-remark @below {{made acquire}}
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  symm.fence sem release
  %1 = memref.load %m[] : memref<f32>
  // CHECK: symm.wait {{.*}} sem relaxed
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  return
}

// A barrier acquires what its own flags hand over (O1): for a wait before it, it is no fence.
// CHECK-LABEL: func.func @barrier_after(
func.func @barrier_after(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<f32>, %v: i32) {
  // CHECK: symm.wait {{.*}} eq %{{[a-z0-9]*}} : memref<i32>, i32
  // expected-remark @below {{made acquire}}
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  symm.barrier %ctx
  %0 = memref.load %m[] : memref<f32>
  // CHECK: symm.wait {{.*}} sem relaxed
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  symm.barrier %ctx
  return
}

// An access in a branch counts; a fence in a branch may not be reached.
// CHECK-LABEL: func.func @branches(
func.func @branches(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<i32>, %v: i32, %r: i32, %c: i1) {
  scf.if %c {
    memref.store %v, %m[] : memref<i32>
  }
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  memref.store %v, %m[] : memref<i32>
  scf.if %c {
    symm.fence
  }
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  // Out of a branch, to what comes before it.
  memref.store %v, %m[] : memref<i32>
  scf.if %c {
    // expected-remark @below {{made release}}
    symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  }
  return
}

// A fence in the branch covers what is after it there.
// CHECK-LABEL: func.func @fenced_branch(
func.func @fenced_branch(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<i32>, %v: i32, %r: i32, %c: i1) {
  // CHECK: scf.if
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: symm.fence
  // CHECK-NEXT: symm.signal {{.*}} sem relaxed
  scf.if %c {
    memref.store %v, %m[] : memref<i32>
    symm.fence
    symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  }
  return
}

// The other iterations of a loop lie before and after this one.
// CHECK-LABEL: func.func @loops(
func.func @loops(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<i32>, %v: i32, %r: i32, %lo: index, %hi: index,
    %step: index, %long: i64) {
  // CHECK: scf.for
  // CHECK-NEXT: symm.signal set %{{.*}}, %{{.*}}, %{{.*}}, %{{[a-z0-9]*}} : memref<i32>, i32
  scf.for %i = %lo to %hi step %step {
    // expected-remark @below {{made release}}
    symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
    memref.store %v, %m[] : memref<i32>
  }
  symm.fence
  // CHECK: scf.for
  // CHECK-NEXT: symm.signal {{.*}} sem relaxed
  scf.for %i = %lo to %hi step %step {
    symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
    memref.store %v, %m[] : memref<i32>
    symm.fence
  }
  // CHECK: scf.for
  // CHECK: symm.wait {{.*}} eq %{{[a-z0-9]*}} : memref<i32>, i32
  scf.for %i = %lo to %hi step %step {
    %0 = memref.load %m[] : memref<i32>
    // expected-remark @below {{made acquire}}
    symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  }
  symm.fence
  // A loop that ends with the op: nothing is read later.
  // CHECK: scf.while
  // CHECK: symm.wait {{.*}} sem relaxed
  scf.while : () -> () {
    %seen = symm.wait %ctx, %f eq %v timeout %long sem relaxed : memref<i32>, i32 -> i1
    scf.condition(%seen)
  } do {
    scf.yield
  }
  return
}

// Blocks: a way back through any predecessor, and around a loop.
// CHECK-LABEL: func.func @blocks(
func.func @blocks(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<i32>, %v: i32, %r: i32, %c: i1) {
  cf.cond_br %c, ^write, ^fenced
^write:
  memref.store %v, %m[] : memref<i32>
  cf.br ^signal
^fenced:
  memref.store %v, %m[] : memref<i32>
  symm.fence
  cf.br ^quiet
^quiet:
  // CHECK: symm.signal {{.*}} sem relaxed
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  cf.br ^signal
^signal:
  // CHECK: symm.signal set %{{.*}}, %{{.*}}, %{{.*}}, %{{[a-z0-9]*}} : memref<i32>, i32
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  cf.br ^loop
^loop:
  // CHECK: symm.wait {{.*}} eq %{{[a-z0-9]*}} : memref<i32>, i32
  // expected-remark @below {{made acquire}}
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  cf.cond_br %c, ^body, ^end
^body:
  %0 = memref.load %m[] : memref<i32>
  cf.br ^loop
^end:
  return
}

// A block that is its own successor.
// CHECK-LABEL: func.func @self_loop(
func.func @self_loop(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<i32>, %v: i32, %r: i32, %c: i1) {
  cf.br ^loop
^loop:
  // CHECK: symm.signal set %{{.*}}, %{{.*}}, %{{.*}}, %{{[a-z0-9]*}} : memref<i32>, i32
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  memref.store %v, %m[] : memref<i32>
  cf.cond_br %c, ^loop, ^end
^end:
  return
}

// Triton's accesses count too.
// CHECK-LABEL: func.func @triton(
func.func @triton(%ctx: !symm.ctx, %p: !tt.ptr<f32>, %f: !tt.ptr<i32>, %x: f32, %v: i32, %r: i32) {
  "tt.store"(%p, %x) : (!tt.ptr<f32>, f32) -> ()
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : !tt.ptr<i32>, i32
  // expected-remark @below {{made acquire}}
  symm.wait %ctx, %f eq %v sem relaxed : !tt.ptr<i32>, i32
  %0 = "tt.load"(%p) : (!tt.ptr<f32>) -> f32
  return
}

// Every op that is not known to touch no memory writes and reads.
// CHECK-LABEL: func.func @writes_of_all_kinds(
func.func @writes_of_all_kinds(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<8xf32>, %n: memref<8xf32>, %x: f32,
    %xs: vector<4xf32>, %at: vector<4xi32>, %mask: vector<4xi1>, %i: index, %v: i32, %r: i32) {
  // CHECK-NOT: relaxed :
  vector.transfer_write %xs, %m[%i] {in_bounds = [true]} : vector<4xf32>, memref<8xf32>
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  vector.scatter %m[%i] [%at], %mask, %xs : memref<8xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  vector.compressstore %m[%i], %mask, %xs : memref<8xf32>, vector<4xi1>, vector<4xf32>
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  linalg.copy ins(%m : memref<8xf32>) outs(%n : memref<8xf32>)
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  %0 = memref.atomic_rmw addf %x, %m[%i] : (f32, memref<8xf32>) -> f32
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  // Its release is for what comes before it.
  %1 = symm.atomic_rmw add %ctx, %f, %v, %r sem release : memref<i32>, i32
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  "unknown.op"() : () -> ()
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  // CHECK: return
  return
}

// CHECK-LABEL: func.func @reads_of_all_kinds(
func.func @reads_of_all_kinds(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<8xf32>, %x: f32, %xs: vector<4xf32>,
    %at: vector<4xi32>, %mask: vector<4xi1>, %i: index, %v: i32, %r: i32) {
  // CHECK-NOT: symm.wait {{.*}} relaxed
  // expected-remark @below {{made acquire}}
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  %0 = vector.transfer_read %m[%i], %x {in_bounds = [true]} : memref<8xf32>, vector<4xf32>
  symm.fence
  // expected-remark @below {{made acquire}}
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  %1 = vector.gather %m[%i] [%at], %mask, %xs : memref<8xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>
    into vector<4xf32>
  symm.fence
  // expected-remark @below {{made acquire}}
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  %2 = symm.atomic_rmw add %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  symm.fence
  // expected-remark @below {{made acquire}}
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  "unknown.op"() : () -> ()
  // CHECK: return
  return
}

// What computes is nothing to order, nor is a barrier alone.
// CHECK-LABEL: func.func @quiet(
func.func @quiet(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<8xf32>, %x: f32, %i: index, %v: i32, %r: i32) {
  %0 = vector.broadcast %v : i32 to vector<4xi32>
  %1 = vector.broadcast %x : f32 to vector<4xf32>
  %2 = arith.addf %1, %1 : vector<4xf32>
  %3 = "tt.extern_elementwise"(%x) {pure = true} : (f32) -> f32
  gpu.barrier
  // CHECK: symm.signal {{.*}} sem relaxed :
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  // CHECK: symm.wait {{.*}} sem relaxed :
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  gpu.barrier
  %4 = vector.reduction <add>, %2 : vector<4xf32> into f32
  return
}

// A packet needs no order of a signal or wait, but that its slot is being read may be what a signal says (P1).
// CHECK-LABEL: func.func @packets(
func.func @packets(%ctx: !symm.ctx, %f: memref<i32>, %p: !llvm.ptr, %v: i32, %e: i32, %r: i32) {
  // CHECK: symm.wait {{.*}} sem relaxed :
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  symm.put_packet %ctx, %p, %v, %e, %r : !llvm.ptr, i32
  // CHECK: symm.signal {{.*}} sem relaxed :
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  %0 = symm.wait_packet %ctx, %p, %e : !llvm.ptr -> i32
  // CHECK: symm.signal set %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<i32>, i32
  // expected-remark @below {{O1: relaxed, but reads come before it without a release fence: a peer may overwrite what they read; made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  return
}
