// What the timeline of a GPU is made of.
#ifndef SYMM_TRACE_TD
#define SYMM_TRACE_TD

include "Dialect.td"
include "Enums.td"

def Symm_TraceBeginOp : Symm_Op<"trace_begin", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Something begins that the timeline shows";
  let description = [{
    On a GPU, one thread of the group takes a record in this rank's trace buffer and writes there what begins, where
    in the source, in which block, at what time of the device's clock, and up to three values. With `group thread`
    it is one of the threads of a warp that come here together. The result is the record's address; 0 for the other
    threads, when the buffer is full, and when the run is not traced. `symm-insert-trace` inserts this op.

    ```mlir
    %record = symm.trace_begin %ctx, "wait ge"(%flag, %expected) group block
    ```
  }];
  let facts = [];
  let arguments = (ins Symm_Ctx:$ctx, StrAttr:$what, Variadic<I64>:$values,
                       DefaultValuedAttr<Symm_Group, "::symm::Group::Thread">:$group);
  let results = (outs I64:$record);
  let assemblyFormat = "$ctx `,` $what (`(` $values^ `)`)? (`group` $group^)? attr-dict";
}

def Symm_TraceEndOp : Symm_Op<"trace_end", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "What began with a record has ended";
  let description = [{
    Writes the time, and up to two values that are known only now, into the record; nothing if it is 0.

    ```mlir
    symm.trace_end %record(%saw, %satisfied)
    ```
  }];
  let facts = [];
  let arguments = (ins I64:$record, Variadic<I64>:$values);
  let assemblyFormat = "$record (`(` $values^ `)`)? attr-dict";
}

#endif // SYMM_TRACE_TD
