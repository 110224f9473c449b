//! Which wait saw which signal.

use std::collections::HashMap;

use super::{Event, FlagAddress, What};

/// How much later than the end of a wait its signal may be recorded: the time is taken after the flag is written, and
/// the thread may lose its core in between.
const RECORDED_WITHIN: u64 = 10_000_000;

/// A signal and a wait that it ended, as indices of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrow {
    pub(super) signal: usize,
    pub(super) wait: usize,
}

/// Times and indices of signals, in order.
type Signals = Vec<(u64, usize)>;

/// The arrow for each satisfied wait of `events` that a signal ended.
///
/// It starts, in this order of preference, at the latest signal before the wait's end that set the flag to the value
/// seen; at one recorded a little later; if no signal set that value, at the last signal before the end; at the first
/// one a little later whose value is unknown.
pub(super) fn arrows(events: &[Event]) -> Vec<Arrow> {
    let mut by_flag: HashMap<FlagAddress, Signals> = HashMap::new();
    let mut by_value: HashMap<(FlagAddress, u64), Signals> = HashMap::new();
    for (index, event) in events.iter().enumerate() {
        if let What::Signal { flag: Some(flag), value, .. } = event.what {
            by_flag.entry(flag).or_default().push((event.start, index));
            if let Some(value) = value {
                by_value.entry((flag, value)).or_default().push((event.start, index));
            }
        }
    }
    by_flag.values_mut().chain(by_value.values_mut()).for_each(|signals| signals.sort_unstable());
    let none = Signals::new();
    let found = events.iter().enumerate().filter_map(|(wait, event)| {
        let What::Wait { flag: Some(flag), saw, satisfied: true, .. } = event.what else {
            return None;
        };
        let before = |signals: &Signals| signals.partition_point(|&(time, _)| time <= event.end);
        let exact = by_value.get(&(flag, saw)).unwrap_or(&none);
        let any = by_flag.get(&flag).unwrap_or(&none);
        let latest = |signals: &Signals| before(signals).checked_sub(1).map(|at| signals[at].1);
        let recorded_later = |signals: &Signals| {
            let (time, signal) = *signals.get(before(signals))?;
            (time - event.end <= RECORDED_WITHIN).then_some(signal)
        };
        let signal = latest(exact)
            .or_else(|| recorded_later(exact))
            .or_else(|| latest(any))
            .or_else(|| recorded_later(any).filter(|signal| has_unknown_value(&events[*signal])))?;
        Some(Arrow { signal, wait })
    });
    found.collect()
}

fn has_unknown_value(event: &Event) -> bool {
    matches!(event.what, What::Signal { value: None, .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::SignalOp;

    const FLAG: FlagAddress = FlagAddress { rank: 1, offset: 64 };

    fn signal(time: u64, flag: FlagAddress, value: u64) -> Event {
        let what = What::Signal { flag: Some(flag), peer: 1, op: SignalOp::Set, value: Some(value) };
        Event { rank: 0, block: Some(0), start: time, end: time, loc: "s:1:1".into(), what }
    }

    fn wait(end: u64, saw: u64, satisfied: bool) -> Event {
        let what = What::Wait { flag: Some(FLAG), condition: ">= 1".to_owned(), saw, satisfied };
        Event { rank: 1, block: Some(0), start: 0, end, loc: "w:1:1".into(), what }
    }

    fn signal_of(events: &[Event]) -> Option<usize> {
        let all = arrows(events);
        assert!(all.len() <= 1);
        all.first().map(|arrow| arrow.signal)
    }

    #[test]
    fn the_latest_signal_of_the_value_before_the_end() {
        let signals = [signal(10, FLAG, 1), signal(20, FLAG, 2), signal(30, FLAG, 1), signal(60, FLAG, 1)];
        let with = |wait: Event| signal_of(&[signals.to_vec(), vec![wait]].concat());
        assert_eq!(with(wait(50, 1, true)), Some(2));
        assert_eq!(with(wait(25, 1, true)), Some(0));
        assert_eq!(with(wait(25, 2, true)), Some(1));
        assert_eq!(with(wait(50, 1, false)), None, "it gave up");
    }

    #[test]
    fn a_signal_recorded_late_still_matches() {
        assert_eq!(signal_of(&[signal(10, FLAG, 1), signal(101, FLAG, 2), wait(100, 2, true)]), Some(1));
        let too_late = signal(101 + RECORDED_WITHIN, FLAG, 2);
        assert_eq!(signal_of(&[signal(10, FLAG, 1), too_late, wait(100, 2, true)]), Some(0));
    }

    #[test]
    fn an_add_whose_result_is_not_known_matches_by_its_time() {
        let add = |time| {
            let what = What::Signal { flag: Some(FLAG), peer: 1, op: SignalOp::Add, value: None };
            Event { what, ..signal(time, FLAG, 0) }
        };
        assert_eq!(signal_of(&[add(10), add(20), add(200), wait(100, 2, true)]), Some(1));
        assert_eq!(signal_of(&[add(101), add(102), wait(100, 1, true)]), Some(0), "recorded late");
        assert_eq!(signal_of(&[add(101 + RECORDED_WITHIN), wait(100, 1, true)]), None);
        assert_eq!(signal_of(&[signal(101, FLAG, 7), wait(100, 1, true)]), None, "it has another value");
    }

    #[test]
    fn a_value_nobody_set_matches_the_last_signal() {
        assert_eq!(signal_of(&[signal(10, FLAG, 3), signal(20, FLAG, 9), wait(50, 12, true)]), Some(1));
        assert_eq!(
            signal_of(&[signal(10, FlagAddress { rank: 2, ..FLAG }, 1), wait(50, 1, true)]),
            None,
            "another flag"
        );
        assert_eq!(signal_of(&[wait(50, 0, true)]), None, "satisfied from the start");
    }
}
