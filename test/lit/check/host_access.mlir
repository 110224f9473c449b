// RUN: symm-opt %s --split-input-file --symm-check-host-access --verify-diagnostics

func.func @direct(%ctx: !symm.ctx, %i: index, %x: f32) {
  %data = symm.alloc %ctx : memref<16xf32>
  // expected-error @below {{'memref.load' op accesses the symmetric heap from host code; use gpu.memcpy or}}
  %0 = memref.load %data[%i] : memref<16xf32>
  // expected-error @below {{'memref.store' op accesses the symmetric heap from host code}}
  memref.store %x, %data[%i] : memref<16xf32>
  // expected-error @below {{'linalg.fill' op accesses the symmetric heap from host code}}
  linalg.fill ins(%x : f32) outs(%data : memref<16xf32>)
  // expected-error @below {{'vector.load' op accesses the symmetric heap from host code}}
  %1 = vector.load %data[%i] : memref<16xf32>, vector<4xf32>
  // expected-error @below {{'affine.load' op accesses the symmetric heap from host code}}
  %2 = affine.load %data[0] : memref<16xf32>
  // expected-error @below {{'memref.atomic_rmw' op accesses the symmetric heap from host code}}
  %3 = memref.atomic_rmw addf %x, %data[%i] : (f32, memref<16xf32>) -> f32
  return
}

// -----

// Either side of a copy; gpu.memcpy is the way.
func.func @copies(%ctx: !symm.ctx) {
  %data = symm.alloc %ctx : memref<16xf32>
  %host = memref.alloc() : memref<16xf32>
  // expected-error @below {{'memref.copy' op accesses the symmetric heap from host code}}
  memref.copy %data, %host : memref<16xf32> to memref<16xf32>
  // expected-error @below {{'memref.copy' op accesses the symmetric heap from host code}}
  memref.copy %host, %data : memref<16xf32> to memref<16xf32>
  gpu.memcpy %data, %host : memref<16xf32>, memref<16xf32>
  memref.dealloc %host : memref<16xf32>
  symm.free %ctx, %data : memref<16xf32>
  return
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @structured(%ctx: !symm.ctx, %mask: vector<4xi1>, %v: vector<4xf32>, %i: index) {
  %data = symm.alloc %ctx : memref<16xf32>
  // expected-error @below {{'linalg.generic' op accesses the symmetric heap from host code}}
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%data : memref<16xf32>) {
  ^bb0(%old: f32):
    linalg.yield %old : f32
  }
  // expected-error @below {{'vector.maskedstore' op accesses the symmetric heap from host code}}
  vector.maskedstore %data[%i], %mask, %v : memref<16xf32>, vector<4xi1>, vector<4xf32>
  // expected-error @below {{'memref.generic_atomic_rmw' op accesses the symmetric heap from host code}}
  %0 = memref.generic_atomic_rmw %data[%i] : memref<16xf32> {
  ^bb0(%old: f32):
    memref.atomic_yield %old : f32
  }
  return
}

// -----

