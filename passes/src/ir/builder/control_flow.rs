//! Loops and branches: `scf` ops, and closures that make what they hold.

use super::{Builder, argument};
use melior::ir::operation::OperationLike;
use melior::ir::{Block, BlockRef, OperationRef, Region, RegionLike, Type, Value, ValueLike};

impl<'c> Builder<'c> {
    /// Inserts at the end of a block that an operation made here will hold.
    fn inside(&self, block: BlockRef<'c, '_>) -> Self {
        Self { is_device: self.is_device, ..Self::at_end(self.context, block, self.location) }
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
}
