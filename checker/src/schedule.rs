//! Which task goes on: the same one as long as it can, or one by random priorities, or one as a schedule says.

use crate::run::Run;
use crate::task::TaskId;
use std::fmt;
use std::str::FromStr;

/// One step: a task, and in which of its ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Choice {
    /// The task.
    pub task: TaskId,
    /// The way; 0 reads the newest values.
    pub way: usize,
}

/// The steps of an execution, which is replayed by them. As text `0*3 1.2 0`: task 0 three times, task 1 in way 2, task
/// 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// Steps that are the same, and how often they come in a row: neighbours differ.
    runs: Vec<(Choice, usize)>,
    steps: usize,
}

impl Schedule {
    /// How many steps it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps == 0
    }

    /// Adds a step, this many times.
    pub fn push(&mut self, choice: Choice, times: usize) {
        self.steps += times;
        match self.runs.last_mut() {
            Some((last, before)) if *last == choice => *before += times,
            _ if times > 0 => self.runs.push((choice, times)),
            _ => {}
        }
    }

    /// Its first steps.
    #[must_use]
    pub fn first(&self, steps: usize) -> Self {
        let mut first = Self::default();
        for &(choice, times) in &self.runs {
            first.push(choice, times.min(steps - first.steps));
        }
        first
    }

    /// Its steps by the turns of tasks: each begins where another task goes on than the one before.
    #[must_use]
    pub fn turns(&self) -> Vec<Self> {
        let turns = self.runs.chunk_by(|a, b| a.0.task == b.0.task);
        turns.map(|runs| Self { runs: runs.to_vec(), steps: runs.iter().map(|(_, times)| times).sum() }).collect()
    }

    /// The task of its first step.
    pub(crate) fn task(&self) -> Option<TaskId> {
        self.runs.first().map(|(choice, _)| choice.task)
    }

    /// How often another task goes on than the one before.
    #[must_use]
    pub fn switches(&self) -> usize {
        self.runs.windows(2).filter(|pair| pair[0].0.task != pair[1].0.task).count()
    }
}

impl<'s> FromIterator<&'s Schedule> for Schedule {
    fn from_iter<I: IntoIterator<Item = &'s Schedule>>(parts: I) -> Self {
        let mut all = Self::default();
        parts.into_iter().flat_map(|part| &part.runs).for_each(|&(choice, times)| all.push(choice, times));
        all
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, &(Choice { task, way }, times)) in self.runs.iter().enumerate() {
            write!(f, "{}{task}", if nth == 0 { "" } else { " " })?;
            if way > 0 {
                write!(f, ".{way}")?;
            }
            if times > 1 {
                write!(f, "*{times}")?;
            }
        }
        Ok(())
    }
}

/// A text that is not a schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a step of a schedule: write TASK, TASK.WAY, TASK*TIMES or TASK.WAY*TIMES, with spaces between steps"
)]
pub struct NoSchedule(String);

/// The most steps that a schedule's text may say.
const MOST_STEPS: usize = 10_000_000_000;

impl FromStr for Schedule {
    type Err = NoSchedule;

    fn from_str(text: &str) -> Result<Self, NoSchedule> {
        let mut steps = Self::default();
        for word in text.split_whitespace() {
            let number = |text: &str| text.parse::<usize>().map_err(|_| NoSchedule(word.into()));
            let (step, times) = word.split_once('*').unwrap_or((word, "1"));
            let (task, way) = step.split_once('.').unwrap_or((step, "0"));
            let (choice, times) = (Choice { task: number(task)?, way: number(way)? }, number(times)?);
            if times > MOST_STEPS - steps.len() {
                return Err(NoSchedule(word.into()));
            }
            steps.push(choice, times);
        }
        Ok(steps)
    }
}

/// Picks the next step of a run.
pub trait Chooser {
    /// The step; `None` if no task can go on.
    fn choose(&mut self, run: &mut Run) -> Option<Choice>;

