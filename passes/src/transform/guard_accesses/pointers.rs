//! The accesses of a Triton or symm op, and what their pointers are made of.

use crate::ir::packets::LINE;
use crate::ir::triton::moves;
use crate::ir::{blocks, definition, enclosing, name, operations, owner, structure, symm_ops};
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{BlockLike, BlockRef, OperationRef, Value, ValueLike, block::BlockArgument};
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
    /// The kernel's argument that the pointer is made of, where that is known, and it is one.
    pub root: Option<Value<'c, 'a>>,
    /// Whether the pointer may be of one of several tensors, or each of its elements of another rank's.
    pub is_chosen: bool,
    /// Whether all that it may lead to is on the heap, where nothing else is known.
    pub is_on_heap: bool,
    pub place: Destination<'c, 'a>,
    pub mask: Option<Value<'c, 'a>>,
    /// How many at each pointer.
    pub bytes: i64,
    /// What the kernel's author calls it.
    pub op: String,
    pub operand: &'static str,
}

/// Whether an op makes a pointer of its first operand, in the same tensor.
pub fn is_step(op: OperationRef) -> bool {
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
    let is_of_kernel = |ctx: &Ctx<'c, 'a>| enclosing(ctx.operation(), &[structure::TRITON_FUNC]).is_some();
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
        let (origin, is_on_heap) = (origin(pointer), access.is_on_heap());
        // Of this rank's memory nothing is known but that of arguments.
        let is_known = matches!(origin, Some(Origin::Argument(_) | Origin::Chosen));
        (is_known || is_on_heap).then(|| Access {
            ctx,
            pointer,
            root: root(pointer),
            is_chosen: matches!(origin, Some(Origin::Chosen)),
            is_on_heap,
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
    let is_of_each = |remote: AsRemote| Shaped::tensor(remote.rank().r#type()).is_some();
    let origin = origin(pointer)?;
    let (ctx, root, place) = match origin {
        Origin::Argument(root) => (context_of(contexts, op)?, Some(root), Destination::Here),
        Origin::Chosen => (context_of(contexts, op)?, None, Destination::Here),
        Origin::Remote(remote) if is_of_each(remote) => (remote.ctx(), None, Destination::Here),
        Origin::Remote(remote) => (remote.ctx(), self::root(remote.ptr()), Destination::Moved(remote.rank())),
    };
    Some(Access {
        ctx,
        pointer,
        root,
        is_chosen: match origin {
            Origin::Argument(_) => false,
            Origin::Chosen => true,
            Origin::Remote(remote) => is_of_each(remote) || matches!(self::origin(remote.ptr()), Some(Origin::Chosen)),
        },
        is_on_heap: false,
        place,
        mask: mask.and_then(|index| op.operand(index).ok()),
        bytes: bytes_at(pointer)?,
        op: (*called).to_owned(),
        operand: "pointer",
    })
}

/// The context of the kernel that an op is in; the first one, of several.
pub fn context_of<'c: 'a, 'a>(contexts: &[Ctx<'c, 'a>], op: OperationRef<'c, 'a>) -> Option<Value<'c, 'a>> {
    let function = enclosing(op, &[structure::TRITON_FUNC])?;
    contexts
        .iter()
        .find(|ctx| enclosing(ctx.operation(), &[structure::TRITON_FUNC]) == Some(function))
        .map(|ctx| ctx.ctx())
}

/// The bytes of an element that a Triton pointer points to.
fn bytes_at(pointer: Value) -> Option<i64> {
    let pointer = Pointer::of(pointer.r#type())
        .filter(|pointer| matches!(pointer, Pointer::Triton(_) | Pointer::TritonTensor(..)))?;
    Some(byte_width(pointer.pointee()?).cast_signed())
}

/// What a pointer is made of.
#[derive(Clone, Copy)]
pub enum Origin<'c, 'a> {
    /// An argument of the kernel.
    Argument(Value<'c, 'a>),
    /// What is a pointer to another rank's memory already.
    Remote(AsRemote<'c, 'a>),
    /// One of several pointers.
    Chosen,
}

/// The argument of the kernel that a pointer is made of.
fn root<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    match origin(pointer)? {
        Origin::Argument(root) => Some(root),
        Origin::Remote(_) | Origin::Chosen => None,
    }
}

fn origin<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> Option<Origin<'c, 'a>> {
    let start = start(pointer);
    if let Some(op) = definition(start) {
        return match name(op) {
            "arith.select" => Some(Origin::Chosen),
            "scf.if" => arms(start).map(|_| Origin::Chosen),
            _ => SymmOp::cast(op)
                .and_then(|op| if let SymmOp::AsRemote(op) = op { Some(Origin::Remote(op)) } else { None }),
        };
    }
    match carried_from(start) {
        Some(first) => origin(first),
        None => is_argument(start).then_some(Origin::Argument(start)),
    }
}

/// Whether a value is an argument of a function.
pub fn is_argument(value: Value) -> bool {
    let around = BlockArgument::try_from(value).ok().and_then(|argument| owner(argument).parent_operation());
    around.is_some_and(|op| name(op) == structure::TRITON_FUNC)
}

/// Where a loop's pointer comes from, if what the loop adds to stays in the tensor that it has come in with.
pub fn carried_from<'c: 'a, 'a>(start: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let argument = BlockArgument::try_from(start).ok()?;
    let around = owner(argument).parent_operation().filter(|around| name(*around) == "scf.for")?;
    let index = argument.argument_number().checked_sub(1)?;
    // MLIR takes what it does not know for no terminator.
    let last = *operations(*blocks(around).first()?).last()?;
    (start == self::start(last.operand(index).ok()?)).then(|| around.operand(3 + index).ok())?
}

/// The condition of a branch that a pointer is a result of, and what each of its arms makes it of: of an argument of
/// the kernel, or of what is known before the branch.
pub fn arms<'c: 'a, 'a>(result: Value<'c, 'a>) -> Option<(Value<'c, 'a>, [Value<'c, 'a>; 2])> {
    let branch = definition(result)?;
    let index = OperationResult::try_from(result).ok()?.result_number();
    let arm = |block: &BlockRef<'c, 'a>| {
        let value = operations(*block).last()?.operand(index).ok()?;
        let start = start(value);
        if is_argument(start) {
            return Some(start);
        }
        let is_inside = definition(value).and_then(|op| op.parent_operation()) == Some(branch);
        (!is_inside).then_some(value)
    };
    let [then, otherwise] = &blocks(branch)[..] else { return None };
    Some((branch.operand(0).ok()?, [arm(then)?, arm(otherwise)?]))
}

/// What has made a pointer one to another rank's memory.
pub fn remote<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> Option<AsRemote<'c, 'a>> {
    match origin(pointer)? {
        Origin::Argument(_) | Origin::Chosen => None,
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
