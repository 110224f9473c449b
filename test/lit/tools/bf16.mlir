// bf16 on processors with instructions for it (avx512_bf16), which are not used: LLVM 22 ends the process on vectors of
// 2^n + 1 elements, and they take the smallest numbers for zero, where no other target does.
// RUN: symm-run %s --arg small=1e-40
// RUN: symm-translate %s --to obj -o %t.o
// RUN: symm-translate %s | FileCheck %s
// CHECK-NOT: +avx512bf16
// CHECK-NOT: +avxneconvert

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @double(%ctx: !symm.ctx, %p: memref<128xbf16>) kernel {
      %c0 = arith.constant 0 : index
      %me = symm.rank %ctx
      %v9 = symm.remote_load %ctx, %p[%c0], %me : memref<128xbf16> -> vector<9xbf16>
      %w9 = arith.addf %v9, %v9 : vector<9xbf16>
      symm.remote_store %ctx, %p[%c0], %w9, %me : memref<128xbf16>, vector<9xbf16>
      %v17 = symm.remote_load %ctx, %p[%c0], %me : memref<128xbf16> -> vector<17xbf16>
      %w17 = arith.addf %v17, %v17 : vector<17xbf16>
      symm.remote_store %ctx, %p[%c0], %w17, %me : memref<128xbf16>, vector<17xbf16>
      %v33 = symm.remote_load %ctx, %p[%c0], %me : memref<128xbf16> -> vector<33xbf16>
      %w33 = arith.addf %v33, %v33 : vector<33xbf16>
      symm.remote_store %ctx, %p[%c0], %w33, %me : memref<128xbf16>, vector<33xbf16>
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx, %small: f32 {symm.name = "small"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c33 = arith.constant 33 : index
    %one = arith.constant 1.0 : bf16
    %data = symm.alloc %ctx : memref<128xbf16>
    %host = memref.alloc() : memref<128xbf16>
    scf.for %i = %c0 to %c33 step %c1 {
      memref.store %one, %host[%i] : memref<128xbf16>
    }
    gpu.memcpy %data, %host : memref<128xbf16>, memref<128xbf16>
    gpu.launch_func @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<128xbf16>)
    gpu.memcpy %host, %data : memref<128xbf16>, memref<128xbf16>
    // Each of the first 9 was doubled three times, of the next 8 twice, of the others once.
    %sum = scf.for %i = %c0 to %c33 step %c1 iter_args(%acc = %small) -> (f32) {
      %x = memref.load %host[%i] : memref<128xbf16>
      %wide = arith.extf %x : bf16 to f32
      %next = arith.addf %acc, %wide : f32
      scf.yield %next : f32
    }
    %want = arith.constant 136.0 : f32
    %same = arith.cmpf oeq, %sum, %want : f32
    symm.check %same, "the sum is {}, expected {}"(%sum, %want) : f32, f32

    %narrow = arith.truncf %small : f32 to bf16
    %bits = arith.bitcast %narrow : bf16 to i16
    %expected = arith.constant 1 : i16
    %kept = arith.cmpi eq, %bits, %expected : i16
    symm.check %kept, "1e-40 has the bits {} as bf16, expected {}"(%bits, %expected) : i16, i16
    return
  }
}
