//! Making operations: what lowerings write, in the words they think in.

mod arithmetic;
mod control_flow;
mod module;

pub use module::Texts;

use super::raw::{lasting, lasting_op};
use super::structure;
use super::{context, type_attribute};
use melior::dialect::llvm;
use melior::ir::attribute::{
    DenseI32ArrayAttribute, DenseI64ArrayAttribute, FlatSymbolRefAttribute, IntegerAttribute, StringAttribute,
};
use melior::ir::operation::{OperationBuilder, OperationLike};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, BlockLike, BlockRef, Identifier, Location, OperationRef, Region, Type, Value, ValueLike};
use melior::{Context, IrRewriter};
use symm_dialect::make::Make;

/// Makes operations at one place, with one location.
pub struct Builder<'c> {
    /// The context.
    pub context: &'c Context,
    /// Whether what is made runs on a GPU, where heaps are global memory.
    pub is_device: bool,
    rewriter: IrRewriter<'c>,
    location: Location<'c>,
}

impl<'c> Builder<'c> {
    /// Inserts before `op`, with its location.
    pub fn before<'a>(op: OperationRef<'c, 'a>) -> Self
    where
        'c: 'a,
    {
        Self { context: context(op), is_device: false, rewriter: IrRewriter::from_op(op), location: op.location() }
    }

    /// Inserts before `op`, which runs on a GPU, with its location.
    pub fn before_on_device<'a>(op: OperationRef<'c, 'a>) -> Self
    where
        'c: 'a,
    {
        Self { is_device: true, ..Self::before(op) }
    }

    /// Inserts after `op`, with its location. `op` may be the last one: an unregistered function needs no terminator.
    pub fn after<'a>(op: OperationRef<'c, 'a>) -> Self
    where
        'c: 'a,
    {
        match (op.next_in_block(), op.block()) {
            (None, Some(block)) => Self::at_end(context(op), block, op.location()),
            (next, _) => Self::at(context(op), next.unwrap_or(op), op.location()),
        }
    }

    /// Inserts after the definition of `value`, with its location.
    pub fn after_value(context: &'c Context, value: Value<'c, '_>) -> Self {
        let rewriter = IrRewriter::new(context);
        rewriter.as_rewriter_base().set_insertion_point_after_value(value);
        Self { context, is_device: false, rewriter, location: value.location() }
    }

    /// Inserts after the definition of `value`, with another location.
    pub fn after_value_at(context: &'c Context, value: Value<'c, '_>, location: Location<'c>) -> Self {
        Self { location, ..Self::after_value(context, value) }
    }

    /// Inserts before `op`, with another location.
    pub fn at<'a>(context: &'c Context, op: OperationRef<'c, 'a>, location: Location<'c>) -> Self
    where
        'c: 'a,
    {
        Self { context, is_device: false, rewriter: IrRewriter::from_op(op), location }
    }

    /// Inserts at the start of `block`.
    pub fn at_start(context: &'c Context, block: BlockRef<'c, '_>, location: Location<'c>) -> Self {
        let rewriter = IrRewriter::new(context);
        rewriter.as_rewriter_base().set_insertion_point_to_start(block);
        Self { context, is_device: false, rewriter, location }
    }

    /// Inserts at the end of `block`.
    pub fn at_end(context: &'c Context, block: BlockRef<'c, '_>, location: Location<'c>) -> Self {
        let rewriter = IrRewriter::new(context);
        rewriter.as_rewriter_base().set_insertion_point_to_end(block);
        Self { context, is_device: false, rewriter, location }
    }

    /// Inserts a copy of an operation after it.
    pub fn copy_after<'a>(op: OperationRef<'c, 'a>) -> OperationRef<'c, 'a>
    where
        'c: 'a,
    {
        let rewriter = IrRewriter::new(context(op));
        rewriter.as_rewriter_base().set_insertion_point_after(op);
        rewriter.as_rewriter_base().clone_op(op)
    }

