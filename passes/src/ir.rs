//! Building and walking IR: the small layer over melior that the passes share.

use melior::ir::attribute::{
    DenseI32ArrayAttribute, FlatSymbolRefAttribute, IntegerAttribute, StringAttribute, TypeAttribute,
};
use melior::ir::operation::{OperationBuilder, OperationLike, OperationResult, WalkOrder, WalkResult};
use melior::ir::r#type::IntegerType;
use melior::ir::{
    Attribute, Block, BlockLike, BlockRef, Identifier, Location, OperationRef, Region, RegionLike, Type, Value,
    ValueLike,
};
use melior::{Context, IrRewriter};
use mlir_sys::MlirDialectHandle;
use symm_dialect::ops::SymmOp;
use symm_dialect::text::text;

/// The dialects that lowerings create ops of.
pub fn dialects() -> [MlirDialectHandle; 10] {
    use symm_dialect::handle;
    // SAFETY: each of these returns a handle to static data.
    unsafe {
        [
            mlir_sys::mlirGetDialectHandle__arith__(),
            mlir_sys::mlirGetDialectHandle__cf__(),
            mlir_sys::mlirGetDialectHandle__func__(),
            mlir_sys::mlirGetDialectHandle__gpu__(),
            mlir_sys::mlirGetDialectHandle__llvm__(),
            mlir_sys::mlirGetDialectHandle__memref__(),
            mlir_sys::mlirGetDialectHandle__nvvm__(),
            mlir_sys::mlirGetDialectHandle__rocdl__(),
            mlir_sys::mlirGetDialectHandle__scf__(),
            handle().to_raw(),
        ]
    }
}

/// The context of an operation, for as long as the operation may live.
pub fn context<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> &'c Context {
    symm_dialect::context(op.context())
}

/// The text of an operation's name.
pub fn name<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> &'a str {
    let name: Identifier<'c> = op.name();
    let text = name.as_string_ref().as_str().unwrap_or_default();
    // SAFETY: the context keeps the names of its operations as long as it lives.
    unsafe { std::mem::transmute::<&str, &'a str>(text) }
}

/// What `select` makes of the operations below `root` and of `root` itself, outer ones first. It sees each while the
/// walk is there: in a large module, looking at it later means to fetch it from memory once more.
pub fn select<'c: 'a, 'a, T>(
    root: OperationRef<'c, 'a>,
    mut select: impl FnMut(OperationRef<'c, 'a>) -> Option<T>,
) -> Vec<T> {
    let mut selected = Vec::new();
    root.walk(WalkOrder::PreOrder, |op| {
        // SAFETY: the operation lives as long as `root`, which holds it.
        selected.extend(select(unsafe { OperationRef::from_raw(op.to_raw()) }));
        WalkResult::Advance
    });
    selected
}

/// Every operation below `root` and `root` itself, outer ones first.
pub fn collect<'c: 'a, 'a>(root: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    select(root, Some)
}

/// Every symm op below `root`, outer ones first.
pub fn symm_ops<'c: 'a, 'a>(root: OperationRef<'c, 'a>) -> Vec<SymmOp<'c, 'a>> {
    select(root, SymmOp::cast)
}

/// The blocks of an operation's regions.
pub fn blocks<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<BlockRef<'c, 'a>> {
    let mut blocks = Vec::new();
    for region in OperationLike::regions(&op) {
        let mut next = region.first_block();
        while let Some(block) = next {
            blocks.push(block);
            next = block.next_in_region();
        }
    }
    blocks
}

/// The operations of a block, in order.
pub fn operations<'c: 'a, 'a>(block: BlockRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut operations = Vec::new();
    let mut next = block.first_operation();
    while let Some(op) = next {
        operations.push(op);
        next = op.next_in_block();
    }
    operations
}

/// The operation that defines a value, unless it is a block argument.
pub fn definition<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    // melior's error for an argument prints it, which takes far longer than all else here.
    value.is_operation_result().then(|| OperationResult::try_from(value).ok())?.map(|result| result.owner())
}

