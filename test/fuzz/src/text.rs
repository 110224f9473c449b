//! Mutations of MLIR text. Most are gentle and leave something that parses, so that the passes see it too.

use crate::random::Random;
use crate::tokens::{Kind, close, lex};
use crate::words::{NUMBERS, Words};
use std::ops::Range;

type Mutation = fn(&[u8], &Words, &mut Random) -> Option<Vec<u8>>;

/// Each with how often it is taken.
const GENTLE: &[(usize, Mutation)] = &[
    (6, other_of_family),
    (4, edge_number),
    (4, other_value),
    (4, swap_lines),
    (5, delete_line),
    (3, duplicate_line),
    (3, type_everywhere),
    (2, word_everywhere),
    (2, delete_clause),
    (1, other_symm_op),
];
const ROUGH: &[(usize, Mutation)] = &[
    (4, other_of_kind),
    (3, other_type),
    (3, delete_token),
    (2, duplicate_token),
    (2, swap_tokens),
    (3, foreign_line),
    (2, bytes),
    (1, truncate),
    (1, nest),
];

/// How deep `nest` goes: what real programs have, and what no parser's stack holds.
const DEPTHS: &[usize] = &[10, 100, 1_000, 10_000, 100_000];

/// Mutates a text a few times.
pub fn mutate(text: &[u8], words: &Words, random: &mut Random) -> Vec<u8> {
    let mut text = text.to_vec();
    let times = match random.below(10) {
        0..=5 => 1,
        6..=7 => 2,
        8 => 3,
        _ => 1 + random.below(8),
    };
    for _ in 0..times {
        let table = if random.below(100) < 75 { GENTLE } else { ROUGH };
        let mutation = weighted(table, random);
        if let Some(mutated) = mutation(&text, words, random) {
            text = mutated;
        }
    }
    text
}

fn weighted(table: &[(usize, Mutation)], random: &mut Random) -> Mutation {
    let mut place = random.below(table.iter().map(|(weight, _)| weight).sum());
    for (weight, mutation) in table {
        if place < *weight {
            return *mutation;
        }
        place -= weight;
    }
    unreachable!("the place is below the sum of the weights")
}

/// `text` with the bytes in `range` replaced.
fn replace(text: &[u8], range: Range<usize>, with: &[u8]) -> Vec<u8> {
    [&text[..range.start], with, &text[range.end..]].concat()
}

/// A token that `holds`, and where it is.
fn pick_token(text: &[u8], random: &mut Random, holds: impl Fn(Kind, &[u8]) -> bool) -> Option<(Kind, Range<usize>)> {
    let tokens: Vec<_> = lex(text).into_iter().filter(|(kind, range)| holds(*kind, &text[range.clone()])).collect();
    random.pick(&tokens).cloned()
}

/// The lines, each with its end.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Places of the lines that open and close no region.
fn whole_lines(lines: &[&[u8]]) -> Vec<usize> {
    let is_whole = |line: &[u8]| !line.iter().any(|byte| matches!(byte, b'{' | b'}' | b'^'));
    (0..lines.len()).filter(|index| is_whole(lines[*index])).collect()
}

fn other_of_family(text: &[u8], words: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let family_of =
        |word: &[u8]| words.families.iter().find(|family| family.iter().any(|other| other.as_bytes() == word));
    let (_, range) = pick_token(text, random, |kind, word| kind == Kind::Word && family_of(word).is_some())?;
    let other = random.pick(family_of(&text[range.clone()])?)?;
    Some(replace(text, range, other.as_bytes()))
}

fn edge_number(text: &[u8], _: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let (_, range) = pick_token(text, random, |kind, _| kind == Kind::Number)?;
    let old = std::str::from_utf8(&text[range.clone()]).ok()?;
    let near = old.parse::<i64>().ok().map(|old| old.wrapping_add([-1, 1, old, 8][random.below(4)]).to_string());
    let new = match near {
        Some(near) if random.once_in(2) => near,
        _ => (*random.pick(NUMBERS)?).to_owned(),
    };
    let sign = if random.once_in(8) { "-" } else { "" };
    Some(replace(text, range, format!("{sign}{new}").as_bytes()))
}

fn other_value(text: &[u8], _: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let (_, range) = pick_token(text, random, |kind, _| kind == Kind::Value)?;
    let values: Vec<_> = lex(text).into_iter().filter(|(kind, _)| *kind == Kind::Value).collect();
    // One close by is more often of the same type and in scope.
    let place = values.iter().position(|(_, other)| *other == range)?;
    let close = &values[place.saturating_sub(12)..(place + 4).min(values.len())];
    let from = if random.once_in(4) { &values } else { close };
    let (_, other) = random.pick(from)?;
    Some(replace(text, range, &text[other.clone()]))
}

fn swap_lines(text: &[u8], _: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let mut lines = lines(text);
    let whole = whole_lines(&lines);
    let first = random.below(whole.len().max(1));
    let second = first + 1 + random.below(3);
    lines.swap(*whole.get(first)?, *whole.get(second)?);
    Some(lines.concat())
}

