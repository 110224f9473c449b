// The threads of a group share its put: each has done its own part after it, and comes after the reads of all (O3).

// RUN: symm-check %s --as-written --schedules 10 --entry handed_over | FileCheck %s --check-prefix=RIGHT
// RUN: not symm-check %s --as-written --schedules 10 --entry own_part | FileCheck %s --check-prefix=OWN_PART
// RUN: symm-check %s --as-written --schedules 10 --entry after_barrier | FileCheck %s --check-prefix=RIGHT
// RUN: not symm-check %s --as-written --schedules 10 --entry last_thread | FileCheck %s --check-prefix=LAST_THREAD
// RUN: symm-check %s --as-written --schedules 10 --entry source_again | FileCheck %s --check-prefix=RIGHT
// RUN: symm-check %s --as-written --schedules 10 --entry target_again | FileCheck %s --check-prefix=RIGHT
// RUN: not symm-check %s --as-written --schedules 10 --entry own_memory | FileCheck %s --check-prefix=OWN_MEMORY
// RUN: not symm-check %s --as-written --schedules 10 --entry two_puts | FileCheck %s --check-prefix=TWO_PUTS
// RUN: symm-check %s --as-written --schedules 10 --entry two_puts_apart | FileCheck %s --check-prefix=RIGHT
// RUN: not symm-check %s --as-written --schedules 10 --entry strided | FileCheck %s --check-prefix=STRIDED

// RIGHT: symm-check: nothing found; 11 executions tried

module attributes {gpu.container_module} {
  gpu.module @kernels {
    func.func private @fill(%to: memref<8xi32>) {
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %id = gpu.thread_id x
      %n = gpu.block_dim x
      // From the middle on, so that no thread writes what it has put.
      scf.for %i = %id to %c8 step %n {
        %v = arith.index_cast %i : index to i32
        %far = arith.addi %i, %c4 : index
        %at = arith.remui %far, %c8 : index
        memref.store %v, %to[%at] : memref<8xi32>
      }
      return
    }

    func.func private @fill_far(%ctx: !symm.ctx, %to: memref<8xi32>, %peer: i32) {
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %id = gpu.thread_id x
      %n = gpu.block_dim x
      scf.for %i = %id to %c8 step %n {
        %v = arith.index_cast %i : index to i32
        %far = arith.addi %i, %c4 : index
        %at = arith.remui %far, %c8 : index
        symm.remote_store %ctx, %to[%at], %v, %peer : memref<8xi32>, i32
      }
      return
    }

    func.func private @look(%from: memref<8xi32>, %sums: memref<8xi32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %zero = arith.constant 0 : i32
      %id = gpu.thread_id x
      %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%so_far = %zero) -> i32 {
        %v = memref.load %from[%i] : memref<8xi32>
        %with = arith.addi %so_far, %v : i32
        scf.yield %with : i32
      }
      memref.store %sum, %sums[%id] : memref<8xi32>
      return
    }

    // The group signals.
    gpu.func @handed_over(%ctx: !symm.ctx, %mine: memref<8xi32>, %other: memref<8xi32>, %box: memref<8xi32>,
                  %flag: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %id = gpu.thread_id x
      %is_last = arith.cmpi eq, %id, %c1 : index
      %me = symm.rank %ctx
      %peer = arith.subi %one, %me : i32
      %sends = arith.cmpi eq, %me, %zero : i32
      scf.if %sends {
        func.call @fill(%mine) : (memref<8xi32>) -> ()
        symm.put %ctx, %mine, %box, %peer group block : memref<8xi32>, memref<8xi32>
        symm.signal add %ctx, %flag[%c0], %one, %peer group block : memref<1xi32>, i32
      } else {
        symm.wait %ctx, %flag[%c0] ge %one group block : memref<1xi32>, i32
        func.call @look(%box, %other) : (memref<8xi32>, memref<8xi32>) -> ()
      }
      gpu.return
    }

    // Each thread signals by itself, and hands over its own part alone.
    // OWN_PART: error: wrong-event
    // OWN_PART: block 0 thread {{[0-9]}}: writes {{[0-9]+}} bytes
    gpu.func @own_part(%ctx: !symm.ctx, %mine: memref<8xi32>, %other: memref<8xi32>, %box: memref<8xi32>,
                  %flag: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %id = gpu.thread_id x
      %is_last = arith.cmpi eq, %id, %c1 : index
      %me = symm.rank %ctx
      %peer = arith.subi %one, %me : i32
      %sends = arith.cmpi eq, %me, %zero : i32
      scf.if %sends {
        func.call @fill(%mine) : (memref<8xi32>) -> ()
        symm.put %ctx, %mine, %box, %peer group block : memref<8xi32>, memref<8xi32>
        symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      } else {
        symm.wait %ctx, %flag[%c0] ge %one group block : memref<1xi32>, i32
        func.call @look(%box, %other) : (memref<8xi32>, memref<8xi32>) -> ()
      }
      gpu.return
    }

