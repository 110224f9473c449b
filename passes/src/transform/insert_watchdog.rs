//! Gives every wait that has no timeout a deadline, after which it reports instead of hanging.
//!
//! The report (`symm.fault`) says which rank waits where, on which flag, what it saw and what it expected. Waits with
//! a timeout of their own stay as they are.
//!
//! ```mlir
//! symm.wait %ctx, %flag[%i] ge %v : memref<4xi64>, i64
//! ```
//!
//! becomes
//!
//! ```mlir
//! %deadline = arith.constant 10000000000 : i64
//! %seen = symm.wait %ctx, %flag[%i] ge %v timeout %deadline : memref<4xi64>, i64 -> i1
//! %late = arith.xori %seen, %true : i1
//! scf.if %late {
//!   …                                     // %saw = the flag's value
//!   symm.fault %ctx, "wait on heap offset {}: saw {}, expected ge {}"(%offset, %saw, %v) : i64, i64, i64
//! }
//! ```
//!
//! Before a `wait_packet` the pass inserts such waits for the epochs of its lines, or for each of their floats.
//!
//! Limits: the deadline is for each wait, on the device's clock; a `symm.barrier` has none.

use crate::ir::address;
use crate::ir::packets::{self, CLEARED, Sentinel};
use crate::ir::wait::bounded_wait;
use crate::ir::{Builder, collect};
use crate::pass::{Ir, OptionKind, Pass, PassOption, Values};
use melior::ir::{OperationRef, Value, ValueLike};
use symm_abi::packet::EPOCHS;
use symm_dialect::ops::{
    Comparison, FaultParts, HeapBaseParts, RankParts, SymmOp, Wait, WaitPacket, WaitParts, Waiting,
};
use symm_dialect::pointer::Pointer;
use symm_dialect::shape::byte_width;

/// How long a wait may take.
pub const TIMEOUT_MS: PassOption = PassOption {
    name: "timeout-ms",
    kind: OptionKind::Number,
    initial: "10000",
    help: "how long a wait may take, in milliseconds",
};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-insert-watchdog",
    summary: "Report a wait that exceeds a deadline instead of hanging",
    options: &[TIMEOUT_MS],
    run: |root, options| Ok(run(root, options)),
};

fn run(root: OperationRef, options: &Values) -> Ir {
    let nanoseconds = options.number("timeout-ms").saturating_mul(1_000_000);
    for operation in collect(root) {
        let is_memory =
            |pointer: Value| matches!(Pointer::of(pointer.r#type()), Some(Pointer::Llvm | Pointer::MemRef(_)));
        match SymmOp::cast(operation).and_then(SymmOp::waiting) {
            Some(Waiting::Wait(wait)) => {
                if wait.timeout().is_none() && is_memory(wait.flag()) {
                    watch(wait, nanoseconds);
                }
            }
            Some(Waiting::WaitPacket(wait)) => {
                if is_memory(wait.slots()) {
                    watch_packet(wait, nanoseconds);
                }
            }
            Some(Waiting::Barrier(_) | Waiting::BarrierAll(_) | Waiting::Alloc(_) | Waiting::Free(_)) | None => {}
        }
    }
    Ir::Changed
}

fn watch<'c: 'a, 'a>(wait: Wait<'c, 'a>, nanoseconds: i64) {
    let operation = wait.operation();
    let b = Builder::before(operation);
    let timeout = b.i64(nanoseconds);
    let indices = wait.indices();
    let seen = b.make_value(&WaitParts { timeout: Some(timeout), ..wait.parts() }, b.int(1));
    b.when(b.not(seen), |b| {
        let ty = wait.value().r#type();
        let flag = address::element(b, wait.flag(), &indices);
        let alignment = b.integer(64, byte_width(ty).cast_signed());
        let saw = b.load(flag, ty, &[("volatile_", b.unit()), ("alignment", alignment)]);
        let (ctx, offset) = (wait.ctx(), heap_offset(b, wait.ctx(), flag));
        let message = format!("wait on heap offset {{}}: saw {{}}, expected {} {{}}", wait.comparison().keyword());
        b.make(&FaultParts { ctx, message, values: vec![offset, saw, wait.value()] }, &[]);
    });
    b.replace(operation, &[]);
}

/// How far from the start of this rank's heap an address lies, `i64`.
fn heap_offset<'c>(b: &Builder<'c>, ctx: Value<'c, '_>, pointer: Value<'c, 'c>) -> Value<'c, 'c> {
    let me = b.make_value(&RankParts { ctx }, b.int(32));
    let base = b.make_value(&HeapBaseParts { ctx, rank: me }, b.ptr());
    let address = |pointer| b.value("llvm.ptrtoint", &[pointer], b.int(64), &[]);
    let offset = b.binary("arith.subi", address(pointer), address(base));
    b.cast(offset, b.int(64))
}

/// Where the flags of a line lie, and when they have come.
fn flags<'c: 'a, 'a>(b: &Builder<'c>, wait: WaitPacket<'c, 'a>) -> (Vec<i64>, Comparison, Value<'c, 'a>) {
    match (Sentinel::new(wait.sentinel()), wait.epoch()) {
        (Some(sentinel), _) => {
            let bits = sentinel.word_bits();
            (sentinel.words(), Comparison::Ne, b.constant(b.int(bits), CLEARED))
        }
        (None, epoch) => (EPOCHS.into(), Comparison::Eq, epoch.expect("a packet has an epoch or a sentinel")),
    }
}

/// Waits for the flags of a packet's lines, of which the packet's own wait finds that they are there.
fn watch_packet<'c: 'a, 'a>(wait: WaitPacket<'c, 'a>, nanoseconds: i64) {
    let b = &Builder::before(wait.operation());
    let timeout = b.i64(nanoseconds);
    let slots = address::element(b, wait.slots(), &wait.indices());
    let (offsets, comparison, value) = flags(b, wait);
    let message = match comparison {
        Comparison::Eq => "wait_packet on heap offset {}: saw epoch {}, expected {}",
        _ => "wait_packet on heap offset {}: saw {}, expected anything but {}",
    };
    for (line, mask) in packets::asked(wait, b, slots) {
        let watch_line = |b: &Builder<'c>| {
            for &offset in &offsets {
                let flag = b.byte_offset_constant(line, offset);
                let seen = b.make_value(&bounded_wait(wait.ctx(), flag, (comparison, value), timeout), b.int(1));
                b.when(b.not(seen), |b| {
                    let alignment = b.integer(64, byte_width(value.r#type()).cast_signed());
                    let saw = b.load(flag, value.r#type(), &[("volatile_", b.unit()), ("alignment", alignment)]);
                    let values = vec![heap_offset(b, wait.ctx(), flag), saw, value];
                    b.make(&FaultParts { ctx: wait.ctx(), message: message.to_owned(), values }, &[]);
                });
            }
        };
        match mask {
            Some(mask) => b.when(mask, watch_line),
            None => watch_line(b),
        }
    }
}
