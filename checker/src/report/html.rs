//! The report as one page for a browser: no scripts, and nothing from elsewhere.

use super::drawing::drawing;
use super::page::{Page, PagePlace, Section};
use super::{Sources, place};
use crate::finding::Kind;
use std::fmt::Write;

/// How the page looks.
const STYLE: &str = include_str!("page.css");

/// What a report says of itself.
const CLAIM: &str = "Every error is in a real execution of the memory model, which the command under it shows again. \
                     Nothing is said of other schedules than those that were tried, nor of other ranks, threads and \
                     arguments.";

/// What is said where there is nothing else to say; the summary has how much was tried, and what was given up.
const CLEAN: &str = "<section class=\"clean\">\n<h2>Nothing was found</h2>\n<p>None of the executions that were tried, \
                     as far as they went, breaks a rule of the memory model, ends in a deadlock or fails a check. \
                     Nothing is said of other ranks, threads and arguments.</p>\n</section>\n";

/// Lines of source before and after the one that is meant.
const AROUND: usize = 2;

/// The page's text.
#[must_use]
pub fn html(page: &Page) -> String {
    let mut out = String::new();
    let mut sources = Sources::default();
    let title = escaped(&page.title);
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{}<main>\n\
         <h1>{title}</h1>\n<p class=\"summary\">{}</p>\n",
        arrowheads(),
        escaped(&page.summary)
    );
    if page.findings.is_empty() && page.allowed.is_empty() {
        out.push_str(CLEAN);
    } else {
        let _ = writeln!(out, "<p class=\"quiet\">{CLAIM}</p>");
    }
    contents(&mut out, page);
    for (nth, section) in page.findings.iter().enumerate() {
        finding(&mut out, section, &format!("f{}", nth + 1), &mut sources);
    }
    if !page.allowed.is_empty() {
        out.push_str("<h2>Allowed</h2>\n");
    }
    for (nth, section) in page.allowed.iter().enumerate() {
        finding(&mut out, section, &format!("a{}", nth + 1), &mut sources);
    }
    list(&mut out, "Allowances without a finding", &page.unused);
    list(&mut out, "Repaired by the compiler before it was checked", &page.repairs);
    list(&mut out, "Remarks of the compiler", &page.remarks);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// The heads of arrows, which all drawings use.
fn arrowheads() -> String {
    let head = |name: &str| {
        format!(
            "<marker id=\"{name}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"10\" markerHeight=\"10\" \
             markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker>"
        )
    };
    let heads = ["orders", "seen", "missing"].map(head).concat();
    format!("<svg class=\"defs\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>{heads}</defs></svg>\n")
}

fn contents(out: &mut String, page: &Page) {
    if page.findings.len() < 2 {
        return;
    }
    out.push_str("<ol class=\"contents\">\n");
    for (nth, section) in page.findings.iter().enumerate() {
        let site = section.places.first().map_or("program", |place| &place.site);
        let (kind, site) = (escaped(&section.kind), escaped(site));
        let _ = writeln!(out, "<li><a href=\"#f{}\">{kind}</a> <code>{site}</code></li>", nth + 1);
    }
    out.push_str("</ol>\n");
}

fn finding(out: &mut String, section: &Section, id: &str, sources: &mut Sources) {
    let rule = if section.rule.is_empty() { String::new() } else { format!(" ({})", section.rule) };
    let class = match (section.reason.as_str(), section.severity.as_str()) {
        ("", "error") => "error",
        _ => "note",
    };
    let severity = if section.reason.is_empty() { &section.severity } else { "allowed" };
    let (kind, rule, severity) = (escaped(&section.kind), escaped(&rule), escaped(severity));
    let _ = writeln!(out, "<section class=\"{class}\" id=\"{id}\">\n<h2><span>{severity}</span> {kind}{rule}</h2>");
    let meaning = Kind::ALL.into_iter().find(|each| each.name() == section.kind).map_or("", Kind::meaning);
    let _ = writeln!(out, "<p>{}</p>", escaped(meaning));
    if !section.reason.is_empty() {
        let _ = writeln!(out, "<p><b>Allowed:</b> {}</p>", escaped(&section.reason));
    }
    if !section.help.is_empty() {
        let _ = writeln!(out, "<p class=\"help\"><b>To fix it:</b> {}</p>", escaped(&section.help));
    }
    drawing(out, &section.picture);
    if let Some(sentence) = &section.picture.left_out {
        let _ = writeln!(out, "<p class=\"quiet\">{}</p>", escaped(sentence));
    }
    places(out, &section.places, sources);
    let _ = writeln!(out, "<p class=\"again\">Again:</p>\n<pre>{}</pre>\n</section>", escaped(&section.again));
}

fn places(out: &mut String, places: &[PagePlace], sources: &mut Sources) {
    out.push_str("<ol class=\"places\">\n");
    for (nth, each) in places.iter().enumerate() {
        let (who, what, site) = (escaped(&each.who), escaped(&each.what), escaped(&each.site));
        let _ = writeln!(out, "<li><b>{who}</b>: {what}<br><code>{site}</code>");
        // A place that several tasks are at is shown after the last of them.
        if places.get(nth + 1).is_none_or(|next| next.site != each.site) {
            source(out, each, sources);
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ol>\n");
}

/// The lines around a place.
fn source(out: &mut String, at: &PagePlace, sources: &mut Sources) {
    let Some((file, line, column)) = place(&at.site) else { return };
    if sources.line(file, line).is_none() {
        return;
    }
    out.push_str("<pre class=\"source\">");
    for number in line.saturating_sub(AROUND).max(1)..=line + AROUND {
        let Some(text) = sources.line(file, number) else { break };
        let said = if number == line { marked(text, column, at.end) } else { escaped(text) };
        let class = if number == line { "here" } else { "around" };
        let _ = write!(out, "<span class=\"{class}\"><i>{number:>4}</i>  {said}</span>");
    }
    out.push_str("</pre>\n");
}

/// A line with its columns from one to another one marked; to its end, if only the first is known.
fn marked(line: &str, column: usize, end: usize) -> String {
    let start = column.saturating_sub(1);
    let part =
        |from: usize, to: usize| escaped(&line.chars().skip(from).take(to.saturating_sub(from)).collect::<String>());
    let end = if end > column { end } else { line.trim_end().chars().count() };
    format!("{}<mark>{}</mark>{}", part(0, start), part(start, end), part(end.max(start), usize::MAX))
}

fn list(out: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(out, "<h2>{title}</h2>");
    for item in items {
        let _ = writeln!(out, "<pre>{}</pre>", escaped(item));
    }
}

/// A text in the page: nothing in it is markup, and nothing changes the order of what is read.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            _ if letter.is_control() => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_no_markup() {
        assert_eq!(
            escaped("<a b='c' d=\"e\">&\u{7}\u{202e}"),
            "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;\u{fffd}\u{fffd}"
        );
        assert_eq!(marked("  a<b c", 3, 5), "  <mark>a&lt;b</mark> c");
        assert_eq!(marked("ab", 9, 9), "ab<mark></mark>");
    }
}
