// RUN: %run-all
// symm.heap_base: a heap begins at a multiple of 2 MiB (T4), and base[r] + (p - base[me]) is rank r's p (T1).

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

    // seen[r] = [what rank r wrote, where its heap begins modulo 2 MiB]
    gpu.func @read(%ctx: !symm.ctx, %data: memref<1xi32>, %seen: memref<?x2xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %page = arith.constant 0x200000 : i64
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %ranks = arith.index_cast %n : i32 to index
      %index = memref.extract_aligned_pointer_as_index %data : memref<1xi32> -> index
      %mine = arith.index_cast %index : index to i64
      %my_base = symm.heap_base %ctx, %me : !llvm.ptr
      %my_start = llvm.ptrtoint %my_base : !llvm.ptr to i64
      %offset = arith.subi %mine, %my_start : i64
      scf.for %i = %c0 to %ranks step %c1 {
        %peer = arith.index_cast %i : index to i32
        %base = symm.heap_base %ctx, %peer : !llvm.ptr
        %theirs = llvm.getelementptr %base[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
        %v = llvm.load %theirs : !llvm.ptr -> i32
        memref.store %v, %seen[%i, %c0] : memref<?x2xi32>
        %start = llvm.ptrtoint %base : !llvm.ptr to i64
        %over = arith.remui %start, %page : i64
        %rest = arith.trunci %over : i64 to i32
        memref.store %rest, %seen[%i, %c1] : memref<?x2xi32>
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %base = arith.constant 1000 : i32
    %n = symm.num_ranks %ctx
    %ranks = arith.index_cast %n : i32 to index
    %data = symm.alloc %ctx : memref<1xi32>
    %seen = symm.alloc %ctx(%ranks) : memref<?x2xi32>
    gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<1xi32>)
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@read blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<1xi32>, %seen : memref<?x2xi32>)

    %got = memref.alloc(%ranks) : memref<?x2xi32>
    gpu.memcpy %got, %seen : memref<?x2xi32>, memref<?x2xi32>
    scf.for %i = %c0 to %ranks step %c1 {
      %rank = arith.index_cast %i : index to i32
      %want = arith.addi %rank, %base : i32
      %v = memref.load %got[%i, %c0] : memref<?x2xi32>
      %same = arith.cmpi eq, %v, %want : i32
      symm.check %same, "rank {} wrote {}, read {}"(%i, %want, %v) : index, i32, i32
      %rest = memref.load %got[%i, %c1] : memref<?x2xi32>
      %aligned = arith.cmpi eq, %rest, %zero : i32
      symm.check %aligned, "T4: the heap of rank {} begins {} bytes past a multiple of 2 MiB"(%i, %rest) : index, i32
    }
    memref.dealloc %got : memref<?x2xi32>
    return
  }
}
