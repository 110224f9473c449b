// What the host function of a program needs: every form of dialect/td/Host.td.
// RUN: symm-opt %s | symm-opt | FileCheck %s
// RUN: symm-opt %s --mlir-print-op-generic | symm-opt | FileCheck %s
// RUN: symm-opt %s --emit-bytecode | symm-opt | FileCheck %s

// CHECK-LABEL: func.func @memory(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index
func.func @memory(%ctx: !symm.ctx, %n: index, %m: index) {
  // CHECK-NEXT: %[[A:.*]] = symm.alloc %[[CTX]] : memref<64x64xf32>{{$}}
  %a = symm.alloc %ctx : memref<64x64xf32>
  // CHECK-NEXT: %[[B:.*]] = symm.alloc %[[CTX]](%[[N]]) : memref<?x64xf32>{{$}}
  %b = symm.alloc %ctx(%n) : memref<?x64xf32>
  // CHECK-NEXT: %[[C:.*]] = symm.alloc %[[CTX]](%[[N]], %[[M]]) align 4096 : memref<?x8x?xi8, 1>{{$}}
  %c = symm.alloc %ctx(%n, %m) align 4096 : memref<?x8x?xi8, 1>
  // CHECK-NEXT: %[[D:.*]] = symm.alloc %[[CTX]] align 1 : memref<i64, #gpu.address_space<global>>{{$}}
  %d = symm.alloc %ctx align 1 : memref<i64, #gpu.address_space<global>>
  // CHECK-NEXT: symm.free %[[CTX]], %[[A]] : memref<64x64xf32>{{$}}
  symm.free %ctx, %a : memref<64x64xf32>
  // CHECK-NEXT: symm.free %[[CTX]], %[[B]] : memref<?x64xf32>{{$}}
  symm.free %ctx, %b : memref<?x64xf32>
  // CHECK-NEXT: symm.free %[[CTX]], %[[C]] : memref<?x8x?xi8, 1>{{$}}
  symm.free %ctx, %c : memref<?x8x?xi8, 1>
  // CHECK-NEXT: symm.free %[[CTX]], %[[D]] : memref<i64, #gpu.address_space<global>>{{$}}
  symm.free %ctx, %d : memref<i64, #gpu.address_space<global>>
  // CHECK-NEXT: symm.barrier_all %[[CTX]]{{$}}
  symm.barrier_all %ctx
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @messages(
// CHECK-SAME: %[[OK:[a-z0-9]+]]: i1, %[[I:[a-z0-9]+]]: index, %[[W:[a-z0-9]+]]: i64, %[[B:[a-z0-9]+]]: i1,
// CHECK-SAME: %[[X:[a-z0-9]+]]: f32, %[[H:[a-z0-9]+]]: bf16, %[[P:[a-z0-9]+]]: !llvm.ptr,
// CHECK-SAME: %[[M:[a-z0-9]+]]: memref<4xf32>
func.func @messages(%ok: i1, %i: index, %w: i64, %b: i1, %x: f32, %h: bf16, %p: !llvm.ptr, %m: memref<4xf32>) {
  // CHECK-NEXT: symm.check %[[OK]], "all is well"{{$}}
  symm.check %ok, "all is well"
  // CHECK-NEXT: symm.check %[[OK]], "element {} is {}, expected {}"(%[[I]], %[[X]], %[[H]]) : index, f32, bf16{{$}}
  symm.check %ok, "element {} is {}, expected {}"(%i, %x, %h) : index, f32, bf16
  // CHECK-NEXT: symm.check %[[OK]], "{{[{][{]}}{}}}"(%[[W]]) : i64{{$}}
  symm.check %ok, "{{{}}}"(%w) : i64
  // CHECK-NEXT: symm.print "no values"{{$}}
  symm.print "no values"
  // CHECK-NEXT: symm.print ""{{$}}
  symm.print ""
  // CHECK-NEXT: symm.print "{{[{][{]}}}}"{{$}}
  symm.print "{{}}"
  // CHECK-NEXT: symm.print "{} {} at {} and {}"(%[[W]], %[[B]], %[[P]], %[[M]])
  // CHECK-SAME: : i64, i1, !llvm.ptr, memref<4xf32>{{$}}
  symm.print "{} {} at {} and {}"(%w, %b, %p, %m) : i64, i1, !llvm.ptr, memref<4xf32>
  // CHECK-NEXT: return{{$}}
  return
}
