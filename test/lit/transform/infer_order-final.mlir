// What symm-infer-order comes to in the text that is assembled.
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s --check-prefix=PTX
// RUN: symm-translate %s --to amdgcn --chip gfx942 | FileCheck %s --check-prefix=ISA

// PTX-LABEL: .entry broadcast
// PTX-NOT: fence
// PTX-COUNT-7: st.global.b32
// PTX-NOT: st.
// PTX: fence.acq_rel.sys;
// PTX-NOT: fence
// PTX-COUNT-7: st.relaxed.sys.global.b64
// PTX-NOT: fence
// PTX-NOT: st.
// PTX-LABEL: .entry all_gather
// PTX-NOT: fence
// PTX: st.global.v4.b32
// PTX: bar.sync
// PTX: bra
// PTX: fence.acq_rel.sys;
// PTX-NOT: {{fence|bar\.}}
// PTX: atom.relaxed.sys.global.add.u64
// The first polls of a wait acquire; the fence is for a flag that comes late, and LLVM has put it before them: from it
// the way leads to the next wait, or to the barrier. The waits share that one, after the loop: one thread waits for all.
// PTX-NOT: {{fence|bar\.}}
// PTX: fence.acq_rel.sys;
// PTX-NEXT: [[WAITED:\$L__BB[0-9_]+]]:
// PTX-NOT: {{fence|bar\.|^.L}}
// PTX: @%p{{[0-9]+}} bra [[WAIT:\$L__BB[0-9_]+]];
// PTX-NEXT: bra.uni [[DONE:\$L__BB[0-9_]+]];
// PTX: [[WAIT]]:
// PTX-NEXT: @%p{{[0-9]+}} bra [[WAITED]];
// PTX-NOT: {{fence|atom|st\.|bar\.}}
// PTX: ld.acquire.sys.global.b64
// PTX-NOT: {{fence|atom|st\.|bar\.}}
// PTX: bra [[WAITED]];
// PTX-NOT: {{fence|atom|st\.|bar\.}}
// PTX: ld.relaxed.sys.global.b64
// PTX-NOT: {{fence|atom|st\.|bar\.}}
// PTX: [[DONE]]:
// PTX-NEXT: bar.sync
// PTX-NEXT: ret;

// ISA-LABEL: {{^}}broadcast:
// ISA-NOT: buffer_
// ISA-COUNT-7: global_store_dword v
// ISA-NOT: {{global|flat}}_
// ISA: buffer_wbl2 sc0 sc1
// ISA-NEXT: s_waitcnt vmcnt(0)
// ISA-NOT: buffer_
// ISA-COUNT-7: global_store_dwordx2 {{.*}} sc0 sc1
// ISA-NOT: {{buffer|global|flat}}_
// ISA: s_endpgm
// ISA-LABEL: {{^}}all_gather:
// ISA-NOT: buffer_
// ISA: global_store_dwordx4
// ISA: buffer_wbl2 sc1
// ISA-NEXT: s_waitcnt vmcnt(0)
// ISA: s_barrier
// ISA: s_cbranch_execz
// ISA: buffer_wbl2 sc0 sc1
// ISA-NEXT: s_waitcnt vmcnt(0)
// ISA-NOT: {{buffer_|s_barrier}}
// ISA: global_atomic_add_x2 {{.*}} sc1
// ISA-NOT: {{buffer_|s_barrier}}
// ISA: global_load_dwordx2 {{.*}} sc0 sc1
// ISA-NOT: {{buffer_|s_barrier}}
// ISA: buffer_inv sc0 sc1
// ISA-NOT: {{buffer|global|flat}}_
// ISA: s_barrier
// ISA-NOT: {{buffer|global|flat}}_
// ISA: s_endpgm

gpu.module @kernels {
  // One fence and seven relaxed signals.
  gpu.func @broadcast(%ctx: !symm.ctx, %m: memref<64xf32>, %flag: memref<8xi64>, %v: i64) kernel {
    %c0 = arith.constant 0 : index
    %x = memref.load %m[%c0] : memref<64xf32>
    %me = symm.rank %ctx
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %four = arith.constant 4 : i32
    %five = arith.constant 5 : i32
    %six = arith.constant 6 : i32
    %seven = arith.constant 7 : i32
    %p1 = arith.xori %me, %one : i32
    %p2 = arith.xori %me, %two : i32
    %p3 = arith.xori %me, %three : i32
    %p4 = arith.xori %me, %four : i32
    %p5 = arith.xori %me, %five : i32
    %p6 = arith.xori %me, %six : i32
    %p7 = arith.xori %me, %seven : i32
    symm.remote_store %ctx, %m[%c0], %x, %p1 : memref<64xf32>, f32
    symm.remote_store %ctx, %m[%c0], %x, %p2 : memref<64xf32>, f32
    symm.remote_store %ctx, %m[%c0], %x, %p3 : memref<64xf32>, f32
    symm.remote_store %ctx, %m[%c0], %x, %p4 : memref<64xf32>, f32
    symm.remote_store %ctx, %m[%c0], %x, %p5 : memref<64xf32>, f32
    symm.remote_store %ctx, %m[%c0], %x, %p6 : memref<64xf32>, f32
    symm.remote_store %ctx, %m[%c0], %x, %p7 : memref<64xf32>, f32
    symm.signal set %ctx, %flag[%c0], %v, %p1 : memref<8xi64>, i64
    symm.signal set %ctx, %flag[%c0], %v, %p2 : memref<8xi64>, i64
    symm.signal set %ctx, %flag[%c0], %v, %p3 : memref<8xi64>, i64
    symm.signal set %ctx, %flag[%c0], %v, %p4 : memref<8xi64>, i64
    symm.signal set %ctx, %flag[%c0], %v, %p5 : memref<8xi64>, i64
    symm.signal set %ctx, %flag[%c0], %v, %p6 : memref<8xi64>, i64
    symm.signal set %ctx, %flag[%c0], %v, %p7 : memref<8xi64>, i64
    gpu.return
  }
  // By blocks, in loops: one fence by the first thread, after a barrier, and one barrier after all of the waits.
  gpu.func @all_gather(%ctx: !symm.ctx, %m: memref<1024xf32>, %flag: memref<8xi64>, %v: i64) kernel {
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %mine = arith.index_cast %me : i32 to index
    scf.for %k = %one to %n step %one : i32 {
      %next = arith.addi %me, %k : i32
      %p = arith.remui %next, %n : i32
      symm.put %ctx, %m, %m, %p group block : memref<1024xf32>, memref<1024xf32>
    }
    scf.for %k = %one to %n step %one : i32 {
      %next = arith.addi %me, %k : i32
      %p = arith.remui %next, %n : i32
      symm.signal add %ctx, %flag[%mine], %v, %p group block : memref<8xi64>, i64
    }
    scf.for %k = %one to %n step %one : i32 {
      %next = arith.addi %me, %k : i32
      %p = arith.remui %next, %n : i32
      %theirs = arith.index_cast %p : i32 to index
      symm.wait %ctx, %flag[%theirs] ge %v group block : memref<8xi64>, i64
    }
    gpu.return
  }
}
