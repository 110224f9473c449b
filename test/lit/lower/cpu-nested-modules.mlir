// RUN: symm-opt %s --symm-lower-to-cpu --verify-diagnostics
// Calls of the runtime are declared in the program's module: what lies in another one can't reach them.

module {
  func.func @host(%ctx: !symm.ctx, %b: i1, %m: memref<4xi32>) {
    // expected-error @below {{S1: calls the runtime, which a module within the program's module can't}}
    symm.check %b, "never"
    // expected-error @below {{S1: calls the runtime, which a module within the program's module can't}}
    cf.assert %b, "never"
    // expected-error @below {{S1: calls the runtime, which a module within the program's module can't}}
    gpu.memcpy %m, %m : memref<4xi32>, memref<4xi32>
    return
  }
}
func.func @after() {
  return
}