/// The value of an integer constant.
pub fn constant_value(value: Value) -> Option<i64> {
    let op = definition(value)?;
    if !matches!(name(op), "arith.constant" | "llvm.mlir.constant") {
        return None;
    }
    Some(IntegerAttribute::try_from(op.attribute("value").ok()?).ok()?.value())
}

/// The closest enclosing operation with one of these names.
pub fn enclosing<'c: 'a, 'a>(op: OperationRef<'c, 'a>, names: &[&str]) -> Option<OperationRef<'c, 'a>> {
    let mut parent = op.parent_operation();
    while let Some(op) = parent {
        if names.contains(&name(op)) {
            return Some(op);
        }
        parent = op.parent_operation();
    }
    None
}

/// `file:line:col` of a location, or `unknown`: the first one found in a fused, named or call-site location.
pub fn location_text(location: Location) -> String {
    if location.is_file_line_col_range() {
        let file = location.file_line_col_range_filename();
        // SAFETY: the context keeps the name.
        let file = unsafe { text(file.as_string_ref().to_raw()) };
        let (line, column) = (location.file_line_col_range_start_line(), location.file_line_col_range_start_column());
        return format!("{file}:{line}:{column}");
    }
    if location.is_name() {
        return location_text(location.name_child_location());
    }
    if location.is_call_site() {
        return location_text(location.call_site_callee());
    }
    if location.is_fused() {
        let parts = (0..location.fused_num_locations()).map(|index| location_text(location.fused_location(index)));
        return parts.into_iter().find(|text| text != "unknown").unwrap_or_else(|| "unknown".into());
    }
    "unknown".into()
}

/// Makes operations at one place, with one location.
pub struct Builder<'c> {
    /// The context.
    pub context: &'c Context,
    rewriter: IrRewriter<'c>,
    location: Location<'c>,
}

impl<'c> Builder<'c> {
    /// Inserts in front of `op`, with its location.
    pub fn before<'a>(op: OperationRef<'c, 'a>) -> Self
    where
        'c: 'a,
    {
        Self { context: context(op), rewriter: IrRewriter::from_op(op), location: op.location() }
    }

    /// Inserts behind the definition of `value`, with its location.
    pub fn after_value(context: &'c Context, value: Value<'c, '_>) -> Self {
        let rewriter = IrRewriter::new(context);
        rewriter.as_rewriter_base().set_insertion_point_after_value(value);
        // SAFETY: the location belongs to the context that outlives it.
        let location = unsafe { Location::from_raw(value.location().to_raw()) };
        Self { context, rewriter, location }
    }

    /// Inserts behind the definition of `value`, with another location.
    pub fn behind(context: &'c Context, value: Value<'c, '_>, location: Location<'c>) -> Self {
        Self { location, ..Self::after_value(context, value) }
    }

    /// Inserts in front of `op`, with another location.
    pub fn at<'a>(context: &'c Context, op: OperationRef<'c, 'a>, location: Location<'c>) -> Self
    where
        'c: 'a,
    {
        Self { context, rewriter: IrRewriter::from_op(op), location }
    }

    /// Inserts at the start of `block`.
    pub fn at_start(context: &'c Context, block: BlockRef<'c, '_>, location: Location<'c>) -> Self {
        let rewriter = IrRewriter::new(context);
        rewriter.as_rewriter_base().set_insertion_point_to_start(block);
        Self { context, rewriter, location }
    }

