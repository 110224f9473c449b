//! The accesses of a Triton or symm op, and what their pointers are made of.

use crate::ir::packets::LINE;
use crate::ir::triton::moves;
use crate::ir::{blocks, definition, enclosing, name, operations, owner, symm_ops};
use melior::ir::{BlockLike, OperationRef, Value, ValueLike, block::BlockArgument, operation::OperationLike};
use symm_dialect::ops::{AsRemote, Ctx, SymmOp};
use symm_dialect::pointer::Pointer;
use symm_dialect::shape::{Shaped, byte_width};

/// Where an access goes.
#[derive(Clone, Copy)]
pub enum Destination<'c, 'a> {
    /// Where its pointer says; or there in another rank's heap, which the op adds itself.
    Here,
    /// Its pointer has been moved to the heap of this rank already.
    Moved(Value<'c, 'a>),
}

/// A stretch of memory that an op accesses.
pub struct Access<'c, 'a> {
    pub ctx: Value<'c, 'a>,
    pub pointer: Value<'c, 'a>,
    /// The kernel's argument that the pointer is made of, where that is known.
    pub root: Option<Value<'c, 'a>>,
    pub place: Destination<'c, 'a>,
    pub mask: Option<Value<'c, 'a>>,
    /// How many at each pointer.
    pub bytes: i64,
    /// What the kernel's author calls it.
    pub op: String,
    pub operand: &'static str,
}

const FUNCTION: &str = "tt.func";

/// Whether an op makes a pointer of its first operand, in the same tensor.
fn is_step(op: OperationRef) -> bool {
    moves(name(op)) || matches!(name(op), "tt.reshape" | "tt.trans" | "ttg.set_auto_layout")
}

/// Triton's accesses, what its language calls them, and where their masks are among the operands.
const PLAIN: [(&str, &str, Option<usize>); 4] = [
    ("tt.load", "tl.load", Some(1)),
    ("tt.store", "tl.store", Some(2)),
    ("tt.atomic_rmw", "tl.atomic", Some(2)),
    ("tt.atomic_cas", "tl.atomic_cas", None),
];

/// The contexts of all Triton kernels that are made of arguments: what a function accesses comes after them.
pub fn contexts<'c: 'a, 'a>(root: OperationRef<'c, 'a>) -> Vec<Ctx<'c, 'a>> {
    let made = symm_ops(root).into_iter().filter_map(|op| if let SymmOp::Ctx(ctx) = op { Some(ctx) } else { None });
    let is_of_kernel = |ctx: &Ctx<'c, 'a>| enclosing(ctx.operation(), &[FUNCTION]).is_some();
    made.filter(|ctx| ctx.table().is_block_argument() && ctx.rank().is_none() && is_of_kernel(ctx)).collect()
}

/// What an op accesses of which it is known where it may go.
pub fn accesses<'c: 'a, 'a>(contexts: &[Ctx<'c, 'a>], op: OperationRef<'c, 'a>) -> Vec<Access<'c, 'a>> {
    match SymmOp::cast(op) {
        Some(op) => symms(contexts, op),
        None => plain(contexts, op).into_iter().collect(),
    }
}

fn symms<'c: 'a, 'a>(contexts: &[Ctx<'c, 'a>], op: SymmOp<'c, 'a>) -> Vec<Access<'c, 'a>> {
    let Some(ctx) = op.ctx().filter(|ctx| contexts.iter().any(|made| made.ctx() == *ctx)) else { return Vec::new() };
    let mask = op.operand_group("mask").first().copied();
    let access = |access: &symm_dialect::ops::Access| {
        let pointer = *op.operand_group(access.pointer).first()?;
        let is_line = access.pointer == "slots";
        let bytes = if is_line { LINE } else { bytes_at(pointer)? };
        let root = root(pointer);
        // Of this rank's memory nothing is known but that of arguments.
        (root.is_some() || access.is_on_heap()).then(|| Access {
            ctx,
            pointer,
            root,
            place: Destination::Here,
            mask: mask.filter(|_| is_line || !access.is_flag),
            bytes,
            op: format!("symm {}", called(op)),
            operand: access.pointer,
        })
    };
    op.accesses().iter().filter_map(access).collect()
}

