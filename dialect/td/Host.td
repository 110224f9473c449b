// What the host function of a program needs.
#ifndef SYMM_HOST_TD
#define SYMM_HOST_TD

include "Dialect.td"

def Symm_AllocOp : Symm_Op<"alloc", [MemoryEffects<[MemAlloc, MemRead, MemWrite]>]> {
  let summary = "Allocates symmetric memory; every rank does so together";
  let description = [{
    Collective: all ranks allocate the same size and alignment in the same order, and get the same offset. The
    memory is zero. `align` is in bytes, a power of two, 256 without it. Ranks that ask for different sizes, or a
    full heap, end the program with an error at this op's location.

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
  let summary = "Frees symmetric memory; every rank does so together";
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
  let summary = "Waits until every rank's host function is here and its kernels are done";
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
  let summary = "Fails the run if a condition is false, and says why";
  let description = [{
    The message holds one `{}` for each operand (`{{` and `}}` are braces): integers, index, floats. The program
    goes on after a failed check; `symm-run` ends with a non-zero exit code.

    ```mlir
    symm.check %same, "element {} is {}, expected {}"(%i, %got, %want) : index, f32, f32
    ```
  }];
  let facts = [];
  let arguments = (ins I1:$condition, StrAttr:$message, Variadic<AnyType>:$values);
  let assemblyFormat = "$condition `,` $message (`(` $values^ `)` )? attr-dict (`:` type($values)^)?";
}

def Symm_PrintOp : Symm_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints a line, with the rank in front";
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
