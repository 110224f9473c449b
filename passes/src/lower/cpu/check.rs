//! What the LLVM dialect has no op for, and symm-check has to know: signals, waits, fences and barriers of groups, and
//! the memory that the threads of a block share. `symm-instrument-accesses` adds the calls for accesses.

use super::runtime::{Runtime, stack};
use crate::ir::Builder;
use crate::ir::address::{Descriptor, data_type};
use melior::ir::r#type::ShapedTypeLike;
use melior::ir::{OperationRef, Type, Value, ValueLike};
use symm_abi::check;
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{Group, Order, Scope};
use symm_dialect::shape::{Shaped, byte_width};

/// The number of an order.
pub fn order_code(order: Order) -> i64 {
    i64::from(match order {
        Order::Relaxed => check::Order::Relaxed as u32,
        Order::Acquire => check::Order::Acquire as u32,
        Order::Release => check::Order::Release as u32,
        Order::AcqRel => check::Order::AcqRel as u32,
    })
}

/// The number of a scope.
pub fn scope_code(scope: Scope) -> i64 {
    i64::from(match scope {
        Scope::Cta => check::Scope::Cta as u32,
        Scope::Cluster => check::Scope::Cluster as u32,
        Scope::Gpu => check::Scope::Gpu as u32,
        Scope::Sys => check::Scope::Sys as u32,
    })
}

/// The number of a group.
pub fn group_code(group: Group) -> i64 {
    i64::from(match group {
        Group::Thread => check::Group::Thread as u32,
        Group::Warp => check::Group::Warp as u32,
        Group::Block => check::Group::Block as u32,
    })
}

/// What LLVM's dialect calls a scope on an op that symm-check reads.
pub fn sync_scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Cta => "cta",
        Scope::Cluster => "cluster",
        Scope::Gpu => "gpu",
        Scope::Sys => "",
    }
}

/// A value by its address, on the stack, and its bytes.
pub fn spilled<'c: 'a, 'a>(
    b: &Builder<'c>,
    op: OperationRef<'c, 'a>,
    value: Value<'c, '_>,
) -> (Value<'c, 'c>, Value<'c, 'c>) {
    let ty = data_type(b, value.r#type());
    let slot = stack(op, ty, 1);
    b.store(b.cast(value, ty), slot, &[]);
    (slot, b.i64(byte_width(ty).cast_signed()))
}

/// A barrier of a group; a thread alone has none.
pub fn barrier<'c: 'a, 'a>(b: &Builder<'c>, runtime: &Runtime<'c, 'a>, group: Group) {
    if group != Group::Thread {
        runtime.call(b, &check::BARRIER, [b.i32(group_code(group)), runtime.location(b)]);
    }
}

/// What a group does once: all of it meets, one thread does it, and all meet again. Elsewhere than under symm-check a
/// group is one thread.
pub fn once<'c: 'a, 'a>(b: &Builder<'c>, runtime: &Runtime<'c, 'a>, group: Group, body: impl FnOnce(&Builder<'c>)) {
    if !runtime.check || group == Group::Thread {
        return body(b);
    }
    let [mine] = runtime.call(b, &check::ENTER, [b.i32(group_code(group)), runtime.location(b)]);
    b.when(b.value("arith.trunci", &[mine], b.int(1), &[]), body);
    barrier(b, runtime, group);
}

/// A buffer of a type in the memory that a block shares.
pub fn shared<'c: 'a, 'a>(
    b: &Builder<'c>,
    runtime: &Runtime<'c, 'a>,
    op: OperationRef<'c, 'a>,
    (number, ty): (i64, Type<'c>),
) -> Result<Value<'c, 'c>, Reported> {
    let sizes = Shaped::memref(ty).map(|memref| (memref.dimensions(), memref.element()));
    let Some((sizes, element)) = sizes else { return Err(error(op, "S1: shared memory is a memref")) };
    let Some(sizes) = sizes.into_iter().collect::<Option<Vec<u64>>>() else {
        return Err(error(op, "S1: shared memory needs a static size"));
    };
    let bytes = sizes.iter().product::<u64>() * byte_width(element);
    let operands = [b.i32(number), b.i64(bytes.cast_signed()), runtime.location(b)];
    let [memory] = runtime.call(b, &check::SHARED, operands);
    let sizes: Vec<_> = sizes.into_iter().map(|size| b.i64(size.cast_signed())).collect();
    Ok(Descriptor::contiguous(b, ty, memory, &sizes))
}
