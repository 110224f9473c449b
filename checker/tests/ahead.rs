//! Tasks that make accesses by themselves where it is their turn anyway do what they do when they ask for each.

use std::cell::Cell;
use std::sync::Arc;
use symm_abi::wait::Compare;
use symm_checker::ahead::Ahead;
use symm_checker::check::{Report, Schedules, check};
use symm_checker::op::{Answer, COPIES, Op, Order, Range, Signal, Site, Strong, Until};
use symm_checker::run::{Execution, Limits, Next, Program};
use symm_checker::schedule::Random;
use symm_checker::task::{Scope, Task, TaskId};

/// How a task makes its accesses.
#[derive(Debug, Clone, Copy, PartialEq)]
enum How {
    /// It asks for each.
    Asked,
    /// By itself where it may.
    Ahead,
    /// Likewise, of pages at hand where they are; where it has accessed a place alone, with `ALONE`.
    Near,
}

/// For each task its ops.
struct Ops {
    of: Vec<Vec<(Op, Site)>>,
    how: How,
    /// How many accesses were of pages at hand.
    near: Cell<usize>,
}

struct Running<'o> {
    ops: &'o Ops,
    next: Vec<usize>,
    /// What the tasks have read, mixed.
    read: u64,
}

impl Program for Ops {
    fn tasks(&self) -> Vec<Task> {
        (0..self.of.len()).map(|task| Task::block(u32::try_from(task).unwrap(), 0)).collect()
    }

    fn start(&self) -> Box<dyn Execution + '_> {
        Box::new(Running { ops: self, next: vec![0; self.of.len()], read: 0 })
    }
}

/// The address of a range, as a front has it.
fn address(range: Range) -> u64 {
    (1 << 20) + range.start
}

impl Running<'_> {
    fn has_read(&mut self, bytes: &[u8]) {
        self.read = bytes.iter().fold(self.read, |mixed, &byte| mixed.wrapping_mul(31).wrapping_add(byte.into()));
    }

    /// Makes a task's next accesses in the fewest steps, if it can; how many.
    fn near<const N: usize>(&mut self, task: TaskId, ahead: &mut Ahead) -> usize {
        let ops = &self.ops.of[task][self.next[task]..];
        let key = |site: &Site| site.as_ptr() as usize;
        let value = |bytes: &[u8]| <[u8; N]>::try_from(bytes).unwrap();
        let mut into = [0; N];
        let is_alone = self.next[task].is_multiple_of(2);
        match ops {
            [(Op::Read(from), _), (Op::Write(to, bytes), site), ..] if from == to => {
                let at = address(from[0]);
                let place = if is_alone {
                    ahead.change_near::<N, true>(at, key(site))
                } else {
                    ahead.change_near::<N, false>(at, key(site))
                };
                let Some(place) = place else { return 0 };
                into = std::mem::replace(place, value(bytes));
                self.has_read(&into);
                2
            }
            [(Op::Read(from), site), ..] => {
                let (at, key) = (address(from[0]), key(site));
                let is_done = if is_alone {
                    ahead.read_near::<N, true>(at, &mut into, key)
                } else {
                    ahead.read_near::<N, false>(at, &mut into, key)
                };
                if is_done {
                    self.has_read(&into);
                }
                usize::from(is_done)
            }
            [(Op::Write(to, bytes), site), ..] => {
                let (at, key) = (address(to[0]), key(site));
                usize::from(if is_alone {
                    ahead.write_near::<N, true>(at, value(bytes), key)
                } else {
                    ahead.write_near::<N, false>(at, value(bytes), key)
                })
            }
            _ => 0,
        }
    }

    /// Makes a task's next access by itself, if it may; how many it has made.
    fn ahead(&mut self, task: TaskId, ahead: &mut Ahead) -> usize {
        let ops = self.ops;
        let Some((op, site)) = ops.of[task].get(self.next[task]) else { return 0 };
        let (Op::Read(ranges) | Op::Write(ranges, _)) = op else { return 0 };
        let (range, key) = (ranges[0], site.as_ptr() as usize);
        if ops.how == How::Near {
            let near = match range.bytes {
                1 => self.near::<1>(task, ahead),
                4 => self.near::<4>(task, ahead),
                _ => self.near::<8>(task, ahead),
            };
            ops.near.set(ops.near.get() + near);
            if near > 0 {
                return near;
            }
        }
        let is_done = if let Op::Write(_, bytes) = op {
            ahead.write(range, bytes, key, || site.clone())
        } else {
            let mut into = vec![0; usize::try_from(range.bytes).unwrap()];
            let is_done = ahead.read(range, &mut into, key, || site.clone());
            if is_done {
                self.has_read(&into);
            }
            is_done
        };
        if ops.how == How::Near {
            ahead.keep_near(address(range), range);
        }
        usize::from(is_done)
    }
}

