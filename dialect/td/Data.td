// Reading and writing another rank's memory.
#ifndef SYMM_DATA_TD
#define SYMM_DATA_TD

include "Dialect.td"
include "Enums.td"

def Symm_RemoteLoadOp : Symm_AccessOp<"remote_load", ReadEffect> {
  let summary = "Loads a value from the same address on another rank";
  let description = [{
    Reads `ptr` (with `indices` where it is a memref) of rank `rank`. The result is a scalar, a vector of
    consecutive elements (the memref's innermost stride is then 1), or, for a tensor of pointers, a tensor.
    Where `mask` is false nothing is read, and the result is `other`, or undefined without `other`.

    ```mlir
    %v = symm.remote_load %ctx, %p, %peer : !llvm.ptr -> vector<4xf32>
    %w = symm.remote_load %ctx, %m[%i, %j], %peer mask %in : i1 other %zero : f32 cache cg : memref<8x8xf32> -> f32
    ```

    A tensor of pointers may come with a rank for each element, `%peers each tensor<8xi32>`. An `eviction` policy is a
    hint to the caches: Triton kernels use it, the CPU ignores it, and other GPU kernels reject it (S1).

    It is a weak access: order comes from `symm.wait`, `symm.fence` and the atomics. `alignment` is in bytes; without it
    the address must be aligned to the largest power of two that divides the size of the whole value (16 for
    `vector<4xf32>` and for `vector<24xbf16>`, 4 for `vector<3xf32>`), so that a vector takes one access or a few.
  }];
  let facts = [Symm_RemoteRead<"ptr">];
  let arguments = (ins Symm_Ctx:$ctx, Symm_Pointer:$ptr, Variadic<Index>:$indices, Symm_Rank:$rank,
                       Optional<I64>:$delta, Optional<Symm_Mask>:$mask, Optional<AnyType>:$other,
                       OptionalAttr<Symm_Cache>:$cache, OptionalAttr<Symm_Eviction>:$eviction, UnitAttr:$volatile_,
                       OptionalAttr<I64Attr>:$alignment);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $ctx `,` $ptr (`[` $indices^ `]`)? `,` custom<Rank>($rank, type($rank)) (`via` $delta^)?
    (`mask` $mask^ `:` type($mask))? (`other` $other^ `:` type($other))? (`cache` $cache^)? (`eviction` $eviction^)?
    (`volatile` $volatile_^)? attr-dict
    `:` type($ptr) `->` type($result)
  }];
}

def Symm_RemoteStoreOp : Symm_AccessOp<"remote_store", WriteEffect> {
  let summary = "Stores a value to the same address on another rank";
  let description = [{
    Writes `value` to `ptr` of rank `rank`; shapes as in `symm.remote_load`. Where `mask` is false nothing is
    written.

    ```mlir
    symm.remote_store %ctx, %m[%i], %v, %peer : memref<64xf32>, f32
    ```
  }];
  let facts = [Symm_RemoteWrite<"ptr">];
  let arguments = (ins Symm_Ctx:$ctx, Symm_Pointer:$ptr, Variadic<Index>:$indices, AnyType:$value,
                       Symm_Rank:$rank, Optional<I64>:$delta, Optional<Symm_Mask>:$mask,
                       OptionalAttr<Symm_Cache>:$cache, UnitAttr:$volatile_, OptionalAttr<I64Attr>:$alignment);
  let assemblyFormat = [{
    $ctx `,` $ptr (`[` $indices^ `]`)? `,` $value `,` custom<Rank>($rank, type($rank)) (`via` $delta^)?
    (`mask` $mask^ `:` type($mask))? (`cache` $cache^)? (`volatile` $volatile_^)?
    attr-dict `:` type($ptr) `,` type($value)
  }];
}

defvar BulkShapes = [{

    Two memrefs have the same shape and element type (any offset and strides), and all of it is copied. Their dynamic
    sizes must be equal too; otherwise the behavior is undefined, as with `memref.copy`, and `--check-bounds` reports
    it. Between two pointers, `count` elements of a type are copied; between two tensors of pointers, each element whose
    `mask` is true. The two ranges do not overlap.

    The threads of `group` copy together: all of them reach the op with the same operands. It begins with a barrier of
    the group, so that it may read what any of its threads has written and overwrite what any of them has read (O3). The
    op makes its own barriers.

    A cache modifier applies to the loads and stores that Triton makes of the op. Other GPU kernels reject it (S1), and
    the CPU ignores it.

    With `engine bulk`, for `group block` on sm_90 and later, one thread drives the GPU's bulk copy engine through
    dynamic shared memory, which the launch provides: 128 bytes, and 16 KiB for each of up to 12 stages. The kernel must
    not use it for anything else. The threads copy instead if there are fewer than two stages, if source and destination
    differ in their alignment to 16 bytes, or if there are at most 64 bytes for each thread.
}];

