// RUN: %run-all
// symm.heap_delta: base[r] - base[me], 0 for me, usable with `via`; that of a rank out of range is no fault.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @write(%ctx: !symm.ctx, %data: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %base = arith.constant 1000 : i32
      %me = symm.rank %ctx
      %v = arith.addi %me, %base : i32
      memref.store %v, %data[%c0] : memref<1xi32>
      gpu.return
    }

    // seen[r] = [what rank r wrote, delta - (base[r] - base[me])]; the last is for a rank that does not exist.
    gpu.func @read(%ctx: !symm.ctx, %data: memref<1xi32>, %seen: memref<?x2xi64>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %ranks = arith.index_cast %n : i32 to index
      %my_base = symm.heap_base %ctx, %me : !llvm.ptr
      %my_start = llvm.ptrtoint %my_base : !llvm.ptr to i64
      scf.for %i = %c0 to %ranks step %c1 {
        %peer = arith.index_cast %i : index to i32
        %delta = symm.heap_delta %ctx, %peer
        %v = symm.remote_load %ctx, %data[%c0], %peer via %delta : memref<1xi32> -> i32
        %wide = arith.extsi %v : i32 to i64
        memref.store %wide, %seen[%i, %c0] : memref<?x2xi64>
        %base = symm.heap_base %ctx, %peer : !llvm.ptr
        %start = llvm.ptrtoint %base : !llvm.ptr to i64
        %distance = arith.subi %start, %my_start : i64
        %error = arith.subi %delta, %distance : i64
        memref.store %error, %seen[%i, %c1] : memref<?x2xi64>
      }
      %unmapped = symm.heap_delta %ctx, %n
      memref.store %unmapped, %seen[%ranks, %c0] : memref<?x2xi64>
      %zero_delta = symm.heap_delta %ctx, %me
      memref.store %zero_delta, %seen[%ranks, %c1] : memref<?x2xi64>
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i64
    %base = arith.constant 1000 : i64
    %n = symm.num_ranks %ctx
    %ranks = arith.index_cast %n : i32 to index
    %rows = arith.addi %ranks, %c1 : index
    %data = symm.alloc %ctx : memref<1xi32>
    %seen = symm.alloc %ctx(%rows) : memref<?x2xi64>
    gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<1xi32>)
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@read blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<1xi32>, %seen : memref<?x2xi64>)

    %got = memref.alloc(%rows) : memref<?x2xi64>
    gpu.memcpy %got, %seen : memref<?x2xi64>, memref<?x2xi64>
    scf.for %i = %c0 to %ranks step %c1 {
      %rank = arith.index_cast %i : index to i64
      %want = arith.addi %rank, %base : i64
      %v = memref.load %got[%i, %c0] : memref<?x2xi64>
      %same = arith.cmpi eq, %v, %want : i64
      symm.check %same, "rank {} wrote {}, read {}"(%i, %want, %v) : index, i64, i64
      %error = memref.load %got[%i, %c1] : memref<?x2xi64>
      %exact = arith.cmpi eq, %error, %zero : i64
      symm.check %exact, "the delta of rank {} is {} bytes off"(%i, %error) : index, i64
    }
    %unmapped = memref.load %got[%ranks, %c0] : memref<?x2xi64>
    // No heap, and nothing else that a process has mapped, is 2^47 bytes away.
    %most = arith.constant 0x800000000000 : i64
    %far = arith.cmpi sge, %unmapped, %most : i64
    symm.check %far, "a rank out of range has the delta {}, which may lead to memory"(%unmapped) : i64
    %mine = memref.load %got[%ranks, %c1] : memref<?x2xi64>
    %none = arith.cmpi eq, %mine, %zero : i64
    symm.check %none, "T2: this rank's delta is {}"(%mine) : i64
    memref.dealloc %got : memref<?x2xi64>
    return
  }
}
