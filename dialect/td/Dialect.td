// The dialect record, its type, and the base classes that make an ordinary op one line.
#ifndef SYMM_DIALECT_TD
#define SYMM_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Symm_Dialect : Dialect {
  let name = "symm";
  let cppNamespace = "::symm";
  let summary = "Symmetric memory: accesses, order and synchronization between N ranks";
  let description = [{
    N *ranks* (GPUs, or threads or processes of a CPU) each own a *symmetric heap*. The same offset in every
    heap holds the same object: a pointer into the current rank's heap, together with a rank, names that rank's
    copy of the object. The ops say what happens; the passes choose addresses, access widths, orders, scopes and
    barriers.

    Rules that verifiers, lowerings and tests refer to by label.
    [The memory model](../memory-model.md) explains T1 to P1 and S1, [across nodes](../nodes.md) N1 to N4.

    - **T1** A symmetric pointer is an address inside the current rank's heap.
      `as_remote(p, r) = p - base[me] + base[r]`.
    - **T2** `as_remote(p, me)` is `p`; `as_remote(p + i, r)` is `as_remote(p, r) + i`.
    - **T3** Heap bases never change while a kernel runs.
    - **T4** Bases are aligned to at least 2 MiB: a translated pointer keeps alignment and contiguity.
    - **T5** In a strided heap the distance to rank `r` is `(r - me) * stride`. The module states the stride in
      `symm.heap_stride` (bytes, `i64`). If it also has `symm.num_ranks` (`i32`) and `symm.table_in_heap`, all heaps
      begin at a multiple of the power of two that they fit into together, and each rank's context table lies in that
      rank's heap, so that the table's address tells which rank is `me`. An out-of-range rank has no such distance: it
      gets `2^60` bytes (`2^47` in Triton), which leads to no mapped address, strided or not.
    - **O1** The default order is release for `signal`, acquire for `wait`, acq_rel for atomics and fences; the
      default scope is sys.
    - **O2** A cross-rank access with a scope narrower than sys is widened, and an error under `strict`.
    - **O3** `signal` with `group block` makes every earlier write of every thread of the block visible to
      whoever acquires it; `wait` with `group block` makes it visible to every thread of the block. `put`, `get`,
      `copy` and `put_signal` of a group come after every earlier access of each of its threads; later accesses of each
      of them come after a `get` or `copy`, and later writes after a `put` or `put_signal`. Puts with no other access
      between them are unordered among themselves, and so are gets.
    - **O4** A `wait` is never removed, duplicated or moved, and no access moves above it.
    - **O5** A `wait` polls with relaxed loads, backs off, and acquires once, after the poll succeeds; its first polls
      may acquire where that is faster than a fence.
    - **O6** The op says whether it compares signed or unsigned values.
    - **P1** A packet carries its own flag: an epoch, or, with `sentinel`, floats that differ from a cleared slot. A
      receiver gets the whole value, never a part of it or of another one. A packet orders nothing else. In Triton,
      where a program is one thread to its author, a `put_packet` comes after the program's earlier `wait_packet` and
      `try_packet`, so that it may tell the peer that their slots are free.
    - **N1** A peer is *near* if its heap is mapped here, and *far* otherwise. An engine reaches far peers: the module
      names it with `symm.engine` (text). Without one every rank is near. A rank is near to itself; reach is mutual, and
      never changes while a program runs.
    - **N2** Every op that names a rank means the same for a near and a far peer: the same values, orders, atomicity
      and results. A near peer is reached by loads and stores, as without an engine; a far one by the engine's calls.
    - **N3** When an op is done, what it wrote to a far peer has arrived, and its source may be reused. So every release
      guarantees the same for far peers as for near ones.
    - **N4** `as_remote` of a far peer is an unmapped address, which may be computed and passed on. Ops of this dialect
      use the rank instead; an ordinary access through that address faults, and is rejected (S1) where `is_near` has
      said that the peer is far.
    - **S1** An op that a target cannot lower is rejected at its location.

    The assembly of every op has one order: its kind, if it has kinds (`add`, `set`); the context; the memory that it
    accesses, with indices; the values that go there; the rank; then the clauses (`via`, `mask`, `sem`, `group`, …).
    An op on two pieces of memory names the source before the destination; `copy` gives each of them a rank (`at`).
    The types at the end are those of the memory and of the values, in that order; memory that an op returns is among
    them, as in `memref.alloc`. The type of another result follows `->`, unless the others say it. The type of a
    clause's operand is part of the clause: `mask %in : i1`.

    ```mlir
    %m = symm.alloc %ctx : memref<64xf32>
    %v = symm.remote_load %ctx, %m[%i], %peer : memref<64xf32> -> f32
    symm.remote_store %ctx, %m[%i], %v, %peer mask %in : i1 : memref<64xf32>, f32
    %old = symm.atomic_rmw add %ctx, %n[%i], %w, %peer : memref<64xi64>, i64
    symm.signal add %ctx, %flag[%i], %w, %peer group block : memref<64xi64>, i64
    symm.put %ctx, %src, %dst, %peer : memref<64xf32>, memref<64xf32>
    ```

    *Pointers* have the type of the IR's level: `!llvm.ptr` (address space 0 or 1), `memref` with any offset and
    strides, and, as opaque types of an unregistered dialect, `!tt.ptr<T>` and tensors of it. MLIR's own ops give the
    pointer to a memref's memory, without its offset:

    ```mlir
    %address = memref.extract_aligned_pointer_as_index %m : memref<64xf32> -> index
    %bits = arith.index_cast %address : index to i64
    %p = llvm.inttoptr %bits : i64 to !llvm.ptr
    ```

    Limits of an access: an `alignment` is a power of two from 1 to 2 MiB (T4); without one a value is aligned to the
    largest power of two that divides its size. Vectors have one fixed dimension and no `i1` elements: in memory an
    `i1` takes a byte, so extend them to `i8`. A cache modifier needs an access of 1, 2, 4, 8 or 16 bytes on NVIDIA
    GPUs (S1).
  }];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

