//! Reads the tables of test/litmus (test/litmus/README.md says how), and gives each variant as a program of the model.

use std::collections::HashMap;
use std::sync::Arc;
use symm_abi::wait::Compare;
use symm_checker::op::{Op, Order, Range, Signal, Site, Strong, Until, Update};
use symm_checker::task::{Scope, TaskId};

/// Threads of a block: the first and the last one are enough.
pub const THREADS: usize = 2;
/// The number of the launch, and of the one before.
pub const NEW: u64 = 1;
pub const OLD: u64 = 0;
pub const PLACES: [&str; 6] = ["x", "y", "z", "f", "g", "f64"];
/// How far apart they are.
pub const PLACE_BYTES: u64 = 16;
/// The barrier of all ranks.
pub const ALL_RANKS: u64 = u64::MAX;

/// A variant of a table.
pub struct Variant {
    pub name: String,
    pub is_weak: bool,
    pub outcome: Vec<bool>,
    /// Each actor's lines: who, and the op.
    actors: Vec<Vec<(String, Site, String)>>,
}

/// All variants of a table.
pub fn read(file: &str, text: &str) -> Vec<Variant> {
    let mut variants: Vec<Variant> = Vec::new();
    let (mut is_weak, mut outcome) = (false, Vec::new());
    for (number, line) in text.lines().enumerate() {
        let site = |op: &str| format!("{file}:{}: {op}", number + 1).into();
        if let Some(title) = line.strip_prefix("variant ") {
            let actors = vec![Vec::new(); outcome.len()];
            variants.push(Variant { name: format!("{file}: {title}"), is_weak, outcome: outcome.clone(), actors });
        } else if let (Some(variant), Some((who, ops))) = (variants.last_mut(), line.trim().split_once(": ")) {
            let (actor, thread) = who.split_once(' ').unwrap_or((who, "first"));
            let actor = &mut variant.actors[actor.parse::<usize>().expect("an actor")];
            actor.extend(ops.split("; ").map(|op| (thread.to_string(), site(op), op.to_string())));
        } else if !line.starts_with("//")
            && let Some((name, bits)) = line.split_once(": ")
        {
            is_weak = name.ends_with(" weak");
            outcome = bits.bytes().map(|bit| bit == b'1').collect();
        }
    }
    variants
}

impl Variant {
    /// This one with one op weaker or less.
    pub fn mutants(&self) -> Vec<Self> {
        let mut mutants = Vec::new();
        for (actor, lines) in self.actors.iter().enumerate() {
            for (at, (_, _, op)) in lines.iter().enumerate() {
                for weaker in weaker(op) {
                    let mut actors = self.actors.clone();
                    let name = format!("{}: {actor}: {op} -> {weaker}", self.name);
                    if weaker.is_empty() {
                        actors[actor].remove(at);
                    } else {
                        actors[actor][at].2 = weaker;
                    }
                    mutants.push(Self { name, actors, outcome: self.outcome.clone(), ..*self });
                }
            }
        }
        mutants
    }
}

/// What an op may be weakened to; empty: nothing at all.
fn weaker(op: &str) -> Vec<String> {
    let words: Vec<_> = op.split(' ').collect();
    let is = |word| words.contains(&word);
    if is("wait") && !is("timeout") || is("fence") || words[0] == "barrier" {
        let relaxed = (is("wait") && !is("sem")).then(|| relax(op));
        return std::iter::once(String::new()).chain(relaxed).collect();
    }
    if is("signal") || is("put_signal") || is("wait") || is("add") || is("xchg") || is("cas") {
        return if is("relaxed") { vec![] } else { vec![relax(op)] };
    }
    vec![]
}

/// The op, relaxed. In the tables `sem` stands before `group`.
fn relax(op: &str) -> String {
    for order in ["acquire", "release"] {
        if op.contains(order) {
            return op.replace(order, "relaxed");
        }
    }
    match op.split_once(" group ") {
        Some((before, group)) => format!("{before} sem relaxed group {group}"),
        None => format!("{op} sem relaxed"),
    }
}

/// An instruction of one thread.
#[derive(Clone)]
pub enum Step {
    Do(Op),
    Into(Op, String),
    /// Takes the value of a load that was issued by this name.
    Late(Strong, String),
    Issue(String),
    /// Writes what the last read gave.
    Forward(Vec<Range>),
    Out(usize, String),
    New(String, String),
}

/// A variant, as the model runs it.
pub struct Played<'v> {
    pub variant: &'v Variant,
    pub ranks: usize,
    pub threads: Vec<Vec<(Step, Site)>>,
}

