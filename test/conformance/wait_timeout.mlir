// RUN: %run-all
// symm.wait with no time, or less, to wait: it looks once, and returns what it saw.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // seen[0] of a flag that is set and seen[1] of one that is not, each added up for a timeout of `limit`.
    gpu.func @look(%ctx: !symm.ctx, %flags: memref<2xi64>, %seen: memref<2xi32>, %limit: i64) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i64
      %set = symm.wait %ctx, %flags[%c0] ge %one timeout %limit group block : memref<2xi64>, i64 -> i1
      %unset = symm.wait %ctx, %flags[%c1] ge %one timeout %limit group block : memref<2xi64>, i64 -> i1
      %set_before = memref.load %seen[%c0] : memref<2xi32>
      %unset_before = memref.load %seen[%c1] : memref<2xi32>
      %set_word = arith.extui %set : i1 to i32
      %unset_word = arith.extui %unset : i1 to i32
      %set_after = arith.addi %set_before, %set_word : i32
      %unset_after = arith.addi %unset_before, %unset_word : i32
      memref.store %set_after, %seen[%c0] : memref<2xi32>
      memref.store %unset_after, %seen[%c1] : memref<2xi32>
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %two = arith.constant 2 : i32
    %none = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %less = arith.constant -1 : i64
    %flags = symm.alloc %ctx : memref<2xi64>
    %seen = symm.alloc %ctx : memref<2xi32>
    %host_flags = memref.alloc() : memref<2xi64>
    %host_seen = memref.alloc() : memref<2xi32>
    memref.store %one, %host_flags[%c0] : memref<2xi64>
    memref.store %none, %host_flags[%c1] : memref<2xi64>
    gpu.memcpy %flags, %host_flags : memref<2xi64>, memref<2xi64>
    gpu.launch_func @kernels::@look blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flags : memref<2xi64>, %seen : memref<2xi32>, %none : i64)
    gpu.launch_func @kernels::@look blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flags : memref<2xi64>, %seen : memref<2xi32>, %less : i64)
    gpu.memcpy %host_seen, %seen : memref<2xi32>, memref<2xi32>
    %set = memref.load %host_seen[%c0] : memref<2xi32>
    %unset = memref.load %host_seen[%c1] : memref<2xi32>
    %is_set = arith.cmpi eq, %set, %two : i32
    %is_unset = arith.cmpi eq, %unset, %zero : i32
    symm.check %is_set, "a flag that is set is seen"
    symm.check %is_unset, "a flag that is not set is not seen"
    memref.dealloc %host_seen : memref<2xi32>
    memref.dealloc %host_flags : memref<2xi64>
    return
  }
}
