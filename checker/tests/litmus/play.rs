//! The variants of tables as programs of the model: a host that allocates, then the threads.

use crate::table::{ALL_RANKS, NEW, OLD, PLACE_BYTES, PLACES, Played, Step, THREADS, number};
use std::collections::HashMap;
use symm_checker::op::{Answer, Op, Range};
use symm_checker::run::{Execution, Next, Program};
use symm_checker::task::{Task, TaskId};

impl Program for Played<'_> {
    fn tasks(&self) -> Vec<Task> {
        let number = |at: usize| u32::try_from(at).unwrap();
        (0..self.ranks)
            .flat_map(|rank| (0..THREADS).map(move |thread| Task::thread(number(rank), 0, number(thread))))
            .chain([Task::block(u32::MAX, 0)])
            .collect()
    }

    fn first(&self) -> Vec<TaskId> {
        vec![self.threads.len()]
    }

    fn start(&self) -> Box<dyn Execution + '_> {
        let registers = vec![HashMap::new(); self.ranks];
        let (at, dest) = (vec![0; self.threads.len() + 1], vec![None; self.threads.len()]);
        Box::new(Playing {
            played: self,
            at,
            dest,
            registers,
            read: vec![],
            outs: vec![OLD; self.variant.outcome.len()],
        })
    }
}

struct Playing<'p> {
    played: &'p Played<'p>,
    at: Vec<usize>,
    dest: Vec<Option<String>>,
    registers: Vec<HashMap<String, u64>>,
    read: Vec<u8>,
    outs: Vec<u64>,
}

impl Playing<'_> {
    /// The host: allocates, and starts all threads.
    fn host(&mut self) -> Next {
        let host = self.played.threads.len();
        let step = self.at[host];
        self.at[host] += 1;
        let op = match step {
            step if step < self.played.ranks => {
                let bytes = PLACES.len() as u64 * PLACE_BYTES;
                Op::Alloc(Range { heap: u32::try_from(step).unwrap(), start: 0, bytes }, true)
            }
            step if step == self.played.ranks => Op::Launch((0..host).collect()),
            _ => return Next::End,
        };
        Next::Op(op, "host".into())
    }
}

impl Execution for Playing<'_> {
    fn next(&mut self, task: TaskId, answer: Answer) -> Next {
        if task == self.played.threads.len() {
            return self.host();
        }
        let rank = task / THREADS;
        let value = match answer {
            Answer::None => 0,
            Answer::Word(word) => word,
            Answer::Bytes(bytes) => {
                self.read.clone_from(&bytes);
                u64::from(u32::from_le_bytes(bytes.try_into().expect("four bytes")))
            }
        };
        if let Some(dest) = self.dest[task].take() {
            self.registers[rank].insert(dest, value);
        }
        let of =
            |registers: &HashMap<String, u64>, name: &str| registers.get(name).copied().unwrap_or_else(|| number(name));
        while let Some((step, site)) = self.played.threads[task].get(self.at[task]) {
            self.at[task] += 1;
            let registers = &mut self.registers[rank];
            let op = match step {
                Step::Do(op) => op.clone(),
                Step::Into(op, dest) => {
                    self.dest[task] = Some(dest.clone());
                    op.clone()
                }
                Step::Issue(name) => {
                    self.dest[task] = Some(format!("issued {name}"));
                    Op::Issue
                }
                Step::Late(strong, name) => {
                    self.dest[task] = Some(name.clone());
                    Op::Late(*strong, u32::try_from(registers[&format!("issued {name}")]).unwrap())
                }
                Step::Forward(to) => Op::Write(to.clone(), self.read.clone()),
                Step::Out(k, name) => {
                    // The outcome is the home's, where every rank is one.
                    let value = of(registers, name);
                    if rank == 0
                        || !self.played.threads[task]
                            .iter()
                            .any(|(step, _)| matches!(step, Step::Do(Op::Barrier(ALL_RANKS, _))))
                    {
                        self.outs[*k] = value;
                    }
                    continue;
                }
                Step::New(to, from) => {
                    let came = of(registers, from);
                    registers.insert(to.clone(), [OLD, NEW][usize::from(came != 0)]);
                    continue;
                }
            };
            return Next::Op(op, site.clone());
        }
        Next::End
    }

    fn failed_check(&mut self) -> Option<String> {
        let outcome: Vec<_> = self.outs.iter().map(|&out| out == NEW).collect();
        (outcome == self.played.variant.outcome).then(|| "the forbidden outcome".into())
    }
}
