// Puts of a group that follow each other come in no order, and may write the same value to the same place (O3).

// RUN: symm-check %s --threads 4 --entry equal | FileCheck %s --check-prefix=RIGHT
// RUN: symm-check %s --threads 4 --entry overlapping | FileCheck %s --check-prefix=RIGHT
// RUN: not symm-check %s --threads 4 --entry different | FileCheck %s --check-prefix=DIFFERENT
// RUN: not symm-check %s --threads 4 --entry of_blocks | FileCheck %s --check-prefix=BLOCKS

// RIGHT: symm-check: nothing found; 1 execution tried
// DIFFERENT: error: race (O1)
// DIFFERENT: writes 64 bytes at
// DIFFERENT: writes 64 bytes at
// DIFFERENT: symm-check: 1 error; 1 execution tried

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @two(%ctx: !symm.ctx, %one: memref<64xi32>, %other: memref<64xi32>, %to: memref<64xi32>) kernel {
      %me = symm.rank %ctx
      symm.put %ctx, %one, %to, %me group block : memref<64xi32>, memref<64xi32>
      symm.put %ctx, %other, %to, %me group block : memref<64xi32>, memref<64xi32>
      gpu.return
    }

    gpu.func @set(%to: memref<64xi32>, %at: index) kernel {
      %seven = arith.constant 7 : i32
      memref.store %seven, %to[%at] : memref<64xi32>
      gpu.return
    }

    // The second begins in the middle of the first.
    gpu.func @overlap(%ctx: !symm.ctx, %one: memref<64xi32>, %to: memref<64xi32>) kernel {
      %me = symm.rank %ctx
      %part = memref.subview %one[0] [40] [1] : memref<64xi32> to memref<40xi32, strided<[1]>>
      %first = memref.subview %to[0] [40] [1] : memref<64xi32> to memref<40xi32, strided<[1]>>
      %second = memref.subview %to[20] [40] [1] : memref<64xi32> to memref<40xi32, strided<[1], offset: 20>>
      symm.put %ctx, %part, %first, %me group block : memref<40xi32, strided<[1]>>, memref<40xi32, strided<[1]>>
      symm.put %ctx, %part, %second, %me group block
        : memref<40xi32, strided<[1]>>, memref<40xi32, strided<[1], offset: 20>>
      gpu.return
    }

    // Puts of two groups.
    // BLOCKS: error: race (O1)
    gpu.func @of_blocks(%ctx: !symm.ctx, %one: memref<64xi32>, %to: memref<64xi32>) kernel {
      %c0 = arith.constant 0 : index
      %me = symm.rank %ctx
      %block = gpu.block_id x
      %is_first = arith.cmpi eq, %block, %c0 : index
      scf.if %is_first {
        symm.put %ctx, %one, %to, %me group block : memref<64xi32>, memref<64xi32>
      } else {
        symm.put %ctx, %one, %to, %me group block : memref<64xi32>, memref<64xi32>
      }
      gpu.return
    }
  }

  func.func @equal(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %one = symm.alloc %ctx : memref<64xi32>
    %to = symm.alloc %ctx : memref<64xi32>
    gpu.launch_func @kernels::@two blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
      args(%ctx : !symm.ctx, %one : memref<64xi32>, %one : memref<64xi32>, %to : memref<64xi32>)
    return
  }

  func.func @overlapping(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %one = symm.alloc %ctx : memref<64xi32>
    %to = symm.alloc %ctx : memref<64xi32>
    gpu.launch_func @kernels::@overlap blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
      args(%ctx : !symm.ctx, %one : memref<64xi32>, %to : memref<64xi32>)
    return
  }

  // In one element.
  func.func @different(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c37 = arith.constant 37 : index
    %one = symm.alloc %ctx : memref<64xi32>
    %other = symm.alloc %ctx : memref<64xi32>
    %to = symm.alloc %ctx : memref<64xi32>
    gpu.launch_func @kernels::@set blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%other : memref<64xi32>, %c37 : index)
    gpu.launch_func @kernels::@two blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
      args(%ctx : !symm.ctx, %one : memref<64xi32>, %other : memref<64xi32>, %to : memref<64xi32>)
    return
  }

  func.func @of_blocks(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %one = symm.alloc %ctx : memref<64xi32>
    %to = symm.alloc %ctx : memref<64xi32>
    gpu.launch_func @kernels::@of_blocks blocks in (%c2, %c1, %c1) threads in (%c4, %c1, %c1)
      args(%ctx : !symm.ctx, %one : memref<64xi32>, %to : memref<64xi32>)
    return
  }
}
