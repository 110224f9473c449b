// Which assembly is kept in one piece: that which names an instruction of several threads, by whole words.
// RUN: symm-opt %s --symm-mark-convergent | FileCheck %s --check-prefix=NVVM
// RUN: symm-opt %s --symm-mark-convergent=target=rocdl | FileCheck %s --check-prefix=ROCDL

gpu.module @kernels {
  // NVVM-LABEL: llvm.func @ptx(
  // ROCDL-LABEL: llvm.func @ptx(
  llvm.func @ptx() {
    // NVVM: llvm.call_intrinsic "llvm.nvvm.activemask"
    // NVVM-NEXT: llvm.inline_asm "bar.sync 1;"
    llvm.inline_asm "bar.sync 1;", "" : () -> ()
    // NVVM-NEXT: llvm.call_intrinsic "llvm.nvvm.activemask"
    // NVVM-NEXT: llvm.inline_asm "barrier.cta.sync 0;"
    llvm.inline_asm "barrier.cta.sync 0;", "" : () -> ()
    // NVVM-NEXT: llvm.call_intrinsic "llvm.nvvm.activemask"
    // NVVM-NEXT: llvm.inline_asm "vote.sync.all.pred p, q, -1;"
    llvm.inline_asm "vote.sync.all.pred p, q, -1;", "" : () -> ()
    // NVVM-NEXT: llvm.call_intrinsic "llvm.nvvm.activemask"
    // NVVM-NEXT: llvm.inline_asm "{activemask.b32 $0;}"
    llvm.inline_asm "{activemask.b32 $0;}", "" : () -> ()
    // NVVM-NEXT: llvm.inline_asm "mbarrier.init.shared::cta.b64 [$0], $1;"
    llvm.inline_asm "mbarrier.init.shared::cta.b64 [$0], $1;", "" : () -> ()
    // NVVM-NEXT: llvm.inline_asm "fence.proxy.async;"
    llvm.inline_asm "fence.proxy.async;", "" : () -> ()
    // NVVM-NEXT: llvm.inline_asm "atom.release.sys.global.add.u64"
    llvm.inline_asm "atom.release.sys.global.add.u64", "" : () -> ()
    // NVVM-NEXT: llvm.return
    llvm.return
  }

  // NVVM-LABEL: llvm.func @amd(
  // ROCDL-LABEL: llvm.func @amd(
  llvm.func @amd() {
    // ROCDL: llvm.call_intrinsic "llvm.amdgcn.wave.barrier"
    // ROCDL-NEXT: llvm.inline_asm "s_barrier"
    llvm.inline_asm "s_barrier", "" : () -> ()
    // ROCDL-NEXT: llvm.call_intrinsic "llvm.amdgcn.wave.barrier"
    // ROCDL-NEXT: llvm.inline_asm "v_mov_b32_dpp $0, $1"
    llvm.inline_asm "v_mov_b32_dpp $0, $1", "" : () -> ()
    // ROCDL-NEXT: llvm.call_intrinsic "llvm.amdgcn.wave.barrier"
    // ROCDL-NEXT: llvm.inline_asm "v_readfirstlane_b32 $0, $1"
    llvm.inline_asm "v_readfirstlane_b32 $0, $1", "" : () -> ()
    // ROCDL-NEXT: llvm.call_intrinsic "llvm.amdgcn.wave.barrier"
    // ROCDL-NEXT: llvm.inline_asm "v_mov_b32 $0, $1 row_shr:1"
    llvm.inline_asm "v_mov_b32 $0, $1 row_shr:1", "" : () -> ()
    // ROCDL-NEXT: llvm.call_intrinsic "llvm.amdgcn.wave.barrier"
    // ROCDL-NEXT: llvm.inline_asm "v_mov_b32 $0, $1 quad_perm:[0,0,2,2]"
    llvm.inline_asm "v_mov_b32 $0, $1 quad_perm:[0,0,2,2]", "" : () -> ()
    // ROCDL-NEXT: llvm.call_intrinsic "llvm.amdgcn.wave.barrier"
    // ROCDL-NEXT: llvm.inline_asm "v_mov_b32 $0, $1 wave_shl:1"
    llvm.inline_asm "v_mov_b32 $0, $1 wave_shl:1", "" : () -> ()
    // ROCDL-NEXT: llvm.inline_asm "s_waitcnt vmcnt(0)"
    llvm.inline_asm "s_waitcnt vmcnt(0)", "" : () -> ()
    // ROCDL-NEXT: llvm.return
    llvm.return
  }
}
