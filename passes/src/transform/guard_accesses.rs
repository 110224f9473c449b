//! Skips the accesses of a Triton or Gluon kernel that would leave its tensors, and records them.
//!
//! ```mlir
//! symm.remote_store %ctx, %p, %v, %peer : tensor<128x!tt.ptr<f32>>, tensor<128xf32>
//! ```
//!
//! becomes
//!
//! ```mlir
//! …                                           // right after the context: %start and %end of the tensor that holds
//!                                             // the kernel's argument from which %p is computed
//! %address = "tt.ptr_to_int"(%p)
//! …                                           // %bad: %address - %start is beyond %end - %start - 4
//! %which = arith.select %bad, %address, %none // %none: all bits set
//! %lowest = "tt.reduce"(%which)               // the unsigned minimum
//! %outside = arith.cmpi ne, %lowest, %none : i64
//! scf.if %outside {
//!   …                                         // the rank's first such access fills the record of its waits
//! }
//! scf.if %inside {
//!   symm.remote_store %ctx, %p, %v, %peer : tensor<128x!tt.ptr<f32>>, tensor<128xf32>
//! }
//! ```
//!
//! The access keeps its cache modifier, its width and its order. A skipped access gives zeros, and a skipped packet
//! counts as there. Elements that a mask disables are not checked.
//!
//! The pass checks symm ops, and Triton's loads, stores and atomics through the result of a `symm.as_remote` or through
//! an argument of the kernel, in functions that make their context of an argument. The tensors are those of the list
//! that the record points to (`symm_abi::deadline::TENSORS_WORD`). A pointer into the heap but into none of them is
//! checked against the whole heap; any other pointer is not checked.
//!
//! With an engine, a Triton access through an `as_remote` of a far rank is left out and recorded, too: nothing is
//! mapped there (N4). Which one of several ranks is far is not recorded.
//!
//! The module's `symm.waits` says what the numbers in the record stand for (`symm-tag-waits`).
//!
//! Where a pointer is chosen of two by `arith.select` or a branch, so are the ends that it is checked against, for each
//! element; and through an `as_remote` with a tensor of ranks each element is checked on its own rank. Loops that
//! exchange the tensors of their pointers carry the ends along.
//!
//! Limits: tensor descriptors, block pointers, loops that Triton divides among warps, and this rank's memory where a
//! pointer is not made from arguments are not checked. A warning says so at each such access.

mod carry;
mod ends;
pub mod pointers;
mod unseen;

use crate::ir::tags::Tags;
use crate::ir::triton::words::{self, atomic_rmw, constant_like, element_wise, load_words, lowest, splat_like};
use crate::ir::triton::{deadline, program};
use crate::ir::{Builder, collect, constant_value, definition, lasting, signed};
use crate::pass::{Ir, Pass};
use ends::{Carried, Ends};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{OperationRef, Type, Value, ValueLike, operation::OperationLike};
use pointers::{Access, Destination};
use std::collections::HashMap;
use symm_abi::deadline::{
    ADDRESS_WORD, BROKEN, EXPECTED_WORD, GOOD, HOST_WORD, NOWHERE, PROGRAM_WORD, SEEN_WORD, STATE_WORD, TAG_WORD,
    TENSORS_WORD,
};
use symm_dialect::diagnostic::{Severity, report};
use symm_dialect::ops::{Ctx, FenceParts, Group, HeapDeltaParts, IsNearParts, Order, RmwKind, Scope};
use symm_dialect::shape::{Shaped, float_width, integer_width, scalar};
use symm_dialect::{ENGINE_ATTRIBUTE, lossy, module_has};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-guard-accesses",
    summary: "Skip and record accesses of a Triton or Gluon kernel outside of its tensors",
    options: &[],
    run: |root, _| Ok(run(root)),
};

/// A loop that Triton divides among partitions of the warps.
const SPECIALIZED: &str = "tt.warp_specialize";

/// The base of a rank that has none here.
const NO_BASE: i64 = 0;

