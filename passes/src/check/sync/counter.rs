//! Whether anything may take a counter back: what a program writes that may be a flag, apart from adding to it.

use super::array;
use crate::ir::{blocks, collect, constant_value, definition, enclosing, name, select};
use crate::order::may_write_heap;
use melior::ir::{OperationRef, Type, TypeLike, Value, ValueLike, operation::OperationLike};
use std::collections::{HashMap, HashSet};
use symm_dialect::ops::{RmwKind, SignalKind, SymmOp};
use symm_dialect::pointer::{Pointer, is_block_memory};
use symm_dialect::shape::{float_width, integer_width, scalar};
use symm_dialect::symbol::symbol;

/// What the code of a program writes while its kernels run, apart from additions of more than zero to flags.
pub struct Written<'c> {
    /// What is not known.
    anything: bool,
    /// Whether memory may be seen as of another type than it is written as.
    retyped: bool,
    /// Values of these types.
    types: HashSet<Type<'c>>,
}

impl<'c> Written<'c> {
    /// Looks through everything below `root`. Host code counts for its symm ops alone: what it copies to the heap or
    /// sets there, it does between launches.
    pub fn new<'a>(root: OperationRef<'c, 'a>) -> Self
    where
        'c: 'a,
    {
        let mut written = Self { anything: root.parent_operation().is_some(), retyped: false, types: HashSet::new() };
        let functions = select(root, |op| symbol(op).filter(|_| !blocks(op).is_empty()));
        let functions = HashSet::from_iter(functions);
        let mut hosts = HashMap::new();
        for op in collect(root) {
            written.retyped |= retypes(op);
            match SymmOp::cast(op) {
                Some(op) => written.note_symm(op),
                None if !may_write_heap(op) || is_host(op, &mut hosts) || calls_one_of(op, &functions) => {}
                None => written.note_plain(op),
            }
        }
        written
    }

    /// Whether a flag of this type may be written.
    pub fn may_be(&self, flag: Type<'c>) -> bool {
        let differs = |ty: &Type<'c>| {
            float_width(*ty).is_some()
                || integer_width(*ty).is_some_and(|width| width != 8 && Some(width) != integer_width(flag))
        };
        self.anything || self.retyped && !self.types.is_empty() || !self.types.iter().all(differs)
    }

    fn note_symm<'a>(&mut self, op: SymmOp<'c, 'a>)
    where
        'c: 'a,
    {
        let is_growth = |value| constant_value(value).is_some_and(|value| value > 0);
        match op {
            SymmOp::Signal(op) if op.kind() == SignalKind::Add && is_growth(op.value()) => {}
            SymmOp::Signal(op) => self.note(op.value().r#type()),
            SymmOp::PutSignal(op) => {
                self.note_memory(op.dst());
                if op.kind() != SignalKind::Add || !is_growth(op.value()) {
                    self.note(op.value().r#type());
                }
            }
            SymmOp::AtomicRmw(op) if op.kind() == RmwKind::Add && is_growth(op.value()) => {}
            SymmOp::AtomicRmw(op) => self.note(op.value().r#type()),
            SymmOp::AtomicCas(op) => self.note(op.desired().r#type()),
            SymmOp::RemoteStore(op) => self.note(op.value().r#type()),
            SymmOp::Put(op) => self.note_memory(op.dst()),
            SymmOp::Get(op) => self.note_memory(op.dst()),
            SymmOp::Copy(op) => self.note_memory(op.dst()),
            _ => {}
        }
    }

    fn note_plain<'a>(&mut self, op: OperationRef<'c, 'a>)
    where
        'c: 'a,
    {
        match name(op) {
            "memref.store"
            | "memref.copy"
            | "memref.atomic_rmw"
            | "affine.store"
            | "affine.vector_store"
            | "vector.store"
            | "vector.maskedstore"
            | "vector.transfer_write"
            | "vector.scatter"
            | "vector.compressstore" => {
                for operand in op.operands().filter(|operand| operand.r#type().is_mem_ref()) {
                    self.note_memory(operand);
                }
            }
            "builtin.module" | "gpu.module" | "gpu.func" | "func.func" | "llvm.func" | "memref.global"
            | "llvm.mlir.global" => {}
            "llvm.store" => self.note(op.operand(0).expect("the value").r#type()),
            _ => self.anything = true,
        }
    }

    /// Notes that what a pointer points to is written.
    fn note_memory<'a>(&mut self, pointer: Value<'c, 'a>)
    where
        'c: 'a,
    {
        if is_own_memory(pointer) {
            return;
        }
        match Pointer::of(pointer.r#type()).and_then(Pointer::pointee) {
            Some(ty) => self.note(ty),
            None => self.anything = true,
        }
    }

    fn note(&mut self, ty: Type<'c>) {
        self.types.insert(scalar(ty));
    }
}

/// Whether an op has memory that is typed anew: a view of bytes, or a pointer, which has no type.
fn retypes<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    matches!(name(op), "memref.view" | "memref.extract_aligned_pointer_as_index" | "builtin.unrealized_conversion_cast")
        || op.operands().any(|operand| Pointer::of(operand.r#type()).is_some_and(|kind| matches!(kind, Pointer::Llvm)))
}

/// Whether no other rank sees the memory that a pointer points to.
pub fn is_own_memory<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> bool {
    let array = array(pointer);
    is_block_memory(array.r#type())
        || definition(array).is_some_and(|op| matches!(name(op), "memref.alloca" | "llvm.alloca"))
}

/// Whether an op is of a function of the host, which launches kernels or manages the heap.
fn is_host<'c: 'a, 'a>(op: OperationRef<'c, 'a>, known: &mut HashMap<usize, bool>) -> bool {
    if enclosing(op, &["gpu.module", "gpu.launch"]).is_some() {
        return false;
    }
    let Some(function) = enclosing(op, &["func.func"]) else { return false };
    let is_hosts = |op| match SymmOp::cast(op) {
        Some(op) => matches!(op, SymmOp::Alloc(_) | SymmOp::Free(_) | SymmOp::BarrierAll(_)),
        None => matches!(name(op), "gpu.launch" | "gpu.launch_func"),
    };
    *known
        .entry(function.to_raw().ptr as usize)
        .or_insert_with(|| !select(function, |op| is_hosts(op).then_some(())).is_empty())
}

/// Whether an op calls a function whose body is here.
fn calls_one_of(op: OperationRef, functions: &HashSet<String>) -> bool {
    let callee = op.attribute("callee").map(|callee| callee.to_string()).unwrap_or_default();
    callee.rsplit_once('@').is_some_and(|(_, name)| functions.contains(name.trim_matches('"')))
}
