// RUN: not symm-opt %s 2>&1 | FileCheck %s
// RUN: not symm-translate %s 2>&1 | FileCheck %s --check-prefix=TRANSLATE
// RUN: not symm-run %s --ranks 1 2>&1 | FileCheck %s --check-prefix=RUN-PROGRAM
// RUN: env SYMM_BACKTRACE=1 not --crash symm-opt %s 2>&1 | FileCheck %s --check-prefix=DUMP
// RUN: env SYMM_BACKTRACE=1 not --crash symm-translate %s 2>&1 | FileCheck %s --check-prefix=DUMP
// RUN: env SYMM_BACKTRACE=1 not --crash symm-run %s 2>&1 | FileCheck %s --check-prefix=DUMP
// MLIR 22 dereferences a null pointer on this attribute. One diagnostic, no stack dump, and status 1.

// CHECK-NOT: Stack dump
// CHECK: symm-opt: error: MLIR crashed on this input
// CHECK-NOT: Stack dump
// TRANSLATE: symm-translate: error: MLIR crashed on this input
// RUN-PROGRAM: symm-run: error: MLIR crashed on this input
// DUMP: {{Stack dump|PLEASE submit a bug report|PrintStackTrace}}
module attributes {a = array<index: 1>} {
}