/// The memory that an access may touch, as this rank's addresses, and where it is written down that it would leave it.
#[derive(Clone, Copy)]
struct Bounds<'c> {
    record: Value<'c, 'c>,
    start: Value<'c, 'c>,
    end: Value<'c, 'c>,
}

fn run<'c: 'a, 'a>(root: OperationRef<'c, 'a>) -> Ir {
    let (mut known, mut tags) = (HashMap::new(), Tags::default());
    let contexts = pointers::contexts(root);
    let carried = carried(root, &contexts, &mut known);
    for op in collect(root) {
        let is_divided = is_divided(op);
        if let Some((access, why)) = unseen::unseen(&contexts, op, is_divided) {
            report(Severity::Warning, op, &format!("bounds checks do not see this {access}: {why}"));
        }
        let accesses = if is_divided { Vec::new() } else { pointers::accesses(&contexts, op) };
        if !accesses.is_empty() && op.results().all(|result| has_zero(result.r#type())) {
            guard(op, &accesses, (&carried, &mut known), &mut tags);
        }
    }
    tags.leave(root)
}

/// Has loops and branches carry the ends of the pointers whose tensors they exchange.
fn carried<'c: 'a, 'a>(root: OperationRef<'c, 'a>, contexts: &[Ctx<'c, 'a>], known: &mut Known<'c>) -> Carried<'c> {
    let (mut carried, mut handed) = (Carried::new(), Vec::new());
    for op in collect(root).into_iter().filter(|op| !is_divided(*op)) {
        let Some(ctx) = pointers::context_of(contexts, op) else { continue };
        let extended = carry::carry(op, &mut carried, &mut |root| ends_of(known, ctx, root));
        handed.extend(extended.into_iter().map(|handed| (ctx, handed)));
    }
    for (ctx, handed) in handed {
        carry::hand_on(handed, &carried, &mut |root| ends_of(known, ctx, root));
    }
    carried
}

/// Whether an op is in a loop that Triton divides among partitions of the warps, or is one.
fn is_divided<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let mut around = Some(op);
    while let Some(op) = around.filter(|op| !op.has_attribute(SPECIALIZED)) {
        around = op.parent_operation();
    }
    around.is_some()
}

/// Whether there is a zero of a type; Triton has no vectors.
fn has_zero(ty: Type) -> bool {
    let element = if Shaped::tensor(ty).is_some() { scalar(ty) } else { ty };
    integer_width(element).is_some() || float_width(element).is_some()
}

type Known<'c> = HashMap<(usize, Option<usize>), Bounds<'c>>;

/// Looks up the memory that a kernel's argument leads to, or the heap, once for a context.
fn look_up<'c: 'a, 'a>(known: &mut Known<'c>, ctx: Value<'c, 'a>, root: Option<Value<'c, 'a>>) -> Bounds<'c> {
    *known.entry((pointers::key(ctx), root.map(pointers::key))).or_insert_with(|| bounds(ctx, root))
}

fn ends_of<'c: 'a, 'a>(
    known: &mut Known<'c>,
    ctx: Value<'c, 'a>,
    root: Option<Value<'c, 'a>>,
) -> (Value<'c, 'c>, Value<'c, 'c>) {
    let found = look_up(known, ctx, root);
    (found.start, found.end)
}