// The arguments of a bulk copy after its ends, and their assembly.
defvar BulkWhat = (ins Optional<AnyTypeOf<[Index, I64]>>:$count, OptionalAttr<TypeAttr>:$element,
                       Optional<Symm_Mask>:$mask, OptionalAttr<Symm_Cache>:$cache);
defvar BulkWhatFormat = [{
    (`count` $count^ `:` type($count) `of` $element)? (`mask` $mask^ `:` type($mask))? (`cache` $cache^)?
}];
defvar BulkHow = (ins DefaultValuedAttr<Symm_Group, "::symm::Group::Thread">:$group,
                      DefaultValuedAttr<Symm_Engine, "::symm::Engine::Threads">:$engine,
                      OptionalAttr<I64Attr>:$alignment);
defvar BulkHowFormat = "(`group` $group^)? (`engine` $engine^)?";

// A copy from `src` to `dst`; `ends` and `format` say where they are.
class Symm_BulkOp<string mnemonic, dag ends, string format> : Symm_AccessOp<mnemonic, CopyEffect> {
  let arguments = !con((ins Symm_Ctx:$ctx), ends, BulkWhat, BulkHow);
  let assemblyFormat = !strconcat("$ctx `,` ", format, BulkWhatFormat, BulkHowFormat,
                                  " attr-dict `:` type($src) `,` type($dst)");
}
// A bulk copy between this rank and another one.
class Symm_TransferOp<string mnemonic>
    : Symm_BulkOp<mnemonic, (ins Symm_Pointer:$src, Symm_Pointer:$dst, I32:$rank, Optional<I64>:$delta),
                  "$src `,` $dst `,` $rank (`via` $delta^)? ">;

def Symm_GetOp : Symm_TransferOp<"get"> {
  let summary = "Copies from another rank's memory into the current rank's";
  let description = !strconcat([{
    Copies `src` of rank `rank` to the local `dst`. Every thread of the group may read and overwrite `dst` right after
    the op (O3).

    Consecutive gets of a group, with no other access between them, are unordered among themselves: none of them may
    write what another one reads, or write a different value to the same place.
  }], BulkShapes, [{
    ```mlir
    symm.get %ctx, %src, %dst, %peer group block : memref<1024xf32>, memref<1024xf32>
    symm.get %ctx, %p, %q, %peer count %n : index of f16 : !llvm.ptr, !llvm.ptr
    ```
  }]);
  let facts = [Symm_RemoteRead<"src">, Symm_LocalWrite<"dst">];
}

def Symm_PutOp : Symm_TransferOp<"put"> {
  let summary = "Copies from the current rank's memory into another's";
  let description = !strconcat([{
    Copies the local `src` to `dst` of rank `rank`. Every thread of the group may overwrite `src` right after the op
    (O3). `dst` is visible to whoever acquires a later signal of the group, on this rank too.

    Consecutive puts of a group, with no other access between them, are unordered among themselves: none of them may
    write what another one reads, or write a different value to the same place.
  }], BulkShapes, [{
    ```mlir
    symm.put %ctx, %src, %dst, %peer group block : memref<1024xf32>, memref<1024xf32>
    ```
  }]);
  let facts = [Symm_LocalRead<"src">, Symm_RemoteWrite<"dst">];
}

def Symm_CopyOp
    : Symm_BulkOp<"copy", (ins Symm_Pointer:$src, I32:$from, Optional<I64>:$from_delta, Symm_Pointer:$dst, I32:$to,
                               Optional<I64>:$to_delta),
                  "$src `at` $from (`via` $from_delta^)? `,` $dst `at` $to (`via` $to_delta^)? "> {
  let summary = "Copies from one rank's memory into another's";
  let description = !strconcat([{
    Copies `src` of rank `from` to `dst` of rank `to`; both, one or neither may be the current rank. Every thread of the
    group may read and overwrite `dst` right after the op (O3), since it may be this rank's.
  }], BulkShapes, [{
    ```mlir
    symm.copy %ctx, %src at %from, %dst at %to : memref<16xi32>, memref<16xi32>
    ```
  }]);
  let facts = [Symm_RemoteRead<"src", Symm_Way<"from", "from_delta">>,
               Symm_RemoteWrite<"dst", Symm_Way<"to", "to_delta">>];
}

#endif // SYMM_DATA_TD
