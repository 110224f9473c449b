// A kernel that acquires or releases has no argument that LLVM may read around the acquire: not once for both sides of it, and not
// through a cache that it does not reach (ld.global.nc, s_load after buffer_inv), nor after a release that lets a peer
// overwrite it. One that does not keeps what it says.
// RUN: symm-opt %s --symm-lower-to-nvvm --verify-diagnostics | FileCheck %s
// RUN: symm-opt %s --symm-lower-to-rocdl --verify-diagnostics | FileCheck %s
// RUN: symm-translate %s --to ptx --chip sm_90 2>/dev/null | FileCheck %s --check-prefix=PTX
// RUN: symm-translate %s --to amdgcn --chip gfx942 2>/dev/null | FileCheck %s --check-prefix=AMD

module attributes {gpu.container_module} {
gpu.module @kernels {
  // CHECK: gpu.func @packets(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: memref
  // expected-remark @below {{drops llvm.noalias of argument 1: peers write while a kernel runs (O1)}}
  gpu.func @packets(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %out: memref<8xi64>, %i: index, %e: i32) kernel {
    %x = symm.wait_packet %ctx, %p, %e : !llvm.ptr -> i64
    memref.store %x, %out[%i] : memref<8xi64>
    gpu.return
  }

  // CHECK: gpu.func @waits(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr {llvm.align = 16 : i64}, %{{[^,]*}}: !llvm.ptr,
  // PTX-LABEL: .entry waits
  // PTX: ld.global.b32
  // PTX: ld.acquire.sys.global.b64
  // PTX: fence.acq_rel.sys
  // Not the table's word after the first.
  // PTX-NOT: ld.global.nc.b32 %r{{[0-9]+}}, [%rd{{[0-9]+}}];
  // PTX: ld.global.b32
  // PTX-NOT: ld.global.nc.b32 %r{{[0-9]+}}, [%rd{{[0-9]+}}];
  // PTX: ld.global.b32
  // PTX: st.global.b32
  // AMD-LABEL: waits:
  // AMD: buffer_inv sc0 sc1
  // AMD-NOT: s_load
  // AMD-COUNT-2: {{global|flat}}_load_dword
  // AMD: global_store_dword
  // expected-remark @below {{drops llvm.noalias of argument 1: peers write while a kernel runs (O1)}}
  // expected-remark @below {{drops llvm.noalias of argument 2: peers write while a kernel runs (O1)}}
  gpu.func @waits(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias, llvm.align = 16 : i64}, %out: !llvm.ptr {llvm.noalias},
      %flag: !llvm.ptr, %peer: i32, %one: i64) kernel {
    %before = llvm.load %p : !llvm.ptr -> f32
    symm.wait %ctx, %flag ge %one : !llvm.ptr, i64
    %theirs = symm.remote_load %ctx, %p, %peer : !llvm.ptr -> f32
    %mine = llvm.load %p : !llvm.ptr -> f32
    %part = llvm.fadd %theirs, %mine : f32
    %sum = llvm.fadd %part, %before : f32
    llvm.store %sum, %out : f32, !llvm.ptr
    gpu.return
  }

