// One thread releases what its block has written (O3), in every spelling: a release fence of the block comes before the
// branch.
// RUN: symm-opt %s --symm-check-sync -split-input-file -verify-diagnostics | FileCheck %s

// What releases.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @put_signal
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @put_signal(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.put_signal set %ctx, %m, %m, %flag[%c0], %one, %peer : memref<?xf32>, memref<?xf32>, memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @atomic_rmw
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @atomic_rmw(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        %old = symm.atomic_rmw xchg %ctx, %flag[%c0], %one, %peer sem release : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @atomic_cas
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @atomic_cas(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        %old = symm.atomic_cas %ctx, %flag[%c0], %one, %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @fence
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @fence(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.fence sem release
        symm.signal set %ctx, %flag[%c0], %one, %peer sem relaxed : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @fence_of_gpu
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @fence_of_gpu(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.fence scope gpu
        symm.remote_store %ctx, %x, %m[%c0], %peer volatile : f32, memref<?xf32>
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @barrier
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @barrier(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.barrier %ctx
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @once
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @once(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @relaxed
    // CHECK-NOT: symm.fence sem release group block
    // CHECK: gpu.return
    gpu.func @relaxed(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        %old = symm.atomic_rmw add %ctx, %flag[%c0], %one, %peer sem acquire : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @fence_for_nobody
    // CHECK-NOT: symm.fence sem release group block
    // CHECK: gpu.return
    gpu.func @fence_for_nobody(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        symm.fence sem release
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @fence_of_block_scope
    // CHECK-NOT: symm.fence sem release group block
    // CHECK: gpu.return
    gpu.func @fence_of_block_scope(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        symm.fence sem release scope cta
        symm.signal set %ctx, %flag[%c0], %one, %peer sem relaxed : memref<1xi32>, i32
      }
      gpu.return
    }
  }
}

// -----

// How one thread is told from the others.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @below_one
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @below_one(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi ult, %i, %c1 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @signed_below_one
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @signed_below_one(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi slt, %i, %c1 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @at_most_zero
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @at_most_zero(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi sle, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @one_above
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @one_above(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi ugt, %c1, %i : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @last
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @last(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %size = gpu.block_dim x
      %last = arith.subi %size, %c1 : index
      %first = arith.cmpi eq, %i, %last : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @otherwise
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @otherwise(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi ne, %i, %c0 : index
      scf.if %first {
        scf.yield
      } else {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @denied
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @denied(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %others = arith.cmpi uge, %i, %c1 : index
      %first = arith.xori %others, %true : i1
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @both
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @both(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %y = gpu.thread_id y
      %row = arith.cmpi ult, %y, %n : index
      %column = arith.cmpi eq, %i, %c0 : index
      %first = arith.andi %row, %column : i1
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @neither
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @neither(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %y = gpu.thread_id y
      %row = arith.cmpi ne, %y, %c0 : index
      %column = arith.cmpi ne, %i, %c0 : index
      %first = arith.ori %row, %column : i1
      scf.if %first {
        scf.yield
      } else {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @lane
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @lane(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %lane = gpu.lane_id
      %first = arith.cmpi eq, %lane, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @index
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @index(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = index.cmp eq(%i, %c0)
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @some
    // CHECK-NOT: symm.fence sem release group block
    // CHECK: gpu.return
    gpu.func @some(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi ult, %i, %n : index
      scf.if %first {
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @all_but_one
    // CHECK-NOT: symm.fence sem release group block
    // CHECK: gpu.return
    gpu.func @all_but_one(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %first = arith.cmpi ne, %i, %c0 : index
      scf.if %first {
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @either
    // CHECK-NOT: symm.fence sem release group block
    // CHECK: gpu.return
    gpu.func @either(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %is_n = arith.cmpi ult, %i, %n : index
      %is = arith.cmpi eq, %i, %c0 : index
      %first = arith.ori %is_n, %is : i1
      scf.if %first {
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
  }
}

// -----

// What writes.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    func.func private @write(memref<?xf32>, f32)
    // CHECK-LABEL: gpu.func @transfer_write
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @transfer_write(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      %v = vector.broadcast %x : f32 to vector<4xf32>
      vector.transfer_write %v, %m[%i] : vector<4xf32>, memref<?xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @maskedstore
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @maskedstore(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      %v = vector.broadcast %x : f32 to vector<4xf32>
      %lanes = vector.create_mask %i : vector<4xi1>
      vector.maskedstore %m[%i], %lanes, %v : memref<?xf32>, vector<4xi1>, vector<4xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @plain_atomic
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @plain_atomic(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      %sum = memref.atomic_rmw addf %x, %m[%i] : (f32, memref<?xf32>) -> f32
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @symm_atomic
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @symm_atomic(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      %sum = symm.atomic_rmw fadd %ctx, %m[%i], %x, %peer sem relaxed : memref<?xf32>, f32
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @signal
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @signal(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // A barrier could wait for a thread that waits: a remark alone.
    // CHECK-LABEL: gpu.func @call(
    // CHECK-NOT: symm.fence
    // CHECK: gpu.return
    gpu.func @call(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      func.call @write(%m, %x) : (memref<?xf32>, f32) -> ()
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @in_loop
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @in_loop(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      scf.for %k = %c0 to %n step %c1 {
        memref.store %x, %m[%k] : memref<?xf32>
      }
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @in_other_branch
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @in_other_branch(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      %is_other = arith.cmpi eq, %i, %c1 : index
      scf.if %is_other {
        memref.store %x, %m[%i] : memref<?xf32>
      }
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @own_memory
    // CHECK-NOT: symm.fence sem release group block
    // CHECK: gpu.return
    gpu.func @own_memory(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      %own = memref.alloca() : memref<4xf32>
      memref.store %x, %own[%c0] : memref<4xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @load
    // CHECK-NOT: symm.fence sem release group block
    // CHECK: gpu.return
    gpu.func @load(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      %y = memref.load %m[%i] : memref<?xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @own_branch
    // CHECK-NOT: symm.fence sem release group block
    // CHECK: gpu.return
    gpu.func @own_branch(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      %me = arith.cmpi eq, %i, %c0 : index
      scf.if %me {
        memref.store %x, %m[%i] : memref<?xf32>
      }
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
  }
}

// -----

// What stands in between.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @barrier
    // CHECK-NOT: symm.fence sem release group block
    // CHECK: gpu.return
    gpu.func @barrier(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      gpu.barrier
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @wait_of_block
    // CHECK-NOT: symm.fence sem release group block
    // CHECK: gpu.return
    gpu.func @wait_of_block(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      symm.wait %ctx, %flag[%c0] ge %one group block : memref<1xi32>, i32
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @barrier_in_loop
    // CHECK-NOT: symm.fence sem release group block
    // CHECK: gpu.return
    gpu.func @barrier_in_loop(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      scf.for %k = %c0 to %n step %c1 {
        memref.store %x, %m[%k] : memref<?xf32>
        gpu.barrier
      }
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // A barrier could wait for a thread that waits: a remark alone.
    // CHECK-LABEL: gpu.func @wait_of_thread(
    // CHECK-NOT: symm.fence
    // CHECK: gpu.return
    gpu.func @wait_of_thread(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      symm.wait %ctx, %flag[%c0] ge %one : memref<1xi32>, i32
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @barrier_of_some
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @barrier_of_some(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %i = gpu.thread_id x
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
      %yes = arith.cmpi ult, %n, %c1 : index
      scf.if %yes {
        gpu.barrier
      }
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      gpu.return
    }
  }
}

// -----

// In an earlier turn of a loop.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @earlier
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @earlier(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %i = gpu.thread_id x
      %first = arith.cmpi eq, %i, %c0 : index
      scf.for %k = %c0 to %n step %c1 {
        scf.if %first {
          // expected-remark @+1 {{one thread signals}}
          symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
        }
        memref.store %x, %m[%i] : memref<?xf32>
      }
      gpu.return
    }
    // Not all threads are in the loop for as long.
    // CHECK-LABEL: gpu.func @apart
    // CHECK-NOT: symm.fence
    // CHECK: gpu.return
    gpu.func @apart(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %i = gpu.thread_id x
      %first = arith.cmpi eq, %i, %c0 : index
      scf.for %k = %i to %n step %c1 {
        memref.store %x, %m[%i] : memref<?xf32>
        scf.if %first {
          // expected-remark-re @+1 {{{{use group block$}}}}
          symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
        }
      }
      gpu.return
    }
  }
}

// -----

// Kernels within the function that launches them.
// CHECK-LABEL: func.func @main
// CHECK: gpu.launch
// CHECK: symm.fence sem release group block
// CHECK-NEXT: scf.if
// CHECK: gpu.launch
// CHECK: scf.for
// CHECK: symm.fence sem release group block
// CHECK-NEXT: scf.if
// CHECK: gpu.launch
// CHECK-NOT: symm.fence
func.func @main(%ctx: !symm.ctx, %n: index, %x: f32, %peer: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %m = symm.alloc %ctx : memref<1024xf32>
  %flag = symm.alloc %ctx : memref<1xi32>
  %rounds = memref.dim %m, %c0 : memref<1024xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    symm.remote_store %ctx, %x, %m[%tx], %peer : f32, memref<1024xf32>
    %first = arith.cmpi eq, %tx, %c0 : index
    scf.if %first {
      // expected-remark @+1 {{put a release fence of the block in front of the branch}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    scf.for %k = %bx to %rounds step %sx {
      symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<1024xf32>
      scf.if %first {
        // expected-remark @+1 {{put a release fence of the block in front of the branch}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
    }
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    %first = arith.cmpi eq, %tx, %c0 : index
    scf.for %k = %tx to %rounds step %sx {
      symm.remote_store %ctx, %x, %m[%k], %peer : f32, memref<1024xf32>
      scf.if %first {
        // expected-remark-re @+1 {{{{use group block$}}}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
    }
    gpu.terminator
  }
  return
}

// -----

// A thread may wait for what only a thread behind the barrier brings, here or on another rank: no barrier is made.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @others_wait_first(
    // CHECK-NOT: symm.fence
    // CHECK: gpu.return
    gpu.func @others_wait_first(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<2xi32>, %x: f32, %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %one = arith.constant 1 : i32
      %i = gpu.thread_id x
      %others = arith.cmpi uge, %i, %c32 : index
      scf.if %others {
        symm.wait %ctx, %flag[%c0] ge %one : memref<2xi32>, i32
        memref.store %x, %m[%i] : memref<?xf32>
      }
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<2xi32>, i32
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @others_wait_in_the_loop(
    // CHECK-NOT: symm.fence
    // CHECK: gpu.return
    gpu.func @others_wait_in_the_loop(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<2xi32>, %n: i32, %x: f32,
        %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %i = gpu.thread_id x
      %first = arith.cmpi eq, %i, %c0 : index
      scf.for %k = %zero to %n step %one : i32 {
        memref.store %x, %m[%i] : memref<?xf32>
        scf.if %first {
          // expected-remark @+1 {{one thread signals what the other threads of its block have written before}}
          symm.signal add %ctx, %flag[%c0], %one, %peer : memref<2xi32>, i32
        } else {
          symm.wait %ctx, %flag[%c0] ge %k : memref<2xi32>, i32
        }
      }
      gpu.return
    }
    // Who waits behind the branch holds up nobody.
    // CHECK-LABEL: gpu.func @all_wait_behind(
    // CHECK: symm.fence sem release group block
    // CHECK-NEXT: scf.if
    gpu.func @all_wait_behind(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<2xi32>, %x: f32, %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %i = gpu.thread_id x
      memref.store %x, %m[%i] : memref<?xf32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{put a release fence of the block in front of the branch}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<2xi32>, i32
      }
      symm.wait %ctx, %flag[%c0] ge %one : memref<2xi32>, i32
      gpu.return
    }
    // A barrier with a number of its own need not be the block's.
    // CHECK-LABEL: gpu.func @named_barrier(
    // CHECK: nvvm.barrier
    // CHECK: symm.fence sem release group block
    gpu.func @named_barrier(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<2xi32>, %x: f32, %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %half = arith.constant 64 : i32
      %i = gpu.thread_id x
      memref.store %x, %m[%i] : memref<?xf32>
      nvvm.barrier id = %one number_of_threads = %half
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        // expected-remark @+1 {{put a release fence of the block in front of the branch}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<2xi32>, i32
      }
      gpu.return
    }
  }
}
