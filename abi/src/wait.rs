//! How a wait compares a flag (rule O6), and how often it polls.

use std::fmt;

/// How a flag's value is compared with the expected one. The numbers are what `symm_rt_wait32` and `symm_rt_wait64`
/// take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// Equal.
    Eq = 0,
    /// Not equal.
    Ne = 1,
    /// Less, signed.
    Lt = 2,
    /// Less or equal, signed.
    Le = 3,
    /// Greater, signed.
    Gt = 4,
    /// Greater or equal, signed.
    Ge = 5,
    /// Less, unsigned.
    UnsignedLt = 6,
    /// Less or equal, unsigned.
    UnsignedLe = 7,
    /// Greater, unsigned.
    UnsignedGt = 8,
    /// Greater or equal, unsigned.
    UnsignedGe = 9,
}

impl Compare {
    /// Every comparison, at its number.
    pub const ALL: [Self; 10] = [
        Self::Eq,
        Self::Ne,
        Self::Lt,
        Self::Le,
        Self::Gt,
        Self::Ge,
        Self::UnsignedLt,
        Self::UnsignedLe,
        Self::UnsignedGt,
        Self::UnsignedGe,
    ];

    /// The comparison with this number.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.get(code as usize).copied()
    }

    /// The comparison with this name in the dialect; the signed one, where there are two.
    #[must_use]
    pub fn from_keyword(keyword: &str) -> Option<Self> {
        Self::ALL.into_iter().take(6).find(|compare| compare.keyword() == keyword)
    }

    /// Its name in the dialect, which states unsignedness elsewhere.
    #[must_use]
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Lt | Self::UnsignedLt => "lt",
            Self::Le | Self::UnsignedLe => "le",
            Self::Gt | Self::UnsignedGt => "gt",
            Self::Ge | Self::UnsignedGe => "ge",
        }
    }

    /// The same comparison of unsigned values.
    #[must_use]
    pub fn unsigned(self) -> Self {
        match self {
            Self::Lt => Self::UnsignedLt,
            Self::Le => Self::UnsignedLe,
            Self::Gt => Self::UnsignedGt,
            Self::Ge => Self::UnsignedGe,
            other => other,
        }
    }

    /// Whether it is of unsigned values.
    #[must_use]
    pub fn is_unsigned(self) -> bool {
        self as u32 >= Self::UnsignedLt as u32
    }
}

impl fmt::Display for Compare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt | Self::UnsignedLt => "<",
            Self::Le | Self::UnsignedLe => "<=",
            Self::Gt | Self::UnsignedGt => ">",
            Self::Ge | Self::UnsignedGe => ">=",
        })
    }
}

/// How often a wait on a GPU polls before it starts to pause between polls.
pub const EAGER_POLLS: i64 = 256;

/// How often a wait polls with acquire, on GPUs that do so, before it switches to relaxed polls.
pub const ORDERED_POLLS: i64 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_number() {
        for (code, compare) in (0..).zip(Compare::ALL) {
            assert_eq!((compare as u32, Compare::from_code(code)), (code, Some(compare)));
        }
        assert_eq!(Compare::from_code(10), None);
    }

    #[test]
    fn unsigned_ones_have_the_keyword_of_the_signed() {
        for compare in Compare::ALL.into_iter().take(6) {
            let unsigned = compare.unsigned();
            assert_eq!(Compare::from_keyword(unsigned.keyword()), Some(compare));
            assert_eq!(unsigned.is_unsigned(), unsigned != compare);
        }
    }

    #[test]
    fn messages_have_the_operator() {
        let operators = Compare::ALL.map(|compare| compare.to_string());
        assert_eq!(operators[..6], ["==", "!=", "<", "<=", ">", ">="]);
        assert_eq!(operators[6..], ["<", "<=", ">", ">="]);
    }
}
