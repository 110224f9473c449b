//! The condition of a wait: a comparison of a flag, as a signed or unsigned value (rule O6).

use symm_abi::wait::Compare;

/// The condition of a wait. Values of 32 bits are stored zero-extended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) compare: Compare,
    pub(crate) bits: u32,
    pub(crate) expected: u64,
}

impl Condition {
    /// Whether `saw` satisfies it, compared as a signed or unsigned value of its width (rule O6).
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
        for compare in Compare::ALL {
            for bits in [32, 64] {
                let condition = Condition { compare, bits, expected: 9 };
                assert_eq!(Condition::decode(condition.encode(), 9), condition);
            }
        }
    }
}