def Symm_Ctx : TypeDef<Symm_Dialect, "Ctx"> {
  let mnemonic = "ctx";
  let summary = "The device context: the current rank, and the base of every rank's heap";
  let description = [{
    A handle to the context table, int64 words `[rank, num_ranks, base_0, base_1, …]`; words after that belong
    to extensions. Every target lowers it to a pointer to that table.
  }];
}

// Verifiers, folders and canonicalisation are written in Rust (dialect/src); ODS can only declare C++ methods,
// so these bodies hand the operation over.
defvar RustVerifier = [{
  ::llvm::LogicalResult $cppClass::verify() { return ::symm::verifyInRust(getOperation()); }
}];
defvar RustFolder = [{
  ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor) { return ::symm::foldInRust(getOperation()); }
}];
defvar RustCanonicalizer = [{
  ::llvm::LogicalResult $cppClass::canonicalize($cppClass op, ::mlir::PatternRewriter &rewriter) {
    return ::symm::canonicalizeInRust(op, rewriter);
  }
}];

// What the passes know about an op; dialect/build/facts.rs makes Rust predicates of it.
class Symm_Fact;
// It touches no memory and waits for nobody.
def Symm_Computes : Symm_Fact;
// It blocks until another rank has done something.
def Symm_Waits : Symm_Fact;
// It acquires, always or depending on its `sem`.
def Symm_Acquires : Symm_Fact;
def Symm_AcquiresBySem : Symm_Fact;
// It releases, always or depending on its `sem`.
def Symm_Releases : Symm_Fact;
def Symm_ReleasesBySem : Symm_Fact;

// The operands of a translation to another rank's heap: its rank, and the distance if that is known.
class Symm_Way<string rank_, string delta_> {
  string rank = rank_;
  string delta = delta_;
}
def Symm_There : Symm_Way<"rank", "delta">;

// An operand is translated, but not accessed.
class Symm_Translates<Symm_Way way_ = Symm_There> : Symm_Fact {
  Symm_Way way = way_;
}

