//! Ranks that are started as on several hosts: they meet at a port, and talk over TCP. In place of GPUs and NVSHMEM
//! there are libraries that have their functions.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use symm_runtime::{Bootstrap, Config, Device, EngineOfGpus, Error, Rank, Ranks, catch_interrupts, join, run};

use crate::start::{self, next_line, outputs, text};
use crate::{PATIENCE, SOON};

pub const TESTS: [(&str, fn()); 13] = [
    ("hosts_ranks_exchange_what_they_say", ranks_exchange_what_they_say),
    ("hosts_a_run_ends_on_all", a_run_ends_on_all),
    ("hosts_a_dead_rank_is_named_by_all", a_dead_rank_is_named_by_all),
    ("hosts_a_rank_that_dies_while_the_engine_starts_is_named", a_rank_that_dies_while_the_engine_starts_is_named),
    ("hosts_a_rank_may_die_while_the_engine_ends", a_rank_may_die_while_the_engine_ends),
    ("hosts_ctrl_c_ends_a_wait_for_the_engine", ctrl_c_ends_a_wait_for_the_engine),
    ("hosts_a_rank_that_cannot_load_its_code_is_named", a_rank_that_cannot_load_its_code_is_named),
    ("hosts_different_calls_are_shown", different_calls_are_shown),
    ("hosts_a_timeout_shows_all_ranks", a_timeout_shows_all_ranks),
    ("hosts_different_runs_are_refused", different_runs_are_refused),
    ("hosts_a_missing_rank_is_named", a_missing_rank_is_named),
    ("hosts_strangers_do_no_harm", strangers_do_no_harm),
    ("hosts_ranks_in_network_namespaces", ranks_in_network_namespaces),
];

const RANKS: u32 = 3;

/// Where the libraries lie.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hosts-{}", std::process::id()))
}

/// The libraries in place of CUDA's and NVSHMEM's: a folder and a file.
static LIBRARIES: LazyLock<(PathBuf, PathBuf)> = LazyLock::new(|| {
    let folder = folder();
    std::fs::create_dir_all(&folder).unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
    let build = |name: &str, source: &str| {
        let mut command = Command::new("cc");
        command.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-shared", "-fPIC"]);
        let library = folder.join(name);
        assert!(command.arg(sources.join(source)).arg("-o").arg(&library).status().expect("a C compiler").success());
        library
    };
    build("libcuda.so", "c/tests/cuda.c");
    let nvshmem = build("libnvshmem_host.so.3", "tests/processes/nvshmem.c");
    (folder, nvshmem)
});

/// Removes the libraries, if they were built.
pub fn clean_up() {
    // There are none if no test needed them.
    let _ = std::fs::remove_dir_all(folder());
}

/// A port that nobody listens at.
fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// A rank that is alone on its host.
fn rank(rank: u32, port: u16, what: &str) -> Command {
    let (folder, nvshmem) = &*LIBRARIES;
    let mut command = start::rank(rank, RANKS, "hosts", &format!("hosts {what}"));
    command.env("LOCAL_WORLD_SIZE", "1").env("MASTER_ADDR", "127.0.0.1").env("SYMM_PORT", port.to_string());
    command.env("LD_LIBRARY_PATH", folder).env("SYMM_NVSHMEM_LIBRARY", nvshmem);
    command.env_remove("CUDA_MODULE_LOADING").env_remove("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME");
    command
}

fn start(what: &str) -> Vec<Child> {
    let port = free_port();
    (0..RANKS).map(|r| rank(r, port, what).spawn().unwrap()).collect()
}

// ---- What the ranks do ----

