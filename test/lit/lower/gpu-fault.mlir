// A fault on a GPU: a record in the report buffer, written by the first thread, then a trap.
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s --check-prefix=PTX
// RUN: symm-translate %s --to amdgcn --chip gfx942 | FileCheck %s --check-prefix=GCN
// RUN: symm-opt %s --symm-lower-to-nvvm | FileCheck %s

// The texts of the sites, each with its location; the same one is there once.
// CHECK: llvm.mlir.global external constant @_symm_sites("{{.*}}gpu-fault.mlir:{{[0-9]+}}:7\09i\09rank {} is odd\00{{.*}}:7\09\09never\00")
// PTX: .visible .global {{.*}} _symm_sites

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // PTX-LABEL: .entry odd(
    // PTX: atom.relaxed.sys.global.cas.b64
    // PTX: st.release.sys.global.b64 [{{.*}}], 2;
    // PTX: ld.relaxed.sys.global.b64
    // PTX: trap;
    // GCN-LABEL: odd:
    // GCN: global_atomic_cmpswap_x2
    // GCN: s_trap 2
    gpu.func @odd(%ctx: !symm.ctx) kernel {
      %me = symm.rank %ctx
      symm.fault %ctx, "rank {} is odd"(%me) : i32
      gpu.return
    }
    gpu.func @never(%ctx: !symm.ctx, %yes: i1) kernel {
      scf.if %yes {
      symm.fault %ctx, "never"
      }
      gpu.return
    }

    // Without a table there is nowhere to report to: only a trap.
    // PTX-LABEL: .entry parts(
    // PTX-NOT: atom
    // PTX: trap;
    gpu.func @parts(%bases: !llvm.ptr, %me: i32, %n: i32) kernel {
      %ctx = symm.ctx %bases rank %me of %n : !llvm.ptr
      symm.fault %ctx, "never"
      gpu.return
    }
  }
}
