//! Triton's ops as each of its versions writes them.

use super::Version;
use crate::ir::{Builder, argument, definition, lasting, mutable, name};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::{Attribute, Block, OperationRef, Region, RegionLike, Type, TypeLike, Value, ValueLike};
use symm_dialect::ops::{Cache, Eviction, Order, RmwKind, Scope};
use symm_dialect::shape::Shaped;
use symm_dialect::{SEGMENTS, lossy};

/// The memory that a `ttg.barrier` orders: all kinds of it.
pub const ALL_MEMORY: i64 = 31;

/// From this version on Triton has an op for a barrier.
const OWN_BARRIER: Version = Version { major: 3, minor: 7 };

/// From this version on an access has one attribute for the cache.
const CACHE_POLICY: Version = Version { major: 3, minor: 9 };

/// How an access is made.
#[derive(Clone, Copy, Default)]
pub struct Access {
    pub cache: Option<Cache>,
    pub eviction: Option<Eviction>,
    pub is_volatile: bool,
}

/// The words of one version.
#[derive(Clone, Copy)]
pub struct Words(pub Version);

impl Words {
    /// A load; `other` is there only with a mask.
    pub fn load<'c>(
        self,
        b: &Builder<'c>,
        pointer: Value<'c, '_>,
        (mask, other): (Option<Value<'c, '_>>, Option<Value<'c, '_>>),
        ty: Type<'c>,
        access: Access,
    ) -> Value<'c, 'c> {
        let segments = format!("array<i32: 1, {}, {}>", i32::from(mask.is_some()), i32::from(other.is_some()));
        let mut attributes = vec![(SEGMENTS, b.parse(&segments))];
        attributes.extend(self.caching(b, access.cache, access.eviction));
        if access.is_volatile {
            attributes.push(("isVolatile", b.parse("true")));
        }
        let operands: Vec<Value> =
            [Some(lasting(pointer)), mask.map(lasting), other.map(lasting)].into_iter().flatten().collect();
        b.value("tt.load", &operands, ty, &attributes)
    }

    /// A store.
    pub fn store<'c>(
        self,
        b: &Builder<'c>,
        value: Value<'c, '_>,
        pointer: Value<'c, '_>,
        mask: Option<Value<'c, '_>>,
        cache: Option<Cache>,
    ) {
        let attributes = self.caching(b, cache, None);
        let operands: Vec<Value> =
            [Some(lasting(pointer)), Some(lasting(value)), mask.map(lasting)].into_iter().flatten().collect();
        b.op("tt.store", &operands, &[], &attributes);
    }

    /// The attributes for the caches.
    fn caching<'c>(
        self,
        b: &Builder<'c>,
        cache: Option<Cache>,
        eviction: Option<Eviction>,
    ) -> Vec<(&'static str, Attribute<'c>)> {
        if cache.is_none() && eviction.is_none() {
            return Vec::new();
        }
        if self.0 >= CACHE_POLICY {
            let cache = cache.map_or("none", Cache::keyword);
            let eviction = eviction.map_or("evict_normal", Eviction::keyword);
            let policy = format!("#tt.cache_policy<cache_modifier = {cache}, eviction_policy = {eviction}>");
            return vec![("cachePolicy", b.parse(&policy))];
        }
        let number = |cache| match cache {
            Cache::Ca => 2,
            Cache::Cg => 3,
            Cache::Wb => 4,
            Cache::Cs => 5,
            Cache::Wt => 6,
            Cache::Cv => 7,
        };
        let policy = |eviction| match eviction {
            Eviction::First => 2,
            Eviction::Last => 3,
        };
        let cache = cache.map(|cache| ("cache", b.integer(32, number(cache))));
        cache.into_iter().chain(eviction.map(|eviction| ("evict", b.integer(32, policy(eviction))))).collect()
    }

    /// A barrier of the program's threads.
    pub fn barrier(self, b: &Builder<'_>) {
        if self.0 >= OWN_BARRIER {
            b.op("ttg.barrier", &[], &[], &[("addrSpace", b.integer(32, ALL_MEMORY))]);
        } else {
            b.op("gpu.barrier", &[], &[], &[]);
        }
    }
}

