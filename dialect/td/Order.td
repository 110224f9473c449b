// Signals, waits, fences and barriers.
#ifndef SYMM_ORDER_TD
#define SYMM_ORDER_TD

include "Dialect.td"
include "Enums.td"
include "Data.td"

def Symm_SignalOp : Symm_OrderOp<"signal", [AttrSizedOperandSegments]> {
  let summary = "Tells another rank that something has happened";
  let description = [{
    Sets the flag `flag` of rank `rank` to `value`, or adds `value` to it. `sem` is release (default, O1) or
    relaxed. With `group block` (or `warp`) every thread of the group reaches the op, and every earlier write of
    each of them is visible to whoever acquires the signal; one thread sends it (O3). Flags are i32 or i64.

    The same signal to several ranks, with no memory access in between, is a broadcast: all of its signals come after
    everything before the first of them, and are unordered among themselves.

    ```mlir
    symm.signal set %ctx, %flag[%i], %seven, %peer : memref<4xi64>, i64
    symm.signal add %ctx, %flag[%i], %one, %peer group block : memref<4xi64>, i64
    ```
  }];
  let facts = [Symm_RemoteFlag<"flag">, Symm_ReleasesBySem];
  let arguments = (ins Symm_SignalKind:$kind, Symm_Ctx:$ctx, Symm_Pointer:$flag, Variadic<Index>:$indices,
                       Symm_FlagValue:$value, I32:$rank, Optional<I64>:$delta,
                       DefaultValuedAttr<Symm_Order, "::symm::Order::Release">:$sem,
                       DefaultValuedAttr<Symm_Scope, "::symm::Scope::Sys">:$scope,
                       DefaultValuedAttr<Symm_Group, "::symm::Group::Thread">:$group);
  let assemblyFormat = [{
    $kind $ctx `,` $flag (`[` $indices^ `]`)? `,` $value `,` $rank (`via` $delta^)?
    (`sem` $sem^)? (`scope` $scope^)? (`group` $group^)? attr-dict `:` type($flag) `,` type($value)
  }];
}

def Symm_WaitOp : Symm_OrderOp<"wait", [AttrSizedOperandSegments]> {
  let summary = "Waits until a local flag satisfies a comparison with a value";
  let description = [{
    Polls the local flag until `flag <comparison> value` holds, for signed values, or after `unsigned` for unsigned
    ones (O6); `unsigned eq` says that the counter is meant to wrap around or to be decremented. `sem` is acquire
    (default, O1) or relaxed. It polls with relaxed loads, backs off, and acquires once, after the poll succeeds (O5).
    It is never removed, merged or moved (O4). With `group block` (or `warp`) one thread polls, and then every thread of
    the group continues (O3).

    Consecutive waits with `ge` or `gt`, with no memory access in between, may be satisfied in any order, because
    counts only grow; what follows the last of them comes after all of them.

    With `timeout`, in nanoseconds, the op gives up after that time, and returns whether the comparison held. With zero
    or a negative number it looks once.

    With `deadline`, the address of a record of `symm_abi::deadline`, the op gives up when the record's time is over,
    and at once if the record says that another wait has given up. The first one to give up records what it waited for
    and its `tag`. Threads may give up at different times, and what follows runs as if the flag had come: a deadline is
    for kernels whose results are not used until the record has been looked at. `limit`, in nanoseconds, replaces the
    record's time for this op. A wait without a `tag` gets one from `symm-tag-waits`; its record belongs to one rank and
    has a log. Only Triton kernels have deadlines.

    ```mlir
    symm.wait %ctx, %flag[%i] ge %seven : memref<4xi64>, i64
    %seen = symm.wait %ctx, %flag[%i] eq %one timeout %ns : memref<4xi32>, i32 -> i1
    symm.wait %ctx, %p ge %seven deadline %record : !tt.ptr<i64> tag 3 : !tt.ptr<i64>, i64
    symm.wait %ctx, %p ge %seven deadline %record : !tt.ptr<i64> limit 2000000000 : !tt.ptr<i64>, i64
    ```
  }];
  let facts = [Symm_OwnFlag<"flag">, Symm_Waits, Symm_AcquiresBySem];
  let arguments = (ins Symm_Ctx:$ctx, Symm_Pointer:$flag, Variadic<Index>:$indices, UnitAttr:$is_unsigned,
                       Symm_Comparison:$comparison, Symm_FlagValue:$value, Optional<I64>:$timeout,
                       Optional<Symm_Pointer>:$deadline, OptionalAttr<I64Attr>:$tag, OptionalAttr<I64Attr>:$limit,
                       UnitAttr:$logs, DefaultValuedAttr<Symm_Order, "::symm::Order::Acquire">:$sem,
                       DefaultValuedAttr<Symm_Scope, "::symm::Scope::Sys">:$scope,
                       DefaultValuedAttr<Symm_Group, "::symm::Group::Thread">:$group);
  let results = (outs Optional<I1>:$satisfied);
  let assemblyFormat = [{
    $ctx `,` $flag (`[` $indices^ `]`)? (`unsigned` $is_unsigned^)? $comparison $value (`timeout` $timeout^)?
    (`deadline` $deadline^ `:` type($deadline))? (`tag` $tag^)? (`limit` $limit^)? (`logs` $logs^)?
    (`sem` $sem^)? (`scope` $scope^)? (`group` $group^)? attr-dict `:` type($flag) `,` type($value)
    (`->` type($satisfied)^)?
  }];
}

