// What a program for a GPU may not look like.
// RUN: symm-opt %s --symm-lower-to-nvvm --split-input-file --verify-diagnostics
// RUN: symm-opt %s --symm-lower-to-rocdl --split-input-file --verify-diagnostics

gpu.module @kernels {
  // expected-error @below {{S1: takes tensor<64xf32>; a GPU's functions take and return scalars, vectors, memrefs and LLVM pointers}}
  gpu.func @invalid_tensor(%ctx: !symm.ctx, %t: tensor<64xf32>) kernel {
    gpu.return
  }
  // expected-error @below {{S1: returns tensor<*xf32>; a GPU's}}
  func.func private @invalid_result() -> tensor<*xf32>
  // expected-error @below {{S1: takes tuple<i32, f32>; a GPU's}}
  func.func private @invalid_tuple(tuple<i32, f32>)
}

// -----

gpu.module @kernels {
  // expected-error @below {{S1: assemblers reject the name 'my kernel': use letters, digits, _ and $, with no digit first}}
  gpu.func @"my kernel"() kernel {
    gpu.return
  }
  // expected-error @below {{S1: assemblers reject the name 'käse'}}
  gpu.func @"käse"() kernel {
    gpu.return
  }
  // expected-error @below {{S1: assemblers reject the name 'a.b'}}
  gpu.func @a.b() kernel {
    gpu.return
  }
  // expected-error @below {{S1: assemblers reject the name '1st'}}
  func.func @"1st"() {
    return
  }
  // What is called from within is renamed.
  func.func @a.c() {
    return
  }
  gpu.func @_1$() kernel {
    gpu.return
  }
}

// -----

module {
  module @inner {
    // expected-error @below {{S1: is in a nested module; kernels must be in a gpu.module at the top of the program}}
    gpu.module @kernels {
    }
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{S1: '_symm_copy_4x8' is a name of the device library, which is reserved}}
  func.func @_symm_copy_4x8() {
    return
  }
  // expected-error @below {{S1: '_symm_shared_words' is a name of the device library}}
  llvm.mlir.global internal @_symm_shared_words() {addr_space = 3 : i32} : i32
}

// -----

gpu.module @kernels {
  gpu.func @add(%x: f32, %i: i32, %out: memref<2xf32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'gpu.all_reduce' op S1: has no lowering for GPUs; reduce with gpu.shuffle, and between warps in shared memory}}
    %0 = gpu.all_reduce add %x {} : (f32) -> (f32)
    // expected-error @below {{'gpu.subgroup_reduce' op S1: has no lowering for GPUs}}
    %1 = gpu.subgroup_reduce add %i : (i32) -> i32
    memref.store %0, %out[%c0] : memref<2xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{S1: known_block_size is not a block size: each dimension has at least 1 thread}}
  gpu.func @wrapped() kernel attributes {known_block_size = array<i32: 4294967295, 1, 1>} {
    gpu.return
  }
  // expected-error @below {{S1: nvvm.maxntid is not a block size}}
  gpu.func @none() kernel attributes {nvvm.maxntid = array<i32: 128, 0, 1>} {
    gpu.return
  }
}