    /// How many more steps the task that was chosen would have, as long as each is possible in one way, nobody else
    /// can go on since, and it does not poll.
    fn more(&self, _: &Run) -> usize {
        0
    }

    /// It has had this many of them.
    fn went_on(&mut self, _: usize) {}

    /// Lets a run do what is chosen next; whether it can, and has steps left.
    fn advance(&mut self, run: &mut Run) -> bool {
        let Some(choice) = self.choose(run).filter(|_| !run.is_at_limit()) else { return false };
        let done = run.steps(choice, self.more(run));
        self.went_on(done);
        true
    }
}

/// How many steps a task has in a row while others could go on: it may be polling for what they do.
const PATIENCE: usize = 1000;

/// Lets a task go on until it is blocked, then the next one, and reads the newest values.
#[derive(Debug, Default)]
pub struct InTurn {
    current: TaskId,
    in_a_row: usize,
}

impl Chooser for InTurn {
    fn choose(&mut self, run: &mut Run) -> Option<Choice> {
        let is_patient = self.in_a_row < PATIENCE && !run.is_idle(self.current);
        if is_patient && run.ways(self.current) > 0 {
            self.in_a_row += 1;
        } else {
            self.current = run.next_enabled(self.current + 1)?.task;
            self.in_a_row = 0;
        }
        Some(Choice { task: self.current, way: 0 })
    }

    fn more(&self, _: &Run) -> usize {
        PATIENCE - self.in_a_row
    }

    fn went_on(&mut self, steps: usize) {
        self.in_a_row += steps;
    }
}

/// Numbers from a seed, the same ones everywhere (`SplitMix64`).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.word() % end as u64).unwrap_or(0)
    }
}

/// Probabilistic concurrency testing (Burckhardt et al., 2010): the task of the highest priority goes on; priorities
/// are random, and at a few random steps the task that goes on gets the lowest one.
#[derive(Debug)]
pub struct ByPriority {
    random: Random,
    /// The tasks, from the highest priority on.
    order: Vec<TaskId>,
    /// The steps at which priorities change, in order.
    changes: Vec<usize>,
    last: TaskId,
    in_a_row: usize,
}

impl ByPriority {
    /// For `tasks` tasks, `changes` changes of priority within about `steps` steps.
    #[must_use]
    pub fn new(seed: u64, tasks: usize, steps: usize, changes: usize) -> Self {
        let mut random = Random::new(seed);
        let mut order: Vec<_> = (0..tasks).collect();
        for at in (1..tasks).rev() {
            order.swap(at, random.below(at + 1));
        }
        // With one for each step there are no more that matter, and no memory would hold any number of them.
        let mut changes: Vec<_> = (0..changes.min(steps)).map(|_| random.below(steps.max(1))).collect();
        changes.sort_unstable();
        Self { random, order, changes, last: 0, in_a_row: 0 }
    }
}

impl Chooser for ByPriority {
    fn choose(&mut self, run: &mut Run) -> Option<Choice> {
        let is_patient = self.in_a_row < PATIENCE && !run.is_idle(self.last);
        if self.changes.binary_search(&run.choices.len()).is_ok() || !is_patient {
            let last = self.last;
            self.order.retain(|&task| task != last);
            self.order.push(last);
            self.in_a_row = 0;
        }
        // Tasks that were launched since come after all others.
        let known = self.order.len();
        self.order.extend(known..run.tasks());
        let (task, ways) =
            self.order.iter().find_map(|&task| Some((task, run.ways(task))).filter(|each| each.1 > 0))?;
        self.in_a_row = if task == self.last { self.in_a_row + 1 } else { 0 };
        self.last = task;
        // Half of the reads take the newest value, so that what polls comes to its end.
        let way = if ways > 1 && self.random.below(2) == 1 { self.random.below(ways) } else { 0 };
        Some(Choice { task, way })
    }

