// Packets order nothing but their own line, and are no signals (rule P1): what takes one for the other is told so.

// RUN: not symm-check %s --entry as_signal | FileCheck %s --check-prefix=SIGNAL
// RUN: not symm-check %s --entry as_credit | FileCheck %s --check-prefix=CREDIT
// RUN: not symm-check %s --entry relaxed_credit --as-written | FileCheck %s --check-prefix=RELAXED
// RUN: symm-check %s --entry in_order --exhaustive | FileCheck %s --check-prefix=ORDER
// RUN: not symm-check %s --entry waited_for | FileCheck %s --check-prefix=WAITED
// RUN: not symm-check %s --entry waited_for_more | FileCheck %s --check-prefix=MORE
// RUN: not symm-check %s --entry signalled | FileCheck %s --check-prefix=NONE
// RUN: not symm-check %s --entry of_floats | FileCheck %s --check-prefix=FLOATS
// RUN: not symm-check %s --entry read_plainly --schedules 5 | FileCheck %s --check-prefix=PLAIN

!words = memref<8xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // The data is written beside the packet that tells of it.
    // SIGNAL: error: race (O1)
    // SIGNAL-NEXT: note: rank 0 block 0 thread 0: writes 4 bytes
    // SIGNAL: note: rank 1 block 0 thread 0: reads 4 bytes
    // SIGNAL: note: rank 0 block 0 thread 0: puts what the other one has received when it comes to the second
    // SIGNAL-NEXT: symm.put_packet
    // SIGNAL: help: a packet, and floats, order nothing but their own line (rule P1): send it in them, or signal after
    gpu.func @as_signal(%ctx: !symm.ctx, %slots: !words, %data: !words) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
        symm.remote_store %ctx, %data[%c0], %one, %one : !words, i32
        symm.put_packet %ctx, %slots[%c0], %one, %one, %one : !words, i32
      } else {
        %got = symm.wait_packet %ctx, %slots[%c0], %one : !words -> i32
        %v = memref.load %data[%c0] : !words
        memref.store %v, %slots[%c0] : !words
      }
      gpu.return
    }

    // A packet says that the data has been read.
    // CREDIT: error: write-after-read (O1)
    // CREDIT: puts what the other one has received when it comes to the second
    // CREDIT: help: a packet, and floats, order nothing but their own line (rule P1): send it in them, or signal after
    gpu.func @as_credit(%ctx: !symm.ctx, %slots: !words, %data: !words) kernel {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
        %v = memref.load %data[%c0] : !words
        symm.put_packet %ctx, %slots[%c0], %v, %one, %one : !words, i32
      } else {
        %got = symm.wait_packet %ctx, %slots[%c0], %one : !words -> i32
        symm.remote_store %ctx, %data[%c0], %one, %zero : !words, i32
      }
      gpu.return
    }

    // A signal says that the packet has been received, and does not release.
    // RELAXED: error: packet-overwritten (P1)
    // RELAXED: note: rank 1 block 0 thread 0: announces the receipt
    // RELAXED-NEXT: symm.signal set
    // RELAXED: note: rank 0 block 0 thread 0: sees it before the line is used again
    // RELAXED-NEXT: symm.wait
    // RELAXED: help: what announces the receipt has to release at scope sys
    gpu.func @relaxed_credit(%ctx: !symm.ctx, %slots: !words, %data: !words) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %me = symm.rank %ctx
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
        symm.put_packet %ctx, %slots[%c0], %one, %one, %one : !words, i32
        symm.wait %ctx, %data[%c0] ge %one : !words, i32
        symm.put_packet %ctx, %slots[%c0], %two, %two, %one : !words, i32
      } else {
        %got = symm.wait_packet %ctx, %slots[%c0], %one : !words -> i32
        symm.signal set %ctx, %data[%c0], %one, %zero sem relaxed : !words, i32
      }
      gpu.return
    }

    // The data is in the packet, or a signal comes with it.
    // ORDER: nothing found; {{.*}}; there are no others that differ
    gpu.func @in_order(%ctx: !symm.ctx, %slots: !words, %data: !words) kernel {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
        symm.remote_store %ctx, %data[%c0], %one, %one : !words, i32
        symm.put_packet %ctx, %slots[%c0], %one, %one, %one : !words, i32
        symm.signal set %ctx, %data[%c4], %one, %one : !words, i32
      } else {
        %got = symm.wait_packet %ctx, %slots[%c0], %one : !words -> i32
        symm.wait %ctx, %data[%c4] eq %one : !words, i32
        %v = memref.load %data[%c0] : !words
        memref.store %v, %data[%c0] : !words
      }
      gpu.return
    }

    // A wait for a packet's epoch goes on, and does not order what comes after it.
    // WAITED: error: missing-release (O1)
    // WAITED: announces the first access
    // WAITED-NEXT: symm.put_packet
    // WAITED: help: a packet, and floats, are no signal and release nothing (rule P1): receive them by wait_packet or
    // WAITED: error: narrow-atomic (O2)
    // WAITED: help: a line of a packet or of floats is sent and received by their own ops alone (rule P1); for a signal
    gpu.func @waited_for(%ctx: !symm.ctx, %slots: !words, %data: !words) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
        symm.put_packet %ctx, %slots[%c0], %one, %one, %one : !words, i32
      } else {
        symm.wait %ctx, %slots[%c1] eq %one : !words, i32
        %v = memref.load %slots[%c0] : !words
        memref.store %v, %data[%c0] : !words
      }
      gpu.return
    }

    // MORE: error: never-signalled
    // MORE: sees {{[01]}}; nobody has signalled it; what rank 0 block 0 thread 0 ({{.*}}) has put there is no signal (rule P1)
    gpu.func @waited_for_more(%ctx: !symm.ctx, %slots: !words, %data: !words) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %me = symm.rank %ctx
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
        symm.put_packet %ctx, %slots[%c0], %one, %one, %one : !words, i32
      } else {
        symm.wait %ctx, %slots[%c1] ge %two : !words, i32
      }
      gpu.return
    }

    // A signal to the epoch is no packet.
    // NONE: error: never-signalled
    // NONE: sees epoch 0; nobody has put a packet there, and what rank 0 block 0 thread 0 ({{.*}}) has written is none:
    // NONE-SAME: put_packet sends one (rule P1)
    gpu.func @signalled(%ctx: !symm.ctx, %slots: !words, %data: !words) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
        symm.remote_store %ctx, %slots[%c0], %one, %one : !words, i32
        symm.signal set %ctx, %slots[%c1], %one, %one : !words, i32
      } else {
        %got = symm.wait_packet %ctx, %slots[%c0], %one : !words -> i32
        memref.store %got, %data[%c0] : !words
      }
      gpu.return
    }

    // FLOATS: error: never-signalled
    // FLOATS: nobody has put a packet there, but rank 0 block 0 thread 0 ({{.*}}) has put or cleared floats, which wait_floats
    gpu.func @of_floats(%ctx: !symm.ctx, %slots: !words, %data: !words) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %value = arith.constant 1.0 : f32
      %me = symm.rank %ctx
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
        symm.put_packet %ctx, %slots[%c0], %value, sentinel 32, %one clear : !words, f32
      } else {
        %got = symm.wait_packet %ctx, %slots[%c0], %one : !words -> i32
        memref.store %got, %data[%c0] : !words
      }
      gpu.return
    }

    // PLAIN: help: what one task signals, or updates, another one reads by a plain load: wait for it, or read it by an atomic
    gpu.func @read_plainly(%ctx: !symm.ctx, %slots: !words, %data: !words) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
        symm.signal set %ctx, %data[%c0], %one, %one : !words, i32
      } else {
        %v = memref.load %data[%c0] : !words
        memref.store %v, %slots[%c0] : !words
      }
      gpu.return
    }
  }

  func.func @as_signal(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %slots = symm.alloc %ctx : !words
    %data = symm.alloc %ctx : !words
    gpu.launch_func @kernels::@as_signal blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : !words, %data : !words)
    return
  }

  func.func @as_credit(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %slots = symm.alloc %ctx : !words
    %data = symm.alloc %ctx : !words
    gpu.launch_func @kernels::@as_credit blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : !words, %data : !words)
    return
  }

  func.func @relaxed_credit(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %slots = symm.alloc %ctx : !words
    %data = symm.alloc %ctx : !words
    gpu.launch_func @kernels::@relaxed_credit blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : !words, %data : !words)
    return
  }

  func.func @in_order(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %slots = symm.alloc %ctx : !words
    %data = symm.alloc %ctx : !words
    gpu.launch_func @kernels::@in_order blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : !words, %data : !words)
    return
  }

  func.func @waited_for(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %slots = symm.alloc %ctx : !words
    %data = symm.alloc %ctx : !words
    gpu.launch_func @kernels::@waited_for blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : !words, %data : !words)
    return
  }

  func.func @waited_for_more(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %slots = symm.alloc %ctx : !words
    %data = symm.alloc %ctx : !words
    gpu.launch_func @kernels::@waited_for_more blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : !words, %data : !words)
    return
  }

  func.func @signalled(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %slots = symm.alloc %ctx : !words
    %data = symm.alloc %ctx : !words
    gpu.launch_func @kernels::@signalled blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : !words, %data : !words)
    return
  }

  func.func @of_floats(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %slots = symm.alloc %ctx : !words
    %data = symm.alloc %ctx : !words
    gpu.launch_func @kernels::@of_floats blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : !words, %data : !words)
    return
  }

  func.func @read_plainly(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %slots = symm.alloc %ctx : !words
    %data = symm.alloc %ctx : !words
    gpu.launch_func @kernels::@read_plainly blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slots : !words, %data : !words)
    return
  }
}
