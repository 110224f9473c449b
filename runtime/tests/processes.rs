//! A process for each rank. The test starts itself as the ranks; the first argument says what they do.

mod common;

use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{GE, alloc, barrier_all, env, launch, read, signal, wait};
use symm_runtime::trace::What;
use symm_runtime::{Bootstrap, Config, Coords, Error, Rank, Ranks, Spawn, run, spawn_processes};

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("--as") => as_rank(&std::env::args().nth(2).expect("what to do")),
        // The harness's own flags, such as --list, ask for nothing that this file has.
        Some(flag) if flag.starts_with("--") && flag != "--nocapture" => ExitCode::SUCCESS,
        filter => {
            test_all(filter.filter(|text| !text.starts_with('-')));
            ExitCode::SUCCESS
        }
    }
}

fn test_all(filter: Option<&str>) {
    let tests: [(&str, fn()); 12] = [
        ("ranks_exchange_data", ranks_exchange_data),
        ("a_killed_rank_is_named", a_killed_rank_is_named),
        ("a_killed_rank_0_is_named", a_killed_rank_0_is_named),
        ("a_silent_exit_is_a_death", a_silent_exit_is_a_death),
        ("a_fault_reaches_all_ranks", a_fault_reaches_all_ranks),
        (
            "a_deadlock_across_processes_is_found",
            a_deadlock_across_processes_is_found,
        ),
        ("a_missing_rank_is_named", a_missing_rank_is_named),
        (
            "a_rank_claimed_twice_is_refused",
            a_rank_claimed_twice_is_refused,
        ),
        ("different_runs_are_refused", different_runs_are_refused),
        ("strangers_do_no_harm", strangers_do_no_harm),
        (
            "traces_come_together_on_rank_0",
            traces_come_together_on_rank_0,
        ),
        (
            "the_spawner_reports_and_cleans_up",
            the_spawner_reports_and_cleans_up,
        ),
    ];
    for (name, test) in tests {
        if filter.is_none_or(|filter| name.contains(filter)) {
            let start = Instant::now();
            test();
            println!(
                "test {name} ... ok ({:.1} s)",
                start.elapsed().as_secs_f64()
            );
        }
    }
}

// What the ranks do.

fn as_rank(what: &str) -> ExitCode {
    match try_as_rank(what) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn try_as_rank(what: &str) -> Result<String, Error> {
    let mut bootstrap = Bootstrap::from_env()?;
    let rank = bootstrap.rank();
    bootstrap.deadline = Duration::from_secs(if what == "short" { 1 } else { 20 });
    bootstrap.fingerprint = if what == "other program" && rank == 1 {
        vec![2]
    } else {
        vec![1]
    };
    let mut config = Config::new(Ranks::Process(bootstrap));
    config.timeout = Some(Duration::from_secs(20));
    config.heap_size = if what == "other heap" && rank == 1 {
        16 << 20
    } else {
        8 << 20
    };
    config.trace = what == "trace";
    let what = what.to_owned();
    let outcome = run(&config, move |rank| act(&what, rank))?;
    let arrows = outcome.trace.map_or(0, |trace| {
        let ranks: std::collections::BTreeSet<u32> =
            trace.events.iter().map(|event| event.rank).collect();
        assert_eq!(ranks.len(), 3, "events of all ranks");
        trace
            .events
            .iter()
            .filter(|event| matches!(event.what, What::Wait { .. }))
            .count()
    });
    Ok(format!(
        "rank {rank} done, {} of {}, waits traced {arrows}",
        outcome.values.len(),
        outcome.values[0]
    ))
}

fn act(what: &str, rank: &Rank) -> Result<u64, Error> {
    let data = alloc(rank, 64 * 8, c"act.mlir:1:1");
    match what {
        "kill 2" | "kill 0" if what.ends_with(&rank.rank().to_string()) => {
            sleep(Duration::from_millis(200));
            let _ = Command::new("kill")
                .args(["-9", &std::process::id().to_string()])
                .status();
            sleep(Duration::from_secs(60));
        }
        "exit 1" if rank.rank() == 1 => std::process::exit(3),
        "fault" => drop(alloc(rank, 1 << 30, c"act.mlir:6:1")),
        "error" if rank.rank() == 1 => return Err(Error::Program("cannot compile".to_owned())),
        "deadlock" => launch(rank, c"stuck", stuck, 2, data, c"act.mlir:8:1"),
        _ => {}
    }
    launch(rank, c"around", around, 4, data, c"act.mlir:10:1");
    barrier_all(rank, c"act.mlir:11:1");
    Ok(read(data))
}

/// Tells every rank, in turn, a value that depends on the sender, and waits for the neighbour's.
unsafe extern "C" fn around(args: *const *const std::ffi::c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, at) = unsafe { env(args, coords) };
    let mine = env.flag(at.block[0].cast_unsigned());
    let (rank, ranks) = (env.rank(), env.num_ranks());
    for step in 1..=100 {
        signal(env.remote(mine, (rank + 1) % ranks), 1000 * step + rank);
        wait(&env, mine, GE, 1000 * step, c"act.mlir:20:5");
    }
}

