// Kernels that test/device/kernels.py runs on one NVIDIA GPU: two ranks whose heaps are two allocations on it.
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s
// CHECK: .entry put_f16

module attributes {gpu.container_module, symm.heap_size = 67108864 : i64} {
  gpu.module @kernels {
    gpu.func @put_i8(%ctx: !symm.ctx, %src: !llvm.ptr, %dst: !llvm.ptr, %n: i64, %rank: i32) kernel {
      symm.put %ctx, %src, %dst, %rank count %n : i64 of i8 group block : !llvm.ptr, !llvm.ptr
      gpu.return
    }
    gpu.func @put_f16(%ctx: !symm.ctx, %src: !llvm.ptr, %dst: !llvm.ptr, %n: i64, %rank: i32) kernel {
      symm.put %ctx, %src, %dst, %rank count %n : i64 of f16 group block : !llvm.ptr, !llvm.ptr
      gpu.return
    }
    gpu.func @get_f32(%ctx: !symm.ctx, %src: !llvm.ptr, %dst: !llvm.ptr, %n: i64, %rank: i32) kernel {
      symm.get %ctx, %src, %dst, %rank count %n : i64 of f32 group warp : !llvm.ptr, !llvm.ptr
      gpu.return
    }
    gpu.func @get_f64(%ctx: !symm.ctx, %src: !llvm.ptr, %dst: !llvm.ptr, %n: i64, %rank: i32) kernel {
      symm.get %ctx, %src, %dst, %rank count %n : i64 of f64 group block : !llvm.ptr, !llvm.ptr
      gpu.return
    }
    gpu.func @bulk_put_i8(%ctx: !symm.ctx, %src: !llvm.ptr, %dst: !llvm.ptr, %n: i64, %rank: i32) kernel {
      symm.put %ctx, %src, %dst, %rank count %n : i64 of i8 group block engine bulk : !llvm.ptr, !llvm.ptr
      gpu.return
    }
    gpu.func @bulk_get_f32(%ctx: !symm.ctx, %src: !llvm.ptr, %dst: !llvm.ptr, %n: i64, %rank: i32) kernel {
      symm.get %ctx, %src, %dst, %rank count %n : i64 of f32 group block engine bulk : !llvm.ptr, !llvm.ptr
      gpu.return
    }

    // A message each way, `rounds` times: data, then a signal, then the peer's.
    gpu.func @ping(%ctx: !symm.ctx, %data: !llvm.ptr, %flag: !llvm.ptr, %rounds: i64, %wrong: !llvm.ptr) kernel {
      %me = symm.rank %ctx
      %one32 = arith.constant 1 : i32
      %peer = arith.xori %me, %one32 : i32
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %tid = gpu.thread_id x
      %t = arith.index_cast %tid : index to i64
      %mine = llvm.getelementptr %data[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      scf.for %r = %zero to %rounds step %one : i64 {
        %v0 = arith.muli %r, %r : i64
        %v = arith.addi %v0, %t : i64
        symm.remote_store %ctx, %mine, %v, %peer : !llvm.ptr, i64
        %next = arith.addi %r, %one : i64
        symm.signal set %ctx, %flag, %next, %peer group block : !llvm.ptr, i64
        symm.wait %ctx, %flag ge %next group block : !llvm.ptr, i64
        %got = llvm.load %mine : !llvm.ptr -> i64
        %bad = arith.cmpi ne, %got, %v : i64
        scf.if %bad {
          %c1 = arith.constant 1 : i32
          %old = symm.atomic_rmw add %ctx, %wrong, %c1, %me sem relaxed : !llvm.ptr, i32
        }
        // The peer may write again only when I have read.
        symm.barrier %ctx group block
      }
      gpu.return
    }

    gpu.func @atomics(%ctx: !symm.ctx, %ints: !llvm.ptr, %floats: !llvm.ptr, %half: !llvm.ptr, %rank: i32) kernel {
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i64
      %f = arith.constant 0.5 : f32
      %h = arith.constant 3.0 : f16
      %wide = llvm.getelementptr %ints[8] : (!llvm.ptr) -> !llvm.ptr, i8
      %0 = symm.atomic_rmw add %ctx, %ints, %one, %rank : !llvm.ptr, i32
      %1 = symm.atomic_rmw sub %ctx, %wide, %two, %rank : !llvm.ptr, i64
      %2 = symm.atomic_rmw fadd %ctx, %floats, %f, %rank : !llvm.ptr, f32
      %3 = symm.atomic_rmw xchg %ctx, %half, %h, %rank : !llvm.ptr, f16
      gpu.return
    }

    gpu.func @give_up(%ctx: !symm.ctx, %flag: !llvm.ptr, %ns: i64, %seen: !llvm.ptr) kernel {
      %one = arith.constant 1 : i64
      %ok = symm.wait %ctx, %flag ge %one timeout %ns group block : !llvm.ptr, i64 -> i1
      %word = arith.extui %ok : i1 to i32
      llvm.store %word, %seen : i32, !llvm.ptr
      gpu.return
    }

    gpu.func @store_loop(%ctx: !symm.ctx, %dst: !llvm.ptr, %n: i64, %rank: i32) kernel {
      %tid = gpu.thread_id x
      %bid = gpu.block_id x
      %threads = gpu.block_dim x
      %blocks = gpu.grid_dim x
      %b0 = arith.muli %bid, %threads : index
      %first = arith.addi %b0, %tid : index
      %stride = arith.muli %blocks, %threads : index
      %end = arith.index_cast %n : i64 to index
      %v = arith.constant dense<1.0> : vector<8xf16>
      scf.for %i = %first to %end step %stride {
        %w = arith.index_cast %i : index to i64
        %p = llvm.getelementptr %dst[%w] : (!llvm.ptr, i64) -> !llvm.ptr, vector<8xf16>
        symm.remote_store %ctx, %p, %v, %rank : !llvm.ptr, vector<8xf16>
      }
      gpu.return
    }
  }
}