/// A load of words that never change.
pub fn load_words<'c>(b: &Builder<'c>, pointer: Value<'c, '_>, ty: Type<'c>) -> Value<'c, 'c> {
    b.value("tt.load", &[pointer], ty, &[(SEGMENTS, b.parse("array<i32: 1, 0, 0>"))])
}

/// A pointer or tensor of pointers, moved by a number of elements, `i64`.
///
/// `as_remote(p + i, r)` is `as_remote(p, r) + i` (T2): where all pointers of a tensor start from one, that one is
/// moved, which is one addition instead of one for each vector that a thread accesses.
pub fn offset<'c>(b: &Builder<'c>, pointer: Value<'c, '_>, elements: Value<'c, 'c>) -> Value<'c, 'c> {
    let ty = pointer.r#type();
    offset_start(b, pointer, elements, MOST_STEPS)
        .unwrap_or_else(|| b.value("tt.addptr", &[lasting(pointer), splat_like(b, elements, ty)], ty, &[]))
}

/// How many ops between a tensor of pointers and the pointer that it starts from are looked through.
const MOST_STEPS: usize = 16;

/// A tensor of pointers made again from the pointer that it starts from, moved; `None` if there is no such pointer.
fn offset_start<'c>(
    b: &Builder<'c>,
    pointer: Value<'c, '_>,
    elements: Value<'c, 'c>,
    steps: usize,
) -> Option<Value<'c, 'c>> {
    let op = definition(pointer).filter(|_| steps > 0 && Shaped::tensor(pointer.r#type()).is_some())?;
    let from = op.operands().next()?;
    let moved = match name(op) {
        "tt.splat" => offset(b, from, elements),
        "tt.addptr" | "tt.broadcast" | "tt.expand_dims" | "ttg.convert_layout" => {
            offset_start(b, from, elements, steps - 1)?
        }
        _ => return None,
    };
    let copy = b.copy(op);
    mutable(copy).set_operand(0, moved);
    copy.results().next().map(|result| lasting(result.into()))
}

/// A scalar for each element of a tensor type, or as it is for a type without elements. What has an element for each
/// already stays as it is.
pub fn splat_like<'c>(b: &Builder<'c>, value: Value<'c, 'c>, like: Type<'c>) -> Value<'c, 'c> {
    if Shaped::tensor(value.r#type()).is_some() {
        return value;
    }
    let ty = element_wise(like, value.r#type());
    if ty == value.r#type() { value } else { b.value("tt.splat", &[value], ty, &[]) }
}

/// The type of what holds an element for each element of `like`, or one.
pub fn element_wise<'c>(like: Type<'c>, element: Type<'c>) -> Type<'c> {
    Shaped::tensor(like).map_or(element, |tensor| tensor.tensor_of(element))
}

/// A constant of an integer type, or of a tensor of them.
pub fn constant_like<'c>(b: &Builder<'c>, value: i64, ty: Type<'c>) -> Value<'c, 'c> {
    match Shaped::tensor(ty) {
        Some(_) => {
            let value = b.parse(&lossy!("dense<{value}> : {ty}"));
            b.value("arith.constant", &[], ty, &[("value", value)])
        }
        None => b.constant(ty, value),
    }
}

/// The least of a tensor of unsigned numbers, `i64`.
pub fn lowest<'c>(b: &Builder<'c>, values: Value<'c, 'c>) -> Value<'c, 'c> {
    reduced(b, values, "arith.minui")
}

