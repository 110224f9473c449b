//! The picture of an execution: a row for each task, time from left to right, arrows from what is written to
//! who sees it.

use super::html::escaped;
use super::place;
use crate::picture::{Arrow, Line, Picture, Step};
use std::fmt::Write;

/// A box, and what is between two of them: in a row, and where the next step is another row's.
const WIDTH: usize = 164;
const HEIGHT: usize = 56;
const BETWEEN: usize = 22;
const STAGGER: usize = 60;
/// Room for the steps that a row leaves out.
const GAP: usize = 62;
/// From row to row, and above the first one.
const ROW: usize = 112;
const TOP: usize = 50;
/// The width of the tasks' names.
const NAMES: usize = 96;
/// The most letters of a line in a box.
const LETTERS: usize = 21;

/// Writes a picture.
pub(super) fn drawing(out: &mut String, picture: &Picture) {
    if picture.boxes.is_empty() {
        return;
    }
    let xs = columns(picture);
    let width = xs.iter().max().unwrap_or(&0) + WIDTH + 12;
    let height = TOP + picture.rows.len() * ROW - (ROW - HEIGHT) + 24;
    // The outer one opens at its end, or further left if what is wrong begins there, in browsers that know
    // `scroll-initial-target`; the inner one runs from left to right again.
    out.push_str("<div class=\"drawing\"><div>\n");
    if let Some(x) = start_of_error(picture, &xs) {
        let _ = writeln!(out, "<i class=\"start\" style=\"left:{}px\"></i>", NAMES + x);
    }
    let _ =
        writeln!(out, "<svg class=\"names\" width=\"{NAMES}\" height=\"{height}\" viewBox=\"0 0 {NAMES} {height}\">");
    for (row, name) in picture.rows.iter().enumerate() {
        let (first, second) = two_lines(name);
        let y = top(row) + HEIGHT / 2;
        let _ = writeln!(out, "<text x=\"4\" y=\"{}\" class=\"rank\">{}</text>", y - 3, escaped(&first));
        let _ = writeln!(out, "<text x=\"4\" y=\"{}\">{}</text>", y + 13, escaped(&second));
    }
    let _ = writeln!(
        out,
        "</svg>\n<svg class=\"steps\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"The execution: a row for each task, time from left to right\">"
    );
    for row in 0..picture.rows.len() {
        let y = top(row) + HEIGHT / 2;
        let _ = writeln!(out, "<path class=\"lane\" d=\"M0 {y}H{width}\"/>");
    }
    // What is wrong is above all else.
    for arrow in picture.arrows.iter().filter(|arrow| arrow.line != Line::Missing) {
        self::arrow(out, arrow, picture, &xs, width);
    }
    for (step, &x) in picture.boxes.iter().zip(&xs) {
        boxed(out, step, x);
    }
    for arrow in picture.arrows.iter().filter(|arrow| arrow.line == Line::Missing) {
        self::arrow(out, arrow, picture, &xs, width);
    }
    out.push_str("</svg>\n</div></div>\n");
    out.push_str(LEGEND);
}

const LEGEND: &str = "<p class=\"legend\"><span class=\"orders\">⟶</span> sees it, and what came before it \
                      <span class=\"seen\">⇢</span> sees it alone <span class=\"missing\">⇢</span> what is wrong; \
                      a number is the place below</p>\n";

/// Where the box begins that is the first of what is wrong.
fn start_of_error(picture: &Picture, xs: &[usize]) -> Option<usize> {
    let wrong = picture.arrows.iter().filter(|arrow| arrow.line == Line::Missing);
    wrong.flat_map(|arrow| [arrow.from, Some(arrow.to)]).flatten().map(|each| xs[each]).min()
}

/// Where each box begins: later steps are further right, whichever row they are of.
fn columns(picture: &Picture) -> Vec<usize> {
    let mut free = vec![8; picture.rows.len()];
    let mut last = None;
    let mut xs = Vec::new();
    for step in &picture.boxes {
        let gap = if step.gap > 0 { GAP } else { 0 };
        let x = (free[step.row] + gap).max(last.map_or(8, |last| last + STAGGER));
        free[step.row] = x + WIDTH + BETWEEN;
        last = Some(x);
        xs.push(x);
    }
    xs
}

fn top(row: usize) -> usize {
    TOP + row * ROW
}

/// A task's rank, and the rest of its name.
fn two_lines(name: &str) -> (String, String) {
    let mut words = name.split(' ');
    let first: Vec<_> = words.by_ref().take(2).collect();
    (first.join(" "), short(&words.collect::<Vec<_>>().join(" ").replace("block ", "b").replace("thread ", "t"), 14))
}

fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.into();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