impl Execution for Running<'_> {
    fn next(&mut self, task: TaskId, answer: Answer) -> Next {
        match answer {
            Answer::Bytes(bytes) => self.has_read(&bytes),
            Answer::Word(word) => self.has_read(&word.to_le_bytes()),
            Answer::None => {}
        }
        let next = self.ops.of[task].get(self.next[task]).cloned();
        self.next[task] += 1;
        next.map_or(Next::End, |(op, site)| Next::Op(op, site))
    }

    fn next_ahead(&mut self, task: TaskId, answer: Answer, ahead: &mut Ahead) -> Next {
        let mut answer = Some(answer);
        while self.ops.how != How::Asked {
            if let Some(Answer::Bytes(bytes)) = &answer {
                self.has_read(bytes);
            } else if let Some(Answer::Word(word)) = &answer {
                self.has_read(&word.to_le_bytes());
            }
            answer = None;
            let done = self.ahead(task, ahead);
            if done == 0 {
                break;
            }
            self.next[task] += done;
        }
        self.next(task, answer.unwrap_or(Answer::None))
    }

    fn failed_check(&mut self) -> Option<String> {
        Some(format!("what was read is {}", self.read))
    }
}

/// Ops of three tasks on a few places: some of them race, some wait for each other. A task's sites are few, so that it
/// comes to each of them again and again.
fn ops(random: &mut Random) -> Vec<Vec<(Op, Site)>> {
    let place = |start: u64, bytes| Range { heap: 0, start, bytes };
    let flag = Strong { at: place(256, 4), order: Order::AcqRel, scope: Scope::Sys };
    // Nobody signals this one: it is written.
    let late = Strong { at: place(1280, 8), order: Order::Acquire, scope: Scope::Sys };
    let everybody: Arc<[TaskId]> = [0, 1, 2].into();
    let sites: Vec<Site> = (0..12).map(|nth| format!("task {}, op {}", nth / 4, nth % 4).into()).collect();
    let mut op = |task: usize, nth: usize| {
        // Pages with and without flags, one that is never written at the start, and one that is freed.
        let page = [0, 1024, 1024, 1024, 4096, 6144][random.below(6)];
        let usual = [4, 8, 1][usize::try_from(page).unwrap() / 1024 % 3];
        let bytes = [usual, [1, 4, 8][random.below(3)]][random.below(30) / 29];
        let own = if random.below(3) == 0 { 0 } else { 32 * task as u64 };
        let range = place(page + own + random.below(4) as u64 * 8 / bytes * bytes, bytes);
        let range = [range, range, range, flag.at, late.at][random.below(60).saturating_sub(55)];
        let value = vec![u8::try_from(random.below(3)).unwrap(); usize::try_from(range.bytes).unwrap()];
        let site = sites[4 * task + nth % 4].clone();
        let strong = Strong { at: place(1024, 4), order: Order::Relaxed, ..flag };
        let ops = match random.below(24) {
            _ if nth % 20 == 19 => {
                let meet = Op::Barrier(COPIES | 7, Arc::clone(&everybody));
                let read = (random.below(2) == 0).then(|| Op::Read(vec![range]));
                [meet.clone(), Op::Put(vec![range], value)].into_iter().chain(read).chain([meet]).collect()
            }
            _ if nth == 10 + 3 * task && random.below(2) == 0 => {
                vec![Op::Wait(late, Until { compare: Compare::Ge, value: 1, timeout: false })]
            }
            0 => vec![Op::Signal(Strong { order: Order::Release, ..flag }, Signal::Add(1))],
            1 => vec![Op::Wait(
                Strong { order: Order::Acquire, ..flag },
                Until { compare: Compare::Ge, value: random.below(4) as u64, timeout: random.below(4) > 0 },
            )],
            2 if nth > 30 => vec![Op::Load(strong)],
            3 => vec![Op::Put(vec![range], value)],
            4 if nth > 50 => vec![Op::Free(place(6144, 512))],
            6 if nth > 40 => vec![Op::Alloc(place(6144, 512), false)],
            7..13 => vec![Op::Write(vec![range], value)],
            13..17 => vec![Op::Read(vec![range]), Op::Write(vec![range], value)],
            _ => vec![Op::Read(vec![range])],
        };
        ops.into_iter().map(|op| (op, site.clone())).collect::<Vec<_>>()
    };
    let each = |task| (0..80).flat_map(|nth| op(task, nth)).collect::<Vec<_>>();
    let mut all: Vec<_> = (0..3).map(each).collect();
    for ops in &mut all {
        let allocs = [(0, 2048, true), (4096, 512, false), (6144, 512, true)];
        let allocs = allocs.map(|(start, bytes, zero)| (Op::Alloc(place(start, bytes), zero), Site::from("alloc")));
        ops.splice(0..0, allocs);
    }
    all
}

