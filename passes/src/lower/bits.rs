//! Loads bits as bytes, in a GPU's code in LLVM's dialect.
//!
//! The NVPTX back end of LLVM 22 gives a load of one bit no place in the order of its block: it goes past barriers,
//! fences and stores, and vanishes where nothing needs the bit, even if it is volatile.
//!
//! ```mlir
//! %bit = llvm.load volatile %p : !llvm.ptr -> i1
//! ```
//!
//! becomes
//!
//! ```mlir
//! %byte = llvm.load volatile %p : !llvm.ptr -> i8
//! %bit = llvm.trunc %byte : i8 to i1
//! ```
//!
//! The same is done in structures and arrays, whose other elements stay as they are.
//!
//! Limits: functions of a `gpu.module`; a vector of more than one bit, which LLVM loads as bytes, stays as it is.

use crate::ir::{Aggregate, Builder, aggregate, lasting, name, select, structure};
use crate::pass::{Ir, Pass};
use melior::dialect::llvm;
use melior::ir::{OperationRef, Type, TypeLike, Value, ValueLike};
use symm_dialect::shape::{Shaped, integer_width, scalar};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-load-bits-as-bytes",
    summary: "Load bits as bytes, which the NVPTX back end keeps in order",
    options: &[],
    run: |root, _| Ok(run(root)),
};

fn run(root: OperationRef) -> Ir {
    let mut outcome = Ir::Kept;
    for module in select(root, |op| (name(op) == structure::GPU_MODULE).then_some(op)) {
        for load in select(module, |op| (name(op) == "llvm.load").then_some(op)) {
            let Ok(loaded) = load.result(0) else { continue };
            let b = Builder::before(load);
            if let Some(bytes) = with_bytes(&b, loaded.r#type()) {
                load_bytes(&b, load, bytes);
                outcome = Ir::Changed;
            }
        }
    }
    outcome
}

/// The type with a byte in place of each bit, which lies in memory as it does; `None` if it has no bit.
fn with_bytes<'c>(b: &Builder<'c>, ty: Type<'c>) -> Option<Type<'c>> {
    match aggregate(ty) {
        Some(Aggregate::Structure(fields, packed)) => {
            let bytes: Vec<_> = fields.iter().map(|field| with_bytes(b, *field)).collect();
            bytes.iter().any(Option::is_some).then(|| {
                let fields: Vec<_> = bytes.into_iter().zip(fields).map(|(new, old)| new.unwrap_or(old)).collect();
                llvm::r#type::r#struct(b.context, &fields, packed)
            })
        }
        Some(Aggregate::Array(element, count)) => {
            with_bytes(b, element).map(|element| llvm::r#type::array(element, count))
        }
        None => is_bit(ty).then(|| b.int(8)),
    }
}

/// Whether LLVM makes one bit of a value: a vector of one is a scalar to it.
fn is_bit(ty: Type) -> bool {
    let is_one = |vector: Shaped| vector.dimensions().iter().all(|size| *size == Some(1));
    integer_width(scalar(ty)) == Some(1) && Shaped::vector(ty).is_none_or(is_one)
}

fn load_bytes<'c: 'a, 'a>(b: &Builder<'c>, load: OperationRef<'c, 'a>, bytes: Type<'c>) {
    // A copy has every attribute of the load.
    let copy: Value = b.copy(load).result(0).expect("a load has a result").into();
    let ty = copy.r#type();
    copy.set_type(bytes);
    b.replace(load, &[with_bits(b, copy, ty)]);
}

/// The value of type `ty` that has been loaded as bytes.
fn with_bits<'c>(b: &Builder<'c>, bytes: Value<'c, '_>, ty: Type<'c>) -> Value<'c, 'c> {
    let parts = match aggregate(ty) {
        Some(Aggregate::Structure(fields, _)) => fields,
        Some(Aggregate::Array(element, count)) => vec![element; count as usize],
        None if !is_bit(ty) => return lasting(bytes),
        None => {
            let bit = b.value("llvm.trunc", &[bytes], b.int(1), &[]);
            return if ty.is_vector() { b.value("llvm.bitcast", &[bit], ty, &[]) } else { bit };
        }
    };
    let mut whole = b.value("llvm.mlir.poison", &[], ty, &[]);
    for (index, part) in (0..).zip(parts) {
        let loaded = b.extract(bytes, &[index], with_bytes(b, part).unwrap_or(part));
        whole = b.insert(whole, &[index], with_bits(b, loaded, part));
    }
    whole
}