/// What an op makes of all elements of a tensor, `i64`.
pub fn reduced<'c>(b: &Builder<'c>, values: Value<'c, 'c>, combine: &str) -> Value<'c, 'c> {
    let Some(tensor) = Shaped::tensor(values.r#type()) else { return values };
    let word = b.int(64);
    let region = Region::new();
    let block = region.append_block(Block::new(&[(word, b.location()), (word, b.location())]));
    let inner = Builder::at_end(b.context, block, b.location());
    let both = inner.binary(combine, argument(block, 0), argument(block, 1));
    inner.op("tt.reduce.return", &[both], &[], &[]);
    let ty = without_first(tensor, word);
    let op = b.op_with_regions("tt.reduce", &[values], &[ty], &[("axis", b.integer(32, 0))], vec![region]);
    reduced(b, op.result(0).expect("one was asked for").into(), combine)
}

/// The type of a tensor reduced along its first dimension. The layout is a slice of the tensor's, unless it is yet to
/// be found out.
fn without_first<'c>(tensor: Shaped<'c>, element: Type<'c>) -> Type<'c> {
    let rest = &tensor.dimensions()[1..];
    if rest.is_empty() {
        return element;
    }
    let sizes = rest.iter().fold(String::new(), |text, size| text + &size.unwrap_or(1).to_string() + "x");
    let layout = match tensor.encoding().map(|layout| lossy!("{layout}")) {
        None => String::new(),
        Some(layout) if layout.contains("auto_encoding") => format!(", {layout}"),
        Some(layout) => format!(", #ttg.slice<{{dim = 0, parent = {layout}}}>"),
    };
    let text = lossy!("tensor<{sizes}{element}{layout}>");
    Type::parse(symm_dialect::context(element.context()), &text).expect("a tensor type as Triton writes it")
}

/// The attribute of an atomic read-modify-write that says what it does.
const UPDATE: &str = "atomic_rmw_op";

/// Triton's updates, by their numbers from 1 on. There is no subtraction.
const UPDATES: [RmwKind; 10] = [
    RmwKind::And,
    RmwKind::Or,
    RmwKind::Xor,
    RmwKind::Add,
    RmwKind::FAdd,
    RmwKind::Max,
    RmwKind::Min,
    RmwKind::UMax,
    RmwKind::UMin,
    RmwKind::Xchg,
];

/// What Triton's atomic read-modify-write does.
pub fn update<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<RmwKind> {
    let number = IntegerAttribute::try_from(op.attribute(UPDATE).ok()?).ok()?.value();
    UPDATES.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
}

/// An atomic read-modify-write; returns the old value.
pub fn atomic_rmw<'c>(
    b: &Builder<'c>,
    kind: RmwKind,
    pointer: Value<'c, '_>,
    value: Value<'c, '_>,
    mask: Option<Value<'c, '_>>,
    (order, scope): (Order, Scope),
) -> Value<'c, 'c> {
    let number = UPDATES.iter().zip(1..).find_map(|(update, number)| (*update == kind).then_some(number));
    let number = number.expect("a subtraction adds the negative");
    let operands: Vec<Value> =
        [Some(lasting(pointer)), Some(lasting(value)), mask.map(lasting)].into_iter().flatten().collect();
    let [sem, scope] = semantics(b, order, scope);
    b.value("tt.atomic_rmw", &operands, value.r#type(), &[(UPDATE, b.integer(32, number)), sem, scope])
}

/// A compare-and-swap; the old value.
pub fn atomic_cas<'c>(
    b: &Builder<'c>,
    pointer: Value<'c, '_>,
    expected: Value<'c, '_>,
    desired: Value<'c, '_>,
    (order, scope): (Order, Scope),
) -> Value<'c, 'c> {
    let operands = [lasting(pointer), lasting(expected), lasting(desired)];
    b.value("tt.atomic_cas", &operands, expected.r#type(), &semantics(b, order, scope))
}

fn semantics<'c>(b: &Builder<'c>, order: Order, scope: Scope) -> [(&'static str, Attribute<'c>); 2] {
    let order = match order {
        Order::Relaxed => 1,
        Order::Acquire => 2,
        Order::Release => 3,
        Order::AcqRel => 4,
    };
    // There is none for a cluster: the next wider one is as right.
    let scope = match scope {
        Scope::Cluster | Scope::Gpu => 1,
        Scope::Cta => 2,
        Scope::Sys => 3,
    };
    [("sem", b.integer(32, order)), ("scope", b.integer(32, scope))]
}

/// Assembly that every thread runs, and that is neither moved, merged nor removed; `i32`, or nothing of interest.
pub fn assembly<'c>(
    b: &Builder<'c>,
    text: &str,
    constraints: &str,
    operands: &[Value<'c, '_>],
    ty: Type<'c>,
) -> Value<'c, 'c> {
    let attributes = [
        ("asm_string", b.string(text)),
        ("constraints", b.string(constraints)),
        ("packed_element", b.integer(32, 1)),
        ("pure", b.parse("false")),
    ];
    b.value("tt.elementwise_inline_asm", operands, ty, &attributes)
}
