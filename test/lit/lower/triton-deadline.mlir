// Waits with a deadline in a Triton kernel: a thread looks at the record and the clock after many polls, and no earlier.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=target=cuda:90 | FileCheck %s
// On AMD: triton-deadline-amd.mlir.

// CHECK-LABEL: sym_name = "flag"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i64, !tt.ptr<i64>) -> (), sym_name = "flag"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i64>, %v: i64, %d: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // The polls in order are those of every wait.
  // CHECK: ld.acquire.sys.global.b64
  // CHECK: scf.if
  // CHECK: ld.relaxed.sys.global.b64 found, [$1];\0Asetp.ge.s64 here, found, $2;\0A@here bra HERE;
  // CHECK-SAME: and.b32 rest, polls, 63;
  // CHECK-SAME: ld.relaxed.sys.global.b64 state, [$3+8];
  // CHECK-SAME: %globaltimer
  // CHECK-SAME: ld.relaxed.sys.global.b64 limit, [$3+0];
  // CHECK-SAME: atom.relaxed.sys.global.cas.b64 state, [$3+8], 0, 1;
  // CHECK-SAME: [$3+16], 7;\0Ast.relaxed.sys.global.b64 [$3+24], $1;
  // CHECK-SAME: ld.relaxed.sys.global.b64 host, [$3+48];
  // CHECK-SAME: st.release.sys.global.b64 [host], state;
  // CHECK-SAME: constraints = "=r,l,l,l,~{memory}"
  // CHECK-SAME: pure = false
  // CHECK: ld.acquire.sys.global.b64
  // CHECK: ttg.barrier
  symm.wait %ctx, %p ge %v deadline %d : !tt.ptr<i64> tag 7 : !tt.ptr<i64>, i64
  "tt.return"() : () -> ()
}) : () -> ()

// CHECK-LABEL: sym_name = "narrow"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, !tt.ptr<i64>) -> (), sym_name = "narrow"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i32>, %v: i32, %d: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CHECK: ld.relaxed.sys.global.b32 found, [$1];\0Asetp.lt.u32 here, found, $2;
  // CHECK-SAME: cvt.s64.s32 wide, $2;\0Acvt.s64.s32 there, found;
  // CHECK-SAME: constraints = "=r,l,r,l,~{memory}"
  symm.wait %ctx, %p unsigned lt %v deadline %d : !tt.ptr<i64> sem relaxed : !tt.ptr<i32>, i32
  "tt.return"() : () -> ()
}) : () -> ()

// CHECK-LABEL: sym_name = "packets"
"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<128x!tt.ptr<i64>>, i32, !tt.ptr<i64>, tensor<128xi1>) -> (),
  sym_name = "packets"}> ({
^bb0(%table: !tt.ptr<i64>, %p: tensor<128x!tt.ptr<i64>>, %e: i32, %d: !tt.ptr<i64>, %m: tensor<128xi1>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // The first look has no deadline; the record is the last operand, after the mask.
  // CHECK: @on ld.relaxed.sys.global.v2.b64 {$0, $1}, [$2];
  // CHECK: AGAIN:
  // CHECK-SAME: [$6+8];
  // CHECK-SAME: atom.relaxed.sys.global.cas.b64 state, [$6+8], 0, 1;
  // CHECK-SAME: bra HERE;\0AREAD:\0Ald.relaxed.sys.global.v2.b64 {first, second}, [$3];\0Abra AGAIN;
  // CHECK-SAME: constraints = "=l,l,l,l,r,r,l,~{memory}"
  %0 = symm.wait_packet %ctx, %p, %e mask %m : tensor<128xi1> deadline %d : !tt.ptr<i64> tag 2
    : tensor<128x!tt.ptr<i64>> -> tensor<128xi64>
  "tt.return"() : () -> ()
}) : () -> ()

// A rank's own record has a log: the first of each program that has waited for some time writes there, too.
// CHECK-LABEL: sym_name = "logged"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i64, !tt.ptr<i64>) -> (), sym_name = "logged"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i64>, %v: i64, %d: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // The wait's own limit, in nanoseconds, instead of the record's.
  // CHECK: sub.u64 now, now, start;\0Amov.b64 limit, 2000;\0Asetp.lt.u64 busy, now, limit;
  // CHECK-SAME: or.b64 host, host, limit;\0Ast.relaxed.sys.global.b64 [$3+16], 9;
  // CHECK-SAME: st.relaxed.sys.global.b64 [$3+64], host;\0AGONE:
  // CHECK-SAME: setp.le.u32 busy, polls, 64;\0A@busy bra TOLD;
  // CHECK-SAME: and.b32 rest, rest, 31;\0Amul.wide.u32 now, rest, 48;\0Aadd.s64 now, now, $3;
  // CHECK-SAME: atom.relaxed.sys.global.exch.b64 limit, [now+80], 1;
  // CHECK-SAME: st.relaxed.sys.global.b64 [now+88], 9;
  // CHECK-SAME: st.relaxed.sys.global.b64 [now+120], host;\0ATOLD:\0Ald.relaxed.sys.global.b64 host, [$3+48];
  symm.wait %ctx, %p ge %v deadline %d : !tt.ptr<i64> tag 9 limit 2000 logs : !tt.ptr<i64>, i64
  "tt.return"() : () -> ()
}) : () -> ()

// CHECK-LABEL: sym_name = "barrier"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>) -> (), sym_name = "barrier"}> ({
^bb0(%table: !tt.ptr<i64>, %d: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: ld.acquire.sys.global.b64
  // CHECK: scf.if
  // CHECK: ld.relaxed.sys.global.b64 limit, [$3+0];
  // CHECK-SAME: st.relaxed.sys.global.b64 [$3+16], 5;
  symm.barrier %ctx deadline %d : !tt.ptr<i64> tag 5 group block
  "tt.return"() : () -> ()
}) : () -> ()
