// Signals of a group share a barrier as long as no thread of it touches memory in between.
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s --check-prefix=PTX
// RUN: symm-translate %s --to amdgcn --chip gfx942 | FileCheck %s --check-prefix=ISA

gpu.module @kernels {
  // Seven peers: one barrier, one fence, seven stores.
  // PTX-LABEL: .entry broadcast(
  // PTX: st.global.b32
  // PTX: bar.sync
  // PTX-NOT: {{bar\.|fence|st\.}}
  // PTX: fence.acq_rel.sys
  // PTX-NOT: {{bar\.|fence|st\.}}
  // PTX-COUNT-7: st.relaxed.sys.global.b64
  // PTX-NOT: {{bar\.|fence|st\.}}
  // PTX: ret;
  // ISA-LABEL: {{^}}broadcast:
  // ISA: buffer_wbl2 sc1
  // ISA: s_barrier
  // ISA-NOT: {{s_barrier|global_store}}
  // ISA: buffer_wbl2 sc0 sc1
  // ISA-NOT: {{s_barrier|buffer}}
  // ISA-COUNT-7: global_store_dwordx2 {{.*}} sc0 sc1
  // ISA-NOT: {{s_barrier|buffer}}
  // ISA: s_endpgm
  gpu.func @broadcast(%ctx: !symm.ctx, %x: f32, %m: memref<64xf32>, %flag: memref<8xi64>, %v: i64) kernel {
    %c0 = arith.constant 0 : index
    %p0 = arith.constant 0 : i32
    %p1 = arith.constant 1 : i32
    %p2 = arith.constant 2 : i32
    %p3 = arith.constant 3 : i32
    %p4 = arith.constant 4 : i32
    %p5 = arith.constant 5 : i32
    %p6 = arith.constant 6 : i32
    memref.store %x, %m[%c0] : memref<64xf32>
    symm.signal set %ctx, %flag[%c0], %v, %p0 group block : memref<8xi64>, i64
    symm.signal set %ctx, %flag[%c0], %v, %p1 group block : memref<8xi64>, i64
    symm.signal set %ctx, %flag[%c0], %v, %p2 group block : memref<8xi64>, i64
    symm.signal set %ctx, %flag[%c0], %v, %p3 group block : memref<8xi64>, i64
    symm.signal set %ctx, %flag[%c0], %v, %p4 group block : memref<8xi64>, i64
    symm.signal set %ctx, %flag[%c0], %v, %p5 group block : memref<8xi64>, i64
    symm.signal set %ctx, %flag[%c0], %v, %p6 group block : memref<8xi64>, i64
    gpu.return
  }

  // In a loop, with a branch in it: none inside.
  // PTX-LABEL: .entry loop(
  // PTX: bar.warp.sync
  // PTX: fence.acq_rel.sys
  // PTX-NOT: bar.
  // PTX: st.relaxed.sys.global.b64
  // PTX-NOT: bar.
  // PTX: ret;
  // ISA-LABEL: {{^}}loop:
  // ISA: s_endpgm
  gpu.func @loop(%ctx: !symm.ctx, %flag: memref<8xi64>, %v: i64) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    scf.for %r = %zero to %n step %one : i32 {
      %other = arith.cmpi ne, %r, %me : i32
      scf.if %other {
        symm.signal set %ctx, %flag[%c0], %v, %r group warp : memref<8xi64>, i64
      }
    }
    gpu.return
  }

  // Signals of different flags: each releases what the first one brought together.
  // PTX-LABEL: .entry releases(
  // PTX: bar.sync
  // PTX-NOT: bar.
  // PTX: st.release.sys.global.b64
  // PTX-NOT: bar.
  // PTX: st.release.sys.global.b64
  // PTX-NOT: bar.
  // PTX: ret;
  // ISA-LABEL: {{^}}releases:
  // ISA: s_barrier
  // ISA-NOT: s_barrier
  // ISA: buffer_wbl2 sc0 sc1
  // ISA-NOT: s_barrier
  // ISA: buffer_wbl2 sc0 sc1
  // ISA-NOT: s_barrier
  // ISA: s_endpgm
  gpu.func @releases(%ctx: !symm.ctx, %flag: memref<8xi64>, %v: i64, %p: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    symm.signal set %ctx, %flag[%c0], %v, %p group block : memref<8xi64>, i64
    symm.signal set %ctx, %flag[%c1], %v, %p group block : memref<8xi64>, i64
    gpu.return
  }

  // What a thread writes in between, the barrier after it is for.
  // PTX-LABEL: .entry store_between(
  // PTX: bar.sync
  // PTX: st.release.sys.global.b64
  // PTX: st.global.b32
  // PTX: bar.sync
  // PTX: st.release.sys.global.b64
  // ISA-LABEL: {{^}}store_between:
  // ISA: s_barrier
  // ISA: global_store_dword {{.*$}}
  // ISA: buffer_wbl2 sc1
  // ISA: s_barrier
  // ISA: buffer_wbl2 sc0 sc1
  gpu.func @store_between(%ctx: !symm.ctx, %m: memref<64xf32>, %x: f32, %flag: memref<8xi64>, %v: i64, %p: i32) kernel {
    %c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    symm.signal set %ctx, %flag[%c0], %v, %p group block : memref<8xi64>, i64
    memref.store %x, %m[%i] : memref<64xf32>
    symm.signal set %ctx, %flag[%c0], %v, %p group block : memref<8xi64>, i64
    gpu.return
  }

  // A loop that is entered from its own end after a store, and a branch that some pass by.
  // PTX-LABEL: .entry store_in_loop(
  // PTX-COUNT-3: bar.sync
  // PTX: ret;
  // ISA-LABEL: {{^}}store_in_loop:
  // ISA-COUNT-3: s_barrier
  gpu.func @store_in_loop(%ctx: !symm.ctx, %m: memref<64xf32>, %x: f32, %flag: memref<8xi64>, %v: i64, %p: i32,
                          %n: i32) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    symm.signal set %ctx, %flag[%c0], %v, %p group block : memref<8xi64>, i64
    scf.for %r = %zero to %n step %one : i32 {
      symm.signal set %ctx, %flag[%c0], %v, %r group block : memref<8xi64>, i64
      memref.store %x, %m[%c0] : memref<64xf32>
    }
    symm.signal set %ctx, %flag[%c0], %v, %p group block : memref<8xi64>, i64
    gpu.return
  }

  // Threads of a warp are not those of the block; an acquire fence brings together, but releases nothing.
  // PTX-LABEL: .entry other_group(
  // PTX: bar.warp.sync
  // PTX: bar.sync
  // PTX: bar.sync
  // ISA-LABEL: {{^}}other_group:
  // ISA: s_barrier
  // ISA: buffer_inv sc0 sc1
  // ISA: s_barrier
  // ISA: buffer_wbl2 sc1
  // ISA: s_barrier
  gpu.func @other_group(%ctx: !symm.ctx, %flag: memref<8xi64>, %v: i64, %p: i32) kernel {
    %c0 = arith.constant 0 : index
    symm.signal set %ctx, %flag[%c0], %v, %p group warp : memref<8xi64>, i64
    symm.signal set %ctx, %flag[%c0], %v, %p sem relaxed group block : memref<8xi64>, i64
    symm.fence sem acquire group block
    symm.signal set %ctx, %flag[%c0], %v, %p group block : memref<8xi64>, i64
    gpu.return
  }

  // What a branch may have written since the fence has no barrier yet.
  // PTX-LABEL: .entry perhaps_written(
  // PTX: bar.sync
  // PTX: st.global.b64
  // PTX: bar.sync
  // PTX: st.release.sys.global.b64
  // ISA-LABEL: {{^}}perhaps_written:
  // ISA: s_barrier
  // ISA: global_store_dwordx2
  // ISA: s_barrier
  // ISA: global_store_dwordx2 {{.*}} sc0 sc1
  gpu.func @perhaps_written(%ctx: !symm.ctx, %flag: memref<8xi64>, %a: memref<64xi64>, %v: i64, %p: i32, %c: i1) kernel {
    %c0 = arith.constant 0 : index
    %thread = gpu.thread_id x
    symm.fence sem release group block
    scf.if %c {
      memref.store %v, %a[%thread] : memref<64xi64>
    }
    symm.signal set %ctx, %flag[%c0], %v, %p group block : memref<8xi64>, i64
    gpu.return
  }
}
