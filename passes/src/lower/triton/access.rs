//! Data of another rank, as loads and stores through a translated pointer (T1, T2).

use super::Lowering;
use super::far::{self, Peer};
use super::whole::{self, Copying};
use crate::ir::triton::words::{self, Access};
use crate::ir::{Builder, lasting};
use melior::ir::{TypeLike, Value, ValueLike};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::lossy;
use symm_dialect::ops::{Cache, End, Engine, RemoteLoad, RemoteStore, SymmOp};
use symm_dialect::pointer::Pointer;
use symm_dialect::shape::{Shaped, byte_width};

/// What a load may ask of the caches.
const LOAD_CACHES: &[Cache] = &[Cache::Ca, Cache::Cg, Cache::Cv];

/// What a store may ask of them.
const STORE_CACHES: &[Cache] = &[Cache::Wb, Cache::Cg, Cache::Cs, Cache::Wt];

impl<'c: 'a, 'a> Lowering<'c, 'a> {
    /// A pointer or tensor of pointers as one into the heap of the rank that `op` names.
    pub fn remote(
        &mut self,
        b: &Builder<'c>,
        op: SymmOp<'c, 'a>,
        pointer: Value<'c, 'a>,
        names: (&str, &str),
    ) -> Result<Value<'c, 'c>, Reported> {
        let ty = pointer.r#type();
        let size = match Pointer::of(ty) {
            Some(pointer @ (Pointer::Triton(_) | Pointer::TritonTensor(..))) => pointer.pointee().map(byte_width),
            _ => None,
        };
        let Some(size) = size else {
            let complaint = lossy!("S1: takes a !tt.ptr to integers or floats, or a tensor of them, got {ty}");
            return Err(error(op.operation(), &complaint));
        };
        let rank = op.operand_group(names.0)[0];
        if Shaped::tensor(rank.r#type()).is_some() {
            let elements = self.tables.of(op)?.elements_each(b, rank, size);
            return Ok(b.value("tt.addptr", &[lasting(pointer), elements], ty, &[]));
        }
        let elements = self.tables.elements(b, op, names, size)?;
        Ok(elements.map_or_else(|| lasting(pointer), |elements| words::offset(b, pointer, elements)))
    }

    pub fn remote_load(&mut self, b: &Builder<'c>, op: RemoteLoad<'c, 'a>) -> Result<Value<'c, 'c>, Reported> {
        let operation = SymmOp::RemoteLoad(op);
        refuse_vector(operation, op.result())?;
        refuse_cache(operation, op.cache(), LOAD_CACHES)?;
        let pointer = self.remote(b, operation, op.ptr(), ("rank", "delta"))?;
        let peer = self.peer(b, operation, ("rank", "delta"), op.mask())?;
        let access = Access { cache: op.cache(), eviction: op.eviction(), is_volatile: op.volatile_() };
        let (mask, ty) = ((op.mask(), op.other()), op.result().r#type());
        let near = |b: &Builder<'c>| self.words.load(b, pointer, mask, ty, access);
        Ok(match peer {
            None => near(b),
            Some(peer) => b.choose(peer.near, ty, near, |b| far::load(b, op.ptr(), ty, peer.pe, mask)),
        })
    }

    pub fn remote_store(&mut self, b: &Builder<'c>, op: RemoteStore<'c, 'a>) -> Result<(), Reported> {
        let operation = SymmOp::RemoteStore(op);
        refuse_vector(operation, op.value())?;
        refuse_cache(operation, op.cache(), STORE_CACHES)?;
        if op.volatile_() {
            return Err(error(op.operation(), "S1: Triton has no volatile stores"));
        }
        let peer = self.peer(b, operation, ("rank", "delta"), op.mask())?;
        let pointer = self.remote(b, operation, op.ptr(), ("rank", "delta"))?;
        let near = |b: &Builder<'c>| self.words.store(b, op.value(), pointer, op.mask(), op.cache());
        match peer {
            None => near(b),
            Some(peer) => b.either(peer.near, near, |b| far::store(b, op.ptr(), op.value(), peer.pe, op.mask())),
        }
        Ok(())
    }

    /// A `get`, `put` or `copy`, with the barriers that the threads of the program need (O3).
    pub fn copy_together(&mut self, b: &Builder<'c>, op: SymmOp<'c, 'a>) -> Result<(), Reported> {
        self.copy(b, op)?;
        self.after_copy(b, op);
        if self.barriers.after(op.operation()) {
            self.words.barrier(b);
        }
        Ok(())
    }

    /// A copy, element by element: `get`, `put`, `copy` and the first half of `put_signal`.
    pub fn copy(&mut self, b: &Builder<'c>, op: SymmOp<'c, 'a>) -> Result<(), Reported> {
        let (source, target) = op.ends().expect("a bulk copy");
        let cache = op.cache();
        refuse_copy(op)?;
        let mask = op.operand_group("mask").first().copied();
        let mut end = |end: End<'c, 'a>| match end.way {
            Some(names) => Ok((self.remote(b, op, end.pointer, names)?, self.peer(b, op, names, mask)?)),
            None => Ok((lasting(end.pointer), None)),
        };
        let here = (lasting(source.pointer), lasting(target.pointer));
        let ((source, source_peer), (target, target_peer)) = (end(source)?, end(target)?);
        let ty = source.r#type();
        let element = Pointer::of(ty).and_then(Pointer::pointee).expect("verified: pointers to data");
        let data = match Pointer::of(ty) {
            Some(Pointer::TritonTensor(tensor, _)) => tensor.tensor_of(element),
            _ => element,
        };
        if self.barriers.before(op.operation()) {
            self.words.barrier(b);
        }
        let near_load =
            |b: &Builder<'c>| self.words.load(b, source, (mask, None), data, Access { cache, ..Access::default() });
        let near = |b: &Builder<'c>| {
            let value = near_load(b);
            self.words.store(b, value, target, mask, None);
        };
        let copying = |is_put, peer: Peer<'c>| {
            let (size, mask) = (byte_width(element), mask.map(lasting));
            Copying { from: here.0, to: here.1, is_put, size, mask, pe: peer.pe }
        };
        let far_load = |b: &Builder<'c>, peer: Peer<'c>| far::load(b, here.0, data, peer.pe, (mask, None));
        match (source_peer, target_peer) {
            (None, None) => near(b),
            (None, Some(peer)) => b.either(peer.near, near, |b| {
                whole::copy(b, copying(true, peer), |b| {
                    let value = near_load(b);
                    far::store(b, here.1, value, peer.pe, mask);
                });
            }),
            (Some(peer), None) => b.either(peer.near, near, |b| {
                whole::copy(b, copying(false, peer), |b| {
                    let value = far_load(b, peer);
                    self.words.store(b, value, target, mask, None);
                });
            }),
            (Some(from), Some(to)) => {
                let both = b.binary("arith.andi", from.near, to.near);
                b.either(both, near, |b| {
                    let value = b.choose(from.near, data, near_load, |b| far_load(b, from));
                    let store = |b: &Builder<'c>| self.words.store(b, value, target, mask, None);
                    b.either(to.near, store, |b| far::store(b, here.1, value, to.pe, mask));
                });
            }
        }
        Ok(())
    }
}