fn boxed(out: &mut String, step: &Step, x: usize) {
    let y = top(step.row);
    let class = match (step.mark, step.is_blocked) {
        (_, true) => "step blocked",
        (Some(_), _) => "step marked",
        _ => "step",
    };
    let mark = step.mark.map_or_else(String::new, |mark| format!("{mark} · "));
    let count = if step.count > 1 { format!(" ×{}", step.count) } else { String::new() };
    let shown = place(&step.site).map_or_else(
        || step.site.clone(),
        |(file, line, _)| format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)),
    );
    let detail = step.detail.split(" of ").next().unwrap_or_default();
    let title = format!("{} {}{count}\n{}", step.verb, step.detail, step.site);
    let left = x + 8;
    if step.gap > 0 {
        let (at, middle) = (x - GAP / 2 - 4, y + HEIGHT / 2 + 4);
        let _ = writeln!(out, "<text class=\"gap\" x=\"{at}\" y=\"{middle}\">⋯ {}</text>", step.gap);
    }
    let _ = writeln!(
        out,
        "<g class=\"{class}\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         rx=\"6\"/><text x=\"{left}\" y=\"{}\" class=\"verb\">{}</text><text x=\"{left}\" y=\"{}\">{}</text>\
         <text x=\"{left}\" y=\"{}\" class=\"site\">{}</text></g>",
        escaped(&title),
        y + 17,
        escaped(&short(&format!("{mark}{}{count}", step.verb), LETTERS - 1)),
        y + 33,
        escaped(&short(detail, LETTERS)),
        y + 48,
        escaped(&short(&shown, LETTERS)),
    );
}

fn arrow(out: &mut String, arrow: &Arrow, picture: &Picture, xs: &[usize], width: usize) {
    let class = match arrow.line {
        Line::Orders => "orders",
        Line::Seen => "seen",
        Line::Missing => "missing",
    };
    let (path, x, y) = path(arrow, picture, xs);
    let _ = writeln!(out, "<path class=\"arrow {class}\" d=\"{path}\" marker-end=\"url(#{class})\"/>");
    if !arrow.text.is_empty() {
        let wide = 8 * arrow.text.chars().count();
        let x = x.min(width.saturating_sub(wide / 2)).max(wide / 2);
        let _ = writeln!(
            out,
            "<rect class=\"arrow-back\" x=\"{}\" y=\"{}\" width=\"{wide}\" height=\"16\"/>\
             <text class=\"arrow-text\" x=\"{x}\" y=\"{y}\">{}</text>",
            x - wide / 2,
            y - 12,
            escaped(&arrow.text)
        );
    }
}

/// How far from the right end of an arrow its text is at most: what one sees first of a long picture.
const IN_SIGHT: usize = 400;

/// The way of an arrow, and the middle of its text.
fn path(arrow: &Arrow, picture: &Picture, xs: &[usize]) -> (String, usize, usize) {
    let to = (arrow.to, picture.boxes[arrow.to].row);
    match arrow.from.map(|from| (from, picture.boxes[from].row)) {
        None => {
            let (x, y) = (xs[to.0] + WIDTH / 2, top(to.1));
            (format!("M{x} {}V{}", y - 30, y - APART), x, y - 34)
        }
        Some(from) if from.1 == to.1 => {
            let (x0, x1, y) = (xs[from.0] + WIDTH / 2, xs[to.0] + WIDTH / 2, top(to.1));
            (format!("M{x0} {y}C{x0} {0} {x1} {0} {x1} {1}", y - 36, y - APART), x0.midpoint(x1), y - 30)
        }
        Some(from) => {
            let is_down = from.1 < to.1;
            let (x0, x1) = (xs[from.0] + WIDTH * 2 / 3, xs[to.0] + WIDTH / 3);
            let (below, above) = (|row: usize| top(row) + HEIGHT, |row: usize| top(row));
            // It leaves its box, and comes to the other one in a straight line.
            let (y0, y1, straight) = if is_down {
                (below(from.1), above(to.1) - APART, above(to.1) - STRAIGHT)
            } else {
                (above(from.1), below(to.1) + APART, below(to.1) + STRAIGHT)
            };
            if from.1.abs_diff(to.1) == 1 {
                let middle = y0.midpoint(y1);
                (format!("M{x0} {y0}C{x0} {middle} {x1} {middle} {x1} {straight}V{y1}"), text_at(x0, x1), middle + 4)
            } else {
                let x = free(picture, xs, (from.1, to.1), x1);
                let (end, start) =
                    if is_down { (above(from.1 + 1), below(to.1 - 1)) } else { (below(from.1 - 1), above(to.1 + 1)) };
                let (first, last) = (y0.midpoint(end), start.midpoint(y1));
                let way = format!("M{x0} {y0}C{x0} {first} {x} {first} {x} {end}V{start}");
                (format!("{way}C{x} {last} {x1} {last} {x1} {straight}V{y1}"), text_at(x0, x), first + 4)
            }
        }
    }
}

fn text_at(from: usize, to: usize) -> usize {
    from.midpoint(to).max(from.max(to).saturating_sub(IN_SIGHT))
}

