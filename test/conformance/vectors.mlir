// RUN: %run-all
// Vectors of 16 bytes of every element type: symm.remote_store to the right neighbour, symm.remote_load back from it.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Word w of row t of rank r is 1000000 r + 1000 t + w, whatever the type of the row.
    gpu.func @write(%ctx: !symm.ctx, %i8s: memref<16xi8>, %i64s: memref<2xi64>, %f16s: memref<8xf16>,
                    %bf16s: memref<8xbf16>, %f32s: memref<4xf32>, %f64s: memref<2xf64>) kernel {
      %c0 = arith.constant 0 : index
      %million = arith.constant 1000000 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %mine = arith.muli %me, %million : i32
      %mines = vector.broadcast %mine : i32 to vector<4xi32>
      %i8_places = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
      %i8_words = arith.addi %mines, %i8_places : vector<4xi32>
      %i8_v = vector.bitcast %i8_words : vector<4xi32> to vector<16xi8>
      symm.remote_store %ctx, %i8s[%c0], %i8_v, %right : memref<16xi8>, vector<16xi8>
      %i64_places = arith.constant dense<[1000, 1001, 1002, 1003]> : vector<4xi32>
      %i64_words = arith.addi %mines, %i64_places : vector<4xi32>
      %i64_v = vector.bitcast %i64_words : vector<4xi32> to vector<2xi64>
      symm.remote_store %ctx, %i64s[%c0], %i64_v, %right : memref<2xi64>, vector<2xi64>
      %f16_places = arith.constant dense<[2000, 2001, 2002, 2003]> : vector<4xi32>
      %f16_words = arith.addi %mines, %f16_places : vector<4xi32>
      %f16_v = vector.bitcast %f16_words : vector<4xi32> to vector<8xf16>
      symm.remote_store %ctx, %f16s[%c0], %f16_v, %right : memref<8xf16>, vector<8xf16>
      %bf16_places = arith.constant dense<[3000, 3001, 3002, 3003]> : vector<4xi32>
      %bf16_words = arith.addi %mines, %bf16_places : vector<4xi32>
      %bf16_v = vector.bitcast %bf16_words : vector<4xi32> to vector<8xbf16>
      symm.remote_store %ctx, %bf16s[%c0], %bf16_v, %right : memref<8xbf16>, vector<8xbf16>
      %f32_places = arith.constant dense<[4000, 4001, 4002, 4003]> : vector<4xi32>
      %f32_words = arith.addi %mines, %f32_places : vector<4xi32>
      %f32_v = vector.bitcast %f32_words : vector<4xi32> to vector<4xf32>
      symm.remote_store %ctx, %f32s[%c0], %f32_v, %right : memref<4xf32>, vector<4xf32>
      %f64_places = arith.constant dense<[5000, 5001, 5002, 5003]> : vector<4xi32>
      %f64_words = arith.addi %mines, %f64_places : vector<4xi32>
      %f64_v = vector.bitcast %f64_words : vector<4xi32> to vector<2xf64>
      symm.remote_store %ctx, %f64s[%c0], %f64_v, %right : memref<2xf64>, vector<2xf64>
      gpu.return
    }

    // What came from the left, and what lies on the right.
    gpu.func @read(%ctx: !symm.ctx, %i8s: memref<16xi8>, %i64s: memref<2xi64>, %f16s: memref<8xf16>,
                   %bf16s: memref<8xbf16>, %f32s: memref<4xf32>, %f64s: memref<2xf64>, %here: memref<6x4xi32>,
                   %there: memref<6x4xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %i8_a = vector.load %i8s[%c0] : memref<16xi8>, vector<16xi8>
      %i8_b = symm.remote_load %ctx, %i8s[%c0], %right : memref<16xi8> -> vector<16xi8>
      %i8_c = vector.bitcast %i8_a : vector<16xi8> to vector<4xi32>
      %i8_d = vector.bitcast %i8_b : vector<16xi8> to vector<4xi32>
      vector.store %i8_c, %here[%c0, %c0] : memref<6x4xi32>, vector<4xi32>
      vector.store %i8_d, %there[%c0, %c0] : memref<6x4xi32>, vector<4xi32>
      %i64_a = vector.load %i64s[%c0] : memref<2xi64>, vector<2xi64>
      %i64_b = symm.remote_load %ctx, %i64s[%c0], %right : memref<2xi64> -> vector<2xi64>
      %i64_c = vector.bitcast %i64_a : vector<2xi64> to vector<4xi32>
      %i64_d = vector.bitcast %i64_b : vector<2xi64> to vector<4xi32>
      vector.store %i64_c, %here[%c1, %c0] : memref<6x4xi32>, vector<4xi32>
      vector.store %i64_d, %there[%c1, %c0] : memref<6x4xi32>, vector<4xi32>
      %f16_a = vector.load %f16s[%c0] : memref<8xf16>, vector<8xf16>
      %f16_b = symm.remote_load %ctx, %f16s[%c0], %right : memref<8xf16> -> vector<8xf16>
      %f16_c = vector.bitcast %f16_a : vector<8xf16> to vector<4xi32>
      %f16_d = vector.bitcast %f16_b : vector<8xf16> to vector<4xi32>
      vector.store %f16_c, %here[%c2, %c0] : memref<6x4xi32>, vector<4xi32>
      vector.store %f16_d, %there[%c2, %c0] : memref<6x4xi32>, vector<4xi32>
      %bf16_a = vector.load %bf16s[%c0] : memref<8xbf16>, vector<8xbf16>
      %bf16_b = symm.remote_load %ctx, %bf16s[%c0], %right : memref<8xbf16> -> vector<8xbf16>
      %bf16_c = vector.bitcast %bf16_a : vector<8xbf16> to vector<4xi32>
      %bf16_d = vector.bitcast %bf16_b : vector<8xbf16> to vector<4xi32>
      vector.store %bf16_c, %here[%c3, %c0] : memref<6x4xi32>, vector<4xi32>
      vector.store %bf16_d, %there[%c3, %c0] : memref<6x4xi32>, vector<4xi32>
      %f32_a = vector.load %f32s[%c0] : memref<4xf32>, vector<4xf32>
      %f32_b = symm.remote_load %ctx, %f32s[%c0], %right : memref<4xf32> -> vector<4xf32>
      %f32_c = vector.bitcast %f32_a : vector<4xf32> to vector<4xi32>
      %f32_d = vector.bitcast %f32_b : vector<4xf32> to vector<4xi32>
      vector.store %f32_c, %here[%c4, %c0] : memref<6x4xi32>, vector<4xi32>
      vector.store %f32_d, %there[%c4, %c0] : memref<6x4xi32>, vector<4xi32>
      %f64_a = vector.load %f64s[%c0] : memref<2xf64>, vector<2xf64>
      %f64_b = symm.remote_load %ctx, %f64s[%c0], %right : memref<2xf64> -> vector<2xf64>
      %f64_c = vector.bitcast %f64_a : vector<2xf64> to vector<4xi32>
      %f64_d = vector.bitcast %f64_b : vector<2xf64> to vector<4xi32>
      vector.store %f64_c, %here[%c5, %c0] : memref<6x4xi32>, vector<4xi32>
      vector.store %f64_d, %there[%c5, %c0] : memref<6x4xi32>, vector<4xi32>
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c6 = arith.constant 6 : index
    %one = arith.constant 1 : i32
    %thousand = arith.constant 1000 : i32
    %million = arith.constant 1000000 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %before = arith.subi %n, %one : i32
    %back = arith.addi %me, %before : i32
    %left = arith.remui %back, %n : i32
    %mine = arith.muli %me, %million : i32
    %theirs = arith.muli %left, %million : i32
    %i8s = symm.alloc %ctx : memref<16xi8>
    %i64s = symm.alloc %ctx : memref<2xi64>
    %f16s = symm.alloc %ctx : memref<8xf16>
    %bf16s = symm.alloc %ctx : memref<8xbf16>
    %f32s = symm.alloc %ctx : memref<4xf32>
    %f64s = symm.alloc %ctx : memref<2xf64>
    %here = symm.alloc %ctx : memref<6x4xi32>
    %there = symm.alloc %ctx : memref<6x4xi32>
    gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %i8s : memref<16xi8>, %i64s : memref<2xi64>, %f16s : memref<8xf16>,
        %bf16s : memref<8xbf16>, %f32s : memref<4xf32>, %f64s : memref<2xf64>)
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@read blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %i8s : memref<16xi8>, %i64s : memref<2xi64>, %f16s : memref<8xf16>,
        %bf16s : memref<8xbf16>, %f32s : memref<4xf32>, %f64s : memref<2xf64>, %here : memref<6x4xi32>,
        %there : memref<6x4xi32>)

    %from_left = memref.alloc() : memref<6x4xi32>
    %from_right = memref.alloc() : memref<6x4xi32>
    gpu.memcpy %from_left, %here : memref<6x4xi32>, memref<6x4xi32>
    gpu.memcpy %from_right, %there : memref<6x4xi32>, memref<6x4xi32>
    scf.for %type = %c0 to %c6 step %c1 {
      scf.for %word = %c0 to %c4 step %c1 {
        %row = arith.index_cast %type : index to i32
        %column = arith.index_cast %word : index to i32
        %line = arith.muli %row, %thousand : i32
        %place = arith.addi %line, %column : i32
        %a = memref.load %from_left[%type, %word] : memref<6x4xi32>
        %want_a = arith.addi %theirs, %place : i32
        %same_a = arith.cmpi eq, %a, %want_a : i32
        symm.check %same_a, "type {}: stored word {} is {}, expected {}"(%type, %word, %a, %want_a)
          : index, index, i32, i32
        %b = memref.load %from_right[%type, %word] : memref<6x4xi32>
        %want_b = arith.addi %mine, %place : i32
        %same_b = arith.cmpi eq, %b, %want_b : i32
        symm.check %same_b, "type {}: loaded word {} is {}, expected {}"(%type, %word, %b, %want_b)
          : index, index, i32, i32
      }
    }
    memref.dealloc %from_left : memref<6x4xi32>
    memref.dealloc %from_right : memref<6x4xi32>
    return
  }
}