impl Variant {
    /// The program; with `late`, reads take their values as late as what comes after them lets them.
    pub fn played(&self, late: bool) -> Played<'_> {
        let every_rank_is_home = self.actors.iter().flatten().any(|(.., op)| op.starts_with("barrier"));
        let ranks = self.actors.len();
        let threads = (0..ranks).flat_map(|rank| {
            let lines = &self.actors[if every_rank_is_home { 0 } else { rank }];
            let mut made = Maker { rank, ranks, names: HashMap::new(), threads: Default::default() };
            for (who, site, op) in lines {
                made.line(who, site, op);
            }
            made.threads.map(|thread| if late { delayed(thread) } else { thread })
        });
        Played { variant: self, ranks, threads: threads.collect() }
    }
}

/// Makes the threads of one actor's block.
struct Maker {
    rank: usize,
    ranks: usize,
    /// `p = word x`
    names: HashMap<String, String>,
    threads: [Vec<(Step, Site)>; THREADS],
}

impl Maker {
    fn line(&mut self, who: &str, site: &Site, op: &str) {
        let words: Vec<_> = op.split(' ').collect();
        if let [name, "=", "word" | "row", place] = words[..] {
            self.names.insert(name.into(), place.into());
            return;
        }
        let is_group = op.contains(" group ");
        let thread = usize::from(who == "last");
        if !is_group {
            let all: Vec<_> = if who == "all" { (0..THREADS).collect() } else { vec![thread] };
            for step in self.steps(&words) {
                for &thread in &all {
                    self.threads[thread].push((step.clone(), site.clone()));
                }
            }
            return;
        }
        // The op owns the barriers, and the first thread does the rest; a copy is the last thread's (rule O3).
        let starts = !words.contains(&"wait") && !op.contains("fence sem acquire");
        if starts {
            self.barrier(site);
        }
        let steps = self.steps(&words);
        let copies = steps.iter().any(|step| matches!(step, Step::Forward(_)));
        for step in steps {
            let is_last = copies && matches!(&step, Step::Forward(_) | Step::Do(Op::Read(_)));
            self.threads[usize::from(is_last)].push((step.clone(), site.clone()));
            if matches!(step, Step::Forward(_)) {
                self.barrier(site);
            }
        }
        if !starts || words[0] == "barrier" {
            self.barrier(site);
        }
    }

    fn barrier(&mut self, site: &Site) {
        let members: Arc<[TaskId]> = (0..THREADS).map(|thread| self.rank * THREADS + thread).collect();
        for thread in &mut self.threads {
            thread.push((Step::Do(Op::Barrier(self.rank as u64, members.clone())), site.clone()));
        }
    }

    fn range(&self, place: &str, rank: &str) -> Range {
        let place = self.names.get(place).map_or(place, String::as_str);
        let at = PLACES.iter().position(|&name| name == place).expect("a place");
        let heap = match rank {
            "@home" => 0,
            "@right" => (self.rank + 1) % self.ranks,
            "@r1" => 1,
            _ => self.rank,
        };
        let bytes = if place == "f64" { 8 } else { 4 };
        Range { heap: u32::try_from(heap).unwrap(), start: at as u64 * PLACE_BYTES, bytes }
    }

    fn strong(&self, words: &[&str], place: &str, rank: &str, otherwise: Order) -> Strong {
        let order = order(words, otherwise);
        Strong { at: self.range(place, rank), order, scope: Scope::Sys }
    }

    fn steps(&self, words: &[&str]) -> Vec<Step> {
        let strong = |place, rank, otherwise| self.strong(words, place, rank, otherwise);
        let write = |at: Range, value| {
            let bytes = number(value).to_le_bytes()[..4].to_vec();
            vec![Step::Do(Op::Write(vec![at], bytes))]
        };
        match *words {
            ["out", k, name] => vec![Step::Out(k.parse().unwrap(), name.into())],
            [to, "=", "new", from] => vec![Step::New(to.into(), from.into())],
            ["store", place, value, rank, "volatile"] => {
                vec![Step::Do(Op::Store(strong(place, rank, Order::Relaxed), number(value)))]
            }
            ["store", place, value, rank] => write(self.range(place, rank), value),
            ["write", place, value] => write(self.range(place, ""), value),
            [to, "=", "load", place, rank, "volatile"] => {
                vec![Step::Into(Op::Load(strong(place, rank, Order::Relaxed)), to.into())]
            }
            [to, "=", "load", place, rank] => vec![Step::Into(Op::Read(vec![self.range(place, rank)]), to.into())],
            [to, "=", "read", place] => vec![Step::Into(Op::Read(vec![self.range(place, "")]), to.into())],
            [to, "=", "add", place, value, rank, ..] => {
                vec![Step::Into(Op::Atomic(strong(place, rank, Order::AcqRel), Update::Add(number(value))), to.into())]
            }
            [to, "=", "xchg", place, value, rank, ..] => {
                let update = Update::Exchange(number(value));
                vec![Step::Into(Op::Atomic(strong(place, rank, Order::AcqRel), update), to.into())]
            }
            [to, "=", "cas", place, expected, desired, rank, ..] => {
                let update = Update::Compare { expected: number(expected), desired: number(desired) };
                vec![Step::Into(Op::Atomic(strong(place, rank, Order::AcqRel), update), to.into())]
            }
            _ => self.sync_steps(words),
        }
    }

