//! What is said of tasks that can't go on: who waits for what, what is missing, and who may be to send it.

use std::sync::Arc;
use symm_abi::wait::Compare;
use symm_checker::check::{Report, Schedules, check};
use symm_checker::finding::{Finding, Kind};
use symm_checker::lines::Lines;
use symm_checker::op::{Op, Order, Range, Signal, Site, Strong, Until};
use symm_checker::run::{Execution, Limits, Program};
use symm_checker::task::{Scope, Task};

/// The places of barriers of all ranks: of a block, how often it has come, and how often each rank's has.
const BARRIERS: u64 = 64;
const FLAG: Range = at(128, 4);
const DATA: Range = at(136, 4);
const LINES: [Range; 2] = [at(256, 16), at(272, 16)];

const fn at(start: u64, bytes: u64) -> Range {
    Range { heap: 1, start, bytes }
}

type Ops = Vec<(&'static str, Op)>;

struct Hosts(Lines);

impl Program for Hosts {
    fn tasks(&self) -> Vec<Task> {
        self.0.tasks()
    }

    fn first(&self) -> Vec<usize> {
        self.0.first()
    }

    fn reserved(&self) -> std::ops::Range<u64> {
        0..BARRIERS
    }

    fn may_be_let_through(&self) -> bool {
        true
    }

    fn start(&self) -> Box<dyn Execution + '_> {
        self.0.start()
    }
}

fn sites(ops: Ops) -> Vec<(Site, Op)> {
    ops.into_iter().map(|(site, op)| (site.into(), op)).collect()
}

/// Each rank's host does the first ops, and launches a block that does the second, if it has any.
fn run(ranks: Vec<(Ops, Ops)>) -> Report {
    let count = ranks.len();
    let (mut hosts, mut blocks) = (Vec::new(), Vec::new());
    for (rank, (host, block)) in (0..).zip(ranks) {
        let memory = Op::Alloc(Range { heap: rank, start: 0, bytes: 1024 }, true);
        let mut ops = vec![("allocates", memory)];
        ops.extend(host);
        if !block.is_empty() {
            let launched = [count + blocks.len()];
            ops.extend([("launches", Op::Launch(launched.into())), ("joins", Op::Join(launched.into()))]);
            blocks.push((Task::block(rank, 0), sites(block)));
        }
        hosts.push((Task::host(rank), sites(ops)));
    }
    let program = Hosts(Lines::new([hosts, blocks].concat()));
    check(&program, &Schedules::InTurn, Limits::default())
}

fn only(ranks: Vec<(Ops, Ops)>) -> Finding {
    let report = run(ranks);
    let [found] = &report.found[..] else { panic!("{report}") };
    found.finding.clone()
}

/// The same, of kernels alone: the kind, what is said at the places in order, and the help.
fn of_kernels(ranks: Vec<Ops>) -> (Kind, Vec<String>, String) {
    let Finding { kind, at, help } = only(ranks.into_iter().map(|ops| (vec![], ops)).collect());
    (kind, at.iter().map(|at| format!("{}: {}", at.site, at.what)).collect(), help)
}

fn wait(at: Range, compare: Compare, value: u64) -> Op {
    let strong = Strong { at, order: Order::Acquire, scope: Scope::Sys };
    Op::Wait(strong, Until { compare, value, timeout: false })
}

fn set(at: Range, value: u64) -> Op {
    Op::Signal(Strong { at, order: Order::Release, scope: Scope::Sys }, Signal::Set(value))
}

fn packet(epoch: u32) -> Op {
    Op::PutPacket(vec![LINES[0]], vec![7], epoch)
}

fn waits_for_packet() -> Ops {
    vec![("waits", Op::WaitPacket(vec![LINES[0]], 1))]
}

/// Rank 0's flag of rank 1's block at the barrier of all ranks.
fn barrier() -> (&'static str, Op) {
    ("meets", wait(Range { heap: 0, start: 16, bytes: 8 }, Compare::Ge, 1))
}

