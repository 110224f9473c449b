//! Messages of compiled programs: `{}` placeholders, values as 64-bit words with a type character each.

use crate::site::ValueKind;
use std::fmt::Write;

/// Fills the placeholders of `format`; `{{` and `}}` stand for braces.
///
/// `types` has the letter of a [`ValueKind`] for each value. Any mismatch shows in the result instead of failing: it is
/// the message of a check that is about to be reported.
#[must_use]
pub fn render(format: &str, types: &[u8], values: &[u64]) -> String {
    let mut out = String::with_capacity(format.len() + 16 * values.len());
    let mut values = types.iter().zip(values);
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match (c, next) {
            ('{', Some('{')) | ('}', Some('}')) => {
                chars.next();
                out.push(c);
            }
            ('{', Some('}')) => {
                chars.next();
                match values.next() {
                    Some((&kind, &bits)) => value(&mut out, kind, bits),
                    None => out.push_str("{missing value}"),
                }
            }
            _ => out.push(c),
        }
    }
    let mut separator = " [without placeholder: ";
    let mut left = false;
    for (&kind, &bits) in values {
        out.push_str(separator);
        value(&mut out, kind, bits);
        (separator, left) = (", ", true);
    }
    if left {
        out.push(']');
    }
    out
}

fn value(out: &mut String, kind: u8, bits: u64) {
    let written = match ValueKind::from_letter(kind) {
        Some(ValueKind::Signed) => write!(out, "{}", bits.cast_signed()),
        Some(ValueKind::Unsigned) => write!(out, "{bits}"),
        Some(ValueKind::Float) => write!(out, "{}", f64::from_bits(bits)),
        Some(ValueKind::Pointer) | None => write!(out, "{bits:#x}"),
    };
    written.expect("writing to a String");
}

/// `text` as whole lines, each marked with the rank.
#[must_use]
pub fn lines_of_rank(rank: u32, text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        writeln!(out, "[rank {rank}] {line}").expect("writing to a String");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_type() {
        let values = [u64::MAX, u64::MAX, 1.5f64.to_bits(), 0x1000];
        assert_eq!(render("{} {} {} {}", b"iufp", &values), "-1 18446744073709551615 1.5 0x1000");
        assert_eq!(render("{}", b"f", &[f64::NAN.to_bits()]), "NaN");
    }

    #[test]
    fn braces_are_escaped() {
        assert_eq!(render("{{}} {{{}}}", b"i", &[7]), "{} {7}");
        assert_eq!(render("a { b } c {", b"", &[]), "a { b } c {");
    }

    #[test]
    fn wrong_counts_show_and_do_not_fail() {
        assert_eq!(render("{} {}", b"i", &[1]), "1 {missing value}");
        assert_eq!(render("x", b"ii", &[1, 2]), "x [without placeholder: 1, 2]");
        assert_eq!(render("{}", b"", &[1]), "{missing value}");
        assert_eq!(render("{}", b"?", &[16]), "0x10");
    }

    #[test]
    fn every_line_has_its_rank() {
        assert_eq!(lines_of_rank(3, "a\nb\n"), "[rank 3] a\n[rank 3] b\n");
        assert_eq!(lines_of_rank(0, ""), "[rank 0] \n");
    }
}
