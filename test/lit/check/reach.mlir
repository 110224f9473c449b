// Where symm.is_near has said that a rank is far, an access through symm.as_remote is an error (S1, N4).
// RUN: symm-opt %s --split-input-file --symm-check-reach --verify-diagnostics
// RUN: not symm-opt %s --split-input-file --symm-cpu 2>&1 | FileCheck %s
// CHECK: reach.mlir:[[@LINE+11]]:12: error: 'llvm.load' op S1: an access through as_remote of a rank that is far here

module attributes {symm.engine = "openshmem"} {
  func.func @otherwise(%ctx: !symm.ctx, %p: !llvm.ptr, %slot: !llvm.ptr, %peer: i32) {
    %near = symm.is_near %ctx, %peer
    scf.if %near {
      %q = symm.as_remote %ctx, %p, %peer : !llvm.ptr
      %v = llvm.load %q : !llvm.ptr -> f32
    } else {
      %q = symm.as_remote %ctx, %p, %peer : !llvm.ptr
      // expected-error @below {{'llvm.load' op S1: an access through as_remote of a rank that is far here, as is_near says (N4): its heap is not mapped, so use symm's ops}}
      %v = llvm.load %q : !llvm.ptr -> f32
      // An address may be passed on, and symm's ops take the rank.
      llvm.store %q, %slot : !llvm.ptr, !llvm.ptr
      symm.remote_store %ctx, %p, %v, %peer : !llvm.ptr, f32
    }
    return
  }

