// Of a long execution a page draws the steps around the finding; a program's texts are no markup in it.

// RUN: not symm-check %s --ranks 2 --as-written --html %t.html > %t.txt
// RUN: FileCheck %s < %t.html
// RUN: FileCheck %s --check-prefix=TEXT < %t.html
// 36 boxes of the first finding, and 8 of the second.
// RUN: grep -o '<rect x=' %t.html | count 44

// CHECK: <h2><span>error</span> missing-release (O1)</h2>
// CHECK: <text class="gap"
// CHECK: writes ×64</text>
// CHECK: Drawn are {{[0-9]+}} of the {{[0-9]+}} steps of this execution, of 2 of its 4 tasks
// TEXT: <h2><span>error</span> failed-check</h2>
// TEXT: : &lt;b&gt;a&lt;/b&gt; &amp; &#39;b&#39;<br>
// TEXT-NOT: <b>a

!box = memref<64xi32>
!word = memref<1xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @send(%ctx: !symm.ctx, %mail: !box, %flag: !word) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %rounds = arith.constant 20 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %after = arith.addi %me, %one : i32
      %n = symm.num_ranks %ctx
      %next = arith.remui %after, %n : i32
      scf.for %round = %c0 to %rounds step %c1 {
        symm.signal add %ctx, %flag[%c0], %one, %next : !word, i32
        symm.fence sem release scope gpu
        %done = arith.index_cast %round : index to i32
        %want = arith.addi %done, %one : i32
        symm.wait %ctx, %flag[%c0] ge %want : !word, i32
      }
      scf.for %i = %c0 to %c64 step %c1 {
        symm.remote_store %ctx, %mail[%i], %me, %next : !box, i32
      }
      %last = arith.constant 21 : i32
      symm.signal add %ctx, %flag[%c0], %one, %next sem relaxed : !word, i32
      symm.wait %ctx, %flag[%c0] ge %last : !word, i32
      %v = memref.load %mail[%c0] : !box
      %is_rank = arith.cmpi ult, %v, %n : i32
      symm.check %is_rank, "no rank"
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : !box
    %flag = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@send blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !box, %flag : !word)
    %false = arith.constant false
    symm.check %false, "<b>a</b> & 'b'"
    return
  }
}