pub fn as_rank(what: &str) -> Result<String, Error> {
    let engine = EngineOfGpus::default();
    let mut bootstrap = Bootstrap::for_engine(Some(&engine), None)?;
    let me = bootstrap.rank();
    bootstrap.deadline = if what == "short" { Duration::from_secs(2) } else { PATIENCE };
    bootstrap.options = vec![("the domain".to_owned(), if what == "option" { me.to_string() } else { String::new() })];
    let mut config = Config::new(Ranks::Process(bootstrap));
    (config.device, config.engine, config.heap_size) = (Device::Cuda(Vec::new()), Some(engine), 8 << 20);
    config.timeout = Some(if what == "late" { Duration::from_secs(1) } else { PATIENCE });
    if what == "run" {
        let body = |rank: &Rank| exchange(rank).and_then(|()| fails(rank));
        return run(&config, body).map(|_| "ended".to_owned()).map_err(|failure| failure.error);
    }
    if what == "interrupted" {
        catch_interrupts(true)?;
        println!("starts");
    }
    if what == "again" {
        let rank = join(&config)?.remove(0);
        exchange(&rank)?;
        rank.leave()?;
    }
    let rank = join(&config)?.remove(0);
    if what == "wait" {
        println!("joined");
    }
    exchange(&rank)?;
    match what {
        "die 0" | "die 1" => {
            if what.ends_with(&me.to_string()) {
                start::signal(std::process::id(), Signal::KILL);
            }
            rank.barrier()?;
        }
        "calls" if me == 1 => drop(rank.alloc(64, 0)?),
        "late" if me == 1 => std::thread::sleep(Duration::from_secs(3)),
        "calls" | "late" => rank.barrier()?,
        _ => {}
    }
    rank.leave().map(|()| "left".to_owned())
}

/// Rank 1 fails if the environment has it so.
fn fails(rank: &Rank) -> Result<(), Error> {
    if rank.rank() == 1 && std::env::var_os("FAILS").is_some() {
        return Err(Error::Program("what rank 1 says".to_owned()));
    }
    rank.barrier()
}

/// Everything that the ranks tell each other, and each rank's own memory.
fn exchange(rank: &Rank) -> Result<(), Error> {
    for (root, value) in (0..rank.num_ranks()).zip(7_u8..) {
        for bytes in [1, 200_000] {
            let mut told = vec![if rank.rank() == root { value } else { 0 }; bytes];
            rank.broadcast(root, &mut told)?;
            assert!(told.iter().all(|byte| *byte == value), "from rank {root}");
        }
    }
    for turn in 0..20_u8 {
        let own = rank.alloc(1000, 0)?;
        let mut read = [1; 1000];
        rank.read(own, &mut read)?;
        assert_eq!(read, [0; 1000]);
        rank.write(own, &[turn; 1000])?;
        rank.barrier()?;
        rank.read(own, &mut read)?;
        assert_eq!(read, [turn; 1000]);
        rank.free(own)?;
    }
    Ok(())
}

// ---- What the tests see ----

fn ranks_exchange_what_they_say() {
    // One run, and two at the same port, one after the other.
    for what in ["all", "again"] {
        let all = outputs(start(what), SOON);
        assert!(all.iter().all(|(well, text)| *well && text == "left\n"), "{all:?}");
    }
    // Ranks 0 and 1 see each other's memory.
    let port = free_port();
    let near: Vec<_> = (0..RANKS).map(|r| rank(r, port, "all").env("STAND_IN_NEAR", "2").spawn().unwrap()).collect();
    let near = outputs(near, SOON);
    assert!(near.iter().all(|(well, text)| *well && text == "left\n"), "{near:?}");
}

fn a_run_ends_on_all() {
    assert!(outputs(start("run"), SOON).iter().all(|(well, text)| *well && text == "ended\n"));
    a_failure_is_said_by_all();
}

pub fn a_failure_is_said_by_all() {
    let port = free_port();
    let fails: Vec<_> = (0..RANKS).map(|r| rank(r, port, "run").env("FAILS", "1").spawn().unwrap()).collect();
    for (rank, (well, text)) in outputs(fails, SOON).into_iter().enumerate() {
        assert!(!well && text.contains("what rank 1 says"), "rank {rank}: {text}");
    }
}

fn a_dead_rank_is_named_by_all() {
    for dead in [0, 1] {
        let begin = Instant::now();
        for (rank, (well, text)) in outputs(start(&format!("die {dead}")), SOON).into_iter().enumerate() {
            assert!(!well && (rank == dead || text.contains(&format!("rank {dead} died"))), "rank {rank}: {text}");
        }
        assert!(begin.elapsed() < SOON);
    }
}

/// What each rank says where rank `dead` dies in a call of the engine.
fn die_in(call: &str, what: &str, dead: u32) -> Vec<(bool, String)> {
    let port = free_port();
    let dies = |r| {
        let mut rank = rank(r, port, what);
        rank.env("STAND_IN_DIES", dead.to_string()).env("STAND_IN_DIES_IN", call).spawn().unwrap()
    };
    outputs((0..RANKS).map(dies).collect(), SOON)
}