  // Every op that accesses memory, through what is made of the address before.
  func.func @accesses(%ctx: !symm.ctx, %m: memref<8x8xf32>, %p: !llvm.ptr, %v: f32, %peer: i32, %i: index, %n: i64) {
    %theirs = symm.as_remote %ctx, %m, %peer : memref<8x8xf32>
    %row = memref.subview %theirs[%i, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    %mine = memref.subview %m[%i, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    %q = symm.as_remote %ctx, %p, %peer : !llvm.ptr
    %at = llvm.getelementptr %q[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %distance = llvm.ptrtoint %q : !llvm.ptr to i64
    %sum = llvm.add %distance, %n : i64
    %elsewhere = llvm.inttoptr %sum : i64 to !llvm.ptr
    %near = symm.is_near %ctx, %peer
    scf.if %near {
    } else {
      // expected-error @below {{'memref.store' op S1}}
      memref.store %v, %row[%i] : memref<8xf32, strided<[1], offset: ?>>
      // expected-error @below {{'memref.copy' op S1}}
      memref.copy %mine, %row : memref<8xf32, strided<[1], offset: ?>> to memref<8xf32, strided<[1], offset: ?>>
      // expected-error @below {{'llvm.store' op S1}}
      llvm.store %v, %at : f32, !llvm.ptr
      // expected-error @below {{'llvm.atomicrmw' op S1}}
      %old = llvm.atomicrmw add %at, %n monotonic : !llvm.ptr, i64
      // expected-error @below {{'llvm.intr.memcpy' op S1}}
      "llvm.intr.memcpy"(%p, %q, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
      // What is added may be the way to other memory.
      llvm.store %v, %elsewhere : f32, !llvm.ptr
      memref.store %v, %mine[%i] : memref<8xf32, strided<[1], offset: ?>>
    }
    return
  }

  // The condition may be negated or a part of another one.
  func.func @conditions(%ctx: !symm.ctx, %p: !llvm.ptr, %v: f32, %peer: i32, %other: i1) {
    %q = symm.as_remote %ctx, %p, %peer : !llvm.ptr
    %true = arith.constant true
    %false = arith.constant false
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %near = symm.is_near %ctx, %peer
    %not = arith.xori %near, %true : i1
    %turned = arith.xori %true, %near : i1
    %equal = arith.cmpi eq, %near, %false : i1
    %differs = arith.cmpi ne, %near, %true : i1
    %wide = arith.extui %near : i1 to i32
    %is_zero = arith.cmpi eq, %wide, %zero : i32
    %is_one = arith.cmpi eq, %wide, %one : i32
    %both = arith.andi %other, %not : i1
    %either = arith.ori %near, %other : i1
    scf.if %not {
      // expected-error @below {{S1}}
      llvm.store %v, %q : f32, !llvm.ptr
    }
    scf.if %turned {
      // expected-error @below {{S1}}
      llvm.store %v, %q : f32, !llvm.ptr
    }
    scf.if %equal {
      // expected-error @below {{S1}}
      llvm.store %v, %q : f32, !llvm.ptr
    }
    scf.if %differs {
      // expected-error @below {{S1}}
      llvm.store %v, %q : f32, !llvm.ptr
    }
    scf.if %is_zero {
      // expected-error @below {{S1}}
      llvm.store %v, %q : f32, !llvm.ptr
    }
    scf.if %is_one {
      llvm.store %v, %q : f32, !llvm.ptr
    } else {
      // expected-error @below {{S1}}
      llvm.store %v, %q : f32, !llvm.ptr
    }
    scf.if %both {
      // expected-error @below {{S1}}
      llvm.store %v, %q : f32, !llvm.ptr
    }
    scf.if %either {
      llvm.store %v, %q : f32, !llvm.ptr
    } else {
      // expected-error @below {{S1}}
      llvm.store %v, %q : f32, !llvm.ptr
    }
    return
  }

  // What says nothing for certain.
  func.func @unknown(%ctx: !symm.ctx, %world: !symm.ctx, %p: !llvm.ptr, %v: f32, %peer: i32, %next: i32, %other: i1,
                     %n: i32) {
    %q = symm.as_remote %ctx, %p, %peer : !llvm.ptr
    %true = arith.constant true
    %two = arith.constant 2 : i32
    %near = symm.is_near %ctx, %peer
    %of_next = symm.is_near %ctx, %next
    %of_world = symm.is_near %world, %peer
    %not = arith.xori %near, %true : i1
    %both = arith.andi %near, %other : i1
    %either = arith.ori %not, %other : i1
    %wide = arith.extui %near : i1 to i32
    %is_two = arith.cmpi eq, %wide, %two : i32
    %mixed = arith.xori %wide, %two : i32
    %is_zero = arith.cmpi ne, %mixed, %two : i32
    llvm.store %v, %q : f32, !llvm.ptr
    scf.if %near {
      llvm.store %v, %q : f32, !llvm.ptr
    }
    scf.if %of_next {
    } else {
      llvm.store %v, %q : f32, !llvm.ptr
    }
    scf.if %of_world {
    } else {
      llvm.store %v, %q : f32, !llvm.ptr
    }
    scf.if %both {
    } else {
      llvm.store %v, %q : f32, !llvm.ptr
    }
    scf.if %either {
      llvm.store %v, %q : f32, !llvm.ptr
    }
    scf.if %is_two {
    } else {
      llvm.store %v, %q : f32, !llvm.ptr
    }
    scf.if %is_zero {
      llvm.store %v, %q : f32, !llvm.ptr
    }
    // Nothing gets there: a rank is near to itself.
    %me = symm.rank %ctx
    %mine = symm.as_remote %ctx, %p, %me : !llvm.ptr
    %of_me = symm.is_near %ctx, %me
    scf.if %of_me {
    } else {
      llvm.store %v, %mine : f32, !llvm.ptr
    }
    scf.if %not {
      scf.if %near {
        llvm.store %v, %q : f32, !llvm.ptr
      }
    }
    return
  }

  // Equal constants are one rank.
  func.func @constants(%ctx: !symm.ctx, %p: !llvm.ptr, %v: f32) {
    %one = arith.constant 1 : i32
    %uno = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %near = symm.is_near %ctx, %one
    %q = symm.as_remote %ctx, %p, %uno : !llvm.ptr
    %r = symm.as_remote %ctx, %p, %two : !llvm.ptr
    scf.if %near {
    } else {
      // expected-error @below {{S1}}
      llvm.store %v, %q : f32, !llvm.ptr
      llvm.store %v, %r : f32, !llvm.ptr
    }
    return
  }
}

// -----

// Blocks: only those that no other way leads to.
module attributes {symm.engine = "openshmem"} {
  func.func @returns(%ctx: !symm.ctx, %p: !llvm.ptr, %v: f32, %peer: i32, %other: i1) {
    %q = symm.as_remote %ctx, %p, %peer : !llvm.ptr
    %near = symm.is_near %ctx, %peer
    cf.cond_br %near, ^near, ^far
  ^near:
    llvm.store %v, %q : f32, !llvm.ptr
    return
  ^far:
    cf.cond_br %other, ^one, ^both
  ^one:
    // expected-error @below {{S1}}
    llvm.store %v, %q : f32, !llvm.ptr
    cf.br ^both
  ^both:
    scf.if %other {
      // expected-error @below {{S1}}
      llvm.store %v, %q : f32, !llvm.ptr
    }
    return
  }

  func.func @joins(%ctx: !symm.ctx, %p: !llvm.ptr, %v: f32, %peer: i32) {
    %q = symm.as_remote %ctx, %p, %peer : !llvm.ptr
    %near = symm.is_near %ctx, %peer
    cf.cond_br %near, ^end, ^far
  ^far:
    symm.remote_store %ctx, %p, %v, %peer : !llvm.ptr, f32
    cf.br ^end
  ^end:
    llvm.store %v, %q : f32, !llvm.ptr
    return
  }

  func.func @both_ways_lead_there(%ctx: !symm.ctx, %p: !llvm.ptr, %v: f32, %peer: i32) {
    %q = symm.as_remote %ctx, %p, %peer : !llvm.ptr
    %near = symm.is_near %ctx, %peer
    cf.cond_br %near, ^end, ^end
  ^end:
    llvm.store %v, %q : f32, !llvm.ptr
    return
  }

  // A loop whose rank changes: the branch is taken for each.
  func.func @loops(%ctx: !symm.ctx, %p: !llvm.ptr, %v: f32, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    cf.br ^next(%zero : i32)
  ^next(%peer: i32):
    %q = symm.as_remote %ctx, %p, %peer : !llvm.ptr
    %near = symm.is_near %ctx, %peer
    cf.cond_br %near, ^near, ^far
  ^far:
    // expected-error @below {{S1}}
    llvm.store %v, %q : f32, !llvm.ptr
    cf.br ^step
  ^near:
    llvm.store %v, %q : f32, !llvm.ptr
    cf.br ^step
  ^step:
    %after = arith.addi %peer, %one : i32
    %more = arith.cmpi slt, %after, %n : i32
    cf.cond_br %more, ^next(%after : i32), ^end
  ^end:
    return
  }

  gpu.module @kernels {
    gpu.func @kernel(%table: !llvm.ptr, %p: !llvm.ptr, %v: f32, %peer: i32) kernel {
      %ctx = symm.ctx %table : !llvm.ptr
      %again = symm.ctx %table : !llvm.ptr
      %near = symm.is_near %ctx, %peer
      %q = symm.as_remote %again, %p, %peer : !llvm.ptr
      scf.if %near {
      } else {
        // expected-error @below {{S1}}
        llvm.store %v, %q : f32, !llvm.ptr
      }
      gpu.return
    }
  }
}

// -----

// Without an engine every rank is near.
func.func @no_engine(%ctx: !symm.ctx, %p: !llvm.ptr, %v: f32, %peer: i32) {
  %q = symm.as_remote %ctx, %p, %peer : !llvm.ptr
  %near = symm.is_near %ctx, %peer
  scf.if %near {
  } else {
    llvm.store %v, %q : f32, !llvm.ptr
  }
  return
}
