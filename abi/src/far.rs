//! The engines that reach far ranks, and what compiled code requests from them (rules N1 to N4).

/// The engine of ranks on CPUs.
pub const OPENSHMEM: &str = "openshmem";

/// The engine of ranks on NVIDIA's GPUs.
pub const NVSHMEM: &str = "nvshmem";

/// The names of all engines, as `symm.engine` and `--engine` have them.
pub const ENGINES: [&str; 2] = [OPENSHMEM, NVSHMEM];

/// An update of a value on a far rank, which returns the old value. The numbers are those of `symm_rt_far_update`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// Becomes the operand.
    Set = 0,
    /// The sum.
    Add = 1,
    /// The difference.
    Sub = 2,
    /// Bitwise and.
    And = 3,
    /// Bitwise or.
    Or = 4,
    /// Bitwise exclusive or.
    Xor = 5,
    /// The smaller one, signed.
    Min = 6,
    /// The larger one, signed.
    Max = 7,
    /// The smaller one, unsigned.
    UnsignedMin = 8,
    /// The larger one, unsigned.
    UnsignedMax = 9,
    /// The operand, if the old value is the expected one.
    Swap = 10,
}

impl Update {
    /// Every update, at its number.
    pub const ALL: [Self; 11] = [
        Self::Set,
        Self::Add,
        Self::Sub,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Min,
        Self::Max,
        Self::UnsignedMin,
        Self::UnsignedMax,
        Self::Swap,
    ];

    /// The update with this number.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.get(code as usize).copied()
    }

    /// The new value for `old`, of `bits` bits; both are zero-extended.
    #[must_use]
    pub fn apply(self, old: u64, operand: u64, expected: u64, bits: u32) -> u64 {
        let mask = u64::MAX >> (64 - bits);
        let signed = |value: u64| (value << (64 - bits)).cast_signed() >> (64 - bits);
        let chosen = |first: bool| if first { old } else { operand };
        mask & match self {
            Self::Set => operand,
            Self::Add => old.wrapping_add(operand),
            Self::Sub => old.wrapping_sub(operand),
            Self::And => old & operand,
            Self::Or => old | operand,
            Self::Xor => old ^ operand,
            Self::Min => chosen(signed(old) <= signed(operand)),
            Self::Max => chosen(signed(old) >= signed(operand)),
            Self::UnsignedMin => chosen(old <= operand),
            Self::UnsignedMax => chosen(old >= operand),
            Self::Swap => chosen(old != expected),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_have_their_numbers() {
        for (code, update) in (0..).zip(Update::ALL) {
            assert_eq!((update as u32, Update::from_code(code)), (code, Some(update)));
        }
        assert_eq!(Update::from_code(11), None);
    }

    #[test]
    fn values_are_of_their_width() {
        let minus_one = 0xffff;
        assert_eq!(Update::Add.apply(minus_one, 3, 0, 16), 2);
        assert_eq!(Update::Sub.apply(1, 2, 0, 16), minus_one);
        assert_eq!(Update::Min.apply(minus_one, 3, 0, 16), minus_one);
        assert_eq!(Update::Max.apply(minus_one, 3, 0, 16), 3);
        assert_eq!(Update::UnsignedMin.apply(minus_one, 3, 0, 16), 3);
        assert_eq!(Update::UnsignedMax.apply(minus_one, 3, 0, 16), minus_one);
        assert_eq!(Update::Add.apply(u64::MAX, 1, 0, 64), 0);
        let bits =
            [Update::And, Update::Or, Update::Xor, Update::Set].map(|update| update.apply(0b1100, 0b1010, 0, 32));
        assert_eq!(bits, [0b1000, 0b1110, 0b0110, 0b1010]);
    }

    #[test]
    fn a_swap_needs_what_is_expected() {
        assert_eq!((Update::Swap.apply(5, 9, 5, 64), Update::Swap.apply(4, 9, 5, 64)), (9, 4));
    }
}
