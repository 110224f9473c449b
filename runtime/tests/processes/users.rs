//! Ordinary users, other users, and ranks in containers of their own.

use std::fs::Permissions;
use std::hash::{DefaultHasher, Hasher};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::RecvTimeoutError;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::SOON;
use crate::start::{outputs, port, rank};

pub const TESTS: [(&str, fn()); 8] = [
    ("128_ranks_of_an_ordinary_user", many_ranks_of_an_ordinary_user),
    ("another_user_who_listens_and_does_not_answer", another_user_who_listens_and_does_not_answer),
    ("another_user_who_listens_is_told_nothing", another_user_who_listens_is_told_nothing),
    ("another_user_who_connects_is_told_nothing", another_user_who_connects_is_told_nothing),
    ("a_guest_that_dribbles_does_not_hold_rank_0", a_guest_that_dribbles_does_not_hold_rank_0),
    ("ranks_in_pid_namespaces_of_their_own", ranks_in_pid_namespaces_of_their_own),
    ("ranks_in_user_namespaces_of_their_own_are_told", ranks_in_user_namespaces_of_their_own_are_told),
    ("threads_of_all_ranks_together_are_refused", threads_of_all_ranks_together_are_refused),
];

/// The user that ranks run as where this test runs as root.
const NOBODY: u32 = 65534;

/// Whether this is root, and not in a namespace that has no other user.
fn is_root() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let has_nobody = map.lines().any(|line| {
        let mut range = line.split_whitespace().filter_map(|number| number.parse::<u64>().ok());
        let (first, count) = (range.next(), range.nth(1));
        first.zip(count).is_some_and(|(first, count)| (first..first + count).contains(&NOBODY.into()))
    });
    rustix::process::geteuid().is_root() && has_nobody
}

/// This program, where every user may start it.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

fn copy_program() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("symm-processes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    let copy = folder.join("processes");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    std::fs::set_permissions(&copy, Permissions::from_mode(0o755)).unwrap();
    copy
}

/// Removes what [`PROGRAM`] has made.
pub fn clean_up() {
    if let Some(folder) = PROGRAM.get().and_then(|program| program.parent()) {
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// The same as a user without privileges: as root, another one.
pub fn ordinary(command: &Command, shell: &str) -> Command {
    let mut ordinary = Command::new("sh");
    ordinary.args(["-c", &format!("{shell}exec \"$0\" \"$@\"")]);
    ordinary
        .arg(if is_root() { PROGRAM.get_or_init(copy_program).as_os_str() } else { command.get_program() })
        .args(command.get_args());
    ordinary.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    for (name, _) in command.get_envs().filter(|(_, value)| value.is_none()) {
        ordinary.env_remove(name);
    }
    ordinary.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).current_dir("/");
    if is_root() {
        ordinary.uid(NOBODY).gid(NOBODY);
    }
    ordinary
}

/// Root is exempt from the limit on descriptors that are on their way.
fn many_ranks_of_an_ordinary_user() {
    let begin = Instant::now();
    let many = (0..128).map(|r| ordinary(&rank(r, 128, "many", "join"), "ulimit -n 1024; ").spawn().unwrap());
    let many: Vec<Child> = many.collect();
    for (ok, text) in outputs(many, 2 * SOON) {
        assert!(ok, "{text}");
    }
    println!("  128 ranks joined and left in {:.1} s", begin.elapsed().as_secs_f64());
}

/// The socket's name of the ranks that [`ordinary`] starts.
fn socket_of(run: &str, user: u32) -> SocketAddr {
    let mut hash = DefaultHasher::new();
    hash.write(format!("{run}-{}", std::process::id()).as_bytes());
    hash.write_u8(0);
    SocketAddr::from_abstract_name(format!("symm-{user}-{}-{:016x}", port(), hash.finish())).unwrap()
}

/// Whether there can be another user; only root can be one.
fn has_another_user(test: &str) -> bool {
    if !is_root() {
        println!("  {test}: skipped, for it takes root to be another user");
    }
    is_root()
}

/// Nobody accepts, and there is no room for one more connection.
fn another_user_who_listens_and_does_not_answer() {
    if !has_another_user("another user") {
        return;
    }
    let address = socket_of("occupied", NOBODY);
    let listener = UnixListener::bind_addr(&address).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let waiting = UnixStream::connect_addr(&address).unwrap();
    for r in [0, 1] {
        let found = ends(ordinary(&rank(r, 2, "occupied", "short"), "").spawn().unwrap());
        assert!(found.contains("a process listens on this run's socket and does not answer"), "{found}");
    }
    drop((listener, waiting));
}

/// What a process says that is to end soon.
fn ends(mut child: Child) -> String {
    let end = Instant::now() + SOON;
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end || child.kill().is_err(), "it does not end");
        sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

fn another_user_who_listens_is_told_nothing() {
    if !has_another_user("another user") {
        return;
    }
    let listener = UnixListener::bind_addr(&socket_of("foreign", NOBODY)).unwrap();
    for r in [0, 1] {
        let child = ordinary(&rank(r, 2, "foreign", "short"), "").spawn().unwrap();
        let mut heard = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut heard).unwrap();
        let found = ends(child);
        assert!(found.contains("another user listens on this run's socket"), "{found}");
        assert!(heard.is_empty(), "{}", String::from_utf8_lossy(&heard));
    }
}