    /// Inserts at the end of `block`.
    pub fn at_end(context: &'c Context, block: BlockRef<'c, '_>, location: Location<'c>) -> Self {
        let rewriter = IrRewriter::new(context);
        rewriter.as_rewriter_base().set_insertion_point_to_end(block);
        Self { context, rewriter, location }
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
        let base = self.rewriter.as_rewriter_base();
        // SAFETY: the operation now belongs to the module, which lives as long as 'c allows.
        unsafe { OperationRef::from_raw(base.insert(op).to_raw()) }
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
        melior::dialect::llvm::r#type::pointer(self.context, 0)
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

    /// A type attribute.
    #[expect(clippy::unused_self, reason = "all attributes are made in one way")]
    pub fn type_attribute(&self, ty: Type<'c>) -> Attribute<'c> {
        TypeAttribute::new(ty).into()
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

    /// An integer or index value as `i64`, sign-extended.
    pub fn as_i64(&self, value: Value<'c, '_>) -> Value<'c, 'c> {
        let ty = value.r#type();
        if ty == self.int(64) {
            // SAFETY: the same value, for as long as the module lives.
            return unsafe { Value::from_raw(value.to_raw()) };
        }
        let name = if ty == self.index() { "arith.index_cast" } else { "arith.extsi" };
        self.value(name, &[value], self.int(64), &[])
    }

    /// `pointer + bytes`.
    pub fn byte_offset(&self, pointer: Value<'c, '_>, bytes: Value<'c, '_>) -> Value<'c, 'c> {
        // One index, which is no constant.
        let constant = DenseI32ArrayAttribute::new(self.context, &[i32::MIN]).into();
        let element = self.type_attribute(self.int(8));
        self.value(
            "llvm.getelementptr",
            &[pointer, bytes],
            pointer.r#type(),
            &[("rawConstantIndices", constant), ("elem_type", element)],
        )
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
            // SAFETY: the same value, for as long as the module lives.
            return unsafe { Value::from_raw(value.to_raw()) };
        }
        self.value("builtin.unrealized_conversion_cast", &[value], ty, &[])
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
        let inner = Self::at_end(self.context, block, self.location);
        // SAFETY: the block lives in the loop that is inserted below.
        let induction = unsafe { Value::from_raw(block.argument(0).expect("one argument was made").to_raw()) };
        body(&inner, induction);
        inner.op("scf.yield", &[], &[], &[]);
        self.op_with_regions("scf.for", &[lower, upper, step], &[], &[], vec![region]);
    }

    /// `scf.if`; each arm yields its values.
    pub fn branch(
        &self,
        condition: Value<'c, '_>,
        results: &[Type<'c>],
        then: impl FnOnce(&Self) -> Vec<Value<'c, 'c>>,
        otherwise: impl FnOnce(&Self) -> Vec<Value<'c, 'c>>,
    ) -> OperationRef<'c, 'c> {
        let first = self.arm(then);
        let second = if results.is_empty() { Region::new() } else { self.arm(otherwise) };
        self.op_with_regions("scf.if", &[condition], results, &[], vec![first, second])
    }

    /// A region of one block that yields what `body` makes.
    fn arm(&self, body: impl FnOnce(&Self) -> Vec<Value<'c, 'c>>) -> Region<'c> {
        let region = Region::new();
        let block = region.append_block(Block::new(&[]));
        let inner = Self::at_end(self.context, block, self.location);
        let values = body(&inner);
        inner.op("scf.yield", &values, &[], &[]);
        region
    }

    /// `scf.if` without results.
    pub fn when(&self, condition: Value<'c, '_>, then: impl FnOnce(&Self)) {
        let body = |inner: &Self| {
            then(inner);
            Vec::new()
        };
        self.branch(condition, &[], body, |_| Vec::new());
    }

    /// `scf.if` with two arms and without results.
    pub fn either(&self, condition: Value<'c, '_>, then: impl FnOnce(&Self), otherwise: impl FnOnce(&Self)) {
        let first = self.arm(|inner| {
            then(inner);
            Vec::new()
        });
        let second = self.arm(|inner| {
            otherwise(inner);
            Vec::new()
        });
        self.op_with_regions("scf.if", &[condition], &[], &[], vec![first, second]);
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
            let values: Vec<Value<'c, 'c>> = (0..types.len())
                // SAFETY: the block lives in the loop that is inserted below.
                .map(|index| unsafe { Value::from_raw(block.argument(index).expect("made above").to_raw()) })
                .collect();
            let inner = Self::at_end(self.context, block, self.location);
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
