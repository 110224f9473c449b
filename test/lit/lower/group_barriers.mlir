// A group's copy begins after what each of its threads has done, and a get or a copy ends before what each of them does
// next (O3): by barriers of its own, where there is none already.
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s --check-prefix=PTX
// RUN: symm-translate %s --to amdgcn --chip gfx942 | FileCheck %s --check-prefix=ISA

!line = memref<1024xi32>

gpu.module @kernels {
  // Each thread writes its element, then the block puts all of them.
  // PTX-LABEL: .entry put(
  // PTX:       st.global.b32
  // PTX-NOT:   {{ld\.global\.v4|st\.global}}
  // PTX:       bar.sync
  // PTX:       ld.global.v4.b32
  // PTX-NOT:   bar.
  // PTX:       ret;
  // ISA-LABEL: {{^}}put:
  // ISA:       global_store_dword
  // ISA-NOT:   global_load_dwordx4
  // ISA:       s_barrier
  // ISA:       global_load_dwordx4
  // ISA-NOT:   s_barrier
  // ISA:       s_endpgm
  gpu.func @put(%ctx: !symm.ctx, %a: !line, %b: !line, %x: i32, %p: i32) kernel {
    %t = gpu.thread_id x
    memref.store %x, %a[%t] : !line
    symm.put %ctx, %a, %b, %p group block : !line, !line
    gpu.return
  }

  // What the threads of a block have written to its shared memory is copied as well.
  // PTX-LABEL: .entry shared_source(
  // PTX:       st.shared.b32
  // PTX-NOT:   {{ld\.shared|st\.global}}
  // PTX:       bar.sync
  // PTX:       ld.shared.v4.b32
  // PTX-NOT:   bar.
  // PTX:       ret;
  // ISA-LABEL: {{^}}shared_source:
  // ISA:       ds_write_b32
  // ISA-NOT:   {{ds_read|flat_load|global_store}}
  // ISA:       s_barrier
  // ISA:       ds_read_b128
  // ISA-NOT:   s_barrier
  // ISA:       s_endpgm
  gpu.func @shared_source(%ctx: !symm.ctx, %b: !line, %x: i32, %p: i32)
      workgroup(%a: memref<1024xi32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    memref.store %x, %a[%t] : memref<1024xi32, #gpu.address_space<workgroup>>
    symm.put %ctx, %a, %b, %p group block : memref<1024xi32, #gpu.address_space<workgroup>>, !line
    gpu.return
  }

  // PTX-LABEL: .entry shared_count(
  // PTX:       atom{{.*}}.shared
  // PTX-NOT:   {{ld\.shared|st\.global}}
  // PTX:       bar.sync
  // PTX:       ld.shared.v4.b32
  // PTX:       ret;
  // ISA-LABEL: {{^}}shared_count:
  // ISA:       ds_add
  // ISA-NOT:   {{ds_read|flat_load|global_store}}
  // ISA:       s_barrier
  // ISA:       ds_read_b128
  // ISA:       s_endpgm
  gpu.func @shared_count(%ctx: !symm.ctx, %b: !line, %x: i32, %p: i32)
      workgroup(%a: memref<1024xi32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %0 = memref.atomic_rmw addi %x, %a[%t] : (i32, memref<1024xi32, #gpu.address_space<workgroup>>) -> i32
    symm.put %ctx, %a, %b, %p group block : memref<1024xi32, #gpu.address_space<workgroup>>, !line
    gpu.return
  }

  // The same through pointers, of a warp, which on AMD runs in step: there only the compiler keeps the order.
  // PTX-LABEL: .entry put_warp(
  // PTX:       st.global.b32
  // PTX-NOT:   {{ld\.global\.v4|st\.global}}
  // PTX:       bar.warp.sync
  // PTX:       ld.global.v4.b32
  // PTX-NOT:   bar.
  // PTX:       ret;
  // ISA-LABEL: {{^}}put_warp:
  // ISA:       global_store_dword
  // ISA:       global_load_dwordx4
  // ISA:       s_endpgm
  gpu.func @put_warp(%ctx: !symm.ctx, %a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %n: i64, %x: i32, %p: i32) kernel {
    %t = gpu.thread_id x
    %i = arith.index_cast %t : index to i64
    %at = llvm.getelementptr %a[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %x, %at : i32, !llvm.ptr<1>
    symm.put %ctx, %a, %b, %p count %n : i64 of i32 group warp : !llvm.ptr<1>, !llvm.ptr<1>
    gpu.return
  }

  // What another thread has fetched is read by all; what they have read before may be overwritten.
  // PTX-LABEL: .entry get(
  // PTX:       ld.global.b32
  // PTX-NOT:   ld.global.v4
  // PTX:       bar.sync
  // PTX:       ld.global.v4.b32
  // PTX:       bar.sync
  // PTX-NOT:   bar.
  // PTX:       ld.global.b32
  // PTX-NOT:   bar.
  // PTX:       ret;
  // ISA-LABEL: {{^}}get:
  // ISA:       s_barrier
  // ISA:       global_load_dwordx4
  // ISA:       s_barrier
  // ISA-NOT:   s_barrier
  // ISA:       s_endpgm
  gpu.func @get(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %out: memref<1xi32>, %p: i32) kernel {
    %c0 = arith.constant 0 : index
    %before = memref.load %b[%i] : !line
    symm.get %ctx, %a, %b, %p group block : !line, !line
    %after = memref.load %b[%i] : !line
    %sum = arith.addi %before, %after : i32
    memref.store %sum, %out[%c0] : memref<1xi32>
    gpu.return
  }

  // A copy may be into the memory of this rank.
  // PTX-LABEL: .entry copy(
  // PTX:       st.global.b32
  // PTX:       bar.warp.sync
  // PTX:       ld.global.v4.b32
  // PTX:       bar.warp.sync
  // PTX:       ld.global.b32
  // PTX-NOT:   bar.
  // PTX:       ret;
  gpu.func @copy(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %x: i32, %out: memref<1xi32>, %p: i32, %q: i32)
      kernel {
    %c0 = arith.constant 0 : index
    memref.store %x, %a[%i] : !line
    symm.copy %ctx, %a at %p, %b at %q group warp : !line, !line
    %after = memref.load %b[%i] : !line
    memref.store %after, %out[%c0] : memref<1xi32>
    gpu.return
  }

  // A thread by itself is in order with itself.
  // PTX-LABEL: .entry alone(
  // PTX-NOT:   bar.
  // PTX:       ret;
  // ISA-LABEL: {{^}}alone:
  // ISA-NOT:   barrier
  // ISA:       s_endpgm
  gpu.func @alone(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %x: i32, %p: i32) kernel {
    memref.store %x, %a[%i] : !line
    symm.put %ctx, %a, %b, %p : !line, !line
    memref.store %x, %a[%i] : !line
    gpu.return
  }

  // Nothing comes before the first op of a kernel, and nothing after the last.
  // PTX-LABEL: .entry only(
  // PTX-NOT:   bar.
  // PTX:       ret;
  // ISA-LABEL: {{^}}only:
  // ISA-NOT:   barrier
  // ISA:       s_endpgm
  gpu.func @only(%ctx: !symm.ctx, %a: !line, %b: !line, %p: i32) kernel {
    %n = symm.num_ranks %ctx
    %next = arith.addi %p, %n : i32
    symm.get %ctx, %a, %b, %next group block : !line, !line
    gpu.return
  }

  // Puts that follow each other begin together; the last one's source is overwritten after the block has met.
  // PTX-LABEL: .entry puts(
  // PTX:       st.global.b32
  // PTX:       bar.sync
  // PTX-NOT:   bar.
  // PTX:       st.global.v4.b32
  // PTX:       bar.sync
  // PTX:       st.global.b32
  // PTX-NOT:   bar.
  // PTX:       ret;
  // ISA-LABEL: {{^}}puts:
  // ISA-COUNT-2: s_barrier
  // ISA-NOT:   s_barrier
  // ISA:       s_endpgm
  gpu.func @puts(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %x: i32, %p: i32, %q: i32) kernel {
    memref.store %x, %a[%i] : !line
    symm.put %ctx, %a, %b, %p group block : !line, !line
    symm.put %ctx, %a, %b, %q group block : !line, !line
    memref.store %x, %a[%i] : !line
    gpu.return
  }

  // Reads after a put: its source is still what it was.
  // PTX-LABEL: .entry put_read(
  // PTX-NOT:   bar.
  // PTX:       bar.sync
  // PTX-NOT:   bar.
  // PTX:       ret;
  gpu.func @put_read(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %p: i32) kernel {
    symm.put %ctx, %a, %b, %p group block : !line, !line
    %x = memref.load %a[%i] : !line
    gpu.barrier
    memref.store %x, %a[%i] : !line
    gpu.return
  }

  // A barrier of the program's, a wait or a barrier of all ranks is one already.
  // PTX-LABEL: .entry there(
  // PTX:       bar.sync
  // PTX:       ld.global.v4.b32
  // PTX-NOT:   bar.
  // PTX:       ld.acquire.sys
  // PTX:       bar.sync
  // PTX-NOT:   bar.
  // PTX:       ld.global.v4.b32
  // PTX:       bar.sync
  // PTX:       st.relaxed.sys
  // PTX:       bar.sync
  // PTX-NOT:   bar.
  // PTX:       ret;
  gpu.func @there(%ctx: !symm.ctx, %a: !line, %b: !line, %flag: memref<2xi64>, %i: index, %x: i32, %v: i64, %p: i32)
      kernel {
    %c0 = arith.constant 0 : index
    memref.store %x, %a[%i] : !line
    gpu.barrier
    symm.put %ctx, %a, %b, %p group block : !line, !line
    symm.wait %ctx, %flag[%c0] ge %v group block : memref<2xi64>, i64
    symm.put %ctx, %a, %b, %p group block : !line, !line
    symm.barrier %ctx group block
    symm.put %ctx, %b, %a, %p group block : !line, !line
    gpu.return
  }

  // A signal of the group comes after a barrier: it serves the get before it and the put after it.
  // PTX-LABEL: .entry signals(
  // PTX:       ld.global.v4.b32
  // PTX-NOT:   bar.
  // PTX:       bar.sync
  // PTX-NOT:   bar.
  // PTX:       st.release.sys
  // PTX:       ld.global.v4.b32
  // PTX-NOT:   bar.
  // PTX:       bar.sync
  // PTX-NOT:   bar.
  // PTX:       st.release.sys
  // PTX-NOT:   bar.
  // PTX:       ld.global.v4.b32
  // PTX:       bar.sync
  // PTX-NOT:   bar.
  // PTX:       st.release.sys
  // PTX-NOT:   bar.
  // PTX:       ret;
  gpu.func @signals(%ctx: !symm.ctx, %a: !line, %b: !line, %flag: memref<2xi64>, %v: i64, %p: i32) kernel {
    %c0 = arith.constant 0 : index
    symm.get %ctx, %a, %b, %p group block : !line, !line
    symm.signal set %ctx, %flag[%c0], %v, %p group block : memref<2xi64>, i64
    symm.put_signal set %ctx, %b, %a, %flag[%c0], %v, %p group block : !line, !line, memref<2xi64>, i64
    symm.put_signal set %ctx, %b, %a, %flag[%c0], %v, %p group block : !line, !line, memref<2xi64>, i64
    gpu.return
  }

  // put_signal begins together too.
  // PTX-LABEL: .entry put_signal(
  // PTX:       st.global.b32
  // PTX:       bar.sync
  // PTX:       ld.global.v4.b32
  // PTX:       bar.sync
  // PTX:       st.release.sys
  // PTX-NOT:   bar.
  // PTX:       ret;
  // ISA-LABEL: {{^}}put_signal:
  // ISA:       global_store_dword
  // ISA:       s_barrier
  // ISA:       global_load_dwordx4
  // ISA:       buffer_wbl2 sc1
  // ISA:       s_barrier
  // ISA:       buffer_wbl2 sc0 sc1
  // ISA-NOT:   s_barrier
  // ISA:       s_endpgm
  gpu.func @put_signal(%ctx: !symm.ctx, %a: !line, %b: !line, %flag: memref<2xi64>, %i: index, %x: i32, %v: i64,
                       %p: i32) kernel {
    %c0 = arith.constant 0 : index
    memref.store %x, %a[%i] : !line
    symm.put_signal set %ctx, %a, %b, %flag[%c0], %v, %p group block : !line, !line, memref<2xi64>, i64
    gpu.return
  }

  // What a get has fetched, a put hands on: one barrier between them.
  // PTX-LABEL: .entry forward(
  // PTX:       ld.global.v4.b32
  // PTX:       bar.sync
  // PTX-NOT:   bar.
  // PTX:       ret;
  // ISA-LABEL: {{^}}forward:
  // ISA:       s_barrier
  // ISA-NOT:   s_barrier
  // ISA:       s_endpgm
  gpu.func @forward(%ctx: !symm.ctx, %a: !line, %b: !line, %p: i32, %q: i32) kernel {
    symm.get %ctx, %a, %b, %p group block : !line, !line
    symm.put %ctx, %b, %a, %q group block : !line, !line
    gpu.return
  }

  // And between a put and a get, which may be into the put's source.
  // PTX-LABEL: .entry refill(
  // PTX:       ld.global.v4.b32
  // PTX:       bar.sync
  // PTX-NOT:   bar.
  // PTX:       ret;
  // ISA-LABEL: {{^}}refill:
  // ISA:       s_barrier
  // ISA-NOT:   s_barrier
  // ISA:       s_endpgm
  gpu.func @refill(%ctx: !symm.ctx, %a: !line, %b: !line, %p: i32, %q: i32) kernel {
    symm.put %ctx, %a, %b, %q group block : !line, !line
    symm.get %ctx, %b, %a, %p group block : !line, !line
    gpu.return
  }

  // Warps that are together are not yet a block; a block that is together is so warp by warp.
  // PTX-LABEL: .entry groups(
  // PTX:       bar.warp.sync
  // PTX:       bar.sync
  // PTX-NOT:   bar.
  // PTX:       ret;
  gpu.func @groups(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %x: i32, %p: i32) kernel {
    memref.store %x, %a[%i] : !line
    symm.put %ctx, %a, %b, %p group warp : !line, !line
    symm.get %ctx, %b, %a, %p group block : !line, !line
    gpu.return
  }

  // PTX-LABEL: .entry block_then_warp(
  // PTX:       bar.sync
  // PTX-NOT:   bar.
  // PTX:       ret;
  gpu.func @block_then_warp(%ctx: !symm.ctx, %a: !line, %b: !line, %p: i32) kernel {
    symm.get %ctx, %a, %b, %p group block : !line, !line
    symm.put %ctx, %b, %a, %p group warp : !line, !line
    gpu.return
  }

  // Gets that follow each other end together; a copy may read what the one before it has written.
  // PTX-LABEL: .entry gets(
  // PTX-NOT:   bar.
  // PTX:       ld.global.v4.b32
  // PTX:       bar.sync
  // PTX-NOT:   bar.
  // PTX:       ret;
  // ISA-LABEL: {{^}}gets:
  // ISA:       s_barrier
  // ISA-NOT:   s_barrier
  // ISA:       s_endpgm
  gpu.func @gets(%ctx: !symm.ctx, %a: !line, %b: !line, %c: !line, %i: index, %out: memref<1xi32>, %p: i32, %q: i32)
      kernel {
    %c0 = arith.constant 0 : index
    symm.get %ctx, %a, %b, %p group block : !line, !line
    symm.get %ctx, %a, %c, %q group block : !line, !line
    %x = memref.load %b[%i] : !line
    memref.store %x, %out[%c0] : memref<1xi32>
    gpu.return
  }

  // PTX-LABEL: .entry copies(
  // PTX:       ld.global.v4.b32
  // PTX:       bar.sync
  // PTX-NOT:   bar.
  // PTX:       ret;
  // ISA-LABEL: {{^}}copies:
  // ISA:       s_barrier
  // ISA-NOT:   s_barrier
  // ISA:       s_endpgm
  gpu.func @copies(%ctx: !symm.ctx, %a: !line, %b: !line, %c: !line, %p: i32, %q: i32) kernel {
    symm.copy %ctx, %a at %p, %b at %q group block : !line, !line
    symm.copy %ctx, %b at %q, %c at %p group block : !line, !line
    gpu.return
  }
}
