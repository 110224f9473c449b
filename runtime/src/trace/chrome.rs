//! The Chrome trace-event format, which Perfetto opens: a process for each rank, a thread for its host and each block.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;

use serde::Serialize;
use serde_json::{Value, json};

use super::arrows::arrows;
use super::{Event, FlagAddress, SignalOp, Trace, What};
use crate::error::Error;

/// Length of a signal's slice, in nanoseconds, unless something follows sooner. Arrows start at slices, not at
/// instants.
const SIGNAL_LENGTH: u64 = 500;

/// One event of the format.
#[derive(Debug, Serialize)]
struct Entry {
    name: String,
    cat: &'static str,
    ph: &'static str,
    /// Microseconds since the first event.
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: u32,
    tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    args: Value,
}

/// A rank and one of its threads: 0 for the host, and for a block its number plus 1.
type Lane = (u32, u32);

/// An event's start and end, as drawn.
type Times = [u64; 2];

/// Writes entries one by one: a trace has many.
struct Entries<W> {
    to: W,
    separator: &'static str,
}

impl<W: Write> Entries<W> {
    fn write(&mut self, entry: &Entry) -> Result<(), Error> {
        let failed = || Error::io("write the trace");
        self.to.write_all(self.separator.as_bytes()).map_err(failed())?;
        self.separator = ",\n";
        serde_json::to_writer(&mut self.to, entry).map_err(|error| failed()(error.into()))
    }
}

impl Trace {
    /// Writes the trace as JSON that Perfetto (<https://ui.perfetto.dev>) opens. Times start at 0.
    ///
    /// # Errors
    /// [`Error::System`] when writing fails.
    pub fn write_chrome(&self, to: impl Write) -> Result<(), Error> {
        let failed = || Error::io("write the trace");
        let mut entries = Entries { to, separator: "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" };
        self.write_entries(&mut entries)?;
        let Entries { mut to, separator } = entries;
        let start = if self.events.is_empty() { separator } else { "" };
        let clocks = self.clock_errors.iter().map(|(rank, error)| (format!("rank {rank}"), *error));
        let clocks: BTreeMap<String, u64> = clocks.collect();
        let other = json!({ "dropped_events": self.dropped, "clock_error_ns": clocks });
        write!(to, "{start}\n],\"otherData\":{other}}}\n").map_err(failed())?;
        to.flush().map_err(failed())
    }

    fn write_entries(&self, to: &mut Entries<impl Write>) -> Result<(), Error> {
        let events = &self.events;
        let arrows = arrows(events);
        let mut times: Vec<Times> = events.iter().map(|event| [event.start, event.end]).collect();
        for arrow in &arrows {
            // The wait saw the flag, so the flag was written before: a later time was recorded late.
            let seen = events[arrow.wait].end.saturating_sub(1);
            let [start, end] = times[arrow.signal];
            let earlier = start.min(seen);
            times[arrow.signal] = [earlier, if start == end { earlier } else { end.min(seen).max(earlier) }];
        }
        // A signal is sent at its end.
        let sent = |[start, end]: Times| end.saturating_sub(1).max(start);
        let sent: Vec<u64> = arrows.iter().map(|arrow| sent(times[arrow.signal])).collect();
        lengthen_signals(events, &mut times);
        let zero = times.iter().map(|[start, _]| *start).min().unwrap_or(0);
        names(events).iter().try_for_each(|name| to.write(name))?;
        events.iter().zip(&times).try_for_each(|(event, times)| to.write(&slice(event, *times, zero)))?;
        for (id, (arrow, sent)) in arrows.iter().zip(sent).enumerate() {
            let [start, end] = times[arrow.wait];
            to.write(&flow("s", id, &events[arrow.signal], sent, zero))?;
            to.write(&flow("f", id, &events[arrow.wait], end.saturating_sub(1).max(start), zero))?;
        }
        Ok(())
    }
}

fn lane(event: &Event) -> Lane {
    (event.rank, event.block.map_or(0, |block| block + 1))
}