    // One thread signals, after a barrier.
    gpu.func @after_barrier(%ctx: !symm.ctx, %mine: memref<8xi32>, %other: memref<8xi32>, %box: memref<8xi32>,
                  %flag: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %id = gpu.thread_id x
      %is_last = arith.cmpi eq, %id, %c1 : index
      %me = symm.rank %ctx
      %peer = arith.subi %one, %me : i32
      %sends = arith.cmpi eq, %me, %zero : i32
      scf.if %sends {
        func.call @fill(%mine) : (memref<8xi32>) -> ()
        symm.put %ctx, %mine, %box, %peer group block : memref<8xi32>, memref<8xi32>
        gpu.barrier
        scf.if %is_last {
          symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
        }
      } else {
        symm.wait %ctx, %flag[%c0] ge %one group block : memref<1xi32>, i32
        func.call @look(%box, %other) : (memref<8xi32>, memref<8xi32>) -> ()
      }
      gpu.return
    }

    // One thread signals, without.
    // LAST_THREAD: error: race (O
    // LAST_THREAD: block 0 thread {{[0-9]}}: writes {{[0-9]+}} bytes
    gpu.func @last_thread(%ctx: !symm.ctx, %mine: memref<8xi32>, %other: memref<8xi32>, %box: memref<8xi32>,
                  %flag: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %id = gpu.thread_id x
      %is_last = arith.cmpi eq, %id, %c1 : index
      %me = symm.rank %ctx
      %peer = arith.subi %one, %me : i32
      %sends = arith.cmpi eq, %me, %zero : i32
      scf.if %sends {
        func.call @fill(%mine) : (memref<8xi32>) -> ()
        symm.put %ctx, %mine, %box, %peer group block : memref<8xi32>, memref<8xi32>
        scf.if %is_last {
          symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
        }
      } else {
        symm.wait %ctx, %flag[%c0] ge %one group block : memref<1xi32>, i32
        func.call @look(%box, %other) : (memref<8xi32>, memref<8xi32>) -> ()
      }
      gpu.return
    }

    // The source is written over at once, by other threads than those that have read it.
    gpu.func @source_again(%ctx: !symm.ctx, %mine: memref<8xi32>, %other: memref<8xi32>, %box: memref<8xi32>,
                  %flag: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %id = gpu.thread_id x
      %is_last = arith.cmpi eq, %id, %c1 : index
      %me = symm.rank %ctx
      %peer = arith.subi %one, %me : i32
      %sends = arith.cmpi eq, %me, %zero : i32
      scf.if %sends {
        func.call @fill(%mine) : (memref<8xi32>) -> ()
        symm.put %ctx, %mine, %box, %peer group block : memref<8xi32>, memref<8xi32>
        func.call @fill(%mine) : (memref<8xi32>) -> ()
        symm.signal add %ctx, %flag[%c0], %one, %peer group block : memref<1xi32>, i32
      } else {
        symm.wait %ctx, %flag[%c0] ge %one group block : memref<1xi32>, i32
        func.call @look(%box, %other) : (memref<8xi32>, memref<8xi32>) -> ()
      }
      gpu.return
    }

    // So is what it has written, by other threads than those that have: later writes come after all of a put.
    gpu.func @target_again(%ctx: !symm.ctx, %mine: memref<8xi32>, %other: memref<8xi32>, %box: memref<8xi32>,
                  %flag: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %id = gpu.thread_id x
      %is_last = arith.cmpi eq, %id, %c1 : index
      %me = symm.rank %ctx
      %peer = arith.subi %one, %me : i32
      %sends = arith.cmpi eq, %me, %zero : i32
      scf.if %sends {
        func.call @fill(%mine) : (memref<8xi32>) -> ()
        symm.put %ctx, %mine, %box, %peer group block : memref<8xi32>, memref<8xi32>
        func.call @fill_far(%ctx, %box, %peer) : (!symm.ctx, memref<8xi32>, i32) -> ()
        symm.signal add %ctx, %flag[%c0], %one, %peer group block : memref<1xi32>, i32
      } else {
        symm.wait %ctx, %flag[%c0] ge %one group block : memref<1xi32>, i32
        func.call @look(%box, %other) : (memref<8xi32>, memref<8xi32>) -> ()
      }
      gpu.return
    }