// What is done to the memory that a pointer operand points to.
class Symm_Access<string pointer_, bit reads_, bit writes_> : Symm_Fact {
  string pointer = pointer_;
  bit reads = reads_;
  bit writes = writes_;
  // Whether the memory is a flag, which is for order and is no data.
  bit flag = 0;
}
// Memory of another rank.
class Symm_RemoteAccess<string pointer, bit reads, bit writes, Symm_Way way_> : Symm_Access<pointer, reads, writes> {
  Symm_Way way = way_;
}
class Symm_RemoteRead<string pointer, Symm_Way way = Symm_There> : Symm_RemoteAccess<pointer, 1, 0, way>;
class Symm_RemoteWrite<string pointer, Symm_Way way = Symm_There> : Symm_RemoteAccess<pointer, 0, 1, way>;
class Symm_RemoteUpdate<string pointer, Symm_Way way = Symm_There> : Symm_RemoteAccess<pointer, 1, 1, way>;
class Symm_RemoteFlag<string pointer> : Symm_RemoteWrite<pointer> {
  let flag = 1;
}
// Memory of the current rank, on the heap or not.
class Symm_LocalRead<string pointer> : Symm_Access<pointer, 1, 0>;
class Symm_LocalWrite<string pointer> : Symm_Access<pointer, 0, 1>;
// A flag on the current rank's heap, which others set.
class Symm_OwnFlag<string pointer> : Symm_Access<pointer, 1, 0> {
  let flag = 1;
}

// An op whose verifier is dialect/src/verify.rs. An op that states no facts does not build; `[]` states that it neither
// touches nor orders memory that ranks share.
class Symm_Op<string mnemonic, list<Trait> traits = []> : Op<Symm_Dialect, mnemonic, traits> {
  list<Symm_Fact> facts = ?;
  let hasVerifier = 1;
  let extraClassDefinition = RustVerifier;
}

// A `Symm_Op` without side effects.
class Symm_PureOp<string mnemonic, list<Trait> traits = []> : Symm_Op<mnemonic, traits # [Pure]> {
  let facts = [Symm_Computes];
}

// An op that dialect/src/fold.rs folds.
class Symm_FoldedOp<string mnemonic, list<Trait> traits = []> : Symm_PureOp<mnemonic, traits> {
  let hasFolder = 1;
  let extraClassDefinition = !strconcat(RustVerifier, RustFolder);
}

// A data access: a mask known to be true or false is canonicalised (dialect/src/canonicalize.rs); a `volatile`
// read counts as a write too, so that it is neither merged nor removed.
class Symm_AccessOp<string mnemonic, string effect, list<Trait> traits = []>
    : Symm_Op<mnemonic, traits # [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let hasCanonicalizeMethod = 1;
  let extraClassDefinition = !strconcat(RustVerifier, RustCanonicalizer, [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
  }], effect, [{
    }
  }]);
}

defvar ReadEffect = [{
      effects.emplace_back(::mlir::MemoryEffects::Read::get());
      if (getVolatile_()) effects.emplace_back(::mlir::MemoryEffects::Write::get());
}];
defvar WriteEffect = [{
      effects.emplace_back(::mlir::MemoryEffects::Write::get());
}];
defvar CopyEffect = [{
      effects.emplace_back(::mlir::MemoryEffects::Read::get());
      effects.emplace_back(::mlir::MemoryEffects::Write::get());
}];

// An op that orders memory (O4): it reads and writes everything, so nothing is moved, merged or removed across it.
class Symm_OrderOp<string mnemonic, list<Trait> traits = []>
    : Symm_Op<mnemonic, traits # [MemoryEffects<[MemRead, MemWrite]>]>;

// A pointer of any level; dialect/src/verify.rs says which types those are (T1).
def Symm_Pointer : Type<CPred<"true">, "symmetric pointer", "::mlir::Type">;
// An `i1`, or a vector or tensor of `i1` shaped like the data it masks.
def Symm_Mask : Type<CPred<"true">, "mask", "::mlir::Type">;
// An `i32`; for accesses through a tensor of pointers also a tensor of them, one for each pointer.
def Symm_Rank : Type<CPred<"true">, "rank", "::mlir::Type">;
// An `i32` or an `i64` flag or counter.
def Symm_FlagValue : AnyTypeOf<[I32, I64], "32-bit or 64-bit signless integer">;

#endif // SYMM_DIALECT_TD
