// The current rank, the number of ranks, and where the heaps lie.
#ifndef SYMM_CONTEXT_TD
#define SYMM_CONTEXT_TD

include "Dialect.td"

def Symm_CtxOp : Symm_PureOp<"ctx"> {
  let summary = "Makes a device context from a pointer to the table, or from its parts";
  let description = [{
    With one operand, `table` points to the context table, the int64 words `[rank, num_ranks, base_0 …]`. With
    `rank … of …`, `table` points to the bases alone, `[base_0 …]`, and the first two words are operands.

    ```mlir
    %ctx = symm.ctx %table : !llvm.ptr
    %ctx = symm.ctx %bases rank %me of %n : !llvm.ptr
    ```

    A context made from parts is used where its definition is visible. Lowering rejects one that is passed to a function
    or through a block argument (S1), because it has no table to point to.
  }];
  let arguments = (ins Symm_Pointer:$table, Optional<I32>:$rank, Optional<I32>:$num_ranks);
  let results = (outs Symm_Ctx:$ctx);
  let traits = [Pure, AttrSizedOperandSegments];
  let assemblyFormat = "$table (`rank` $rank^ `of` $num_ranks)? attr-dict `:` type($table)";
}

def Symm_RankOp : Symm_FoldedOp<"rank"> {
  let summary = "The number of the current rank, from 0";
  let description = [{
    ```mlir
    %me = symm.rank %ctx
    ```
  }];
  let arguments = (ins Symm_Ctx:$ctx);
  let results = (outs I32:$result);
  let assemblyFormat = "$ctx attr-dict";
}

def Symm_NumRanksOp : Symm_FoldedOp<"num_ranks"> {
  let summary = "The number of ranks";
  let description = [{
    Folds to a constant if the module has `symm.num_ranks = N : i32`.

    ```mlir
    %n = symm.num_ranks %ctx
    ```
  }];
  let arguments = (ins Symm_Ctx:$ctx);
  let results = (outs I32:$result);
  let assemblyFormat = "$ctx attr-dict";
}

def Symm_HeapBaseOp : Symm_PureOp<"heap_base"> {
  let summary = "The address at which a rank's heap is mapped here";
  let description = [{
    The address at which the current rank has mapped the heap of `rank`, aligned to at least 2 MiB (T4). It never
    changes while a kernel runs (T3). An out-of-range rank gives a null pointer; the op itself never faults.

    ```mlir
    %base = symm.heap_base %ctx, %peer : !llvm.ptr
    ```
  }];
  let arguments = (ins Symm_Ctx:$ctx, I32:$rank);
  let results = (outs Symm_Pointer:$result);
  let assemblyFormat = "$ctx `,` $rank attr-dict `:` type($result)";
}

def Symm_IsNearOp : Symm_FoldedOp<"is_near"> {
  let summary = "Whether a rank's heap is mapped here (N1)";
  let description = [{
    True if translated pointers reach the heap of `rank`; otherwise the module's engine reaches it. Folds to true for
    the current rank, and for every rank in a module without `symm.engine`. With an engine it is false for an
    out-of-range rank.

    ```mlir
    %near = symm.is_near %ctx, %peer
    ```
  }];
  let arguments = (ins Symm_Ctx:$ctx, I32:$rank);
  let results = (outs I1:$result);
  let assemblyFormat = "$ctx `,` $rank attr-dict";
}

#endif // SYMM_CONTEXT_TD
