//! Vectors whose size is not a power of two: moved in the widest pieces that their alignment allows.
//!
//! LLVM's NVPTX back end takes such a vector apart into 64 bits at most; 24 × bf16, which is aligned to 16 bytes,
//! becomes three accesses of 128 bits, and 6 × f32 on an address of 16 bytes one of 128 and one of 64.

use super::access::WIDEST;
use crate::ir::Builder;
use melior::ir::r#type::ShapedTypeLike;
use melior::ir::{Attribute, Type, Value, ValueLike};
use symm_dialect::shape::{Shaped, byte_width};

/// The attributes of an access but for its alignment.
type Attributes<'c> = [(&'static str, Attribute<'c>)];

/// Some lanes of a vector.
struct Piece {
    first: u64,
    lanes: u64,
    alignment: u64,
}

/// A load of a value of type `ty` from an address of this alignment.
pub fn load<'c>(
    b: &Builder<'c>,
    address: Value<'c, 'c>,
    ty: Type<'c>,
    alignment: u64,
    attributes: &Attributes<'c>,
) -> Value<'c, 'c> {
    let load = |address, ty, alignment| b.load(address, ty, &with_alignment(b, alignment, attributes));
    let Some((element, pieces)) = pieces(b, ty, alignment) else {
        return load(address, ty, alignment);
    };
    pieces.into_iter().fold(b.value("llvm.mlir.undef", &[], ty, &[]), |whole, piece| {
        let at = b.byte_offset_constant(address, (piece.first * byte_width(element)).cast_signed());
        let part = load(at, Type::vector(&[piece.lanes], element), piece.alignment);
        b.value("llvm.intr.vector.insert", &[whole, part], ty, &[position(b, &piece)])
    })
}

/// A store to an address of this alignment.
pub fn store<'c>(
    b: &Builder<'c>,
    value: Value<'c, 'c>,
    address: Value<'c, 'c>,
    alignment: u64,
    attributes: &Attributes<'c>,
) {
    let store = |value, address, alignment| b.store(value, address, &with_alignment(b, alignment, attributes));
    let Some((element, pieces)) = pieces(b, value.r#type(), alignment) else {
        return store(value, address, alignment);
    };
    for piece in pieces {
        let at = b.byte_offset_constant(address, (piece.first * byte_width(element)).cast_signed());
        let ty = Type::vector(&[piece.lanes], element);
        store(b.value("llvm.intr.vector.extract", &[value], ty, &[position(b, &piece)]), at, piece.alignment);
    }
}

fn with_alignment<'c>(
    b: &Builder<'c>,
    alignment: u64,
    attributes: &Attributes<'c>,
) -> Vec<(&'static str, Attribute<'c>)> {
    [attributes, &[("alignment", b.integer(64, alignment.cast_signed()))]].concat()
}

fn position<'c>(b: &Builder<'c>, piece: &Piece) -> (&'static str, Attribute<'c>) {
    ("pos", b.integer(64, piece.first.cast_signed()))
}

/// The pieces of a vector, each as wide as it can be; `None` where it is moved as a whole.
fn pieces<'c>(b: &Builder<'c>, ty: Type<'c>, alignment: u64) -> Option<(Type<'c>, Vec<Piece>)> {
    let vector = Shaped::vector(ty)?;
    let (element, lanes) = (vector.element(), vector.dimensions().into_iter().flatten().product::<u64>());
    let width = byte_width(element);
    if !b.is_device || (width * lanes).is_power_of_two() || alignment <= width {
        return None;
    }
    let mut pieces: Vec<Piece> = Vec::new();
    let mut first = 0;
    while first < lanes {
        let left = (lanes - first) * width;
        let aligned = 1 << (alignment | (first * width)).trailing_zeros();
        let bytes = WIDEST.min(aligned).min(1 << left.ilog2());
        pieces.push(Piece { first, lanes: bytes / width, alignment: bytes });
        first += bytes / width;
    }
    Some((element, pieces))
}
