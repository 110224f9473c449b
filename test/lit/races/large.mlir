// What has more elements than any memory is out of the heap, at its place. That takes no more memory than the program
// has, and seconds: the limits are those of the heaps' addresses, 320 GiB for two ranks, and 1.6 GiB; and of 9 seconds.

// RUN: split-file %s %t
// DEFINE: %{op} =
// DEFINE: %{stride} =
// DEFINE: %{program} = sed "s/OP/%{op}/; s/STRIDE/%{stride}/" %t/template.mlir | sed -f %t/names.sed > %t/program.mlir
// DEFINE: %{limited} = bash -c "ulimit -v 337200000 -t 9; exec symm-check %t/program.mlir --as-written --threads 2"
// DEFINE: %{checked} = %{program} && not %{limited} | FileCheck %s

// CHECK: program.mlir:13:7: error: out-of-heap
// CHECK-NEXT: block 0 thread {{[01]}}: {{4|4398046511104}} bytes at 0x2{{.*}} of rank
// CHECK: help: no allocation has these bytes

// REDEFINE: %{stride} = 1
// REDEFINE: %{op} = put ~ctx, ~mine, ~box, ~peer : !large, !large
// RUN: %{checked}
// REDEFINE: %{op} = put ~ctx, ~mine, ~box, ~peer group block : !large, !large
// RUN: %{checked}
// REDEFINE: %{op} = get ~ctx, ~mine, ~box, ~peer : !large, !large
// RUN: %{checked}
// REDEFINE: %{op} = get ~ctx, ~mine, ~box, ~peer group block : !large, !large
// RUN: %{checked}
// REDEFINE: %{op} = copy ~ctx, ~mine at ~me, ~box at ~peer : !large, !large
// RUN: %{checked}
// REDEFINE: %{op} = copy ~ctx, ~mine at ~me, ~box at ~peer group block : !large, !large
// RUN: %{checked}
// REDEFINE: %{op} = put_signal set ~ctx, ~mine, ~box, ~flag[~c0], ~one, ~peer group block : !large, !large, !word, i32
// RUN: %{checked}

// A piece for each element: a loop, which --steps ends.
// REDEFINE: %{stride} = 2
// REDEFINE: %{op} = put ~ctx, ~mine, ~box, ~peer : !large, !large
// RUN: %{checked}
// REDEFINE: %{op} = put ~ctx, ~mine, ~box, ~peer group block : !large, !large
// RUN: %{checked}
// REDEFINE: %{op} = get ~ctx, ~mine, ~box, ~peer group block : !large, !large
// RUN: %{checked}
// REDEFINE: %{op} = copy ~ctx, ~mine at ~me, ~box at ~peer : !large, !large
// RUN: %{checked}

//--- names.sed
s/~/%/g

//--- template.mlir
!eight = memref<8xi32>
!word = memref<1xi32>
!large = memref<?xi32, strided<[STRIDE]>>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%ctx: !symm.ctx, %to: !eight, %from: !eight, %flag: !word, %c0: index, %one: i32) kernel {
      %count = arith.constant 1099511627776 : index
      %me = symm.rank %ctx
      %peer = arith.subi %one, %me : i32
      %box = memref.reinterpret_cast %to to offset: [0], sizes: [%count], strides: [STRIDE] : !eight to !large
      %mine = memref.reinterpret_cast %from to offset: [0], sizes: [%count], strides: [STRIDE] : !eight to !large

      symm.OP
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %one = arith.constant 1 : i32
    %to = symm.alloc %ctx : !eight
    %from = symm.alloc %ctx : !eight
    %flag = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
      args(%ctx : !symm.ctx, %to : !eight, %from : !eight, %flag : !word, %c0 : index, %one : i32)
    return
  }
}
