// RUN: %run-all
// symm.remote_store under masks: of a scalar, known and not, and of every lane; where one is false nothing is written,
// not even to a rank that does not exist.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Element i of rank r is 1000 r + i + 1. Rows: every third element, all, none, and every other lane, the
    // odd first, but all of the first two vectors.
    gpu.func @write(%ctx: !symm.ctx, %data: memref<4x32xi32>) kernel {
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
      %thousand = arith.constant 1000 : i32
      %mine = arith.muli %me, %thousand : i32
      %start = arith.addi %mine, %one : i32
      %first = gpu.global_id x
      %blocks = gpu.grid_dim x
      %threads = gpu.block_dim x
      %all = arith.muli %blocks, %threads : index
      scf.for %i = %first to %c32 step %all {
        %count = arith.index_cast %i : index to i32
        %rest = arith.remui %count, %three : i32
        %third = arith.cmpi eq, %rest, %zero : i32
        %v = arith.addi %start, %count : i32
        symm.remote_store %ctx, %data[%c0, %i], %v, %right mask %third : i1 : memref<4x32xi32>, i32
        symm.remote_store %ctx, %data[%c1, %i], %v, %right mask %true : i1 : memref<4x32xi32>, i32
        symm.remote_store %ctx, %data[%c2, %i], %v, %n mask %never : i1 : memref<4x32xi32>, i32
      }
      scf.for %k = %first to %c8 step %all {
        %i = arith.muli %k, %c4 : index
        %row = arith.index_cast %k : index to i32
        %rows = vector.broadcast %row : i32 to vector<4xi32>
        %sum = arith.addi %rows, %lanes : vector<4xi32>
        %parity = arith.andi %sum, %ones : vector<4xi32>
        %odds = arith.cmpi eq, %parity, %ones : vector<4xi32>
        %begins = arith.cmpi ult, %k, %c2 : index
        %every = vector.broadcast %begins : i1 to vector<4xi1>
        %odd = arith.ori %odds, %every : vector<4xi1>
        %count = arith.index_cast %i : index to i32
        %base = arith.addi %start, %count : i32
        %bases = vector.broadcast %base : i32 to vector<4xi32>
        %v = arith.addi %bases, %lanes : vector<4xi32>
        symm.remote_store %ctx, %data[%c3, %i], %v, %right mask %odd : vector<4xi1> : memref<4x32xi32>, vector<4xi32>
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
    %before = arith.subi %n, %one : i32
    %back = arith.addi %me, %before : i32
    %peer = arith.remui %back, %n : i32
    %theirs = arith.muli %peer, %thousand : i32
    %data = symm.alloc %ctx : memref<4x32xi32>
    gpu.launch_func @kernels::@write blocks in (%c2, %c1, %c1) threads in (%c8, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<4x32xi32>)
    symm.barrier_all %ctx

    %got = memref.alloc() : memref<4x32xi32>
    gpu.memcpy %got, %data : memref<4x32xi32>, memref<4x32xi32>
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
          %begins = arith.cmpi ult, %k, %c2 : index
          %on = arith.ori %odd, %begins : i1
          scf.yield %on : i1
        }
        %count = arith.index_cast %i : index to i32
        %sum = arith.addi %theirs, %count : i32
        %value = arith.addi %sum, %one : i32
        %want = arith.select %in, %value, %zero : i32
        %v = memref.load %got[%row, %i] : memref<4x32xi32>
        %same = arith.cmpi eq, %v, %want : i32
        symm.check %same, "row {}: element {} is {}, expected {}"(%row, %i, %v, %want) : index, index, i32, i32
      }
    }
    memref.dealloc %got : memref<4x32xi32>
    return
  }
}
