//! Ops of the gpu dialect where each thread of a block runs by itself, for symm-check. A warp has 32 threads.

use super::{coordinate, coordinates, dimension, lower_op};
use crate::ir::{Builder, name, signed, structure};
use crate::lower::cpu::check::barrier;
use crate::lower::cpu::runtime::Runtime;
use melior::ir::{OperationRef, Value};
use symm_abi::kernel::{THREAD_WORD, THREADS_WORD};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::Group;

/// Threads of a warp.
const WARP: i64 = 32;

pub fn lower<'c: 'a, 'a>(op: OperationRef<'c, 'a>, runtime: &Runtime<'c, 'a>) -> Result<(), Reported> {
    let b = Builder::before(op);
    let at = || coordinates(op).ok_or_else(|| error(op, "S1: is for functions of a gpu.module"));
    let value = match name(op) {
        "gpu.thread_id" => thread(&b, at()?, dimension(op)),
        "gpu.block_dim" => threads(&b, at()?, dimension(op)),
        "gpu.global_id" => {
            let (at, of) = (at()?, dimension(op));
            b.add(b.mul(coordinate(&b, at, of), threads(&b, at, of)), thread(&b, at, of))
        }
        "gpu.lane_id" => b.binary("arith.remui", linear(&b, at()?), b.i64(WARP)),
        "gpu.subgroup_id" => b.binary("arith.divui", linear(&b, at()?), b.i64(WARP)),
        "gpu.subgroup_size" => b.i64(WARP),
        "gpu.num_subgroups" => {
            let at = at()?;
            let all = (0..3).map(|of| threads(&b, at, of)).reduce(|all, each| b.mul(all, each));
            b.binary("arith.ceildivui", all.expect("three dimensions"), b.i64(WARP))
        }
        "gpu.barrier" => {
            barrier(&b, runtime, Group::Block);
            b.erase(op);
            return Ok(());
        }
        "gpu.block_id"
        | "gpu.grid_dim"
        | structure::GPU_RETURN
        | structure::LAUNCH_FUNC
        | "gpu.memcpy"
        | "gpu.alloc"
        | "gpu.dealloc"
        | "gpu.wait" => return lower_op(op),
        "gpu.shuffle" => {
            return Err(error(
                op,
                "S1: symm-check has no gpu.shuffle: let the threads exchange values in shared memory",
            ));
        }
        other => return Err(error(op, &format!("S1: symm-check has no {other}"))),
    };
    b.replace(op, &[b.as_index(value)]);
    Ok(())
}

fn thread<'c>(b: &Builder<'c>, at: Value<'c, '_>, of: i64) -> Value<'c, 'c> {
    coordinate(b, at, signed(THREAD_WORD) + of)
}

fn threads<'c>(b: &Builder<'c>, at: Value<'c, '_>, of: i64) -> Value<'c, 'c> {
    coordinate(b, at, signed(THREADS_WORD) + of)
}

/// The number of a thread in its block.
fn linear<'c>(b: &Builder<'c>, at: Value<'c, '_>) -> Value<'c, 'c> {
    let plane = b.add(b.mul(thread(b, at, 2), threads(b, at, 1)), thread(b, at, 1));
    b.add(b.mul(plane, threads(b, at, 0)), thread(b, at, 0))
}
