// What one iteration of a grid-stride loop costs that stores 16 bytes a thread to another rank: `./x bench isa`.
//
// Every kernel moves %n vectors from %src to %dst of the rank %peer. Those named `direct` have been given a
// pointer that leads to the peer already: less cannot be done. Those named `iris` translate as Iris does: to an integer
// and back, both bases loaded each time, and no word about alignment unless there is a hint. The bench replaces the
// type.
!scalar = f16
!vector = vector<8xf16>
!mask = vector<8xi1>
!array = memref<?xf16>
#width = 8 : index
#bytes = 2 : i64

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Elements of 16 bytes.
    func.func private @width() -> index {
      %width = arith.constant #width
      return %width : index
    }

    // The first vector of this thread and the distance to its next one.
    func.func private @grid() -> (index, index) {
      %first = gpu.global_id x
      %blocks = gpu.grid_dim x
      %threads = gpu.block_dim x
      %all = arith.muli %blocks, %threads : index
      return %first, %all : index, index
    }

    // Where vector %i lies.
    func.func private @at(%start: !llvm.ptr, %i: index) -> !llvm.ptr {
      %offset = arith.index_cast %i : index to i64
      %address = llvm.getelementptr %start[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, !vector
      return %address : !llvm.ptr
    }

    gpu.func @direct(%src: !llvm.ptr, %dst: !llvm.ptr, %n: index) kernel {
      %first, %all = func.call @grid() : () -> (index, index)
      scf.for %i = %first to %n step %all {
        %from = func.call @at(%src, %i) : (!llvm.ptr, index) -> !llvm.ptr
        %to = func.call @at(%dst, %i) : (!llvm.ptr, index) -> !llvm.ptr
        %v = llvm.load %from : !llvm.ptr -> !vector
        llvm.store %v, %to : !vector, !llvm.ptr
      }
      gpu.return
    }

    gpu.func @symm(%ctx: !symm.ctx, %src: !llvm.ptr, %dst: !llvm.ptr, %n: index, %peer: i32) kernel {
      %first, %all = func.call @grid() : () -> (index, index)
      scf.for %i = %first to %n step %all {
        %from = func.call @at(%src, %i) : (!llvm.ptr, index) -> !llvm.ptr
        %to = func.call @at(%dst, %i) : (!llvm.ptr, index) -> !llvm.ptr
        %v = llvm.load %from : !llvm.ptr -> !vector
        symm.remote_store %ctx, %to, %v, %peer : !llvm.ptr, !vector
      }
      gpu.return
    }

    func.func private @translate(%bases: !llvm.ptr, %mine: !llvm.ptr, %me: i64, %peer: i64) -> !llvm.ptr {
      %my_word = llvm.getelementptr %bases[%me] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %their_word = llvm.getelementptr %bases[%peer] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %my_base = llvm.load %my_word : !llvm.ptr -> i64
      %their_base = llvm.load %their_word : !llvm.ptr -> i64
      %address = llvm.ptrtoint %mine : !llvm.ptr to i64
      %offset = llvm.sub %address, %my_base : i64
      %start = llvm.inttoptr %their_base : i64 to !llvm.ptr
      %theirs = llvm.getelementptr %start[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      return %theirs : !llvm.ptr
    }

    gpu.func @iris(%bases: !llvm.ptr, %src: !llvm.ptr, %dst: !llvm.ptr, %n: index, %me: i64, %peer: i64) kernel {
      %first, %all = func.call @grid() : () -> (index, index)
      scf.for %i = %first to %n step %all {
        %from = func.call @at(%src, %i) : (!llvm.ptr, index) -> !llvm.ptr
        %mine = func.call @at(%dst, %i) : (!llvm.ptr, index) -> !llvm.ptr
        %to = func.call @translate(%bases, %mine, %me, %peer) : (!llvm.ptr, !llvm.ptr, i64, i64) -> !llvm.ptr
        %v = llvm.load %from : !llvm.ptr -> !vector
        llvm.store %v, %to {alignment = #bytes} : !vector, !llvm.ptr
      }
      gpu.return
    }

    gpu.func @iris_hint(%bases: !llvm.ptr, %src: !llvm.ptr, %dst: !llvm.ptr, %n: index, %me: i64, %peer: i64) kernel {
      %first, %all = func.call @grid() : () -> (index, index)
      scf.for %i = %first to %n step %all {
        %from = func.call @at(%src, %i) : (!llvm.ptr, index) -> !llvm.ptr
        %mine = func.call @at(%dst, %i) : (!llvm.ptr, index) -> !llvm.ptr
        %to = func.call @translate(%bases, %mine, %me, %peer) : (!llvm.ptr, !llvm.ptr, i64, i64) -> !llvm.ptr
        %v = llvm.load %from : !llvm.ptr -> !vector
        llvm.store %v, %to : !vector, !llvm.ptr
      }
      gpu.return
    }

    gpu.func @direct_memref(%src: !array, %dst: !array, %n: index) kernel {
      %width = func.call @width() : () -> index
      %first, %all = func.call @grid() : () -> (index, index)
      scf.for %i = %first to %n step %all {
        %e = arith.muli %i, %width : index
        %v = vector.load %src[%e] {alignment = 16 : i64} : !array, !vector
        vector.store %v, %dst[%e] {alignment = 16 : i64} : !array, !vector
      }
      gpu.return
    }

    gpu.func @symm_memref(%ctx: !symm.ctx, %src: !array, %dst: !array, %n: index, %peer: i32) kernel {
      %width = func.call @width() : () -> index
      %first, %all = func.call @grid() : () -> (index, index)
      scf.for %i = %first to %n step %all {
        %e = arith.muli %i, %width : index
        %v = vector.load %src[%e] {alignment = 16 : i64} : !array, !vector
        symm.remote_store %ctx, %dst[%e], %v, %peer : !array, !vector
      }
      gpu.return
    }

    // Scalar code, 16 bytes a thread; what LLVM makes vectors of.
    gpu.func @direct_scalar(%src: !llvm.ptr {llvm.noalias, llvm.align = 16},
                            %dst: !llvm.ptr {llvm.noalias, llvm.align = 16}, %n: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %width = func.call @width() : () -> index
      %first, %all = func.call @grid() : () -> (index, index)
      scf.for %i = %first to %n step %all {
        %from = func.call @at(%src, %i) : (!llvm.ptr, index) -> !llvm.ptr
        %to = func.call @at(%dst, %i) : (!llvm.ptr, index) -> !llvm.ptr
        scf.for %k = %c0 to %width step %c1 {
          %offset = arith.index_cast %k : index to i64
          %here = llvm.getelementptr %from[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, !scalar
          %there = llvm.getelementptr %to[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, !scalar
          %v = llvm.load %here : !llvm.ptr -> !scalar
          llvm.store %v, %there : !scalar, !llvm.ptr
        }
      }
      gpu.return
    }

    gpu.func @symm_scalar(%ctx: !symm.ctx, %src: !llvm.ptr {llvm.noalias, llvm.align = 16},
                          %dst: !llvm.ptr {llvm.noalias, llvm.align = 16}, %n: index, %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %width = func.call @width() : () -> index
      %first, %all = func.call @grid() : () -> (index, index)
      scf.for %i = %first to %n step %all {
        %from = func.call @at(%src, %i) : (!llvm.ptr, index) -> !llvm.ptr
        %to = func.call @at(%dst, %i) : (!llvm.ptr, index) -> !llvm.ptr
        scf.for %k = %c0 to %width step %c1 {
          %offset = arith.index_cast %k : index to i64
          %here = llvm.getelementptr %from[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, !scalar
          %there = llvm.getelementptr %to[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, !scalar
          %v = llvm.load %here : !llvm.ptr -> !scalar
          symm.remote_store %ctx, %there, %v, %peer : !llvm.ptr, !scalar
        }
      }
      gpu.return
    }

    gpu.func @direct_scalar_memref(%src: !array, %dst: !array, %n: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %apart_src, %apart_dst = memref.distinct_objects %src, %dst : !array, !array
      %aligned_src = memref.assume_alignment %apart_src, 16 : !array
      %aligned_dst = memref.assume_alignment %apart_dst, 16 : !array
      %width = func.call @width() : () -> index
      %first, %all = func.call @grid() : () -> (index, index)
      scf.for %i = %first to %n step %all {
        %start = arith.muli %i, %width : index
        scf.for %k = %c0 to %width step %c1 {
          %e = arith.addi %start, %k : index
          %v = memref.load %aligned_src[%e] : !array
          memref.store %v, %aligned_dst[%e] : !array
        }
      }
      gpu.return
    }

    gpu.func @symm_scalar_memref(%ctx: !symm.ctx, %src: !array, %dst: !array, %n: index,
                                 %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %apart_src, %apart_dst = memref.distinct_objects %src, %dst : !array, !array
      %aligned_src = memref.assume_alignment %apart_src, 16 : !array
      %aligned_dst = memref.assume_alignment %apart_dst, 16 : !array
      %width = func.call @width() : () -> index
      %first, %all = func.call @grid() : () -> (index, index)
      scf.for %i = %first to %n step %all {
        %start = arith.muli %i, %width : index
        scf.for %k = %c0 to %width step %c1 {
          %e = arith.addi %start, %k : index
          %v = memref.load %aligned_src[%e] : !array
          symm.remote_store %ctx, %aligned_dst[%e], %v, %peer : !array, !scalar
        }
      }
      gpu.return
    }

    // The same for every thread, and a mask where a thread has nothing left to do.
    gpu.func @direct_mask(%src: !llvm.ptr, %dst: !llvm.ptr, %n: index, %rounds: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %first, %all = func.call @grid() : () -> (index, index)
      scf.for %round = %c0 to %rounds step %c1 {
        %before = arith.muli %round, %all : index
        %i = arith.addi %before, %first : index
        %in = arith.cmpi slt, %i, %n : index
        %from = func.call @at(%src, %i) : (!llvm.ptr, index) -> !llvm.ptr
        %to = func.call @at(%dst, %i) : (!llvm.ptr, index) -> !llvm.ptr
        scf.if %in {
          %v = llvm.load %from : !llvm.ptr -> !vector
          llvm.store %v, %to : !vector, !llvm.ptr
        }
      }
      gpu.return
    }

    gpu.func @symm_mask(%ctx: !symm.ctx, %src: !llvm.ptr, %dst: !llvm.ptr, %n: index, %rounds: index,
                        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %me = symm.rank %ctx
      %first, %all = func.call @grid() : () -> (index, index)
      scf.for %round = %c0 to %rounds step %c1 {
        %before = arith.muli %round, %all : index
        %i = arith.addi %before, %first : index
        %in = arith.cmpi slt, %i, %n : index
        %from = func.call @at(%src, %i) : (!llvm.ptr, index) -> !llvm.ptr
        %to = func.call @at(%dst, %i) : (!llvm.ptr, index) -> !llvm.ptr
        %v = symm.remote_load %ctx, %from, %me mask %in : i1 : !llvm.ptr -> !vector
        symm.remote_store %ctx, %to, %v, %peer mask %in : i1 : !llvm.ptr, !vector
      }
      gpu.return
    }

    // %n elements, and a mask of lanes: the last vector may be cut off anywhere.
    gpu.func @direct_lanes(%src: !array, %dst: !array, %n: index) kernel {
      %width = func.call @width() : () -> index
      %first, %all = func.call @grid() : () -> (index, index)
      %vectors = arith.ceildivui %n, %width : index
      scf.for %i = %first to %vectors step %all {
        %e = arith.muli %i, %width : index
        %left = arith.subi %n, %e : index
        %lanes = vector.create_mask %left : !mask
        %v = vector.load %src[%e] {alignment = 16 : i64} : !array, !vector
        vector.maskedstore %dst[%e], %lanes, %v {alignment = 16 : i64} : !array, !mask, !vector
      }
      gpu.return
    }

    gpu.func @symm_lanes(%ctx: !symm.ctx, %src: !array, %dst: !array, %n: index, %peer: i32) kernel {
      %width = func.call @width() : () -> index
      %first, %all = func.call @grid() : () -> (index, index)
      %vectors = arith.ceildivui %n, %width : index
      scf.for %i = %first to %vectors step %all {
        %e = arith.muli %i, %width : index
        %left = arith.subi %n, %e : index
        %lanes = vector.create_mask %left : !mask
        %v = vector.load %src[%e] {alignment = 16 : i64} : !array, !vector
        symm.remote_store %ctx, %dst[%e], %v, %peer mask %lanes : !mask : !array, !vector
      }
      gpu.return
    }
  }
}
