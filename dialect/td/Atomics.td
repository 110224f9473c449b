// Atomic updates of another rank's memory.
#ifndef SYMM_ATOMICS_TD
#define SYMM_ATOMICS_TD

include "Dialect.td"
include "Enums.td"

// The result's type is inferred from an operand by its position: no group of varying size may come before it.
class Symm_AtomicOp<string mnemonic, list<Trait> traits>
    : Symm_OrderOp<mnemonic, traits # [AttrSizedOperandSegments]> {
  let facts = [Symm_RemoteUpdate<"ptr">, Symm_AcquiresBySem, Symm_ReleasesBySem];
  let hasCanonicalizeMethod = 1;
  let extraClassDefinition = !strconcat(RustVerifier, RustCanonicalizer);
}

def Symm_AtomicRmwOp : Symm_AtomicOp<"atomic_rmw", [AllTypesMatch<["value", "result"]>]> {
  let summary = "Updates a value of another rank atomically and returns the old one";
  let description = [{
    `add`, `sub`, `and`, `or`, `xor`, `min`, `max` (signed), `umin`, `umax` take i32 and i64; `fadd` takes f16,
    bf16, f32 and f64; `xchg` takes them all. In a Triton kernel `min` and `max` take f32 and f64 too. `sem` defaults
    to acq_rel and `scope` to sys (O1). Where `mask` is false nothing happens and the result is undefined.

    With `deadline`, a loop that polls by this op exits when the record's time is over (`symm-limit-polls`), as a
    `symm.wait` gives up; `tag`, `limit` and `logs` are as there. Outside of such a loop `deadline` has no effect.

    `is_signal` says that it signals to a block of ranks, and `is_wait` that it polls flags that the program waits for:
    relaxed, they are checked as a `symm.signal` and a `symm.wait` are (O1).

    ```mlir
    %old = symm.atomic_rmw add %ctx, %m[%i], %one, %peer : memref<4xi32>, i32
    %was = symm.atomic_rmw fadd %ctx, %p, %x, %peer sem relaxed : !llvm.ptr, f32
    ```
  }];
  let arguments = (ins Symm_RmwKind:$kind, Symm_Ctx:$ctx, Symm_Pointer:$ptr, AnyType:$value,
                       Variadic<Index>:$indices, Symm_Rank:$rank, Optional<I64>:$delta, Optional<Symm_Mask>:$mask,
                       Optional<Symm_Pointer>:$deadline, OptionalAttr<I64Attr>:$tag, OptionalAttr<I64Attr>:$limit,
                       UnitAttr:$logs, UnitAttr:$is_signal, UnitAttr:$is_wait,
                       DefaultValuedAttr<Symm_Order, "::symm::Order::AcqRel">:$sem,
                       DefaultValuedAttr<Symm_Scope, "::symm::Scope::Sys">:$scope);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $kind $ctx `,` $ptr (`[` $indices^ `]`)? `,` $value `,` custom<Rank>($rank, type($rank)) (`via` $delta^)?
    (`mask` $mask^ `:` type($mask))? (`deadline` $deadline^ `:` type($deadline))? (`tag` $tag^)? (`limit` $limit^)?
    (`logs` $logs^)? (`is_signal` $is_signal^)? (`is_wait` $is_wait^)? (`sem` $sem^)? (`scope` $scope^)?
    attr-dict `:` type($ptr) `,` type($value)
  }];
}

def Symm_AtomicCasOp
    : Symm_AtomicOp<"atomic_cas", [AllTypesMatch<["expected", "desired", "result"]>]> {
  let summary = "Compares and swaps a value of another rank atomically and returns the old one";
  let description = [{
    Stores `desired` if the value equals `expected`, bit for bit. i32 and i64; in a Triton kernel i16, f32 and f64 too.
    `sem` defaults to acq_rel and `scope` to sys (O1). Where `mask` is false nothing happens and the result is
    undefined. `deadline`, `tag`, `limit` and `logs` are as in `symm.atomic_rmw`.

    ```mlir
    %old = symm.atomic_cas %ctx, %lock[%i], %free, %mine, %peer : memref<1xi64>, i64
    ```
  }];
  let arguments = (ins Symm_Ctx:$ctx, Symm_Pointer:$ptr, AnyType:$expected, AnyType:$desired,
                       Variadic<Index>:$indices, Symm_Rank:$rank, Optional<I64>:$delta, Optional<Symm_Mask>:$mask,
                       Optional<Symm_Pointer>:$deadline, OptionalAttr<I64Attr>:$tag, OptionalAttr<I64Attr>:$limit,
                       UnitAttr:$logs, DefaultValuedAttr<Symm_Order, "::symm::Order::AcqRel">:$sem,
                       DefaultValuedAttr<Symm_Scope, "::symm::Scope::Sys">:$scope);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $ctx `,` $ptr (`[` $indices^ `]`)? `,` $expected `,` $desired `,` custom<Rank>($rank, type($rank)) (`via` $delta^)?
    (`mask` $mask^ `:` type($mask))? (`deadline` $deadline^ `:` type($deadline))? (`tag` $tag^)? (`limit` $limit^)?
    (`logs` $logs^)? (`sem` $sem^)? (`scope` $scope^)? attr-dict `:` type($ptr) `,` type($expected)
  }];
}

#endif // SYMM_ATOMICS_TD
