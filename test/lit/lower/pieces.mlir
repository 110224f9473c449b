// Vectors whose size is no power of two: the widest pieces that their alignment allows.
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s --check-prefix=PTX
// RUN: symm-translate %s --to amdgcn --chip gfx942 | FileCheck %s --check-prefix=ISA

gpu.module @kernels {
  // PTX-LABEL: .entry bf24(
  // PTX: ld.global.v4.b32 {{.*}}[[P:%rd[0-9]+]]];
  // PTX-NEXT: ld.global.v4.b32 {{.*}}[[P]]+16];
  // PTX-NEXT: ld.global.v4.b32 {{.*}}[[P]]+32];
  // PTX: st.global.v4.b32 {{.*}}[[Q:%rd[0-9]+]]],
  // PTX-NEXT: st.global.v4.b32 {{.*}}[[Q]]+16],
  // PTX-NEXT: st.global.v4.b32 {{.*}}[[Q]]+32],
  // PTX-NOT: {{(ld|st).global}}
  // PTX: ret;
  // ISA-LABEL: {{^}}bf24:
  // ISA-COUNT-3: global_store_dwordx4
  // ISA-NOT: global_store
  // ISA: s_endpgm
  gpu.func @bf24(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32) kernel {
    %v = symm.remote_load %ctx, %p, %peer : !llvm.ptr -> vector<24xbf16>
    symm.remote_store %ctx, %q, %v, %peer : !llvm.ptr, vector<24xbf16>
    gpu.return
  }

  // PTX-LABEL: .entry i8_12(
  // PTX: ld.global.b32 {{.*}}[[P:%rd[0-9]+]]];
  // PTX-NEXT: ld.global.b32 {{.*}}[[P]]+4];
  // PTX-NEXT: ld.global.b32 {{.*}}[[P]]+8];
  // PTX: st.global.b32 {{.*}}[[Q:%rd[0-9]+]]],
  // PTX-NEXT: st.global.b32 {{.*}}[[Q]]+4],
  // PTX-NEXT: st.global.b32 {{.*}}[[Q]]+8],
  // PTX-NOT: {{(ld|st).global}}
  // PTX: ret;
  // ISA-LABEL: {{^}}i8_12:
  // ISA-COUNT-1: global_store_dwordx3
  // ISA-NOT: global_store
  // ISA: s_endpgm
  gpu.func @i8_12(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32) kernel {
    %v = symm.remote_load %ctx, %p, %peer : !llvm.ptr -> vector<12xi8>
    symm.remote_store %ctx, %q, %v, %peer : !llvm.ptr, vector<12xi8>
    gpu.return
  }

  // PTX-LABEL: .entry f32_3(
  // PTX-COUNT-3: ld.global.b32
  // PTX-COUNT-3: st.global.b32
  // PTX-NOT: {{(ld|st).global}}
  // PTX: ret;
  // ISA-LABEL: {{^}}f32_3:
  // ISA-COUNT-1: global_store_dwordx3
  // ISA-NOT: global_store
  // ISA: s_endpgm
  gpu.func @f32_3(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32) kernel {
    %v = symm.remote_load %ctx, %p, %peer : !llvm.ptr -> vector<3xf32>
    symm.remote_store %ctx, %q, %v, %peer : !llvm.ptr, vector<3xf32>
    gpu.return
  }

  // PTX-LABEL: .entry f32_6(
  // PTX: ld.global.v2.b32 {{.*}}[[P:%rd[0-9]+]]];
  // PTX-NEXT: ld.global.v2.b32 {{.*}}[[P]]+8];
  // PTX-NEXT: ld.global.v2.b32 {{.*}}[[P]]+16];
  // PTX: st.global.v2.b32 {{.*}}[[Q:%rd[0-9]+]]],
  // PTX-NEXT: st.global.v2.b32 {{.*}}[[Q]]+8],
  // PTX-NEXT: st.global.v2.b32 {{.*}}[[Q]]+16],
  // PTX-NOT: {{(ld|st).global}}
  // PTX: ret;
  // ISA-LABEL: {{^}}f32_6:
  // ISA: global_store_dwordx4
  // ISA: global_store_dwordx2 {{.*}} offset:16
  // ISA-NOT: global_store
  // ISA: s_endpgm
  gpu.func @f32_6(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32) kernel {
    %v = symm.remote_load %ctx, %p, %peer : !llvm.ptr -> vector<6xf32>
    symm.remote_store %ctx, %q, %v, %peer : !llvm.ptr, vector<6xf32>
    gpu.return
  }

  // PTX-LABEL: .entry f32_6_aligned(
  // PTX: ld.global.v4.b32 {{.*}}[[P:%rd[0-9]+]]];
  // PTX-NEXT: ld.global.v2.b32 {{.*}}[[P]]+16];
  // PTX: st.global.v4.b32 {{.*}}[[Q:%rd[0-9]+]]],
  // PTX-NEXT: st.global.v2.b32 {{.*}}[[Q]]+16],
  // PTX-NOT: {{(ld|st).global}}
  // PTX: ret;
  // ISA-LABEL: {{^}}f32_6_aligned:
  // ISA: global_store_dwordx4
  // ISA: global_store_dwordx2 {{.*}} offset:16
  // ISA-NOT: global_store
  // ISA: s_endpgm
  gpu.func @f32_6_aligned(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32) kernel {
    %v = symm.remote_load %ctx, %p, %peer {alignment = 16 : i64} : !llvm.ptr -> vector<6xf32>
    symm.remote_store %ctx, %q, %v, %peer {alignment = 16 : i64} : !llvm.ptr, vector<6xf32>
    gpu.return
  }

  // PTX-LABEL: .entry f32_3_aligned(
  // PTX: ld.global.v2.b32 {{.*}}[[P:%rd[0-9]+]]];
  // PTX-NEXT: ld.global.b32 {{.*}}[[P]]+8];
  // PTX: st.global.v2.b32 {{.*}}[[Q:%rd[0-9]+]]],
  // PTX-NEXT: st.global.b32 {{.*}}[[Q]]+8],
  // PTX-NOT: {{(ld|st).global}}
  // PTX: ret;
  // ISA-LABEL: {{^}}f32_3_aligned:
  // ISA-COUNT-1: global_store_dwordx3
  // ISA-NOT: global_store
  // ISA: s_endpgm
  gpu.func @f32_3_aligned(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32) kernel {
    %v = symm.remote_load %ctx, %p, %peer {alignment = 16 : i64} : !llvm.ptr -> vector<3xf32>
    symm.remote_store %ctx, %q, %v, %peer {alignment = 16 : i64} : !llvm.ptr, vector<3xf32>
    gpu.return
  }

  // PTX-LABEL: .entry f32_40(
  // PTX: ld.global.v4.b32 {{.*}}[[P:%rd[0-9]+]]];
  // PTX-NEXT: ld.global.v4.b32 {{.*}}[[P]]+16];
  // PTX-NEXT: ld.global.v4.b32 {{.*}}[[P]]+32];
  // PTX-NEXT: ld.global.v4.b32 {{.*}}[[P]]+48];
  // PTX-NEXT: ld.global.v4.b32 {{.*}}[[P]]+64];
  // PTX-NEXT: ld.global.v4.b32 {{.*}}[[P]]+80];
  // PTX-NEXT: ld.global.v4.b32 {{.*}}[[P]]+96];
  // PTX-NEXT: ld.global.v4.b32 {{.*}}[[P]]+112];
  // PTX-NEXT: ld.global.v4.b32 {{.*}}[[P]]+128];
  // PTX-NEXT: ld.global.v4.b32 {{.*}}[[P]]+144];
  // PTX: st.global.v4.b32 {{.*}}[[Q:%rd[0-9]+]]],
  // PTX-NEXT: st.global.v4.b32 {{.*}}[[Q]]+16],
  // PTX-NEXT: st.global.v4.b32 {{.*}}[[Q]]+32],
  // PTX-NEXT: st.global.v4.b32 {{.*}}[[Q]]+48],
  // PTX-NEXT: st.global.v4.b32 {{.*}}[[Q]]+64],
  // PTX-NEXT: st.global.v4.b32 {{.*}}[[Q]]+80],
  // PTX-NEXT: st.global.v4.b32 {{.*}}[[Q]]+96],
  // PTX-NEXT: st.global.v4.b32 {{.*}}[[Q]]+112],
  // PTX-NEXT: st.global.v4.b32 {{.*}}[[Q]]+128],
  // PTX-NEXT: st.global.v4.b32 {{.*}}[[Q]]+144],
  // PTX-NOT: {{(ld|st).global}}
  // PTX: ret;
  // ISA-LABEL: {{^}}f32_40:
  // ISA-COUNT-10: global_store_dwordx4
  // ISA-NOT: global_store
  // ISA: s_endpgm
  gpu.func @f32_40(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32) kernel {
    %v = symm.remote_load %ctx, %p, %peer : !llvm.ptr -> vector<40xf32>
    symm.remote_store %ctx, %q, %v, %peer : !llvm.ptr, vector<40xf32>
    gpu.return
  }

  // Bytes that are volatile: as words on AMD, where LLVM would move them one by one.
  // PTX-LABEL: .entry volatile_bytes(
  // PTX: st.volatile.global.v4.b32
  // PTX: st.volatile.global.v2.b32
  // PTX-NOT: st.volatile
  // ISA-LABEL: {{^}}volatile_bytes:
  // ISA: global_store_dwordx4 {{.*}} sc0 sc1
  // ISA: global_store_dwordx2 {{.*}} offset:16 sc0 sc1
  // ISA-NOT: global_store
  // ISA: s_endpgm
  gpu.func @volatile_bytes(%ctx: !symm.ctx, %v: vector<24xi8>, %q: !llvm.ptr, %peer: i32) kernel {
    symm.remote_store %ctx, %q, %v, %peer volatile {alignment = 16 : i64} : !llvm.ptr, vector<24xi8>
    gpu.return
  }

  // Under a mask of lanes, where all of them are set.
  // PTX-LABEL: .entry lanes(
  // PTX-COUNT-3: st.global.b32
  // PTX: st.global.b8
  // ISA-LABEL: {{^}}lanes:
  // ISA: global_store_dwordx3
  // ISA: s_endpgm
  gpu.func @lanes(%ctx: !symm.ctx, %v: vector<12xi8>, %q: !llvm.ptr, %count: index, %peer: i32) kernel {
    %mask = vector.create_mask %count : vector<12xi1>
    symm.remote_store %ctx, %q, %v, %peer mask %mask : vector<12xi1> : !llvm.ptr, vector<12xi8>
    gpu.return
  }

  // All of it under one bit: as wide.
  // PTX-LABEL: .entry bf24_masked(
  // PTX-COUNT-3: ld.global.v4.b32
  // PTX-COUNT-3: st.global.v4.b32
  // PTX-NOT: {{(ld|st).global}}
  // PTX: ret;
  // ISA-LABEL: {{^}}bf24_masked:
  // ISA-COUNT-3: global_store_dwordx4
  gpu.func @bf24_masked(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32, %in: i1) kernel {
    %v = symm.remote_load %ctx, %p, %peer mask %in : i1 : !llvm.ptr -> vector<24xbf16>
    symm.remote_store %ctx, %q, %v, %peer mask %in : i1 : !llvm.ptr, vector<24xbf16>
    gpu.return
  }

  // Where all lanes are set: as wide.
  // PTX-LABEL: .entry bf24_under_lanes(
  // PTX-DAG: ld.global.v4.b32 {{.*}}[[P:%rd[0-9]+]]];
  // PTX-DAG: ld.global.v4.b32 {{.*}}[[P]]+16];
  // PTX-DAG: ld.global.v4.b32 {{.*}}[[P]]+32];
  // PTX-DAG: st.global.v4.b32 {{.*}}[[Q:%rd[0-9]+]]],
  // PTX-DAG: st.global.v4.b32 {{.*}}[[Q]]+16],
  // PTX-DAG: st.global.v4.b32 {{.*}}[[Q]]+32],
  // ISA-LABEL: {{^}}bf24_under_lanes:
  // ISA-COUNT-3: global_store_dwordx4
  gpu.func @bf24_under_lanes(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32, %in: vector<24xi1>) kernel {
    %v = symm.remote_load %ctx, %p, %peer mask %in : vector<24xi1> : !llvm.ptr -> vector<24xbf16>
    symm.remote_store %ctx, %q, %v, %peer mask %in : vector<24xi1> : !llvm.ptr, vector<24xbf16>
    gpu.return
  }

  // PTX-LABEL: .entry f32_12_masked(
  // PTX-COUNT-3: ld.global.v4.b32
  // PTX-COUNT-3: st.global.v4.b32
  // PTX-NOT: {{(ld|st).global}}
  // PTX: ret;
  // ISA-LABEL: {{^}}f32_12_masked:
  // ISA-COUNT-3: global_store_dwordx4
  gpu.func @f32_12_masked(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32, %in: i1) kernel {
    %v = symm.remote_load %ctx, %p, %peer mask %in : i1 : !llvm.ptr -> vector<12xf32>
    symm.remote_store %ctx, %q, %v, %peer mask %in : i1 : !llvm.ptr, vector<12xf32>
    gpu.return
  }

  // PTX-LABEL: .entry f32_12_under_lanes(
  // PTX-DAG: ld.global.v4.b32 {{.*}}[[P:%rd[0-9]+]]];
  // PTX-DAG: ld.global.v4.b32 {{.*}}[[P]]+16];
  // PTX-DAG: ld.global.v4.b32 {{.*}}[[P]]+32];
  // PTX-DAG: st.global.v4.b32 {{.*}}[[Q:%rd[0-9]+]]],
  // PTX-DAG: st.global.v4.b32 {{.*}}[[Q]]+16],
  // PTX-DAG: st.global.v4.b32 {{.*}}[[Q]]+32],
  // ISA-LABEL: {{^}}f32_12_under_lanes:
  // ISA-COUNT-3: global_store_dwordx4
  gpu.func @f32_12_under_lanes(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32, %in: vector<12xi1>) kernel {
    %v = symm.remote_load %ctx, %p, %peer mask %in : vector<12xi1> : !llvm.ptr -> vector<12xf32>
    symm.remote_store %ctx, %q, %v, %peer mask %in : vector<12xi1> : !llvm.ptr, vector<12xf32>
    gpu.return
  }

  // PTX-LABEL: .entry f64_6_masked(
  // PTX-COUNT-3: ld.global.v2.b64
  // PTX-COUNT-3: st.global.v2.b64
  // PTX-NOT: {{(ld|st).global}}
  // PTX: ret;
  // ISA-LABEL: {{^}}f64_6_masked:
  // ISA-COUNT-3: global_store_dwordx4
  gpu.func @f64_6_masked(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32, %in: i1) kernel {
    %v = symm.remote_load %ctx, %p, %peer mask %in : i1 : !llvm.ptr -> vector<6xf64>
    symm.remote_store %ctx, %q, %v, %peer mask %in : i1 : !llvm.ptr, vector<6xf64>
    gpu.return
  }

  // PTX-LABEL: .entry f64_6_under_lanes(
  // PTX-DAG: ld.global.v2.b64 {{.*}}[[P:%rd[0-9]+]]];
  // PTX-DAG: ld.global.v2.b64 {{.*}}[[P]]+16];
  // PTX-DAG: ld.global.v2.b64 {{.*}}[[P]]+32];
  // PTX-DAG: st.global.v2.b64 {{.*}}[[Q:%rd[0-9]+]]],
  // PTX-DAG: st.global.v2.b64 {{.*}}[[Q]]+16],
  // PTX-DAG: st.global.v2.b64 {{.*}}[[Q]]+32],
  // ISA-LABEL: {{^}}f64_6_under_lanes:
  // ISA-COUNT-3: global_store_dwordx4
  gpu.func @f64_6_under_lanes(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %peer: i32, %in: vector<6xi1>) kernel {
    %v = symm.remote_load %ctx, %p, %peer mask %in : vector<6xi1> : !llvm.ptr -> vector<6xf64>
    symm.remote_store %ctx, %q, %v, %peer mask %in : vector<6xi1> : !llvm.ptr, vector<6xf64>
    gpu.return
  }
}