unsafe extern "C" fn stuck(args: *const *const std::ffi::c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, _) = unsafe { env(args, coords) };
    wait(&env, env.flag(0), GE, 7, c"act.mlir:30:5");
}

// Starting ranks.

fn rank(rank: u32, of: u32, run: &str, what: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--as", what])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let run = format!("{run}-{}", std::process::id());
    command
        .env("RANK", rank.to_string())
        .env("WORLD_SIZE", of.to_string())
        .env("TORCHELASTIC_RUN_ID", run);
    command
        .env_remove("LOCAL_WORLD_SIZE")
        .env_remove("GROUP_WORLD_SIZE")
        .env_remove("MASTER_PORT");
    command
}

fn start(ranks: u32, run: &str, what: &str) -> Vec<Child> {
    (0..ranks)
        .map(|r| rank(r, ranks, run, what).spawn().unwrap())
        .collect()
}

/// Output of each child, all of which have to end within `limit`.
fn outputs(mut children: Vec<Child>, limit: Duration) -> Vec<(bool, String)> {
    let end = Instant::now() + limit;
    while Instant::now() < end
        && children
            .iter_mut()
            .any(|child| child.try_wait().unwrap().is_none())
    {
        sleep(Duration::from_millis(5));
    }
    let late: Vec<_> = children
        .iter_mut()
        .map(|child| child.try_wait().unwrap().is_none())
        .collect();
    children.iter_mut().for_each(|child| drop(child.kill()));
    let outputs: Vec<_> = children
        .into_iter()
        .map(|child| text(&child.wait_with_output().unwrap()))
        .collect();
    assert!(
        !late.contains(&true),
        "some did not end: {late:?} {outputs:?}"
    );
    leaves_nothing();
    outputs
}

fn text(output: &Output) -> (bool, String) {
    let both = [&output.stdout[..], &output.stderr].concat();
    (output.status.success(), String::from_utf8(both).unwrap())
}

fn leaves_nothing() {
    let end = Instant::now() + Duration::from_secs(2);
    let unix = || std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    while unix().contains("@symm-") && Instant::now() < end {
        sleep(Duration::from_millis(5));
    }
    assert!(!unix().contains("@symm-"), "a socket is left");
    let shm = std::fs::read_dir("/dev/shm")
        .into_iter()
        .flatten()
        .flatten();
    assert!(
        shm.filter(|file| file.file_name().to_string_lossy().contains("symm"))
            .next()
            .is_none()
    );
    // Processes that were started and not waited for would still be children of this one.
    assert_eq!(children_of_this_process(), 0, "a process is left");
}

fn children_of_this_process() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok())
        .map(|children| children.split_whitespace().count())
        .sum()
}

// The tests.