    /// Inserts a copy of an operation.
    pub fn copy<'a>(&self, op: OperationRef<'c, 'a>) -> OperationRef<'c, 'a>
    where
        'c: 'a,
    {
        self.rewriter.as_rewriter_base().clone_op(op)
    }

    /// Whether what is made goes into `block`.
    pub fn inserts_into(&self, block: BlockRef) -> bool {
        self.rewriter.as_rewriter_base().insertion_block() == block
    }

    /// The location of what is made.
    pub fn location(&self) -> Location<'c> {
        self.location
    }

    /// An identifier.
    pub fn identifier(&self, name: &str) -> Identifier<'c> {
        Identifier::new(self.context, name)
    }

    /// Inserts an operation with attributes given by name.
    pub fn op(
        &self,
        name: &str,
        operands: &[Value<'c, '_>],
        results: &[Type<'c>],
        attributes: &[(&str, Attribute<'c>)],
    ) -> OperationRef<'c, 'c> {
        self.op_with_regions(name, operands, results, attributes, Vec::new())
    }

    /// Inserts an operation of the symm dialect.
    pub fn make<'a, M: Make<'c, 'a>>(&self, parts: &M, results: &[Type<'c>]) -> OperationRef<'c, 'c>
    where
        'c: 'a,
    {
        self.op(M::NAME, &parts.operands(), results, &parts.attributes(self.context))
    }

    /// Inserts an operation of the symm dialect with one result.
    pub fn make_value<'a, M: Make<'c, 'a>>(&self, parts: &M, result: Type<'c>) -> Value<'c, 'c>
    where
        'c: 'a,
    {
        self.value(M::NAME, &parts.operands(), result, &parts.attributes(self.context))
    }

    /// Inserts an operation with regions.
    pub fn op_with_regions(
        &self,
        name: &str,
        operands: &[Value<'c, '_>],
        results: &[Type<'c>],
        attributes: &[(&str, Attribute<'c>)],
        regions: Vec<Region<'c>>,
    ) -> OperationRef<'c, 'c> {
        let attributes: Vec<_> =
            attributes.iter().map(|(name, attribute)| (self.identifier(name), *attribute)).collect();
        let op = OperationBuilder::new(name, self.location)
            .add_operands(operands)
            .add_results(results)
            .add_attributes(&attributes)
            .add_regions_vec(regions)
            .build()
            .unwrap_or_else(|_| panic!("{name} can be built from what the lowering gives it"));
        lasting_op(self.rewriter.as_rewriter_base().insert(op))
    }

    /// Inserts an operation with one result.
    pub fn value(
        &self,
        name: &str,
        operands: &[Value<'c, '_>],
        result: Type<'c>,
        attributes: &[(&str, Attribute<'c>)],
    ) -> Value<'c, 'c> {
        let op = self.op(name, operands, &[result], attributes);
        op.result(0).expect("one result was asked for").into()
    }

    /// The type `iN`.
    pub fn int(&self, width: u32) -> Type<'c> {
        IntegerType::new(self.context, width).into()
    }

    /// The type `!llvm.ptr`.
    pub fn ptr(&self) -> Type<'c> {
        llvm::r#type::pointer(self.context, 0)
    }

    /// The type `index`.
    pub fn index(&self) -> Type<'c> {
        Type::index(self.context)
    }

    /// An attribute from its text.
    pub fn parse(&self, text: &str) -> Attribute<'c> {
        Attribute::parse(self.context, text).unwrap_or_else(|| panic!("{text} is an attribute"))
    }

    /// A string attribute.
    pub fn string(&self, text: &str) -> Attribute<'c> {
        StringAttribute::new(self.context, text).into()
    }

    /// A symbol reference.
    pub fn symbol(&self, name: &str) -> Attribute<'c> {
        FlatSymbolRefAttribute::new(self.context, name).into()
    }

    /// A unit attribute.
    pub fn unit(&self) -> Attribute<'c> {
        Attribute::unit(self.context)
    }

    /// An integer attribute.
    pub fn integer(&self, width: u32, value: i64) -> Attribute<'c> {
        IntegerAttribute::new(self.int(width), value).into()
    }

    /// All bits zero, of a type that LLVM knows.
    pub fn zero(&self, ty: Type<'c>) -> Value<'c, 'c> {
        self.value("llvm.mlir.zero", &[], ty, &[])
    }

    /// What an LLVM structure holds at a position.
    pub fn extract(&self, structure: Value<'c, '_>, position: &[i64], ty: Type<'c>) -> Value<'c, 'c> {
        let position = DenseI64ArrayAttribute::new(self.context, position).into();
        self.value("llvm.extractvalue", &[structure], ty, &[("position", position)])
    }

    /// An LLVM structure with another field at a position.
    pub fn insert(&self, structure: Value<'c, '_>, position: &[i64], field: Value<'c, '_>) -> Value<'c, 'c> {
        let position = DenseI64ArrayAttribute::new(self.context, position).into();
        self.value("llvm.insertvalue", &[structure, field], structure.r#type(), &[("position", position)])
    }

    /// The pointer to an element of an array that starts at `pointer`.
    pub fn element(&self, pointer: Value<'c, '_>, index: Value<'c, '_>, element: Type<'c>) -> Value<'c, 'c> {
        // One index, which is not constant.
        let constant = DenseI32ArrayAttribute::new(self.context, &[i32::MIN]).into();
        let attributes = [("rawConstantIndices", constant), ("elem_type", type_attribute(element))];
        self.value("llvm.getelementptr", &[pointer, index], pointer.r#type(), &attributes)
    }

    /// `pointer + bytes`.
    pub fn byte_offset(&self, pointer: Value<'c, '_>, bytes: Value<'c, '_>) -> Value<'c, 'c> {
        self.element(pointer, bytes, self.int(8))
    }

    /// `pointer + bytes`, a constant.
    pub fn byte_offset_constant(&self, pointer: Value<'c, '_>, bytes: i64) -> Value<'c, 'c> {
        self.byte_offset(pointer, self.i64(bytes))
    }

    /// A load.
    pub fn load(&self, pointer: Value<'c, '_>, ty: Type<'c>, attributes: &[(&str, Attribute<'c>)]) -> Value<'c, 'c> {
        self.value("llvm.load", &[pointer], ty, attributes)
    }

    /// A store.
    pub fn store(&self, value: Value<'c, '_>, pointer: Value<'c, '_>, attributes: &[(&str, Attribute<'c>)]) {
        self.op("llvm.store", &[value, pointer], &[], attributes);
    }

    /// `builtin.unrealized_conversion_cast`, or the value itself if it has the type.
    pub fn cast(&self, value: Value<'c, '_>, ty: Type<'c>) -> Value<'c, 'c> {
        if value.r#type() == ty {
            return lasting(value);
        }
        self.value("builtin.unrealized_conversion_cast", &[value], ty, &[])
    }

    /// A call of a `func.func`.
    pub fn call(&self, callee: &str, operands: &[Value<'c, '_>], results: &[Type<'c>]) -> OperationRef<'c, 'c> {
        self.op(structure::CALL, operands, results, &[("callee", self.symbol(callee))])
    }

    /// Replaces an operation by values and erases it.
    pub fn replace(&self, op: OperationRef<'c, '_>, values: &[Value<'c, '_>]) {
        self.rewriter.as_rewriter_base().replace_op_with_values(op, values);
    }

    /// Erases an operation without uses.
    pub fn erase(&self, op: OperationRef<'c, '_>) {
        self.rewriter.as_rewriter_base().erase_op(op);
    }

    /// Replaces the uses of a value.
    pub fn replace_uses(&self, from: Value<'c, '_>, to: Value<'c, '_>) {
        self.rewriter.as_rewriter_base().replace_all_uses_with(from, to);
    }
}

/// An argument that a block was made with.
pub fn argument<'c>(block: BlockRef<'c, '_>, index: usize) -> Value<'c, 'c> {
    lasting(block.argument(index).expect("the block was made with it").into())
}
