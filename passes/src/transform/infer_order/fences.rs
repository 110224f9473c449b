//! The fences of a stretch: making them, and making one of those next to each other.

use super::{Kind, Step};
use crate::analysis::order::{join, set_keyword};
use crate::ir::{Builder, context, fuse_locations};
use melior::ir::{Location, OperationRef, operation::OperationLike};
use symm_dialect::ops::{Fence, FenceParts, Group, Order, Scope, SymmOp};

/// Whether a fence releases what comes before it for the signals of a group.
pub fn covers(fence: Fence, group: Group) -> bool {
    fence.sem().releases() && fence.scope() == Scope::Sys && fence.group() == group
}

pub fn make_fence<'c: 'a, 'a>(
    next: OperationRef<'c, 'a>,
    origin: OperationRef<'c, 'a>,
    order: Order,
    group: Group,
) -> Fence<'c, 'a> {
    let context = context(next);
    let fence = FenceParts { sem: order, scope: Scope::Sys, group };
    let op = Builder::at(context, next, origin.location()).make(&fence, &[]);
    match SymmOp::cast(op) {
        Some(SymmOp::Fence(fence)) => fence,
        _ => unreachable!("a fence was made"),
    }
}

/// The steps of a stretch that are done.
#[derive(Default)]
pub struct Done<'c, 'a> {
    steps: Vec<Step<'c, 'a>>,
    /// Where the fences were that the last step, a fence, stands for too.
    locations: Vec<Location<'c>>,
}

impl<'c: 'a, 'a> Done<'c, 'a> {
    pub fn last(&self) -> Option<&Step<'c, 'a>> {
        self.steps.last()
    }

    pub fn extend(&mut self, steps: &[Step<'c, 'a>]) {
        self.finish();
        self.steps.extend(steps);
    }

    /// Adds a fence, or makes the fence directly before it as strong as both, and says so.
    pub fn push_fence(&mut self, op: OperationRef<'c, 'a>, fence: Fence<'c, 'a>) -> bool {
        if let Some((before, Kind::Fence(other))) = self.steps.last()
            && other.group() == fence.group()
        {
            let (order, scope) = (join(other.sem(), fence.sem()), other.scope().max(fence.scope()));
            let is_either = [(other.sem(), other.scope()), (fence.sem(), fence.scope())].contains(&(order, scope));
            if is_either || other.scope() == fence.scope() {
                set_keyword(*before, "sem", order as i64);
                set_keyword(*before, "scope", scope as i64);
                self.locations.push(op.location());
                Builder::before(op).erase(op);
                return true;
            }
        }
        self.extend(&[(op, Kind::Fence(fence))]);
        false
    }

    /// Gives the last fence the locations of those that it stands for.
    pub fn finish(&mut self) {
        let locations = std::mem::take(&mut self.locations);
        if let Some((fence, _)) = self.steps.last().filter(|_| !locations.is_empty()) {
            fuse_locations(*fence, &locations);
        }
    }
}
