//! Loops that poll, those that something ends and those that nothing does, and polls for packets.

use symm_checker::check::{Schedules, check};
use symm_checker::finding::Kind;
use symm_checker::machine::Machine;
use symm_checker::op::{Answer, Op, Order, Range, Strong};
use symm_checker::run::{Execution, Limits, Next, Program};
use symm_checker::task::{Scope, Task, TaskId};

const FLAG: Range = Range { heap: 1, start: 128, bytes: 4 };

/// Two tasks that load a place until it has a value, and do something else then.
struct Polling {
    value: u64,
    /// Whether the first one stores the value before it polls.
    stores: bool,
}

impl Program for Polling {
    fn tasks(&self) -> Vec<Task> {
        vec![Task::host(0), Task::block(0, 0), Task::block(1, 0)]
    }

    fn first(&self) -> Vec<TaskId> {
        vec![0]
    }

    fn start(&self) -> Box<dyn Execution + '_> {
        Box::new(Loops { program: self, steps: [0; 3] })
    }
}

struct Loops<'p> {
    program: &'p Polling,
    steps: [usize; 3],
}

impl Execution for Loops<'_> {
    fn next(&mut self, task: TaskId, answer: Answer) -> Next {
        self.steps[task] += 1;
        let flag = Strong { at: FLAG, order: Order::Relaxed, scope: Scope::Sys };
        let op = |op, site: &str| Next::Op(op, site.into());
        match (task, self.steps[task]) {
            (0, 1) => op(Op::Alloc(Range { heap: 1, start: 0, bytes: 1024 }, true), "alloc"),
            (0, 2) => op(Op::Launch([1, 2].into()), "launch"),
            (1, 1) if self.program.stores => op(Op::Store(flag, self.program.value), "store"),
            (1 | 2, _) if answer != Answer::Word(self.program.value) => op(Op::Load(flag), "poll"),
            _ => Next::End,
        }
    }
}

#[test]
fn loops_that_poll_in_vain_are_a_deadlock_and_others_end() {
    let random = Schedules::Random { seed: 1, executions: 5, changes: 2 };
    for schedules in [Schedules::InTurn, random, Schedules::All { executions: 10 }] {
        let vain = check(&Polling { value: 1, stores: false }, &schedules, Limits::default());
        let found: Vec<_> = vain.found.iter().map(|found| found.finding.kind).collect();
        assert_eq!((found, vain.given_up), (vec![Kind::NeverSignalled], 0), "{vain}");
        let text = vain.to_string();
        assert!(text.contains("poll: rank 1 block 0: polls 0x80 of rank 1's heap in vain, sees 0; nobody"), "{text}");
        let ends = check(&Polling { value: 1, stores: true }, &schedules, Limits::default());
        assert!(ends.found.is_empty() && ends.given_up == 0, "{ends}");
    }
}

#[test]
fn p1_new_memory_is_of_epoch_0() {
    let new = Range { heap: 1, start: 256, bytes: 16 };
    let used = Range { start: new.end(), ..new };
    let site = "here".into();
    let mut machine = Machine::new(vec![Task::block(1, 0)]);
    let mut step = |op| machine.step(0, &op, &site, 0);
    step(Op::Alloc(Range { heap: 1, start: 0, bytes: 1024 }, true));
    step(Op::PutPacket(vec![used], vec![5], 0));
    let both = || vec![new, used];
    let words = [0_u64, 5].map(u64::to_le_bytes).concat();
    assert_eq!(step(Op::WaitPacket(both(), 0)), Some(Answer::Bytes(words.clone())));
    assert_eq!(step(Op::TryPacket(both(), 0)), Some(Answer::Bytes([words, vec![1, 1]].concat())));
    assert_eq!(step(Op::TryPacket(vec![new], 1)), Some(Answer::Bytes(vec![0; 9])));
    assert!(machine.findings().is_empty());
}
