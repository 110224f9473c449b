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
const TOP: usize = 44;
/// The most letters of a line in a box.
const LETTERS: usize = 21;

/// Writes a picture.
pub(super) fn drawing(out: &mut String, picture: &Picture) {
    if picture.boxes.is_empty() {
        return;
    }
    let xs = columns(picture);
    let width = xs.iter().max().unwrap_or(&0) + WIDTH + 30;
    let height = TOP + picture.rows.len() * ROW - (ROW - HEIGHT) + 24;
    out.push_str("<div class=\"drawing\">\n");
    let _ = writeln!(out, "<svg class=\"names\" width=\"96\" height=\"{height}\" viewBox=\"0 0 96 {height}\">");
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
        self::arrow(out, arrow, picture, &xs);
    }
    for (step, &x) in picture.boxes.iter().zip(&xs) {
        boxed(out, step, x);
    }
    for arrow in picture.arrows.iter().filter(|arrow| arrow.line == Line::Missing) {
        self::arrow(out, arrow, picture, &xs);
    }
    out.push_str("</svg>\n</div>\n");
    out.push_str(LEGEND);
}

const LEGEND: &str = "<p class=\"legend\"><span class=\"orders\">⟶</span> sees it, and what came before it \
                      <span class=\"seen\">⇢</span> sees it alone <span class=\"missing\">⇢</span> what is wrong; \
                      a number is the place below</p>\n";

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

fn arrow(out: &mut String, arrow: &Arrow, picture: &Picture, xs: &[usize]) {
    let class = match arrow.line {
        Line::Orders => "orders",
        Line::Seen => "seen",
        Line::Missing => "missing",
    };
    let to = (arrow.to, picture.boxes[arrow.to].row);
    let (path, x, y) = match arrow.from.map(|from| (from, picture.boxes[from].row)) {
        None => {
            let (x, y) = (xs[to.0] + WIDTH / 2, top(to.1));
            (format!("M{x} {}V{}", y - 30, y - 2), x, y - 34)
        }
        Some(from) if from.1 == to.1 => {
            let (x0, x1, y) = (xs[from.0] + WIDTH / 2, xs[to.0] + WIDTH / 2, top(to.1));
            (format!("M{x0} {y}C{x0} {0} {x1} {0} {x1} {1}", y - 36, y - 2), x0.midpoint(x1), y - 30)
        }
        Some(from) => {
            let is_down = from.1 < to.1;
            let (x0, x1) = (xs[from.0] + WIDTH * 2 / 3, xs[to.0] + WIDTH / 3);
            let (y0, y1) =
                if is_down { (top(from.1) + HEIGHT, top(to.1) - 2) } else { (top(from.1), top(to.1) + HEIGHT + 2) };
            // It goes along between its row and the next one, and from there straight to its end.
            let between = ROW - HEIGHT;
            let end = if is_down { y0 + between } else { y0 - between };
            let middle = y0.midpoint(end);
            (format!("M{x0} {y0}C{x0} {middle} {x1} {middle} {x1} {end}V{y1}"), x0.midpoint(x1), middle + 4)
        }
    };
    let _ = writeln!(out, "<path class=\"arrow {class}\" d=\"{path}\" marker-end=\"url(#{class})\"/>");
    if !arrow.text.is_empty() {
        let wide = 8 * arrow.text.chars().count();
        let _ = writeln!(
            out,
            "<rect class=\"arrow-back\" x=\"{}\" y=\"{}\" width=\"{wide}\" height=\"16\"/>\
             <text class=\"arrow-text\" x=\"{x}\" y=\"{y}\">{}</text>",
            x.saturating_sub(wide / 2),
            y - 12,
            escaped(&arrow.text)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_arrow_says_is_on_no_box() {
        let step = |row, verb: &str| Step {
            row,
            verb: verb.into(),
            detail: String::new(),
            site: "a.mlir:1:1".into(),
            count: 1,
            gap: 0,
            mark: None,
            is_blocked: false,
        };
        for (from, to) in [(0, 2), (2, 0), (0, 1), (1, 0), (3, 0), (1, 1)] {
            let boxes = [from, 0, 1, 2, 3, to].map(|row| step(row, "writes")).to_vec();
            let arrows = vec![Arrow { from: Some(0), to: 5, line: Line::Missing, text: "no credit".into() }];
            let rows = (0..4).map(|rank| format!("rank {rank} host")).collect();
            let mut out = String::new();
            drawing(&mut out, &Picture { rows, boxes, arrows, left_out: None });
            let back = out.split("arrow-back").nth(1).unwrap();
            let y: usize = back.split("y=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().parse().unwrap();
            let is_free = (0..4).all(|row| y + 16 <= top(row) || y >= top(row) + HEIGHT);
            assert!(is_free, "{from} to {to}: {y}");
        }
    }
}
