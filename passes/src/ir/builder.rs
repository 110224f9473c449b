//! Making operations: what lowerings write, in the words they think in.

use super::raw::{lasting, lasting_op};
use super::{context, type_attribute};
use melior::dialect::arith::CmpiPredicate;
use melior::dialect::llvm;
use melior::ir::attribute::{
    DenseI32ArrayAttribute, DenseI64ArrayAttribute, FlatSymbolRefAttribute, IntegerAttribute, StringAttribute,
};
use melior::ir::operation::{OperationBuilder, OperationLike};
use melior::ir::r#type::IntegerType;
use melior::ir::{
    Attribute, Block, BlockLike, BlockRef, Identifier, Location, OperationRef, Region, RegionLike, Type, Value,
    ValueLike,
};
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

    /// An `arith.constant` of an integer or index type.
    pub fn constant(&self, ty: Type<'c>, value: i64) -> Value<'c, 'c> {
        self.value("arith.constant", &[], ty, &[("value", IntegerAttribute::new(ty, value).into())])
    }

    /// A constant `i64`.
    pub fn i64(&self, value: i64) -> Value<'c, 'c> {
        self.constant(self.int(64), value)
    }

    /// A constant `i32`.
    pub fn i32(&self, value: i64) -> Value<'c, 'c> {
        self.constant(self.int(32), value)
    }

    /// A constant `index`.
    pub fn index_constant(&self, value: i64) -> Value<'c, 'c> {
        self.constant(self.index(), value)
    }

    /// An arith op of two operands of one type.
    pub fn binary(&self, name: &str, lhs: Value<'c, '_>, rhs: Value<'c, '_>) -> Value<'c, 'c> {
        self.value(name, &[lhs, rhs], lhs.r#type(), &[])
    }

    /// `lhs + rhs`.
    pub fn add(&self, lhs: Value<'c, '_>, rhs: Value<'c, '_>) -> Value<'c, 'c> {
        self.binary("arith.addi", lhs, rhs)
    }

    /// `lhs * rhs`.
    pub fn mul(&self, lhs: Value<'c, '_>, rhs: Value<'c, '_>) -> Value<'c, 'c> {
        self.binary("arith.muli", lhs, rhs)
    }

    /// A comparison of two integers or indices, `i1`.
    pub fn compare(&self, predicate: CmpiPredicate, lhs: Value<'c, '_>, rhs: Value<'c, '_>) -> Value<'c, 'c> {
        let predicate = self.integer(64, predicate as i64);
        self.value("arith.cmpi", &[lhs, rhs], self.int(1), &[("predicate", predicate)])
    }

    /// The other truth value.
    pub fn not(&self, truth: Value<'c, '_>) -> Value<'c, 'c> {
        self.binary("arith.xori", truth, self.constant(self.int(1), 1))
    }

    /// An integer as `index`, sign-extended.
    pub fn as_index(&self, value: Value<'c, '_>) -> Value<'c, 'c> {
        self.value("arith.index_cast", &[value], self.index(), &[])
    }

    /// An integer or index value as `i64`, sign-extended.
    pub fn as_i64(&self, value: Value<'c, '_>) -> Value<'c, 'c> {
        let ty = value.r#type();
        if ty == self.int(64) {
            return lasting(value);
        }
        let name = if ty == self.index() { "arith.index_cast" } else { "arith.extsi" };
        self.value(name, &[value], self.int(64), &[])
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
        // One index, which is no constant.
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

    /// A call of one of LLVM's intrinsics.
    pub fn intrinsic(&self, name: &str, operands: &[Value<'c, '_>], results: &[Type<'c>]) -> OperationRef<'c, 'c> {
        let attributes = [
            ("intrin", self.string(name)),
            ("op_bundle_sizes", self.parse("array<i32>")),
            ("operandSegmentSizes", self.parse(&format!("array<i32: {}, 0>", operands.len()))),
        ];
        self.op("llvm.call_intrinsic", operands, results, &attributes)
    }

    /// A call of a function by name.
    pub fn call(&self, callee: &str, operands: &[Value<'c, '_>], results: &[Type<'c>]) -> OperationRef<'c, 'c> {
        self.op("func.call", operands, results, &[("callee", self.symbol(callee))])
    }

    /// `scf.for` from `lower` to `upper` by one; `body` makes what it holds.
    pub fn for_each(&self, lower: Value<'c, '_>, upper: Value<'c, '_>, body: impl FnOnce(&Self, Value<'c, 'c>)) {
        self.for_step(lower, upper, self.constant(lower.r#type(), 1), body);
    }

    /// `scf.for` from `lower` to `upper` by `step`; `body` makes what it holds.
    pub fn for_step(
        &self,
        lower: Value<'c, '_>,
        upper: Value<'c, '_>,
        step: Value<'c, '_>,
        body: impl FnOnce(&Self, Value<'c, 'c>),
    ) {
        let block = Block::new(&[(lower.r#type(), self.location)]);
        let region = Region::new();
        let block = region.append_block(block);
        let inner = self.inside(block);
        body(&inner, argument(block, 0));
        inner.op("scf.yield", &[], &[], &[]);
        self.op_with_regions("scf.for", &[lower, upper, step], &[], &[], vec![region]);
    }

    /// Inserts at the end of a block that an operation made here will hold.
    fn inside(&self, block: BlockRef<'c, '_>) -> Self {
        Self { is_device: self.is_device, ..Self::at_end(self.context, block, self.location) }
    }

    /// A region of one block that yields what `body` makes.
    fn arm(&self, body: impl FnOnce(&Self) -> Vec<Value<'c, 'c>>) -> Region<'c> {
        let region = Region::new();
        let block = region.append_block(Block::new(&[]));
        let inner = self.inside(block);
        let values = body(&inner);
        inner.op("scf.yield", &values, &[], &[]);
        region
    }

    /// What `update` makes where the mask is true, or is not there; zero elsewhere.
    pub fn masked(
        &self,
        mask: Option<Value<'c, '_>>,
        ty: Type<'c>,
        update: impl FnOnce(&Self) -> Value<'c, 'c>,
    ) -> Value<'c, 'c> {
        match mask {
            None => update(self),
            Some(mask) => self.choose(mask, ty, update, |b| b.zero(ty)),
        }
    }

    /// `scf.if` with one result.
    pub fn choose(
        &self,
        condition: Value<'c, '_>,
        ty: Type<'c>,
        then: impl FnOnce(&Self) -> Value<'c, 'c>,
        otherwise: impl FnOnce(&Self) -> Value<'c, 'c>,
    ) -> Value<'c, 'c> {
        self.choose_all(condition, &[ty], |b| vec![then(b)], |b| vec![otherwise(b)])[0]
    }

    /// `scf.if` with the results that each arm returns.
    pub fn choose_all(
        &self,
        condition: Value<'c, '_>,
        types: &[Type<'c>],
        then: impl FnOnce(&Self) -> Vec<Value<'c, 'c>>,
        otherwise: impl FnOnce(&Self) -> Vec<Value<'c, 'c>>,
    ) -> Vec<Value<'c, 'c>> {
        let regions = vec![self.arm(then), self.arm(otherwise)];
        self.op_with_regions("scf.if", &[condition], types, &[], regions).results().map(Into::into).collect()
    }

    /// `scf.if` with the results of an operation that each arm makes.
    pub fn choose_op(
        &self,
        condition: Value<'c, '_>,
        types: &[Type<'c>],
        then: impl FnOnce(&Self) -> OperationRef<'c, 'c>,
        otherwise: impl FnOnce(&Self) -> OperationRef<'c, 'c>,
    ) -> Vec<Value<'c, 'c>> {
        let results = |op: OperationRef<'c, 'c>| op.results().map(Into::into).collect();
        self.choose_all(condition, types, |b| results(then(b)), |b| results(otherwise(b)))
    }

    /// `scf.if` without results.
    pub fn when(&self, condition: Value<'c, '_>, then: impl FnOnce(&Self)) {
        self.op_with_regions("scf.if", &[condition], &[], &[], vec![self.quiet_arm(then), Region::new()]);
    }

    /// `scf.if` with two arms and without results.
    pub fn either(&self, condition: Value<'c, '_>, then: impl FnOnce(&Self), otherwise: impl FnOnce(&Self)) {
        let regions = vec![self.quiet_arm(then), self.quiet_arm(otherwise)];
        self.op_with_regions("scf.if", &[condition], &[], &[], regions);
    }

    /// A region of one block that yields nothing.
    fn quiet_arm(&self, body: impl FnOnce(&Self)) -> Region<'c> {
        self.arm(|b| {
            body(b);
            Vec::new()
        })
    }

    /// `scf.while` that carries values: `test` returns whether to go on and what to carry, `body` what to carry next.
    pub fn repeat(
        &self,
        initial: &[Value<'c, '_>],
        test: impl FnOnce(&Self, &[Value<'c, 'c>]) -> (Value<'c, 'c>, Vec<Value<'c, 'c>>),
        body: impl FnOnce(&Self, &[Value<'c, 'c>]) -> Vec<Value<'c, 'c>>,
    ) -> Vec<Value<'c, 'c>> {
        let make = |types: &[Type<'c>]| {
            let arguments: Vec<_> = types.iter().map(|ty| (*ty, self.location)).collect();
            let region = Region::new();
            let block = region.append_block(Block::new(&arguments));
            let values: Vec<Value<'c, 'c>> = (0..types.len()).map(|index| argument(block, index)).collect();
            let inner = self.inside(block);
            (region, inner, values)
        };
        let types: Vec<Type> = initial.iter().map(ValueLike::r#type).collect();
        let (before, inner, values) = make(&types);
        let (go_on, carried) = test(&inner, &values);
        let results: Vec<Type> = carried.iter().map(ValueLike::r#type).collect();
        inner.op("scf.condition", &[&[go_on], carried.as_slice()].concat(), &[], &[]);
        let (after, inner, values) = make(&results);
        let next = body(&inner, &values);
        inner.op("scf.yield", &next, &[], &[]);
        let op = self.op_with_regions("scf.while", initial, &results, &[], vec![before, after]);
        op.results().map(Into::into).collect()
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
