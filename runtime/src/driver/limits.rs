//! Which limit kept a thread from being started: the system only says that there is one.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::thread::MAPPINGS;

/// From this share of a limit on, it counts as reached: other processes start and end threads meanwhile.
const NEARLY: (u64, u64) = (98, 100);

/// How much of a resource is used, and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Use {
    has: Option<u64>,
    most: Option<u64>,
}

impl Use {
    /// Whether this many more do not fit.
    fn is_too_little_for(self, more: u64) -> bool {
        self.has.zip(self.most).is_some_and(|(has, most)| has.saturating_add(more) > most)
    }

    fn is_met(self) -> bool {
        let (part, whole) = NEARLY;
        self.has.zip(self.most).is_some_and(|(has, most)| has.saturating_mul(whole) >= most.saturating_mul(part))
    }
}

/// The limits on threads.
#[derive(Debug)]
struct Limits {
    mappings: Use,
    /// Threads of all processes: each has a number.
    numbers: Use,
    all: Use,
    /// Threads of a control group.
    group: Use,
    /// Threads of this user, except for root.
    user: Use,
    /// Bytes of address space.
    addresses: Use,
}

/// The limits that are reached, or else all limits, with the way to raise them.
pub(super) fn met(started: usize) -> String {
    Limits::now().describe(started)
}

/// Why this many more threads, of all ranks of this system, cannot be started; `None` if no limit is known to forbid
/// it.
pub(super) fn refusal(more: u64) -> Option<String> {
    Limits::now().refuse(more)
}

fn number(path: impl AsRef<Path>) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Of the control groups of this process, the one with the least room.
fn group() -> Use {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let of = |line: &str| {
        // `0::/path`, or in version 1 `7:pids:/path`.
        let (root, path) = match line.splitn(3, ':').collect::<Vec<_>>()[..] {
            [_, "", path] => ("/sys/fs/cgroup", path),
            [_, "pids", path] => ("/sys/fs/cgroup/pids", path),
            _ => return Vec::new(),
        };
        let folders = Path::new(path.trim_start_matches('/')).ancestors().map(|path| Path::new(root).join(path));
        let uses = folders.map(|at| Use { has: number(at.join("pids.current")), most: number(at.join("pids.max")) });
        uses.filter(|usage| usage.has.is_some() && usage.most.is_some()).collect()
    };
    let room = |usage: &Use| usage.most.unwrap_or(u64::MAX).saturating_sub(usage.has.unwrap_or(0));
    groups.lines().flat_map(of).min_by_key(room).unwrap_or(Use { has: None, most: None })
}

/// The threads of this user, unless it is root.
fn user() -> Use {
    let user = rustix::process::geteuid();
    let most = rustix::process::getrlimit(rustix::process::Resource::Nproc).current;
    if user.is_root() || most.is_none() {
        return Use { has: None, most: None };
    }
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mine = processes.filter(|process| process.metadata().is_ok_and(|found| found.uid() == user.as_raw()));
    // A directory has two links, and one more for each directory in it.
    let threads = mine.filter_map(|process| Some(fs::metadata(process.path().join("task")).ok()?.nlink() - 2));
    Use { has: Some(threads.sum()), most }
}

impl Limits {
    fn now() -> Self {
        // `0.00 0.01 0.05 running/all last`
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let threads = load.split(['/', ' ']).nth(4).and_then(|all| all.parse().ok());
        let maps = fs::read_to_string("/proc/self/maps").ok().map(|maps| maps.lines().count() as u64);
        let pages = fs::read_to_string("/proc/self/statm").ok();
        let pages: Option<u64> = pages.and_then(|text| text.split(' ').next()?.parse().ok());
        let limit = |which| rustix::process::getrlimit(which).current;
        Self {
            mappings: Use { has: maps, most: number("/proc/sys/vm/max_map_count") },
            numbers: Use { has: threads, most: number("/proc/sys/kernel/pid_max") },
            all: Use { has: threads, most: number("/proc/sys/kernel/threads-max") },
            group: group(),
            user: user(),
            addresses: Use {
                has: pages.map(|pages| pages * rustix::param::page_size() as u64),
                most: limit(rustix::process::Resource::As),
            },
        }
    }