fn ranks_exchange_data() {
    for ranks in [1, 2, 4] {
        for (r, (ok, text)) in (0_u32..).zip(outputs(
            start(ranks, "normal", "around"),
            Duration::from_secs(20),
        )) {
            let neighbour = (r + ranks - 1) % ranks;
            assert!(
                ok && text.contains(&format!("1 of {},", 100_000 + neighbour)),
                "{text}"
            );
        }
    }
}

fn a_killed_rank_is_named() {
    let begin = Instant::now();
    let outputs = outputs(start(4, "killed", "kill 2"), Duration::from_secs(3));
    println!(
        "  survivors of a killed rank ended after {:.2} s",
        begin.elapsed().as_secs_f64()
    );
    for (r, (ok, text)) in outputs.iter().enumerate() {
        assert!(!ok);
        assert!(r == 2 || text.contains("rank 2 died"), "rank {r}: {text}");
    }
}

fn a_killed_rank_0_is_named() {
    let outputs = outputs(start(3, "killed 0", "kill 0"), Duration::from_secs(3));
    for (ok, text) in &outputs[1..] {
        assert!(!ok && text.contains("rank 0 died"), "{text}");
    }
}

fn a_silent_exit_is_a_death() {
    let outputs = outputs(start(2, "exit", "exit 1"), Duration::from_secs(3));
    assert!(outputs[0].1.contains("rank 1 died"), "{outputs:?}");
}

fn a_fault_reaches_all_ranks() {
    let found = outputs(start(3, "fault", "fault"), Duration::from_secs(5));
    assert!(
        found
            .iter()
            .all(|(ok, text)| !ok && text.contains("heap is exhausted")),
        "{found:?}"
    );
    assert!(
        found
            .iter()
            .any(|(_, text)| text.starts_with("act.mlir:6:1: rank")),
        "{found:?}"
    );
    let found = outputs(start(3, "error", "error"), Duration::from_secs(5));
    assert_eq!(found[1].1.trim(), "cannot compile");
    assert_eq!(
        found[2].1.trim(),
        "stopped, because rank 1 reported: cannot compile"
    );
}

fn a_deadlock_across_processes_is_found() {
    let found = outputs(start(2, "deadlock", "deadlock"), Duration::from_secs(10));
    assert!(
        found
            .iter()
            .all(|(ok, text)| !ok && text.contains("deadlock")),
        "{found:?}"
    );
    let full = &found
        .iter()
        .find(|(_, text)| !text.starts_with("stopped"))
        .unwrap()
        .1;
    for part in [
        "rank 0, block (1,0,0) of @stuck: wait at act.mlir:30:5: flag rank 0 heap+0x200000: saw 0, expected >= 7,",
        "rank 1, block (0,0,0) of @stuck: wait at act.mlir:30:5: flag rank 1 heap+0x200000: saw 0, expected >= 7,",
    ] {
        assert!(full.contains(part), "no {part:?} in {full}");
    }
}

fn a_missing_rank_is_named() {
    let three = [0, 1, 3].map(|r| rank(r, 4, "missing", "short").spawn().unwrap());
    let found = outputs(three.into(), Duration::from_secs(8));
    assert!(
        found
            .iter()
            .all(|(ok, text)| !ok && text.contains("rank 2 did not join within 1s")),
        "{found:?}"
    );
    let alone = vec![rank(1, 2, "nobody", "short").spawn().unwrap()];
    assert!(
        outputs(alone, Duration::from_secs(5))[0]
            .1
            .contains("rank 0 did not join within 1s")
    );
}

