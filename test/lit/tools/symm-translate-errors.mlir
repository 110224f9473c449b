// What symm-translate can't do it says in one sentence, with a non-zero exit status.

// RUN: not symm-translate %s --to ptx --chip sm_42 2>&1 | FileCheck %s --check-prefix=CHIP --match-full-lines
// CHIP: symm-translate: unknown chip 'sm_42'; the chips are sm_70,{{.*}} sm_90,{{.*}} gfx90a, gfx942, gfx950
// CHIP-NOT: {{.}}

// RUN: not symm-translate %s --to ptx --chip gfx942 2>&1 | FileCheck %s --check-prefix=PTX --match-full-lines
// PTX: symm-translate: --to ptx does not go with --chip gfx942
// PTX-NOT: {{.}}

// RUN: not symm-translate %s --to amdgcn --chip sm_90 2>&1 | FileCheck %s --check-prefix=AMDGCN --match-full-lines
// AMDGCN: symm-translate: --to amdgcn does not go with --chip sm_90

// RUN: not symm-translate %s --to hsaco --chip sm_90 2>&1 | FileCheck %s --check-prefix=HSACO --match-full-lines
// HSACO: symm-translate: --to hsaco does not go with --chip sm_90

// RUN: not symm-translate %s --to obj --chip gfx942 2>&1 | FileCheck %s --check-prefix=OBJ --match-full-lines
// OBJ: symm-translate: --to obj does not go with --chip gfx942

// RUN: not symm-translate %s --to spirv 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: invalid value 'spirv' for '--to <TO>'
// FORM: [possible values: llvm, obj, ptx, amdgcn, hsaco]

// RUN: not symm-translate %s --to ptx -O 4 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: error: invalid value '4' for '--optimize <LEVEL>': takes a whole number from 0 to 3

// RUN: not symm-translate %t.missing.mlir --to ptx 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: symm-translate: {{.*}}.missing.mlir: No such file or directory

// RUN: not symm-translate %s --to ptx --pipeline 'symm-nvvm{chip=sm_42}' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: symm-translate: {{.*}}sm_42

// RUN: not symm-translate %s --to ptx --pipeline 'symm-gpu' 2>&1 | FileCheck %s --check-prefix=PIPELINE
// PIPELINE: symm-translate: 'symm-gpu' is not a pass pipeline

// The linker that the environment names is not there.
// RUN: env SYMM_LLD=/nowhere/ld.lld not symm-translate %s --to hsaco 2>&1 | FileCheck %s --check-prefix=LLD --match-full-lines
// LLD: symm-translate: '/nowhere/ld.lld' is needed to link a code object: install lld-22, or name it in SYMM_LLD: No such file or directory (os error 2)

// The linker fails.
// RUN: env SYMM_LLD=false not symm-translate %s --to hsaco 2>&1 | FileCheck %s --check-prefix=LINK
// LINK: symm-translate: {{.*}}false could not link the kernels for gfx942

// The file itself is fine, at every level and for every chip.
// RUN: symm-translate %s --to ptx -O 0 -o - | FileCheck %s --check-prefix=FINE
// RUN: symm-translate %s --to hsaco -o %t.hsaco
// FINE: .visible .entry signal

gpu.module @kernels {
  gpu.func @signal(%ctx: !symm.ctx, %flag: memref<1xi64>, %one: i64, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi64>, i64
    gpu.return
  }
}
