//! Copies to and from a far rank in one piece, where both ends are contiguous: the program finds out, from the scalars
//! that they are made of, or else by reductions over all elements.

use super::contiguous;
use super::far::{address, call, compare, masked};
use crate::ir::Builder;
use crate::ir::triton::words::{constant_like, reduced, splat_like};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{Type, Value, ValueLike};
use symm_dialect::shape::Shaped;

/// A copy whose one end is at a rank.
#[derive(Clone, Copy)]
pub struct Copying<'c> {
    /// Here, of one end here.
    pub from: Value<'c, 'c>,
    pub to: Value<'c, 'c>,
    /// Whether `to` is the far end.
    pub is_put: bool,
    /// Bytes of an element.
    pub size: u64,
    pub mask: Option<Value<'c, 'c>>,
    /// The engine's number of the rank.
    pub pe: Value<'c, 'c>,
}

/// Copies in one piece where both ends are contiguous, and else element by element with `otherwise`.
pub fn copy<'c>(b: &Builder<'c>, copying: Copying<'c>, otherwise: impl FnOnce(&Builder<'c>)) {
    let symbol = if copying.is_put { "symm_far_put" } else { "symm_far_get" };
    let whole = |b: &Builder<'c>, from, to, bytes| {
        call(b, symbol, &[to, from, bytes, copying.pe], b.int(32));
    };
    if let Some(stretch) = stretch(b, copying) {
        let [from, to] = [stretch.from, stretch.to].map(|pointer| address(b, pointer));
        return b.either(stretch.is_one, |b| whole(b, from, to, stretch.bytes), otherwise);
    }
    let (from, to) = (address(b, copying.from), address(b, copying.to));
    let Some(shape) = Shaped::tensor(from.r#type()) else {
        return masked(b, copying.mask, |b| whole(b, from, to, b.i64(copying.size.cast_signed())));
    };
    let ty = from.r#type();
    let numbers = b.value("arith.extui", &[numbers(b, shape)], ty, &[]);
    let most = constant_like(b, -1, ty);
    let kept = |values, otherwise| match copying.mask {
        Some(mask) => b.value("arith.select", &[mask, values, otherwise], ty, &[]),
        None => values,
    };
    let least = |values| reduced(b, kept(values, most), "arith.minui");
    let (first, first_from, first_to) = (least(numbers), least(from), least(to));
    let count = match copying.mask {
        Some(mask) => reduced(b, b.value("arith.extui", &[mask], ty, &[]), "arith.addi"),
        None => b.i64(shape.dimensions().into_iter().flatten().product::<u64>().cast_signed()),
    };
    let past = b.binary("arith.subi", numbers, splat_like(b, first, ty));
    let bytes = b.binary("arith.muli", past, constant_like(b, copying.size.cast_signed(), ty));
    let strays = |values, first| {
        let expected = b.binary("arith.addi", bytes, splat_like(b, first, ty));
        let stray = b.value("arith.extui", &[compare(b, CmpiPredicate::Ne, values, expected)], ty, &[]);
        kept(stray, constant_like(b, 0, ty))
    };
    let mut stray = b.binary("arith.ori", strays(from, first_from), strays(to, first_to));
    if let Some(mask) = copying.mask {
        let is_in = compare(b, CmpiPredicate::Ult, past, splat_like(b, count, ty));
        let hole = b.binary("arith.xori", is_in, mask);
        stray = b.binary("arith.ori", stray, b.value("arith.extui", &[hole], ty, &[]));
    }
    let is_one = compare(b, CmpiPredicate::Eq, reduced(b, stray, "arith.ori"), b.i64(0));
    let bytes = b.mul(count, b.i64(copying.size.cast_signed()));
    b.either(is_one, |b| whole(b, first_from, first_to, bytes), otherwise);
}

/// One piece of memory at each end, if they are that.
struct Stretch<'c> {
    is_one: Value<'c, 'c>,
    from: Value<'c, 'c>,
    to: Value<'c, 'c>,
    bytes: Value<'c, 'c>,
}

/// What a copy moves, where the scalars that its blocks are made of tell.
fn stretch<'c>(b: &Builder<'c>, copying: Copying<'c>) -> Option<Stretch<'c>> {
    let [from, to] = [copying.from, copying.to].map(|end| contiguous::pointers(b, end, copying.size));
    let (from, to) = (from?, to?);
    let on = match copying.mask {
        Some(mask) => contiguous::prefix(b, mask)?,
        None => contiguous::all(b, copying.from)?,
    };
    let follow = b.binary("arith.andi", from.follows, to.follows);
    let bytes = b.mul(on.count, b.i64(copying.size.cast_signed()));
    Some(Stretch { is_one: b.binary("arith.andi", follow, on.is_prefix), from: from.first, to: to.first, bytes })
}

/// The number of each element of a tensor of such a shape, row by row, `i32`.
pub fn numbers<'c>(b: &Builder<'c>, shape: Shaped<'c>) -> Value<'c, 'c> {
    let sizes: Vec<u64> = shape.dimensions().into_iter().flatten().collect();
    let layout = shape.encoding().map(|layout| symm_dialect::lossy!("{layout}"));
    let ty = shape.tensor_of(b.int(32));
    let mut sum = None;
    for axis in 0..sizes.len() {
        let step: u64 = sizes[axis + 1..].iter().product();
        let along = along(b, &sizes, layout.as_deref(), axis);
        let along = if along.r#type() == ty { along } else { b.value("tt.broadcast", &[along], ty, &[]) };
        let part =
            if step == 1 { along } else { b.binary("arith.muli", along, constant_like(b, step.cast_signed(), ty)) };
        sum = Some(sum.map_or(part, |sum| b.binary("arith.addi", sum, part)));
    }
    sum.expect("a tensor has a dimension")
}

/// The numbers along an axis, in a tensor of size one along each other axis.
fn along<'c>(b: &Builder<'c>, sizes: &[u64], layout: Option<&str>, axis: usize) -> Value<'c, 'c> {
    let ty = |sizes: &[u64]| {
        let sizes = sizes.iter().fold(String::new(), |text, size| text + &size.to_string() + "x");
        let layout = layout.map_or_else(String::new, |layout| format!(", {layout}"));
        Type::parse(b.context, &format!("tensor<{sizes}i32{layout}>")).expect("a tensor type as Triton writes it")
    };
    if let [size] = sizes {
        let bounds = [("start", b.integer(32, 0)), ("end", b.integer(32, size.cast_signed()))];
        return b.value("tt.make_range", &[], ty(sizes), &bounds);
    }
    let left_out = if axis + 1 == sizes.len() { 0 } else { sizes.len() - 1 };
    let mut rest = sizes.to_vec();
    rest.remove(left_out);
    let slice = layout.map(|layout| {
        if layout.contains("auto_encoding") {
            return layout.to_owned();
        }
        format!("#ttg.slice<{{dim = {left_out}, parent = {layout}}}>")
    });
    let inner = along(b, &rest, slice.as_deref(), if left_out < axis { axis - 1 } else { axis });
    let mut result = vec![1; sizes.len()];
    result[axis] = sizes[axis];
    let axis = ("axis", b.integer(32, i64::try_from(left_out).unwrap_or(0)));
    b.value("tt.expand_dims", &[inner], ty(&result), &[axis])
}
