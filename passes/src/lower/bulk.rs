//! Copies of whole memrefs and of counted elements, by one thread: `memcpy` where memory is contiguous, rows of it
//! where the innermost dimension is, elements otherwise.

use super::translation::delta_of;
use crate::ir::Builder;
use crate::ir::address::{Descriptor, bytes, element, first, generic, is_contiguous, memory_type, remote_element};
use melior::ir::r#type::ShapedTypeLike;
use melior::ir::{Type, Value, ValueLike};
use symm_dialect::ops::{self, Engine, Group, SymmOp};
use symm_dialect::pointer::strides;
use symm_dialect::shape::{Shaped, byte_width};

/// One end of a copy: a local pointer and what to add to reach the rank it is on.
#[derive(Clone, Copy)]
pub struct End<'c, 'a> {
    /// An LLVM pointer or a memref.
    pub pointer: Value<'c, 'a>,
    /// The distance in bytes (T1), if it is on another rank.
    pub delta: Option<Value<'c, 'c>>,
}

impl<'c> End<'c, '_> {
    /// The LLVM pointer to an element at this end.
    pub fn at(&self, b: &Builder<'c>, indices: &[Value<'c, '_>]) -> Value<'c, 'c> {
        match self.delta {
            None => element(b, self.pointer, indices),
            Some(delta) => generic(b, remote_element(b, self.pointer, indices, delta)),
        }
    }

    /// The LLVM pointer to the first element.
    pub fn start(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        self.at(b, &first(b, self.pointer))
    }
}

/// What a bulk copy is asked to do.
pub struct Transfer<'c, 'a> {
    /// Where it reads.
    pub src: End<'c, 'a>,
    /// Where it writes.
    pub dst: End<'c, 'a>,
    /// The number of elements and their type; none for a whole memref.
    pub count: Option<(Value<'c, 'a>, Type<'c>)>,
    /// The threads that share it.
    pub group: Group,
    /// What moves the bytes.
    pub engine: Engine,
}

impl<'c: 'a, 'a> Transfer<'c, 'a> {
    /// What `op` asks for, which is a `get`, `put`, `copy` or `put_signal`.
    pub fn new(op: SymmOp<'c, 'a>, b: &Builder<'c>) -> Self {
        let end = |end: ops::End<'c, 'a>| End {
            pointer: end.pointer,
            delta: end.way.map(|(rank, delta)| delta_of(op, b, rank, delta)),
        };
        let (src, dst) = op.ends().expect("a bulk copy");
        Self {
            src: end(src),
            dst: end(dst),
            count: op.count().zip(op.element()),
            group: op.group().expect("a bulk copy has a group"),
            engine: op.engine().expect("a bulk copy has an engine"),
        }
    }
}

/// Copies from `src` to `dst`.
pub fn copy<'c>(b: &Builder<'c>, src: End<'c, '_>, dst: End<'c, '_>, count: Option<(Value<'c, '_>, Type<'c>)>) {
    copy_by(b, (src, dst), count, &move_run);
}

/// Copies from one end to the other by `copy(to, from, run)` for what is contiguous at both.
pub fn copy_by<'c>(
    b: &Builder<'c>,
    (src, dst): (End<'c, '_>, End<'c, '_>),
    count: Option<(Value<'c, '_>, Type<'c>)>,
    copy: &dyn Fn(&Builder<'c>, Value<'c, 'c>, Value<'c, 'c>, Run<'c>),
) {
    let (from, to) = (src.pointer.r#type(), dst.pointer.r#type());
    if count.is_some() || (is_contiguous(from) && is_contiguous(to)) {
        let (to, from) = (dst.start(b), src.start(b));
        copy(b, to, from, Run::Bytes(bytes(b, src.pointer, count)));
        return;
    }
    rows_or_elements(b, src, dst, copy);
}

/// Copies a part by what LLVM has for it.
pub fn move_run<'c>(b: &Builder<'c>, to: Value<'c, 'c>, from: Value<'c, 'c>, run: Run<'c>) {
    match run {
        Run::Bytes(bytes) => memcpy(b, to, from, bytes),
        Run::Element(ty) => b.store(b.load(from, ty, &[]), to, &[]),
    }
}

/// A part of a copy: what lies one after the other at both ends.
#[derive(Clone, Copy)]
pub enum Run<'c> {
    /// A row of this many bytes.
    Bytes(Value<'c, 'c>),
    /// One element of a type.
    Element(Type<'c>),
}

/// Copies from `src` to `dst`, memrefs of any strides, by a loop around `copy(to, from, run)`.
pub fn rows_or_elements<'c>(
    b: &Builder<'c>,
    src: End<'c, '_>,
    dst: End<'c, '_>,
    copy: &dyn Fn(&Builder<'c>, Value<'c, 'c>, Value<'c, 'c>, Run<'c>),
) {
    let (from, to) = (src.pointer.r#type(), dst.pointer.r#type());
    let memref = Shaped::memref(from).expect("the verifier has seen a memref");
    let sizes = Descriptor::new(b, src.pointer);
    let rows = strides(from).last() == Some(&1) && strides(to).last() == Some(&1);
    let loops = if rows { memref.rank() - 1 } else { memref.rank() };
    nest(b, loops, &|b, dimension| sizes.size(b, dimension), Vec::new(), &|b, mut indices| {
        if rows {
            indices.push(b.index_constant(0));
            let width = b.i64(byte_width(memref.element()).cast_signed());
            let bytes = b.mul(sizes.size(b, loops), width);
            copy(b, dst.at(b, &indices), src.at(b, &indices), Run::Bytes(bytes));
        } else {
            let from = src.at(b, &indices);
            copy(b, dst.at(b, &indices), from, Run::Element(memory_type(b, memref.element())));
        }
    });
}

/// A nest of loops over the first `depth` dimensions.
pub fn nest<'c>(
    b: &Builder<'c>,
    depth: usize,
    size: &dyn Fn(&Builder<'c>, usize) -> Value<'c, 'c>,
    indices: Vec<Value<'c, 'c>>,
    body: &dyn Fn(&Builder<'c>, Vec<Value<'c, 'c>>),
) {
    if indices.len() == depth {
        body(b, indices);
        return;
    }
    let bound = b.as_index(size(b, indices.len()));
    b.for_each(b.index_constant(0), bound, |inner, index| {
        let mut indices = indices.clone();
        indices.push(index);
        nest(inner, depth, size, indices, body);
    });
}

fn memcpy<'c>(b: &Builder<'c>, dst: Value<'c, 'c>, src: Value<'c, 'c>, bytes: Value<'c, 'c>) {
    b.op("llvm.intr.memcpy", &[dst, src, bytes], &[], &[("isVolatile", b.parse("false"))]);
}
