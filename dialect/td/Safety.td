// The op that safety passes insert.
#ifndef SYMM_SAFETY_TD
#define SYMM_SAFETY_TD

include "Dialect.td"

def Symm_FaultOp : Symm_Op<"fault", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Ends the run with a report";
  let description = [{
    The message is as in `symm.check`, with at most six values. On the CPU the run ends with the message, the rank,
    the block and the op's location. On a GPU the first thread to reach the op writes a record to the report buffer,
    which the runtime reads, and the kernel traps. `symm-insert-bounds-checks` and `symm-insert-watchdog` insert this
    op; programs may use it too.

    ```mlir
    symm.fault %ctx, "rank {} out of range [0, {})"(%r, %n) : i32, i32
    ```
  }];
  let facts = [];
  let arguments = (ins Symm_Ctx:$ctx, StrAttr:$message, Variadic<AnyType>:$values);
  let assemblyFormat = "$ctx `,` $message (`(` $values^ `)` )? attr-dict (`:` type($values)^)?";
}

#endif // SYMM_SAFETY_TD
