//! Calls of symm-check from the LLVM dialect, and what they take: places on the stack, sizes, locations.

use crate::ir::{
    Builder, Texts, blocks, collect, context, enclosing, location_text, mutable, name, operations, structure,
    type_attribute,
};
use melior::ir::operation::OperationLike;
use melior::ir::operation::OperationMutLike;
use melior::ir::{BlockRef, Location, Module, OperationRef, Type, TypeLike, Value, ValueLike};
use std::cell::RefCell;
use std::collections::HashSet;
use symm_abi::functions::Function;
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
    locations: Texts,
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
        let known =
            collect(root).into_iter().filter(|op| name(*op) == structure::LLVM_FUNC).filter_map(symbol).collect();
        Self { root, body: blocks(root)[0], known: RefCell::new(known), locations: Texts::new("_symm_place_") }
    }

    fn top(&self) -> Builder<'c> {
        Builder::at_start(context(self.root), self.body, self.root.location())
    }

    /// Declares a function; the types of its results.
    pub fn declare<const PARAMETERS: usize, const RESULTS: usize>(
        &self,
        b: &Builder<'c>,
        function: &Function<PARAMETERS, RESULTS>,
    ) -> [Type<'c>; RESULTS] {
        let results = function.results.map(|ty| b.machine_type(ty));
        if self.known.borrow_mut().insert(function.name.to_owned()) {
            self.top().declare(function.name, &function.parameters.map(|ty| b.machine_type(ty)), &results);
        }
        results
    }

    /// Calls a function, whose results it returns.
    pub fn call<const PARAMETERS: usize, const RESULTS: usize>(
        &self,
        b: &Builder<'c>,
        function: &Function<PARAMETERS, RESULTS>,
        operands: [Value<'c, '_>; PARAMETERS],
    ) -> Vec<Value<'c, 'c>> {
        let results = self.declare(b, function);
        let operands = operands.map(|operand| generic(b, operand));
        b.llvm_call(function.name, &operands, &results).results().map(Into::into).collect()
    }

    /// Calls a function of the module, which is in the text of a module; what that calls is declared.
    pub fn call_own(&self, b: &Builder<'c>, function: &str, text: &str, operands: &[Value<'c, '_>]) {
        if self.known.borrow_mut().insert(function.to_owned()) {
            let module = Module::parse(b.context, text).expect("a function of the pass parses");
            let first = operations(self.body)[0];
            let is_it = |op: &OperationRef| symbol(*op).as_deref() == Some(function);
            operations(module.body()).into_iter().filter(is_it).for_each(|op| mutable(op).move_before(first));
        }
        b.llvm_call(function, operands, &[]);
    }

    /// A pointer to the text of the builder's location.
    pub fn location(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        self.location_of(b, b.location())
    }

    /// A pointer to the text of a location.
    pub fn location_of(&self, b: &Builder<'c>, location: Location) -> Value<'c, 'c> {
        self.locations.pointer(b, || self.top(), &location_text(location))
    }
}

/// A value as functions take it: on the CPU all address spaces are one.
pub fn generic<'c>(b: &Builder<'c>, operand: Value<'c, '_>) -> Value<'c, 'c> {
    let ty = operand.r#type();
    let is_other = is_llvm_pointer(ty) && ty != b.ptr();
    if is_other { b.value("llvm.addrspacecast", &[operand], b.ptr(), &[]) } else { crate::ir::lasting(operand) }
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
    let function = enclosing(op, &[structure::LLVM_FUNC]).unwrap_or(op);
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
