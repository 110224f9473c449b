// The last thing that @outer does is to call @inner: LLVM makes it a jump.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    func.func private @inner(%p: !llvm.ptr, %v: i64) attributes {no_inline, passthrough = ["noinline"]} {
      gpu.barrier
      llvm.store volatile %v, %p : i64, !llvm.ptr
      return
    }
    func.func private @outer(%p: !llvm.ptr, %v: i64) attributes {no_inline, passthrough = ["noinline"]} {
      llvm.store volatile %v, %p : i64, !llvm.ptr
      func.call @inner(%p, %v) : (!llvm.ptr, i64) -> ()
      return
    }
    gpu.func @kernel(%p: !llvm.ptr, %v: i64) kernel {
      func.call @outer(%p, %v) : (!llvm.ptr, i64) -> ()
      llvm.store volatile %v, %p : i64, !llvm.ptr
      gpu.return
    }
  }
}