fn a_rank_that_dies_while_the_engine_starts_is_named() {
    for (call, dead) in [("init", 0), ("init", 2), ("align", 0), ("align", 2)] {
        for (rank, (well, text)) in (0..).zip(die_in(call, "all", dead)) {
            let named = text.contains(&format!("rank {dead} died")) && !text.contains("destructors ran");
            assert!(!well && (rank == dead || named), "rank {rank}, {call}: {text}");
        }
    }
}

/// Nobody waits for it: all have come to the end. The devices' objects are left, for the engine may still use them.
fn a_rank_may_die_while_the_engine_ends() {
    for (call, what, dead) in [("free", "all", 0), ("finalize", "all", 2), ("free", "run", 2), ("finalize", "run", 0)] {
        let begin = Instant::now();
        for (rank, (_, text)) in (0..).zip(die_in(call, what, dead)) {
            let ended = if what == "run" { "ended" } else { "left" };
            let ended = text.lines().next() == Some(ended) && !text.contains("destructors ran");
            assert!(rank == dead || ended, "rank {rank}, {call}: {text}");
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "{call}: {:?}", begin.elapsed());
    }
}

/// Rank 2 stays in it.
fn ctrl_c_ends_a_wait_for_the_engine() {
    for call in ["init", "align", "free", "finalize"] {
        let (port, begin) = (free_port(), Instant::now());
        let hangs = |r| {
            let mut rank = rank(r, port, "interrupted");
            rank.env("STAND_IN_DIES", "2").env("STAND_IN_DIES_IN", call).env("STAND_IN_HANGS", "1").spawn().unwrap()
        };
        let mut children: Vec<_> = (0..RANKS).map(hangs).collect();
        assert_eq!(next_line(&mut children[0]), "starts");
        // Long enough to come to the call, and right if it is not.
        std::thread::sleep(Duration::from_millis(300));
        start::signal(children[0].id(), Signal::INT);
        let all = outputs(children, SOON);
        assert!(all[0].1.starts_with("interrupted") && begin.elapsed() < Duration::from_secs(20), "{call}: {all:?}");
    }
}

/// It has met the others already, and has started the engine with them.
fn a_rank_that_cannot_load_its_code_is_named() {
    let port = free_port();
    let start = |r: u32| {
        let mut rank = rank(r, port, "all");
        if r == 1 {
            rank.env("STAND_IN_LOADS_NOTHING", "1");
        }
        rank.spawn().unwrap()
    };
    for (rank, (well, text)) in (0..).zip(outputs((0..RANKS).map(start).collect(), SOON)) {
        let told = if rank == 1 { "CUDA could not" } else { "stopped, because rank 1 reported: CUDA could not" };
        assert!(!well && text.starts_with(told), "rank {rank}: {text}");
    }
}

fn different_calls_are_shown() {
    for (rank, (well, text)) in outputs(start("calls"), SOON).into_iter().enumerate() {
        let all = ["rank 0: barrier_all", "rank 1: alloc of 64 bytes", "rank 2: barrier_all"];
        assert!(!well && all.iter().all(|part| text.contains(part)), "rank {rank}: {text}");
    }
}

fn a_timeout_shows_all_ranks() {
    let outputs = outputs(start("late"), SOON);
    let reports = outputs.iter().filter(|(_, text)| {
        ["rank 0: barrier_all", "rank 1: host function running", "rank 2: barrier_all"]
            .iter()
            .all(|part| text.contains(part))
    });
    assert!(reports.count() >= 1 && outputs.iter().all(|(well, _)| !well), "{outputs:?}");
}

fn different_runs_are_refused() {
    for (rank, (well, text)) in outputs(start("option"), SOON).into_iter().enumerate() {
        assert!(!well && text.contains("the domain is"), "rank {rank}: {text}");
    }
}

fn a_missing_rank_is_named() {
    let port = free_port();
    let without = |missing: u32| (0..RANKS).filter(move |r| *r != missing).map(|r| rank(r, port, "short"));
    for (well, text) in outputs(without(2).map(|mut rank| rank.spawn().unwrap()).collect(), SOON) {
        assert!(!well && text.contains("rank 2 did not join"), "{text}");
    }
    for (well, text) in outputs(without(0).map(|mut rank| rank.spawn().unwrap()).collect(), SOON) {
        let said = format!("rank 0 does not listen at port {port} of 127.0.0.1 (SYMM_PORT is {port})");
        assert!(!well && text.contains(&said), "{text}");
    }
}

