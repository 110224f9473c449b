// Messages: the text, the kind of each value, the values in eight bytes each, and the op's place in the file.
// RUN: symm-opt %s --symm-lower-to-cpu --canonicalize --cse | FileCheck %s

// CHECK-DAG: llvm.mlir.global internal constant @[[TEXT:.*]]("{{[{][{]}}x{{[}][}]}} {} {} {} {} {}\00")
// CHECK-DAG: llvm.mlir.global internal constant @[[KINDS:.*]]("iifip\00")
// CHECK-DAG: llvm.mlir.global internal constant @[[PLACE:.*]]("program.mlir:7:3\00")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("\00")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("at {{[{][{]}}i{{[}][}]}} \EF\BF\BD\00")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("other.mlir:3:1\00")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("unknown\00")

// CHECK-LABEL: func.func @messages(
func.func @messages(%ok: i1, %i: index, %b: i8, %x: bf16, %p: !llvm.ptr) {
  // CHECK-DAG: %[[WORDS:.*]] = llvm.alloca %c5_i64 x i64
  // CHECK: scf.if
  // CHECK-DAG: arith.extsi %arg2 : i8 to i64
  // CHECK-DAG: arith.extui %arg0 : i1 to i64
  // CHECK-DAG: %[[WIDE:.*]] = arith.extf %arg3 : bf16 to f64
  // CHECK-DAG: arith.bitcast %[[WIDE]] : f64 to i64
  // CHECK-DAG: llvm.ptrtoint %arg4 : !llvm.ptr to i64
  // CHECK: func.call @symm_rt_check_failed(%{{.*}}, %{{.*}}, %[[WORDS]], %{{.*}})
  symm.check %ok, "{{x}} {} {} {} {} {}"(%i, %b, %x, %ok, %p) : index, i8, bf16, i1, !llvm.ptr loc("program.mlir":7:3)
  // An empty message, and a place with a name.
  // CHECK: call @symm_rt_print(
  symm.print "" loc("sum"("other.mlir":3:1))
  // A place that is not known, bytes that are no text, braces that are.
  // CHECK: func.call @symm_rt_check_failed(
  cf.assert %ok, "at {i} \FF" loc(unknown)
  return
}
