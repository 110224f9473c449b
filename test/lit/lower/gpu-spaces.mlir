// The local end of a copy may be in a block's memory, or a thread's, by the gpu dialect's names as by number; the
// symmetric end may be called global.
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s --check-prefix=PTX
// RUN: symm-translate %s --to amdgcn --chip gfx942 | FileCheck %s --check-prefix=ISA

!shared = memref<64xf32, #gpu.address_space<workgroup>>
!numbered = memref<64xf32, 3>
!private = memref<4xf32, #gpu.address_space<private>>
!global = memref<64xf32, #gpu.address_space<global>>
!global4 = memref<4xf32, #gpu.address_space<global>>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // PTX-LABEL: .entry put(
    // PTX: ld.shared
    // PTX: st.global
    // ISA-LABEL: {{^}}put:
    // ISA: ds_read
    // ISA: global_store
    gpu.func @put(%ctx: !symm.ctx, %m: !global, %peer: i32) workgroup(%tile: !shared) kernel {
      symm.put %ctx, %tile, %m, %peer group block : !shared, !global
      gpu.return
    }

    // PTX-LABEL: .entry put_numbered(
    // PTX: ld.shared
    // PTX: st.global
    // ISA-LABEL: {{^}}put_numbered:
    // ISA: ds_read
    // ISA: global_store
    gpu.func @put_numbered(%ctx: !symm.ctx, %m: !global, %peer: i32) workgroup(%tile: !numbered) kernel {
      symm.put %ctx, %tile, %m, %peer group block : !numbered, !global
      gpu.return
    }

    // PTX-LABEL: .entry put_signal(
    // PTX: ld.shared
    // PTX: st.global
    // PTX: st.release.sys.global.b64
    // ISA-LABEL: {{^}}put_signal:
    // ISA: ds_read
    // ISA: global_store
    gpu.func @put_signal(%ctx: !symm.ctx, %m: !global, %f: memref<1xi64, #gpu.address_space<global>>, %v: i64,
        %peer: i32) workgroup(%tile: !shared) kernel {
      %c0 = arith.constant 0 : index
      symm.put_signal set %ctx, %tile, %m, %f[%c0], %v, %peer group block
        : !shared, !global, memref<1xi64, #gpu.address_space<global>>, i64
      gpu.return
    }

    // PTX-LABEL: .entry get_rows(
    // PTX: ld.global
    // PTX: st.shared
    // ISA-LABEL: {{^}}get_rows:
    // ISA: global_load
    // ISA: ds_write
    gpu.func @get_rows(%ctx: !symm.ctx, %m: memref<4x8xf32>, %peer: i32)
        workgroup(%tile: memref<4x16xf32, #gpu.address_space<workgroup>>) kernel {
      %part = memref.subview %tile[0, 0] [4, 8] [1, 1] : memref<4x16xf32, #gpu.address_space<workgroup>>
        to memref<4x8xf32, strided<[16, 1]>, #gpu.address_space<workgroup>>
      symm.get %ctx, %m, %part, %peer group block
        : memref<4x8xf32>, memref<4x8xf32, strided<[16, 1]>, #gpu.address_space<workgroup>>
      gpu.return
    }

    // In a thread's memory, which is all in registers in the end, or local.
    // PTX-LABEL: .entry get_private(
    // PTX: ld.global
    // PTX: ret;
    // ISA-LABEL: {{^}}get_private:
    // ISA: {{global|s}}_load
    // ISA: s_endpgm
    gpu.func @get_private(%ctx: !symm.ctx, %m: !global4, %out: memref<1xf32>, %peer: i32, %i: index)
        private(%mine: !private) kernel {
      %c0 = arith.constant 0 : index
      symm.get %ctx, %m, %mine, %peer : !global4, !private
      %v = memref.load %mine[%i] : !private
      memref.store %v, %out[%c0] : memref<1xf32>
      gpu.return
    }

    // Single accesses, flags and translated pointers in global memory.
    // PTX-LABEL: .entry global(
    // PTX: ld.global.b32
    // PTX: st.release.sys.global.b64
    // ISA-LABEL: {{^}}global:
    // ISA: global_store_dwordx2 {{.*}} sc0 sc1
    gpu.func @global(%ctx: !symm.ctx, %m: !global, %f: memref<1xi64, #gpu.address_space<global>>, %v: i64, %peer: i32,
        %out: memref<1xf32>) kernel {
      %c0 = arith.constant 0 : index
      %theirs = symm.as_remote %ctx, %m, %peer : !global
      %x = memref.load %theirs[%c0] : !global
      %y = symm.remote_load %ctx, %m[%c0], %peer : !global -> f32
      %z = arith.addf %x, %y : f32
      memref.store %z, %out[%c0] : memref<1xf32>
      symm.signal set %ctx, %f[%c0], %v, %peer : memref<1xi64, #gpu.address_space<global>>, i64
      symm.wait %ctx, %f[%c0] ge %v : memref<1xi64, #gpu.address_space<global>>, i64
      gpu.return
    }
  }
}
