//! What arrives over connections, as ranks send it and as nobody should.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use super::*;
use crate::fork::Kept;

/// Long enough for a busy machine.
const SOON: Duration = Duration::from_secs(20);

/// A rank of a run with connections to others, and the other ends.
fn connected(rank: u32, num_ranks: u32) -> (Far, Vec<UnixStream>) {
    let to = if rank == 0 { 1..num_ranks } else { 0..1 };
    let links = to.map(|rank| {
        let (here, there) = UnixStream::pair().unwrap();
        here.set_nonblocking(true).unwrap();
        there.set_read_timeout(Some(SOON)).unwrap();
        (process::Link { rank, stream: Kept::new(here.into()) }, there)
    });
    let (links, ends): (Vec<_>, _) = links.unzip();
    (Far::over_sockets(rank, num_ranks, links).unwrap(), ends)
}

fn await_that(what: impl Fn() -> bool) {
    let end = Instant::now() + SOON;
    while !what() {
        assert!(Instant::now() < end);
        thread::sleep(Duration::from_millis(1));
    }
}

/// A message to a word of what is shared.
fn message(to: u32, word: &AtomicU64, far: &Far, value: u64) -> Vec<u8> {
    let at = word.as_ptr() as usize - far.link.shared as usize;
    [&to.to_le_bytes()[..], &(at as u32).to_le_bytes(), &8_u32.to_le_bytes(), &value.to_le_bytes()].concat()
}

#[test]
fn messages_in_pieces_arrive_and_are_handed_on() {
    let (far, mut ends) = connected(0, 3);
    let word = &far.link.shared().arrived[1];
    let sent = message(u32::MAX, word, &far, 7);
    for byte in &sent {
        ends[0].write_all(&[*byte]).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
    await_that(|| word.load(Ordering::Acquire) == 7);
    let mut handed_on = vec![0; sent.len()];
    ends[1].read_exact(&mut handed_on).unwrap();
    assert_eq!(handed_on, sent);
    // What is for one rank only reaches nobody else.
    let [for_rank_2, for_rank_0] = [2, 0].map(|to| message(to, word, &far, 8 + u64::from(to)));
    ends[0].write_all(&[&for_rank_2[..], &for_rank_0, &sent].concat()).unwrap();
    let mut handed_on = vec![0; 2 * sent.len()];
    ends[1].read_exact(&mut handed_on).unwrap();
    assert_eq!(handed_on, [for_rank_2, sent].concat());
    assert_eq!(far.lost(), None);
}

#[test]
fn a_rank_that_sends_what_no_rank_sends_is_lost() {
    let size = size_of::<Shared>() as u32;
    let all = u32::MAX;
    for [to, at, bytes] in
        [[3, 0, 8], [all, size, 8], [all, size - 4, 8], [all, 0, all], [all, all, 4], [all, all - 3, 8], [7, all, 0]]
    {
        let (far, mut ends) = connected(0, 3);
        ends[0].write_all(&[to, at, bytes].map(u32::to_le_bytes).concat()).unwrap();
        // More than the connection takes at once, so that something is left in it.
        let _ = ends[0].write_all(&[1; 100]);
        await_that(|| far.lost() == Some(1));
        // It sees that.
        let end = ends[0].read_to_end(&mut Vec::new());
        assert!(!end.is_err_and(|error| error.kind() == ErrorKind::WouldBlock));
        assert!(far.link.shared().arrived.iter().all(|word| word.load(Ordering::Acquire) == 0));
        // The other one is as well as before.
        let word = &far.link.shared().arrived[2];
        ends[1].write_all(&message(u32::MAX, word, &far, 1)).unwrap();
        await_that(|| word.load(Ordering::Acquire) == 1);
    }
}

#[test]
fn what_a_rank_says_comes_before_its_end() {
    let (far, mut ends) = connected(1, 3);
    let slot = &far.link.shared().arrived[2];
    ends[0].write_all(&[message(u32::MAX, slot, &far, 1), message(1, slot, &far, 2)].concat()).unwrap();
    ends[0].shutdown(Shutdown::Both).unwrap();
    await_that(|| far.lost() == Some(0));
    assert_eq!(slot.load(Ordering::Acquire), 2);
}

/// One text is never another's.
#[test]
fn faults_of_several_ranks_at_once_are_told_apart() {
    for _ in 0..50 {
        let (far, ends) = connected(0, 3);
        let others: Vec<Far> = (1..3)
            .zip(ends)
            .map(|(rank, end)| {
                end.set_nonblocking(true).unwrap();
                let links = vec![process::Link { rank: 0, stream: Kept::new(end.into()) }];
                Far::over_sockets(rank, 3, links).unwrap()
            })
            .collect();
        thread::scope(|scope| {
            for (rank, other) in (1..).zip(&others) {
                scope.spawn(move || other.tell(rank, &format!("{rank}").repeat(1000)));
            }
        });
        for far in others.iter().chain([&far]) {
            await_that(|| far.heard().is_some());
            for _ in 0..20 {
                let (rank, text) = far.heard().unwrap();
                assert!(text == format!("{rank}").repeat(1000), "what rank {rank} says is another's");
            }
        }
    }
}
