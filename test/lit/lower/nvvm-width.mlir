// What decides how wide an access is: what is known of an address, of a mask and of the target.
// RUN: symm-translate %s --to ptx | FileCheck %s
// RUN: symm-translate %s --to amdgcn | FileCheck %s --check-prefix=AMD

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // T4: a pointer that is known to be aligned stays so, and neighbours become one access.
    // CHECK-LABEL: .entry scalars(
    // CHECK: st.global.v4.b32
    // CHECK-NOT: st.global.b32
    // AMD-LABEL: {{^}}scalars:
    // AMD: global_store_dwordx4
    // AMD-NOT: global_store_dword{{ }}
    gpu.func @scalars(%ctx: !symm.ctx, %data: !llvm.ptr {llvm.align = 16}, %v: f32, %peer: i32) kernel {
      %p1 = llvm.getelementptr %data[1] : (!llvm.ptr) -> !llvm.ptr, f32
      %p2 = llvm.getelementptr %data[2] : (!llvm.ptr) -> !llvm.ptr, f32
      %p3 = llvm.getelementptr %data[3] : (!llvm.ptr) -> !llvm.ptr, f32
      symm.remote_store %ctx, %data, %v, %peer : !llvm.ptr, f32
      symm.remote_store %ctx, %p1, %v, %peer : !llvm.ptr, f32
      symm.remote_store %ctx, %p2, %v, %peer : !llvm.ptr, f32
      symm.remote_store %ctx, %p3, %v, %peer : !llvm.ptr, f32
      gpu.return
    }

    // A mask of lanes that are all true costs one comparison.
    // CHECK-LABEL: .entry lanes(
    // CHECK: setp.{{lt|gt}}.s64 [[FULL:%p[0-9]+]], {{.*}}, {{7|8}};
    // CHECK: @[[FULL]] bra
    // CHECK: st.global.v4.b32
    // AMD-LABEL: {{^}}lanes:
    // AMD: global_store_dwordx4
    gpu.func @lanes(%ctx: !symm.ctx, %data: memref<?xf16>, %v: vector<8xf16>, %count: index, %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %mask = vector.create_mask %count : vector<8xi1>
      symm.remote_store %ctx, %data[%c0], %v, %peer mask %mask : vector<8xi1> : memref<?xf16>, vector<8xf16>
      gpu.return
    }

    // So does a mask that comes from elsewhere, but for what it takes to see that it is true everywhere.
    // CHECK-LABEL: .entry any_lanes(
    // CHECK-DAG: ld.global.b32
    // CHECK-DAG: ld.global.v4.b32
    gpu.func @any_lanes(%ctx: !symm.ctx, %data: !llvm.ptr, %limits: vector<4xi32>, %x: vector<4xi32>, %out: !llvm.ptr,
                        %peer: i32) kernel {
      %zero = arith.constant dense<0> : vector<4xi32>
      %mask = arith.cmpi slt, %x, %limits : vector<4xi32>
      %v = symm.remote_load %ctx, %data, %peer mask %mask : vector<4xi1> other %zero : vector<4xi32>
        : !llvm.ptr -> vector<4xi32>
      llvm.store %v, %out : vector<4xi32>, !llvm.ptr
      gpu.return
    }

    // An access that is not aligned to its size is not one access: no second way for it.
    // CHECK-LABEL: .entry unaligned(
    // CHECK-NOT: st.global.v4
    // CHECK: st.global.b16
    // CHECK-NOT: st.global.v4
    gpu.func @unaligned(%ctx: !symm.ctx, %data: memref<?xf16>, %v: vector<8xf16>, %count: index, %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %mask = vector.create_mask %count : vector<8xi1>
      symm.remote_store %ctx, %data[%c0], %v, %peer mask %mask : vector<8xi1> {alignment = 2 : i64}
        : memref<?xf16>, vector<8xf16>
      gpu.return
    }

    // The count of a mask may take more than 32 bits.
    // CHECK-LABEL: .entry large_count(
    // CHECK: setp.lt.s64
    // CHECK-NOT: setp.{{.*}}32
    // AMD-LABEL: {{^}}large_count:
    gpu.func @large_count(%data: !llvm.ptr, %v: vector<2xi64>, %count: index) kernel {
      %mask = vector.create_mask %count : vector<2xi1>
      llvm.intr.masked.store %v, %data, %mask {alignment = 8 : i32} : vector<2xi64>, vector<2xi1> into !llvm.ptr
      gpu.return
    }

    // Eight bytes are aligned as the target says, not as LLVM's default layout does, which would tear them.
    // CHECK-LABEL: .entry long(
    // CHECK: ld.global.b64
    // CHECK: st.global.b64
    // AMD-LABEL: {{^}}long:
    gpu.func @long(%in: memref<1xi64>, %out: !llvm.ptr) kernel {
      %c0 = arith.constant 0 : index
      %v = memref.load %in[%c0] : memref<1xi64>
      llvm.store %v, %out : i64, !llvm.ptr
      gpu.return
    }

    // Memory that is said to be global is what a heap is anyway.
    // CHECK-LABEL: .entry global_space(
    // CHECK: st.global.b32
    // AMD-LABEL: {{^}}global_space:
    // AMD: global_store_dword v
    gpu.func @global_space(%ctx: !symm.ctx, %m: memref<64xf32, #gpu.address_space<global>>, %x: f32, %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      symm.remote_store %ctx, %m[%c0], %x, %peer : memref<64xf32, #gpu.address_space<global>>, f32
      gpu.return
    }

    // T2: the way to oneself is no way; nothing is looked up.
    // CHECK-LABEL: .entry myself(
    // CHECK-NOT: ld.global
    // CHECK: st.global.b32
    // AMD-LABEL: {{^}}myself:
    gpu.func @myself(%ctx: !symm.ctx, %data: !llvm.ptr, %v: f32) kernel {
      %me = symm.rank %ctx
      symm.remote_store %ctx, %data, %v, %me : !llvm.ptr, f32
      gpu.return
    }
  }
}