fn delete_line(text: &[u8], _: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let mut lines = lines(text);
    let mut whole = whole_lines(&lines);
    if !random.once_in(4) {
        // A line without a result is not missed.
        whole.retain(|index| !lines[*index].contains(&b'='));
    }
    lines.remove(*random.pick(&whole)?);
    Some(lines.concat())
}

fn duplicate_line(text: &[u8], _: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let mut lines = lines(text);
    let mut whole = whole_lines(&lines);
    whole.retain(|index| !lines[*index].contains(&b'='));
    let from = *random.pick(&whole)?;
    let to = if random.once_in(2) { from } else { *random.pick(&whole)? };
    lines.insert(to, lines[from]);
    Some(lines.concat())
}

/// Gives every token of one text another one.
fn everywhere(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let pieces = lex(text).into_iter().map(|(_, range)| {
        let token = &text[range];
        if token == old { new } else { token }
    });
    pieces.collect::<Vec<_>>().concat()
}

fn word_everywhere(text: &[u8], words: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let family = random.pick(&words.families)?;
    let is_member = |word: &[u8]| family.iter().any(|member| member.as_bytes() == word);
    let (_, range) = pick_token(text, random, |kind, word| kind == Kind::Word && is_member(word))?;
    let old = &text[range];
    let new = random.pick(family)?.as_bytes();
    // In a shape it is one word with the `x` before it.
    let text = everywhere(text, old, new);
    Some(everywhere(&text, &[b"x", old].concat(), &[b"x", new].concat()))
}

/// A whole type of the text: its place.
fn pick_type(text: &[u8], words: &Words, random: &mut Random) -> Option<Range<usize>> {
    let tokens = lex(text);
    let mut types = Vec::new();
    for (index, (kind, range)) in tokens.iter().enumerate() {
        let end = tokens
            .get(index + 1)
            .filter(|(_, next)| text[next.start] == b'<')
            .and_then(|_| close(text, &tokens, index + 1));
        let whole = range.start..end.map_or(range.end, |end| tokens[end - 1].1.end);
        let word = std::str::from_utf8(&text[whole.clone()]).ok()?;
        if *kind == Kind::Type
            || (*kind == Kind::Word && words.types.binary_search_by(|ty| ty.as_str().cmp(word)).is_ok())
        {
            types.push(whole);
        }
    }
    random.pick(&types).cloned()
}

fn other_type(text: &[u8], words: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let range = pick_type(text, words, random)?;
    Some(replace(text, range, random.pick(&words.types)?.as_bytes()))
}

fn type_everywhere(text: &[u8], words: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let old = std::str::from_utf8(&text[pick_type(text, words, random)?]).ok()?;
    let new = random.pick(&words.types)?;
    Some(std::str::from_utf8(text).ok()?.replace(old, new).into_bytes())
}

fn delete_clause(text: &[u8], _: &Words, random: &mut Random) -> Option<Vec<u8>> {
    const CLAUSES: &[&[u8]] = &[
        b"mask",
        b"other",
        b"via",
        b"cache",
        b"group",
        b"sem",
        b"scope",
        b"timeout",
        b"count",
        b"volatile",
        b"unsigned",
    ];
    let (_, range) = pick_token(text, random, |kind, word| kind == Kind::Word && CLAUSES.contains(&word))?;
    let line_end = text[range.end..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |end| range.end + end);
    let tail: Vec<_> = lex(&text[range.end..line_end]).into_iter().filter(|(kind, _)| *kind != Kind::Blank).collect();
    let (_, last) = tail.get(random.below(4))?;
    Some(replace(text, range.start..range.end + last.end, b""))
}

fn other_symm_op(text: &[u8], words: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let (_, range) = pick_token(text, random, |kind, word| kind == Kind::Op && word.starts_with(b"symm."))?;
    let ops: Vec<_> = words.of_kind(Kind::Op).iter().filter(|op| op.starts_with("symm.")).collect();
    Some(replace(text, range, random.pick(&ops)?.as_bytes()))
}

fn other_of_kind(text: &[u8], words: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let (kind, range) = pick_token(text, random, |kind, _| kind != Kind::Blank)?;
    Some(replace(text, range, random.pick(words.of_kind(kind))?.as_bytes()))
}

fn delete_token(text: &[u8], _: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let (_, range) = pick_token(text, random, |kind, _| kind != Kind::Blank)?;
    Some(replace(text, range, b""))
}

fn duplicate_token(text: &[u8], _: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let (_, range) = pick_token(text, random, |kind, _| kind != Kind::Blank)?;
    let twice = [&text[range.clone()], b" ", &text[range.clone()]].concat();
    Some(replace(text, range, &twice))
}

