// RUN: %run-all
// symm.alloc: zeroed, aligned as asked, at the same offset on every rank, of static and dynamic sizes and every element
// width, and never over what is already there.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Every byte of a buffer is set to its number; the caller passes buffers as bytes.
    gpu.func @fill(%ctx: !symm.ctx, %bytes: memref<?xi8>, %value: i8) kernel {
      %c0 = arith.constant 0 : index
      %size = memref.dim %bytes, %c0 : memref<?xi8>
      %first = gpu.global_id x
      %blocks = gpu.grid_dim x
      %threads = gpu.block_dim x
      %all = arith.muli %blocks, %threads : index
      scf.for %i = %first to %size step %all {
        memref.store %value, %bytes[%i] : memref<?xi8>
      }
      gpu.return
    }

    // facts = [address modulo alignment, offset of the buffer in this rank's heap], on every rank: facts[rank].
    gpu.func @place(%ctx: !symm.ctx, %bytes: memref<?xi8>, %align: i64, %facts: memref<?x2xi64>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %rank = arith.index_cast %me : i32 to index
      %index = memref.extract_aligned_pointer_as_index %bytes : memref<?xi8> -> index
      %address = arith.index_cast %index : index to i64
      %rest = arith.remui %address, %align : i64
      %base = symm.heap_base %ctx, %me : !llvm.ptr
      %start = llvm.ptrtoint %base : !llvm.ptr to i64
      %offset = arith.subi %address, %start : i64
      scf.for %peer = %zero to %n step %one : i32 {
        symm.remote_store %ctx, %facts[%rank, %c0], %rest, %peer : memref<?x2xi64>, i64
        symm.remote_store %ctx, %facts[%rank, %c1], %offset, %peer : memref<?x2xi64>, i64
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c8 = arith.constant 8 : index
    %c100 = arith.constant 100 : index
    %n = symm.num_ranks %ctx
    %ranks = arith.index_cast %n : i32 to index
    %facts = symm.alloc %ctx(%ranks) : memref<?x2xi64>

    // Sizes that would move what comes next off its alignment.
    %a = symm.alloc %ctx : memref<1xi8>
    %b = symm.alloc %ctx(%c100) align 4096 : memref<?xi8>
    %c = symm.alloc %ctx align 1 : memref<100xi8>
    %d = symm.alloc %ctx(%c3, %c5) : memref<?x?xi64>
    %e = symm.alloc %ctx : memref<3x5xf16>
    %f = symm.alloc %ctx(%c100) align 65536 : memref<?xi8>

    %a_bytes = memref.cast %a : memref<1xi8> to memref<?xi8>
    %c_bytes = memref.cast %c : memref<100xi8> to memref<?xi8>
    %align_a = arith.constant 256 : i64
    %align_b = arith.constant 4096 : i64
    %align_c = arith.constant 1 : i64
    %align_f = arith.constant 65536 : i64
    func.call @check_place(%ctx, %a_bytes, %align_a, %facts) : (!symm.ctx, memref<?xi8>, i64, memref<?x2xi64>) -> ()
    func.call @check_place(%ctx, %b, %align_b, %facts) : (!symm.ctx, memref<?xi8>, i64, memref<?x2xi64>) -> ()
    func.call @check_place(%ctx, %c_bytes, %align_c, %facts) : (!symm.ctx, memref<?xi8>, i64, memref<?x2xi64>) -> ()
    func.call @check_place(%ctx, %f, %align_f, %facts) : (!symm.ctx, memref<?xi8>, i64, memref<?x2xi64>) -> ()

    // New memory is zero; b, filled, stays in its place.
    %minus_one = arith.constant -1 : i8
    gpu.launch_func @kernels::@fill blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1)
      args(%ctx : !symm.ctx, %b : memref<?xi8>, %minus_one : i8)
    %zero8 = arith.constant 0 : i8
    func.call @check_bytes(%b, %minus_one) : (memref<?xi8>, i8) -> ()
    func.call @check_bytes(%c_bytes, %zero8) : (memref<?xi8>, i8) -> ()
    func.call @check_bytes(%a_bytes, %zero8) : (memref<?xi8>, i8) -> ()
    func.call @check_bytes(%f, %zero8) : (memref<?xi8>, i8) -> ()

    %host_d = memref.alloc(%c3, %c5) : memref<?x?xi64>
    %host_e = memref.alloc() : memref<3x5xf16>
    gpu.memcpy %host_d, %d : memref<?x?xi64>, memref<?x?xi64>
    gpu.memcpy %host_e, %e : memref<3x5xf16>, memref<3x5xf16>
    %zero64 = arith.constant 0 : i64
    %zero16 = arith.constant 0.0 : f16
    scf.for %i = %c0 to %c3 step %c1 {
      scf.for %j = %c0 to %c5 step %c1 {
        %v = memref.load %host_d[%i, %j] : memref<?x?xi64>
        %d_zero = arith.cmpi eq, %v, %zero64 : i64
        symm.check %d_zero, "element ({}, {}) of d is {}"(%i, %j, %v) : index, index, i64
        %w = memref.load %host_e[%i, %j] : memref<3x5xf16>
        %e_zero = arith.cmpf oeq, %w, %zero16 : f16
        symm.check %e_zero, "element ({}, {}) of e is {}"(%i, %j, %w) : index, index, f16
      }
    }
    memref.dealloc %host_d : memref<?x?xi64>
    memref.dealloc %host_e : memref<3x5xf16>
    return
  }

  func.func private @check_place(%ctx: !symm.ctx, %bytes: memref<?xi8>, %align: i64, %facts: memref<?x2xi64>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i64
    gpu.launch_func @kernels::@place blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %bytes : memref<?xi8>, %align : i64, %facts : memref<?x2xi64>)
    symm.barrier_all %ctx
    %ranks = memref.dim %facts, %c0 : memref<?x2xi64>
    %got = memref.alloc(%ranks) : memref<?x2xi64>
    gpu.memcpy %got, %facts : memref<?x2xi64>, memref<?x2xi64>
    %offset = memref.load %got[%c0, %c1] : memref<?x2xi64>
    scf.for %rank = %c0 to %ranks step %c1 {
      %rest = memref.load %got[%rank, %c0] : memref<?x2xi64>
      %aligned = arith.cmpi eq, %rest, %zero : i64
      symm.check %aligned, "rank {}: {} bytes past an alignment of {}"(%rank, %rest, %align) : index, i64, i64
      %theirs = memref.load %got[%rank, %c1] : memref<?x2xi64>
      %same = arith.cmpi eq, %theirs, %offset : i64
      symm.check %same, "rank {} has it at offset {}, rank 0 at {}"(%rank, %theirs, %offset) : index, i64, i64
      // The start of every heap is symm's own.
      %later = arith.cmpi sgt, %theirs, %zero : i64
      symm.check %later, "rank {} has it at offset {}"(%rank, %theirs) : index, i64
    }
    memref.dealloc %got : memref<?x2xi64>
    symm.barrier_all %ctx
    return
  }

  func.func private @check_bytes(%bytes: memref<?xi8>, %want: i8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %size = memref.dim %bytes, %c0 : memref<?xi8>
    %got = memref.alloc(%size) : memref<?xi8>
    gpu.memcpy %got, %bytes : memref<?xi8>, memref<?xi8>
    scf.for %i = %c0 to %size step %c1 {
      %v = memref.load %got[%i] : memref<?xi8>
      %same = arith.cmpi eq, %v, %want : i8
      symm.check %same, "byte {} of {} is {}, expected {}"(%i, %size, %v, %want) : index, index, i8, i8
    }
    memref.dealloc %got : memref<?xi8>
    return
  }
}
