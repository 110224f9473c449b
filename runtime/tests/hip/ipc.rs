//! Heaps that are opened where the driver puts them, where memory cannot be mapped.

use std::time::Duration;

use symm_runtime::{Bootstrap, Device, Ranks, Spawn, run, spawn_processes};

use crate::common::failure;
use crate::stand_in::{State, Turn};
use crate::{assert_has, config, program, written};

fn without_mapping(state: &mut State) {
    state.maps = 0;
}

#[test]
fn ranks_of_one_process_use_each_others_memory() {
    for ranks in [1, 2, 3] {
        let turn = Turn::new(without_mapping);
        assert!(Device::hip_devices().unwrap().iter().all(|device| !device.mapped));
        let outcome = run(&config(ranks), |rank| Ok((program(rank, c"cm1v").0, rank.heap_bases().to_vec()))).unwrap();
        for (rank, (words, bases)) in (0..).zip(&outcome.values) {
            assert_eq!(*words, written(rank, ranks.into()), "rank {rank} of {ranks}");
            assert_eq!(bases, &outcome.values[0].1, "the same addresses on all ranks of a process");
            assert!(bases.iter().all(|base| base % (2 << 20) == 0));
        }
        drop(outcome);
        let state = turn.state();
        assert_eq!(state.live, [0; 11], "everything was given back");
        assert_eq!(state.pairs, if ranks == 1 { 0 } else { 1 << 1 | 1 << 4 }, "each device got access to the other's");
        assert_eq!(state.access, 0, "nothing was mapped");
    }
}

#[test]
fn ranks_in_processes_open_each_others_memory() {
    let args = ["--exact", "ipc::as_one_rank", "--ignored", "--quiet"].map(Into::into).to_vec();
    let program = std::env::current_exe().unwrap();
    spawn_processes(&Spawn { ranks: 3, program, args, input: Vec::new(), grace: Duration::from_secs(5) }).unwrap();
}

#[test]
#[ignore = "the test above starts it once for each rank"]
fn as_one_rank() {
    let bootstrap = Bootstrap::from_env().unwrap();
    let slow = 200_000 * i32::try_from(bootstrap.rank()).unwrap();
    let change = |state: &mut State| (state.maps, state.slow_close) = (0, slow);
    let turn = Turn::new(change);
    let mut config = config(1);
    config.ranks = Ranks::Process(bootstrap.clone());
    let outcome = run(&config, |rank| Ok((rank.rank(), program(rank, c"~cm1v").0))).unwrap();
    let (rank, words) = outcome.values[0];
    assert_eq!(words, written(rank.into(), 3));
    // A heap that goes before a slow process has closed it is one that the library refuses to free.
    assert_eq!(turn.state().live, [0; 11], "everything was given back");
}

#[test]
fn memory_of_the_host_and_faults_are_told_alike() {
    let _turn = Turn::new(without_mapping);
    let text = failure(&config(2), |rank| {
        let mut words = [0_i64; 8];
        crate::launch_write(rank, words.as_mut_ptr().cast(), crate::ONE_BLOCK, c"cm1v");
    });
    assert_has(&text, &["argument 1 of kernel @kernels::write is host memory"]);
}

#[test]
fn every_refusal_becomes_an_error_and_nothing_is_left() {
    for (function, action, ranks) in [
        ("hipExtMallocWithFlags", "take 4194304 bytes of device 0 for a symmetric heap", 2),
        ("hipIpcGetMemHandle", "share a heap's memory", 2),
        ("hipDeviceEnablePeerAccess", "give a device access to a rank's heap", 2),
        ("hipMallocAsync", "take 48 bytes of device memory", 2),
    ] {
        let turn = Turn::new(|state| {
            without_mapping(state);
            state.refuse(function, -1, 101);
        });
        let text = run(&config(ranks), |_| Ok(())).unwrap_err().to_string();
        assert_has(&text, &["HIP could not ", action, ": invalid device ordinal (hipErrorInvalidDevice)"]);
        assert_eq!(turn.state().live, [0; 11], "{function}");
    }
}

#[test]
fn ranks_that_have_joined_close_each_others_memory_before_it_goes() {
    let args = ["--exact", "ipc::joins_as_one_rank", "--ignored", "--quiet"].map(Into::into).to_vec();
    let program = std::env::current_exe().unwrap();
    spawn_processes(&Spawn { ranks: 3, program, args, input: Vec::new(), grace: Duration::from_secs(5) }).unwrap();
}

#[test]
#[ignore = "the test above starts it once for each rank"]
fn joins_as_one_rank() {
    let bootstrap = Bootstrap::from_env().unwrap();
    let slow = 200_000 * i32::try_from(bootstrap.rank()).unwrap();
    let turn = Turn::new(|state| (state.maps, state.slow_close) = (0, slow));
    let mut config = config(1);
    config.device = Device::Hip(Vec::new());
    config.ranks = Ranks::Process(bootstrap);
    let rank = symm_runtime::join(&config).unwrap().remove(0);
    rank.alloc(64, 0).unwrap();
    rank.leave().unwrap();
    assert_eq!(turn.state().live, [0; 11], "everything was given back");
}
