//! The command line.

use clap::{ArgGroup, Parser};
use std::path::PathBuf;
use symm_abi::heap::MAX_RANKS;
use symm_checker::check::Schedules;
use symm_checker::schedule::Schedule;
use symm_run::options::{HostFunction, bytes};
use symm_tool::number::whole;

/// Find races, missing releases and deadlocks of a symm program, without a GPU.
///
/// Every thread of every block of every rank runs by itself under a scheduler, on one thread of this machine, and each
/// memory access is checked against the rules of docs/memory-model.md. Without --schedules, --exhaustive or --replay
/// there is one execution, in which each thread goes on as long as it can.
///
/// The exit status is 0 if no error was found, 1 if one was, and 2 if the program could not be checked, or not to
/// its end (--steps).
///
/// Examples:
///
///   symm-check examples/message_passing.mlir --ranks 2 --threads 2 --arg messages=6
///
///   symm-check program.mlir --ranks 2 --schedules 100 --seed 7
///
///   symm-check program.mlir --ranks 2 --exhaustive
#[expect(clippy::doc_markdown, reason = "it is the text of --help")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[derive(Parser)]
#[command(version, verbatim_doc_comment)]
#[command(group(ArgGroup::new("random").args(["schedules", "seed"]).multiple(true)))]
pub struct Options {
    /// The program: MLIR text or bytecode; '-' is standard input.
    pub file: PathBuf,
    /// Number of ranks.
    #[arg(short = 'n', long, default_value = "2", value_parser = whole(1..=MAX_RANKS), allow_hyphen_values = true)]
    pub ranks: u32,
    /// The largest number of threads in a block; a launch that asks for more gets this many.
    #[arg(long, value_name = "N", value_parser = whole(1..=1024u32), allow_negative_numbers = true)]
    pub threads: Option<u32>,
    /// How many blocks of a rank fit on its device at once; default: all.
    #[arg(long, value_name = "N", value_parser = whole(1..=u32::MAX), allow_negative_numbers = true)]
    pub blocks: Option<u32>,
    /// Which host function runs, and on what.
    #[command(flatten)]
    pub host: HostFunction,
    /// Symmetric memory of each rank, with a suffix K, M or G.
    #[arg(long, value_name = "BYTES", default_value = "64M", value_parser = bytes, allow_hyphen_values = true)]
    pub heap_size: u64,
    /// Try this many random schedules, from the seeds --seed, --seed + 1, ….
    #[arg(
        long,
        value_name = "N",
        value_parser = whole(0..=usize::MAX),
        conflicts_with_all = ["exhaustive", "replay"],
        allow_negative_numbers = true,
    )]
    pub schedules: Option<usize>,
    /// The first seed of random schedules; alone, that one schedule.
    #[arg(
        long,
        value_name = "N",
        value_parser = whole(0..=u64::MAX),
        conflicts_with_all = ["exhaustive", "replay"],
        allow_negative_numbers = true,
    )]
    pub seed: Option<u64>,
    /// How often the priorities of threads change in a random schedule.
    #[arg(
        long,
        value_name = "N",
        default_value = "3",
        value_parser = whole(0..=usize::MAX),
        requires = "random",
        allow_negative_numbers = true,
    )]
    pub changes: usize,
    /// Try all schedules that differ, but no more than --executions.
    #[arg(long, conflicts_with = "replay")]
    pub exhaustive: bool,
    /// The most executions of --exhaustive.
    #[arg(
        long,
        value_name = "N",
        default_value = "100000",
        value_parser = whole(1..=u64::MAX),
        requires = "exhaustive",
        allow_negative_numbers = true,
    )]
    pub executions: u64,
    /// Run the schedule of a report once more.
    #[arg(long, value_name = "SCHEDULE", allow_negative_numbers = true)]
    pub replay: Option<Schedule>,
    /// The most steps of one execution; one that takes more is given up.
    #[arg(
        long,
        value_name = "N",
        default_value = "1000000",
        value_parser = whole(0..=usize::MAX),
        allow_negative_numbers = true,
    )]
    pub steps: usize,
    /// Check the program as written, not what the compiler makes of it: nothing is repaired or merged.
    #[arg(long)]
    pub as_written: bool,
    /// Report an error where the compiler would repair a memory order or a scope.
    #[arg(long, conflicts_with = "as_written")]
    pub strict: bool,
    /// Write the report as JSON.
    #[arg(long)]
    pub json: bool,
    /// Also write the report as a page for a browser, which draws each finding's execution.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Findings that are allowed: lines of PLACE KIND REASON; '-' is standard input.
    #[arg(long, value_name = "FILE")]
    pub allow: Option<PathBuf>,
}

