// What GPU front ends tell LLVM: functions and calls are convergent and don't unwind, assembly that names a group's
// instruction stays in one piece, a kernel's blocks have up to 1024 threads.
// RUN: symm-opt %s --symm-nvvm | FileCheck %s --check-prefixes=CHECK,NVVM
// RUN: symm-opt %s --symm-rocdl | FileCheck %s --check-prefixes=CHECK,ROCDL
// RUN: symm-translate %s --to llvm --chip sm_90 -O0 | FileCheck %s --check-prefixes=IR,IR-NVVM
// RUN: symm-translate %s --to llvm --chip gfx942 -O0 | FileCheck %s --check-prefixes=IR,IR-ROCDL
// A custom pipeline need not mark anything.
// RUN: symm-translate %s --to llvm --chip gfx942 -O0 --pipeline='symm-lower-to-rocdl,convert-scf-to-cf,gpu.module(convert-gpu-to-rocdl{chipset=gfx942}),canonicalize,reconcile-unrealized-casts' | FileCheck %s --check-prefix=OWN
// LLVM takes the word off where nothing convergent is.
// RUN: symm-translate %s --to llvm --chip sm_90 -O2 | FileCheck %s --check-prefix=TAKEN

gpu.module @kernels {
  // CHECK: llvm.func @exchange({{.*}} attributes {{.*}}convergent{{.*}}no_unwind
  // IR: define internal void @exchange({{.*}}) #[[$F:[0-9]+]]
  // IR-NVVM: call void asm sideeffect "bar.sync 1;", "~{memory}"() #[[$F]]
  // OWN: define internal void @exchange({{.*}}) #[[$F:[0-9]+]]
  // TAKEN: Function Attrs:
  // TAKEN-NOT: convergent
  // TAKEN: define internal fastcc void @kept(
  func.func private @exchange(%ctx: !symm.ctx, %flag: memref<1xi64>, %v: i64, %peer: i32) {
    %c0 = arith.constant 0 : index
    symm.signal set %ctx, %flag[%c0], %v, %peer group block : memref<1xi64>, i64
    symm.wait %ctx, %flag[%c0] ge %v group block : memref<1xi64>, i64
    // NVVM: llvm.call_intrinsic "llvm.nvvm.activemask"
    // NVVM-NEXT: llvm.inline_asm has_side_effects "bar.sync 1;"
    // ROCDL: llvm.inline_asm has_side_effects "bar.sync 1;"
    llvm.inline_asm has_side_effects "bar.sync 1;", "~{memory}" : () -> ()
    // ROCDL: llvm.call_intrinsic "llvm.amdgcn.wave.barrier"
    // ROCDL-NEXT: llvm.inline_asm has_side_effects "s_barrier"
    llvm.inline_asm has_side_effects "s_barrier", "~{memory}" : () -> ()
    // Assembly without an instruction keeps only the compiler from moving accesses.
    // NVVM: llvm.inline_asm has_side_effects "", "~{memory}"
    // ROCDL-NEXT: llvm.inline_asm has_side_effects "", "~{memory}"
    llvm.inline_asm has_side_effects "", "~{memory}" : () -> ()
    return
  }

  func.func private @kept(%flag: memref<1xi64>, %v: i64) attributes {no_inline, passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    memref.store %v, %flag[%c0] : memref<1xi64>
    return
  }

  // ROCDL: llvm.func @k({{.*}} attributes {{.*}}convergent{{.*}}no_unwind{{.*}}rocdl.flat_work_group_size = "1,1024"
  // CHECK: llvm.call @exchange({{.*}} {convergent, no_unwind}
  // IR-ROCDL: define amdgpu_kernel void @k({{.*}}) #[[$K:[0-9]+]]
  // IR: call void @exchange({{.*}}) #[[$F]]
  // OWN: call void @exchange({{.*}}) #[[$F]]
  // TAKEN: call {{.*}}void @kept(
  gpu.func @k(%ctx: !symm.ctx, %flag: memref<1xi64>, %v: i64, %peer: i32) kernel {
    func.call @exchange(%ctx, %flag, %v, %peer) : (!symm.ctx, memref<1xi64>, i64, i32) -> ()
    func.call @kept(%flag, %v) : (memref<1xi64>, i64) -> ()
    gpu.return
  }

  // ROCDL: llvm.func @known({{.*}}rocdl.flat_work_group_size = "256,256"
  gpu.func @known(%flag: memref<1xi64>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    gpu.return
  }
}
// IR: attributes #[[$F]] = { convergent nounwind }
// IR-ROCDL: attributes #[[$K]] = { convergent nounwind "amdgpu-flat-work-group-size"="1,1024"
// OWN: attributes #[[$F]] = { convergent nounwind }