/// They come in numbers, and say what a rank would say.
fn another_user_who_connects_is_told_nothing() {
    if !has_another_user("another user") {
        return;
    }
    let host = ordinary(&rank(0, 2, "foreign guests", "around"), "").spawn().unwrap();
    let address = socket_of("foreign guests", NOBODY);
    let connect = || {
        let end = Instant::now() + SOON;
        loop {
            match UnixStream::connect_addr(&address) {
                Ok(stream) => break stream,
                Err(error) => assert!(Instant::now() < end, "{error}"),
            }
            sleep(Duration::from_millis(2));
        }
    };
    let mut strangers: Vec<_> = (0..300).map(|_| connect()).collect();
    for stranger in &mut strangers {
        let _ = stranger.write_all(&hello(1, 2));
    }
    let guest = ordinary(&rank(1, 2, "foreign guests", "around"), "").spawn().unwrap();
    let found = outputs(vec![host, guest], SOON);
    assert!(found.iter().all(|(ok, _)| *ok), "{found:?}");
    for stranger in &mut strangers {
        let mut heard = Vec::new();
        let _ = stranger.read_to_end(&mut heard);
        assert!(heard.is_empty(), "{}", String::from_utf8_lossy(&heard));
    }
}

/// A message as the bootstrap's.
fn message(body: &str) -> Vec<u8> {
    [&b"symm-msg"[..], &(body.len() as u64).to_le_bytes(), body.as_bytes()].concat()
}

/// What a rank says first.
fn hello(rank: u32, num_ranks: u32) -> Vec<u8> {
    let options = r#"[["steps","7"]]"#;
    message(&format!(
        r#"{{"version":11,"rank":{rank},"num_ranks":{num_ranks},"program":"01","options":{options},"died":false}}"#
    ))
}

/// One has not said who it is, and one has, and both go on a byte at a time, for ever.
fn a_guest_that_dribbles_does_not_hold_rank_0() {
    let host = rank(0, 3, "dribble", "short").spawn().unwrap();
    let name = crate::socket_of_run();
    let connect = || UnixStream::connect_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let (silent, mut guest) = (connect(), connect());
    guest.write_all(&hello(1, 3)).unwrap();
    let child = rank(2, 3, "dribble", "short").spawn().unwrap();
    let (is_over, over) = std::sync::mpsc::channel::<()>();
    let dribble = std::thread::spawn(move || {
        // Longer than anybody waits here.
        for byte in message(&" ".repeat(5000)) {
            let _ = rustix::net::send(silent.as_fd(), &[byte], rustix::net::SendFlags::NOSIGNAL);
            let _ = rustix::net::send(guest.as_fd(), &[byte], rustix::net::SendFlags::NOSIGNAL);
            if over.recv_timeout(Duration::from_millis(40)) == Err(RecvTimeoutError::Disconnected) {
                break;
            }
        }
    });
    let found = outputs(vec![host, child], SOON);
    drop(is_over);
    dribble.join().unwrap();
    let said = format!("rank 1 (process {}) has not answered for 3s", std::process::id());
    assert!(found.iter().all(|(ok, text)| !ok && text.contains(&said)), "{found:?}");
}

