// RUN: %run-all
// symm.get from the right neighbour: contiguous memory, rows, single elements, dynamic shapes,
// counted pointers, bytes, and this rank itself.

module attributes {gpu.container_module} {
  // Which element of the source each element of the target holds; -1 for none.
  memref.global "private" constant @places : memref<12x16xi32> = dense<[
    [ -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1],
    [ -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1],
    [ -1,  -1,  -1,  -1,  18,  19,  20,  21,  22,  -1,  -1,  -1,  -1,  -1,  -1,  -1],
    [ -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1, 112, 113, 114, 115,  -1],
    [ -1,  -1,  -1,  -1,  34,  35,  36,  37,  38,  -1,  -1, 128, 129, 130, 131,  -1],
    [ -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1, 144, 145, 146, 147,  -1],
    [ -1,  -1,  -1,  -1,  50,  51,  52,  53,  54,  -1,  -1,  -1,  -1,  -1,  -1,  -1],
    [ -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1],
    [  8,  -1,  -1,  10,  -1,  -1,  12,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1],
    [ 24,  -1,  -1,  26,  -1,  -1,  28,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1],
    [ -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1, 100, 101, 102, 103, 104, 105],
    [106,  -1,  -1,  -1,   3,   4,   5,   6,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1]]>

  gpu.module @kernels {
    gpu.func @get_all(%ctx: !symm.ctx, %line: memref<64xi32>, %line_out: memref<64xi32>, %src: memref<12x16xi32>,
                  %dst: memref<12x16xi32>, %bytes: memref<16x2xi8>, %three: index) kernel {
      %c0 = arith.constant 0 : index
      %c7 = arith.constant 7 : index
      %eight = arith.constant 8 : i64
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32

      // Contiguous: 48 elements of a neighbour's and 16 of this rank's own.
      %head = memref.subview %line[0] [48] [1] : memref<64xi32> to memref<48xi32, strided<[1]>>
      %head_out = memref.subview %line_out[0] [48] [1] : memref<64xi32> to memref<48xi32, strided<[1]>>
      symm.get %ctx, %head, %head_out, %right group block : memref<48xi32, strided<[1]>>, memref<48xi32, strided<[1]>>
      %tail = memref.subview %line[48] [16] [1] : memref<64xi32> to memref<16xi32, strided<[1], offset: 48>>
      %tail_out = memref.subview %line_out[48] [16] [1] : memref<64xi32> to memref<16xi32, strided<[1], offset: 48>>
      symm.get %ctx, %tail, %tail_out, %me group block
        : memref<16xi32, strided<[1], offset: 48>>, memref<16xi32, strided<[1], offset: 48>>

      // Rows of five into every other row.
      %rows = memref.subview %src[1, 2] [3, 5] [1, 1]
        : memref<12x16xi32> to memref<3x5xi32, strided<[16, 1], offset: 18>>
      %rows_out = memref.subview %dst[2, 4] [3, 5] [2, 1]
        : memref<12x16xi32> to memref<3x5xi32, strided<[32, 1], offset: 36>>
      symm.get %ctx, %rows, %rows_out, %right group block
        : memref<3x5xi32, strided<[16, 1], offset: 18>>, memref<3x5xi32, strided<[32, 1], offset: 36>>

      // Every other element of a row to every third.
      %spread = memref.subview %src[0, 8] [2, 3] [1, 2]
        : memref<12x16xi32> to memref<2x3xi32, strided<[16, 2], offset: 8>>
      %spread_out = memref.subview %dst[8, 0] [2, 3] [1, 3]
        : memref<12x16xi32> to memref<2x3xi32, strided<[16, 3], offset: 128>>
      symm.get %ctx, %spread, %spread_out, %right group warp
        : memref<2x3xi32, strided<[16, 2], offset: 8>>, memref<2x3xi32, strided<[16, 3], offset: 128>>

      // As many rows, and from as far down, as the caller says: 3 from row 7 to row 3.
      %some = memref.subview %src[%c7, 0] [%three, 4] [1, 1]
        : memref<12x16xi32> to memref<?x4xi32, strided<[16, 1], offset: ?>>
      %some_out = memref.subview %dst[%three, 11] [%three, 4] [1, 1]
        : memref<12x16xi32> to memref<?x4xi32, strided<[16, 1], offset: ?>>
      symm.get %ctx, %some, %some_out, %right group block
        : memref<?x4xi32, strided<[16, 1], offset: ?>>, memref<?x4xi32, strided<[16, 1], offset: ?>>

      // Between pointers: 7 elements of i32, then 8 of i16, by one thread.
      %src_index = memref.extract_aligned_pointer_as_index %src : memref<12x16xi32> -> index
      %src_address = arith.index_cast %src_index : index to i64
      %p = llvm.inttoptr %src_address : i64 to !llvm.ptr
      %dst_index = memref.extract_aligned_pointer_as_index %dst : memref<12x16xi32> -> index
      %dst_address = arith.index_cast %dst_index : index to i64
      %q = llvm.inttoptr %dst_address : i64 to !llvm.ptr
      %p100 = llvm.getelementptr %p[100] : (!llvm.ptr) -> !llvm.ptr, i32
      %q170 = llvm.getelementptr %q[170] : (!llvm.ptr) -> !llvm.ptr, i32
      symm.get %ctx, %p100, %q170, %right count %c7 : index of i32 group block : !llvm.ptr, !llvm.ptr
      %p3 = llvm.getelementptr %p[3] : (!llvm.ptr) -> !llvm.ptr, i32
      %q180 = llvm.getelementptr %q[180] : (!llvm.ptr) -> !llvm.ptr, i32
      %thread = gpu.thread_id x
      %first = arith.cmpi eq, %thread, %c0 : index
      scf.if %first {
        symm.get %ctx, %p3, %q180, %right count %eight : i64 of i16 : !llvm.ptr, !llvm.ptr
      }

      // A column of bytes into the other column.
      %even = memref.subview %bytes[0, 0] [16, 1] [1, 1] : memref<16x2xi8> to memref<16xi8, strided<[2]>>
      %odd = memref.subview %bytes[0, 1] [16, 1] [1, 1] : memref<16x2xi8> to memref<16xi8, strided<[2], offset: 1>>
      symm.get %ctx, %even, %odd, %right group block
        : memref<16xi8, strided<[2]>>, memref<16xi8, strided<[2], offset: 1>>
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c12 = arith.constant 12 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c48 = arith.constant 48 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %thousand = arith.constant 1000 : i32
    %sixteen = arith.constant 16 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %next = arith.addi %me, %one : i32
    %peer = arith.remui %next, %n : i32
    %mine = arith.muli %me, %thousand : i32
    %theirs = arith.muli %peer, %thousand : i32
    %line = symm.alloc %ctx : memref<64xi32>
    %line_out = symm.alloc %ctx : memref<64xi32>
    %src = symm.alloc %ctx : memref<12x16xi32>
    %dst = symm.alloc %ctx : memref<12x16xi32>
    %bytes = symm.alloc %ctx : memref<16x2xi8>

    // Element i of rank r is 1000 r + i, and its byte (i, 0) is 16 r + i.
    %host_line = memref.alloc() : memref<64xi32>
    %host = memref.alloc() : memref<12x16xi32>
    %host_bytes = memref.alloc() : memref<16x2xi8>
    scf.for %i = %c0 to %c64 step %c1 {
      %count = arith.index_cast %i : index to i32
      %v = arith.addi %mine, %count : i32
      memref.store %v, %host_line[%i] : memref<64xi32>
    }
    scf.for %i = %c0 to %c12 step %c1 {
      scf.for %j = %c0 to %c16 step %c1 {
        %row = arith.muli %i, %c16 : index
        %place = arith.addi %row, %j : index
        %count = arith.index_cast %place : index to i32
        %v = arith.addi %mine, %count : i32
        memref.store %v, %host[%i, %j] : memref<12x16xi32>
      }
    }
    %my_bytes = arith.muli %me, %sixteen : i32
    scf.for %i = %c0 to %c16 step %c1 {
      %count = arith.index_cast %i : index to i32
      %sum = arith.addi %my_bytes, %count : i32
      %v = arith.trunci %sum : i32 to i8
      memref.store %v, %host_bytes[%i, %c0] : memref<16x2xi8>
    }
    gpu.memcpy %line, %host_line : memref<64xi32>, memref<64xi32>
    gpu.memcpy %src, %host : memref<12x16xi32>, memref<12x16xi32>
    gpu.memcpy %bytes, %host_bytes : memref<16x2xi8>, memref<16x2xi8>
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@get_all blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%ctx : !symm.ctx, %line : memref<64xi32>, %line_out : memref<64xi32>, %src : memref<12x16xi32>,
        %dst : memref<12x16xi32>, %bytes : memref<16x2xi8>, %c3 : index)
    symm.barrier_all %ctx

    gpu.memcpy %host_line, %line_out : memref<64xi32>, memref<64xi32>
    scf.for %i = %c0 to %c64 step %c1 {
      %from_peer = arith.cmpi ult, %i, %c48 : index
      %source = arith.select %from_peer, %theirs, %mine : i32
      %count = arith.index_cast %i : index to i32
      %want = arith.addi %source, %count : i32
      %v = memref.load %host_line[%i] : memref<64xi32>
      %same = arith.cmpi eq, %v, %want : i32
      symm.check %same, "line: element {} is {}, expected {}"(%i, %v, %want) : index, i32, i32
    }
    %places = memref.get_global @places : memref<12x16xi32>
    gpu.memcpy %host, %dst : memref<12x16xi32>, memref<12x16xi32>
    scf.for %i = %c0 to %c12 step %c1 {
      scf.for %j = %c0 to %c16 step %c1 {
        %place = memref.load %places[%i, %j] : memref<12x16xi32>
        %written = arith.cmpi sge, %place, %zero : i32
        %value = arith.addi %theirs, %place : i32
        %want = arith.select %written, %value, %zero : i32
        %v = memref.load %host[%i, %j] : memref<12x16xi32>
        %same = arith.cmpi eq, %v, %want : i32
        symm.check %same, "element ({}, {}) is {}, expected {}"(%i, %j, %v, %want) : index, index, i32, i32
      }
    }
    gpu.memcpy %host_bytes, %bytes : memref<16x2xi8>, memref<16x2xi8>
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c2 step %c1 {
        %is_source = arith.cmpi eq, %j, %c0 : index
        %source = arith.select %is_source, %me, %peer : i32
        %start = arith.muli %source, %sixteen : i32
        %count = arith.index_cast %i : index to i32
        %sum = arith.addi %start, %count : i32
        %want = arith.trunci %sum : i32 to i8
        %v = memref.load %host_bytes[%i, %j] : memref<16x2xi8>
        %same = arith.cmpi eq, %v, %want : i8
        symm.check %same, "byte ({}, {}) is {}, expected {}"(%i, %j, %v, %want) : index, index, i8, i8
      }
    }
    memref.dealloc %host_line : memref<64xi32>
    memref.dealloc %host : memref<12x16xi32>
    memref.dealloc %host_bytes : memref<16x2xi8>
    return
  }
}
