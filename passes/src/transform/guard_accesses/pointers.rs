//! The accesses of a Triton or symm op, and what their pointers are made of.

use crate::ir::packets::LINE;
use crate::ir::triton::is_step;
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

/// Triton's accesses, what its language calls them, and where their masks are among the operands.
pub const PLAIN: [(&str, &str, Option<usize>); 4] = [
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
pub fn called<'c: 'a, 'a>(op: SymmOp<'c, 'a>) -> &'a str {
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
    if is_argument(start) {
        return Some(Origin::Argument(start));
    }
    if let Some(first) = carried_from(start) {
        return origin(first);
    }
    match definition(start) {
        Some(op) if name(op) == "arith.select" || arms(start).is_some() => Some(Origin::Chosen),
        Some(op) if sources(start).is_empty() => {
            SymmOp::cast(op).and_then(|op| if let SymmOp::AsRemote(op) = op { Some(Origin::Remote(op)) } else { None })
        }
        _ => is_known(start, &mut Vec::new()).then_some(Origin::Chosen),
    }
}

/// What tells a value from others.
pub fn key(value: Value) -> usize {
    value.to_raw().ptr as usize
}

/// Whether a loop or a branch makes a pointer of several, of one of which at least something is known.
pub fn is_exchanged(value: Value) -> bool {
    let is_pointer = matches!(Pointer::of(value.r#type()), Some(Pointer::Triton(_) | Pointer::TritonTensor(..)));
    let is_simple = || carried_from(value).is_some() || arms(value).is_some();
    is_pointer && !is_simple() && is_known(value, &mut Vec::new())
}

/// Whether something is known of a pointer, or of one of those that it may be.
fn is_known(pointer: Value, seen: &mut Vec<usize>) -> bool {
    let start = start(pointer);
    if seen.contains(&key(start)) {
        return false;
    }
    seen.push(key(start));
    if is_argument(start) {
        return true;
    }
    let chosen = definition(start).filter(|op| name(*op) == "arith.select");
    let among = chosen.map_or_else(|| sources(start), |op| op.operands().skip(1).collect());
    let is_remote = || matches!(definition(start).and_then(SymmOp::cast), Some(SymmOp::AsRemote(_)));
    if among.is_empty() { is_remote() } else { among.into_iter().any(|each| is_known(each, seen)) }
}

/// What a loop's or a branch's pointer may be: none for other values.
fn sources<'c: 'a, 'a>(value: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let (op, index, entered) = if let Ok(argument) = BlockArgument::try_from(value) {
        let block = owner(argument);
        let Some(op) = block.parent_operation() else { return Vec::new() };
        (op, argument.argument_number(), Some(block))
    } else {
        let (Some(op), Ok(result)) = (definition(value), OperationResult::try_from(value)) else { return Vec::new() };
        (op, result.result_number(), None)
    };
    let last =
        |block: &BlockRef<'c, 'a>, index: usize| operations(*block).last().and_then(|end| end.operand(index).ok());
    let found = match (name(op), &blocks(op)[..]) {
        ("scf.for", [body]) => match index.checked_sub(usize::from(entered.is_some())) {
            Some(index) => vec![op.operand(3 + index).ok(), last(body, index)],
            None => Vec::new(),
        },
        ("scf.while", [test, body]) if entered == Some(*test) => vec![op.operand(index).ok(), last(body, index)],
        ("scf.while", [test, _]) => vec![last(test, index + 1)],
        ("scf.if", arms) => arms.iter().map(|arm| last(arm, index)).collect(),
        _ => Vec::new(),
    };
    found.into_iter().flatten().collect()
}

/// Whether a value is an argument of a function.
pub fn is_argument(value: Value) -> bool {
    let around = BlockArgument::try_from(value).ok().and_then(|argument| owner(argument).parent_operation());
    around.is_some_and(|op| name(op) == structure::TRITON_FUNC)
}

/// Where the pointer of a loop, in it or after it, comes from, if what the loop adds to stays in the tensor that it has
/// come in with.
pub fn carried_from<'c: 'a, 'a>(start: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let (around, index) = match BlockArgument::try_from(start) {
        Ok(argument) => (owner(argument).parent_operation()?, argument.argument_number().checked_sub(1)?),
        Err(_) => (definition(start)?, OperationResult::try_from(start).ok()?.result_number()),
    };
    let body = *blocks(around).first().filter(|_| name(around) == "scf.for")?;
    let inside = Value::from(body.argument(index + 1).ok()?);
    // MLIR takes what it does not know for no terminator.
    let mut next = self::start(operations(body).last()?.operand(index).ok()?);
    // A loop in the loop may move it, too.
    while let Some(first) = definition(next).and_then(|_| carried_from(next)) {
        next = self::start(first);
    }
    (inside == next).then(|| around.operand(3 + index).ok())?
}

/// The condition of a branch that a pointer is a result of, and what each of its arms makes it of: of an argument of
/// the kernel, or of what is known before the branch.
pub fn arms<'c: 'a, 'a>(result: Value<'c, 'a>) -> Option<(Value<'c, 'a>, [Value<'c, 'a>; 2])> {
    let branch = definition(result).filter(|op| name(*op) == "scf.if")?;
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
pub fn start<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> Value<'c, 'a> {
    let mut pointer = pointer;
    while let Some(from) = definition(pointer).filter(|op| is_step(*op)) {
        let Ok(next) = from.operand(0) else { break };
        pointer = next;
    }
    pointer
}
