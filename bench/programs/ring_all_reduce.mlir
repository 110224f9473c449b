// A ring all-reduce: each block sums its own 256 numbers of every rank's chunk on the way around the ring, then passes
// the sums around it. A block waits 2 (ranks - 1) times for the same block of its left neighbour. `./x bench cpu` runs
// it with far more blocks than cores.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // data: [chunk, block, 256]; inbox: [step, block, 256], written by the left neighbour; flags: one for each block.
    gpu.func @all_reduce(%ctx: !symm.ctx, %data: memref<?x?x256xi64>, %inbox: memref<?x?x256xi64>,
                         %flags: memref<?xi64>, %epoch: i64) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c256 = arith.constant 256 : index
      %one = arith.constant 1 : i32
      %one_step = arith.constant 1 : i64
      %me32 = symm.rank %ctx
      %n32 = symm.num_ranks %ctx
      %me = arith.index_cast %me32 : i32 to index
      %n = arith.index_cast %n32 : i32 to index
      %after = arith.addi %me32, %one : i32
      %right = arith.remui %after, %n32 : i32
      %b = gpu.block_id x
      %id = gpu.thread_id x
      %threads = gpu.block_dim x
      %hops = arith.subi %n, %c1 : index
      %steps = arith.addi %hops, %hops : index
      %steps64 = arith.index_cast %steps : index to i64
      %before = arith.muli %epoch, %steps64 : i64
      scf.for %step = %c0 to %steps step %c1 {
        // The chunk that moves on in this step: mine first, then the one that came last.
        %back = arith.remui %step, %n : index
        %far = arith.addi %me, %n : index
        %shifted = arith.subi %far, %back : index
        %chunk = arith.remui %shifted, %n : index
        scf.for %i = %id to %c256 step %threads {
          %x = memref.load %data[%chunk, %b, %i] : memref<?x?x256xi64>
          symm.remote_store %ctx, %inbox[%step, %b, %i], %x, %right : memref<?x?x256xi64>, i64
        }
        symm.signal add %ctx, %flags[%b], %one_step, %right group block : memref<?xi64>, i64
        %step64 = arith.index_cast %step : index to i64
        %so_far = arith.addi %before, %step64 : i64
        %wanted = arith.addi %so_far, %one_step : i64
        symm.wait %ctx, %flags[%b] ge %wanted group block : memref<?xi64>, i64
        %next_shifted = arith.subi %shifted, %c1 : index
        %came = arith.remui %next_shifted, %n : index
        %reduces = arith.cmpi ult, %step, %hops : index
        scf.for %i = %id to %c256 step %threads {
          %x = memref.load %inbox[%step, %b, %i] : memref<?x?x256xi64>
          %old = memref.load %data[%came, %b, %i] : memref<?x?x256xi64>
          %sum = arith.addi %old, %x : i64
          %new = arith.select %reduces, %sum, %x : i64
          memref.store %new, %data[%came, %b, %i] : memref<?x?x256xi64>
        }
      }
      gpu.return
    }
  }

  // Reduces what is in `data` on every rank. The epoch counts the calls with the same flags.
  func.func @all_reduce(%ctx: !symm.ctx, %data: memref<?x?x256xi64>, %inbox: memref<?x?x256xi64>,
                        %flags: memref<?xi64>, %blocks: index, %epoch: i64) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@all_reduce blocks in (%blocks, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<?x?x256xi64>, %inbox : memref<?x?x256xi64>, %flags : memref<?xi64>,
           %epoch : i64)
    return
  }

  func.func @main(%ctx: !symm.ctx, %blocks: index {symm.name = "blocks"}, %repeats: i64 {symm.name = "repeats"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %ranks = arith.index_cast %n : i32 to index
    %ranks64 = arith.extui %n : i32 to i64
    %me64 = arith.extui %me : i32 to i64
    %hops = arith.subi %ranks, %c1 : index
    %steps = arith.addi %hops, %hops : index
    %data = symm.alloc %ctx(%ranks, %blocks) : memref<?x?x256xi64>
    %inbox = symm.alloc %ctx(%steps, %blocks) : memref<?x?x256xi64>
    %flags = symm.alloc %ctx(%blocks) : memref<?xi64>
    %host = memref.alloc(%ranks, %blocks) : memref<?x?x256xi64>
    // Rank r starts with r + c + b + i at [c, b, i]; the sum over the ranks is n (n - 1) / 2 + n (c + b + i).
    scf.for %c = %c0 to %ranks step %c1 {
      scf.for %b = %c0 to %blocks step %c1 {
        scf.for %i = %c0 to %c256 step %c1 {
          %cb = arith.addi %c, %b : index
          %cbi = arith.addi %cb, %i : index
          %cbi64 = arith.index_cast %cbi : index to i64
          %x = arith.addi %cbi64, %me64 : i64
          memref.store %x, %host[%c, %b, %i] : memref<?x?x256xi64>
        }
      }
    }
    scf.for %repeat = %zero to %repeats step %one : i64 {
      gpu.memcpy %data, %host : memref<?x?x256xi64>, memref<?x?x256xi64>
      symm.barrier_all %ctx
      func.call @all_reduce(%ctx, %data, %inbox, %flags, %blocks, %repeat)
        : (!symm.ctx, memref<?x?x256xi64>, memref<?x?x256xi64>, memref<?xi64>, index, i64) -> ()
      symm.barrier_all %ctx
    }
    gpu.memcpy %host, %data : memref<?x?x256xi64>, memref<?x?x256xi64>
    %two = arith.constant 2 : i64
    %less = arith.subi %ranks64, %one : i64
    %product = arith.muli %ranks64, %less : i64
    %all_ranks = arith.divui %product, %two : i64
    %true = arith.constant true
    %same = scf.for %c = %c0 to %ranks step %c1 iter_args(%so_far = %true) -> (i1) {
      %of_chunk = scf.for %b = %c0 to %blocks step %c1 iter_args(%so_far_b = %so_far) -> (i1) {
        %of_block = scf.for %i = %c0 to %c256 step %c1 iter_args(%so_far_i = %so_far_b) -> (i1) {
          %x = memref.load %host[%c, %b, %i] : memref<?x?x256xi64>
          %cb = arith.addi %c, %b : index
          %cbi = arith.addi %cb, %i : index
          %cbi64 = arith.index_cast %cbi : index to i64
          %times = arith.muli %ranks64, %cbi64 : i64
          %want = arith.addi %all_ranks, %times : i64
          %equal = arith.cmpi eq, %x, %want : i64
          %both = arith.andi %so_far_i, %equal : i1
          scf.yield %both : i1
        }
        scf.yield %of_block : i1
      }
      scf.yield %of_chunk : i1
    }
    %none = arith.cmpi eq, %repeats, %zero : i64
    %good = arith.ori %same, %none : i1
    symm.check %good, "the sums are wrong"
    memref.dealloc %host : memref<?x?x256xi64>
    symm.free %ctx, %data : memref<?x?x256xi64>
    symm.free %ctx, %inbox : memref<?x?x256xi64>
    symm.free %ctx, %flags : memref<?xi64>
    return
  }
}