    fn sync_steps(&self, words: &[&str]) -> Vec<Step> {
        let strong = |place, rank, otherwise| self.strong(words, place, rank, otherwise);
        match *words {
            ["signal", kind, place, value, rank, ..] => {
                let signal = if kind == "add" { Signal::Add(number(value)) } else { Signal::Set(number(value)) };
                vec![Step::Do(Op::Signal(strong(place, rank, Order::Release), signal))]
            }
            ["put_signal", "set", from, to, place, value, rank, ..] => vec![
                Step::Do(Op::Read(vec![self.range(from, "")])),
                Step::Forward(vec![self.range(to, rank)]),
                Step::Do(Op::Signal(strong(place, rank, Order::Release), Signal::Set(number(value)))),
            ],
            ["get", far, near, rank] => {
                vec![Step::Do(Op::Read(vec![self.range(far, rank)])), Step::Forward(vec![self.range(near, "")])]
            }
            ["wait", place, compare, value, ..] => {
                vec![Step::Do(wait(strong(place, "", Order::Acquire), compare, value, false))]
            }
            [to, "=", "wait", place, compare, value, "timeout", ..] => {
                vec![Step::Into(wait(strong(place, "", Order::Acquire), compare, value, true), to.into())]
            }
            ["fence", ..] => vec![Step::Do(Op::Fence(order(words, Order::AcqRel), Scope::Sys))],
            ["barrier", ..] => {
                vec![Step::Do(Op::Barrier(ALL_RANKS, (0..self.ranks).map(|rank| rank * THREADS).collect()))]
            }
            _ => panic!("not an op of litmus tests: {words:?}"),
        }
    }
}

/// The order that an op says, or else this one.
fn order(words: &[&str], otherwise: Order) -> Order {
    let Some(at) = words.iter().position(|&word| word == "sem") else { return otherwise };
    match words[at + 1] {
        "relaxed" => Order::Relaxed,
        "acquire" => Order::Acquire,
        "release" => Order::Release,
        other => panic!("no order: {other}"),
    }
}

pub fn number(name: &str) -> u64 {
    match name {
        "e" | "e_wide" => NEW,
        "e_old" => OLD,
        "one" | "one_wide" => 1,
        "zero" => 0,
        _ => panic!("no value: {name}"),
    }
}

fn wait(strong: Strong, compare: &str, value: &str, timeout: bool) -> Op {
    Op::Wait(strong, Until { compare: Compare::from_keyword(compare).unwrap(), value: number(value), timeout })
}

/// A read that releases nothing may be passed by what writes other places and acquires nothing.
fn delayed(thread: Vec<(Step, Site)>) -> Vec<(Step, Site)> {
    let mut made: Vec<(Step, Site)> = Vec::new();
    let mut late: Option<(Strong, String, Site)> = None;
    for (step, site) in thread {
        if let Some((read, ..)) = &late
            && !passes(&step, read)
            && let Some((strong, name, site)) = late.take()
        {
            made.push((Step::Late(strong, name), site));
        }
        match &step {
            Step::Into(Op::Load(strong) | Op::Atomic(strong, Update::Add(0)), name) if !strong.order.releases() => {
                late = Some((*strong, name.clone(), site.clone()));
                made.push((Step::Issue(name.clone()), site));
            }
            _ => made.push((step, site)),
        }
    }
    made.extend(late.map(|(strong, name, site)| (Step::Late(strong, name), site)));
    made
}

fn passes(step: &Step, read: &Strong) -> bool {
    let (Step::Do(op) | Step::Into(op, _)) = step else { return false };
    match op {
        Op::Store(strong, _) | Op::Signal(strong, _) | Op::Atomic(strong, Update::Exchange(_)) => {
            !strong.at.overlaps(read.at) && !strong.order.acquires()
        }
        _ => false,
    }
}