/// Between a box and the tip of an arrow, and where the last part of the arrow begins.
const APART: usize = 3;
const STRAIGHT: usize = 12;

/// Where an arrow goes through the rows between two others without crossing a box, near `x`.
fn free(picture: &Picture, xs: &[usize], rows: (usize, usize), x: usize) -> usize {
    let between = rows.0.min(rows.1) + 1..rows.0.max(rows.1);
    let boxes: Vec<_> = picture.boxes.iter().zip(xs).filter(|(step, _)| between.contains(&step.row)).collect();
    // A row says how many steps it leaves out before a box.
    let start = |step: &Step, x: usize| if step.gap > 0 { x - GAP } else { x };
    let is_free = |at: usize| boxes.iter().all(|(step, x)| at + 6 < start(step, **x) || at > **x + WIDTH + 6);
    let beside = boxes.iter().flat_map(|(step, x)| [start(step, **x).saturating_sub(8), **x + WIDTH + 8]);
    std::iter::once(x).chain(beside).filter(|&at| is_free(at)).min_by_key(|&at| at.abs_diff(x)).unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(rows: usize, boxes: &[Step], from: Option<usize>, to: usize) -> String {
        let arrows = vec![Arrow { from, to, line: Line::Missing, text: "is not what satisfies it".into() }];
        let rows = (0..rows).map(|rank| format!("rank {rank} host")).collect();
        let mut out = String::new();
        drawing(&mut out, &Picture { rows, boxes: boxes.to_vec(), arrows, left_out: None });
        out
    }

    fn step(row: usize) -> Step {
        Step {
            row,
            verb: "writes".into(),
            detail: String::new(),
            site: "a.mlir:1:1".into(),
            count: 1,
            gap: 0,
            mark: None,
            is_blocked: false,
        }
    }

    /// A number of the element that comes after a text.
    fn number(out: &str, after: &str, name: &str) -> usize {
        let element = out.split(after).nth(1).unwrap();
        element.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next()).unwrap().parse().unwrap()
    }

    #[test]
    fn what_an_arrow_says_is_on_no_box_and_in_the_picture() {
        for (from, to) in [(0, 2), (2, 0), (0, 1), (1, 0), (3, 0), (1, 1)] {
            let boxes = [from, 0, 1, 2, 3, to].map(step);
            for (first, last) in [(Some(0), 5), (Some(5), 0), (None, 5)] {
                let out = drawn(4, &boxes, first, last);
                let (x, y) = (number(&out, "arrow-back", "x"), number(&out, "arrow-back", "y"));
                let is_free = (0..4).all(|row| y + 16 <= top(row) || y >= top(row) + HEIGHT);
                assert!(is_free, "{from} to {to}: {y}");
                let (wide, middle) = (number(&out, "arrow-back", "width"), number(&out, "arrow-text", "x"));
                assert_eq!(x + wide / 2, middle);
                assert!(x + wide <= number(&out, "class=\"steps\"", "width"));
            }
        }
    }

    #[test]
    fn a_drawing_opens_where_what_is_wrong_begins() {
        let boxes = [0, 1, 0, 1, 0].map(step);
        let xs = columns(&Picture { rows: vec![String::new(); 2], boxes: boxes.to_vec(), ..Picture::default() });
        for (from, to, first) in [(Some(3), 1, 1), (Some(1), 3, 1), (None, 4, 4)] {
            let out = drawn(2, &boxes, from, to);
            let start = format!("<i class=\"start\" style=\"left:{}px\">", NAMES + xs[first]);
            assert!(out.contains(&start), "{start} is not in {out}");
        }
    }

    #[test]
    fn an_arrow_crosses_no_box_and_points_at_its_end() {
        for (from, to) in [(0, 3), (3, 0), (0, 1), (1, 0), (0, 2), (3, 1)] {
            let mut boxes = [from, 1, 2, 1, 2, 1, 2, to, 1, 2].map(step);
            boxes[5].gap = 3;
            let out = drawn(4, &boxes, Some(0), 7);
            let xs = columns(&Picture { rows: vec![String::new(); 4], boxes: boxes.to_vec(), ..Picture::default() });
            let path =
                out.split("class=\"arrow missing\" d=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
            let words: Vec<_> = path.split(|letter: char| !letter.is_ascii_digit()).collect();
            let numbers: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
            let [.., before, end] = numbers[..] else { panic!("{path}") };
            assert!(
                if from < to { before < end && end < top(to) } else { before > end && end > top(to) + HEIGHT },
                "{path}"
            );
            if from.abs_diff(to) > 1 {
                let x = numbers[6];
                let crossed = boxes.iter().zip(&xs).filter(|(step, _)| step.row.abs_diff(to) < from.abs_diff(to));
                let crossed = crossed.filter(|(step, _)| step.row.abs_diff(from) < from.abs_diff(to));
                assert!(crossed.into_iter().all(|(_, at)| x < *at || x > at + WIDTH), "{from} to {to}: {path}");
            }
        }
    }
}