/// With loops that read the same again and again, and then write it.
fn polling(mut ops: Vec<Vec<(Op, Site)>>) -> Vec<Vec<(Op, Site)>> {
    let poll = (Op::Read(vec![Range { heap: 0, start: 1040, bytes: 8 }]), Site::from("poll"));
    let write = (Op::Write(vec![Range { heap: 0, start: 1040, bytes: 8 }], vec![7; 8]), Site::from("write"));
    for rounds in [3, 14, 15, 16, 17, 18, 60] {
        ops[1].extend(std::iter::repeat_n(poll.clone(), rounds));
        ops[1].push(write.clone());
    }
    ops
}

/// The report of ops that are asked for, which the others are equal to, and how many accesses were of pages at hand.
fn report(ops: &[Vec<(Op, Site)>], schedules: &Schedules, limits: Limits, what: &str) -> (Report, usize) {
    let [asked, ahead, near] = [How::Asked, How::Ahead, How::Near].map(|how| {
        let ops = Ops { of: ops.to_vec(), how, near: Cell::new(0) };
        (check(&ops, schedules, limits), ops.near.get())
    });
    assert_eq!(asked.0, ahead.0, "{what}");
    assert_eq!(asked.0, near.0, "{what}, pages at hand");
    (asked.0, near.1)
}

#[test]
fn findings_and_schedules_are_the_same() {
    let mut random = Random::new(3);
    let (mut found, mut all_near) = (0, 0);
    for round in 0..60 {
        let ops = if round % 2 == 0 { ops(&mut random) } else { polling(ops(&mut random)) };
        let steps = if round % 3 == 0 { 100 } else { 2000 };
        let limits = Limits { steps, polls: [20, 10_000][round / 2 % 2], reducing: 2000, ..Limits::default() };
        let random = Schedules::Random { seed: 1, executions: 8, changes: 3 };
        for schedules in [Schedules::InTurn, random] {
            let (asked, near) = report(&ops, &schedules, limits, &format!("round {round}"));
            found += asked.found.len();
            all_near += near;
            for each in asked.found.iter().take(2) {
                let what = format!("round {round}, {}", each.schedule);
                let (again, _) = report(&ops, &Schedules::Replay(each.schedule.clone()), limits, &what);
                assert!(again.found.iter().any(|again| again.finding.key() == each.finding.key()));
            }
        }
    }
    assert!(found > 100 && all_near > 10_000, "{found} found, {all_near} at hand");
}
