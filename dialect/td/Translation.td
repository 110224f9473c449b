// From a pointer into the current rank's heap to the same object on another rank.
#ifndef SYMM_TRANSLATION_TD
#define SYMM_TRANSLATION_TD

include "Dialect.td"

def Symm_HeapDeltaOp : Symm_FoldedOp<"heap_delta"> {
  let summary = "The distance in bytes from the current rank's heap to another's";
  let description = [{
    `base[rank] - base[me]`: what a translation adds to a pointer (T1), a multiple of 2 MiB (T4). It depends on the
    context and the rank alone, so it can be hoisted out of every loop (T3): `symm-hoist-translation` computes one for
    each pair of context and rank and passes it to the ops that translate, after `via`. An out-of-range rank gives a
    distance that leads to no mapped address; the op itself never faults.

    ```mlir
    %delta = symm.heap_delta %ctx, %peer
    %v = symm.remote_load %ctx, %p, %peer via %delta : !llvm.ptr -> f32
    ```
  }];
  let arguments = (ins Symm_Ctx:$ctx, I32:$rank);
  let results = (outs I64:$result);
  let assemblyFormat = "$ctx `,` $rank attr-dict";
}

def Symm_AsRemoteOp : Symm_FoldedOp<"as_remote", [AllTypesMatch<["ptr", "result"]>]> {
  let summary = "The same object on another rank";
  let description = [{
    `as_remote(p, r) = p - base[me] + base[r]` (T1). The result has the pointer's type: offset, strides and address
    space are kept, and so is alignment (T4). `as_remote(p, me)` folds to `p` (T2). A tensor of pointers may come with a
    rank for each of them, `%peers each tensor<8xi32>`.

    ```mlir
    %theirs = symm.as_remote %ctx, %mine, %peer : memref<64x64xf32, strided<[128, 1], offset: ?>>
    ```
  }];
  let facts = [Symm_Computes, Symm_Translates<>];
  let arguments = (ins Symm_Ctx:$ctx, Symm_Pointer:$ptr, Symm_Rank:$rank, Optional<I64>:$delta);
  let results = (outs Symm_Pointer:$result);
  let assemblyFormat = "$ctx `,` $ptr `,` custom<Rank>($rank, type($rank)) (`via` $delta^)? attr-dict `:` type($ptr)";
}

#endif // SYMM_TRANSLATION_TD