// Through views and casts.
func.func @views(%ctx: !symm.ctx, %i: index, %peer: i32) {
  %data = symm.alloc %ctx : memref<4x4xf32>
  %row = memref.subview %data[1, 0] [1, 4] [1, 1] : memref<4x4xf32> to memref<4xf32, strided<[1], offset: 4>>
  %any = memref.cast %row : memref<4xf32, strided<[1], offset: 4>> to memref<?xf32, strided<[?], offset: ?>>
  // expected-error @below {{accesses the symmetric heap}}
  %0 = memref.load %any[%i] : memref<?xf32, strided<[?], offset: ?>>
  %flat = memref.collapse_shape %data [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  // expected-error @below {{accesses the symmetric heap}}
  %1 = memref.load %flat[%i] : memref<16xf32>
  %space = memref.memory_space_cast %flat : memref<16xf32> to memref<16xf32, 1>
  // expected-error @below {{accesses the symmetric heap}}
  %2 = memref.load %space[%i] : memref<16xf32, 1>
  %aligned = memref.assume_alignment %flat, 64 : memref<16xf32>
  // expected-error @below {{accesses the symmetric heap}}
  %3 = memref.load %aligned[%i] : memref<16xf32>
  %theirs = symm.as_remote %ctx, %flat, %peer : memref<16xf32>
  // expected-error @below {{accesses the symmetric heap}}
  %4 = memref.load %theirs[%i] : memref<16xf32>
  return
}

// -----

// The ops of the dialect that belong into kernels.
func.func @dialect(%ctx: !symm.ctx, %peer: i32, %x: f32, %v: i32) {
  %data = symm.alloc %ctx : memref<f32>
  %flag = symm.alloc %ctx : memref<i32>
  // expected-error @below {{'symm.remote_load' op accesses the symmetric heap from host code}}
  %0 = symm.remote_load %ctx, %data, %peer : memref<f32> -> f32
  // expected-error @below {{'symm.remote_store' op accesses the symmetric heap from host code}}
  symm.remote_store %ctx, %data, %x, %peer : memref<f32>, f32
  // expected-error @below {{'symm.get' op accesses the symmetric heap from host code}}
  symm.get %ctx, %data, %data, %peer : memref<f32>, memref<f32>
  // expected-error @below {{'symm.put' op accesses the symmetric heap from host code}}
  symm.put %ctx, %data, %data, %peer : memref<f32>, memref<f32>
  // expected-error @below {{'symm.copy' op accesses the symmetric heap from host code}}
  symm.copy %ctx, %data at %peer, %data at %peer : memref<f32>, memref<f32>
  // expected-error @below {{'symm.atomic_rmw' op accesses the symmetric heap from host code}}
  %1 = symm.atomic_rmw add %ctx, %flag, %v, %peer : memref<i32>, i32
  // expected-error @below {{'symm.atomic_cas' op accesses the symmetric heap from host code}}
  %2 = symm.atomic_cas %ctx, %flag, %v, %v, %peer : memref<i32>, i32
  // expected-error @below {{'symm.signal' op accesses the symmetric heap from host code}}
  symm.signal set %ctx, %flag, %v, %peer : memref<i32>, i32
  // expected-error @below {{'symm.wait' op accesses the symmetric heap from host code}}
  symm.wait %ctx, %flag eq %v : memref<i32>, i32
  // expected-error @below {{'symm.put_signal' op accesses the symmetric heap from host code}}
  symm.put_signal set %ctx, %data, %data, %flag, %v, %peer : memref<f32>, memref<f32>, memref<i32>, i32
  %i = arith.constant 0 : index
  %slots = symm.alloc %ctx {align = 16 : i64} : memref<4xi32>
  // expected-error @below {{'symm.put_packet' op accesses the symmetric heap from host code}}
  symm.put_packet %ctx, %slots[%i], %x, %v, %peer : memref<4xi32>, f32
  // expected-error @below {{'symm.wait_packet' op accesses the symmetric heap from host code}}
  %3 = symm.wait_packet %ctx, %slots[%i], %v : memref<4xi32> -> f32
  // expected-error @below {{'symm.try_packet' op accesses the symmetric heap from host code}}
  %4, %5 = symm.try_packet %ctx, %slots[%i], %v : memref<4xi32> -> f32, i1
  return
}

// -----

// What a host function may do: host memory, launches, and printing where memory lies.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%data: memref<16xf32>) kernel {
      %c0 = arith.constant 0 : index
      %0 = memref.load %data[%c0] : memref<16xf32>
      gpu.return
    }
  }
  func.func @main(%ctx: !symm.ctx, %i: index) {
    %c1 = arith.constant 1 : index
    %data = symm.alloc %ctx : memref<16xf32>
    %host = memref.alloc() : memref<16xf32>
    %0 = memref.load %host[%i] : memref<16xf32>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%data : memref<16xf32>)
    // A launch whose kernel is not outlined yet is a kernel.
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      %1 = memref.load %data[%bx] : memref<16xf32>
      gpu.terminator
    }
    symm.print "at {}"(%data) : memref<16xf32>
    symm.free %ctx, %data : memref<16xf32>
    return
  }
}
