//! A lexer for MLIR text that never fails: what it does not know is a token of one character.

use std::ops::Range;

/// What a token is, as far as a mutation wants to put one in the place of another of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// White space and comments.
    Blank,
    /// A word with a dot: `symm.wait`.
    Op,
    /// Another word: `mask`, `i32`, `xf32`.
    Word,
    /// `%x`, `%0#1`
    Value,
    /// `@main`
    Symbol,
    /// `^bb0`
    Block,
    /// `!symm.ctx`
    Type,
    /// `#map`
    Attribute,
    /// `42`, `0x1F`, `1.5e3`
    Number,
    /// `"text"`
    Text,
    /// One character of anything else.
    Mark,
}

/// The tokens of `text` in order; they cover it.
pub fn lex(text: &[u8]) -> Vec<(Kind, Range<usize>)> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let (kind, length) = first(&text[start..]);
        tokens.push((kind, start..start + length));
        start += length;
    }
    tokens
}

fn first(text: &[u8]) -> (Kind, usize) {
    let run = |from: usize, holds: &dyn Fn(u8) -> bool| {
        from + text[from..].iter().position(|byte| !holds(*byte)).unwrap_or(text.len() - from)
    };
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.' | b'-');
    let in_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
    match text[0] {
        byte if byte.is_ascii_whitespace() => (Kind::Blank, run(1, &|byte| byte.is_ascii_whitespace())),
        b'/' if text.get(1) == Some(&b'/') => (Kind::Blank, run(2, &|byte| byte != b'\n')),
        b'%' => (Kind::Value, run(1, &|byte| in_name(byte) || byte == b'#')),
        b'@' => (Kind::Symbol, run(1, &in_name)),
        b'^' => (Kind::Block, run(1, &in_name)),
        b'!' => (Kind::Type, run(1, &in_word)),
        b'#' => (Kind::Attribute, run(1, &in_word)),
        b'0'..=b'9' => number(text),
        b'"' => (Kind::Text, string(text)),
        byte if byte.is_ascii_alphabetic() || byte == b'_' => {
            let end = run(1, &in_word);
            (if text[..end].contains(&b'.') { Kind::Op } else { Kind::Word }, end)
        }
        _ => (Kind::Mark, 1),
    }
}

fn number(text: &[u8]) -> (Kind, usize) {
    let digits = |from: usize| from + text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if text.len() > 2 && text[0] == b'0' && text[1] == b'x' && text[2].is_ascii_hexdigit() {
        return (Kind::Number, 2 + text[2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count());
    }
    let mut end = digits(1);
    if text.get(end) == Some(&b'.') {
        end = digits(end + 1);
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        if matches!(text.get(end), Some(b'e' | b'E')) && text.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            end = digits(end + 1 + sign);
        }
    }
    (Kind::Number, end)
}

fn string(text: &[u8]) -> usize {
    let mut end = 1;
    while end < text.len() {
        match text[end] {
            b'\\' => end += 2,
            b'"' => return end + 1,
            b'\n' => return end,
            _ => end += 1,
        }
    }
    text.len()
}

/// The end of the bracket that opens at token `open`, as an index after its closing token.
pub fn close(text: &[u8], tokens: &[(Kind, Range<usize>)], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, (kind, range)) in tokens.iter().enumerate().skip(open) {
        if *kind != Kind::Mark {
            continue;
        }
        let before = range.start.checked_sub(1).map(|index| text[index]);
        match text[range.start] {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            // The end of an arrow closes nothing.
            b'>' if before == Some(b'-') => {}
            b')' | b']' | b'}' | b'>' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Kind, close, lex};

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        let tokens = lex(text.as_bytes()).into_iter().map(|(kind, range)| (kind, &text[range]));
        tokens.filter(|(kind, _)| *kind != Kind::Blank).collect()
    }

    #[test]
    fn an_op_is_cut_into_its_parts() {
        assert_eq!(
            kinds("%v:2 = symm.x @f ^bb1 !symm.ctx #m \"a\\\"b\" 4xf32 -1.5e+3 // %no"),
            [
                (Kind::Value, "%v"),
                (Kind::Mark, ":"),
                (Kind::Number, "2"),
                (Kind::Mark, "="),
                (Kind::Op, "symm.x"),
                (Kind::Symbol, "@f"),
                (Kind::Block, "^bb1"),
                (Kind::Type, "!symm.ctx"),
                (Kind::Attribute, "#m"),
                (Kind::Text, "\"a\\\"b\""),
                (Kind::Number, "4"),
                (Kind::Word, "xf32"),
                (Kind::Mark, "-"),
                (Kind::Number, "1.5e+3"),
            ]
        );
    }

    #[test]
    fn the_tokens_cover_whatever_bytes_there_are() {
        let mut random = crate::random::Random::new(7, 0);
        for _ in 0..200 {
            let text: Vec<u8> = (0..random.below(64)).map(|_| random.next().to_le_bytes()[0] & 0x7f).collect();
            let covered: Vec<u8> = lex(&text).into_iter().flat_map(|(_, range)| text[range].to_vec()).collect();
            assert_eq!(covered, text);
        }
    }

    #[test]
    fn an_arrow_closes_no_bracket() {
        let text = b"<(i32) -> i32>)";
        assert_eq!(close(text, &lex(text), 0), Some(lex(text).len() - 1));
        assert_eq!(close(b"((", &lex(b"(("), 0), None);
    }
}
