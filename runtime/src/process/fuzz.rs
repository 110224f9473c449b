//! Frames of any kind on the bootstrap's sockets: nobody panics, nobody hangs.
//!
//! `SYMM_FUZZ_FRAMES` sets the number of frames, `SYMM_FUZZ_SEED` the seed, which is printed.

use std::io::{IoSlice, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use serde::Serialize;

use super::environment::Bootstrap;
use super::rendezvous::{Offer, Session, join};
use super::terms::{Answer, Hello, Memory, Ready};
use crate::control::Control;
use crate::error::Error;
use crate::memory;

const FRAMES: u32 = 900;
const HEAP: u64 = 4 << 20;
/// How long ranks wait here for one that sends too little.
const DEADLINE: Duration = Duration::from_millis(10);
/// How long a rank may take in all, on a busy machine.
const HANGS: Duration = Duration::from_secs(30);
/// Most descriptors of a message that the system sends.
const MOST_FDS: usize = 253;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

/// Frames for each of the tests here.
fn frames() -> u64 {
    number("SYMM_FUZZ_FRAMES").unwrap_or(FRAMES.into()).div_ceil(3)
}

fn dice() -> Rng {
    let seed = number("SYMM_FUZZ_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("SYMM_FUZZ_SEED={seed}");
    Rng::with_seed(seed)
}

/// The bootstrap of a rank in a run of two ranks, with a unique name.
fn bootstrap(rank: u32, run: u32, deadline: Duration) -> Bootstrap {
    let get = |name: &str| match name {
        "RANK" => Some(rank.to_string()),
        "WORLD_SIZE" => Some("2".to_owned()),
        "TORCHELASTIC_RUN_ID" => Some(format!("fuzz-{}-{run}", std::process::id())),
        _ => None,
    };
    let mut bootstrap = Bootstrap::from_variables(get).unwrap();
    bootstrap.deadline = deadline;
    bootstrap
}

fn next_run() -> u32 {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    RUNS.fetch_add(1, Ordering::Relaxed)
}

fn offer() -> Offer {
    let heap = memory::create("fuzz", HEAP).unwrap();
    Offer { heap: Some(heap), heap_size: HEAP, trace: false, device: "cpu", sealed: true }
}

/// A rank that meets another, on its own thread.
fn rank(bootstrap: Bootstrap) -> Receiver<Result<Session, Error>> {
    let (send, receive) = channel();
    thread::spawn(move || send.send(join(&bootstrap, offer())));
    receive
}

fn address(bootstrap: &Bootstrap) -> SocketAddr {
    SocketAddr::from_abstract_name(&bootstrap.socket).unwrap()
}

/// `None` when the rank has already ended: its deadline is short.
fn connect(bootstrap: &Bootstrap, host: &Receiver<Result<Session, Error>>) -> Option<UnixStream> {
    let address = address(bootstrap);
    loop {
        if let Ok(stream) = UnixStream::connect_addr(&address) {
            return Some(stream);
        }
        match host.recv_timeout(Duration::from_micros(50)) {
            Err(RecvTimeoutError::Timeout) => {}
            ended => {
                ended.expect("rank 0 has panicked").expect_err("it is alone");
                return None;
            }
        }
    }
}

/// A message as [`super::message::send`] makes it.
fn frame(body: &impl Serialize) -> Vec<u8> {
    let body = serde_json::to_vec(body).unwrap();
    [&b"symm-msg"[..], &(body.len() as u64).to_le_bytes(), &body].concat()
}

/// Something like `frame`.
fn mutated(dice: &mut Rng, mut frame: Vec<u8>) -> Vec<u8> {
    for _ in 0..dice.u32(..4) {
        let at = dice.usize(..=frame.len());
        match dice.u32(..8) {
            0 => frame.truncate(at),
            1 => frame.insert(at, dice.u8(..)),
            2 => frame.extend_from_within(at..),
            3 if frame.len() >= 16 => {
                let length = [0, 1, 1 << 20, 16 << 20, u64::MAX][dice.usize(..5)];
                frame[8..16].copy_from_slice(&length.to_le_bytes());
            }
            4 => {
                // A number becomes another one.
                let numbers = ["-1", "0", "4294967295", "18446744073709551616", "1e400", "null", "[]", "\"x\""];
                if let Some(digit) = frame.iter().skip(16).position(u8::is_ascii_digit) {
                    let number = numbers[dice.usize(..numbers.len())].bytes();
                    frame.splice(16 + digit..17 + digit, number);
                    set_length(&mut frame);
                }
            }
            5 => {
                frame.splice(at.max(16).min(frame.len()).., b"[".repeat(dice.usize(..3000)));
                set_length(&mut frame);
            }
            _ => {
                if let Some(byte) = frame.get_mut(at) {
                    *byte = dice.u8(..);
                }
            }
        }
    }
    frame
}

fn set_length(frame: &mut [u8]) {
    if let Some(length) = frame.len().checked_sub(16) {
        frame[8..16].copy_from_slice(&(length as u64).to_le_bytes());
    }
}

/// Sends in pieces, any of them with descriptors. Errors are ignored: the receiver may be gone.
fn say(dice: &mut Rng, stream: &UnixStream, mut frame: &[u8], fd: &OwnedFd) {
    while !frame.is_empty() {
        let piece = if dice.u32(..3) == 0 { 1 + dice.usize(..frame.len()) } else { frame.len() };
        let fds = vec![fd.as_fd(); [0, 1, 2, 3, MOST_FDS][dice.usize(..5)]];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        assert!(fds.is_empty() || beside.push(SendAncillaryMessage::ScmRights(&fds)));
        let Ok(sent) = sendmsg(stream, &[IoSlice::new(&frame[..piece])], &mut beside, SendFlags::NOSIGNAL) else {
            return;
        };
        frame = &frame[sent..];
    }
}

/// Some close their half, some the whole, some wait for an answer.
fn part(dice: &mut Rng, mut stream: UnixStream) {
    match dice.u32(..8) {
        0 => drop(stream.shutdown(std::net::Shutdown::Write)),
        1 => {
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = stream.read(&mut [0; 100]);
        }
        2 => thread::sleep(Duration::from_millis(2)),
        _ => {}
    }
}

/// A frame that is no greeting changes nothing for the ranks.
#[test]
fn strangers_do_not_hold_up_rank_0() {
    let (mut dice, run) = (dice(), next_run());
    let (host_at, member_at) = (bootstrap(0, run, Duration::from_secs(600)), bootstrap(1, run, HANGS));
    let (host, fd) = (rank(host_at.clone()), memory::create("stranger", 4096).unwrap());
    for _ in 0..frames() {
        let greeting = frame(&Hello::new(&member_at));
        let bytes = mutated(&mut dice, greeting);
        let body = bytes.get(16..).unwrap_or_default();
        let declared = bytes.get(8..16).map(|length| u64::from_le_bytes(length.try_into().unwrap()));
        let whole = declared.filter(|length| bytes.starts_with(b"symm-msg") && *length <= body.len() as u64);
        if whole.is_some_and(|length| serde_json::from_slice::<Hello>(&body[..length as usize]).is_ok()) {
            continue;
        }
        let stream = connect(&host_at, &host).expect("rank 0 waits");
        say(&mut dice, &stream, &bytes, &fd);
        part(&mut dice, stream);
    }
    let member = rank(member_at);
    for rank in [host, member] {
        rank.recv_timeout(HANGS).expect("a rank hangs or has panicked").expect("they meet");
    }
}

/// Whatever another rank sends, rank 0 succeeds or ends with an error.
#[test]
fn rank_0_survives_other_ranks() {
    let mut dice = dice();
    let heap = memory::create("member", HEAP).unwrap();
    for _ in 0..frames() {
        let run = next_run();
        let host_at = bootstrap(0, run, DEADLINE);
        let host = rank(host_at.clone());
        let Some(stream) = connect(&host_at, &host) else { continue };
        let hello = frame(&Hello::new(&bootstrap(1, run, DEADLINE)));
        let hello = if dice.u32(..4) == 0 { mutated(&mut dice, hello) } else { hello };
        say(&mut dice, &stream, &hello, &heap);
        let ready = match dice.u32(..4) {
            0 => frame(&Ready::Declines("no".to_owned())),
            _ => frame(&Ready::Brings(Memory::of(&offer()))),
        };
        let ready = mutated(&mut dice, ready);
        say(&mut dice, &stream, &ready, &heap);
        part(&mut dice, stream);
        let ended = host.recv_timeout(HANGS).expect("rank 0 hangs or has panicked");
        assert!(ended.is_err() || ended.is_ok_and(|session| session.heaps.len() == 2));
    }
}

/// Whatever rank 0 sends, another rank succeeds or ends with an error.
#[test]
fn a_rank_survives_its_rank_0() {
    let mut dice = dice();
    let (heap, control) = (memory::create("host", HEAP).unwrap(), memory::create("host", Control::bytes(2)).unwrap());
    for _ in 0..frames() {
        let run = next_run();
        let listener = UnixListener::bind_addr(&address(&bootstrap(0, run, DEADLINE))).unwrap();
        let member = rank(bootstrap(1, run, DEADLINE));
        let (stream, _) = listener.accept().unwrap();
        let answer = match dice.u32(..2) {
            0 => frame(&Answer::Refused("no".to_owned())),
            _ => frame(&Answer::Welcome),
        };
        let answer = mutated(&mut dice, answer);
        let fd = if dice.bool() { &heap } else { &control };
        say(&mut dice, &stream, &answer, fd);
        part(&mut dice, stream);
        member.recv_timeout(HANGS).expect("the rank hangs or has panicked").expect_err("there is no such run");
    }
}