/// Gives signals without a length one that ends before anything else on their threads starts or ends.
fn lengthen_signals(events: &[Event], times: &mut [Times]) {
    let is_moment = |event: &Event, [start, end]: Times| matches!(event.what, What::Signal { .. }) && start == end;
    let mut edges: HashMap<Lane, Vec<u64>> = HashMap::new();
    for (event, times) in events.iter().zip(&*times).filter(|(event, times)| is_moment(event, **times)) {
        edges.entry(lane(event)).or_default().extend(times);
    }
    for (event, times) in events.iter().zip(&*times).filter(|(event, times)| !is_moment(event, **times)) {
        if let Some(edges) = edges.get_mut(&lane(event)) {
            edges.extend(times);
        }
    }
    for edges in edges.values_mut() {
        edges.sort_unstable();
    }
    for (event, times) in events.iter().zip(times) {
        if is_moment(event, *times) {
            let edges = &edges[&lane(event)];
            let next = edges.get(edges.partition_point(|edge| *edge <= times[0]));
            times[1] = next.map_or(u64::MAX, |&next| next).min(times[0] + SIGNAL_LENGTH);
        }
    }
}

fn names(events: &[Event]) -> Vec<Entry> {
    let lanes: BTreeSet<Lane> = events.iter().map(lane).collect();
    let ranks: BTreeSet<u32> = lanes.iter().map(|&(rank, _)| rank).collect();
    let meta = |name: &str, (pid, tid): Lane, args| Entry {
        name: name.to_owned(),
        cat: "__metadata",
        ph: "M",
        ts: 0.0,
        dur: None,
        pid,
        tid,
        id: None,
        bp: None,
        args,
    };
    let mut entries = Vec::new();
    for rank in ranks {
        entries.push(meta("process_name", (rank, 0), json!({ "name": format!("rank {rank}") })));
        entries.push(meta("process_sort_index", (rank, 0), json!({ "sort_index": rank })));
    }
    for lane @ (_, tid) in lanes {
        let name = tid.checked_sub(1).map_or("host".to_owned(), |block| format!("block {block}"));
        entries.push(meta("thread_name", lane, json!({ "name": name })));
        entries.push(meta("thread_sort_index", lane, json!({ "sort_index": tid })));
    }
    entries
}

fn slice(event: &Event, [start, end]: Times, zero: u64) -> Entry {
    let (name, cat, mut args) = describe(&event.what);
    args["loc"] = json!(&*event.loc);
    let (pid, tid) = lane(event);
    let length = (end - start).max(1);
    Entry {
        name,
        cat,
        ph: "X",
        ts: micros(start - zero),
        dur: Some(micros(length)),
        pid,
        tid,
        id: None,
        bp: None,
        args,
    }
}

fn flow(ph: &'static str, id: usize, event: &Event, time: u64, zero: u64) -> Entry {
    let (pid, tid) = lane(event);
    let bp = Some("e");
    Entry {
        name: "signal".to_owned(),
        cat: "signal",
        ph,
        ts: micros(time - zero),
        dur: None,
        pid,
        tid,
        id: Some(id),
        bp,
        args: json!({}),
    }
}

/// Name, category and arguments.
fn describe(what: &What) -> (String, &'static str, Value) {
    match what {
        What::Launch { kernel, blocks } => (format!("launch @{kernel}"), "launch", json!({ "blocks": blocks })),
        What::Block { kernel, coords: [x, y, z] } => (format!("@{kernel} ({x},{y},{z})"), "block", json!({})),
        What::Barrier => ("barrier_all".to_owned(), "collective", json!({})),
        What::Broadcast { bytes } => ("broadcast".to_owned(), "collective", json!({ "bytes": bytes })),
        What::DeviceBarrier => ("barrier".to_owned(), "collective", json!({})),
        What::Fence { order } => (format!("fence {order}"), "fence", json!({})),
        What::Alloc { bytes } => ("alloc".to_owned(), "collective", json!({ "bytes": bytes })),
        What::Free => ("free".to_owned(), "collective", json!({})),
        What::HostCopy { bytes } => ("host copy".to_owned(), "transfer", json!({ "bytes": bytes })),
        What::Transfer { kind, peer, offset, bytes } => {
            let place = offset.map(|offset| format!("heap+{offset:#x}"));
            let kind = format!("{kind:?}").to_lowercase();
            (format!("{kind}, rank {peer}"), "transfer", json!({ "peer": peer, "at": place, "bytes": bytes }))
        }
        What::Signal { flag, peer, op, value } => {
            let op = match op {
                SignalOp::Set => "set",
                SignalOp::Add => "add",
            };
            let args = json!({ "peer": peer, "flag": flag.map(flag_text), "op": op, "value": value });
            (format!("signal, rank {peer}"), "signal", args)
        }
        What::Wait { flag, condition, saw, satisfied } => {
            let args = json!({ "flag": flag.map(flag_text), "saw": saw, "satisfied": satisfied });
            (format!("wait {condition}"), "wait", args)
        }
    }
}