def Symm_PutSignalOp : Symm_OrderOp<"put_signal", [AttrSizedOperandSegments]> {
  let summary = "Copies into another rank's memory, then signals that rank";
  let description = [{
    `symm.put` of `src` to `dst`, followed by a release `symm.signal` of `flag`, both on rank `rank`: whoever
    acquires the signal sees the data. Shapes and the barrier at its start are those of `symm.put` (O3).

    ```mlir
    symm.put_signal set %ctx, %src, %dst, %flag[%i], %one, %peer group block
      : memref<64xf32>, memref<64xf32>, memref<4xi64>, i64
    ```
  }];
  let facts = [Symm_LocalRead<"src">, Symm_RemoteWrite<"dst">, Symm_RemoteFlag<"flag">, Symm_Releases];
  let arguments = !con((ins Symm_SignalKind:$kind, Symm_Ctx:$ctx, Symm_Pointer:$src, Symm_Pointer:$dst,
                            Symm_Pointer:$flag, Variadic<Index>:$indices, Symm_FlagValue:$value, I32:$rank,
                            Optional<I64>:$delta),
                       BulkWhat, (ins DefaultValuedAttr<Symm_Scope, "::symm::Scope::Sys">:$scope), BulkHow);
  let hasCanonicalizeMethod = 1;
  let extraClassDefinition = !strconcat(RustVerifier, RustCanonicalizer);
  let assemblyFormat = !strconcat([{
    $kind $ctx `,` $src `,` $dst `,` $flag (`[` $indices^ `]`)? `,` $value `,` $rank (`via` $delta^)?
  }], BulkWhatFormat, "(`scope` $scope^)? ", BulkHowFormat, [{
    attr-dict `:` type($src) `,` type($dst) `,` type($flag) `,` type($value)
  }]);
}

def Symm_FenceOp : Symm_OrderOp<"fence"> {
  let summary = "Orders the memory accesses before it and those after it";
  let description = [{
    A fence of this thread; `sem` is acquire, release or acq_rel (default), `scope` defaults to sys (O1).

    With `group block` (or `warp`) every thread of the group reaches the op, and it is one fence for the signals
    and waits of the group (O3): release orders every earlier access of each thread before the group's later signals,
    acquire orders the group's earlier waits before every later access of each thread.

    ```mlir
    symm.fence
    symm.fence sem release scope gpu
    symm.fence sem release group block
    ```
  }];
  let facts = [Symm_AcquiresBySem, Symm_ReleasesBySem];
  let arguments = (ins DefaultValuedAttr<Symm_Order, "::symm::Order::AcqRel">:$sem,
                       DefaultValuedAttr<Symm_Scope, "::symm::Scope::Sys">:$scope,
                       DefaultValuedAttr<Symm_Group, "::symm::Group::Thread">:$group);
  let assemblyFormat = "(`sem` $sem^)? (`scope` $scope^)? (`group` $group^)? attr-dict";
}

def Symm_BarrierOp : Symm_OrderOp<"barrier"> {
  let summary = "Waits until the same block of every rank has arrived";
  let description = [{
    Block b of every rank waits for block b of every other rank; what any of them wrote before the barrier is visible to
    all of them after it. Every rank launches the same grid, and block b of every rank reaches the same number of
    barriers. With `group thread` one thread of the block calls it for itself; with `group block` (or `warp`) all of
    its threads do. It acquires what the other ranks' barriers release; it is not an acquire fence for a relaxed wait
    before it (O1). `deadline`, `tag`, `limit` and `logs` are as in `symm.wait`.

    ```mlir
    symm.barrier %ctx group block
    ```
  }];
  let facts = [Symm_Waits, Symm_Acquires, Symm_Releases];
  let arguments = (ins Symm_Ctx:$ctx, Optional<Symm_Pointer>:$deadline, OptionalAttr<I64Attr>:$tag,
                       OptionalAttr<I64Attr>:$limit, UnitAttr:$logs,
                       DefaultValuedAttr<Symm_Group, "::symm::Group::Thread">:$group);
  let assemblyFormat = [{
    $ctx (`deadline` $deadline^ `:` type($deadline))? (`tag` $tag^)? (`limit` $limit^)? (`logs` $logs^)?
    (`group` $group^)? attr-dict
  }];
}

#endif // SYMM_ORDER_TD
