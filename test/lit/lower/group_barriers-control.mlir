// Barriers of copies along loops, branches, blocks and calls: each way to a copy counts.
// RUN: symm-translate %s --to ptx --chip sm_90 -O 0 | FileCheck %s
// RUN: symm-translate %s --to amdgcn --chip gfx942 -O 0 | FileCheck %s --check-prefix=ISA

!line = memref<1024xi32>

gpu.module @kernels {
  // What the end of a loop's body writes, its beginning puts; it is not written before that has been read.
  // CHECK-LABEL: .entry carried(
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       {{^}}$L{{.*}}_1:
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       call.uni _symm_copy
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       st.b32
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bra.uni
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       ret;
  // ISA-LABEL:   {{^}}carried:
  // ISA-COUNT-2: s_barrier
  // ISA-NOT:     s_barrier
  // ISA:         s_endpgm
  gpu.func @carried(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %n: index, %x: i32, %p: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %k = %c0 to %n step %c1 {
      symm.put %ctx, %a, %b, %p group block : !line, !line
      memref.store %x, %a[%i] : !line
    }
    gpu.return
  }

  // Only what lies around the loop needs the barriers, which stand there.
  // CHECK-LABEL: .entry every_rank(
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       st.b32
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       {{^}}$L{{.*}}_1:
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       call.uni _symm_copy
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       {{^}}$L{{.*}}_5:
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       st.b32
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       ret;
  // ISA-LABEL:   {{^}}every_rank:
  // ISA-COUNT-2: s_barrier
  // ISA-NOT:     s_barrier
  // ISA:         s_endpgm
  gpu.func @every_rank(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %x: i32) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    memref.store %x, %a[%i] : !line
    scf.for %p = %zero to %n step %one : i32 {
      %other = arith.cmpi ne, %p, %me : i32
      scf.if %other {
        symm.put %ctx, %a, %b, %p group block : !line, !line
      }
    }
    memref.store %x, %a[%i] : !line
    gpu.return
  }

  // From the second time on, the signal has brought the block together.
  // CHECK-LABEL: .entry told(
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       {{^}}$L{{.*}}_1:
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       call.uni _symm_copy
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       st.release.sys
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       {{^}}$L{{.*}}_5:
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       st.b32
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       ret;
  // ISA-LABEL:   {{^}}told:
  // ISA-COUNT-2: s_barrier
  // ISA-NOT:     s_barrier
  // ISA:         s_endpgm
  gpu.func @told(%ctx: !symm.ctx, %a: !line, %b: !line, %flag: memref<1xi64>, %i: index, %v: i64, %x: i32) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %n = symm.num_ranks %ctx
    memref.store %x, %a[%i] : !line
    scf.for %p = %zero to %n step %one : i32 {
      symm.put %ctx, %a, %b, %p group block : !line, !line
      symm.signal set %ctx, %flag[%c0], %v, %p group block : memref<1xi64>, i64
    }
    memref.store %x, %a[%i] : !line
    gpu.return
  }

  // It is not known that all threads get to the loop together: what is read may differ.
  // CHECK-LABEL: .entry perhaps(
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       {{^}}$L{{.*}}_2:
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       call.uni _symm_copy
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bra.uni
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       ret;
  // ISA-LABEL:   {{^}}perhaps:
  // ISA-COUNT-1: s_barrier
  // ISA-NOT:     s_barrier
  // ISA:         s_endpgm
  gpu.func @perhaps(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %x: i32, %bound: memref<1xi32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %n = memref.load %bound[%c0] : memref<1xi32>
    %some = arith.cmpi ne, %n, %zero : i32
    scf.if %some {
      scf.for %p = %zero to %n step %one : i32 {
        symm.put %ctx, %a, %b, %p group block : !line, !line
      }
    }
    gpu.return
  }

  // Written by some threads.
  // CHECK-LABEL: .entry branch(
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       st.b32
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       {{^}}$L{{.*}}_2:
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       call.uni _symm_copy
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       ret;
  // ISA-LABEL:   {{^}}branch:
  // ISA-COUNT-1: s_barrier
  // ISA-NOT:     s_barrier
  // ISA:         s_endpgm
  gpu.func @branch(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %x: i32, %p: i32) kernel {
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    %few = arith.cmpi ult, %t, %c16 : index
    scf.if %few {
      memref.store %x, %a[%i] : !line
    }
    symm.put %ctx, %a, %b, %p group block : !line, !line
    gpu.return
  }

  // A barrier that may be passed by does not count.
  // CHECK-LABEL: .entry one_arm(
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       st.b32
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       {{^}}$L{{.*}}_2:
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       call.uni _symm_copy
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       ret;
  // ISA-LABEL:   {{^}}one_arm:
  // ISA-COUNT-2: s_barrier
  // ISA-NOT:     s_barrier
  // ISA:         s_endpgm
  gpu.func @one_arm(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %x: i32, %p: i32, %c: i1) kernel {
    memref.store %x, %a[%i] : !line
    scf.if %c {
      gpu.barrier
    }
    symm.put %ctx, %a, %b, %p group block : !line, !line
    gpu.return
  }

  // All get there together, and read what it has fetched after that.
  // CHECK-LABEL: .entry get_in_arm(
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       call.uni _symm_copy
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       {{^}}$L{{.*}}_2:
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       ld.b32
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       ret;
  // ISA-LABEL:   {{^}}get_in_arm:
  // ISA-COUNT-1: s_barrier
  // ISA-NOT:     s_barrier
  // ISA:         s_endpgm
  gpu.func @get_in_arm(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %p: i32, %c: i1, %out: memref<1xi32>) kernel {
    %c0 = arith.constant 0 : index
    scf.if %c {
      symm.get %ctx, %a, %b, %p group block : !line, !line
    }
    %x = memref.load %b[%i] : !line
    memref.store %x, %out[%c0] : memref<1xi32>
    gpu.return
  }

  // The same as the first, by branches.
  // CHECK-LABEL: .entry blocks(
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       {{^}}$L{{.*}}_1:
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       call.uni _symm_copy
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       @%p
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       st.b32
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bra.uni
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       ret;
  // ISA-LABEL:   {{^}}blocks:
  // ISA-COUNT-2: s_barrier
  // ISA-NOT:     s_barrier
  // ISA:         s_endpgm
  gpu.func @blocks(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %x: i32, %p: i32, %c: i1) kernel {
    cf.br ^head(%x : i32)
  ^head(%k: i32):
    symm.put %ctx, %a, %b, %p group block : !line, !line
    cf.cond_br %c, ^body, ^exit
  ^body:
    memref.store %k, %a[%i] : !line
    cf.br ^head(%k : i32)
  ^exit:
    gpu.return
  }

  // A function may be called after a write and before one.
  // CHECK-LABEL: .func from_anywhere(
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       call.uni _symm_copy
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       ret;
  func.func private @from_anywhere(%ctx: !symm.ctx, %a: !line, %b: !line, %p: i32) {
    symm.put %ctx, %a, %b, %p group block : !line, !line
    return
  }

  func.func private @pure(%i: index) -> index {
    %twice = arith.addi %i, %i : index
    return %twice : index
  }

  func.func private @writes(%a: !line, %i: index, %x: i32) {
    memref.store %x, %a[%i] : !line
    return
  }

  // A function that touches no memory.
  // CHECK-LABEL: .entry calls_pure(
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       call.uni (retval0), pure
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       call.uni _symm_copy
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       ret;
  // ISA-LABEL:   {{^}}calls_pure:
  // ISA-NOT:     s_barrier
  // ISA:         s_endpgm
  gpu.func @calls_pure(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %out: memref<?xi32>, %p: i32) kernel {
    %j = func.call @pure(%i) : (index) -> index
    %from = memref.subview %a[%j] [4] [1] : !line to memref<4xi32, strided<[1], offset: ?>>
    %to = memref.subview %b[%j] [4] [1] : !line to memref<4xi32, strided<[1], offset: ?>>
    symm.put %ctx, %from, %to, %p group block
      : memref<4xi32, strided<[1], offset: ?>>, memref<4xi32, strided<[1], offset: ?>>
    gpu.return
  }

  // One that does, and one that is not known to write nothing before it reads.
  // CHECK-LABEL: .entry calls_writer(
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       call.uni writes
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       call.uni _symm_copy
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       call.uni from_anywhere
  // CHECK-NOT:   {{bar\.|call\.uni _symm}}
  // CHECK:       ret;
  // ISA-LABEL:   {{^}}calls_writer:
  // ISA-COUNT-2: s_barrier
  // ISA-NOT:     s_barrier
  // ISA:         s_endpgm
  gpu.func @calls_writer(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %x: i32, %p: i32) kernel {
    func.call @writes(%a, %i, %x) : (!line, index, i32) -> ()
    symm.put %ctx, %a, %b, %p group block : !line, !line
    func.call @from_anywhere(%ctx, %a, %b, %p) : (!symm.ctx, !line, !line, i32) -> ()
    gpu.return
  }

  // The barrier after a loop of waits is one for the put.
  // CHECK-LABEL: .entry gathered(
  // CHECK:       ld.acquire.sys
  // CHECK:       bar.sync
  // CHECK-NOT:   bar.
  // CHECK:       call.uni _symm_copy
  // CHECK:       bar.sync
  // CHECK-NOT:   bar.
  // CHECK:       ret;
  // ISA-LABEL:   {{^}}gathered:
  // ISA-COUNT-2: s_barrier
  // ISA-NOT:     s_barrier
  // ISA:         s_endpgm
  gpu.func @gathered(%ctx: !symm.ctx, %a: !line, %b: !line, %f: memref<8xi64>, %i: index, %n: index, %x: i32, %v: i64,
                     %p: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %k = %c0 to %n step %c1 {
      scf.for %r = %c0 to %n step %c1 {
        symm.wait %ctx, %f[%r] ge %v group block : memref<8xi64>, i64
      }
      symm.put %ctx, %a, %b, %p group block : !line, !line
      memref.store %x, %a[%i] : !line
    }
    gpu.return
  }

  // What calls itself is not looked through.
  func.func private @even(%a: !line, %i: index, %x: i32) {
    func.call @odd(%a, %i, %x) : (!line, index, i32) -> ()
    return
  }
  func.func private @odd(%a: !line, %i: index, %x: i32) {
    func.call @even(%a, %i, %x) : (!line, index, i32) -> ()
    return
  }
  // CHECK-LABEL: .entry calls_itself(
  // CHECK:       call.uni even
  // CHECK:       bar.sync
  // CHECK:       call.uni _symm_copy
  // CHECK-NOT:   bar.
  // CHECK:       ret;
  gpu.func @calls_itself(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %x: i32, %p: i32) kernel {
    func.call @even(%a, %i, %x) : (!line, index, i32) -> ()
    symm.put %ctx, %a, %b, %p group block : !line, !line
    gpu.return
  }

  // Gets from every rank: what they read over is read before the loop, and what they fetch after it.
  // CHECK-LABEL: .entry from_all(
  // CHECK:       ld.b32
  // CHECK:       bar.sync
  // CHECK:       {{^}}$L{{.*}}_1:
  // CHECK-NOT:   bar.
  // CHECK:       call.uni _symm_copy
  // CHECK-NOT:   bar.
  // CHECK:       {{^}}$L{{.*}}_3:
  // CHECK:       bar.sync
  // CHECK-NOT:   bar.
  // CHECK:       ret;
  // ISA-LABEL:   {{^}}from_all:
  // ISA-COUNT-2: s_barrier
  // ISA-NOT:     s_barrier
  // ISA:         s_endpgm
  gpu.func @from_all(%ctx: !symm.ctx, %a: !line, %b: memref<8x1024xi32>, %i: index, %out: memref<1xi32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %n = symm.num_ranks %ctx
    %before = memref.load %b[%c0, %i] : memref<8x1024xi32>
    scf.for %p = %zero to %n step %one : i32 {
      %row = arith.index_cast %p : i32 to index
      %to = memref.subview %b[%row, 0] [1, 1024] [1, 1]
        : memref<8x1024xi32> to memref<1024xi32, strided<[1], offset: ?>>
      %from = memref.cast %a : !line to memref<1024xi32, strided<[1], offset: ?>>
      symm.get %ctx, %from, %to, %p group block
        : memref<1024xi32, strided<[1], offset: ?>>, memref<1024xi32, strided<[1], offset: ?>>
    }
    %after = memref.load %b[%c0, %i] : memref<8x1024xi32>
    %sum = arith.addi %before, %after : i32
    memref.store %sum, %out[%c0] : memref<1xi32>
    gpu.return
  }

  // The barrier of a warp at a loop is none of the block, which has its own before its copy.
  // CHECK-LABEL: .entry warps_then_block(
  // CHECK-NOT:   bar.sync
  // CHECK:       call.uni _symm_copy_4x8
  // CHECK:       bar.warp.sync
  // CHECK:       bar.sync
  // CHECK:       call.uni _symm_copy_4x4
  // CHECK:       ret;
  gpu.func @warps_then_block(%ctx: !symm.ctx, %a: !line, %b: !line) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %n = symm.num_ranks %ctx
    scf.for %p = %zero to %n step %one : i32 {
      symm.get %ctx, %a, %b, %p group warp : !line, !line
    }
    symm.put %ctx, %b, %a, %one group block : !line, !line
    gpu.return
  }

  // A loop whose order is open is one, too.
  // CHECK-LABEL: .entry parallel(
  // CHECK-COUNT-2: bar.sync
  // CHECK-NOT:   bar.sync
  // CHECK:       ret;
  gpu.func @parallel(%ctx: !symm.ctx, %a: !line, %b: !line, %i: index, %x: i32, %p: i32) kernel {
    affine.parallel (%k) = (0) to (4) {
      symm.put %ctx, %a, %b, %p group block : !line, !line
      memref.store %x, %a[%i] : !line
    }
    gpu.return
  }
}