/// Has an op happen only where its accesses stay in bounds.
fn guard<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    accesses: &[Access<'c, 'a>],
    (carried, known): (&Carried<'c>, &mut Known<'c>),
    tags: &mut Tags,
) {
    let b = Builder::before(op);
    let mut is_inside: Option<Value<'c, 'c>> = None;
    for access in accesses {
        let bounds = look_up(known, access.ctx, access.root);
        let chosen = access.is_chosen.then(|| {
            let mut look_up = |root| ends_of(known, access.ctx, root);
            ends::ends(&b, access.pointer, access.is_on_heap, (carried, &mut look_up))
        });
        let address = own_address(&b, access, chosen);
        let mut refuse = |why: &str, lowest, ends| {
            let inside = b.compare(CmpiPredicate::Eq, lowest, b.i64(NOWHERE));
            let tag = tags.of(op, &format!("{why} {} {}", access.op, access.operand));
            b.when(b.not(inside), |b| record(b, bounds.record, tag, (lowest, ends)));
            is_inside = Some(is_inside.map_or(inside, |others| b.binary("arith.andi", others, inside)));
        };
        let ends = chosen.map_or((bounds.start, bounds.end), |chosen| (chosen.start, chosen.end));
        let outside = outside(&b, access, address, ends);
        let lowest = lowest(&b, outside);
        refuse("outside", lowest, ends_at(&b, outside, lowest, ends));
        if module_has(&op, ENGINE_ATTRIBUTE)
            && let Some((lowest, rank)) = lowest_far(&b, access, address, chosen)
        {
            refuse("far", lowest, (rank, b.i64(0)));
        }
    }
    let is_inside = is_inside.expect("there are accesses");
    let types: Vec<Type> = op.results().map(|result| result.r#type()).collect();
    if types.is_empty() {
        b.when(is_inside, |b| _ = b.copy(op));
        b.erase(op);
        return;
    }
    let results = b.choose_all(
        is_inside,
        &types,
        |b| b.copy(op).results().map(|result| lasting(result.into())).collect(),
        |b| types.iter().map(|ty| left_out(b, *ty)).collect(),
    );
    b.replace(op, &results);
}

/// The result of an access that is left out: zeros, and that a packet has arrived, so that no loop polls for it.
fn left_out<'c>(b: &Builder<'c>, ty: Type<'c>) -> Value<'c, 'c> {
    let element = scalar(ty);
    if let Some(width) = integer_width(element) {
        return constant_like(b, i64::from(width == 1), ty);
    }
    let text = if Shaped::tensor(ty).is_some() { lossy!("dense<0.0> : {ty}") } else { lossy!("0.0 : {ty}") };
    b.value("arith.constant", &[], ty, &[("value", b.parse(&text))])
}

/// The addresses of an access, in the heap of this rank.
fn own_address<'c: 'a, 'a>(b: &Builder<'c>, access: &Access<'c, 'a>, chosen: Option<Ends<'c>>) -> Value<'c, 'c> {
    let ty = element_wise(access.pointer.r#type(), b.int(64));
    let address = b.value("tt.ptr_to_int", &[access.pointer], ty, &[]);
    if let Some(chosen) = chosen {
        return b.binary("arith.subi", address, for_each(b, chosen.distance, ty));
    }
    let Destination::Moved(rank) = access.place else { return address };
    let delta = b.make_value(&HeapDeltaParts { ctx: access.ctx, rank }, b.int(64));
    b.binary("arith.subi", address, splat_like(b, delta, ty))
}

