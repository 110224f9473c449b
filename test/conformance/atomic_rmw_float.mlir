// RUN: %run-all
// symm.atomic_rmw fadd and xchg on floats. All ranks add to the same sum, which every type can hold exactly; what was
// exchanged out of a place, together with what is left there, is what was exchanged into it.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // places = [sum of fadd, place of xchg, sum of what came out of it]
    gpu.func @update(%ctx: !symm.ctx, %f16s: memref<3xf16>, %bf16s: memref<3xbf16>,
                     %f32s: memref<3xf32>, %f64s: memref<3xf64>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c8 = arith.constant 8 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %n = symm.num_ranks %ctx
      %f16_one = arith.constant 1.0 : f16
      %f16_two = arith.constant 2.0 : f16
      %bf16_one = arith.constant 1.0 : bf16
      %bf16_two = arith.constant 2.0 : bf16
      %f32_one = arith.constant 1.0 : f32
      %f32_two = arith.constant 2.0 : f32
      %f64_one = arith.constant 1.0 : f64
      %f64_two = arith.constant 2.0 : f64
      %first = gpu.global_id x
      %blocks = gpu.grid_dim x
      %threads = gpu.block_dim x
      %all = arith.muli %blocks, %threads : index
      scf.for %i = %first to %c8 step %all {
        scf.for %peer = %zero to %n step %one : i32 {
          %f16_a = symm.atomic_rmw fadd %ctx, %f16s[%c0], %f16_two, %peer : memref<3xf16>, f16
          %f16_b = symm.atomic_rmw xchg %ctx, %f16s[%c1], %f16_one, %peer : memref<3xf16>, f16
          %f16_c = symm.atomic_rmw fadd %ctx, %f16s[%c2], %f16_b, %peer : memref<3xf16>, f16
          %bf16_a = symm.atomic_rmw fadd %ctx, %bf16s[%c0], %bf16_two, %peer : memref<3xbf16>, bf16
          %bf16_b = symm.atomic_rmw xchg %ctx, %bf16s[%c1], %bf16_one, %peer : memref<3xbf16>, bf16
          %bf16_c = symm.atomic_rmw fadd %ctx, %bf16s[%c2], %bf16_b, %peer : memref<3xbf16>, bf16
          %f32_a = symm.atomic_rmw fadd %ctx, %f32s[%c0], %f32_two, %peer : memref<3xf32>, f32
          %f32_b = symm.atomic_rmw xchg %ctx, %f32s[%c1], %f32_one, %peer : memref<3xf32>, f32
          %f32_c = symm.atomic_rmw fadd %ctx, %f32s[%c2], %f32_b, %peer : memref<3xf32>, f32
          %f64_a = symm.atomic_rmw fadd %ctx, %f64s[%c0], %f64_two, %peer : memref<3xf64>, f64
          %f64_b = symm.atomic_rmw xchg %ctx, %f64s[%c1], %f64_one, %peer : memref<3xf64>, f64
          %f64_c = symm.atomic_rmw fadd %ctx, %f64s[%c2], %f64_b, %peer : memref<3xf64>, f64
        }
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
    %n = symm.num_ranks %ctx
    %ranks = arith.sitofp %n : i32 to f32
    %two = arith.constant 2.0 : f32
    %eight = arith.constant 8.0 : f32
    %f16s = symm.alloc %ctx : memref<3xf16>
    %bf16s = symm.alloc %ctx : memref<3xbf16>
    %f32s = symm.alloc %ctx : memref<3xf32>
    %f64s = symm.alloc %ctx : memref<3xf64>
    gpu.launch_func @kernels::@update blocks in (%c4, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %f16s : memref<3xf16>, %bf16s : memref<3xbf16>, %f32s : memref<3xf32>,
        %f64s : memref<3xf64>)
    symm.barrier_all %ctx

    // 8 times each rank: 2 with fadd; 1 with xchg, of which one stays.
    %all = arith.mulf %ranks, %eight : f32
    %want_sum = arith.mulf %all, %two : f32
    %f16_got = memref.alloc() : memref<3xf16>
    gpu.memcpy %f16_got, %f16s : memref<3xf16>, memref<3xf16>
    %f16_sum = memref.load %f16_got[%c0] : memref<3xf16>
    %f16_sum_f32 = arith.extf %f16_sum : f16 to f32
    %f16_place = memref.load %f16_got[%c1] : memref<3xf16>
    %f16_place_f32 = arith.extf %f16_place : f16 to f32
    %f16_out = memref.load %f16_got[%c2] : memref<3xf16>
    %f16_out_f32 = arith.extf %f16_out : f16 to f32
    func.call @check_float(%f16_sum_f32, %want_sum) : (f32, f32) -> ()
    %f16_in = arith.addf %f16_place_f32, %f16_out_f32 : f32
    func.call @check_float(%f16_in, %all) : (f32, f32) -> ()
    memref.dealloc %f16_got : memref<3xf16>
    %bf16_got = memref.alloc() : memref<3xbf16>
    gpu.memcpy %bf16_got, %bf16s : memref<3xbf16>, memref<3xbf16>
    %bf16_sum = memref.load %bf16_got[%c0] : memref<3xbf16>
    %bf16_sum_f32 = arith.extf %bf16_sum : bf16 to f32
    %bf16_place = memref.load %bf16_got[%c1] : memref<3xbf16>
    %bf16_place_f32 = arith.extf %bf16_place : bf16 to f32
    %bf16_out = memref.load %bf16_got[%c2] : memref<3xbf16>
    %bf16_out_f32 = arith.extf %bf16_out : bf16 to f32
    func.call @check_float(%bf16_sum_f32, %want_sum) : (f32, f32) -> ()
    %bf16_in = arith.addf %bf16_place_f32, %bf16_out_f32 : f32
    func.call @check_float(%bf16_in, %all) : (f32, f32) -> ()
    memref.dealloc %bf16_got : memref<3xbf16>
    %f32_got = memref.alloc() : memref<3xf32>
    gpu.memcpy %f32_got, %f32s : memref<3xf32>, memref<3xf32>
    %f32_sum = memref.load %f32_got[%c0] : memref<3xf32>
    %f32_place = memref.load %f32_got[%c1] : memref<3xf32>
    %f32_out = memref.load %f32_got[%c2] : memref<3xf32>
    func.call @check_float(%f32_sum, %want_sum) : (f32, f32) -> ()
    %f32_in = arith.addf %f32_place, %f32_out : f32
    func.call @check_float(%f32_in, %all) : (f32, f32) -> ()
    memref.dealloc %f32_got : memref<3xf32>
    %f64_got = memref.alloc() : memref<3xf64>
    gpu.memcpy %f64_got, %f64s : memref<3xf64>, memref<3xf64>
    %f64_sum = memref.load %f64_got[%c0] : memref<3xf64>
    %f64_sum_f32 = arith.truncf %f64_sum : f64 to f32
    %f64_place = memref.load %f64_got[%c1] : memref<3xf64>
    %f64_place_f32 = arith.truncf %f64_place : f64 to f32
    %f64_out = memref.load %f64_got[%c2] : memref<3xf64>
    %f64_out_f32 = arith.truncf %f64_out : f64 to f32
    func.call @check_float(%f64_sum_f32, %want_sum) : (f32, f32) -> ()
    %f64_in = arith.addf %f64_place_f32, %f64_out_f32 : f32
    func.call @check_float(%f64_in, %all) : (f32, f32) -> ()
    memref.dealloc %f64_got : memref<3xf64>
    return
  }

  func.func private @check_float(%got: f32, %want: f32) {
    %same = arith.cmpf oeq, %got, %want : f32
    symm.check %same, "sum is {}, expected {}"(%got, %want) : f32, f32
    return
  }
}
