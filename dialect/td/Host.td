// What the host function of a program needs.
#ifndef SYMM_HOST_TD
#define SYMM_HOST_TD

include "Dialect.td"

def Symm_AllocOp : Symm_Op<"alloc", [MemoryEffects<[MemAlloc, MemRead, MemWrite]>]> {
  let summary = "Allocates symmetric memory, collectively";
  let description = [{
    Collective: all ranks allocate the same size and alignment in the same order, and get the same offset. The
    memory is zero. `align` is in bytes, a power of two, by default 256. Different sizes on different ranks, or a full
    heap, end the program with an error at this op's location.

    ```mlir
    %data = symm.alloc %ctx : memref<64x64xf32>
    %rows = symm.alloc %ctx(%n) align 4096 : memref<?x64xf32>
    ```
  }];
  let facts = [Symm_Waits];
  let arguments = (ins Symm_Ctx:$ctx, Variadic<Index>:$sizes, OptionalAttr<I64Attr>:$align);
  let results = (outs AnyMemRef:$memory);
  let assemblyFormat = "$ctx (`(` $sizes^ `)`)? (`align` $align^)? attr-dict `:` type($memory)";
}

def Symm_FreeOp : Symm_Op<"free", [MemoryEffects<[MemFree, MemRead, MemWrite]>]> {
  let summary = "Frees symmetric memory, collectively";
  let description = [{
    Collective, like `symm.alloc`. The operand is a memref that `symm.alloc` returned.

    ```mlir
    symm.free %ctx, %data : memref<64x64xf32>
    ```
  }];
  let facts = [Symm_Waits];
  let arguments = (ins Symm_Ctx:$ctx, AnyMemRef:$memory);
  let assemblyFormat = "$ctx `,` $memory attr-dict `:` type($memory)";
}

def Symm_BarrierAllOp : Symm_OrderOp<"barrier_all"> {
  let summary = "Waits until every rank's host function has arrived and its kernels are done";
  let description = [{
    ```mlir
    symm.barrier_all %ctx
    ```
  }];
  let facts = [Symm_Waits, Symm_Acquires, Symm_Releases];
  let arguments = (ins Symm_Ctx:$ctx);
  let assemblyFormat = "$ctx attr-dict";
}

def Symm_CheckOp : Symm_Op<"check", [MemoryEffects<[MemWrite]>]> {
  let summary = "Fails the run with a message if a condition is false";
  let description = [{
    The message has one `{}` for each operand (`{{` and `}}` are braces): integers, index, floats. The program
    continues after a failed check; `symm-run` exits with a non-zero status.

    ```mlir
    symm.check %same, "element {} is {}, expected {}"(%i, %got, %want) : index, f32, f32
    ```
  }];
  let facts = [];
  let arguments = (ins I1:$condition, StrAttr:$message, Variadic<AnyType>:$values);
  let assemblyFormat = "$condition `,` $message (`(` $values^ `)` )? attr-dict (`:` type($values)^)?";
}

def Symm_PrintOp : Symm_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints a line that begins with the rank";
  let description = [{
    The message is as in `symm.check`. Lines of different ranks are never mixed.

    ```mlir
    symm.print "sum is {}"(%sum) : i64
    ```
  }];
  let facts = [];
  let arguments = (ins StrAttr:$message, Variadic<AnyType>:$values);
  let assemblyFormat = "$message (`(` $values^ `)` )? attr-dict (`:` type($values)^)?";
}

#endif // SYMM_HOST_TD
