// What `./x bench device` measures on GPUs, against the same by hand (bench/device/by_hand.cu): bulk copies of which
// each block does its part, messages there and back, barriers, and a kernel that does next to nothing.
// Counts are elements of 4 bytes; pointers are symmetric addresses of this rank. The module says what symm-run says of
// GPUs on which heaps can be mapped: where they lie, and that the context table is in them. The bench replaces the
// number of ranks.

module attributes {gpu.container_module, symm.num_ranks = 2 : i32, symm.heap_stride = 4294967296 : i64,
                   symm.table_in_heap} {
  gpu.module @kernels {
    // Where this block's part begins, and how much it is.
    func.func private @part(%count: i64, %each: i64) -> (i64, i64) {
      %zero = arith.constant 0 : i64
      %block = gpu.block_id x
      %b = arith.index_cast %block : index to i64
      %first = arith.muli %b, %each : i64
      %left0 = arith.subi %count, %first : i64
      %left = arith.maxsi %left0, %zero : i64
      %mine = arith.minsi %left, %each : i64
      return %first, %mine : i64, i64
    }

    gpu.func @put(%ctx: !symm.ctx, %src: !llvm.ptr, %dst: !llvm.ptr, %count: i64, %each: i64, %rank: i32) kernel {
      %first, %mine = func.call @part(%count, %each) : (i64, i64) -> (i64, i64)
      %from = llvm.getelementptr %src[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %to = llvm.getelementptr %dst[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      symm.put %ctx, %from, %to, %rank count %mine : i64 of i32 group block : !llvm.ptr, !llvm.ptr
      gpu.return
    }

    gpu.func @get(%ctx: !symm.ctx, %src: !llvm.ptr, %dst: !llvm.ptr, %count: i64, %each: i64, %rank: i32) kernel {
      %first, %mine = func.call @part(%count, %each) : (i64, i64) -> (i64, i64)
      %from = llvm.getelementptr %src[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %to = llvm.getelementptr %dst[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      symm.get %ctx, %from, %to, %rank count %mine : i64 of i32 group block : !llvm.ptr, !llvm.ptr
      gpu.return
    }

    gpu.func @put_engine(%ctx: !symm.ctx, %src: !llvm.ptr, %dst: !llvm.ptr, %count: i64, %each: i64, %rank: i32)
        kernel {
      %first, %mine = func.call @part(%count, %each) : (i64, i64) -> (i64, i64)
      %from = llvm.getelementptr %src[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %to = llvm.getelementptr %dst[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      symm.put %ctx, %from, %to, %rank count %mine : i64 of i32 group block engine bulk : !llvm.ptr, !llvm.ptr
      gpu.return
    }

    gpu.func @get_engine(%ctx: !symm.ctx, %src: !llvm.ptr, %dst: !llvm.ptr, %count: i64, %each: i64, %rank: i32)
        kernel {
      %first, %mine = func.call @part(%count, %each) : (i64, i64) -> (i64, i64)
      %from = llvm.getelementptr %src[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %to = llvm.getelementptr %dst[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      symm.get %ctx, %from, %to, %rank count %mine : i64 of i32 group block engine bulk : !llvm.ptr, !llvm.ptr
      gpu.return
    }

    // Values after `start`, `rounds` of them, go to the peer and back. Rank 0 begins.
    gpu.func @ping(%ctx: !symm.ctx, %flag: !llvm.ptr, %start: i64, %rounds: i64) kernel {
      %one = arith.constant 1 : i64
      %zero32 = arith.constant 0 : i32
      %one32 = arith.constant 1 : i32
      %me = symm.rank %ctx
      %peer = arith.xori %me, %one32 : i32
      %begins = arith.cmpi eq, %me, %zero32 : i32
      %first = arith.addi %start, %one : i64
      %last = arith.addi %start, %rounds : i64
      %end = arith.addi %last, %one : i64
      scf.if %begins {
        scf.for %v = %first to %end step %one : i64 {
          symm.signal set %ctx, %flag, %v, %peer : !llvm.ptr, i64
          symm.wait %ctx, %flag ge %v : !llvm.ptr, i64
        }
      } else {
        scf.for %v = %first to %end step %one : i64 {
          symm.wait %ctx, %flag ge %v : !llvm.ptr, i64
          symm.signal set %ctx, %flag, %v, %peer : !llvm.ptr, i64
        }
      }
      gpu.return
    }

    // The same with `count` elements before each signal, by a block.
    gpu.func @put_signal(%ctx: !symm.ctx, %src: !llvm.ptr, %dst: !llvm.ptr, %count: i64, %flag: !llvm.ptr, %start: i64,
                         %rounds: i64) kernel {
      %one = arith.constant 1 : i64
      %zero32 = arith.constant 0 : i32
      %one32 = arith.constant 1 : i32
      %me = symm.rank %ctx
      %peer = arith.xori %me, %one32 : i32
      %begins = arith.cmpi eq, %me, %zero32 : i32
      %first = arith.addi %start, %one : i64
      %last = arith.addi %start, %rounds : i64
      %end = arith.addi %last, %one : i64
      scf.if %begins {
        scf.for %v = %first to %end step %one : i64 {
          symm.put_signal set %ctx, %src, %dst, %flag, %v, %peer count %count : i64 of i32 group block
            : !llvm.ptr, !llvm.ptr, !llvm.ptr, i64
          symm.wait %ctx, %flag ge %v group block : !llvm.ptr, i64
        }
      } else {
        scf.for %v = %first to %end step %one : i64 {
          symm.wait %ctx, %flag ge %v group block : !llvm.ptr, i64
          symm.put_signal set %ctx, %src, %dst, %flag, %v, %peer count %count : i64 of i32 group block
            : !llvm.ptr, !llvm.ptr, !llvm.ptr, i64
        }
      }
      gpu.return
    }

    gpu.func @barrier(%ctx: !symm.ctx, %rounds: i64) kernel {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      scf.for %i = %zero to %rounds step %one : i64 {
        symm.barrier %ctx group block
      }
      gpu.return
    }

    gpu.func @empty(%ctx: !symm.ctx, %out: !llvm.ptr) kernel {
      %me = symm.rank %ctx
      llvm.store %me, %out : i32, !llvm.ptr
      gpu.return
    }
  }
}
