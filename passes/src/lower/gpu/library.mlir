// The device library, for elements of WIDTH bytes: copies of contiguous bytes by a group of threads. `tid` is the thread's number in its group,
// `n` how many there are; all of them call with the same operands.
//
// Where source and destination are aligned alike modulo 16, a head of single elements brings the destination to a
// multiple of 16, then every thread moves 16 bytes, four at a time so that four loads are in flight, and a tail of
// single elements remains. Where they are not, elements are moved one by one, four at a time.

func.func private @_symm_copy_WIDTH(%dst: !llvm.ptr, %src: !llvm.ptr, %bytes: i64, %tid: i64, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %c4 = arith.constant 4 : i64
  %c15 = arith.constant 15 : i64
  %c16 = arith.constant 16 : i64
  %w = arith.constant WIDTH : i64
  %d = llvm.ptrtoint %dst : !llvm.ptr to i64
  %s = llvm.ptrtoint %src : !llvm.ptr to i64
  %differ = arith.xori %d, %s : i64
  %misaligned = arith.andi %differ, %c15 : i64
  %alike = arith.cmpi eq, %misaligned, %c0 : i64
  %negated = arith.subi %c0, %d : i64
  %to16 = arith.andi %negated, %c15 : i64
  %whole = arith.minui %to16, %bytes : i64
  %head = arith.select %alike, %whole, %bytes : i64
  %rest = arith.subi %bytes, %head : i64
  %vectors = arith.divui %rest, %c16 : i64
  %body = arith.muli %vectors, %c16 : i64
  %before_tail = arith.addi %head, %body : i64
  %two = arith.muli %n, %c2 : i64
  %three = arith.muli %n, %c3 : i64
  %four = arith.muli %n, %c4 : i64

  // The body: element %head is a multiple of 16 at both ends.
  %bd = llvm.getelementptr %dst[%head] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %bs = llvm.getelementptr %src[%head] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %rounds0 = arith.subi %vectors, %three : i64
  %rounds = arith.maxsi %rounds0, %c0 : i64
  %next = scf.for %i = %tid to %rounds step %four iter_args(%last = %tid) -> (i64) : i64 {
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

  // Head and tail, element by element: first those before the body, then those behind it.
  %head_elements = arith.divui %head, %w : i64
  %tail = arith.subi %bytes, %before_tail : i64
  %tail_elements = arith.divui %tail, %w : i64
  %td = llvm.getelementptr %dst[%before_tail] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %ts = llvm.getelementptr %src[%before_tail] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  scf.for %i = %tid to %head_elements step %n : i64 {
    %from = llvm.getelementptr %src[%i] : (!llvm.ptr, i64) -> !llvm.ptr, iBITS
    %to = llvm.getelementptr %dst[%i] : (!llvm.ptr, i64) -> !llvm.ptr, iBITS
    %v = llvm.load %from {alignment = WIDTH : i64} : !llvm.ptr -> iBITS
    llvm.store %v, %to {alignment = WIDTH : i64} : iBITS, !llvm.ptr
  }
  scf.for %i = %tid to %tail_elements step %n : i64 {
    %from = llvm.getelementptr %ts[%i] : (!llvm.ptr, i64) -> !llvm.ptr, iBITS
    %to = llvm.getelementptr %td[%i] : (!llvm.ptr, i64) -> !llvm.ptr, iBITS
    %v = llvm.load %from {alignment = WIDTH : i64} : !llvm.ptr -> iBITS
    llvm.store %v, %to {alignment = WIDTH : i64} : iBITS, !llvm.ptr
  }
  return
}
