// What bench/device/nvshmem.py measures of ranks that NVSHMEM reaches, against the same by hand
// (bench/device/nvshmem.cu): stores of 8 bytes, puts of which each block does its part, signals there and back; and
// messages whose every value is checked.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @store(%ctx: !symm.ctx, %to: !llvm.ptr, %rounds: i64, %rank: i32) kernel {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      scf.for %i = %zero to %rounds step %one : i64 {
        symm.remote_store %ctx, %to, %i, %rank : !llvm.ptr, i64
      }
      gpu.return
    }

    gpu.func @put(%ctx: !symm.ctx, %to: !llvm.ptr, %from: !llvm.ptr, %bytes: i64, %each: i64, %rank: i32) kernel {
      %zero = arith.constant 0 : i64
      %block = gpu.block_id x
      %b = arith.index_cast %block : index to i64
      %first = arith.muli %b, %each : i64
      %left0 = arith.subi %bytes, %first : i64
      %left = arith.maxsi %left0, %zero : i64
      %mine = arith.minsi %left, %each : i64
      %src = llvm.getelementptr %from[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %dst = llvm.getelementptr %to[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      symm.put %ctx, %src, %dst, %rank count %mine : i64 of i8 group block : !llvm.ptr, !llvm.ptr
      gpu.return
    }

    // Values after `start`, `rounds` of them, go to the peer and back. Rank 0 begins.
    gpu.func @ping(%ctx: !symm.ctx, %flag: !llvm.ptr, %start: i64, %rounds: i64, %me: i32, %rank: i32) kernel {
      %one = arith.constant 1 : i64
      %zero = arith.constant 0 : i32
      %begins = arith.cmpi eq, %me, %zero : i32
      %first = arith.addi %start, %one : i64
      %last = arith.addi %start, %rounds : i64
      %end = arith.addi %last, %one : i64
      scf.for %v = %first to %end step %one : i64 {
        scf.if %begins {
          symm.signal set %ctx, %flag, %v, %rank : !llvm.ptr, i64
        }
        symm.wait %ctx, %flag ge %v : !llvm.ptr, i64
        scf.if %begins {
        } else {
          symm.signal set %ctx, %flag, %v, %rank : !llvm.ptr, i64
        }
      }
      gpu.return
    }

    // A ring: thread t of message n sends n + t from `from` to the next rank's `to`, and adds what is wrong in what has
    // come. The next message waits for the receiver's credit.
    gpu.func @messages(%ctx: !symm.ctx, %from: !llvm.ptr, %to: !llvm.ptr, %flag: !llvm.ptr, %credit: !llvm.ptr,
                       %wrong: !llvm.ptr, %rank: i32, %sender: i32, %start: i64, %rounds: i64) kernel {
      %one = arith.constant 1 : i64
      %count = arith.constant 128 : i64
      %thread = gpu.thread_id x
      %t = arith.index_cast %thread : index to i64
      %mine = llvm.getelementptr %from[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %theirs = llvm.getelementptr %to[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %end = arith.addi %start, %rounds : i64
      scf.for %n = %start to %end step %one : i64 {
        %next = arith.addi %n, %one : i64
        symm.wait %ctx, %credit ge %n group block : !llvm.ptr, i64
        %value = arith.addi %n, %t : i64
        llvm.store %value, %mine : i64, !llvm.ptr
        symm.put_signal set %ctx, %from, %to, %flag, %next, %rank count %count : i64 of i64 group block
          : !llvm.ptr, !llvm.ptr, !llvm.ptr, i64
        symm.wait %ctx, %flag ge %next group block : !llvm.ptr, i64
        %found = llvm.load %theirs : !llvm.ptr -> i64
        %differs = arith.cmpi ne, %found, %value : i64
        %add = arith.extui %differs : i1 to i64
        %old = llvm.atomicrmw add %wrong, %add monotonic : !llvm.ptr, i64
        symm.signal set %ctx, %credit, %next, %sender group block : !llvm.ptr, i64
      }
      gpu.return
    }
  }
}
