// Bytecode that is cut short, and what is not bytecode, is refused where it stops making sense.
// RUN: symm-opt %s --emit-bytecode -o %t.whole
// RUN: symm-opt %t.whole | FileCheck %s --check-prefix=WHOLE
// WHOLE: symm.wait
// WHOLE: symm.put_signal

// In the magic number, the version, the producer, the section headers, the attributes and the operations.
// RUN: head -c 3 %t.whole > %t.cut && not symm-opt %t.cut 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: unexpected character
// RUN: head -c 4 %t.whole > %t.cut && not symm-opt %t.cut 2>&1 | FileCheck %s
// RUN: head -c 5 %t.whole > %t.cut && not symm-opt %t.cut 2>&1 | FileCheck %s
// RUN: head -c 9 %t.whole > %t.cut && not symm-opt %t.cut 2>&1 | FileCheck %s
// RUN: head -c 32 %t.whole > %t.cut && not symm-opt %t.cut 2>&1 | FileCheck %s
// RUN: head -c 100 %t.whole > %t.cut && not symm-opt %t.cut 2>&1 | FileCheck %s
// RUN: head -c 250 %t.whole > %t.cut && not symm-opt %t.cut 2>&1 | FileCheck %s
// RUN: head -c 400 %t.whole > %t.cut && not symm-opt %t.cut 2>&1 | FileCheck %s
// RUN: head -c -1 %t.whole > %t.cut && not symm-opt %t.cut 2>&1 | FileCheck %s
// CHECK: error: {{attempting to parse|malformed|unexpected|expected}}
// CHECK-NOT: Stack dump

// Noise after the magic number, a program for the machine, more after the end.
// RUN: head -c 4 %t.whole > %t.noise && head -c 400 /bin/true >> %t.noise
// RUN: not symm-opt %t.noise 2>&1 | FileCheck %s --check-prefix=NOISE
// RUN: head -c 4096 /bin/true > %t.noise
// RUN: not symm-opt %t.noise 2>&1 | FileCheck %s --check-prefix=NOISE
// RUN: cp %t.whole %t.noise && echo more >> %t.noise
// RUN: not symm-opt %t.noise 2>&1 | FileCheck %s --check-prefix=NOISE
// NOISE: error:
// NOISE-NOT: Stack dump

// A version from the future.
// RUN: cp %t.whole %t.newer && printf '\377' | dd of=%t.newer bs=1 seek=4 conv=notrunc 2> %t.dd
// RUN: not symm-opt %t.newer 2>&1 | FileCheck %s --check-prefix=NEWER
// NEWER: error: {{.*}}bytecode version 127 is newer than the current version

// An empty file is an empty module.
// RUN: head -c 0 %t.whole > %t.empty && symm-opt %t.empty | FileCheck %s --check-prefix=EMPTY
// EMPTY: module {
// EMPTY-NEXT: }

func.func @main(%ctx: !symm.ctx, %m: memref<8xf32>, %f: memref<2xi64>, %i: index, %v: i64, %r: i32) {
  symm.wait %ctx, %f[%i] unsigned ge %v : memref<2xi64>, i64
  symm.put_signal add %ctx, %m, %m, %f[%i], %v, %r group block : memref<8xf32>, memref<8xf32>, memref<2xi64>, i64
  return
}
