// Who am I, how many are we, where do the heaps lie.
#ifndef SYMM_CONTEXT_TD
#define SYMM_CONTEXT_TD

include "Dialect.td"

def Symm_CtxOp : Symm_PureOp<"ctx"> {
  let summary = "Makes a device context from a pointer to the table, or from its parts";
  let description = [{
    With one operand, `table` points to the context table `[rank, num_ranks, base_0 …]` of int64 words. With
    `rank … of …`, `table` points to the bases alone (int64 words `[base_0 …]`) and the other two words are given.

    ```mlir
    %ctx = symm.ctx %table : !llvm.ptr
    %ctx = symm.ctx %bases rank %me of %n : !llvm.ptr
    ```

    A context made from parts can be used where its definition is in sight; passing one to a function or through
    a block argument is refused when it is lowered (S1), because there is no table to point to.
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
  let summary = "How many ranks there are";
  let description = [{
    Folds to a constant where the module says `symm.num_ranks = N : i32`.

    ```mlir
    %n = symm.num_ranks %ctx
    ```
  }];
  let arguments = (ins Symm_Ctx:$ctx);
  let results = (outs I32:$result);
  let assemblyFormat = "$ctx attr-dict";
}

def Symm_HeapBaseOp : Symm_PureOp<"heap_base"> {
  let summary = "Where this rank sees the heap of a rank";
  let description = [{
    The address at which the current rank has mapped the heap of `rank`, aligned to at least 2 MiB (T4). It never
    changes while a kernel runs (T3). A rank that is out of range gives a null pointer; computing it is never a
    fault.

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
    True where pointers lead to the heap of `rank`; a peer for which it is false is reached by the module's engine.
    Folds to true for the current rank, and for every rank in a module without `symm.engine`. With an engine it is
    false for a rank that is out of range.

    ```mlir
    %near = symm.is_near %ctx, %peer
    ```
  }];
  let arguments = (ins Symm_Ctx:$ctx, I32:$rank);
  let results = (outs I1:$result);
  let assemblyFormat = "$ctx `,` $rank attr-dict";
}

#endif // SYMM_CONTEXT_TD
