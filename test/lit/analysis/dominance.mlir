// A distance is computed where the later of the context and the rank is known, however far apart their blocks are.
// RUN: symm-opt %s --symm-hoist-translation | FileCheck %s

// The rank is a block's argument after a branch, and the context is known before it.
// CHECK-LABEL: func.func @after_a_branch(
func.func @after_a_branch(%table: !llvm.ptr, %p: !llvm.ptr, %r: i32, %c: i1) {
  %ctx = symm.ctx %table : !llvm.ptr
  cf.cond_br %c, ^left, ^right(%r : i32)
^left:
  %zero = arith.constant 0 : i32
  cf.br ^right(%zero : i32)
// CHECK: ^bb2(%[[RANK:.*]]: i32):
// CHECK-NEXT: symm.heap_delta %{{.*}}, %[[RANK]]
^right(%rank: i32):
  cf.cond_br %c, ^there, ^end
^there:
  %0 = symm.remote_load %ctx, %p, %rank : !llvm.ptr -> f32
  cf.br ^end
^end:
  return
}

// The context is deeper than the rank: in a region, and after it in its block.
// CHECK-LABEL: func.func @nested(
func.func @nested(%table: !llvm.ptr, %p: !llvm.ptr, %c: i1, %r: i32) {
  %rank = arith.addi %r, %r : i32
  // CHECK: scf.if
  scf.if %c {
    // CHECK-NEXT: %[[CTX:.*]] = symm.ctx
    // CHECK-NEXT: symm.heap_delta %[[CTX]]
    // CHECK-NEXT: scf.if
    %ctx = symm.ctx %table : !llvm.ptr
    scf.if %c {
      %0 = symm.remote_load %ctx, %p, %rank : !llvm.ptr -> f32
    }
  }
  return
}