#[test]
fn a_packet_that_nobody_sends_is_one_that_is_never_signalled() {
    let (kind, _, help) = of_kernels(vec![vec![], waits_for_packet()]);
    assert_eq!(kind, Kind::NeverSignalled);
    assert_eq!(help, "nobody sends this packet, and nobody is left who could: the op that puts it is missing");
    // Floats, too; a line that is cleared has none.
    let clear = Op::PutFloats(vec![LINES[1]], vec![[u64::MAX; 2]]);
    let floats = vec![("clears", clear), ("waits", Op::WaitFloats(vec![LINES[1]], 32))];
    assert_eq!(of_kernels(vec![vec![], floats]).0, Kind::NeverSignalled);
    // Another packet has come.
    let other = vec![("waits", Op::WaitPacket(vec![LINES[0]], 2))];
    assert_eq!(of_kernels(vec![vec![("puts", packet(1))], other]).0, Kind::Deadlock);
    // All others wait for a flag, and would not send it then either; or one of them would.
    let lets_through = |ops: Ops| {
        let (kind, places, _) = of_kernels(vec![ops, waits_for_packet()]);
        assert_eq!(kind, Kind::Deadlock);
        places.into_iter().find(|place| place.starts_with("waits: ")).unwrap()
    };
    let flag = || vec![("flag", wait(FLAG, Compare::Ge, 1))];
    let what = lets_through(flag());
    let wanted = "nobody has put a packet there; nobody would send it, even if the other waits ended";
    assert!(what.ends_with(wanted), "{what}");
    let what = lets_through([flag(), vec![("puts", packet(1))]].concat());
    let wanted = "nobody has put a packet there; rank 0 block 0 sends it at puts, after its own wait";
    assert!(what.ends_with(wanted), "{what}");
}

#[test]
fn a_packet_or_floats_beside_the_line_that_is_waited_for_are_named() {
    let beside = Op::PutPacket(vec![LINES[1]], vec![7], 1);
    let (_, places, _) = of_kernels(vec![vec![("puts", beside)], waits_for_packet()]);
    let wanted = "nobody has put a packet there; rank 0 block 0 has put the packet of epoch 1 at 0x110 of rank 1's \
                  heap (puts), which nobody has received";
    assert!(places[0].ends_with(wanted), "{places:?}");
    let floats = Op::PutFloats(vec![LINES[1]], vec![[7; 2]]);
    let clear = |line| Op::PutFloats(vec![line], vec![[u64::MAX; 2]]);
    let receives = vec![("clears", clear(LINES[0])), ("waits", Op::WaitFloats(vec![LINES[0]], 32))];
    let report = run(vec![(vec![], vec![("puts", floats)]), (vec![], receives)]);
    let wanted = "cleared by rank 1 block 0 (clears); rank 0 block 0 has put floats at 0x110 of rank 1's heap (puts), \
                  which nobody has received";
    assert!(report.to_string().contains(wanted), "{report}");
}

#[test]
fn a_packet_that_was_overwritten_before_it_was_received_is_told_as_that() {
    let again = vec![("puts", packet(1)), ("puts again", packet(2)), ("puts again", packet(3))];
    let report = run(vec![(vec![], again), (vec![], waits_for_packet())]);
    let found = report.found.iter().find(|found| found.finding.kind == Kind::Deadlock).unwrap();
    let wanted = "sees epoch 3; put by rank 0 block 0 (puts again); that of epoch 1 was there, and was overwritten \
                  before it was received";
    assert!(found.finding.at[0].what.ends_with(wanted), "{report}");
    assert!(found.finding.help.contains("its sender waits for an answer before it uses the line again (a credit)"));
}

#[test]
fn a_loop_that_looks_for_a_packet_is_told_as_a_wait_for_it() {
    let look = Op::TryPacket(vec![LINES[0]], 1);
    let poll = Op::Poll(vec![LINES[0]], vec![0; 16], Some(Box::new(look)));
    let (kind, places, help) = of_kernels(vec![vec![], vec![("polls", poll)]]);
    assert_eq!(kind, Kind::NeverSignalled);
    assert!(places[0].starts_with("polls: polls in vain for the packet of epoch 1 at 0x100"), "{places:?}");
    assert!(help.starts_with("nobody sends this packet"), "{help}");
}

#[test]
fn a_wait_comes_before_the_barriers_that_others_are_at_because_of_it() {
    let (kind, places, help) = of_kernels(vec![vec![barrier()], waits_for_packet()]);
    assert_eq!(kind, Kind::NeverSignalled);
    assert!(places[0].starts_with("waits: waits for the packet"), "{places:?}");
    let wanted = "meets: is at a barrier of all ranks, to which rank 1 block 0 does not come: it waits";
    assert_eq!(places[1], wanted);
    assert!(help.starts_with("nobody has sent this packet, and all others wait for this wait"), "{help}");
    let (kind, places, help) = of_kernels(vec![vec![barrier()], vec![("waits", wait(FLAG, Compare::Ge, 1))]]);
    assert_eq!(kind, Kind::NeverSignalled);
    assert!(places[0].starts_with("waits: waits for 0x80"), "{places:?}");
    assert_eq!(help, "nobody would end this wait: a signal is missing, or goes to another flag");
    // Nobody waits but at the barrier.
    let (_, _, help) = of_kernels(vec![vec![barrier()], vec![("reads", Op::Read(vec![DATA]))]]);
    assert!(help.starts_with("every rank has to launch the kernel"), "{help}");
}

