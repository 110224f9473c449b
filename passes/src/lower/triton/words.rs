//! Triton's ops as each of its versions writes them.

use super::Version;
use crate::ir::{Builder, lasting};
use melior::ir::{Attribute, Type, Value, ValueLike};
use symm_dialect::SEGMENTS;
use symm_dialect::ops::Cache;
use symm_dialect::shape::Shaped;

/// From this version on an access has one attribute for the cache.
const CACHE_POLICY: Version = Version { major: 3, minor: 9 };

/// How an access is made.
#[derive(Clone, Copy, Default)]
pub struct Access {
    pub cache: Option<Cache>,
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
        attributes.extend(access.cache.map(|cache| self.cache(b, cache)));
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
        let attributes: Vec<_> = cache.map(|cache| self.cache(b, cache)).into_iter().collect();
        let operands: Vec<Value> =
            [Some(lasting(pointer)), Some(lasting(value)), mask.map(lasting)].into_iter().flatten().collect();
        b.op("tt.store", &operands, &[], &attributes);
    }

    fn cache<'c>(self, b: &Builder<'c>, cache: Cache) -> (&'static str, Attribute<'c>) {
        if self.0 >= CACHE_POLICY {
            let keyword = cache.keyword();
            let policy = format!("#tt.cache_policy<cache_modifier = {keyword}, eviction_policy = evict_normal>");
            return ("cachePolicy", b.parse(&policy));
        }
        let number = match cache {
            Cache::Ca => 2,
            Cache::Cg => 3,
            Cache::Wb => 4,
            Cache::Cs => 5,
            Cache::Wt => 6,
            Cache::Cv => 7,
        };
        ("cache", b.integer(32, number))
    }
}

/// A load of one word that never changes.
pub fn load_scalar<'c>(b: &Builder<'c>, pointer: Value<'c, '_>, ty: Type<'c>) -> Value<'c, 'c> {
    b.value("tt.load", &[pointer], ty, &[(SEGMENTS, b.parse("array<i32: 1, 0, 0>"))])
}

/// A pointer or tensor of pointers, moved by a number of elements, `i64`.
pub fn offset<'c>(b: &Builder<'c>, pointer: Value<'c, '_>, elements: Value<'c, 'c>) -> Value<'c, 'c> {
    let ty = pointer.r#type();
    b.value("tt.addptr", &[lasting(pointer), splat_like(b, elements, ty)], ty, &[])
}

/// A scalar for each element of a tensor type, or as it is for a type without elements.
pub fn splat_like<'c>(b: &Builder<'c>, value: Value<'c, 'c>, like: Type<'c>) -> Value<'c, 'c> {
    match Shaped::tensor(like) {
        Some(tensor) => b.value("tt.splat", &[value], tensor.tensor_of(value.r#type()), &[]),
        None => value,
    }
}
