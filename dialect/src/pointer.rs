//! The pointer types of every level of the IR.

use crate::context;
use crate::lossy;
use crate::shape::Shaped;
use crate::text::text;
use melior::ir::r#type::{MemRefType, ShapedTypeLike};
use melior::ir::{Attribute, Type, TypeLike};
use mlir_sys::{
    mlirAttributeIsAInteger, mlirAttributeIsAStridedLayout, mlirIntegerAttrGetValueInt,
    mlirLLVMPointerTypeGetAddressSpace, mlirMemRefTypeGetLayout, mlirMemRefTypeGetMemorySpace,
    mlirMemRefTypeGetStridesAndOffset, mlirOpaqueTypeGetData, mlirOpaqueTypeGetDialectNamespace,
    mlirTypeIsALLVMPointerType, mlirTypeIsAOpaque,
};

/// The kinds of pointers.
#[derive(Clone, Copy, Debug)]
pub enum Pointer<'c> {
    /// `!llvm.ptr`, in any address space: the pointee's type is not known.
    Llvm,
    /// A `memref`.
    MemRef(Shaped<'c>),
    /// `!tt.ptr<T>`.
    Triton(Type<'c>),
    /// A tensor of `!tt.ptr<T>`.
    TritonTensor(Shaped<'c>, Type<'c>),
}

impl<'c> Pointer<'c> {
    /// Classifies a type; `None` if it is no pointer.
    #[must_use]
    pub fn of(ty: Type<'c>) -> Option<Self> {
        if is_llvm_pointer(ty) {
            return Some(Self::Llvm);
        }
        if let Some(memref) = Shaped::memref(ty) {
            return Some(Self::MemRef(memref));
        }
        if is_triton_pointer(ty) {
            return Some(Self::Triton(ty));
        }
        let tensor = Shaped::tensor(ty)?;
        let element = tensor.element();
        is_triton_pointer(element).then_some(Self::TritonTensor(tensor, element))
    }

    /// The type pointed to, where the pointer's type says it.
    #[must_use]
    pub fn pointee(self) -> Option<Type<'c>> {
        match self {
            Self::Llvm => None,
            Self::MemRef(memref) => Some(memref.element()),
            Self::Triton(ty) | Self::TritonTensor(_, ty) => triton_pointee(ty),
        }
    }

    /// The numeric address space of `ty`, 0 without one; 1, as on GPUs, for the gpu dialect's global memory.
    #[must_use]
    pub fn address_space(ty: Type) -> u64 {
        if is_llvm_pointer(ty) {
            // SAFETY: just checked to be an LLVM pointer type.
            return u64::from(unsafe { mlirLLVMPointerTypeGetAddressSpace(ty.to_raw()) });
        }
        if ty.is_mem_ref() {
            // SAFETY: just checked to be a memref; the space may be null, and is an integer where it is read as one.
            unsafe {
                let space = mlirMemRefTypeGetMemorySpace(ty.to_raw());
                if !space.ptr.is_null() && mlirAttributeIsAInteger(space) {
                    return mlirIntegerAttrGetValueInt(space).cast_unsigned();
                }
            }
            return u64::from(is_in(ty, &["global"]));
        }
        let pointer = Shaped::tensor(ty).map_or(ty, |tensor| tensor.element());
        let space = triton_inner(pointer).and_then(|inner| inner.rsplit_once(',')?.1.trim().parse().ok());
        space.unwrap_or(0)
    }
}

/// Whether a type is a memref in the memory of a block or of a thread, by the gpu dialect's names.
#[must_use]
pub fn is_block_memory(ty: Type) -> bool {
    ty.is_mem_ref() && is_in(ty, &["workgroup", "private"])
}

/// Whether a type is no memref, or one whose memory space is not said, a number, or one of the gpu dialect's.
#[must_use]
pub fn has_known_space(ty: Type) -> bool {
    if !ty.is_mem_ref() {
        return true;
    }
    // SAFETY: just checked to be a memref; the space may be null.
    let is_number = unsafe {
        let space = mlirMemRefTypeGetMemorySpace(ty.to_raw());
        space.ptr.is_null() || mlirAttributeIsAInteger(space)
    };
    is_number || is_in(ty, &["global", "workgroup", "private"])
}

