// Packets are accesses to what orders memory: a group's signal after one has a barrier of its own (O3), a relaxed signal
// releases what was read (O1), and a look is made each time it is asked for (O4).
// RUN: symm-translate %s --to ptx --chip sm_90 -O 3 2> /dev/null | FileCheck %s --check-prefix PTX
// RUN: symm-translate %s --to amdgcn --chip gfx942 -O 3 2> /dev/null | FileCheck %s --check-prefix AMD

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // PTX-LABEL: .entry after_wait(
    // PTX: bar.sync
    // PTX: st.release.sys
    // PTX: ld.relaxed.sys.global.v2.b64
    // PTX: bar.sync
    // PTX: st.release.sys
    // AMD-LABEL: {{^}}after_wait:
    // AMD: s_barrier
    // AMD: global_store_dword v
    // AMD: global_load_dwordx2 {{.*}} sc0 sc1
    // AMD: s_barrier
    // AMD: buffer_wbl2 sc0 sc1
    // AMD: global_store_dword v
    gpu.func @after_wait(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32, %peer: i32, %f: memref<2xi32>, %i: index, %v: i32) kernel {
      symm.signal set %ctx, %f[%i], %v, %peer group block : memref<2xi32>, i32
      %w = symm.wait_packet %ctx, %p, %e : !llvm.ptr -> i64
      symm.signal set %ctx, %f[%i], %v, %peer group block : memref<2xi32>, i32
      gpu.return
    }

    // PTX-LABEL: .entry after_look(
    // PTX: bar.sync
    // PTX: st.release.sys
    // PTX: ld.relaxed.sys.global.v2.b64
    // PTX: bar.sync
    // PTX: st.release.sys
    gpu.func @after_look(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32, %peer: i32, %f: memref<2xi32>, %i: index, %v: i32) kernel {
      symm.signal set %ctx, %f[%i], %v, %peer group block : memref<2xi32>, i32
      %w, %ok = symm.try_packet %ctx, %p, %e : !llvm.ptr -> i64, i1
      symm.signal set %ctx, %f[%i], %v, %peer group block : memref<2xi32>, i32
      gpu.return
    }

    // PTX-LABEL: .entry after_put(
    // PTX: bar.sync
    // PTX: st.release.sys
    // PTX: st.relaxed.sys.global.v2.b64
    // PTX: bar.sync
    // PTX: st.release.sys
    gpu.func @after_put(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32, %peer: i32, %f: memref<2xi32>, %i: index, %v: i32) kernel {
      symm.signal set %ctx, %f[%i], %v, %peer group block : memref<2xi32>, i32
      symm.put_packet %ctx, %p, %v, %e, %peer : !llvm.ptr, i32
      symm.signal set %ctx, %f[%i], %v, %peer group block : memref<2xi32>, i32
      gpu.return
    }

    // What a look has read is read before the slot is said to be free.
    // PTX-LABEL: .entry freed(
    // PTX: ld.relaxed.sys.global.v2.b64
    // PTX: st.release.sys
    // AMD-LABEL: {{^}}freed:
    // AMD: global_load_dwordx2 {{.*}} sc0 sc1
    // AMD: buffer_wbl2 sc0 sc1
    // AMD-NEXT: s_waitcnt vmcnt(0)
    // AMD-NEXT: global_store_dword v
    gpu.func @freed(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32, %peer: i32, %f: memref<2xi32>, %i: index, %v: i32) kernel {
      %w, %ok = symm.try_packet %ctx, %p, %e : !llvm.ptr -> i64, i1
      symm.signal set %ctx, %f[%i], %v, %peer sem relaxed : memref<2xi32>, i32
      gpu.return
    }

    // Two looks are two, and one in a loop is made in each round.
    // PTX-LABEL: .entry looks(
    // PTX-COUNT-2: ld.relaxed.sys.global.v2.b64
    // PTX: [[AGAIN:\$L__BB[0-9_]+]]:
    // PTX-NOT: $L__BB
    // PTX: ld.relaxed.sys.global.v2.b64
    // PTX: bra [[AGAIN]];
    // AMD-LABEL: {{^}}looks:
    // AMD-COUNT-4: global_load_dwordx2 {{.*}} sc0 sc1
    // AMD: [[AGAIN:\.LBB[0-9_]+]]:
    // AMD: global_load_dwordx2 {{.*}} sc0 sc1
    // AMD-NEXT: global_load_dwordx2 {{.*}} offset:8 sc0 sc1
    // AMD: s_cbranch_{{.*}} [[AGAIN]]
    gpu.func @looks(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32, %out: memref<?xi64>, %i: index) kernel {
      %true = arith.constant true
      %zero = arith.constant 0 : i64
      %v1, %ok1 = symm.try_packet %ctx, %p, %e : !llvm.ptr -> i64, i1
      %v2, %ok2 = symm.try_packet %ctx, %p, %e : !llvm.ptr -> i64, i1
      %last = scf.while (%a = %zero) : (i64) -> i64 {
        %v, %ok = symm.try_packet %ctx, %p, %e : !llvm.ptr -> i64, i1
        %no = arith.xori %ok, %true : i1
        scf.condition(%no) %v : i64
      } do {
      ^bb0(%x: i64):
        scf.yield %x : i64
      }
      %both = arith.andi %ok1, %ok2 : i1
      %sum = arith.extui %both : i1 to i64
      %all = arith.addi %sum, %last : i64
      memref.store %all, %out[%i] : memref<?xi64>
      gpu.return
    }
  }
}