/// Whoever else connects.
fn strangers_do_no_harm() {
    let port = free_port();
    let mut children = vec![rank(0, port, "wait").spawn().unwrap()];
    let mut strangers = Vec::new();
    for text in ["", "GET / HTTP/1.1\r\n\r\n", "symm-msg", "symm-msg\x02\0\0\0\0\0\0\0{}"] {
        let mut stranger = loop {
            match TcpStream::connect(("127.0.0.1", port)) {
                Ok(stream) => break stream,
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        stranger.write_all(text.as_bytes()).unwrap();
        strangers.push(stranger);
    }
    let of_another_run = rank(1, port, "wait").env("TORCHELASTIC_RUN_ID", "another").spawn().unwrap();
    let (_, said) = text(&of_another_run.wait_with_output().unwrap());
    assert!(said.contains("ranks 1 and 0 do not belong to one run: the launcher's run is"), "{said}");
    children.extend((1..RANKS).map(|r| rank(r, port, "wait").spawn().unwrap()));
    assert_eq!(next_line(&mut children[1]), "joined");
    assert!(outputs(children, SOON).iter().all(|(well, text)| *well && text.ends_with("left\n")));
    // Something else listens in rank 0's place.
    let other = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = other.local_addr().unwrap().port();
    let one = rank(1, port, "short").spawn().unwrap();
    let (mut stream, _) = other.accept().unwrap();
    stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n").unwrap();
    let said = outputs(vec![one], SOON).remove(0).1;
    assert!(said.contains(&format!("what listens at port {port} of 127.0.0.1")), "{said}");
    assert!(said.contains("is not rank 0 of a run"), "{said}");
}

/// Two network namespaces that a virtual cable joins.
struct Cable([String; 2]);

/// Their addresses, in a range for documents and tests.
const ADDRESSES: [&str; 2] = ["198.18.77.1", "198.18.77.2"];

impl Cable {
    /// `None` where this user may not make them.
    fn new() -> Option<Self> {
        let cable = Self(["a", "b"].map(|end| format!("symm-{}-{end}", std::process::id())));
        let Self([first, second]) = &cable;
        let joined = format!(
            "ip netns add {first} && ip netns add {second} && ip link add symm0 netns {first} type veth peer name \
             symm0 netns {second}"
        );
        let up = [first, second].into_iter().zip(ADDRESSES).map(|(end, address)| {
            format!(" && ip -n {end} address add {address}/24 dev symm0 && ip -n {end} link set symm0 up")
        });
        // A socket for IPv6 takes no IPv4 there, unless it says so itself.
        let apart = format!("(ip netns exec {first} sh -c 'echo 1 > /proc/sys/net/ipv6/bindv6only' || true)");
        let all = format!("{joined}{} && {apart}", up.collect::<String>());
        let made = Command::new("sh").args(["-c", &all]).stderr(Stdio::null()).status();
        made.is_ok_and(|status| status.success()).then_some(cable)
    }

    /// A command of one end.
    fn at(&self, end: usize, command: &Command) -> Command {
        let mut inside = Command::new("ip");
        inside.args(["netns", "exec", &self.0[end]]).arg(command.get_program()).args(command.get_args());
        inside.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        inside.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        inside
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        for end in &self.0 {
            let _ = Command::new("ip").args(["netns", "delete", end]).stderr(Stdio::null()).status();
        }
    }
}

/// What they say crosses the cable: there is no other way.
fn ranks_in_network_namespaces() {
    let Some(cable) = Cable::new() else {
        println!("  skipped: no network namespaces can be made here");
        return;
    };
    let port = free_port();
    for (what, well) in [("all", true), ("die 1", false)] {
        let start = |r: u32| {
            let mut rank = rank(r, port, what);
            cable.at(usize::from(r > 0), rank.env("MASTER_ADDR", ADDRESSES[0])).spawn().unwrap()
        };
        for (rank, (ended_well, text)) in outputs((0..RANKS).map(start).collect(), SOON).into_iter().enumerate() {
            let said = if well { text == "left\n" } else { rank == 1 || text.contains("rank 1 died") };
            assert!(ended_well == well && said, "rank {rank}: {text}");
        }
    }
}
