//! Bulk copies by a thread, a warp or a block: 16-byte accesses, several in flight, whatever the alignment.
//!
//! Contiguous bytes are copied by a function of the device library (`library.mlir`), which aligns itself on the
//! destination, moves 16 bytes a thread and four or eight of them at a time, and falls back to narrower accesses where
//! source and destination are not aligned alike. With `engine bulk` (`sm_90`) one thread drives the bulk copy engine
//! instead (`bulk_engine.mlir`). Memrefs with gaps are copied row by row, or element by element.

use super::{Target, threads};
use crate::ir::address::{Descriptor, bytes, is_contiguous, memory_type};
use crate::ir::{Builder, blocks, enclosing, mutable, operations, structure};
use crate::lower::bulk::{Transfer, nest};
use crate::lower::group_barriers::GroupBarriers;
use melior::ir::operation::OperationMutLike;
use melior::ir::r#type::ShapedTypeLike;
use melior::ir::{Module, OperationRef, Type, Value, ValueLike};
use symm_dialect::ops::{Engine, SymmOp};
use symm_dialect::pointer::strides;
use symm_dialect::shape::{Shaped, byte_width};
use symm_dialect::symbol::symbol;

/// The device library, in MLIR, for elements of four bytes.
const LIBRARY: &str = include_str!("library.mlir");

/// The part of the library that drives the bulk copy engine of `sm_90`.
const BULK_ENGINE: &str = include_str!("bulk_engine.mlir");

/// Copies `op`'s source to its destination, with the barriers that its group needs (O3).
pub fn lower<'c: 'a, 'a>(
    op: SymmOp<'c, 'a>,
    b: &Builder<'c>,
    target: &dyn Target,
    barriers: &GroupBarriers,
) -> Transfer<'c, 'a> {
    let transfer = Transfer::new(op, b);
    let ours = threads::thread(b, target, op.operation(), transfer.group);
    let begins = barriers.before(op.operation());
    // The engine has a barrier of its own, which the threads need only where they copy instead of it.
    let is_engines = transfer.engine == Engine::Bulk && is_one_piece(&transfer);
    if begins && !is_engines {
        threads::group_barrier(b, target, transfer.group);
    }
    copy(b, op.operation(), &transfer, ours, begins && is_engines);
    if barriers.after(op.operation()) {
        threads::group_barrier(b, target, transfer.group);
    }
    transfer
}

/// Whether the bytes of both ends lie one after the other.
fn is_one_piece(transfer: &Transfer) -> bool {
    transfer.count.is_some()
        || is_contiguous(transfer.src.pointer.r#type()) && is_contiguous(transfer.dst.pointer.r#type())
}

fn copy<'c: 'a, 'a>(
    b: &Builder<'c>,
    op: OperationRef<'c, 'a>,
    transfer: &Transfer<'c, 'a>,
    threads: (Value<'c, 'c>, Value<'c, 'c>),
    opens: bool,
) {
    let Transfer { src, dst, count, engine, .. } = *transfer;
    let how = How { threads, engine, opens, depth: if src.delta.is_some() { 8 } else { 4 } };
    let (from, to) = (src.pointer.r#type(), dst.pointer.r#type());
    let element = match count {
        Some((_, element)) => element,
        None => Shaped::memref(from).expect("the verifier has seen a memref").element(),
    };
    if is_one_piece(transfer) {
        return contiguous(b, op, dst.start(b), src.start(b), bytes(b, src.pointer, count), element, how);
    }
    let memref = Shaped::memref(from).expect("a counted copy is one piece");
    let sizes = Descriptor::new(b, src.pointer);
    let rows = strides(from).last() == Some(&1) && strides(to).last() == Some(&1);
    // Rows are copied by the group together; elements without rows are dealt out in the innermost dimension.
    let depth = memref.rank() - 1;
    nest(b, depth, &|b, dimension| sizes.size(b, dimension), Vec::new(), &|b, indices| {
        let start = [indices.as_slice(), &[b.index_constant(0)]].concat();
        if rows {
            let width = b.i64(byte_width(element).cast_signed());
            let bytes = b.mul(sizes.size(b, depth), width);
            contiguous(b, op, dst.at(b, &start), src.at(b, &start), bytes, element, how);
            return;
        }
        let (first, step) = threads;
        b.for_step(b.as_index(first), b.as_index(sizes.size(b, depth)), b.as_index(step), |b, index| {
            let at = [indices.as_slice(), &[index]].concat();
            let ty = memory_type(b, element);
            b.store(b.load(src.at(b, &at), ty, &[]), dst.at(b, &at), &[]);
        });
    });
}

/// Who moves the bytes, and how.
#[derive(Clone, Copy)]
struct How<'c> {
    /// The number of the thread in its group and how many there are.
    threads: (Value<'c, 'c>, Value<'c, 'c>),
    engine: Engine,
    /// Whether a barrier comes first where the threads copy instead of the engine.
    opens: bool,
    /// How many times 16 bytes a thread has in flight.
    depth: u64,
}

