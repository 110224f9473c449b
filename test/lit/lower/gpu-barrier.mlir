// The words of a barrier, at the start of each heap: block b has those from 8 * b * (ranks + 1) bytes on, first the number
// of its barrier, then a flag for each rank. A rank writes its own flag in the heap of each other, and waits for all of
// them in its own.
// RUN: symm-opt %s --symm-lower-to-nvvm --canonicalize --cse | FileCheck %s

module attributes {gpu.container_module, symm.num_ranks = 3 : i32} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @meets(
    // CHECK-DAG: %[[WORDS:.*]] = arith.constant 32 : i64
    // CHECK-DAG: %[[WORD:.*]] = arith.constant 8 : i64
    // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
    // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
    // CHECK-DAG: %[[RANKS:.*]] = arith.constant 3 : i64
    // CHECK: %[[LOADED:.*]] = llvm.load %[[TABLE:.*]] invariant
    // CHECK: %[[ME:.*]] = arith.trunci %[[LOADED]]
    // The number of the block.
    // CHECK: %[[Z:.*]] = gpu.block_id z
    // CHECK: %[[Z_WIDE:.*]] = arith.index_cast %[[Z]]
    // CHECK: %[[HEIGHT:.*]] = gpu.grid_dim y
    // CHECK: %[[HEIGHT_WIDE:.*]] = arith.index_cast %[[HEIGHT]]
    // CHECK: %[[ABOVE:.*]] = arith.muli %[[Z_WIDE]], %[[HEIGHT_WIDE]]
    // CHECK: %[[Y:.*]] = gpu.block_id y
    // CHECK: %[[Y_WIDE:.*]] = arith.index_cast %[[Y]]
    // CHECK: %[[ROW:.*]] = arith.addi %[[ABOVE]], %[[Y_WIDE]]
    // CHECK: %[[WIDTH:.*]] = gpu.grid_dim x
    // CHECK: %[[WIDTH_WIDE:.*]] = arith.index_cast %[[WIDTH]]
    // CHECK: %[[BEFORE:.*]] = arith.muli %[[ROW]], %[[WIDTH_WIDE]]
    // CHECK: %[[X:.*]] = gpu.block_id x
    // CHECK: %[[X_WIDE:.*]] = arith.index_cast %[[X]]
    // CHECK: %[[BLOCK:.*]] = arith.addi %[[BEFORE]], %[[X_WIDE]]
    // CHECK: %[[PAD:.*]] = arith.muli %[[BLOCK]], %[[WORDS]]
    // This rank's base, and the number that its barriers have come to.
    // CHECK: %[[ME_WIDE:.*]] = arith.extsi %[[ME]]
    // CHECK: %[[MY_OFFSET:.*]] = arith.muli %[[ME_WIDE]], %[[WORD]]
    // CHECK: %[[BASES:.*]] = llvm.getelementptr %[[TABLE]][16]
    // CHECK: %[[MINE_AT:.*]] = llvm.getelementptr %[[BASES]][%[[MY_OFFSET]]]
    // CHECK: %[[MINE:.*]] = llvm.load %[[MINE_AT]] invariant
    // CHECK: %[[MY_PAD:.*]] = llvm.getelementptr %[[MINE]][%[[PAD]]]
    // CHECK: %[[COUNTER:.*]] = llvm.addrspacecast %[[MY_PAD]]
    // CHECK: %[[LAST:.*]] = llvm.load %[[COUNTER]]
    // CHECK: %[[EPOCH:.*]] = arith.addi %[[LAST]], %[[ONE]]
    // CHECK: gpu.barrier
    // CHECK: scf.if
    // CHECK-NEXT: llvm.store %[[EPOCH]], %[[COUNTER]]
    // CHECK: scf.if
    // CHECK: scf.for %[[PEER:.*]] = %[[FIRST:.*]] to %[[RANKS]] step %[[STEP:.*]] :
    // CHECK: %[[THEIRS:.*]] = llvm.load {{.*}} invariant
    // CHECK: %[[MY_FLAG:.*]] = arith.addi %[[MY_OFFSET]], %[[WORD]]
    // CHECK: %[[THEIR_PAD:.*]] = llvm.getelementptr %[[THEIRS]][%[[PAD]]]
    // CHECK: %[[SENT:.*]] = llvm.getelementptr %[[THEIR_PAD]][%[[MY_FLAG]]]
    // CHECK: %[[SENT_GLOBAL:.*]] = llvm.addrspacecast %[[SENT]]
    // CHECK: llvm.store %[[EPOCH]], %[[SENT_GLOBAL]] atomic monotonic
    // CHECK: scf.for %[[OTHER:.*]] = %[[FIRST]] to %[[RANKS]] step %[[STEP]] :
    // CHECK: %[[ITS_OFFSET:.*]] = arith.muli %[[OTHER]], %[[WORD]]
    // CHECK: %[[ITS_FLAG:.*]] = arith.addi %[[ITS_OFFSET]], %[[WORD]]
    // CHECK: %[[WAITED:.*]] = llvm.getelementptr %[[MY_PAD]][%[[ITS_FLAG]]]
    // CHECK: %[[WAITED_GLOBAL:.*]] = llvm.addrspacecast %[[WAITED]]
    // CHECK: %[[SEEN:.*]] = llvm.load %[[WAITED_GLOBAL]] atomic
    // CHECK: arith.cmpi {{sge|slt}}, %[[SEEN]], %[[EPOCH]]
    gpu.func @meets(%ctx: !symm.ctx) kernel {
      symm.barrier %ctx group block
      gpu.return
    }
  }
}
