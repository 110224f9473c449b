//! Collective operations: what they give, and what happens when ranks disagree.

mod common;

use common::{alloc, barrier_all, failure, free, read, signal, threads};
use symm_runtime::{Error, RESERVED_BYTES, run};

#[test]
fn allocations_are_symmetric_zeroed_and_reused() {
    let outcome = run(&threads(3), |rank| {
        let first = alloc(rank, 1000, c"p:1:1");
        // SAFETY: 1000 bytes of this rank's heap.
        unsafe { first.write_bytes(7, 1000) };
        free(rank, first, c"p:2:1");
        let again = alloc(rank, 1000, c"p:3:1");
        assert_eq!(first, again);
        // SAFETY: as above.
        let bytes = unsafe { std::slice::from_raw_parts(again, 1000) };
        assert!(bytes.iter().all(|&byte| byte == 0), "left over from before");
        // SAFETY: the table has a base for each rank.
        let base = unsafe { *rank.ctx().add(2 + rank.rank() as usize) };
        Ok(again as u64 - base.cast_unsigned())
    });
    assert_eq!(outcome.unwrap().values, [RESERVED_BYTES; 3]);
}

#[test]
fn peers_see_each_others_writes_after_a_barrier() {
    run(&threads(4), |rank| {
        let at = alloc(rank, 64, c"p:1:1");
        let env = common::Env { ctx: rank.ctx(), data: at };
        let to = u64::from((rank.rank() + 1) % 4);
        signal(env.remote(at, to), 100 + u64::from(rank.rank()));
        barrier_all(rank, c"p:2:1");
        assert_eq!(read(at), 100 + u64::from((rank.rank() + 3) % 4));
        Ok(())
    })
    .unwrap();
}

#[test]
fn different_sizes_name_ranks_sizes_and_places() {
    let message = failure(&threads(3), |rank| {
        let (bytes, loc) = if rank.rank() == 1 { (512, c"p:8:3") } else { (256, c"p:5:3") };
        alloc(rank, bytes, loc);
    });
    for part in ["rank 1: alloc of 512 bytes at p:8:3", "rank 2: alloc of 256 bytes at p:5:3"] {
        assert!(message.contains(part), "no {part:?} in {message}");
    }
}

#[test]
fn different_operations_are_told_apart() {
    let message = failure(&threads(2), |rank| {
        if rank.rank() == 0 {
            alloc(rank, 256, c"p:5:3");
        } else {
            barrier_all(rank, c"p:7:3");
        }
    });
    assert!(message.contains("rank 1: barrier_all at p:7:3"), "{message}");
}

#[test]
fn an_exhausted_heap_says_how_much_and_where() {
    let mut config = threads(2);
    config.heap_size = 4 << 20;
    let message = failure(&config, |rank| {
        alloc(rank, 1 << 20, c"p:1:1");
        alloc(rank, 2 << 20, c"p:2:1");
    });
    for part in ["p:2:1: rank ", "asked for 2097152 bytes", "run is 1048576", "4194304 bytes", "--heap-size"] {
        assert!(message.contains(part), "no {part:?} in {message}");
    }
}

#[test]
fn freeing_what_is_not_allocated_is_an_error() {
    let message = failure(&threads(2), |rank| {
        let at = alloc(rank, 256, c"p:1:1");
        free(rank, at, c"p:2:1");
        free(rank, at, c"p:3:1");
    });
    assert!(message.contains("p:3:1") && message.contains("freed heap+0x200000"), "{message}");
    let message = failure(&threads(1), |rank| free(rank, 64 as *mut u8, c"p:1:1"));
    assert!(message.contains("outside of the symmetric heap"), "{message}");
}

#[test]
fn bad_configurations_are_refused() {
    for (ranks, heap) in [(0, 4 << 20), (129, 4 << 20), (1, 2 << 20), (1, u64::MAX)] {
        let mut config = threads(ranks);
        config.heap_size = heap;
        let error = run(&config, |_| Ok(())).unwrap_err();
        assert!(matches!(error.error, Error::InvalidConfig { .. }), "{error}");
    }
}

#[test]
fn an_error_or_panic_of_the_body_ends_the_run() {
    let error = run(&threads(2), |rank| {
        if rank.rank() == 1 {
            return Err(Error::Program("no such kernel".to_owned()));
        }
        barrier_all(rank, c"p:1:1");
        Ok(())
    });
    assert_eq!(error.unwrap_err().to_string(), "no such kernel");
    let message = failure(&threads(1), |_| panic!("lost"));
    assert!(message.contains("lost"), "{message}");
}
