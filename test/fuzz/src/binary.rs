//! Mutations of bytecode: bits, bytes, lengths and pieces.

use crate::random::Random;

/// Bytes that mean something in the format: small counts, one-byte and wide varints, section ids.
const EDGES: &[u8] = &[0x00, 0x01, 0x02, 0x03, 0x05, 0x7f, 0x80, 0x81, 0xcb, 0xfe, 0xff];

/// The `ML\xefR` at the start.
const MAGIC: usize = 4;

/// Mutates bytecode a few times; `other` is bytecode to take pieces from. The magic number mostly stays.
pub fn mutate(bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let most = if random.once_in(4) { 12 } else { 2 };
    for _ in 0..=random.below(most) {
        let start = if random.once_in(50) { 0 } else { MAGIC };
        if bytes.len() <= start {
            break;
        }
        let place = start + random.below(bytes.len() - start);
        match random.below(12) {
            0..=2 => bytes[place] ^= 1 << random.below(8),
            3..=4 => bytes[place] = EDGES[random.below(EDGES.len())],
            5 => bytes[place] = bytes[place].wrapping_add(2),
            6 => bytes[place] = bytes[place].wrapping_sub(2),
            7 => {
                let wide = varint(random.next() >> random.below(64));
                bytes.splice(place..(place + random.below(3)).min(bytes.len()), wide);
            }
            8 => drop(bytes.drain(place..(place + 1 + random.below(8)).min(bytes.len()))),
            9 => {
                let count = 1 + random.below(16);
                let piece = bytes[place..(place + count).min(bytes.len())].to_vec();
                bytes.splice(place..place, piece);
            }
            10 => {
                let from = random.below(other.len().max(1));
                let piece = other.get(from..(from + 1 + random.below(64)).min(other.len())).unwrap_or_default();
                bytes.splice(place..(place + piece.len()).min(bytes.len()), piece.iter().copied());
            }
            _ => bytes.truncate(place),
        }
    }
    bytes
}

/// MLIR's variable-width integer: the zeros at the low end of the first byte count the bytes after it.
fn varint(value: u64) -> Vec<u8> {
    let bits = 64 - value.leading_zeros() as usize;
    let bytes = bits.div_ceil(7).max(1);
    if bytes > 8 {
        return [&[0][..], &value.to_le_bytes()].concat();
    }
    let coded = (value << bytes) | (1 << (bytes - 1));
    coded.to_le_bytes()[..bytes].to_vec()
}

#[cfg(test)]
mod tests {
    use super::{mutate, varint};
    use crate::random::Random;

    #[test]
    fn a_number_gives_one_output_and_most_differ_from_the_input() {
        let bytes: Vec<u8> = (0..200).collect();
        let mut same = 0;
        for number in 0..200 {
            let one = mutate(&bytes, &bytes, &mut Random::new(1, number));
            assert_eq!(one, mutate(&bytes, &bytes, &mut Random::new(1, number)));
            same += usize::from(one == bytes);
        }
        assert!(same < 20, "{same} of 200 are what they were");
    }

    #[test]
    fn short_inputs_are_fine() {
        for length in 0..6_u8 {
            let bytes: Vec<u8> = (0..length).collect();
            for number in 0..100 {
                mutate(&bytes, &[], &mut Random::new(2, number));
            }
        }
    }

    #[test]
    fn varints_are_as_the_format_says() {
        assert_eq!(varint(0), [0x01]);
        assert_eq!(varint(127), [0xff]);
        assert_eq!(varint(128), [0x02, 0x02]);
        assert_eq!(varint(u64::MAX), [0, 255, 255, 255, 255, 255, 255, 255, 255]);
    }
}