fn swap_tokens(text: &[u8], _: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let (kind, one) = pick_token(text, random, |kind, _| kind != Kind::Blank)?;
    let (_, other) = pick_token(text, random, |other, _| other == kind)?;
    let (first, second) = if one.start < other.start { (one, other) } else { (other, one) };
    if first.end > second.start {
        return None;
    }
    Some(
        [
            &text[..first.start],
            &text[second.clone()],
            &text[first.end..second.start],
            &text[first],
            &text[second.end..],
        ]
        .concat(),
    )
}

fn foreign_line(text: &[u8], words: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let lines = lines(text);
    let place = random.below(lines.len() + 1);
    let count = 1 + random.below(3);
    let start = random.below(words.lines.len().max(1));
    let foreign = words.lines.get(start..(start + count).min(words.lines.len()))?.join("\n");
    Some([&lines[..place].concat(), foreign.as_bytes(), b"\n", &lines[place..].concat()].concat())
}

fn bytes(text: &[u8], _: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let mut text = text.to_vec();
    for _ in 0..=random.below(4) {
        let place = random.below(text.len().max(1));
        let byte = random.next().to_le_bytes()[0];
        match random.below(3) {
            0 => *text.get_mut(place)? = byte,
            1 => text.insert(place.min(text.len()), byte),
            _ => drop((place < text.len()).then(|| text.remove(place))),
        }
    }
    Some(text)
}

fn truncate(text: &[u8], _: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let length = text.len().checked_sub(1)?;
    Some(text[..random.below(length + 1)].to_vec())
}

/// Puts a line into regions, or a token into brackets, of a great depth.
fn nest(text: &[u8], _: &Words, random: &mut Random) -> Option<Vec<u8>> {
    let depth = *random.pick(DEPTHS)?;
    let (open, shut): (&str, &str) = *random.pick(&[
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("<", ">"),
        ("-", ""),
        ("not ", ""),
        ("tuple<", ">"),
        ("loc(fused[", "])"),
    ])?;
    if random.once_in(2) {
        let lines = lines(text);
        let line = *random.pick(&whole_lines(&lines))?;
        let (open, shut) = ("\"test.deep\"() ({\n".repeat(depth), "}) : () -> ()\n".repeat(depth));
        let nested = [open.as_bytes(), lines[line], shut.as_bytes()].concat();
        return Some([&lines[..line].concat(), nested.as_slice(), &lines[line + 1..].concat()].concat());
    }
    let (_, range) = pick_token(text, random, |kind, _| kind != Kind::Blank)?;
    let nested = [open.repeat(depth).as_bytes(), &text[range.clone()], shut.repeat(depth).as_bytes()].concat();
    Some(replace(text, range, &nested))
}

#[cfg(test)]
mod tests {
    use super::{GENTLE, ROUGH, everywhere, mutate, truncate};
    use crate::random::Random;
    use crate::words::Words;

    const TEXT: &[u8] = b"func.func @f(%c: !symm.ctx, %m: memref<4xi32>, %r: i32) {
  %i = arith.constant 0 : index
  symm.signal set %c, %m[%i], %r, %r sem relaxed scope gpu : memref<4xi32>, i32
  symm.wait eq %c, %m[%i], %r : memref<4xi32>, i32
  symm.fence sem acquire
  return
}
";

    fn words() -> Words {
        Words::of([TEXT])
    }

    #[test]
    fn a_number_gives_one_text() {
        let words = words();
        for number in 0..100 {
            let one = mutate(TEXT, &words, &mut Random::new(1, number));
            assert_eq!(one, mutate(TEXT, &words, &mut Random::new(1, number)));
        }
        assert_ne!(mutate(TEXT, &words, &mut Random::new(1, 0)), mutate(TEXT, &words, &mut Random::new(2, 0)));
    }

    #[test]
    fn every_mutation_changes_the_text_in_the_end() {
        let words = words();
        for (place, (_, mutation)) in GENTLE.iter().chain(ROUGH).enumerate() {
            let changed = (0..200).any(|number| {
                mutation(TEXT, &words, &mut Random::new(3, number)).is_some_and(|mutated| mutated != TEXT)
            });
            assert!(changed, "mutation {place} never changes anything");
        }
    }

    #[test]
    fn no_mutation_minds_what_it_gets() {
        let words = words();
        let odd: &[&[u8]] = &[b"", b"\n", b"%", b"\xff\xfe", b"\"", b"<<<>>", b"0x", b"a {\n}\n"];
        for text in odd {
            for (_, mutation) in GENTLE.iter().chain(ROUGH) {
                for number in 0..50 {
                    mutation(text, &words, &mut Random::new(4, number));
                }
            }
        }
    }

    #[test]
    fn a_truncated_text_is_a_start_of_it() {
        for number in 0..100 {
            let short = truncate(TEXT, &words(), &mut Random::new(5, number)).expect("always");
            assert!(TEXT.starts_with(&short) && short.len() < TEXT.len());
        }
    }

    #[test]
    fn whole_tokens_are_replaced() {
        assert_eq!(everywhere(b"i32 %i32 i32", b"i32", b"f16"), b"f16 %i32 f16");
    }
}