fn a_rank_claimed_twice_is_refused() {
    let mut children: Vec<_> = [0, 1, 1]
        .map(|r| rank(r, 3, "twice", "around").spawn().unwrap())
        .into();
    let pids: Vec<_> = children[1..].iter().map(Child::id).collect();
    let found = outputs(std::mem::take(&mut children), Duration::from_secs(5));
    assert!(
        found
            .iter()
            .all(|(ok, text)| !ok && text.contains("both say that they are rank 1")),
        "{found:?}"
    );
    assert!(
        pids.iter().all(|pid| found[0].1.contains(&pid.to_string())),
        "{found:?}"
    );
    let hosts: Vec<_> = [0, 0]
        .map(|r| rank(r, 2, "twice 0", "short").spawn().unwrap())
        .into();
    assert!(
        outputs(hosts, Duration::from_secs(5))
            .iter()
            .any(|(_, text)| text.contains("both say that they are rank 0"))
    );
}

fn different_runs_are_refused() {
    for (what, part) in [
        (
            "other heap",
            "the heap's size is 16777216 on rank 1 and 8388608 on rank 0",
        ),
        (
            "other program",
            "the program is 02 on rank 1 and 01 on rank 0",
        ),
    ] {
        let found = outputs(start(3, what, what), Duration::from_secs(5));
        assert!(found.iter().all(|(ok, _)| !ok), "{found:?}");
        assert!(
            found[..2].iter().all(|(_, text)| text.contains(part)),
            "{found:?}"
        );
    }
    let sizes: Vec<_> = [(0, 2), (1, 3)]
        .map(|(r, of)| rank(r, of, "sizes", "around").spawn().unwrap())
        .into();
    let found = outputs(sizes, Duration::from_secs(5));
    assert!(
        found
            .iter()
            .all(|(_, text)| text.contains("the number of ranks is 3 on rank 1 and 2 on rank 0")),
        "{found:?}"
    );
}

/// Connections that are none of the run's ranks: one is silent, one talks something else.
fn strangers_do_no_harm() {
    let host = rank(0, 2, "strangers", "around").spawn().unwrap();
    let name = socket_of_run();
    let mut strangers: Vec<_> = (0..2)
        .map(|_| UnixStream::connect_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap())
        .collect();
    strangers[1]
        .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    let guest = rank(1, 2, "strangers", "around").spawn().unwrap();
    let found = outputs(vec![host, guest], Duration::from_secs(4));
    assert!(found.iter().all(|(ok, _)| *ok), "{found:?}");
}

/// Waits for rank 0's socket to appear.
fn socket_of_run() -> String {
    let end = Instant::now() + Duration::from_secs(5);
    loop {
        let unix = std::fs::read_to_string("/proc/net/unix").unwrap();
        let name = unix.split_whitespace().find_map(|word| {
            word.strip_prefix("@")
                .filter(|name| name.starts_with("symm-"))
        });
        if let Some(name) = name {
            return name.to_owned();
        }
        assert!(Instant::now() < end, "rank 0 does not listen");
        sleep(Duration::from_millis(2));
    }
}

fn traces_come_together_on_rank_0() {
    let found = outputs(start(3, "trace", "trace"), Duration::from_secs(20));
    assert!(
        found[0].0
            && found[0]
                .1
                .contains(&format!("waits traced {}", 3 * 4 * 100)),
        "{found:?}"
    );
    assert!(
        found[1].0 && found[1].1.contains("waits traced 0"),
        "{found:?}"
    );
}

fn the_spawner_reports_and_cleans_up() {
    let spawn = |what: &str| {
        spawn_processes(&Spawn {
            ranks: 3,
            program: std::env::current_exe().unwrap(),
            args: vec!["--as".into(), what.into()],
            grace: Duration::from_secs(5),
        })
    };
    spawn("around").unwrap();
    let message = spawn("kill 2").unwrap_err().to_string();
    assert!(
        message.contains("rank 2 was killed by signal 9")
            && message.contains("rank 0 exited with code 1"),
        "{message}"
    );
    leaves_nothing();
    let missing = Spawn {
        ranks: 1,
        program: "/nonexistent".into(),
        args: Vec::new(),
        grace: Duration::ZERO,
    };
    assert!(
        spawn_processes(&missing)
            .unwrap_err()
            .to_string()
            .contains("/nonexistent")
    );
}