  // What was read is here before the signal that gives it back, and through a path that the release orders.
  // CHECK: gpu.func @gives_back(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr,
  // PTX-LABEL: .entry gives_back
  // PTX-NOT: ld.global.nc.b32 %r{{[0-9]+}}, [%rd{{[0-9]+}}];
  // PTX: ld.global.b32
  // PTX: st.release.sys.global.b64
  // PTX: st.global.b32
  // AMD-LABEL: gives_back:
  // AMD: {{s|global|flat}}_load_dword {{.*}}, 0x0{{$}}
  // AMD: s_waitcnt lgkmcnt(0)
  // AMD: buffer_wbl2 sc0 sc1
  // AMD: s_waitcnt vmcnt(0)
  // AMD: global_store_dwordx2 {{.*}} sc0 sc1
  // expected-remark @below {{drops llvm.noalias of argument 1: peers write while a kernel runs (O1)}}
  // expected-remark @below {{drops llvm.noalias of argument 2: peers write while a kernel runs (O1)}}
  gpu.func @gives_back(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias},
      %flag: !llvm.ptr, %peer: i32, %one: i64) kernel {
    %x = llvm.load %p : !llvm.ptr -> f32
    symm.signal set %ctx, %flag, %one, %peer : !llvm.ptr, i64
    llvm.store %x, %out : f32, !llvm.ptr
    gpu.return
  }

  // An author's own acquires, and what may be one: what is loaded before the poll is loaded again after it.
  // CHECK: gpu.func @loads_atomically(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr,
  // PTX-LABEL: .entry loads_atomically
  // PTX: ld.global.b32
  // PTX: ld.acquire.sys.global.b32
  // PTX: ld.global.b32
  // PTX: st.global.b32
  // AMD-LABEL: loads_atomically:
  // AMD: {{s|global|flat}}_load_dword {{.*}}, 0x0{{$}}
  // AMD: buffer_inv sc0 sc1
  // AMD: {{global|flat}}_load_dword
  // AMD: s_endpgm
  // expected-remark @below {{drops llvm.noalias of argument 1: peers write while a kernel runs (O1)}}
  gpu.func @loads_atomically(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr, %flag: !llvm.ptr<1>) kernel {
    %zero = arith.constant 0 : i32
    %before = llvm.load %p : !llvm.ptr -> i32
    scf.while : () -> () {
      %seen = llvm.load %flag atomic acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %again = arith.cmpi eq, %seen, %zero : i32
      scf.condition(%again)
    } do {
      scf.yield
    }
    %after = llvm.load %p : !llvm.ptr -> i32
    %sum = arith.addi %before, %after : i32
    llvm.store %sum, %out : i32, !llvm.ptr
    gpu.return
  }

  // CHECK: gpu.func @assembly(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr,
  // expected-remark @below {{drops llvm.noalias of argument 1: peers write while a kernel runs (O1)}}
  gpu.func @assembly(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr) kernel {
    llvm.inline_asm has_side_effects "", "~{memory}" : () -> ()
    gpu.return
  }

  // CHECK: gpu.func @fences(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr,
  // expected-remark @below {{drops llvm.noalias of argument 1: peers write while a kernel runs (O1)}}
  gpu.func @fences(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr) kernel {
    llvm.fence acquire
    gpu.return
  }

  // CHECK: gpu.func @swaps(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr,
  // expected-remark @below {{drops llvm.noalias of argument 1: peers write while a kernel runs (O1)}}
  gpu.func @swaps(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr<1>, %x: i32) kernel {
    %old = llvm.cmpxchg %out, %x, %x acq_rel monotonic : !llvm.ptr<1>, i32
    gpu.return
  }

  // CHECK: gpu.func @intrinsic(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr,
  // expected-remark @below {{drops llvm.noalias of argument 1: peers write while a kernel runs (O1)}}
  gpu.func @intrinsic(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr) kernel {
    llvm.call_intrinsic "llvm.sideeffect"() : () -> ()
    gpu.return
  }

  // CHECK: gpu.func @computes(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr {llvm.noalias}
  gpu.func @computes(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %m: memref<4xi32>, %i: index, %x: i32) kernel {
    llvm.inline_asm "", "" : () -> ()
    memref.store %x, %m[%i] : memref<4xi32>
    %y = llvm.load %p : !llvm.ptr -> i32
    llvm.store %y, %p : i32, !llvm.ptr
    gpu.return
  }

  // CHECK: gpu.func @relaxed(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr {llvm.noalias}
  gpu.func @relaxed(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %peer: i32, %one: i32) kernel {
    %old = symm.atomic_rmw add %ctx, %p, %one, %peer sem relaxed : !llvm.ptr, i32
    gpu.return
  }

  // CHECK: func.func @helper(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr)
  // expected-remark @below {{drops llvm.noalias of argument 1: peers write while a kernel runs (O1)}}
  func.func @helper(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}) attributes {no_inline} {
    func.call @acquire(%ctx) : (!symm.ctx) -> ()
    return
  }
  func.func @acquire(%ctx: !symm.ctx) attributes {no_inline} {
    symm.fence sem acquire
    return
  }
}
}