    fn more(&self, run: &Run) -> usize {
        // The step that was chosen comes first.
        let next = run.choices.len() + 1;
        let change = self.changes.get(self.changes.partition_point(|&change| change < next));
        change.map_or(usize::MAX, |change| change - next).min(PATIENCE - self.in_a_row)
    }

    fn went_on(&mut self, steps: usize) {
        self.in_a_row += steps;
    }
}

/// Follows a schedule as far as it can: a step whose task is blocked is left out. After it, in turn.
#[derive(Debug)]
pub struct Follow {
    rest: std::vec::IntoIter<(Choice, usize)>,
    current: Option<(Choice, usize)>,
    after: InTurn,
    is_after: bool,
    /// How many steps could not be followed.
    pub(crate) left_out: usize,
}

impl Follow {
    /// Follows this one.
    #[must_use]
    pub fn new(schedule: &Schedule) -> Self {
        let (rest, after) = (schedule.runs.clone().into_iter(), InTurn::default());
        Self { rest, current: None, after, is_after: false, left_out: 0 }
    }
}

impl Chooser for Follow {
    fn choose(&mut self, run: &mut Run) -> Option<Choice> {
        while let Some((choice, times)) = self.current.take().or_else(|| self.rest.next()) {
            let ways = run.ways(choice.task);
            // A task that is blocked is so for all of its steps here: nobody else goes on between them.
            if ways > 0 {
                self.current = (times > 1).then(|| (choice, times - 1));
                self.left_out += usize::from(choice.way >= ways);
                return Some(Choice { way: choice.way.min(ways - 1), ..choice });
            }
            self.left_out += times;
        }
        self.is_after = true;
        self.after.choose(run)
    }

    fn more(&self, run: &Run) -> usize {
        match self.current {
            _ if self.is_after => self.after.more(run),
            Some((choice, times)) if choice.way == 0 => times,
            _ => 0,
        }
    }

    fn went_on(&mut self, steps: usize) {
        if self.is_after {
            self.after.went_on(steps);
        } else if let Some((choice, times)) = self.current.take() {
            self.current = (times > steps).then(|| (choice, times - steps));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_its_text() {
        let text = "0*3 1.2 0 10.1*2";
        let schedule: Schedule = text.parse().unwrap();
        assert_eq!((schedule.to_string().as_str(), schedule.len(), schedule.switches()), (text, 7, 3));
        for bad in ["x", "1.", "1*", "-1", "1*99999999999", "1.2.3"] {
            assert_eq!(bad.parse::<Schedule>(), Err(NoSchedule(bad.into())));
        }
    }

    #[test]
    fn a_schedule_is_its_parts() {
        let schedule: Schedule = "0*3 1.2 1*2 0 0*0 0 2".parse().unwrap();
        assert_eq!((schedule.len(), schedule.to_string().as_str()), (9, "0*3 1.2 1*2 0*2 2"));
        let turns = schedule.turns();
        let texts: Vec<_> = turns.iter().map(Schedule::to_string).collect();
        assert_eq!(texts, ["0*3", "1.2 1*2", "0*2", "2"]);
        assert_eq!(turns.iter().map(Schedule::len).sum::<usize>(), 9);
        assert_eq!(turns.iter().collect::<Schedule>(), schedule);
        let first = [0, 2, 4, 9, 100].map(|steps| schedule.first(steps).to_string());
        assert_eq!(first, ["", "0*2", "0*3 1.2", "0*3 1.2 1*2 0*2 2", "0*3 1.2 1*2 0*2 2"]);
    }

    #[test]
    fn no_more_priorities_change_than_there_are_steps() {
        let changes = |changes| ByPriority::new(1, 2, 10, changes).changes.len();
        assert_eq!([0, 3, usize::MAX].map(changes), [0, 3, 10]);
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let numbers = |seed| {
            std::iter::repeat_with({
                let mut random = Random::new(seed);
                move || random.below(1000)
            })
            .take(4)
            .collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
    }
}
