//! What a module holds in the LLVM dialect, and how code refers to it: functions and their calls, globals, texts.

use super::Builder;
use super::structure;
use crate::ir::type_attribute;
use melior::dialect::llvm;
use melior::ir::{Attribute, OperationRef, Region, Type, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use symm_abi::functions;

impl<'c> Builder<'c> {
    /// A type of a function of the runtime.
    pub fn machine_type(&self, ty: functions::Type) -> Type<'c> {
        match ty {
            functions::Type::I32 => self.int(32),
            functions::Type::I64 => self.int(64),
            functions::Type::Pointer => self.ptr(),
        }
    }

    /// Declares a function that is defined elsewhere, with at most one result.
    pub fn declare(&self, name: &str, inputs: &[Type<'c>], results: &[Type<'c>]) {
        let result = results.first().copied().unwrap_or_else(|| llvm::r#type::void(self.context));
        let attributes = [
            ("sym_name", self.string(name)),
            ("function_type", type_attribute(llvm::r#type::function(result, inputs, false))),
            ("linkage", self.parse("#llvm.linkage<external>")),
        ];
        self.op_with_regions(structure::LLVM_FUNC, &[], &[], &attributes, vec![Region::new()]);
    }

    /// A call of an `llvm.func`.
    pub fn llvm_call(&self, callee: &str, operands: &[Value<'c, '_>], results: &[Type<'c>]) -> OperationRef<'c, 'c> {
        self.op_of_bundles("llvm.call", ("callee", self.symbol(callee)), operands, results)
    }

    /// A call of an LLVM intrinsic.
    pub fn intrinsic(&self, name: &str, operands: &[Value<'c, '_>], results: &[Type<'c>]) -> OperationRef<'c, 'c> {
        self.op_of_bundles("llvm.call_intrinsic", ("intrin", self.string(name)), operands, results)
    }

    /// A call that may have operand bundles, without any.
    fn op_of_bundles(
        &self,
        op: &str,
        callee: (&str, Attribute<'c>),
        operands: &[Value<'c, '_>],
        results: &[Type<'c>],
    ) -> OperationRef<'c, 'c> {
        let attributes = [
            callee,
            ("op_bundle_sizes", self.parse("array<i32>")),
            ("operandSegmentSizes", self.parse(&format!("array<i32: {}, 0>", operands.len()))),
        ];
        self.op(op, operands, results, &attributes)
    }

    /// A global of a type, which only this module has unless it is `external`.
    pub fn global(&self, symbol: &str, ty: Type<'c>, linkage: &str, more: &[(&str, Attribute<'c>)]) {
        let attributes = [
            ("sym_name", self.string(symbol)),
            ("global_type", type_attribute(ty)),
            ("linkage", self.parse(&format!("#llvm.linkage<{linkage}>"))),
        ];
        let attributes = [attributes.as_slice(), more].concat();
        self.op_with_regions("llvm.mlir.global", &[], &[], &attributes, vec![Region::new()]);
    }

    /// The address of a global, of its pointer type.
    pub fn address_of(&self, symbol: &str, pointer: Type<'c>) -> Value<'c, 'c> {
        self.value("llvm.mlir.addressof", &[], pointer, &[("global_name", self.symbol(symbol))])
    }

    /// What a global is that holds a text: its type, and its value.
    pub fn text(&self, text: &str) -> (Type<'c>, Attribute<'c>) {
        (llvm::r#type::array(self.int(8), u32::try_from(text.len()).unwrap_or(u32::MAX)), self.string(text))
    }
}

/// The texts of a module, which end with a zero byte, each once.
pub struct Texts {
    prefix: &'static str,
    symbols: RefCell<HashMap<String, String>>,
}

impl Texts {
    /// None yet; the names of their globals begin with this.
    pub fn new(prefix: &'static str) -> Self {
        Self { prefix, symbols: RefCell::default() }
    }

    /// A pointer to a text, which `top` adds to the module if it is new.
    pub fn pointer<'c>(&self, b: &Builder<'c>, top: impl FnOnce() -> Builder<'c>, text: &str) -> Value<'c, 'c> {
        let mut symbols = self.symbols.borrow_mut();
        let count = symbols.len();
        let symbol = symbols.entry(text.to_owned()).or_insert_with(|| {
            let (top, symbol) = (top(), format!("{}{count}", self.prefix));
            let (ty, value) = top.text(&format!("{}\0", text.replace('\0', "")));
            top.global(&symbol, ty, "internal", &[("constant", top.unit()), ("value", value)]);
            symbol
        });
        b.address_of(symbol, b.ptr())
    }
}
