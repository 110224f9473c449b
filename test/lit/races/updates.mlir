// Places that are read and then written at once, again and again.

// RUN: symm-check %s --ranks 2 --steps 10000000 --arg rounds=2000 | FileCheck %s --check-prefix=RIGHT
// RIGHT: symm-check: nothing found

// The other rank's updates are in the same places: each pair of accesses with a write is found, with its lines.
// RUN: sed 's/%far\[%at\]/%near[%at]/' %s > %t.mlir
// RUN: not symm-check %t.mlir --ranks 2 --steps 10000000 --arg rounds=2000 --schedules 3 | FileCheck %s --check-prefix=SAME
// SAME: :55:9: error: race (O1)
// SAME: :55:9: note: rank {{.}} block 0 thread 0: writes 4 bytes
// SAME: :37:14: note: rank {{.}} block 0 thread 0: reads 4 bytes
// SAME: :39:9: error: race (O1)
// SAME: :53:14: note: rank {{.}} block 0 thread 0: reads 4 bytes
// SAME: :39:9: error: race (O1)
// SAME: :55:9: note: rank {{.}} block 0 thread 0: writes 4 bytes
// SAME: :37:14: error: write-after-read (O1)
// SAME: :55:9: note: rank {{.}} block 0 thread 0: writes 4 bytes
// SAME: :53:14: error: write-after-read (O1)
// SAME: :39:9: note: rank {{.}} block 0 thread 0: writes 4 bytes
// SAME: symm-check: 5 errors

// A barrier between the two is enough, and it has to be between them.
// RUN: sed '/BETWEEN/s/^.*: //' %t.mlir > %t.between.mlir
// RUN: symm-check %t.between.mlir --ranks 2 --steps 10000000 --arg rounds=2000 --schedules 3 | FileCheck %s --check-prefix=RIGHT

!numbers = memref<600xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @near(%near: !numbers, %rounds: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c600 = arith.constant 600 : index
      %one = arith.constant 1 : i32
      scf.for %i = %c0 to %rounds step %c1 {
        %at = arith.remui %i, %c600 : index
        %x = memref.load %near[%at] : !numbers
        %y = arith.addi %x, %one : i32
        memref.store %y, %near[%at] : !numbers
      }
      gpu.return
    }
    gpu.func @far(%ctx: !symm.ctx, %near: !numbers, %far: !numbers, %rounds: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c600 = arith.constant 600 : index
      %two = arith.constant 2 : i32
      %me = symm.rank %ctx
      %one = arith.constant 1 : i32
      %peer = arith.subi %one, %me : i32
      scf.for %i = %c0 to %rounds step %c1 {
        %at = arith.remui %i, %c600 : index
        %z = symm.remote_load %ctx, %far[%at], %peer : !numbers -> i32
        %w = arith.addi %z, %two : i32
        symm.remote_store %ctx, %far[%at], %w, %peer : !numbers, i32
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx, %rounds: index {symm.name = "rounds"}) {
    %c1 = arith.constant 1 : index
    %near = symm.alloc %ctx : !numbers
    %far = symm.alloc %ctx : !numbers
    gpu.launch_func @kernels::@near blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%near : !numbers, %rounds : index)
    // BETWEEN: symm.barrier_all %ctx
    gpu.launch_func @kernels::@far blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %near : !numbers, %far : !numbers, %rounds : index)
    return
  }
}