impl Options {
    /// The command line that checks the same in other schedules; `tool` is how the user calls the tool.
    pub fn again(&self, tool: &[String], schedules: &[String]) -> String {
        let mut words = [tool, &[self.file.display().to_string()]].concat();
        let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
        option("ranks", self.ranks.to_string());
        let numbers = [("threads", self.threads), ("blocks", self.blocks)];
        numbers
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .for_each(|(name, value)| option(name, value.to_string()));
        let HostFunction { entry, inputs, args } = &self.host;
        if entry != "main" {
            option("entry", entry.clone());
        }
        for (name, file) in inputs {
            option("input", format!("{name}={}", file.display()));
        }
        for (name, value) in args {
            option("arg", format!("{name}={value}"));
        }
        if self.heap_size != HEAP_SIZE {
            option("heap-size", self.heap_size.to_string());
        }
        if self.steps != STEPS {
            option("steps", self.steps.to_string());
        }
        // Standard input is another one next time.
        if let Some(file) = self.allow.as_ref().filter(|file| file.as_os_str() != "-") {
            option("allow", file.display().to_string());
        }
        let switches = [("--as-written", self.as_written), ("--strict", self.strict)];
        words.extend(switches.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| name.to_owned()));
        words.extend_from_slice(schedules);
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// The options that try the schedule of a seed.
    pub fn with_seed(&self, seed: u64) -> Vec<String> {
        let mut words = vec!["--seed".to_owned(), seed.to_string()];
        if self.changes != CHANGES {
            words.extend(["--changes".to_owned(), self.changes.to_string()]);
        }
        words
    }

    /// The schedules that are asked for.
    pub fn schedules(&self) -> Schedules {
        if let Some(schedule) = &self.replay {
            return Schedules::Replay(schedule.clone());
        }
        if self.exhaustive {
            return Schedules::All { executions: usize::try_from(self.executions).unwrap_or(usize::MAX) };
        }
        match (self.schedules, self.seed) {
            (None, None) => Schedules::InTurn,
            (executions, seed) => Schedules::Random {
                seed: seed.unwrap_or(1),
                executions: executions.unwrap_or(1),
                changes: self.changes,
            },
        }
    }
}

/// What `--heap-size`, `--steps` and `--changes` are where they are not given.
const HEAP_SIZE: u64 = 64 << 20;
const STEPS: usize = 1_000_000;
const CHANGES: usize = 3;

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Options::command().debug_assert();
    }

    #[test]
    fn what_replays_is_a_command_line() {
        let again = |options: &[&str], schedules: &[&str]| {
            let parsed = Options::try_parse_from([&["symm-check", "a b.mlir"], options].concat()).unwrap();
            let schedules: Vec<_> = schedules.iter().map(|&word| word.to_owned()).collect();
            parsed.again(&["bin/symm-check".into()], &schedules)
        };
        let options = ["--ranks", "3", "--arg", "x=it's", "--seed", "7", "--as-written"];
        let whole = r"bin/symm-check 'a b.mlir' --ranks 3 --arg 'x=it'\''s' --as-written --replay '0*3 1.2'";
        assert_eq!(again(&options, &["--replay", "0*3 1.2"]), whole);
        let options = "--threads 4 --blocks 2 --entry f --input x=a.npy --heap-size 8M --steps 9 --allow a --strict \
                       --json --html p --exhaustive --executions 9";
        let given: Vec<_> = options.split_whitespace().collect();
        let whole = "bin/symm-check 'a b.mlir' --ranks 2 --threads 4 --blocks 2 --entry f --input x=a.npy \
                     --heap-size 8388608 --steps 9 --allow a --strict --replay ''";
        assert_eq!(again(&given, &["--replay", ""]), whole);
        assert_eq!(again(&["--allow", "-"], &[]), "bin/symm-check 'a b.mlir' --ranks 2");
    }

    #[test]
    fn what_is_not_given_is_not_said_again() {
        let parsed = |options: &[&str]| Options::try_parse_from([&["symm-check", "f"], options].concat()).unwrap();
        let defaults = parsed(&[]);
        assert_eq!((defaults.heap_size, defaults.steps, defaults.changes), (HEAP_SIZE, STEPS, CHANGES));
        assert_eq!(parsed(&["--seed", "7"]).with_seed(9), ["--seed", "9"]);
        assert_eq!(parsed(&["--seed", "7", "--changes", "4"]).with_seed(9), ["--seed", "9", "--changes", "4"]);
    }

    #[test]
    fn numbers_that_cannot_be_are_told_the_range() {
        for text in ["-1", "1.5", "", "many", "99999999999999999999"] {
            for option in ["ranks", "threads", "blocks", "schedules", "seed", "changes", "executions", "steps"] {
                let given = [&format!("--{option}"), text];
                let said = Options::try_parse_from(["symm-check", "f", given[0], given[1]]).err().unwrap().to_string();
                assert!(said.contains(": takes a whole number from "), "{said}");
            }
        }
    }

    #[test]
    fn kinds_of_schedules_exclude_each_other() {
        let parsed = |options: &[&str]| Options::try_parse_from([&["symm-check", "f"], options].concat());
        assert!(parsed(&["--exhaustive", "--seed", "3"]).is_err());
        assert!(parsed(&["--replay", "0 x"]).is_err());
        assert_eq!(parsed(&[]).ok().map(|options| options.schedules()), Some(Schedules::InTurn));
        let random = Schedules::Random { seed: 7, executions: 1, changes: 3 };
        assert_eq!(parsed(&["--seed", "7"]).ok().map(|options| options.schedules()), Some(random));
    }
}