#[test]
fn help_for_a_flag_that_has_held_says_what_helps() {
    let passed = |compare, last| {
        let sends = vec![("once", set(FLAG, 1)), ("again", set(FLAG, last)), ("go", set(DATA, 1))];
        let waits = vec![("first", wait(DATA, Compare::Ge, 1)), ("waits", wait(FLAG, compare, 1))];
        let (kind, _, help) = of_kernels(vec![sends, waits]);
        assert_eq!(kind, Kind::PassedBy);
        help
    };
    assert!(passed(Compare::Eq, 2).contains("compare with ge"));
    for (compare, last) in [(Compare::Ge, 0), (Compare::Eq, 0), (Compare::UnsignedGe, 0), (Compare::Le, 2)] {
        let help = passed(compare, last);
        assert!(help.contains("change it only after the wait") && !help.contains("compare with ge"), "{help}");
    }
}

#[test]
fn who_has_stored_what_a_flag_holds_is_named() {
    let store = ("stores", Op::Write(vec![FLAG], vec![1, 0, 0, 0]));
    let waits = |value| vec![("waits", wait(FLAG, Compare::Ge, value))];
    let Finding { at, .. } = only(vec![(vec![], vec![]), (vec![store], waits(2))]);
    let wanted = "waits for 0x80 of rank 1's heap >= 2, sees 1; nobody has signalled it; what rank 1 host (stores) has \
                  written there is no signal";
    assert_eq!(at[0].what, wanted);
}

#[test]
fn who_has_stored_and_told_nobody_is_named_as_one_that_may_be_to_signal() {
    let stores = |more: Ops| [vec![("stores", Op::Write(vec![DATA], vec![7; 4]))], more].concat();
    let waits = || vec![("waits", wait(FLAG, Compare::Ge, 1))];
    let said = "rank 0 block 0 has written to the same heap (stores) and signals nobody there after that";
    let (_, places, _) = of_kernels(vec![stores(vec![]), waits()]);
    assert!(places[0].contains(said), "{places:?}");
    for after in [("signals", set(DATA, 1)), ("puts", packet(1))] {
        let (_, places, _) = of_kernels(vec![stores(vec![after]), waits()]);
        assert!(!places[0].contains(said), "{places:?}");
    }
}

/// Hosts that meet at the barriers of these numbers.
fn hosts(met: Vec<Vec<u64>>) -> Finding {
    let members: Arc<[usize]> = (0..met.len()).collect();
    let meets = |keys: Vec<u64>| keys.into_iter().map(|key| ("meets", Op::Barrier(key, members.clone()))).collect();
    only(met.into_iter().map(|keys| (meets(keys), vec![])).collect())
}

#[test]
fn a_barrier_that_a_host_leaves_out_says_whose_and_how_often_it_was_met() {
    let Finding { kind, at, help } = hosts(vec![vec![7, 7], vec![7]]);
    assert_eq!(kind, Kind::BarrierDivergence);
    let wanted = "is at a barrier of all hosts (for the 2nd time at this line), to which the host of rank 1 does not \
                  come: it has ended";
    assert_eq!(at[0].what, wanted);
    assert_eq!(help, "every rank's host has to come to it, as often as the others");
    let Finding { at, .. } = hosts(vec![vec![7], vec![], vec![]]);
    let wanted = "is at a barrier of all hosts, to which the hosts of ranks 1 and 2 do not come: they have ended";
    assert_eq!(at[0].what, wanted);
}

#[test]
fn hosts_at_different_barriers_are_told_so() {
    let Finding { kind, at, help } = hosts(vec![vec![7], vec![8], vec![]]);
    assert_eq!(kind, Kind::BarrierDivergence);
    let wanted = "is at a barrier of all hosts, to which the host of rank 1 does not come: it is at another barrier; \
                  and the host of rank 2 does not come: it has ended";
    assert_eq!(at[0].what, wanted);
    assert_eq!(help, "the hosts are at different barriers: every rank's host has to come to the same ones");
}

#[test]
fn a_deadlock_begins_with_the_wait_that_others_wait_for() {
    let members: Arc<[usize]> = [0, 1].into();
    let meets = || ("meets", Op::Barrier(7, members.clone()));
    let waits = vec![("waits", wait(FLAG, Compare::Ge, 1))];
    let Finding { kind, at, help } = only(vec![(vec![meets(), meets()], vec![]), (vec![meets()], waits)]);
    assert_eq!(kind, Kind::NeverSignalled);
    assert_eq!(at.iter().map(|at| &*at.site).collect::<Vec<_>>(), ["waits", "meets"]);
    assert!(at[1].what.ends_with("the host of rank 1 does not come: it waits for its kernel"), "{at:?}");
    assert!(help.starts_with("nobody has signalled it, and all others wait for this wait"), "{help}");
}
