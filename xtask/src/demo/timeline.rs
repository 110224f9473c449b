//! A piece of a timeline as an SVG: a row for each block that communicates, spans, and an arrow for each signal.

use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How many arrows a piece shows.
const ARROWS: usize = 24;
const WIDTH: f64 = 1400.0;
const LABELS: f64 = 120.0;
const TOP: f64 = 64.0;
const ROW: f64 = 44.0;
const BAR: f64 = 28.0;
const MARGIN: f64 = 50.0;
/// Most ticks, without the one at zero.
const TICKS: f64 = 9.0;

/// The categories from the lowest layer up: colour, and what a bar is lower than its row's.
const LAYERS: &[(&str, &str, f64)] = &[
    ("block", "#dde3ec", 0.0),
    ("collective", "#9aa5b1", 4.0),
    ("wait", "#f2c879", 4.0),
    ("transfer", "#4c8bd6", 4.0),
    ("signal", "#d1495b", 4.0),
];

/// A rank and a thread of it.
type Lane = (u64, u64);

struct Span {
    lane: Lane,
    start: f64,
    end: f64,
    name: String,
    category: String,
}

struct Arrow {
    from: (Lane, f64),
    to: (Lane, f64),
}

/// Draws the middle of a timeline in Chrome's trace-event format; times are from where the picture begins.
pub fn draw(json: &str) -> Result<String> {
    let trace: Value = serde_json::from_str(json)?;
    let events = trace["traceEvents"].as_array().context("the timeline has no events")?;
    let (spans, arrows) = (spans(events), arrows(events));
    let (start, end) = window(&spans, &arrows);
    let names: BTreeMap<Lane, &str> = events
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .filter_map(|event| Some((lane(event), event["args"]["name"].as_str()?)))
        .filter(|(lane, _)| {
            spans.iter().any(|span| span.lane == *lane && ["wait", "signal"].contains(&&*span.category))
        })
        .collect();
    let rows: BTreeMap<Lane, f64> =
        names.keys().scan(TOP, |y, lane| Some((*lane, std::mem::replace(y, *y + ROW)))).collect();
    let bottom = rows.values().copied().fold(TOP, |_, y| y + ROW);
    let x = |time: f64| LABELS + (time.clamp(start, end) - start) / (end - start) * (WIDTH - LABELS - MARGIN);

    let mut svg = String::new();
    let height = bottom + 40.0;
    writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"
font-family="sans-serif" font-size="12">"#
    )?;
    writeln!(svg, r#"<rect width="100%" height="100%" fill="white"/>"#)?;
    draw_legend(&mut svg)?;
    for (lane, y) in &rows {
        let label = format!("rank {}, {}", lane.0, names[lane]);
        writeln!(svg, r#"<text x="8" y="{}">{}</text>"#, y + BAR / 2.0 + 4.0, escape(&label))?;
    }
    for (category, colour, lower) in LAYERS {
        let visible = |span: &&Span| span.category == *category && span.end >= start && span.start <= end;
        for span in spans.iter().filter(visible) {
            let Some(y) = rows.get(&span.lane) else { continue };
            let (from, width) = (x(span.start), (x(span.end) - x(span.start)).max(1.5));
            writeln!(
                svg,
                r#"<rect x="{from:.1}" y="{}" width="{width:.1}" height="{}" fill="{colour}">
<title>{} ({:.1} µs)</title></rect>"#,
                y + lower,
                BAR - 2.0 * lower,
                escape(&span.name),
                span.end - span.start
            )?;
        }
    }
    for Arrow { from, to } in arrows.iter().filter(|arrow| arrow.from.1 >= start && arrow.to.1 <= end) {
        let (Some(above), Some(below)) = (rows.get(&from.0), rows.get(&to.0)) else { continue };
        let (x1, y1, x2, y2) = (x(from.1), above + BAR / 2.0, x(to.1), below + BAR / 2.0);
        let bend = x1.midpoint(x2);
        writeln!(
            svg,
            r##"<path d="M{x1:.1},{y1} C{bend:.1},{y1} {bend:.1},{y2} {x2:.1},{y2}"
fill="none" stroke="#333" stroke-opacity="0.6"/><circle cx="{x2:.1}" cy="{y2}" r="3" fill="#333"/>"##
        )?;
    }
    draw_ticks(&mut svg, end - start, bottom, |time| x(start + time))?;
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// What each colour means.
fn draw_legend(svg: &mut String) -> Result<()> {
    for (index, (category, colour, _)) in LAYERS.iter().enumerate() {
        let x = LABELS + 110.0 * f64::from(u32::try_from(index)?);
        writeln!(
            svg,
            r#"<rect x="{x}" y="18" width="14" height="14" fill="{colour}"/><text x="{}" y="30">{category}</text>"#,
            x + 20.0
        )?;
    }
    Ok(())
}

/// Lines with their times, over so much time.
fn draw_ticks(svg: &mut String, time: f64, bottom: f64, x: impl Fn(f64) -> f64) -> Result<()> {
    let step = step(time);
    for tick in (0..).map(|tick| f64::from(tick) * step).take_while(|tick| *tick <= time) {
        let x = x(tick);
        // The sum of its bits' errors is not to be seen.
        let label = (tick * 1e3).round() / 1e3;
        writeln!(svg, r##"<path d="M{x:.1},{} V{bottom}" stroke="#ccc" stroke-opacity="0.6"/>"##, TOP - 8.0)?;
        writeln!(svg, r#"<text x="{x:.1}" y="{}" text-anchor="middle">{label} µs</text>"#, bottom + 20.0)?;
    }
    Ok(())
}

/// The distance of ticks over so much time: 1, 2 or 5 times a power of ten.
fn step(time: f64) -> f64 {
    let power = 10_f64.powf((time / TICKS).log10().floor());
    [1.0, 2.0, 5.0].map(|digit| digit * power).into_iter().find(|step| time / step <= TICKS).unwrap_or(10.0 * power)
}

fn spans(events: &[Value]) -> Vec<Span> {
    let spans = events.iter().filter(|event| event["ph"] == "X").filter_map(|event| {
        let start = event["ts"].as_f64()?;
        Some(Span {
            lane: lane(event),
            start,
            end: start + event["dur"].as_f64()?,
            name: event["name"].as_str()?.to_owned(),
            category: event["cat"].as_str()?.to_owned(),
        })
    });
    spans.collect()
}

/// The arrows, in the order of their starts.
fn arrows(events: &[Value]) -> Vec<Arrow> {
    let ends = |phase: &str| -> BTreeMap<u64, (Lane, f64)> {
        let events = events.iter().filter(|event| event["ph"] == phase);
        events.filter_map(|event| Some((event["id"].as_u64()?, (lane(event), event["ts"].as_f64()?)))).collect()
    };
    let targets = ends("f");
    let mut arrows: Vec<Arrow> =
        ends("s").into_iter().filter_map(|(id, from)| Some(Arrow { from, to: *targets.get(&id)? })).collect();
    arrows.sort_by(|a, b| a.from.1.total_cmp(&b.from.1));
    arrows
}

fn lane(event: &Value) -> Lane {
    (event["pid"].as_u64().unwrap_or_default(), event["tid"].as_u64().unwrap_or_default())
}

/// The stretch of time around the middle arrows; everything if there are none.
fn window(spans: &[Span], arrows: &[Arrow]) -> (f64, f64) {
    let first = arrows.len().saturating_sub(ARROWS) / 2;
    let middle = &arrows[first..arrows.len().min(first + ARROWS)];
    let (mut start, mut end) = (f64::INFINITY, 0.0_f64);
    for arrow in middle {
        (start, end) = (start.min(arrow.from.1), end.max(arrow.to.1));
    }
    if middle.is_empty() {
        start = 0.0;
        end = spans.iter().map(|span| span.end).fold(1.0, f64::max);
    }
    let margin = (end - start).max(1.0) * 0.03;
    ((start - margin).max(0.0), end + margin)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::{draw, step};

    #[test]
    fn a_signal_is_drawn_from_one_row_to_another() {
        let trace = r#"{"traceEvents":[
            {"name":"thread_name","ph":"M","pid":0,"tid":1,"args":{"name":"block 0"}},
            {"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"block 0"}},
            {"name":"signal, rank 1","cat":"signal","ph":"X","ts":10.0,"dur":0.5,"pid":0,"tid":1},
            {"name":"wait >= 1","cat":"wait","ph":"X","ts":5.0,"dur":20.0,"pid":1,"tid":1},
            {"name":"signal","ph":"s","id":0,"ts":10.0,"pid":0,"tid":1},
            {"name":"signal","ph":"f","id":0,"ts":24.0,"pid":1,"tid":1}]}"#;
        let svg = draw(trace).unwrap();
        assert!(svg.contains("rank 0, block 0") && svg.contains("rank 1, block 0"));
        assert!(svg.contains("wait &gt;= 1 (20.0 µs)"));
        assert_eq!(svg.matches("<circle").count(), 1);
        // From 9.58 to 24.42 µs.
        let ticks: Vec<_> = svg.split(" µs</text>").filter_map(|text| text.rsplit('>').next()).collect();
        assert_eq!(ticks[..ticks.len() - 1], ["0", "2", "4", "6", "8", "10", "12", "14"]);
    }

    #[test]
    fn ticks_are_at_round_times() {
        let steps = [0.1, 1.0, 9.0, 9.1, 17.0, 40.0, 345.0, 1e6].map(step);
        let round = [0.02, 0.2, 1.0, 2.0, 2.0, 5.0, 50.0, 2e5];
        assert!(steps.iter().zip(round).all(|(step, round)| (step / round - 1.0).abs() < 1e-9), "{steps:?}");
    }

    #[test]
    fn an_empty_timeline_is_drawn() {
        assert!(draw(r#"{"traceEvents":[]}"#).unwrap().ends_with("</svg>\n"));
    }
}
