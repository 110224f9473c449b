//! What fits a device and what does not, and what is said of blocks that wait for each other.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use symm_runtime::{Rank, run};

use crate::common::failure;
use crate::stand_in::Turn;
use crate::{assert_has, config, launch_plain};

#[test]
fn blocks_that_wait_are_launched_together_or_not_at_all() {
    let turn = Turn::new(|_| ());
    // Two blocks on each of four multiprocessors.
    run(&config(1), |rank| {
        launch_plain(rank, c"kernels::nothing", [8, 1, 1, 32, 1, 1, 0], c"!c");
        Ok(())
    })
    .unwrap();
    assert_eq!(turn.state().launches()[0].cooperative, 1);
    let text = failure(&config(1), |rank| launch_plain(rank, c"kernels::nothing", [3, 3, 1, 32, 2, 1, 96], c"~c"));
    assert_has(&text, &["p.mlir:9:3", "@kernels::nothing", "[3, 3, 1]", "all 9 have to be on the device"]);
    assert_has(&text, &["8 fit: 2 of 64 threads and 96 bytes of shared memory on each of 4 multiprocessors;"]);
    drop(turn);

    let turn = Turn::new(|state| state.devices = 1);
    run(&config(2), |rank| {
        launch_plain(rank, c"kernels::nothing", [4, 1, 1, 32, 1, 1, 0], c"~c");
        Ok(())
    })
    .unwrap();
    let state = turn.state();
    assert!(state.launches().iter().all(|launch| launch.cooperative == 0), "two such launches would take turns");
    let text = failure(&config(2), |rank| launch_plain(rank, c"kernels::nothing", [5, 1, 1, 32, 1, 1, 0], c"~c"));
    assert_has(&text, &["all 5 have to be", "4 fit", "4 multiprocessors, shared by 2 ranks"]);
}

#[test]
fn a_block_that_takes_too_many_registers_is_refused_with_the_numbers() {
    let _turn = Turn::new(|_| ());
    let launch = |rank: &Rank, threads| launch_plain(rank, c"kernels::hungry", [1, 1, 1, threads, 1, 1, 0], c"c");
    run(&config(1), move |rank| {
        launch(rank, 256);
        Ok(())
    })
    .unwrap();
    let text = failure(&config(1), move |rank| launch(rank, 512));
    let parts = [
        "@kernels::hungry",
        "block",
        "that is 512 threads, and a block of this kernel has at most 256",
        "255 a thread",
        "nvvm.maxntid = array<i32: 512, 1, 1>",
    ];
    assert_has(&text, &parts);
}

#[test]
fn a_barrier_that_blocks_on_devices_wait_in_is_told() {
    let _turn = Turn::new(|_| ());
    let mut config = config(3);
    config.timeout = Some(Duration::from_secs(2));
    let text = failure(&config, |rank| match rank.rank() {
        0 => launch_plain(rank, c"kernels::meet", [3, 1, 1, 32, 1, 1, 0], c"!c"),
        1 => launch_plain(rank, c"kernels::meet", [2, 1, 1, 32, 1, 1, 0], c"!c"),
        _ => launch_plain(rank, c"kernels::hang", [2, 1, 1, 32, 1, 1, 0], c"!c"),
    });
    let parts = [
        "rank 0: launch of @kernels::meet at p.mlir:9:3",
        "rank 0, block (0,0,0) of @kernels::meet: barrier: waits for rank 2\n",
        "rank 0, block (2,0,0) of @kernels::meet: barrier: waits for ranks 1, 2\n",
        "rank 1, block (1,0,0) of @kernels::meet: barrier: waits for rank 2\n",
        "@kernels::meet was launched with different grids: (3,1,1) on rank 0, (2,1,1) on rank 1",
    ];
    assert_has(&text, &parts);
    assert!(!text.contains("of @kernels::hang: barrier"), "{text}");
}

#[test]
fn a_barrier_that_hangs_without_a_timeout_is_told_while_it_hangs() {
    let args = ["--exact", "launches::as_a_run_that_hangs", "--ignored", "--nocapture", "--quiet"];
    let program = std::env::current_exe().unwrap();
    let mut child = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let said: Vec<String> = lines.skip_while(|line| !line.contains("waited in a barrier")).take(5).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    let parts = [
        "symm: blocks on GPUs have waited in a barrier for 3s or more:",
        "rank 0: launch of @kernels::meet at p.mlir:9:3",
        "rank 1: returned",
        "rank 0, block (0,0,0) of @kernels::meet: barrier: waits for rank 1",
        "symm: if it is a deadlock, Ctrl-C ends the run",
    ];
    assert_has(&said.join("\n"), &parts);
}

#[test]
#[ignore = "the test above starts it, and ends it"]
fn as_a_run_that_hangs() {
    let _turn = Turn::new(|_| ());
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_secs(30));
        std::process::exit(1);
    });
    let mut config = config(2);
    config.timeout = None;
    let ended = run(&config, |rank| {
        if rank.rank() == 0 {
            launch_plain(rank, c"kernels::meet", [1, 1, 1, 32, 1, 1, 0], c"!c");
        }
        Ok(())
    });
    drop(ended);
}
