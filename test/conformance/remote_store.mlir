// RUN: %run-all
// symm.remote_store of every data type: each rank writes to its right neighbour, and every byte counts.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Element i of rank r is 15 r + i + 1, at most 120, in every type.
    gpu.func @write(%ctx: !symm.ctx, %i8s: memref<15xi8>, %i16s: memref<15xi16>, %i32s: memref<15xi32>,
                    %i64s: memref<15xi64>, %indexs: memref<15xindex>, %f16s: memref<15xf16>,
                    %bf16s: memref<15xbf16>, %f32s: memref<15xf32>, %f64s: memref<15xf64>) kernel {
      %c15 = arith.constant 15 : index
      %one = arith.constant 1 : i32
      %fifteen = arith.constant 15 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %mine = arith.muli %me, %fifteen : i32
      %first = gpu.global_id x
      %blocks = gpu.grid_dim x
      %threads = gpu.block_dim x
      %all = arith.muli %blocks, %threads : index
      scf.for %i = %first to %c15 step %all {
        %count = arith.index_cast %i : index to i32
        %sum = arith.addi %mine, %count : i32
        %v = arith.addi %sum, %one : i32
        %i8_x = func.call @to_i8(%v) : (i32) -> i8
        symm.remote_store %ctx, %i8s[%i], %i8_x, %right : memref<15xi8>, i8
        %i16_x = func.call @to_i16(%v) : (i32) -> i16
        symm.remote_store %ctx, %i16s[%i], %i16_x, %right : memref<15xi16>, i16
        %i32_x = func.call @to_i32(%v) : (i32) -> i32
        symm.remote_store %ctx, %i32s[%i], %i32_x, %right : memref<15xi32>, i32
        %i64_x = func.call @to_i64(%v) : (i32) -> i64
        symm.remote_store %ctx, %i64s[%i], %i64_x, %right : memref<15xi64>, i64
        %index_x = func.call @to_index(%v) : (i32) -> index
        symm.remote_store %ctx, %indexs[%i], %index_x, %right : memref<15xindex>, index
        %f16_x = func.call @to_f16(%v) : (i32) -> f16
        symm.remote_store %ctx, %f16s[%i], %f16_x, %right : memref<15xf16>, f16
        %bf16_x = func.call @to_bf16(%v) : (i32) -> bf16
        symm.remote_store %ctx, %bf16s[%i], %bf16_x, %right : memref<15xbf16>, bf16
        %f32_x = func.call @to_f32(%v) : (i32) -> f32
        symm.remote_store %ctx, %f32s[%i], %f32_x, %right : memref<15xf32>, f32
        %f64_x = func.call @to_f64(%v) : (i32) -> f64
        symm.remote_store %ctx, %f64s[%i], %f64_x, %right : memref<15xf64>, f64
      }
      gpu.return
    }

    gpu.func @read(%ctx: !symm.ctx, %i8s: memref<15xi8>, %i16s: memref<15xi16>, %i32s: memref<15xi32>,
                   %i64s: memref<15xi64>, %indexs: memref<15xindex>, %f16s: memref<15xf16>,
                   %bf16s: memref<15xbf16>, %f32s: memref<15xf32>, %f64s: memref<15xf64>,
                   %seen: memref<9x15xi32>) kernel {
      %c15 = arith.constant 15 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %c6 = arith.constant 6 : index
      %c7 = arith.constant 7 : index
      %c8 = arith.constant 8 : index
      %first = gpu.global_id x
      %blocks = gpu.grid_dim x
      %threads = gpu.block_dim x
      %all = arith.muli %blocks, %threads : index
      scf.for %i = %first to %c15 step %all {
        %i8_x = memref.load %i8s[%i] : memref<15xi8>
        %i8_v = func.call @from_i8(%i8_x) : (i8) -> i32
        memref.store %i8_v, %seen[%c0, %i] : memref<9x15xi32>
        %i16_x = memref.load %i16s[%i] : memref<15xi16>
        %i16_v = func.call @from_i16(%i16_x) : (i16) -> i32
        memref.store %i16_v, %seen[%c1, %i] : memref<9x15xi32>
        %i32_x = memref.load %i32s[%i] : memref<15xi32>
        %i32_v = func.call @from_i32(%i32_x) : (i32) -> i32
        memref.store %i32_v, %seen[%c2, %i] : memref<9x15xi32>
        %i64_x = memref.load %i64s[%i] : memref<15xi64>
        %i64_v = func.call @from_i64(%i64_x) : (i64) -> i32
        memref.store %i64_v, %seen[%c3, %i] : memref<9x15xi32>
        %index_x = memref.load %indexs[%i] : memref<15xindex>
        %index_v = func.call @from_index(%index_x) : (index) -> i32
        memref.store %index_v, %seen[%c4, %i] : memref<9x15xi32>
        %f16_x = memref.load %f16s[%i] : memref<15xf16>
        %f16_v = func.call @from_f16(%f16_x) : (f16) -> i32
        memref.store %f16_v, %seen[%c5, %i] : memref<9x15xi32>
        %bf16_x = memref.load %bf16s[%i] : memref<15xbf16>
        %bf16_v = func.call @from_bf16(%bf16_x) : (bf16) -> i32
        memref.store %bf16_v, %seen[%c6, %i] : memref<9x15xi32>
        %f32_x = memref.load %f32s[%i] : memref<15xf32>
        %f32_v = func.call @from_f32(%f32_x) : (f32) -> i32
        memref.store %f32_v, %seen[%c7, %i] : memref<9x15xi32>
        %f64_x = memref.load %f64s[%i] : memref<15xf64>
        %f64_v = func.call @from_f64(%f64_x) : (f64) -> i32
        memref.store %f64_v, %seen[%c8, %i] : memref<9x15xi32>
      }
      gpu.return
    }

    func.func private @to_i8(%v: i32) -> i8 {
      %x = arith.trunci %v : i32 to i8
      return %x : i8
    }
    func.func private @to_i16(%v: i32) -> i16 {
      %k = arith.constant 0x101 : i32
      %wide = arith.muli %v, %k : i32
      %x = arith.trunci %wide : i32 to i16
      return %x : i16
    }
    func.func private @to_i32(%v: i32) -> i32 {
      %k = arith.constant 0x1010101 : i32
      %x = arith.muli %v, %k : i32
      return %x : i32
    }
    func.func private @to_i64(%v: i32) -> i64 {
      %k = arith.constant 0x101010101010101 : i64
      %wide = arith.extsi %v : i32 to i64
      %x = arith.muli %wide, %k : i64
      return %x : i64
    }
    func.func private @to_index(%v: i32) -> index {
      %k = arith.constant 0x101010101010101 : i64
      %wide = arith.extsi %v : i32 to i64
      %word = arith.muli %wide, %k : i64
      %x = arith.index_cast %word : i64 to index
      return %x : index
    }
    func.func private @to_f16(%v: i32) -> f16 {
      %k = arith.constant 1.125 : f16
      %float = arith.sitofp %v : i32 to f16
      %x = arith.mulf %float, %k : f16
      return %x : f16
    }
    func.func private @to_bf16(%v: i32) -> bf16 {
      %x = arith.sitofp %v : i32 to bf16
      return %x : bf16
    }
    func.func private @to_f32(%v: i32) -> f32 {
      %k = arith.constant 1.0009765625 : f32
      %float = arith.sitofp %v : i32 to f32
      %x = arith.mulf %float, %k : f32
      return %x : f32
    }
    func.func private @to_f64(%v: i32) -> f64 {
      %k = arith.constant 1.00000000000090949470177292823791503906250 : f64
      %float = arith.sitofp %v : i32 to f64
      %x = arith.mulf %float, %k : f64
      return %x : f64
    }
    func.func private @from_i8(%x: i8) -> i32 {
      %v = arith.extsi %x : i8 to i32
      return %v : i32
    }
    func.func private @from_i16(%x: i16) -> i32 {
      %k = arith.constant 0x101 : i32
      %wide = arith.extsi %x : i16 to i32
      %v = arith.divsi %wide, %k : i32
      return %v : i32
    }
    func.func private @from_i32(%x: i32) -> i32 {
      %k = arith.constant 0x1010101 : i32
      %v = arith.divsi %x, %k : i32
      return %v : i32
    }
    func.func private @from_i64(%x: i64) -> i32 {
      %k = arith.constant 0x101010101010101 : i64
      %wide = arith.divsi %x, %k : i64
      %v = arith.trunci %wide : i64 to i32
      return %v : i32
    }
    func.func private @from_index(%x: index) -> i32 {
      %k = arith.constant 0x101010101010101 : i64
      %word = arith.index_cast %x : index to i64
      %wide = arith.divsi %word, %k : i64
      %v = arith.trunci %wide : i64 to i32
      return %v : i32
    }
    func.func private @from_f16(%x: f16) -> i32 {
      %k = arith.constant 1.125 : f16
      %float = arith.divf %x, %k : f16
      %v = arith.fptosi %float : f16 to i32
      return %v : i32
    }
    func.func private @from_bf16(%x: bf16) -> i32 {
      %v = arith.fptosi %x : bf16 to i32
      return %v : i32
    }
    func.func private @from_f32(%x: f32) -> i32 {
      %k = arith.constant 1.0009765625 : f32
      %float = arith.divf %x, %k : f32
      %v = arith.fptosi %float : f32 to i32
      return %v : i32
    }
    func.func private @from_f64(%x: f64) -> i32 {
      %k = arith.constant 1.00000000000090949470177292823791503906250 : f64
      %float = arith.divf %x, %k : f64
      %v = arith.fptosi %float : f64 to i32
      return %v : i32
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %c15 = arith.constant 15 : index
    %one = arith.constant 1 : i32
    %fifteen = arith.constant 15 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %i8s = symm.alloc %ctx : memref<15xi8>
    %i16s = symm.alloc %ctx : memref<15xi16>
    %i32s = symm.alloc %ctx : memref<15xi32>
    %i64s = symm.alloc %ctx : memref<15xi64>
    %indexs = symm.alloc %ctx : memref<15xindex>
    %f16s = symm.alloc %ctx : memref<15xf16>
    %bf16s = symm.alloc %ctx : memref<15xbf16>
    %f32s = symm.alloc %ctx : memref<15xf32>
    %f64s = symm.alloc %ctx : memref<15xf64>
    %seen = symm.alloc %ctx : memref<9x15xi32>
    gpu.launch_func @kernels::@write blocks in (%c2, %c1, %c1) threads in (%c8, %c1, %c1)
      args(%ctx : !symm.ctx, %i8s : memref<15xi8>, %i16s : memref<15xi16>, %i32s : memref<15xi32>,
        %i64s : memref<15xi64>, %indexs : memref<15xindex>, %f16s : memref<15xf16>, %bf16s : memref<15xbf16>,
        %f32s : memref<15xf32>, %f64s : memref<15xf64>)
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@read blocks in (%c2, %c1, %c1) threads in (%c8, %c1, %c1)
      args(%ctx : !symm.ctx, %i8s : memref<15xi8>, %i16s : memref<15xi16>, %i32s : memref<15xi32>,
        %i64s : memref<15xi64>, %indexs : memref<15xindex>, %f16s : memref<15xf16>, %bf16s : memref<15xbf16>,
        %f32s : memref<15xf32>, %f64s : memref<15xf64>, %seen : memref<9x15xi32>)

    %got = memref.alloc() : memref<9x15xi32>
    gpu.memcpy %got, %seen : memref<9x15xi32>, memref<9x15xi32>
    %before = arith.subi %n, %one : i32
    %back = arith.addi %me, %before : i32
    %peer = arith.remui %back, %n : i32
    %theirs = arith.muli %peer, %fifteen : i32
    scf.for %type = %c0 to %c9 step %c1 {
      scf.for %i = %c0 to %c15 step %c1 {
        %count = arith.index_cast %i : index to i32
        %sum = arith.addi %theirs, %count : i32
        %want = arith.addi %sum, %one : i32
        %v = memref.load %got[%type, %i] : memref<9x15xi32>
        %same = arith.cmpi eq, %v, %want : i32
        symm.check %same, "type {}: element {} is {}, expected {}"(%type, %i, %v, %want) : index, index, i32, i32
      }
    }
    memref.dealloc %got : memref<9x15xi32>
    return
  }
}
