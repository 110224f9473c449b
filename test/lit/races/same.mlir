// Writes of one value by one op may overlap in part: each is then a note, as of writes of exactly the same bytes.

// RUN: symm-check %s --entry vectors --threads 2 | FileCheck %s --check-prefix=VECTORS
// RUN: not symm-check %s --entry differ --threads 2 | FileCheck %s --check-prefix=DIFFER

!words = memref<64xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @store(%ctx: !symm.ctx, %d: !words, %last: i32) kernel {
      %three = arith.constant 3 : index
      %thread = gpu.thread_id x
      %at = arith.muli %thread, %three : index
      %ones = arith.constant dense<7> : vector<4xi32>
      %number = arith.index_cast %thread : index to i32
      %more = arith.muli %number, %last : i32
      %added = vector.broadcast %more : i32 to vector<4xi32>
      %v = arith.addi %ones, %added : vector<4xi32>
      vector.store %v, %d[%at] : !words, vector<4xi32>
      gpu.return
    }
  }

  func.func @vectors(%ctx: !symm.ctx) {
    %zero = arith.constant 0 : i32
    func.call @run(%ctx, %zero) : (!symm.ctx, i32) -> ()
    return
  }

  func.func @differ(%ctx: !symm.ctx) {
    %one = arith.constant 1 : i32
    func.call @run(%ctx, %one) : (!symm.ctx, i32) -> ()
    return
  }

  func.func private @run(%ctx: !symm.ctx, %last: i32) {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %d = symm.alloc %ctx {align = 64 : i64} : !words
    gpu.launch_func @kernels::@store blocks in (%one, %one, %one) threads in (%two, %one, %one)
      args(%ctx : !symm.ctx, %d : !words, %last : i32)
    return
  }
}

// VECTORS: note: same-value
// VECTORS-NOT: error:
// DIFFER: error: race (O1)
