//! Source locations, which the records of GPU kernels name by a number, and the types of values in messages.
//!
//! The symbol [`SITES`] of a module holds a text for each place: location, types of values and message, with tabs in
//! between, and a zero byte at the end.

/// The symbol of the places' texts.
pub const SITES: &str = "_symm_sites";

/// The text of a place, ended by a zero byte. A message that holds zero bytes loses them.
#[must_use]
pub fn text(location: &str, types: &str, message: &str) -> String {
    format!("{location}\t{types}\t{}\0", message.replace('\0', ""))
}

/// A place that a record names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// `file:line:col`.
    pub location: String,
    /// A [`ValueKind`]'s letter for each value.
    pub types: String,
    /// A message with a `{}` for each value, or what [a trace's event](crate::trace::Event) is written as.
    pub message: String,
}

/// Every place in the bytes of the symbol. An empty text has none.
#[must_use]
pub fn parse(bytes: &[u8]) -> Vec<Site> {
    let texts = bytes.split(|byte| *byte == 0).filter(|text| !text.is_empty());
    let site = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        let mut parts = text.splitn(3, '\t').map(str::to_owned);
        let mut part = || parts.next().unwrap_or_default();
        Site { location: part(), types: part(), message: part() }
    };
    texts.map(site).collect()
}

/// The type of a 64-bit value in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// As a signed integer.
    Signed,
    /// As an unsigned one.
    Unsigned,
    /// As the bits of an `f64`.
    Float,
    /// As an address.
    Pointer,
}

impl ValueKind {
    /// Its letter.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Signed => 'i',
            Self::Unsigned => 'u',
            Self::Float => 'f',
            Self::Pointer => 'p',
        }
    }

    /// The kind with this letter.
    #[must_use]
    pub fn from_letter(letter: u8) -> Option<Self> {
        [Self::Signed, Self::Unsigned, Self::Float, Self::Pointer]
            .into_iter()
            .find(|kind| kind.letter() == letter.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_were_written() {
        let bytes = text("p:1:2", "if", "{} is\tnot {}\0") + &text("q:3:4", "", "put");
        let site = |location: &str, types: &str, message: &str| Site {
            location: location.into(),
            types: types.into(),
            message: message.into(),
        };
        assert_eq!(parse(bytes.as_bytes()), [site("p:1:2", "if", "{} is\tnot {}"), site("q:3:4", "", "put")]);
        assert_eq!(parse(b"p:1:2\0"), [site("p:1:2", "", "")]);
    }

    #[test]
    fn letters_stand_for_one_kind() {
        for letter in *b"iufp" {
            assert_eq!(ValueKind::from_letter(letter).map(ValueKind::letter), Some(letter.into()));
        }
        assert_eq!(ValueKind::from_letter(b'x'), None);
    }
}