    // What a put has written on this rank is not there for all threads before they meet.
    // OWN_MEMORY: error: race (O
    // OWN_MEMORY: block 0 thread {{[0-9]}}: writes {{[0-9]+}} bytes
    gpu.func @own_memory(%ctx: !symm.ctx, %mine: memref<8xi32>, %other: memref<8xi32>, %box: memref<8xi32>,
                  %flag: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %id = gpu.thread_id x
      %is_last = arith.cmpi eq, %id, %c1 : index
      %me = symm.rank %ctx
      %peer = arith.subi %one, %me : i32
      %sends = arith.cmpi eq, %me, %zero : i32
      scf.if %sends {
        func.call @fill(%mine) : (memref<8xi32>) -> ()
        symm.put %ctx, %mine, %box, %me group block : memref<8xi32>, memref<8xi32>
        func.call @look(%box, %other) : (memref<8xi32>, memref<8xi32>) -> ()
      } else {
      }
      gpu.return
    }

    // Puts that follow each other come in no order.
    // TWO_PUTS: error: race (O
    // TWO_PUTS: block 0 thread {{[0-9]}}: writes {{[0-9]+}} bytes
    gpu.func @two_puts(%ctx: !symm.ctx, %mine: memref<8xi32>, %other: memref<8xi32>, %box: memref<8xi32>,
                  %flag: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %id = gpu.thread_id x
      %is_last = arith.cmpi eq, %id, %c1 : index
      %me = symm.rank %ctx
      %peer = arith.subi %one, %me : i32
      %sends = arith.cmpi eq, %me, %zero : i32
      scf.if %sends {
        func.call @fill(%mine) : (memref<8xi32>) -> ()
        symm.put %ctx, %mine, %box, %peer group block : memref<8xi32>, memref<8xi32>
        symm.put %ctx, %other, %box, %peer group block : memref<8xi32>, memref<8xi32>
        symm.signal add %ctx, %flag[%c0], %one, %peer group block : memref<1xi32>, i32
      } else {
        symm.wait %ctx, %flag[%c0] ge %one group block : memref<1xi32>, i32
        func.call @look(%box, %other) : (memref<8xi32>, memref<8xi32>) -> ()
      }
      gpu.return
    }

    // With a barrier between them they do.
    gpu.func @two_puts_apart(%ctx: !symm.ctx, %mine: memref<8xi32>, %other: memref<8xi32>, %box: memref<8xi32>,
                  %flag: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %id = gpu.thread_id x
      %is_last = arith.cmpi eq, %id, %c1 : index
      %me = symm.rank %ctx
      %peer = arith.subi %one, %me : i32
      %sends = arith.cmpi eq, %me, %zero : i32
      scf.if %sends {
        func.call @fill(%mine) : (memref<8xi32>) -> ()
        symm.put %ctx, %mine, %box, %peer group block : memref<8xi32>, memref<8xi32>
        gpu.barrier
        symm.put %ctx, %other, %box, %peer group block : memref<8xi32>, memref<8xi32>
        symm.signal add %ctx, %flag[%c0], %one, %peer group block : memref<1xi32>, i32
      } else {
        symm.wait %ctx, %flag[%c0] ge %one group block : memref<1xi32>, i32
        func.call @look(%box, %other) : (memref<8xi32>, memref<8xi32>) -> ()
      }
      gpu.return
    }

