//! Calls of symm-check from the LLVM dialect, and what they take: places on the stack, sizes, locations.

use crate::ir::{Builder, blocks, collect, context, enclosing, location_text, name, type_attribute};
use melior::dialect::llvm;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, Region, Type, TypeLike, Value, ValueLike};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use symm_abi::functions::{self, Function};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::lossy;
use symm_dialect::pointer::is_llvm_pointer;
use symm_dialect::shape::{Shaped, byte_width, integer_width, scalar};
use symm_dialect::symbol::symbol;

/// Makes calls, and declares what they call.
pub struct Calls<'c, 'a> {
    root: OperationRef<'c, 'a>,
    body: BlockRef<'c, 'a>,
    known: RefCell<HashSet<String>>,
    locations: RefCell<HashMap<String, String>>,
}

impl<'c> Builder<'c> {
    /// A constant of the LLVM dialect.
    fn llvm_constant(&self, width: u32, value: i64) -> Value<'c, 'c> {
        self.value("llvm.mlir.constant", &[], self.int(width), &[("value", self.integer(width, value))])
    }

    /// A constant `i32` of the LLVM dialect.
    pub(super) fn llvm_i32(&self, value: i64) -> Value<'c, 'c> {
        self.llvm_constant(32, value)
    }

    /// A constant `i64` of the LLVM dialect.
    pub(super) fn llvm_i64(&self, value: i64) -> Value<'c, 'c> {
        self.llvm_constant(64, value)
    }
}

impl<'c: 'a, 'a> Calls<'c, 'a> {
    pub fn new(root: OperationRef<'c, 'a>) -> Self {
        let known = collect(root).into_iter().filter(|op| name(*op) == "llvm.func").filter_map(symbol).collect();
        Self { root, body: blocks(root)[0], known: RefCell::new(known), locations: RefCell::default() }
    }

    fn top(&self) -> Builder<'c> {
        Builder::at_start(context(self.root), self.body, self.root.location())
    }

    /// Calls a function that returns nothing.
    pub fn call<const PARAMETERS: usize, const RESULTS: usize>(
        &self,
        b: &Builder<'c>,
        function: &Function<PARAMETERS, RESULTS>,
        operands: [Value<'c, '_>; PARAMETERS],
    ) {
        if self.known.borrow_mut().insert(function.name.to_owned()) {
            let inputs = function.parameters.map(|ty| match ty {
                functions::Type::I32 => b.int(32),
                functions::Type::I64 => b.int(64),
                functions::Type::Pointer => b.ptr(),
            });
            let top = self.top();
            let ty = llvm::r#type::function(llvm::r#type::void(b.context), &inputs, false);
            let attributes = [
                ("sym_name", top.string(function.name)),
                ("function_type", type_attribute(ty)),
                ("linkage", top.parse("#llvm.linkage<external>")),
            ];
            top.op_with_regions("llvm.func", &[], &[], &attributes, vec![Region::new()]);
        }
        // On the CPU all address spaces are one.
        let generic = |operand: Value<'c, '_>| {
            let ty = operand.r#type();
            let other = is_llvm_pointer(ty) && ty != b.ptr();
            if other { b.value("llvm.addrspacecast", &[operand], b.ptr(), &[]) } else { crate::ir::lasting(operand) }
        };
        let operands = operands.map(generic);
        let attributes = [
            ("callee", b.symbol(function.name)),
            ("op_bundle_sizes", b.parse("array<i32>")),
            ("operandSegmentSizes", b.parse(&format!("array<i32: {PARAMETERS}, 0>"))),
        ];
        b.op("llvm.call", &operands, &[], &attributes);
    }

    /// A pointer to the text of the builder's location.
    pub fn location(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        let text = location_text(b.location());
        let count = self.locations.borrow().len();
        let mut locations = self.locations.borrow_mut();
        let symbol = locations.entry(text).or_insert_with_key(|text| {
            let symbol = format!("_symm_place_{count}");
            let top = self.top();
            let text = format!("{}\0", text.replace('\0', ""));
            let array = llvm::r#type::array(b.int(8), u32::try_from(text.len()).unwrap_or(u32::MAX));
            let attributes = [
                ("sym_name", top.string(&symbol)),
                ("global_type", type_attribute(array)),
                ("linkage", top.parse("#llvm.linkage<internal>")),
                ("constant", top.unit()),
                ("value", top.string(&text)),
            ];
            top.op_with_regions("llvm.mlir.global", &[], &[], &attributes, vec![Region::new()]);
            symbol
        });
        b.value("llvm.mlir.addressof", &[], b.ptr(), &[("global_name", b.symbol(symbol))])
    }
}

/// The bytes that a scalar or a vector of them has in memory.
pub fn size(ty: Type) -> Option<u64> {
    let element = scalar(ty);
    let lanes =
        Shaped::vector(ty).map_or(Some(1), |vector| vector.dimensions().into_iter().product::<Option<u64>>())?;
    if is_llvm_pointer(element) {
        return Some(8 * lanes);
    }
    if integer_width(element) == Some(1) {
        return Some(lanes.div_ceil(8));
    }
    (integer_width(element).is_some() || element.is_float()).then(|| byte_width(element) * lanes)
}

/// A place on the stack for a value, made at the start of the function around `op`.
pub fn slot<'c: 'a, 'a>(op: OperationRef<'c, 'a>, ty: Type<'c>) -> Value<'c, 'c> {
    let function = enclosing(op, &["llvm.func"]).unwrap_or(op);
    let b = Builder::at_start(context(op), blocks(function)[0], op.location());
    let attributes = [("elem_type", type_attribute(ty)), ("alignment", b.integer(64, 64))];
    b.value("llvm.alloca", &[b.llvm_i64(1)], b.ptr(), &attributes)
}

/// A place on the stack that holds a value.
pub fn spill<'c: 'a, 'a>(b: &Builder<'c>, op: OperationRef<'c, 'a>, value: Value<'c, '_>) -> Value<'c, 'c> {
    let slot = slot(op, value.r#type());
    b.store(value, slot, &[]);
    slot
}

/// The bytes that a value of a type has in memory.
///
/// # Errors
/// It is not known how the value lies there.
pub fn bytes<'c: 'a, 'a>(b: &Builder<'c>, op: OperationRef<'c, 'a>, ty: Type<'c>) -> Result<Value<'c, 'c>, Reported> {
    size(ty)
        .map(|bytes| b.llvm_i64(bytes.cast_signed()))
        .ok_or_else(|| error(op, &lossy!("S1: symm-check does not know the memory layout of type {ty}")))
}

/// An integer as `i64`.
pub fn wide<'c>(b: &Builder<'c>, value: Value<'c, '_>) -> Value<'c, 'c> {
    match integer_width(value.r#type()) {
        Some(width) if width < 64 => b.value("llvm.zext", &[value], b.int(64), &[]),
        _ => crate::ir::lasting(value),
    }
}