/// What the kernel's author calls an op.
fn called<'c: 'a, 'a>(op: SymmOp<'c, 'a>) -> &'a str {
    match op {
        SymmOp::AtomicRmw(_) => "atomic",
        _ => name(op.operation()).trim_start_matches("symm.").trim_start_matches("remote_"),
    }
}

fn plain<'c: 'a, 'a>(contexts: &[Ctx<'c, 'a>], op: OperationRef<'c, 'a>) -> Option<Access<'c, 'a>> {
    let (_, called, mask) = PLAIN.iter().find(|(known, ..)| *known == name(op))?;
    let pointer = op.operand(0).ok()?;
    let (ctx, root, place) = match origin(pointer)? {
        Origin::Argument(root) => (context_of(contexts, op)?, Some(root), Destination::Here),
        Origin::Remote(remote) if Shaped::tensor(remote.rank().r#type()).is_some() => return None,
        Origin::Remote(remote) => (remote.ctx(), self::root(remote.ptr()), Destination::Moved(remote.rank())),
    };
    Some(Access {
        ctx,
        pointer,
        root,
        place,
        mask: mask.and_then(|index| op.operand(index).ok()),
        bytes: bytes_at(pointer)?,
        op: (*called).to_owned(),
        operand: "pointer",
    })
}

/// The context of the kernel that an op is in; the first one, of several.
pub fn context_of<'c: 'a, 'a>(contexts: &[Ctx<'c, 'a>], op: OperationRef<'c, 'a>) -> Option<Value<'c, 'a>> {
    let function = enclosing(op, &[FUNCTION])?;
    contexts.iter().find(|ctx| enclosing(ctx.operation(), &[FUNCTION]) == Some(function)).map(|ctx| ctx.ctx())
}

/// The bytes of an element that a Triton pointer points to.
fn bytes_at(pointer: Value) -> Option<i64> {
    let pointer = Pointer::of(pointer.r#type())
        .filter(|pointer| matches!(pointer, Pointer::Triton(_) | Pointer::TritonTensor(..)))?;
    Some(byte_width(pointer.pointee()?).cast_signed())
}

/// What a pointer is made of.
enum Origin<'c, 'a> {
    /// An argument of the kernel.
    Argument(Value<'c, 'a>),
    /// What is a pointer to another rank's memory already.
    Remote(AsRemote<'c, 'a>),
}

/// The argument of the kernel that a pointer is made of.
fn root<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    match origin(pointer)? {
        Origin::Argument(root) => Some(root),
        Origin::Remote(_) => None,
    }
}

fn origin<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> Option<Origin<'c, 'a>> {
    let start = start(pointer);
    if let Some(op) = definition(start) {
        return if let Some(SymmOp::AsRemote(remote)) = SymmOp::cast(op) { Some(Origin::Remote(remote)) } else { None };
    }
    let argument = BlockArgument::try_from(start).ok()?;
    let around = owner(argument).parent_operation()?;
    match name(around) {
        FUNCTION => Some(Origin::Argument(start)),
        // What a loop adds to stays in the tensor that it has come in with.
        "scf.for" => {
            let index = argument.argument_number().checked_sub(1)?;
            // MLIR takes what it does not know for no terminator.
            let last = *operations(*blocks(around).first()?).last()?;
            let comes_again = start == self::start(last.operand(index).ok()?);
            comes_again.then(|| origin(around.operand(3 + index).ok()?))?
        }
        _ => None,
    }
}

/// What has made a pointer one to another rank's memory.
pub fn remote<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> Option<AsRemote<'c, 'a>> {
    match origin(pointer)? {
        Origin::Argument(_) => None,
        Origin::Remote(remote) => Some(remote),
    }
}

/// What a pointer is made of by steps within its function.
fn start<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> Value<'c, 'a> {
    let mut pointer = pointer;
    while let Some(from) = definition(pointer).filter(|op| is_step(*op)) {
        let Ok(next) = from.operand(0) else { break };
        pointer = next;
    }
    pointer
}