    // Elements that lie apart.
    // STRIDED: error: wrong-event
    // STRIDED: block 0 thread {{[0-9]}}: writes {{[0-9]+}} bytes
    gpu.func @strided(%ctx: !symm.ctx, %mine: memref<8xi32>, %other: memref<8xi32>, %box: memref<8xi32>,
                  %flag: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %id = gpu.thread_id x
      %is_last = arith.cmpi eq, %id, %c1 : index
      %me = symm.rank %ctx
      %peer = arith.subi %one, %me : i32
      %sends = arith.cmpi eq, %me, %zero : i32
      scf.if %sends {
        func.call @fill(%mine) : (memref<8xi32>) -> ()
        %odd = memref.subview %box[1] [4] [2] : memref<8xi32> to memref<4xi32, strided<[2], offset: 1>>
        %even = memref.subview %mine[0] [4] [2] : memref<8xi32> to memref<4xi32, strided<[2]>>
        symm.put %ctx, %even, %odd, %peer group block
          : memref<4xi32, strided<[2]>>, memref<4xi32, strided<[2], offset: 1>>
        symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      } else {
        symm.wait %ctx, %flag[%c0] ge %one group block : memref<1xi32>, i32
        func.call @look(%box, %other) : (memref<8xi32>, memref<8xi32>) -> ()
      }
      gpu.return
    }
  }

  func.func @handed_over(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %mine = symm.alloc %ctx : memref<8xi32>
    %other = symm.alloc %ctx : memref<8xi32>
    %box = symm.alloc %ctx : memref<8xi32>
    %flag = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@handed_over blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %mine : memref<8xi32>, %other : memref<8xi32>, %box : memref<8xi32>,
           %flag : memref<1xi32>)
    return
  }

  func.func @own_part(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %mine = symm.alloc %ctx : memref<8xi32>
    %other = symm.alloc %ctx : memref<8xi32>
    %box = symm.alloc %ctx : memref<8xi32>
    %flag = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@own_part blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %mine : memref<8xi32>, %other : memref<8xi32>, %box : memref<8xi32>,
           %flag : memref<1xi32>)
    return
  }

  func.func @after_barrier(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %mine = symm.alloc %ctx : memref<8xi32>
    %other = symm.alloc %ctx : memref<8xi32>
    %box = symm.alloc %ctx : memref<8xi32>
    %flag = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@after_barrier blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %mine : memref<8xi32>, %other : memref<8xi32>, %box : memref<8xi32>,
           %flag : memref<1xi32>)
    return
  }

  func.func @last_thread(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %mine = symm.alloc %ctx : memref<8xi32>
    %other = symm.alloc %ctx : memref<8xi32>
    %box = symm.alloc %ctx : memref<8xi32>
    %flag = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@last_thread blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %mine : memref<8xi32>, %other : memref<8xi32>, %box : memref<8xi32>,
           %flag : memref<1xi32>)
    return
  }

  func.func @source_again(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %mine = symm.alloc %ctx : memref<8xi32>
    %other = symm.alloc %ctx : memref<8xi32>
    %box = symm.alloc %ctx : memref<8xi32>
    %flag = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@source_again blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %mine : memref<8xi32>, %other : memref<8xi32>, %box : memref<8xi32>,
           %flag : memref<1xi32>)
    return
  }

  func.func @target_again(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %mine = symm.alloc %ctx : memref<8xi32>
    %other = symm.alloc %ctx : memref<8xi32>
    %box = symm.alloc %ctx : memref<8xi32>
    %flag = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@target_again blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %mine : memref<8xi32>, %other : memref<8xi32>, %box : memref<8xi32>,
           %flag : memref<1xi32>)
    return
  }

  func.func @own_memory(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %mine = symm.alloc %ctx : memref<8xi32>
    %other = symm.alloc %ctx : memref<8xi32>
    %box = symm.alloc %ctx : memref<8xi32>
    %flag = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@own_memory blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %mine : memref<8xi32>, %other : memref<8xi32>, %box : memref<8xi32>,
           %flag : memref<1xi32>)
    return
  }

  func.func @two_puts(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %mine = symm.alloc %ctx : memref<8xi32>
    %other = symm.alloc %ctx : memref<8xi32>
    %box = symm.alloc %ctx : memref<8xi32>
    %flag = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@two_puts blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %mine : memref<8xi32>, %other : memref<8xi32>, %box : memref<8xi32>,
           %flag : memref<1xi32>)
    return
  }

  func.func @two_puts_apart(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %mine = symm.alloc %ctx : memref<8xi32>
    %other = symm.alloc %ctx : memref<8xi32>
    %box = symm.alloc %ctx : memref<8xi32>
    %flag = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@two_puts_apart blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %mine : memref<8xi32>, %other : memref<8xi32>, %box : memref<8xi32>,
           %flag : memref<1xi32>)
    return
  }

  func.func @strided(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %mine = symm.alloc %ctx : memref<8xi32>
    %other = symm.alloc %ctx : memref<8xi32>
    %box = symm.alloc %ctx : memref<8xi32>
    %flag = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@strided blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %mine : memref<8xi32>, %other : memref<8xi32>, %box : memref<8xi32>,
           %flag : memref<1xi32>)
    return
  }
}
