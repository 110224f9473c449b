// The device library: copies of contiguous bytes by a group of threads. `tid` is the thread's number in its group, `n`
// how many there are; all of them call with the same operands. As it stands it is for elements of four bytes, of which
// a thread has four times 16 bytes in flight. For other ones bulk.rs sets the aliases below, adds the numbers to the
// names of the functions, and puts a tile's loads and stores in the place of its call.
//
// Where everything is a multiple of 16 and little enough, a thread moves up to four times 16 bytes, and that is all.
// Otherwise, where source and destination are aligned alike modulo 16, a head of single elements brings the destination
// to a multiple of 16. Then 32 threads each move tiles, 16 bytes a thread and several of them at a time: eight where it
// reads from a peer, so that with 512 threads 64 KiB are in flight, which is what one SM needs to read over the link at
// full speed; four where it writes, which starts sooner. In a tile the distances are constants, so that 1024 threads
// still have registers enough. What is no tile moves four at a time, then singly, and a tail of single elements
// remains. Where they are not aligned alike, elements are moved one by one.
//
// Each instruction costs a scheduler of the GPU a slot for every warp of the block: threads that have nothing to move
// leave at once, and what is rare is under a branch.

// An element, its bytes, the least bytes that a thread moves at a time, and the vectors of a tile of 32 threads.
!element = i32
#width = 4 : i64
#least = 4 : i64
#tile_vectors = 128 : i64

// Moves vectors from %s to %d, 32 apart.
func.func private @_symm_copy_tile(!llvm.ptr, !llvm.ptr)

