// Rank 0 signals rank 1, which signals back, `rounds` times. `./x bench cpu` runs it against the same exchange written
// with Rust's atomics.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @ping_pong(%ctx: !symm.ctx, %flag: memref<1xi64>, %rounds: i64) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %first = arith.constant 1 : i64
      %me = symm.rank %ctx
      %peer = arith.subi %one, %me : i32
      %starts = arith.cmpi eq, %me, %zero : i32
      %end = arith.addi %rounds, %first : i64
      scf.if %starts {
        scf.for %round = %first to %end step %first : i64 {
          symm.signal set %ctx, %flag[%c0], %round, %peer group block : memref<1xi64>, i64
          symm.wait %ctx, %flag[%c0] ge %round group block : memref<1xi64>, i64
        }
      } else {
        scf.for %round = %first to %end step %first : i64 {
          symm.wait %ctx, %flag[%c0] ge %round group block : memref<1xi64>, i64
          symm.signal set %ctx, %flag[%c0], %round, %peer group block : memref<1xi64>, i64
        }
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx, %rounds: i64 {symm.name = "rounds"}) {
    %c1 = arith.constant 1 : index
    %flag = symm.alloc %ctx : memref<1xi64>
    gpu.launch_func @kernels::@ping_pong blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flag : memref<1xi64>, %rounds : i64)
    symm.free %ctx, %flag : memref<1xi64>
    return
  }
}
