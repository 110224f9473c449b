// RUN: symm-opt %s --symm-lower-to-cpu --allow-unregistered-dialect --verify-diagnostics
// Calls of the runtime are declared in the program's module: what lies in another one can't reach them.

module {
  func.func @host(%ctx: !symm.ctx, %b: i1, %m: memref<4xi32>) {
    // expected-error @below {{S1: calls the runtime, which is not visible in a nested module or an unknown op}}
    symm.check %b, "never"
    // expected-error @below {{S1: calls the runtime, which is not visible in a nested module or an unknown op}}
    cf.assert %b, "never"
    // expected-error @below {{S1: calls the runtime, which is not visible in a nested module or an unknown op}}
    gpu.memcpy %m, %m : memref<4xi32>, memref<4xi32>
    return
  }
}
func.func @unknown(%b: i1) {
  "test.unknown"() ({
    // expected-error @below {{S1: calls the runtime, which is not visible in a nested module or an unknown op}}
    symm.check %b, "never"
  }) : () -> ()
  return
}
