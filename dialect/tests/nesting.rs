//! How deeply a text is nested.

use symm_dialect::bytecode;
use symm_dialect::nesting::{MOST, too_deep};

#[test]
fn the_first_bracket_that_is_too_deep_is_found() {
    let deep = |open: &str, close: &str, count| format!("module {{\n{}{}}}", open.repeat(count), close.repeat(count));
    assert_eq!(too_deep(deep("{", "}", MOST - 1).as_bytes()), None);
    assert_eq!(too_deep(deep("{", "}", MOST).as_bytes()), Some((2, MOST)));
    assert_eq!(too_deep(deep("{\n", "}", MOST).as_bytes()), Some((MOST + 1, 1)));
    assert_eq!(too_deep(deep("tuple<", ">", MOST).as_bytes()), Some((2, 6 * MOST)));
}

#[test]
fn what_is_no_bracket_is_not_counted() {
    for text in ["\"{\" ", "// {\n", "\"\\\"{\" ", "() -> () ", "{} ", "\"{\n"] {
        let text = text.repeat(2 * MOST);
        assert_eq!(too_deep(text.as_bytes()), None, "{}", &text[..8]);
    }
    assert_eq!(too_deep(&[bytecode::MAGIC, "{".repeat(2 * MOST).as_bytes()].concat()), None);
}