func.func private @_symm_copy(%dst: !llvm.ptr, %src: !llvm.ptr, %bytes: i64, %tid: i64, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %c4 = arith.constant 4 : i64
  %c15 = arith.constant 15 : i64
  %c16 = arith.constant 16 : i64
  %c32 = arith.constant 32 : i64
  %c64 = arith.constant 64 : i64
  %tile = arith.constant #tile_vectors
  %w = arith.constant #width
  %target = llvm.ptrtoint %dst : !llvm.ptr to i64
  %source = llvm.ptrtoint %src : !llvm.ptr to i64
  %ends = arith.ori %target, %source : i64
  %all = arith.ori %ends, %bytes : i64
  %odd = arith.andi %all, %c15 : i64
  %even = arith.cmpi eq, %odd, %c0 : i64
  %four_each = arith.muli %n, %c64 : i64
  %few = arith.cmpi ule, %bytes, %four_each : i64
  %simple = arith.andi %even, %few : i1
  scf.if %simple {
    // So little that 32 bits count it.
    %size = arith.trunci %bytes : i64 to i32
    %number = arith.trunci %tid : i64 to i32
    %threads = arith.trunci %n : i64 to i32
    %vector = arith.constant 16 : i32
    %at = arith.muli %number, %vector : i32
    %has = arith.cmpi ult, %at, %size : i32
    scf.if %has {
      %step = arith.muli %threads, %vector : i32
      %at1 = arith.addi %at, %step : i32
      %at2 = arith.addi %at1, %step : i32
      %at3 = arith.addi %at2, %step : i32
      %has1 = arith.cmpi ult, %at1, %size : i32
      %has2 = arith.cmpi ult, %at2, %size : i32
      %has3 = arith.cmpi ult, %at3, %size : i32
      %first = arith.extui %at : i32 to i64
      %distance = arith.extui %step : i32 to i64
      %s0 = llvm.getelementptr %src[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %d0 = llvm.getelementptr %dst[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %s1 = llvm.getelementptr %s0[%distance] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %d1 = llvm.getelementptr %d0[%distance] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %s2 = llvm.getelementptr %s1[%distance] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %d2 = llvm.getelementptr %d1[%distance] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %s3 = llvm.getelementptr %s2[%distance] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %d3 = llvm.getelementptr %d2[%distance] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      scf.if %has3 {
        %v0 = llvm.load %s0 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
        %v1 = llvm.load %s1 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
        %v2 = llvm.load %s2 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
        %v3 = llvm.load %s3 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
        llvm.store %v0, %d0 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
        llvm.store %v1, %d1 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
        llvm.store %v2, %d2 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
        llvm.store %v3, %d3 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
      } else {
        scf.if %has1 {
          %v0 = llvm.load %s0 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
          %v1 = llvm.load %s1 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
          llvm.store %v0, %d0 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
          llvm.store %v1, %d1 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
          scf.if %has2 {
            %v2 = llvm.load %s2 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
            llvm.store %v2, %d2 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
          }
        } else {
          %v0 = llvm.load %s0 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
          llvm.store %v0, %d0 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
        }
      }
    }
  } else {
    // The least that each thread before this one moves.
    %least = arith.constant #least
    %before = arith.muli %tid, %least : i64
    %has_work = arith.cmpi ult, %before, %bytes : i64
    scf.if %has_work {
      %differ = arith.xori %target, %source : i64
      %misaligned = arith.andi %differ, %c15 : i64
      %alike = arith.cmpi eq, %misaligned, %c0 : i64
      scf.if %alike {
        %negated = arith.subi %c0, %target : i64
        %to16 = arith.andi %negated, %c15 : i64
        %head = arith.minui %to16, %bytes : i64
        %rest = arith.subi %bytes, %head : i64
        %vectors = arith.divui %rest, %c16 : i64
        %bd = llvm.getelementptr %dst[%head] : (!llvm.ptr, i64) -> !llvm.ptr, i8
        %bs = llvm.getelementptr %src[%head] : (!llvm.ptr, i64) -> !llvm.ptr, i8
        %lane = arith.remui %tid, %c32 : i64
        %team = arith.divui %tid, %c32 : i64
        %teams = arith.divui %n, %c32 : i64
        %lone = arith.remui %n, %c32 : i64
        %in_teams = arith.cmpi eq, %lone, %c0 : i64
        %all_tiles = arith.divui %vectors, %tile : i64
        %tiles = arith.select %in_teams, %all_tiles, %c0 : i64
        scf.for %t = %team to %tiles step %teams : i64 {
          %first = arith.muli %t, %tile : i64
          %i = arith.addi %first, %lane : i64
          %s = llvm.getelementptr %bs[%i] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
          %d = llvm.getelementptr %bd[%i] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
          func.call @_symm_copy_tile(%s, %d) : (!llvm.ptr, !llvm.ptr) -> ()
        }
        %tiled = arith.muli %tiles, %tile : i64
        %start = arith.addi %tiled, %tid : i64
        %left = arith.cmpi ult, %start, %vectors : i64
        scf.if %left {
          %two = arith.muli %n, %c2 : i64
          %three = arith.muli %n, %c3 : i64
          %four = arith.muli %n, %c4 : i64
          %rounds0 = arith.subi %vectors, %three : i64
          %rounds = arith.maxsi %rounds0, %c0 : i64
          %next = scf.for %i = %start to %rounds step %four iter_args(%last = %start) -> (i64) : i64 {
            %i1 = arith.addi %i, %n : i64
            %i2 = arith.addi %i, %two : i64
            %i3 = arith.addi %i, %three : i64
            %s0 = llvm.getelementptr %bs[%i] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
            %s1 = llvm.getelementptr %bs[%i1] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
            %s2 = llvm.getelementptr %bs[%i2] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
            %s3 = llvm.getelementptr %bs[%i3] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
            %v0 = llvm.load %s0 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
            %v1 = llvm.load %s1 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
            %v2 = llvm.load %s2 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
            %v3 = llvm.load %s3 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
            %d0 = llvm.getelementptr %bd[%i] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
            %d1 = llvm.getelementptr %bd[%i1] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
            %d2 = llvm.getelementptr %bd[%i2] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
            %d3 = llvm.getelementptr %bd[%i3] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
            llvm.store %v0, %d0 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
            llvm.store %v1, %d1 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
            llvm.store %v2, %d2 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
            llvm.store %v3, %d3 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
            %after = arith.addi %i, %four : i64
            scf.yield %after : i64
          }
          scf.for %i = %next to %vectors step %n : i64 {
            %from = llvm.getelementptr %bs[%i] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
            %to = llvm.getelementptr %bd[%i] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
            %v = llvm.load %from {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
            llvm.store %v, %to {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
          }
        }
        // The elements before the vectors, and those after them.
        %tail = arith.remui %rest, %c16 : i64
        %edges = arith.ori %head, %tail : i64
        %has_edges = arith.cmpi ne, %edges, %c0 : i64
        scf.if %has_edges {
          %head_elements = arith.divui %head, %w : i64
          %tail_elements = arith.divui %tail, %w : i64
          %tail_at = arith.subi %bytes, %tail : i64
          %td = llvm.getelementptr %dst[%tail_at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
          %ts = llvm.getelementptr %src[%tail_at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
          func.call @_symm_copy_elements(%dst, %src, %head_elements, %tid, %n) : (!llvm.ptr, !llvm.ptr, i64, i64, i64) -> ()
          func.call @_symm_copy_elements(%td, %ts, %tail_elements, %tid, %n) : (!llvm.ptr, !llvm.ptr, i64, i64, i64) -> ()
        }
      } else {
        %elements = arith.divui %bytes, %w : i64
        func.call @_symm_copy_elements(%dst, %src, %elements, %tid, %n) : (!llvm.ptr, !llvm.ptr, i64, i64, i64) -> ()
      }
    }
  }
  return
}

func.func private @_symm_copy_elements(%dst: !llvm.ptr, %src: !llvm.ptr, %count: i64, %tid: i64, %n: i64) {
  scf.for %i = %tid to %count step %n : i64 {
    %from = llvm.getelementptr %src[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !element
    %to = llvm.getelementptr %dst[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !element
    %v = llvm.load %from {alignment = #width} : !llvm.ptr -> !element
    llvm.store %v, %to {alignment = #width} : !element, !llvm.ptr
  }
  return
}