fn flag_text(flag: FlagAddress) -> String {
    format!("rank {} heap+{:#x}", flag.rank, flag.offset)
}

#[allow(clippy::cast_precision_loss, reason = "exact to the nanosecond for runs of up to 104 days")]
fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(block: Option<u32>, start: u64, end: u64, loc: &str, what: What) -> Event {
        Event { rank: 1, block, start, end, loc: loc.into(), what }
    }

    fn written(trace: &Trace) -> Vec<Value> {
        let mut bytes = Vec::new();
        trace.write_chrome(&mut bytes).unwrap();
        let all: Value = serde_json::from_slice(&bytes).unwrap();
        all["traceEvents"].as_array().unwrap().clone()
    }

    fn phase<'a>(entries: &'a [Value], ph: &str) -> Vec<&'a Value> {
        entries.iter().filter(|entry| entry["ph"] == ph).collect()
    }

    #[test]
    fn an_empty_trace_is_valid() {
        assert!(written(&Trace::default()).is_empty());
    }

    #[test]
    fn text_is_escaped_and_times_start_at_zero() {
        let kernel = "a\"b\\\u{1}".into();
        let launch = event(None, 5_000, 7_500, "we\"ird\n.mlir:1:1", What::Launch { kernel, blocks: 3 });
        let entries = written(&Trace { events: vec![launch], ..Trace::default() });
        let slices = phase(&entries, "X");
        assert_eq!(slices[0]["name"], "launch @a\"b\\\u{1}");
        assert_eq!(slices[0]["args"]["loc"], "we\"ird\n.mlir:1:1");
        assert_eq!((slices[0]["ts"].as_f64(), slices[0]["dur"].as_f64()), (Some(0.0), Some(2.5)));
        assert_eq!((&slices[0]["pid"], &slices[0]["tid"]), (&json!(1), &json!(0)));
    }

    #[test]
    fn an_arrow_goes_from_inside_the_signal_to_inside_the_wait_even_when_recorded_late() {
        let flag = Some(FlagAddress { rank: 1, offset: 64 });
        let signal = What::Signal { flag, peer: 1, op: SignalOp::Add, value: Some(3) };
        let wait = What::Wait { flag, condition: ">= 3".to_owned(), saw: 3, satisfied: true };
        for signalled in [1_500, 2_100] {
            let events = vec![
                event(Some(0), signalled, signalled, "s:1:1", signal.clone()),
                event(Some(0), signalled + 100, signalled + 200, "p:1:1", What::Free),
                event(Some(4), 1_000, 2_000, "w:1:1", wait.clone()),
            ];
            let entries = written(&Trace { events, ..Trace::default() });
            let (from, to) = (phase(&entries, "s"), phase(&entries, "f"));
            assert_eq!((from.len(), to.len()), (1, 1));
            assert_eq!(from[0]["id"], to[0]["id"]);
            assert!(from[0]["ts"].as_f64() <= to[0]["ts"].as_f64(), "an arrow back in time");
            let slices = phase(&entries, "X");
            for (end, slice) in [(from[0], slices[0]), (to[0], slices[2])] {
                assert_eq!(end["tid"], slice["tid"]);
                let (start, length) = (slice["ts"].as_f64().unwrap(), slice["dur"].as_f64().unwrap());
                let ts = end["ts"].as_f64().unwrap();
                assert!(start <= ts && ts < start + length, "{ts} is outside of {slice}");
            }
            let (signal, next) = (slices[0], slices[1]);
            let end = signal["ts"].as_f64().unwrap() + signal["dur"].as_f64().unwrap();
            assert!(end <= next["ts"].as_f64().unwrap() + 1e-9, "the signal overlaps what follows");
        }
    }
}
