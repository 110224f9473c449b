// The device library for sm_90's bulk copy engine: contiguous bytes, by one thread of a block, through stages of
// 16 KiB in dynamic shared memory. The first 128 bytes of it hold an mbarrier for each stage.

llvm.mlir.global external @_symm_dynamic_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>

// Copies `bytes`, a multiple of 16, from `src` to `dst`, both aligned to 16. All but one stage are being filled while
// the last one is written out; a stage is filled again once the engine has read it. The mbarriers of the first `used`
// stages are there.
func.func private @_symm_bulk_engine(%dst: !llvm.ptr<1>, %src: !llvm.ptr<1>, %bytes: i64, %stages: i32, %used: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %c128 = arith.constant 128 : i32
  %stage_bytes = arith.constant 16384 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %chunk = arith.constant 16384 : i64
  %shared = llvm.mlir.addressof @_symm_dynamic_shared : !llvm.ptr<3>
  %barriers = llvm.ptrtoint %shared : !llvm.ptr<3> to i32
  %buffers = arith.addi %barriers, %c128 : i32
  %count = arith.extsi %stages : i32 to i64
  %chunks = arith.ceildivui %bytes, %chunk : i64
  %first = arith.extui %used : i32 to i64
  scf.for %c = %zero to %first step %one : i64 {
    %s = arith.trunci %c : i64 to i32
    func.call @_symm_bulk_fill(%src, %bytes, %c, %s, %barriers, %buffers) : (!llvm.ptr<1>, i64, i64, i32, i32, i32) -> ()
  }
  // Stages are counted, not divided for: a division takes as long as the link takes for a stage.
  %last = arith.subi %stages, %c1 : i32
  scf.for %c = %zero to %chunks step %one iter_args(%s = %c0, %parity = %c0, %before = %last) -> (i32, i32, i32) : i64 {
    %barrier_offset = arith.muli %s, %c8 : i32
    %barrier = arith.addi %barriers, %barrier_offset : i32
    scf.while : () -> () {
      %full = llvm.inline_asm has_side_effects "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [$1], $2; selp.u32 $0, 1, 0, p; }", "=r,r,r,~{memory}" %barrier, %parity : (i32, i32) -> i32
      %empty = arith.cmpi eq, %full, %c0 : i32
      scf.condition(%empty)
    } do {
      scf.yield
    }
    %buffer_offset = arith.muli %s, %stage_bytes : i32
    %buffer = arith.addi %buffers, %buffer_offset : i32
    %at = arith.muli %c, %chunk : i64
    %left = arith.subi %bytes, %at : i64
    %size64 = arith.minui %left, %chunk : i64
    %size = arith.trunci %size64 : i64 to i32
    %to = llvm.getelementptr %dst[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    llvm.inline_asm has_side_effects "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;", "l,r,r,~{memory}" %to, %buffer, %size : (!llvm.ptr<1>, i32, i32) -> ()
    llvm.inline_asm has_side_effects "cp.async.bulk.commit_group;", "~{memory}" : () -> ()
    // The stage written out before this one has been read when all groups but the last one have.
    %previous = arith.subi %c, %one : i64
    %next = arith.addi %previous, %count : i64
    %not_first = arith.cmpi ne, %c, %zero : i64
    %exists = arith.cmpi ult, %next, %chunks : i64
    %refill = arith.andi %not_first, %exists : i1
    scf.if %refill {
      llvm.inline_asm has_side_effects "cp.async.bulk.wait_group.read 1;", "~{memory}" : () -> ()
      func.call @_symm_bulk_fill(%src, %bytes, %next, %before, %barriers, %buffers) : (!llvm.ptr<1>, i64, i64, i32, i32, i32) -> ()
    }
    %wraps = arith.cmpi eq, %s, %last : i32
    %following = arith.addi %s, %c1 : i32
    %s_next = arith.select %wraps, %c0, %following : i32
    %flipped = arith.xori %parity, %c1 : i32
    %parity_next = arith.select %wraps, %flipped, %parity : i32
    scf.yield %s_next, %parity_next, %s : i32, i32, i32
  }
  llvm.inline_asm has_side_effects "cp.async.bulk.wait_group 0;", "~{memory}" : () -> ()
  scf.for %s = %c0 to %used step %c1 : i32 {
    %offset = arith.muli %s, %c8 : i32
    %barrier = arith.addi %barriers, %offset : i32
    llvm.inline_asm has_side_effects "mbarrier.inval.shared::cta.b64 [$0];", "r,~{memory}" %barrier : (i32) -> ()
  }
  return
}

// Starts to fill stage `s` with chunk `c`.
func.func private @_symm_bulk_fill(%src: !llvm.ptr<1>, %bytes: i64, %c: i64, %s: i32, %barriers: i32, %buffers: i32) {
  %chunk = arith.constant 16384 : i64
  %c8 = arith.constant 8 : i32
  %stage_bytes = arith.constant 16384 : i32
  %barrier_offset = arith.muli %s, %c8 : i32
  %barrier = arith.addi %barriers, %barrier_offset : i32
  %buffer_offset = arith.muli %s, %stage_bytes : i32
  %buffer = arith.addi %buffers, %buffer_offset : i32
  %at = arith.muli %c, %chunk : i64
  %left = arith.subi %bytes, %at : i64
  %size64 = arith.minui %left, %chunk : i64
  %size = arith.trunci %size64 : i64 to i32
  %from = llvm.getelementptr %src[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}" %barrier, %size : (i32, i32) -> ()
  llvm.inline_asm has_side_effects "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}" %buffer, %from, %size, %barrier : (i32, !llvm.ptr<1>, i32, i32) -> ()
  return
}

func.func private @_symm_copy(!llvm.ptr, !llvm.ptr, i64, i64, i64)

// Copies by a block: what lies between the first and the last multiple of 16 by the engine, the rest by the threads. All
// of it by the threads where the engine can't serve, or is not worth its start: up to four times 16 bytes a thread; after
// a barrier, if `%opens` asks for it. What the engine wrote is known to the thread that drives it, and after the group's
// next barrier to all.
func.func private @_symm_bulk_copy(%dst: !llvm.ptr, %src: !llvm.ptr, %bytes: i64, %tid: i64, %n: i64,
                                               %opens: i1) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c15 = arith.constant 15 : i64
  %c64 = arith.constant 64 : i64
  %m16 = arith.constant -16 : i64
  %chunk = arith.constant 16384 : i64
  %d = llvm.ptrtoint %dst : !llvm.ptr to i64
  %s = llvm.ptrtoint %src : !llvm.ptr to i64
  %differ = arith.xori %d, %s : i64
  %misaligned = arith.andi %differ, %c15 : i64
  %alike = arith.cmpi eq, %misaligned, %c0 : i64
  %four_each = arith.muli %n, %c64 : i64
  %many = arith.cmpi ugt, %bytes, %four_each : i64
  %shared = llvm.inline_asm "mov.u32 $0, %dynamic_smem_size;", "=r" : () -> i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %c128 = arith.constant 128 : i32
  %c12 = arith.constant 12 : i32
  %c2 = arith.constant 2 : i32
  %stage_bytes = arith.constant 16384 : i32
  %room = arith.subi %shared, %c128 : i32
  %fit = arith.divsi %room, %stage_bytes : i32
  %stages = arith.minsi %fit, %c12 : i32
  %enough = arith.cmpi sge, %stages, %c2 : i32
  %serves = arith.andi %alike, %enough : i1
  %use_engine = arith.andi %serves, %many : i1
  scf.if %use_engine {
    %negated = arith.subi %c0, %d : i64
    %to16 = arith.andi %negated, %c15 : i64
    %head = arith.minui %to16, %bytes : i64
    %rest = arith.subi %bytes, %head : i64
    %body = arith.andi %rest, %m16 : i64
    %tail = arith.andi %rest, %c15 : i64
    %edges = arith.ori %head, %tail : i64
    %has_edges = arith.cmpi ne, %edges, %c0 : i64
    %chunks64 = arith.ceildivui %body, %chunk : i64
    %all_stages = arith.extui %stages : i32 to i64
    %used64 = arith.minui %chunks64, %all_stages : i64
    %used = arith.trunci %used64 : i64 to i32
    %is_first = arith.cmpi eq, %tid, %c0 : i64
    scf.if %is_first {
      %address = llvm.mlir.addressof @_symm_dynamic_shared : !llvm.ptr<3>
      %barriers = llvm.ptrtoint %address : !llvm.ptr<3> to i32
      scf.for %stage = %zero to %used step %one : i32 {
        %offset = arith.muli %stage, %c8 : i32
        %barrier = arith.addi %barriers, %offset : i32
        llvm.inline_asm has_side_effects "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}" %barrier, %one : (i32, i32) -> ()
      }
    }
    // What the threads wrote and read before, the mbarriers too, comes before what the engine reads and writes: each of
    // them fences from the generic to the asynchronous proxy, then the block meets. Where it is together already it meets
    // once more, because those fences have to lie between. The way back needs none: a copy that is seen to be complete is
    // visible to the generic proxy.
    llvm.inline_asm has_side_effects "fence.proxy.async;", "~{memory}" : () -> ()
    gpu.barrier
    scf.if %is_first {
      %bd = llvm.getelementptr %dst[%head] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %bs = llvm.getelementptr %src[%head] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %gd = llvm.addrspacecast %bd : !llvm.ptr to !llvm.ptr<1>
      %gs = llvm.addrspacecast %bs : !llvm.ptr to !llvm.ptr<1>
      func.call @_symm_bulk_engine(%gd, %gs, %body, %stages, %used) : (!llvm.ptr<1>, !llvm.ptr<1>, i64, i32, i32) -> ()
    }
    // The engine does not copy these bytes. The last threads copy them, which need not wait for the first one.
    scf.if %has_edges {
      %n_less = arith.subi %n, %c1 : i64
      %from_last = arith.subi %n_less, %tid : i64
      %tail_at = arith.subi %bytes, %tail : i64
      %td = llvm.getelementptr %dst[%tail_at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %ts = llvm.getelementptr %src[%tail_at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      func.call @_symm_copy(%dst, %src, %head, %from_last, %n) : (!llvm.ptr, !llvm.ptr, i64, i64, i64) -> ()
      func.call @_symm_copy(%td, %ts, %tail, %from_last, %n) : (!llvm.ptr, !llvm.ptr, i64, i64, i64) -> ()
    }
  } else {
    scf.if %opens {
      gpu.barrier
    }
    func.call @_symm_copy(%dst, %src, %bytes, %tid, %n) : (!llvm.ptr, !llvm.ptr, i64, i64, i64) -> ()
  }
  return
}