/// The mask of an access for each of its elements.
fn mask_of<'c: 'a, 'a>(b: &Builder<'c>, access: &Access<'c, 'a>) -> Option<Value<'c, 'c>> {
    let ty = element_wise(access.pointer.r#type(), b.int(64));
    let truth = element_wise(access.pointer.r#type(), b.int(1));
    access.mask.map(|mask| if mask.r#type() == truth { lasting(mask) } else { splat_like(b, lasting(mask), ty) })
}

/// The lowest of an access's addresses, as unsigned numbers; [`NOWHERE`] where its mask is false for all elements.
fn lowest_touched<'c: 'a, 'a>(b: &Builder<'c>, access: &Access<'c, 'a>, address: Value<'c, 'c>) -> Value<'c, 'c> {
    let ty = address.r#type();
    let touched = match mask_of(b, access) {
        Some(mask) => b.value("arith.select", &[mask, address, constant_like(b, NOWHERE, ty)], ty, &[]),
        None => address,
    };
    lowest(b, touched)
}

/// The lowest address of those of an access that lead to far ranks, and the rank; [`NOWHERE`] if there is none, or
/// where it may be one of several. `None` if the access adds no rank to its pointer, or the op does so itself.
fn lowest_far<'c: 'a, 'a>(
    b: &Builder<'c>,
    access: &Access<'c, 'a>,
    address: Value<'c, 'c>,
    chosen: Option<Ends<'c>>,
) -> Option<(Value<'c, 'c>, Value<'c, 'c>)> {
    let nothing = b.i64(NOWHERE);
    let Some(chosen) = chosen else {
        let Destination::Moved(rank) = access.place else { return None };
        let near = b.make_value(&IsNearParts { ctx: access.ctx, rank }, b.int(1));
        let touched = lowest_touched(b, access, address);
        return Some((b.value("arith.select", &[near, nothing, touched], b.int(64), &[]), b.as_i64(rank)));
    };
    if constant_value(chosen.distance) == Some(0) {
        return None;
    }
    // What has no base leads from the base of this rank to zero.
    let base = b.binary(
        "arith.subi",
        b.i64(NO_BASE),
        b.value("tt.ptr_to_int", &[deadline::heap(b, access.ctx)], b.int(64), &[]),
    );
    let ty = address.r#type();
    let equal = ("predicate", b.integer(64, CmpiPredicate::Eq as i64));
    let operands = [for_each(b, chosen.distance, ty), for_each(b, base, ty)];
    let is_far = b.value("arith.cmpi", &operands, element_wise(ty, b.int(1)), &[equal]);
    let far = b.value("arith.select", &[is_far, address, constant_like(b, NOWHERE, ty)], ty, &[]);
    Some((lowest_touched(b, access, far), nothing))
}

/// A number for each element of a type, of one for all of them or of one for each.
fn for_each<'c>(b: &Builder<'c>, value: Value<'c, 'c>, ty: Type<'c>) -> Value<'c, 'c> {
    if value.r#type() == ty { value } else { splat_like(b, value, ty) }
}

/// The addresses of an access that are out of bounds, as unsigned numbers; [`NOWHERE`] for the others.
fn outside<'c: 'a, 'a>(
    b: &Builder<'c>,
    access: &Access<'c, 'a>,
    address: Value<'c, 'c>,
    (start, end): (Value<'c, 'c>, Value<'c, 'c>),
) -> Value<'c, 'c> {
    let (ty, truth) = (address.r#type(), element_wise(access.pointer.r#type(), b.int(1)));
    let beyond = ("predicate", b.integer(64, CmpiPredicate::Uge as i64));
    let of_each = start.r#type() == ty && end.r#type() == ty;
    let (ends, one) = if of_each { (ty, truth) } else { (b.int(64), b.int(1)) };
    let size = b.binary("arith.subi", end, start);
    let width = constant_like(b, access.bytes, ends);
    let fits = b.value("arith.cmpi", &[size, width], one, &[beyond]);
    let room = b.add(b.binary("arith.subi", size, width), constant_like(b, 1, ends));
    let room = b.value("arith.select", &[fits, room, constant_like(b, 0, ends)], ends, &[]);
    let from = b.binary("arith.subi", address, for_each(b, start, ty));
    let mut bad = b.value("arith.cmpi", &[from, for_each(b, room, ty)], truth, &[beyond]);
    if let Some(mask) = mask_of(b, access) {
        bad = b.binary("arith.andi", bad, mask);
    }
    b.value("arith.select", &[bad, address, constant_like(b, NOWHERE, ty)], ty, &[])
}

/// The ends that the lowest of the addresses that are out of bounds is checked against.
fn ends_at<'c>(
    b: &Builder<'c>,
    outside: Value<'c, 'c>,
    least: Value<'c, 'c>,
    (start, end): (Value<'c, 'c>, Value<'c, 'c>),
) -> (Value<'c, 'c>, Value<'c, 'c>) {
    let ty = outside.r#type();
    if start.r#type() != ty || ty == b.int(64) {
        return (start, end);
    }
    let truth = element_wise(ty, b.int(1));
    let same = ("predicate", b.integer(64, CmpiPredicate::Eq as i64));
    let nothing = constant_like(b, NOWHERE, ty);
    let is_it = b.value("arith.cmpi", &[outside, splat_like(b, least, ty)], truth, &[same]);
    let starts = b.value("arith.select", &[is_it, start, nothing], ty, &[]);
    let first = lowest(b, starts);
    // Two tensors' elements may be at one address.
    let is_it = b.value("arith.cmpi", &[starts, splat_like(b, first, ty)], truth, &[same]);
    (first, lowest(b, b.value("arith.select", &[is_it, end, nothing], ty, &[])))
}

