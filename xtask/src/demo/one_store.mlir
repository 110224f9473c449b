module attributes {symm.num_ranks = 4 : i32, symm.heap_stride = 67108864 : i64} {
  func.func private @store(%ctx: !symm.ctx, %value: f32, %mine: !llvm.ptr, %peer: i32) {
    symm.remote_store %ctx, %mine, %value, %peer : !llvm.ptr, f32
    return
  }
}
