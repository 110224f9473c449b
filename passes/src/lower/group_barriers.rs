//! Where the copies and the waits of a group need barriers: before a copy, so that it sees what each thread of the
//! group has done, and after both, so that each thread sees what they have done (O3).
//!
//! ```mlir
//! memref.store %x, %src[%thread] : memref<64xf32>
//! symm.put %ctx, %src, %dst, %p group block : memref<64xf32>, memref<64xf32>  // a barrier before it
//! symm.put %ctx, %src, %dst, %q group block : memref<64xf32>, memref<64xf32>  // none
//! symm.get %ctx, %far, %near, %p group block : memref<64xf32>, memref<64xf32> // before and after it
//! %y = memref.load %near[%thread] : memref<64xf32>
//! ```
//!
//! A barrier is left out where every path to the op, or from it, has a barrier of the group before it has an access of
//! a thread of the group; after a wait it may be that of another wait, because one thread waits for all. Where that
//! holds within a loop, and only what lies around the loop needs the barrier, it stands at the loop, if all threads get
//! there together.
//!
//! Between a `get` or `copy` and another access the barrier is the `get`'s: what follows finds the group together. The
//! source of a `put` may be read until the next barrier of its group, so a write that may come earlier needs one. Puts
//! that follow each other are not ordered among themselves, and neither are gets: between those there is none.
//!
//! Limits: an access counts at any address; a call counts as what its callee does, if that is known.

use super::gpu::Gathered;
use crate::analysis::order::{is_write, may_write_heap, only_reads};
use crate::analysis::search::{Direction, Meaning, Search};
use crate::analysis::uniform::is_reached_together;
use crate::ir::structure::{self, LOOPS};
use crate::ir::triton::words::ALL_MEMORY;
use crate::ir::{blocks, collect, enclosing, name, operations, symm_ops};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::{OperationRef, operation::OperationLike};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use symm_dialect::ops::{Group, Grouped, Route, SymmOp};
use symm_dialect::symbol::symbol;
use symm_dialect::text;

/// The barriers that copies and waits need.
pub struct GroupBarriers<'c, 'a> {
    before: HashSet<usize>,
    after: HashSet<usize>,
    /// Loops with a barrier, its group, and whether it stands before the loop or after it.
    pub at_loops: Vec<(OperationRef<'c, 'a>, Group, Direction)>,
}

/// Who the threads of a group are to each other.
#[derive(Clone, Copy, PartialEq)]
pub enum Threads {
    /// Threads of a GPU, in the groups that the ops name.
    Grouped,
    /// Those of a Triton program: every op is all of theirs.
    Program,
}

/// An op of a group that a barrier may have to go with.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct GroupOp {
    group: Group,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// A `put` or `put_signal`, which leaves the memory of this rank as it is.
    Put,
    /// A `get`.
    Get,
    /// A `copy`, which may read what the one before it has written.
    Copy,
    /// A `wait` without a timeout.
    Wait,
}

/// What an operation does to memory.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Effect {
    None,
    Reads,
    Writes,
}

type Searches<'c, 'a, 's> =
    HashMap<(Direction, GroupOp, Option<usize>), Search<'c, 'a, Box<dyn Fn(OperationRef<'c, 'a>) -> Meaning + 's>>>;

impl<'c: 'a, 'a> GroupBarriers<'c, 'a> {
    /// Looks at every copy and wait below `root`.
    pub fn new(root: OperationRef<'c, 'a>, threads: Threads, gathered: &Gathered) -> Self {
        let look = Look {
            threads,
            gathered,
            after: RefCell::default(),
            loops: RefCell::default(),
            callees: RefCell::default(),
        };
        let members: Vec<_> = symm_ops(root).into_iter().filter_map(|op| Some((op, look.member(op)?))).collect();
        let mut found = Self { before: HashSet::new(), after: HashSet::new(), at_loops: Vec::new() };
        let mut searches = HashMap::new();
        // Those after copies first: what comes after a copy finds the group together there.
        for (op, member) in members.iter().filter(|(op, _)| !matches!(op, SymmOp::PutSignal(_))) {
            if found.is_needed_here(&look, &mut searches, op.operation(), *member, Direction::After) {
                look.after.borrow_mut().insert(key(op.operation()));
            }
        }
        for (op, member) in members.iter().filter(|(_, member)| member.kind != Kind::Wait) {
            if found.is_needed_here(&look, &mut searches, op.operation(), *member, Direction::Before) {
                found.before.insert(key(op.operation()));
            }
        }
        drop(searches);
        found.after = look.after.into_inner();
        found
    }

    /// Whether a copy needs a barrier right before it.
    pub fn before(&self, op: OperationRef) -> bool {
        self.before.contains(&key(op))
    }

    /// Whether a copy or a wait needs a barrier right after it.
    pub fn after(&self, op: OperationRef) -> bool {
        self.after.contains(&key(op))
    }

    /// Whether an op needs a barrier on this side of it. One that it needs at a loop around it is taken down.
    fn is_needed_here<'s>(
        &mut self,
        look: &'s Look<'s>,
        searches: &mut Searches<'c, 'a, 's>,
        op: OperationRef<'c, 'a>,
        member: GroupOp,
        direction: Direction,
    ) -> bool {
        let mut is_needed = |within: Option<OperationRef<'c, 'a>>| {
            let search = searches.entry((direction, member, within.map(key))).or_insert_with(|| {
                let search = Search::new(direction, true, look.meaning(direction, member));
                if let Some(around) = within { search.within(around) } else { search }
            });
            search.unordered(op).is_some()
        };
        if !look.is_called(op) && !is_needed(None) {
            return false;
        }
        let (mut inner, mut at) = (op, None);
        while let Some(around) = enclosing(inner, LOOPS).filter(|around| !is_needed(Some(*around))) {
            at = Some(around).filter(|around| is_reached_together(*around)).or(at);
            inner = around;
        }
        let Some(at) = at else { return true };
        if look.loops.borrow_mut().insert((key(at), member.group, direction)) {
            self.at_loops.push((at, member.group, direction));
        }
        false
    }
}