/// Whether a memref is in one of the gpu dialect's address spaces.
fn is_in(memref: Type, spaces: &[&str]) -> bool {
    // SAFETY: the caller has seen a memref; without a space the attribute is null.
    let space = unsafe { Attribute::from_option_raw(mlirMemRefTypeGetMemorySpace(memref.to_raw())) };
    space.map(|space| lossy!("{space}")).is_some_and(|text| {
        spaces.iter().any(|space| text.strip_prefix("#gpu.address_space<") == Some(&format!("{space}>")))
    })
}

/// The strides and the offset of a memref type in elements, `i64::MIN` where they are not known; `None` for other
/// types, and where the layout is no such thing (`affine_map<(d0) -> (d0 mod 4)>`).
#[must_use]
pub fn layout(ty: Type) -> Option<(Vec<i64>, i64)> {
    let memref = Shaped::memref(ty)?;
    // SAFETY: just checked to be a memref; its layout is an attribute that lives as long as its context.
    let has_strides = unsafe { mlirAttributeIsAStridedLayout(mlirMemRefTypeGetLayout(ty.to_raw())) };
    if !has_strides && MemRefType::try_from(ty).is_ok_and(|memref| memref.affine_map().is_identity()) {
        // The most common layout, for which MLIR would build affine expressions.
        return Some((row_major(&memref.dimensions()), 0));
    }
    let (mut strides, mut offset) = (vec![0; memref.rank()], 0);
    // SAFETY: there is room for as many strides as the memref has dimensions.
    let result = unsafe { mlirMemRefTypeGetStridesAndOffset(memref.to_raw(), strides.as_mut_ptr(), &raw mut offset) };
    (result.value != 0).then_some((strides, offset))
}

/// The strides of elements that lie one after the other.
fn row_major(dimensions: &[Option<u64>]) -> Vec<i64> {
    let mut stride = Some(1_i64);
    let strides = dimensions.iter().rev().map(|size| {
        let this = stride;
        let size = size.and_then(|size| i64::try_from(size).ok());
        stride = stride.zip(size).map(|(stride, size)| stride.saturating_mul(size));
        this.unwrap_or(i64::MIN)
    });
    let mut strides: Vec<i64> = strides.collect();
    strides.reverse();
    strides
}

/// The strides of a memref type in elements, `i64::MIN` where they are not known; empty for other types.
#[must_use]
pub fn strides(ty: Type) -> Vec<i64> {
    layout(ty).map_or_else(Vec::new, |(strides, _)| strides)
}

/// Whether a type is `!llvm.ptr`.
#[must_use]
pub fn is_llvm_pointer(ty: Type) -> bool {
    // SAFETY: asks a live type for its class.
    unsafe { mlirTypeIsALLVMPointerType(ty.to_raw()) }
}

/// The namespace and the text of an opaque type, the form a type of an unregistered dialect takes.
fn opaque(ty: Type) -> Option<(String, String)> {
    // SAFETY: the type is alive; the strings are read only where it is an opaque type.
    unsafe {
        if !mlirTypeIsAOpaque(ty.to_raw()) {
            return None;
        }
        let namespace = text(mlirOpaqueTypeGetDialectNamespace(ty.to_raw()));
        Some((namespace, text(mlirOpaqueTypeGetData(ty.to_raw()))))
    }
}

/// The text between the angle brackets of `!tt.ptr<…>`.
fn triton_inner(ty: Type) -> Option<String> {
    let (namespace, data) = opaque(ty)?;
    let inner = data.strip_prefix("ptr<")?.strip_suffix('>')?;
    (namespace == "tt").then(|| inner.to_owned())
}

fn is_triton_pointer(ty: Type) -> bool {
    triton_inner(ty).is_some()
}

/// The `T` of `!tt.ptr<T>` and `!tt.ptr<T, space>`, where it is an integer or a float.
fn triton_pointee(ty: Type<'_>) -> Option<Type<'_>> {
    let inner = triton_inner(ty)?;
    let pointee = inner.split_once(',').map_or(&*inner, |(pointee, _)| pointee).trim();
    // MLIR's parser would report what it can't read as an error of the user's.
    POINTEES.contains(&pointee).then(|| Type::parse(context(ty.context()), pointee))?
}

/// What Triton's pointers to memory point to.
const POINTEES: &[&str] = &[
    "i1",
    "i8",
    "i16",
    "i32",
    "i64",
    "f16",
    "bf16",
    "f32",
    "f64",
    "f8E3M4",
    "f8E4M3",
    "f8E4M3B11FNUZ",
    "f8E4M3FN",
    "f8E4M3FNUZ",
    "f8E5M2",
    "f8E5M2FNUZ",
    "f8E8M0FNU",
];
