//! Programs whose tasks do the same ops whatever they read.

use crate::op::{Answer, Op, Site};
use crate::run::{Execution, Next, Program};
use crate::task::{Task, TaskId};

/// For each task its ops, in order. Tasks that an op launches do not start by themselves.
///
/// ```
/// use symm_checker::check::{Schedules, check};
/// use symm_checker::finding::Kind;
/// use symm_checker::lines::Lines;
/// use symm_checker::op::{Op, Range};
/// use symm_checker::run::Limits;
/// use symm_checker::task::Task;
///
/// let place = Range { heap: 1, start: 0, bytes: 4 };
/// let writes = |byte| ("writes".into(), Op::Write(vec![place], vec![byte; 4]));
/// let program = Lines::new(vec![
///     (
///         Task::block(2, 0),
///         vec![("allocates".into(), Op::Alloc(place, true)), ("launches".into(), Op::Launch([1, 2].into()))],
///     ),
///     (Task::block(0, 0), vec![writes(1)]),
///     (Task::block(1, 0), vec![writes(2)]),
/// ]);
/// let report = check(&program, &Schedules::All { executions: 100 }, Limits::default());
/// assert!(report.is_exhausted);
/// assert_eq!(report.found[0].finding.kind, Kind::Race);
/// ```
#[derive(Debug, Clone)]
pub struct Lines(Vec<(Task, Vec<(Site, Op)>)>);

impl Lines {
    /// The program of these tasks.
    #[must_use]
    pub fn new(tasks: Vec<(Task, Vec<(Site, Op)>)>) -> Self {
        Self(tasks)
    }
}

impl Program for Lines {
    fn tasks(&self) -> Vec<Task> {
        self.0.iter().map(|(task, _)| *task).collect()
    }

    fn first(&self) -> Vec<TaskId> {
        let launches = |task: &TaskId| {
            self.0
                .iter()
                .flat_map(|(_, ops)| ops)
                .any(|(_, op)| matches!(op, Op::Launch(others) if others.contains(task)))
        };
        (0..self.0.len()).filter(|task| !launches(task)).collect()
    }

    fn may_be_let_through(&self) -> bool {
        true
    }

    fn start(&self) -> Box<dyn Execution + '_> {
        Box::new(Reading { lines: self, at: vec![0; self.0.len()] })
    }
}

struct Reading<'l> {
    lines: &'l Lines,
    at: Vec<usize>,
}

impl Execution for Reading<'_> {
    fn next(&mut self, task: TaskId, _: Answer) -> Next {
        let line = self.lines.0[task].1.get(self.at[task]);
        self.at[task] += 1;
        line.map_or(Next::End, |(site, op)| Next::Op(op.clone(), site.clone()))
    }
}