/// Refuses what only programs in MLIR have of copies.
fn refuse_copy(op: SymmOp) -> Result<(), Reported> {
    refuse_cache(op, op.cache(), LOAD_CACHES)?;
    if op.engine() == Some(Engine::Bulk) {
        return Err(error(op.operation(), "S1: the bulk copy engine is not available from Triton"));
    }
    if !op.operand_group("count").is_empty() {
        return Err(error(op.operation(), "S1: takes no count here: use blocks of pointers, and a mask"));
    }
    Ok(())
}

fn refuse_vector<'c: 'a, 'a>(op: SymmOp<'c, 'a>, value: Value<'c, 'a>) -> Result<(), Reported> {
    let ty = value.r#type();
    if ty.is_vector() {
        return Err(error(op.operation(), &lossy!("S1: Triton has tensors for vectors, got {ty}")));
    }
    Ok(())
}

fn refuse_cache(op: SymmOp, cache: Option<Cache>, known: &[Cache]) -> Result<(), Reported> {
    match cache.filter(|cache| !known.contains(cache)) {
        None => Ok(()),
        Some(cache) => {
            let known: Vec<_> = known.iter().map(|cache| cache.keyword()).collect();
            let complaint =
                format!("S1: Triton's cache modifiers here are {}, got {}", known.join(", "), cache.keyword());
            Err(error(op.operation(), &complaint))
        }
    }
}
