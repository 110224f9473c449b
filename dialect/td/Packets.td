// Values that carry their own flag.
#ifndef SYMM_PACKETS_TD
#define SYMM_PACKETS_TD

include "Dialect.td"
include "Enums.td"

defvar PacketLines = [{

    A packet is a line of 16 bytes in `slots`, the 32-bit words `{d0, e, d1, e}`: 8 bytes of data with the epoch after
    each half, so that each half shows by its own epoch that it has arrived (P1). A scalar of 8 to 64 bits takes one
    packet, a vector of n elements `ceil(n * size / 8)` consecutive packets; for a tensor of pointers each element is a
    packet at its pointer. Slots are aligned to 16 bytes and take `16 * packets` bytes: twice the data, rounded up to
    16.

    With `sentinel`, the bits of the value's floats, there is no epoch, and a line is 16 bytes of data: as much as the
    data, rounded up. It has come when each of its words of 32 bits, or of 64 with `sentinel 64`, has a bit that is not
    set (P1). A scalar takes one line, a vector `ceil(n * size / 16)`. A word of the value with all bits set, a NaN, is
    sent without its highest bit, as another NaN; all else arrives as it is. Slots begin with all bits set, and are
    cleared again by their receiver: `clear` sets all bits, whatever the value is. Elements are floats of 8, 16, 32 or
    64 bits in which all bits set are a NaN (not f8E4M3FNUZ and the like), or i64 of such. In Triton kernels a line is
    two i64: `value`, and `upper` for its second half.
}];

def Symm_PutPacketOp : Symm_AccessOp<"put_packet", CopyEffect> {
  let summary = "Sends another rank a value that carries its own flag";
  let description = !strconcat([{
    Writes `value` to `slots` of rank `rank`, as packets with the number `epoch`. Whoever receives a packet has its
    value; the op orders nothing else (P1).
  }], PacketLines, [{

    A packet is written if `mask` is true for any of its elements; its other elements are undefined.

    New memory of the heap has epoch 0, so the first epoch is 1. Epochs are compared for equality and wrap around. A
    slot may be written again once its value is known to have been received: if two ranks answer each packet with one,
    two alternating buffers are enough.

    ```mlir
    symm.put_packet %ctx, %slots[%i], %v, %epoch, %peer : memref<64xi32>, f32
    symm.put_packet %ctx, %p, %w, %epoch, %peer mask %in : vector<8xi1> : !llvm.ptr, vector<8xbf16>
    symm.put_packet %ctx, %p, %x, sentinel 32, %peer : !llvm.ptr, vector<4xf32>
    symm.put_packet %ctx, %old, %x, sentinel 32, %me clear : !llvm.ptr, vector<4xf32>
    ```
  }]);
  let facts = [Symm_RemoteFlag<"slots">];
  let arguments = (ins Symm_Ctx:$ctx, Symm_Pointer:$slots, Variadic<Index>:$indices, AnyType:$value,
                       Optional<AnyType>:$upper, Optional<I32>:$epoch, I32:$rank, Optional<I64>:$delta,
                       Optional<Symm_Mask>:$mask, OptionalAttr<I64Attr>:$sentinel, UnitAttr:$clear);
  let assemblyFormat = [{
    $ctx `,` $slots (`[` $indices^ `]`)? `,` $value (`upper` $upper^)? `,` (`sentinel` $sentinel^):($epoch)? `,` $rank
    (`via` $delta^)? (`clear` $clear^)? (`mask` $mask^ `:` type($mask))? attr-dict `:` type($slots) `,` type($value)
    (`,` type($upper)^)?
  }];
}

def Symm_WaitPacketOp : Symm_AccessOp<"wait_packet", CopyEffect> {
  let summary = "Waits for a value that carries its own flag";
  let description = !strconcat([{
    Polls the local `slots` until packets with the number `epoch` are there, and returns their value. It is never
    removed, merged or moved (O4), and it acquires nothing: what the sender wrote elsewhere may not be visible yet (P1).
  }], PacketLines, [{

    The op does not wait for a packet whose `mask` is false for all of its elements. Elements whose mask is false are 0.

    `deadline`, `tag`, `limit` and `logs` are as in `symm.wait`. When the op gives up, its value is undefined.

    ```mlir
    %v = symm.wait_packet %ctx, %slots[%i], %epoch : memref<64xi32> -> f32
    %x = symm.wait_packet %ctx, %p, sentinel 32 : !llvm.ptr -> vector<4xf32>
    ```
  }]);
  let facts = [Symm_OwnFlag<"slots">, Symm_Waits];
  let arguments = (ins Symm_Ctx:$ctx, Symm_Pointer:$slots, Variadic<Index>:$indices,
                       Optional<I32>:$epoch, Optional<Symm_Mask>:$mask, Optional<Symm_Pointer>:$deadline,
                       OptionalAttr<I64Attr>:$sentinel, OptionalAttr<I64Attr>:$tag, OptionalAttr<I64Attr>:$limit,
                       UnitAttr:$logs);
  let results = (outs AnyType:$value, Optional<AnyType>:$upper);
  let assemblyFormat = [{
    $ctx `,` $slots (`[` $indices^ `]`)? `,` (`sentinel` $sentinel^):($epoch)? (`mask` $mask^ `:` type($mask))?
    (`deadline` $deadline^ `:` type($deadline))? (`tag` $tag^)? (`limit` $limit^)? (`logs` $logs^)? attr-dict
    `:` type($slots) `->` type($value) (`,` type($upper)^)?
  }];
}

def Symm_TryPacketOp : Symm_AccessOp<"try_packet", CopyEffect> {
  let summary = "Looks once for a value that carries its own flag";
  let description = [{
    Reads the local `slots` once and returns the value that `symm.wait_packet` would wait for, and whether it is there:
    an `i1`, or for a tensor of pointers one for each element. A value that is not there is undefined; elements whose
    `mask` is false count as there, and are 0. It is for programs that poll several peers at once. With `deadline` a
    loop that polls by this op exits when the record's time is over, as with `symm.atomic_rmw`.

    ```mlir
    %v, %valid = symm.try_packet %ctx, %slots[%i], %epoch : memref<64xi32> -> i64, i1
    ```
  }];
  let facts = [Symm_OwnFlag<"slots">];
  let arguments = (ins Symm_Ctx:$ctx, Symm_Pointer:$slots, Variadic<Index>:$indices, Optional<I32>:$epoch,
                       Optional<Symm_Mask>:$mask, Optional<Symm_Pointer>:$deadline, OptionalAttr<I64Attr>:$tag,
                       OptionalAttr<I64Attr>:$limit, UnitAttr:$logs, OptionalAttr<I64Attr>:$sentinel);
  let results = (outs AnyType:$value, AnyType:$valid, Optional<AnyType>:$upper);
  let assemblyFormat = [{
    $ctx `,` $slots (`[` $indices^ `]`)? `,` (`sentinel` $sentinel^):($epoch)? (`mask` $mask^ `:` type($mask))?
    (`deadline` $deadline^ `:` type($deadline))? (`tag` $tag^)? (`limit` $limit^)? (`logs` $logs^)? attr-dict
    `:` type($slots) `->` type($value) `,` type($valid) (`,` type($upper)^)?
  }];
}

#endif // SYMM_PACKETS_TD
