//! Vectors, tensors and memrefs, read the same way.

use melior::ir::r#type::{IntegerType, RankedTensorType, ShapedTypeLike};
use melior::ir::{Attribute, Type, TypeLike};
use mlir_sys::{MlirType, mlirRankedTensorTypeGetEncoding};

/// A dimension that is not known at compile time.
pub const DYNAMIC: Option<u64> = None;

/// A vector, ranked tensor or memref type.
#[derive(Clone, Copy, Debug)]
pub struct Shaped<'c>(Type<'c>);

impl<'c> TypeLike<'c> for Shaped<'c> {
    fn to_raw(&self) -> MlirType {
        self.0.to_raw()
    }
}

impl<'c> ShapedTypeLike<'c> for Shaped<'c> {}

impl<'c> Shaped<'c> {
    /// The type, if it is a vector.
    #[must_use]
    pub fn vector(ty: Type<'c>) -> Option<Self> {
        ty.is_vector().then_some(Self(ty))
    }

    /// The type, if it is a ranked tensor.
    #[must_use]
    pub fn tensor(ty: Type<'c>) -> Option<Self> {
        ty.is_ranked_tensor().then_some(Self(ty))
    }

    /// The type, if it is a ranked memref.
    #[must_use]
    pub fn memref(ty: Type<'c>) -> Option<Self> {
        ty.is_mem_ref().then_some(Self(ty))
    }

    /// The sizes of the dimensions; [`DYNAMIC`] where they are not known.
    #[must_use]
    pub fn dimensions(self) -> Vec<Option<u64>> {
        use melior::ir::r#type::DimSize;
        (0..self.rank())
            .map(|index| match self.dim_size(index) {
                Ok(DimSize::Static(size)) => Some(size),
                _ => DYNAMIC,
            })
            .collect()
    }

    /// The encoding of a tensor (Triton's layout), if there is one.
    #[must_use]
    pub fn encoding(self) -> Option<Attribute<'c>> {
        if !self.0.is_ranked_tensor() {
            return None;
        }
        // SAFETY: just seen to be a tensor; a missing encoding is a null attribute.
        unsafe { Attribute::from_option_raw(mlirRankedTensorTypeGetEncoding(self.to_raw())) }
    }

    /// The tensor type of the same shape and layout that holds other elements.
    #[must_use]
    pub fn tensor_of(self, element: Type<'c>) -> Type<'c> {
        let dimensions: Vec<u64> =
            self.dimensions().into_iter().map(|size| size.unwrap_or(i64::MIN.cast_unsigned())).collect();
        RankedTensorType::new(&dimensions, element, self.encoding()).into()
    }

    /// Whether two types of one kind differ in nothing but their element type.
    #[must_use]
    pub fn is_shaped_like(self, other: Self) -> bool {
        let scalable = |shaped: Self| shaped.0.is_vector() && shaped.0.is_scalable_vector();
        self.dimensions() == other.dimensions()
            && self.encoding() == other.encoding()
            && scalable(self) == scalable(other)
    }
}

/// The element of a vector or tensor type, or the type itself.
#[must_use]
pub fn scalar(ty: Type<'_>) -> Type<'_> {
    Shaped::vector(ty).or(Shaped::tensor(ty)).map_or(ty, |shaped| shaped.element())
}

/// The width of a signless integer type in bits.
#[must_use]
pub fn integer_width(ty: Type) -> Option<u32> {
    // Asked first: melior prints what it can't convert.
    if !ty.is_integer() {
        return None;
    }
    IntegerType::try_from(ty).ok().filter(IntegerType::is_signless).map(|ty| ty.width())
}

/// The width of a float type in bits, if it is one that every target moves: not `tf32`, `f80`, `f128` or those
/// narrower than a byte.
#[must_use]
pub fn float_width(ty: Type) -> Option<u32> {
    if !ty.is_float() {
        return None;
    }
    let width = ty.float_width();
    matches!(width, 8 | 16 | 32 | 64).then_some(width)
}

/// Whether memory can hold a value of this scalar type: signless integers of 1, 8, 16, 32 and 64 bits, floats of
/// 8, 16, 32 and 64 bits, index.
#[must_use]
pub fn is_data(ty: Type) -> bool {
    ty.is_index() || float_width(ty).is_some() || matches!(integer_width(ty), Some(1 | 8 | 16 | 32 | 64))
}

/// The alignment of a value in memory, in bytes, where an op does not say it: the largest power of two that divides its
/// size, which for a scalar and most vectors is the size.
#[must_use]
pub fn natural_alignment(ty: Type) -> i64 {
    let element = byte_width(scalar(ty));
    let count: u64 = Shaped::vector(ty).map_or(1, |vector| vector.dimensions().into_iter().flatten().product());
    1 << (element * count).trailing_zeros()
}

/// The size of a scalar of this type in memory, in bytes.
#[must_use]
pub fn byte_width(ty: Type) -> u64 {
    if ty.is_index() {
        return 8;
    }
    let bits = if ty.is_float() { ty.float_width() } else { integer_width(ty).unwrap_or(64) };
    u64::from(bits.div_ceil(8))
}
