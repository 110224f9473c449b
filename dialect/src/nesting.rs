//! How deeply a program's text is nested. MLIR recurses along it, and several of its passes are quadratic in it: some
//! ten thousand regions overflow its stack, or take forever.

/// The deepest nesting of brackets that the tools read.
pub const MOST: usize = 1000;

/// The line and column, from 1 on, of the first bracket that is nested more than [`MOST`] deep; bytecode has none.
#[must_use]
pub fn too_deep(program: &[u8]) -> Option<(usize, usize)> {
    if program.starts_with(crate::bytecode::MAGIC) {
        return None;
    }
    let (mut line, mut start, mut depth, mut at) = (1, 0, 0_usize, 0);
    while let Some(letter) = program.get(at) {
        match letter {
            b'\n' => (line, start) = (line + 1, at + 1),
            b'"' => at = string_end(program, at),
            b'/' if program.get(at + 1) == Some(&b'/') => {
                at += program[at..].iter().position(|letter| *letter == b'\n').unwrap_or(program.len());
                continue;
            }
            // Comparisons and arrows are not brackets.
            b'<' if program.get(at + 1) == Some(&b'=') => {}
            b'>' if at > 0 && program[at - 1] == b'-' || program.get(at + 1) == Some(&b'=') => {}
            b'{' | b'[' | b'(' | b'<' => {
                depth += 1;
                if depth > MOST {
                    return Some((line, at - start + 1));
                }
            }
            b'}' | b']' | b')' | b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where the string literal that begins at `start` ends; strings do not go over lines.
fn string_end(program: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(letter) = program.get(at) {
        match letter {
            b'\\' => at += 1,
            b'"' => return at,
            b'\n' => return at - 1,
            _ => {}
        }
        at += 1;
    }
    at
}
