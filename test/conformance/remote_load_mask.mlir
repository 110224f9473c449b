// RUN: %run-all
// symm.remote_load under masks: of a scalar, known and not, and of every lane; where one is false, `other` comes out
// and nothing is read, not even from a rank that does not exist.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Element i of rank r is 1000 r + i + 1; what a mask leaves out is -i.
    gpu.func @write(%ctx: !symm.ctx, %data: memref<32xi32>) kernel {
      %c32 = arith.constant 32 : index
      %one = arith.constant 1 : i32
      %thousand = arith.constant 1000 : i32
      %me = symm.rank %ctx
      %mine = arith.muli %me, %thousand : i32
      %first = gpu.global_id x
      %blocks = gpu.grid_dim x
      %threads = gpu.block_dim x
      %all = arith.muli %blocks, %threads : index
      scf.for %i = %first to %c32 step %all {
        %count = arith.index_cast %i : index to i32
        %sum = arith.addi %mine, %count : i32
        %v = arith.addi %sum, %one : i32
        memref.store %v, %data[%i] : memref<32xi32>
      }
      gpu.return
    }

    // Rows: every third element, all, none, and every other lane, odd ones first.
    gpu.func @read(%ctx: !symm.ctx, %data: memref<32xi32>, %seen: memref<4x32xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c32 = arith.constant 32 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %three = arith.constant 3 : i32
      %true = arith.constant true
      %lanes = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
      %ones = arith.constant dense<1> : vector<4xi32>
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %never = arith.cmpi uge, %me, %n : i32
      %zeros = arith.constant dense<0> : vector<4xi32>
      %first = gpu.global_id x
      %blocks = gpu.grid_dim x
      %threads = gpu.block_dim x
      %all = arith.muli %blocks, %threads : index
      scf.for %i = %first to %c32 step %all {
        %count = arith.index_cast %i : index to i32
        %rest = arith.remui %count, %three : i32
        %third = arith.cmpi eq, %rest, %zero : i32
        %other = arith.subi %zero, %count : i32
        %a = symm.remote_load %ctx, %data[%i], %right mask %third : i1 other %other : i32 : memref<32xi32> -> i32
        memref.store %a, %seen[%c0, %i] : memref<4x32xi32>
        %b = symm.remote_load %ctx, %data[%i], %right mask %true : i1 other %other : i32 : memref<32xi32> -> i32
        memref.store %b, %seen[%c1, %i] : memref<4x32xi32>
        %c = symm.remote_load %ctx, %data[%i], %n mask %never : i1 other %other : i32 : memref<32xi32> -> i32
        memref.store %c, %seen[%c2, %i] : memref<4x32xi32>
      }
      scf.for %k = %first to %c8 step %all {
        %i = arith.muli %k, %c4 : index
        %row = arith.index_cast %k : index to i32
        %rows = vector.broadcast %row : i32 to vector<4xi32>
        %sum = arith.addi %rows, %lanes : vector<4xi32>
        %parity = arith.andi %sum, %ones : vector<4xi32>
        %odd = arith.cmpi eq, %parity, %ones : vector<4xi32>
        %count = arith.index_cast %i : index to i32
        %counts = vector.broadcast %count : i32 to vector<4xi32>
        %places = arith.addi %counts, %lanes : vector<4xi32>
        %others = arith.subi %zeros, %places : vector<4xi32>
        %v = symm.remote_load %ctx, %data[%i], %right mask %odd : vector<4xi1> other %others : vector<4xi32>
          : memref<32xi32> -> vector<4xi32>
        vector.store %v, %seen[%c3, %i] : memref<4x32xi32>, vector<4xi32>
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %thousand = arith.constant 1000 : i32
    %true = arith.constant true
    %false = arith.constant false
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %next = arith.addi %me, %one : i32
    %peer = arith.remui %next, %n : i32
    %theirs = arith.muli %peer, %thousand : i32
    %data = symm.alloc %ctx : memref<32xi32>
    %seen = symm.alloc %ctx : memref<4x32xi32>
    gpu.launch_func @kernels::@write blocks in (%c2, %c1, %c1) threads in (%c8, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<32xi32>)
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@read blocks in (%c2, %c1, %c1) threads in (%c8, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<32xi32>, %seen : memref<4x32xi32>)

    %got = memref.alloc() : memref<4x32xi32>
    gpu.memcpy %got, %seen : memref<4x32xi32>, memref<4x32xi32>
    scf.for %row = %c0 to %c4 step %c1 {
      scf.for %i = %c0 to %c32 step %c1 {
        %in = scf.index_switch %row -> i1
        case 0 {
          %rest = arith.remui %i, %c3 : index
          %third = arith.cmpi eq, %rest, %c0 : index
          scf.yield %third : i1
        }
        case 1 {
          scf.yield %true : i1
        }
        case 2 {
          scf.yield %false : i1
        }
        default {
          %k = arith.divui %i, %c4 : index
          %sum = arith.addi %k, %i : index
          %rest = arith.remui %sum, %c2 : index
          %odd = arith.cmpi eq, %rest, %c1 : index
          scf.yield %odd : i1
        }
        %count = arith.index_cast %i : index to i32
        %sum = arith.addi %theirs, %count : i32
        %value = arith.addi %sum, %one : i32
        %other = arith.subi %zero, %count : i32
        %want = arith.select %in, %value, %other : i32
        %v = memref.load %got[%row, %i] : memref<4x32xi32>
        %same = arith.cmpi eq, %v, %want : i32
        symm.check %same, "row {}: element {} is {}, expected {}"(%row, %i, %v, %want) : index, index, i32, i32
      }
    }
    memref.dealloc %got : memref<4x32xi32>
    return
  }
}