/// Calls the library's copy for elements of this width.
fn contiguous<'c: 'a, 'a>(
    b: &Builder<'c>,
    op: OperationRef<'c, 'a>,
    dst: Value<'c, 'c>,
    src: Value<'c, 'c>,
    bytes: Value<'c, 'c>,
    element: Type<'c>,
    How { threads: (number, count), engine, opens, depth }: How<'c>,
) {
    let width = byte_width(element);
    let threads = format!("_symm_copy_{width}x{depth}");
    import(b, op, LIBRARY, &[&threads, &format!("_symm_copy_elements_{width}")], (width, depth));
    if engine == Engine::Threads {
        b.call(&threads, &[dst, src, bytes, number, count], &[]);
        return;
    }
    let bulk = format!("_symm_bulk_copy_{width}x{depth}");
    let names = ["_symm_dynamic_shared", "_symm_bulk_engine", "_symm_bulk_fill", &bulk];
    import(b, op, BULK_ENGINE, &names, (width, depth));
    let opens = b.constant(b.int(1), i64::from(opens));
    b.call(&bulk, &[dst, src, bytes, number, count, opens], &[]);
}

/// A part of the library for elements of `width` bytes, of which a thread has `depth` times 16 bytes in flight.
fn specialised(part: &str, (width, depth): (u64, u64)) -> String {
    // A thread moves an element or 16 bytes at a time.
    let aliases = [
        ("!element", format!("i{}", 8 * width)),
        ("#width", format!("{width} : i64")),
        ("#least", format!("{} : i64", width.min(16))),
        ("#tile_vectors", format!("{} : i64", 32 * depth)),
    ];
    let set = |line: &str| match aliases.iter().find(|(name, _)| line.starts_with(&format!("{name} = "))) {
        Some((name, value)) => format!("{name} = {value}\n"),
        None => format!("{line}\n"),
    };
    let text = part.lines().map(set).collect::<String>().replace(TILE, &tile(depth));
    let copy = format!("{width}x{depth}");
    let names =
        [("@_symm_copy_elements", width.to_string()), ("@_symm_copy", copy.clone()), ("@_symm_bulk_copy", copy)];
    names.iter().fold(text, |text, (name, suffix)| text.replace(&format!("{name}("), &format!("{name}_{suffix}(")))
}

/// The library's call for a tile.
const TILE: &str = "func.call @_symm_copy_tile(%s, %d) : (!llvm.ptr, !llvm.ptr) -> ()";

/// What a thread moves of a tile: from `%s` to `%d`, 32 vectors apart, and all loaded before the first is stored.
fn tile(depth: u64) -> String {
    let each = |line: &dyn Fn(u64) -> String| (0..depth).map(line).collect::<String>();
    let ends = |end| {
        each(&|k| {
            format!("%{end}{k} = llvm.getelementptr %{end}[{}] : (!llvm.ptr) -> !llvm.ptr, vector<4xi32>\n", 32 * k)
        })
    };
    let load = |k| format!("%v{k} = llvm.load %s{k} {{alignment = 16 : i64}} : !llvm.ptr -> vector<4xi32>\n");
    let store = |k| format!("llvm.store %v{k}, %d{k} {{alignment = 16 : i64}} : vector<4xi32>, !llvm.ptr\n");
    ends("s") + &ends("d") + &each(&load) + &each(&store)
}

/// Makes symbols of a part of the library known to the `gpu.module` around `op`.
fn import<'c: 'a, 'a>(
    b: &Builder<'c>,
    op: OperationRef<'c, 'a>,
    part: &str,
    names: &[&str],
    (width, depth): (u64, u64),
) {
    let module = enclosing(op, &[structure::GPU_MODULE]).expect("kernels are in a gpu.module");
    let body = blocks(module)[0];
    let known: Vec<String> = operations(body).into_iter().filter_map(symbol).collect();
    let missing: Vec<&str> = names.iter().copied().filter(|name| !known.iter().any(|known| known == name)).collect();
    if missing.is_empty() {
        return;
    }
    let library = Module::parse(b.context, &specialised(part, (width, depth))).expect("the device library parses");
    let first = operations(body)[0];
    for function in operations(library.body()) {
        if symbol(function).is_some_and(|name| missing.contains(&name.as_str())) {
            mutable(function).move_before(first);
        }
    }
}
