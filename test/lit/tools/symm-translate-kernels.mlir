// A device module is made from one gpu.module, and from ops that the target has.
// RUN: split-file %s %t

// RUN: not symm-translate %t/none.mlir --to ptx 2>&1 | FileCheck %s --check-prefix=NONE --match-full-lines
// RUN: not symm-translate %t/none.mlir --to amdgcn 2>&1 | FileCheck %s --check-prefix=NONE --match-full-lines
// NONE: symm-translate: a device module is made from one gpu.module at the top of the program, which has none
// NONE-NOT: {{.}}

// RUN: not symm-translate %t/two.mlir --to ptx 2>&1 | FileCheck %s --check-prefix=TWO --match-full-lines
// TWO: symm-translate: a device module is made from one gpu.module at the top of the program, which has first, second
// TWO-NOT: {{.}}

// RUN: not symm-translate %t/print.mlir --to ptx 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not symm-translate %t/print.mlir --to hsaco 2>&1 | FileCheck %s --check-prefix=OP
// OP: print.mlir:3:5: error: 'symm.print' op S1: a GPU kernel has no output; check and print in the host function
// OP: symm-translate: the program can't be compiled: pass pipeline '{{.*}}' failed
// OP-NOT: {{.}}

// RUN: not symm-translate %t/syntax.mlir --to ptx 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: syntax.mlir:1:1: error:
// SYNTAX: symm-translate: {{.*}}syntax.mlir: the program does not parse or verify

// RUN: not symm-translate %t/left.mlir --to ptx --pipeline "" 2>&1 | FileCheck %s --check-prefix=LEFT
// LEFT: left.mlir:3:{{.*}}: error:
// LEFT: symm-translate: the kernels are not lowered for sm_90: 'symm-nvvm{chip=sm_90}' does that

//--- none.mlir
func.func @main(%ctx: !symm.ctx) {
  return
}
//--- two.mlir
gpu.module @first {
}
gpu.module @second {
}
//--- print.mlir
gpu.module @kernels {
  gpu.func @f() kernel {
    symm.print "here"
    gpu.return
  }
}
//--- syntax.mlir
gpu.modul @kernels
//--- left.mlir
gpu.module @kernels {
  llvm.func @f(%ctx: !llvm.ptr) {
    %me = "symm.ctx"(%ctx) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!llvm.ptr) -> !symm.ctx
    llvm.return
  }
}
