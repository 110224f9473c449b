//! What a wait waits for: a comparison of a flag, as a signed or unsigned value (rule O6).

use std::fmt;

/// How a flag's value is compared with the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    UnsignedLt,
    UnsignedLe,
    UnsignedGt,
    UnsignedGe,
}

/// All comparisons, at the index that compiled code uses.
const COMPARES: [Compare; 10] = [
    Compare::Eq,
    Compare::Ne,
    Compare::Lt,
    Compare::Le,
    Compare::Gt,
    Compare::Ge,
    Compare::UnsignedLt,
    Compare::UnsignedLe,
    Compare::UnsignedGt,
    Compare::UnsignedGe,
];

impl Compare {
    pub(crate) fn from_code(code: u32) -> Option<Self> {
        COMPARES.get(code as usize).copied()
    }

    /// The comparison that the dialect calls so.
    pub(crate) fn from_keyword(keyword: &str) -> Option<Self> {
        ["eq", "ne", "lt", "le", "gt", "ge"].iter().position(|known| *known == keyword).map(|index| COMPARES[index])
    }

    fn is_unsigned(self) -> bool {
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

/// What a wait waits for. Values of 32 bits are held zero-extended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) compare: Compare,
    pub(crate) bits: u32,
    pub(crate) expected: u64,
}

impl Condition {
    /// Whether `saw` satisfies it, as a signed or unsigned value of its width (rule O6).
    #[inline]
    pub(crate) fn holds(self, saw: u64) -> bool {
        let (a, b) = (self.signed(saw), self.signed(self.expected));
        match self.compare {
            Compare::Eq => saw == self.expected,
            Compare::Ne => saw != self.expected,
            Compare::Lt => a < b,
            Compare::Le => a <= b,
            Compare::Gt => a > b,
            Compare::Ge => a >= b,
            Compare::UnsignedLt => saw < self.expected,
            Compare::UnsignedLe => saw <= self.expected,
            Compare::UnsignedGt => saw > self.expected,
            Compare::UnsignedGe => saw >= self.expected,
        }
    }

    #[inline]
    fn signed(self, value: u64) -> i64 {
        if self.bits == 32 { i64::from((value as u32).cast_signed()) } else { value.cast_signed() }
    }

    /// A value as the comparison sees it.
    pub(crate) fn show(self, value: u64) -> String {
        if self.compare.is_unsigned() { value.to_string() } else { self.signed(value).to_string() }
    }

    pub(crate) fn encode(self) -> u32 {
        self.compare as u32 | self.bits << 8
    }

    pub(crate) fn decode(code: u32, expected: u64) -> Self {
        let compare = Compare::from_code(code & 0xff).unwrap_or(Compare::Eq);
        Self { compare, bits: code >> 8, expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(code: u32, bits: u32, saw: u64, expected: u64) -> bool {
        Condition { compare: Compare::from_code(code).unwrap(), bits, expected }.holds(saw)
    }

    #[test]
    fn every_comparison_against_the_language() {
        let values: [i64; 7] = [i64::MIN, -2, -1, 0, 1, 2, i64::MAX];
        for (a, b) in values.iter().flat_map(|&a| values.map(|b| (a, b))) {
            let (ua, ub) = (a.cast_unsigned(), b.cast_unsigned());
            let want = [a == b, a != b, a < b, a <= b, a > b, a >= b, ua < ub, ua <= ub, ua > ub, ua >= ub];
            let (na, nb) = (a as i32, b as i32);
            let (va, vb) = (na.cast_unsigned(), nb.cast_unsigned());
            let narrow =
                [na == nb, na != nb, na < nb, na <= nb, na > nb, na >= nb, va < vb, va <= vb, va > vb, va >= vb];
            for code in 0..10 {
                assert_eq!(holds(code, 64, ua, ub), want[code as usize], "{code}: {a} and {b}");
                let (xa, xb) = (u64::from(va), u64::from(vb));
                assert_eq!(holds(code, 32, xa, xb), narrow[code as usize], "{code}: {na} and {nb}");
            }
        }
        assert_eq!(Compare::from_code(10), None);
    }

    #[test]
    fn values_show_as_compared() {
        let signed = Condition { compare: Compare::Ge, bits: 32, expected: 0 };
        assert_eq!(signed.show(0xffff_fffe), "-2");
        assert_eq!(Condition { compare: Compare::UnsignedGe, ..signed }.show(0xffff_fffe), "4294967294");
        assert_eq!(Condition { bits: 64, ..signed }.show(u64::MAX), "-1");
    }

    #[test]
    fn conditions_survive_shared_memory() {
        for compare in COMPARES {
            for bits in [32, 64] {
                let condition = Condition { compare, bits, expected: 9 };
                assert_eq!(Condition::decode(condition.encode(), 9), condition);
            }
        }
    }
}