/// As in containers that share a network: no process sees another's number.
fn ranks_in_pid_namespaces_of_their_own() {
    let mut apart = vec!["--pid", "--fork", "--kill-child"];
    if !is_root() {
        apart.extend(["--user", "--map-current-user"]);
    }
    let permitted = Command::new("unshare").args(&apart).arg("true").stderr(Stdio::null()).status();
    if !permitted.is_ok_and(|status| status.success()) {
        println!("  skipped, for namespaces are not permitted here");
        return;
    }
    let contained = |command: Command| {
        let mut contained = Command::new("unshare");
        contained.args(&apart).arg(command.get_program()).args(command.get_args());
        contained.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        contained.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let around = (0..3).map(|r| contained(rank(r, 3, "contained", "around"))).collect();
    for (ok, text) in outputs(around, SOON) {
        assert!(ok, "{text}");
    }
    // Two say that they are rank 1; then one dies.
    let twice = [0, 1, 1].map(|r| contained(rank(r, 3, "contained twice", "around"))).into();
    for (ok, text) in outputs(twice, SOON) {
        let both = "a process of another PID namespace and a process of another PID namespace both say";
        assert!(!ok && text.contains(both), "{text}");
    }
    let found = outputs((0..3).map(|r| contained(rank(r, 3, "contained kill", "join and die"))).collect(), SOON);
    assert!(found[0].1.contains("rank 1 died") && found[2].1.contains("rank 1 died"), "{found:?}");
}

/// Each has the same user, under another number.
fn ranks_in_user_namespaces_of_their_own_are_told() {
    let apart = "unshare --user --map-root-user ";
    let permitted = Command::new("sh").args(["-c", &format!("{apart} true")]).stderr(Stdio::null()).status();
    if !permitted.is_ok_and(|status| status.success()) {
        println!("  skipped, for namespaces are not permitted here");
        return;
    }
    for inside in [0, 1] {
        let ranks = [0, 1].map(|r| {
            let shell = if r == inside { format!("exec {apart}\"$0\" \"$@\"; ") } else { String::new() };
            ordinary(&rank(r, 2, "other user", "around"), &shell).spawn().unwrap()
        });
        for (ok, text) in outputs(ranks.into(), SOON) {
            let said = "rank 1 could not join the run: it is in another user namespace than rank 0 (user ";
            assert!(!ok && text.contains(said), "{text}");
        }
    }
}

/// Those of one rank would be few enough.
fn threads_of_all_ranks_together_are_refused() {
    // dash and bash name the limit differently.
    let limit = "ulimit -p 9000 2> /dev/null || ulimit -u 9000; ";
    let ranks = [0, 1].map(|r| ordinary(&rank(r, 2, "threads", "many blocks"), limit).spawn().unwrap());
    let found = outputs(ranks.into(), SOON);
    assert!(found.iter().all(|(ok, _)| !ok), "{found:?}");
    // The second rank counts the threads that the first has started meanwhile.
    let numbers = |text: &str| -> Option<[u32; 2]> {
        let (more, rest) = text.split_once(" need ")?.1.split_once(" more threads, and ")?;
        let (there, _) = rest.split_once(" of at most 9000 threads of this user (ulimit -u)")?;
        Some([more.parse().ok()?, there.parse().ok()?])
    };
    let told = found.iter().find_map(|(_, text)| numbers(text));
    assert!(told.is_some_and(|[more, there]| more > 8000 && more + there > 9000), "{found:?}");
}
