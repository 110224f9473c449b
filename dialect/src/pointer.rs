//! The pointer types of every level of the IR.

use crate::context;
use crate::shape::Shaped;
use melior::StringRef;
use melior::ir::r#type::{MemRefType, ShapedTypeLike};
use melior::ir::{Type, TypeLike};
use mlir_sys::{
    mlirIntegerAttrGetValueInt, mlirAttributeIsAInteger, mlirLLVMPointerTypeGetAddressSpace,
    mlirMemRefTypeGetMemorySpace, mlirOpaqueTypeGetData, mlirOpaqueTypeGetDialectNamespace, mlirTypeIsALLVMPointerType,
    mlirTypeIsAOpaque,
};

/// What kind of pointer a value is.
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

    /// The numeric address space of `ty`, 0 where it is not given by a number.
    #[must_use]
    pub fn address_space(ty: Type) -> u64 {
        if is_llvm_pointer(ty) {
            // SAFETY: just seen to be an LLVM pointer type.
            return u64::from(unsafe { mlirLLVMPointerTypeGetAddressSpace(ty.to_raw()) });
        }
        if ty.is_mem_ref() {
            // SAFETY: just seen to be a memref; the space may be null, and is an integer where it is read as one.
            unsafe {
                let space = mlirMemRefTypeGetMemorySpace(ty.to_raw());
                if !space.ptr.is_null() && mlirAttributeIsAInteger(space) {
                    return mlirIntegerAttrGetValueInt(space).cast_unsigned();
                }
            }
        }
        0
    }
}

/// The strides of a memref type in elements, `i64::MIN` where they are not known; empty for other types.
#[must_use]
pub fn strides(ty: Type) -> Vec<i64> {
    MemRefType::try_from(ty).map_or_else(|_| Vec::new(), |memref| memref.strides_and_offset().0)
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
        let namespace = StringRef::from_raw(mlirOpaqueTypeGetDialectNamespace(ty.to_raw()));
        let data = StringRef::from_raw(mlirOpaqueTypeGetData(ty.to_raw()));
        Some((namespace.as_str().ok()?.to_owned(), data.as_str().ok()?.to_owned()))
    }
}

fn is_triton_pointer(ty: Type) -> bool {
    opaque(ty).is_some_and(|(namespace, data)| namespace == "tt" && data.starts_with("ptr<"))
}

/// The `T` of `!tt.ptr<T>` and `!tt.ptr<T, space>`.
fn triton_pointee(ty: Type<'_>) -> Option<Type<'_>> {
    let (_, data) = opaque(ty)?;
    let inner = data.strip_prefix("ptr<")?.strip_suffix('>')?;
    let pointee = inner.rsplit_once(',').map_or(inner, |(pointee, _)| pointee);
    Type::parse(context(ty.context()), pointee.trim())
}
