// A rank that is out of range leads to no memory in a strided heap, too (T5): 2^60 bytes away. It is a comparison and a
// select, and neither where the rank is seen to be in range. No base is loaded.
// RUN: symm-translate %s --to ptx | FileCheck %s --check-prefix=PTX
// RUN: symm-translate %s --to amdgcn | FileCheck %s --check-prefix=GCN
// RUN: symm-translate %s | FileCheck %s --check-prefix=CPU

module attributes {gpu.container_module, symm.num_ranks = 4 : i32, symm.heap_stride = 67108864 : i64} {
  gpu.module @kernels {
    // PTX-LABEL: .entry any(
    // PTX-COUNT-1: ld.global.nc
    // PTX-NOT: ld.global
    // PTX: selp.b64 %[[DISTANCE:.*]], %{{.*}}, 1152921504606846976, %p1;
    // PTX: add.s64 %[[THEIRS:.*]], %{{.*}}, %[[DISTANCE]];
    // PTX: st.global.b32 [%[[THEIRS]]]
    // GCN-LABEL: any:
    // GCN: s_cmp_lt_u32 s{{[0-9]+}}, 4
    // GCN-NEXT: s_cselect_b32 s{{[0-9]+}}, s{{[0-9]+}}, 0
    // GCN-NEXT: s_cselect_b32 s{{[0-9]+}}, s{{[0-9]+}}, 0x10000000
    // GCN: global_store_dword
    // CPU-LABEL: void @_symm_kernel_kernels_any
    // CPU: icmp ult i32 %{{.*}}, 4
    // CPU: select i1 {{.*}}, i64 1152921504606846976
    gpu.func @any(%ctx: !symm.ctx, %p: !llvm.ptr, %v: f32, %peer: i32) kernel {
      symm.remote_store %ctx, %p, %v, %peer : !llvm.ptr, f32
      gpu.return
    }

    // PTX-LABEL: .entry next(
    // PTX-NOT: set{{p?}}.
    // PTX-NOT: sel{{p?}}.
    // PTX: st.global.b32
    // GCN-LABEL: next:
    // GCN-NOT: s_cmp
    // GCN-NOT: s_cselect
    // GCN: global_store_dword
    gpu.func @next(%ctx: !symm.ctx, %p: !llvm.ptr, %v: f32) kernel {
      %c1 = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %c1 : i32
      %peer = arith.remui %after, %n : i32
      symm.remote_store %ctx, %p, %v, %peer : !llvm.ptr, f32
      gpu.return
    }

    // The rank of another context may be none of this one's.
    // PTX-LABEL: .entry foreign(
    // PTX: selp.b64 %{{.*}}, %{{.*}}, 1152921504606846976, %p1;
    // PTX: st.global.b32
    // GCN-LABEL: foreign:
    // GCN: s_cmp
    // GCN-NEXT: s_cselect_b32 s{{[0-9]+}}, s{{[0-9]+}}, 0
    // GCN-NEXT: s_cselect_b32 s{{[0-9]+}}, s{{[0-9]+}}, 0x10000000
    // GCN: global_store_dword
    gpu.func @foreign(%ctx: !symm.ctx, %other: !symm.ctx, %p: !llvm.ptr, %v: f32) kernel {
      %peer = symm.rank %other
      symm.remote_store %ctx, %p, %v, %peer : !llvm.ptr, f32
      gpu.return
    }

    // PTX-LABEL: .entry all(
    // PTX-NOT: set{{p?}}.
    // PTX-NOT: sel{{p?}}.
    // PTX-COUNT-4: st.global.b32
    // GCN-LABEL: all:
    // GCN-NOT: s_cmp
    // GCN-NOT: s_cselect
    // GCN-COUNT-4: global_store_dword
    gpu.func @all(%ctx: !symm.ctx, %p: !llvm.ptr, %v: f32) kernel {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %n = symm.num_ranks %ctx
      scf.for %peer = %c0 to %n step %c1 : i32 {
        symm.remote_store %ctx, %p, %v, %peer : !llvm.ptr, f32
      }
      gpu.return
    }
  }
}