/// What is known of the ops around copies and waits.
struct Look<'s> {
    threads: Threads,
    gathered: &'s Gathered,
    /// Ops with a barrier right after them.
    after: RefCell<HashSet<usize>>,
    /// Loops with a barrier on a side.
    loops: RefCell<HashSet<(usize, Group, Direction)>>,
    /// What functions do to memory.
    callees: RefCell<HashMap<usize, Effect>>,
}

impl Look<'_> {
    /// The copy or wait of a group that an op is. In Triton all threads wait.
    fn member<'c: 'a, 'a>(&self, op: SymmOp<'c, 'a>) -> Option<GroupOp> {
        let kind = if let Some(route) = op.route() {
            match route {
                Route::Get => Kind::Get,
                Route::Put => Kind::Put,
                Route::Copy => Kind::Copy,
            }
        } else {
            match op.grouped()? {
                Grouped::Wait(wait) if self.threads == Threads::Grouped && wait.timeout().is_none() => Kind::Wait,
                // The first two come together of themselves; the ends of the others are known above.
                Grouped::Signal(_)
                | Grouped::Barrier(_)
                | Grouped::Fence(_)
                | Grouped::TraceBegin(_)
                | Grouped::Wait(_)
                | Grouped::Get(_)
                | Grouped::Put(_)
                | Grouped::Copy(_)
                | Grouped::PutSignal(_) => return None,
            }
        };
        let group = self.group(op.group()?);
        (group != Group::Thread).then_some(GroupOp { group, kind })
    }

    fn group(&self, named: Group) -> Group {
        if self.threads == Threads::Program { Group::Block } else { named }
    }

    /// Whether an op is in a Triton function that others call.
    fn is_called<'c: 'a, 'a>(&self, op: OperationRef<'c, 'a>) -> bool {
        self.threads == Threads::Program
            && enclosing(op, &[structure::TRITON_FUNC])
                .and_then(|function| function.attribute("sym_visibility").ok())
                .and_then(text::string)
                .is_some_and(|visibility| visibility == "private")
    }

    fn meaning<'c: 'a, 'a>(
        &self,
        direction: Direction,
        member: GroupOp,
    ) -> Box<dyn Fn(OperationRef<'c, 'a>) -> Meaning + '_> {
        Box::new(move |op| {
            let at_loop = (key(op), member.group, Direction::After);
            let effect = match SymmOp::cast(op) {
                Some(other) if self.is_barrier_of(other, direction, member) => return Meaning::Fence,
                Some(other) => self.effect_of_symm(other),
                None if is_barrier(op) => return Meaning::Fence,
                None if direction == Direction::Before && self.loops.borrow().contains(&at_loop) => {
                    return Meaning::Fence;
                }
                // A wait always ends together: only another barrier makes its own superfluous.
                None if member.kind == Kind::Wait && name(op).ends_with(".return") => Effect::Writes,
                None => self.effect(op),
            };
            let matters = match (direction, member.kind) {
                (Direction::After, Kind::Put) => effect == Effect::Writes,
                _ => effect != Effect::None,
            };
            if matters { Meaning::Access } else { Meaning::Neutral }
        })
    }

    /// Whether an op has a barrier of the group of `member`: before it does anything else, seen from before it, or
    /// after it has done all else, seen from after it.
    fn is_barrier_of<'c: 'a, 'a>(&self, op: SymmOp<'c, 'a>, direction: Direction, member: GroupOp) -> bool {
        let is_after = direction == Direction::After;
        let covers = |group| self.group(group) >= member.group;
        if let Some(other) = self.member(op).filter(|other| other.kind != Kind::Wait) {
            let has_one_after =
                self.after.borrow().contains(&key(op.operation())) || matches!(op, SymmOp::PutSignal(_));
            if has_one_after && !is_after {
                return covers(other.group);
            }
            let is_needless = match (member.kind, other.kind) {
                // What one of them needs on a side, the other one has there.
                (Kind::Put, Kind::Put) | (Kind::Get, Kind::Get) => true,
                // They have a barrier before them where a put, but no other one since, may be under way.
                (Kind::Put, Kind::Get | Kind::Copy) => is_after,
                (Kind::Get, Kind::Put | Kind::Copy) | (Kind::Copy | Kind::Wait, _) | (_, Kind::Wait) => false,
            };
            return is_needless && other.group == member.group;
        }
        let Some(grouped) = op.grouped() else { return false };
        match grouped {
            Grouped::Signal(_) if self.gathered.contains(op.operation()) => false,
            Grouped::Signal(op) => covers(op.group()) && (self.threads == Threads::Grouped || op.sem().releases()),
            // One thread reads the flag before its barrier, after it has waited for another one.
            Grouped::Wait(op) if is_after && member.kind == Kind::Wait => {
                op.group() == member.group && op.timeout().is_none()
            }
            Grouped::Wait(op) => covers(op.group()) && (!is_after || member.kind == Kind::Put),
            Grouped::Fence(op) => covers(op.group()),
            Grouped::Barrier(op) => covers(op.group()),
            // Copies of one thread; a record in a timeline orders nothing.
            Grouped::Get(_) | Grouped::Put(_) | Grouped::Copy(_) | Grouped::PutSignal(_) | Grouped::TraceBegin(_) => {
                false
            }
        }
    }

    fn effect_of_symm<'c: 'a, 'a>(&self, op: SymmOp<'c, 'a>) -> Effect {
        // They write no data of the program. A fence without a barrier, or a signal that needs none, is not an access.
        if matches!(op, SymmOp::Signal(_)) && self.gathered.contains(op.operation()) {
            return Effect::None;
        }
        if matches!(op, SymmOp::Wait(_)) {
            return Effect::Reads;
        }
        if op.writes() || op.waits() || op.accesses().iter().any(|access| access.is_flag) {
            return Effect::Writes;
        }
        if op.reads() { Effect::Reads } else { Effect::None }
    }

    /// What an op of another dialect does to memory, apart from what its regions hold.
    fn effect<'c: 'a, 'a>(&self, op: OperationRef<'c, 'a>) -> Effect {
        match name(op) {
            structure::CALL => self.effect_of_callee(op),
            name if only_reads(name) => Effect::Reads,
            // What a block shares is copied as well.
            name if is_write(name) || may_write_heap(op) => Effect::Writes,
            _ => Effect::None,
        }
    }

    fn effect_of_callee<'c: 'a, 'a>(&self, call: OperationRef<'c, 'a>) -> Effect {
        let callee = call.attribute("callee").ok().and_then(text::symbol).unwrap_or_default();
        let function = enclosing(call, &[structure::GPU_MODULE]).and_then(|module| {
            operations(blocks(module)[0]).into_iter().find(|op| symbol(*op).as_ref() == Some(&callee))
        });
        let Some(function) = function else { return Effect::Writes };
        if let Some(known) = self.callees.borrow().get(&key(function)) {
            return *known;
        }
        // What calls itself is not looked through.
        self.callees.borrow_mut().insert(key(function), Effect::Writes);
        let effect_of = |op: OperationRef<'c, 'a>| match SymmOp::cast(op) {
            Some(op) => self.effect_of_symm(op),
            None => self.effect(op),
        };
        let inside = blocks(function).into_iter().flat_map(operations).flat_map(collect);
        let effect = inside.map(effect_of).fold(Effect::None, |one, other| if one < other { other } else { one });
        // Of what nothing defines nothing is known.
        let effect = if blocks(function).is_empty() { Effect::Writes } else { effect };
        self.callees.borrow_mut().insert(key(function), effect);
        effect
    }
}

/// Whether an op of another dialect is a barrier of the block that orders all memory.
pub fn is_barrier<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    match name(op) {
        "gpu.barrier" => true,
        "ttg.barrier" => {
            let spaces = op.attribute("addrSpace").and_then(IntegerAttribute::try_from);
            spaces.is_ok_and(|spaces| spaces.value() == ALL_MEMORY)
        }
        _ => false,
    }
}

fn key(op: OperationRef) -> usize {
    op.to_raw().ptr as usize
}