    fn refuse(&self, more: u64) -> Option<String> {
        let limits = [
            (self.numbers, "of this system (kernel.pid_max)"),
            (self.all, "of this system (kernel.threads-max)"),
            (self.group, "of this control group (pids.max)"),
            (self.user, "of this user (ulimit -u)"),
        ];
        let (usage, whose) = limits.into_iter().find(|(usage, _)| usage.is_too_little_for(more))?;
        let (has, most) = usage.has.zip(usage.most)?;
        Some(format!(
            "the ranks of this system need {more} more threads, and {has} of at most {most} threads {whose} are in use"
        ))
    }

    fn describe(&self, started: usize) -> String {
        let of = |usage: Use, what: &str| {
            usage.has.zip(usage.most).map(|(has, most)| (usage.is_met(), format!("{has} of at most {most} {what}")))
        };
        let known = [
            of(self.mappings, &format!("mappings of this process, {MAPPINGS} for each block (vm.max_map_count)")),
            of(self.numbers, "threads of this system (kernel.pid_max)"),
            of(self.all, "threads of this system (kernel.threads-max)"),
            of(self.group, "threads of this control group (pids.max)"),
            of(self.addresses, "bytes of addresses of this process (ulimit -v)"),
            of(self.user, "threads of this user (ulimit -u)"),
        ];
        let known: Vec<_> = known.into_iter().flatten().collect();
        let is_met = known.iter().any(|(met, _)| *met);
        let said = known.into_iter().filter(|(met, _)| *met || !is_met).map(|(_, text)| text);
        let said: Vec<_> = said.collect();
        let which = if is_met { "a limit is reached" } else { "one of these limits is reached" };
        format!("each block is a thread, and a rank has started {started}; {which}: {}", said.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        let little = |most| Use { has: Some(10), most: Some(most) };
        Limits {
            mappings: little(65_530),
            numbers: little(32_768),
            all: little(100_000),
            group: Use { has: Some(10), most: None },
            user: Use { has: Some(10), most: None },
            addresses: Use { has: Some(10), most: None },
        }
    }

    #[test]
    fn a_limit_that_is_met_is_the_only_one_named() {
        let met = Limits { numbers: Use { has: Some(32_700), most: Some(32_768) }, ..limits() };
        assert_eq!(
            met.describe(7),
            "each block is a thread, and a rank has started 7; a limit is reached: 32700 of at most 32768 threads \
             of this system (kernel.pid_max)"
        );
    }

    #[test]
    fn without_one_all_are() {
        let text = Limits { user: Use { has: Some(10), most: Some(4096) }, ..limits() }.describe(7);
        for part in ["one of these limits", "vm.max_map_count", "pid_max", "threads-max", "4096 threads of this user"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!text.contains("pids.max") && !text.contains("ulimit -v"), "{text}");
    }

    #[test]
    fn what_has_no_room_is_refused_with_the_numbers() {
        let little = Limits { group: Use { has: Some(900), most: Some(1000) }, ..limits() };
        assert_eq!(
            little.refuse(101).unwrap(),
            "the ranks of this system need 101 more threads, and 900 of at most 1000 threads of this control group \
             (pids.max) are in use"
        );
        assert_eq!(little.refuse(100), None);
        assert!(limits().refuse(32_764).is_some_and(|why| why.contains("10 of at most 32768")), "{:?}", limits());
    }

    #[test]
    fn this_systems_are_read() {
        let now = Limits::now();
        assert!(now.mappings.has.is_some_and(|has| has > 5) && now.mappings.most.is_some_and(|most| most > 1000));
        assert!(now.numbers.has.is_some_and(|has| has > 1), "{now:?}");
    }
}
