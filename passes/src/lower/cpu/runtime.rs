//! Calls of the runtime ([`symm_abi::functions`]), declared when they are first needed, and the strings they take.

use crate::ir::{Builder, Texts, blocks, context, enclosing, location_text, signed, structure, type_attribute};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::FunctionType;
use melior::ir::{BlockRef, OperationRef, Region, Type, Value};
use std::cell::RefCell;
use std::collections::HashSet;
use symm_abi::functions::Function;
use symm_dialect::ENGINE_ATTRIBUTE;

/// The runtime as one module sees it.
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct Runtime<'c, 'a> {
    body: BlockRef<'c, 'a>,
    root: OperationRef<'c, 'a>,
    /// Whether puts, gets and signals are recorded.
    pub trace: bool,
    /// Whether the kernels run on a GPU.
    pub offload: bool,
    /// Whether an engine reaches some ranks; not under symm-check, to which all of them mean the same (N2).
    pub engine: bool,
    /// Whether each thread of a block runs by itself, and symm-check is told of what it does.
    pub check: bool,
    declared: RefCell<HashSet<&'static str>>,
    /// The kernels that wait at a device barrier, by the name under which they are launched.
    pub barrier_kernels: RefCell<HashSet<String>>,
    /// The kernels whose blocks wait for flags; known for kernels that run on a GPU.
    pub waiting_kernels: RefCell<HashSet<String>>,
    strings: Texts,
}

impl<'c: 'a, 'a> Runtime<'c, 'a> {
    pub fn new(root: OperationRef<'c, 'a>, (trace, offload, check): (bool, bool, bool)) -> Self {
        let body = blocks(root)[0];
        let (declared, barrier_kernels, waiting_kernels) = Default::default();
        let strings = Texts::new("_symm_string_");
        let engine = root.has_attribute(ENGINE_ATTRIBUTE) && !check;
        Self { body, root, trace, offload, engine, check, declared, barrier_kernels, waiting_kernels, strings }
    }

    /// The block of the module.
    pub fn body(&self) -> BlockRef<'c, 'a> {
        self.body
    }

    /// A builder at the start of the module.
    pub fn top(&self) -> Builder<'c> {
        Builder::at_start(context(self.root), self.body, self.root.location())
    }

    /// Calls a function of the runtime.
    pub fn call<const PARAMETERS: usize, const RESULTS: usize>(
        &self,
        b: &Builder<'c>,
        function: &Function<PARAMETERS, RESULTS>,
        operands: [Value<'c, '_>; PARAMETERS],
    ) -> [Value<'c, 'c>; RESULTS] {
        let results = function.results.map(|ty| b.machine_type(ty));
        if self.declared.borrow_mut().insert(function.name) {
            let inputs = function.parameters.map(|ty| b.machine_type(ty));
            let top = self.top();
            let ty = FunctionType::new(b.context, &inputs, &results);
            let attributes = [
                ("sym_name", top.string(function.name)),
                ("function_type", type_attribute(ty)),
                ("sym_visibility", top.string("private")),
            ];
            top.op_with_regions(structure::FUNC, &[], &[], &attributes, vec![Region::new()]);
        }
        let call = b.call(function.name, &operands, &results);
        std::array::from_fn(|index| call.result(index).expect("as many as were asked for").into())
    }

    /// A pointer to a NUL-terminated string.
    pub fn string(&self, b: &Builder<'c>, text: &str) -> Value<'c, 'c> {
        self.strings.pointer(b, || self.top(), text)
    }

    /// A pointer to the text of the builder's location.
    pub fn location(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        self.string(b, &location_text(b.location()))
    }
}

/// Values stored one after the other, eight bytes each, for a callee that reads them at once. The memory is reserved
/// at the start of the enclosing function, so that a loop does not grow the stack.
pub fn words<'c: 'a, 'a>(b: &Builder<'c>, op: OperationRef<'c, 'a>, values: &[Value<'c, 'c>]) -> Value<'c, 'c> {
    let memory = stack(op, b.int(64), values.len().max(1));
    for (index, value) in values.iter().enumerate() {
        b.store(*value, b.byte_offset_constant(memory, 8 * signed(index)), &[]);
    }
    memory
}

/// Stack memory for `count` values, reserved at the start of the function around `op`.
pub fn stack<'c: 'a, 'a>(op: OperationRef<'c, 'a>, ty: Type<'c>, count: usize) -> Value<'c, 'c> {
    let function = enclosing(op, &[structure::FUNC, structure::GPU_FUNC]).unwrap_or(op);
    let b = Builder::at_start(context(op), blocks(function)[0], op.location());
    let attributes = [("elem_type", type_attribute(ty)), ("alignment", b.integer(64, 16))];
    b.value("llvm.alloca", &[b.i64(signed(count))], b.ptr(), &attributes)
}
