// A pipeline that is not the chip's, or none: one error at the first operation that the chip's code generator does not
// take, and which pipeline makes what it takes.

// RUN: not symm-translate %s --to ptx --chip sm_90 --pipeline symm-rocdl 2>&1 | FileCheck %s --check-prefix=AMD
// AMD: symm-translate-pipeline.mlir:[[#@LINE+28]]:3: error: 'llvm.func' op is for an AMD GPU
// AMD: symm-translate: the kernels are not lowered for sm_90: 'symm-nvvm{chip=sm_90}' does that
// AMD-NOT: {{.}}

// RUN: not symm-translate %s --to hsaco --chip gfx90a --pipeline symm-nvvm 2>&1 | FileCheck %s --check-prefix=NVIDIA
// NVIDIA: symm-translate-pipeline.mlir:[[#@LINE+23]]:3: error: 'llvm.func' op is for an NVIDIA GPU
// NVIDIA: symm-translate: the kernels are not lowered for gfx90a: 'symm-rocdl{chip=gfx90a}' does that
// NVIDIA-NOT: {{.}}

// RUN: not symm-translate %s --to amdgcn --pipeline '' 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: symm-translate-pipeline.mlir:[[#@LINE+18]]:3: error: 'gpu.func' op is not lowered for a GPU
// NONE: symm-translate: the kernels are not lowered for gfx942: 'symm-rocdl{chip=gfx942}' does that

// RUN: not symm-translate %s --to ptx --pipeline symm-cpu 2>&1 | FileCheck %s --check-prefix=HOST --match-full-lines
// HOST: symm-translate: a device module is made from one gpu.module at the top of the program, which has none

// mlir-opt's way to write a pipeline.
// RUN: symm-translate %s --to ptx --pipeline 'builtin.module(cse,any(canonicalize),symm-nvvm)' \
// RUN:   | FileCheck %s --check-prefix=ANCHOR
// ANCHOR: st.release.sys.global

// Host code that a pipeline leaves as it is.
// RUN: echo 'func.func @f() { return }' | not symm-translate - --pipeline 'any(cse),any(cse)' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REST
// REST: error: cannot be converted to LLVM IR
// REST: symm-translate: the pipeline's output has no LLVM form

gpu.module @kernels {
  gpu.func @signal(%ctx: !symm.ctx, %flag: memref<1xi64>, %one: i64, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi64>, i64
    gpu.return
  }
}
