// RUN: %run-all
// symm.free: what is freed can be allocated again, joined with its free neighbours, and comes back zero. Each round
// takes most of a heap of 64 MiB, in pieces that are freed in another order than they were taken.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fill(%ctx: !symm.ctx, %words: memref<?xi32>, %value: i32) kernel {
      %c0 = arith.constant 0 : index
      %size = memref.dim %words, %c0 : memref<?xi32>
      %first = gpu.global_id x
      %blocks = gpu.grid_dim x
      %threads = gpu.block_dim x
      %all = arith.muli %blocks, %threads : index
      scf.for %i = %first to %size step %all {
        memref.store %value, %words[%i] : memref<?xi32>
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %page = arith.constant 1024 : index
    %megabyte = arith.constant 262144 : index
    %c20 = arith.constant 20 : index
    %c40 = arith.constant 40 : index
    %twenty = arith.muli %c20, %megabyte : index
    %forty = arith.muli %c40, %megabyte : index
    %minus_one = arith.constant -1 : i32
    %zero = arith.constant 0 : i32
    scf.for %round = %c0 to %c4 step %c1 {
      %a = symm.alloc %ctx(%page) : memref<?xi32>
      %b = symm.alloc %ctx(%twenty) : memref<?xi32>
      %c = symm.alloc %ctx(%twenty) : memref<?xi32>
      %v = func.call @first_and_last(%b) : (memref<?xi32>) -> i32
      %clean = arith.cmpi eq, %v, %zero : i32
      symm.check %clean, "round {}: new memory holds {}"(%round, %v) : index, i32
      gpu.launch_func @kernels::@fill blocks in (%c4, %c1, %c1) threads in (%c8, %c1, %c1)
        args(%ctx : !symm.ctx, %b : memref<?xi32>, %minus_one : i32)
      symm.free %ctx, %b : memref<?xi32>
      symm.free %ctx, %a : memref<?xi32>
      symm.free %ctx, %c : memref<?xi32>

      // Fits only where b and c were.
      %d = symm.alloc %ctx(%forty) : memref<?xi32>
      %w = func.call @first_and_last(%d) : (memref<?xi32>) -> i32
      %clean_again = arith.cmpi eq, %w, %zero : i32
      symm.check %clean_again, "round {}: memory used before holds {}"(%round, %w) : index, i32
      symm.free %ctx, %d : memref<?xi32>
    }
    return
  }

  // The bits of the first and the last 1024 words.
  func.func private @first_and_last(%words: memref<?xi32>) -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %page = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %size = memref.dim %words, %c0 : memref<?xi32>
    %end = arith.subi %size, %page : index
    %first = memref.subview %words[0] [1024] [1] : memref<?xi32> to memref<1024xi32, strided<[1]>>
    %last = memref.subview %words[%end] [1024] [1] : memref<?xi32> to memref<1024xi32, strided<[1], offset: ?>>
    %a = memref.alloc() : memref<1024xi32>
    %b = memref.alloc() : memref<1024xi32>
    gpu.memcpy %a, %first : memref<1024xi32>, memref<1024xi32, strided<[1]>>
    gpu.memcpy %b, %last : memref<1024xi32>, memref<1024xi32, strided<[1], offset: ?>>
    %bits = scf.for %i = %c0 to %page step %c1 iter_args(%sum = %zero) -> i32 {
      %v = memref.load %a[%i] : memref<1024xi32>
      %w = memref.load %b[%i] : memref<1024xi32>
      %both = arith.ori %v, %w : i32
      %next = arith.ori %sum, %both : i32
      scf.yield %next : i32
    }
    memref.dealloc %a : memref<1024xi32>
    memref.dealloc %b : memref<1024xi32>
    return %bits : i32
  }
}