/// Writes down an access that is left out, if it is the rank's first, and tells the host: its lowest address, and the
/// ends of the tensor, or the rank that is far.
fn record<'c>(
    b: &Builder<'c>,
    record: Value<'c, 'c>,
    tag: i64,
    (lowest, ends): (Value<'c, 'c>, (Value<'c, 'c>, Value<'c, 'c>)),
) {
    let word = |b: &Builder<'c>, word: usize| words::offset(b, record, b.i64(signed(word)));
    let store = |b: &Builder<'c>, place: Value<'c, 'c>, value: Value<'c, 'c>| {
        b.op("tt.store", &[place, value], &[], &[]);
    };
    let state = word(b, STATE_WORD);
    let broken = b.i64(BROKEN);
    // A greater state was set by another thread first.
    let before = atomic_rmw(b, RmwKind::UMax, state, broken, None, (Order::Relaxed, Scope::Sys));
    b.when(b.compare(CmpiPredicate::Eq, before, b.i64(GOOD)), |b| {
        let found = [
            (TAG_WORD, b.i64(tag)),
            (ADDRESS_WORD, lowest),
            (EXPECTED_WORD, ends.0),
            (SEEN_WORD, ends.1),
            (PROGRAM_WORD, program(b)),
        ];
        for (place, value) in found {
            store(b, word(b, place), value);
        }
        let host = load_words(b, word(b, HOST_WORD), b.int(64));
        b.when(b.compare(CmpiPredicate::Ne, host, b.i64(0)), |b| {
            b.make(&FenceParts { sem: Order::Release, scope: Scope::Sys, group: Group::Block }, &[]);
            let host = b.value("tt.int_to_ptr", &[host], record.r#type(), &[]);
            store(b, host, b.i64(BROKEN));
        });
    });
}

/// Looks up, right after the context, the ends of an argument's tensor, or of the heap.
fn bounds<'c: 'a, 'a>(ctx: Value<'c, 'a>, root: Option<Value<'c, 'a>>) -> Bounds<'c> {
    let made = definition(ctx).expect("a context is made by an op");
    let b = &Builder::after_value_at(symm_dialect::context(ctx.context()), ctx, made.location());
    let word = b.int(64);
    let words_type = Type::parse(b.context, "!tt.ptr<i64>").expect("a type of an unregistered dialect");
    let record = deadline::record(b, ctx);
    let tensors = load_words(b, words::offset(b, record, b.i64(signed(TENSORS_WORD))), word);
    let is_given = b.compare(CmpiPredicate::Ne, tensors, b.i64(0));
    let tensors = b.value("tt.int_to_ptr", &[tensors], words_type, &[]);
    let count = b.choose(is_given, word, |b| load_words(b, tensors, word), |b| b.i64(0));
    let count = match root {
        Some(_) => count,
        // The first one is the heap.
        None => b.binary("arith.minui", count, b.i64(1)),
    };
    let start = root.map(|root| b.value("tt.ptr_to_int", &[root], word, &[]));
    let found = b.repeat(
        &[b.i64(0), b.i64(0), b.i64(-1)],
        |b, values| (b.compare(CmpiPredicate::Ult, values[0], count), values.to_vec()),
        |b, values| {
            let at = words::offset(b, tensors, b.add(b.mul(values[0], b.i64(2)), b.i64(1)));
            let (from, until) = (load_words(b, at, word), load_words(b, words::offset(b, at, b.i64(1)), word));
            let next = b.add(values[0], b.i64(1));
            let Some(start) = start else { return vec![next, from, until] };
            let within = b.binary("arith.subi", start, from);
            let is_here = b.compare(CmpiPredicate::Ult, within, b.binary("arith.subi", until, from));
            let chosen = |ours, others| b.value("arith.select", &[is_here, ours, others], word, &[]);
            vec![next, chosen(from, values[1]), chosen(until, values[2])]
        },
    );
    Bounds { record, start: found[1], end: found[2] }
}
