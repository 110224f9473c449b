// Bounds checks in machine code: an access lies after the 2 MiB that are symm's own. In a heap of 64 MiB four bytes have
// 65011709 places there. LLVM counts them from the end of the heap, in one comparison without a sign.
// RUN: symm-translate %s --to ptx --pipeline 'symm-nvvm{chip=sm_90 bounds-checks=true}' | FileCheck %s --check-prefix=PTX
// RUN: symm-translate %s --to amdgcn --pipeline 'symm-rocdl{chip=gfx942 bounds-checks=true}' \
// RUN:   | FileCheck %s --check-prefix=GCN

module attributes {gpu.container_module, symm.num_ranks = 4 : i32, symm.heap_size = 67108864 : i64,
                   symm.heap_stride = 67108864 : i64} {
  gpu.module @kernels {
    // PTX-LABEL: .entry store(
    // PTX: add.s64 %[[FROM:.*]], %{{.*}}, -67108861;
    // PTX-NEXT: setp.gt.u64 %{{.*}}, %[[FROM]], -65011710;
    // PTX: st.global.b32
    // GCN-LABEL: store:
    // GCN: v_mov_b32_e32 v[[#LAST:]], 0xfc200002
    // GCN: s_add_u32 s[[#FROM:]], s{{.*}}, 0xfc000003
    // GCN: v_cmp_gt_u64_e32 vcc, s{{\[}}[[#FROM]]:{{[0-9]+}}], v{{\[}}[[#LAST]]:
    // GCN: global_store_dword
    gpu.func @store(%ctx: !symm.ctx, %p: !llvm.ptr, %v: f32, %peer: i32) kernel {
      symm.remote_store %ctx, %p, %v, %peer : !llvm.ptr, f32
      gpu.return
    }

    // A translation, and what an ordinary load reads through it, in the heap of that rank.
    // PTX-LABEL: .entry translated(
    // PTX: setp.lt.u32 %{{.*}}, %{{.*}}, 4;
    // PTX: setp.gt.u64 %{{.*}}, %{{.*}}, -65011714;
    // PTX: setp.gt.u64 %{{.*}}, %{{.*}}, -65011710;
    // PTX: ld.global.b32
    // PTX-COUNT-4: trap;
    // GCN-LABEL: translated:
    // GCN: v_cmp_lt_u64_e64 {{.*}}, 4
    // GCN: v_cmp_gt_u64_e32
    // GCN: v_cmp_gt_u64_e32
    // GCN: global_load_dword
    // GCN-COUNT-4: s_trap
    gpu.func @translated(%ctx: !symm.ctx, %p: !llvm.ptr, %peer: i32, %out: !llvm.ptr, %i: i64) kernel {
      %theirs = symm.as_remote %ctx, %p, %peer : !llvm.ptr
      %at = llvm.getelementptr %theirs[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %at : !llvm.ptr -> f32
      llvm.store %v, %out : f32, !llvm.ptr
      gpu.return
    }
  }
}
