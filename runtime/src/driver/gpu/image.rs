//! Whether code is complete. The vendors' libraries take a pointer without a length, and trust the sizes in its
//! headers: they would read past the end of truncated code.

use super::DeviceCode;
use crate::error::Error;

const ELF: &[u8] = b"\x7fELF";
/// NVIDIA's container of several codes.
const FAT_BINARY: &[u8] = &0xba55_ed50_u32.to_le_bytes();
/// AMD's.
const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// The same, compressed; its size is in the header from version 2 on.
const COMPRESSED: &[u8] = b"CCOB";
/// Bytes of an ELF file's header, and of an entry of a bundle without its name.
const ELF_HEADER: u64 = 64;
const ENTRY: u64 = 24;

/// An error unless the code has as many bytes as its headers say. PTX has none; it is passed as a string.
pub(super) fn is_whole(code: &DeviceCode) -> Result<(), Error> {
    let has = code.image.len() as u64;
    let needs = needed(&code.image);
    if has >= needs {
        return Ok(());
    }
    let what = format!("the code of @{} is truncated: it has {has} bytes, and needs {needs}", code.module);
    Err(Error::Program(what))
}

/// How many bytes the code should have, by the headers that are there.
fn needed(image: &[u8]) -> u64 {
    let number = |at: u64, bytes: usize| {
        let at = usize::try_from(at).ok()?;
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(image.get(at..at.checked_add(bytes)?)?);
        Some(u64::from_le_bytes(word))
    };
    if image.starts_with(ELF) {
        elf(&number).unwrap_or(ELF_HEADER)
    } else if image.starts_with(FAT_BINARY) {
        let whole = || Some(number(6, 2)?.saturating_add(number(8, 8)?));
        whole().unwrap_or(16)
    } else if image.starts_with(BUNDLE) {
        bundle(&number).unwrap_or(u64::MAX)
    } else if image.starts_with(COMPRESSED) {
        match number(4, 2) {
            Some(2) => number(8, 4).unwrap_or(u64::MAX),
            Some(3..) => number(8, 8).unwrap_or(u64::MAX),
            _ => 24,
        }
    } else {
        0
    }
}

/// The end of an ELF file's tables, sections and segments; `None` where its header is incomplete.
fn elf(number: &dyn Fn(u64, usize) -> Option<u64>) -> Option<u64> {
    // The table's offset, the size and the number of its entries; in an entry, the offset and the size of its data.
    let segments = (number(0x20, 8)?, number(0x36, 2)?, number(0x38, 2)?, 0x08, 0x20);
    let sections = (number(0x28, 8)?, number(0x3a, 2)?, number(0x3c, 2)?, 0x18, 0x20);
    let mut end = ELF_HEADER;
    for (is_section, (table, size, count, offset_at, bytes_at)) in [(false, segments), (true, sections)] {
        end = end.max(table.saturating_add(size.saturating_mul(count)));
        for entry in (0..count).map(|index| table.saturating_add(index * size)) {
            // SHT_NOBITS: zeros, which take no room in the file.
            let kind = number(entry.saturating_add(4), 4);
            if is_section && kind == Some(8) {
                continue;
            }
            let field = |at: u64| number(entry.saturating_add(at), 8);
            if let (Some(offset), Some(bytes)) = (field(offset_at), field(bytes_at)) {
                end = end.max(offset.saturating_add(bytes));
            }
        }
    }
    Some(end)
}

/// The end of a bundle's entries and of their code.
fn bundle(number: &dyn Fn(u64, usize) -> Option<u64>) -> Option<u64> {
    let count = number(24, 8)?;
    let (mut at, mut end) = (32_u64, 32_u64);
    for _ in 0..count {
        let (offset, bytes, name) = (number(at, 8)?, number(at + 8, 8)?, number(at + 16, 8)?);
        at = at.checked_add(ENTRY)?.checked_add(name)?;
        end = end.max(at).max(offset.saturating_add(bytes));
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This test's executable, truncated at every point.
    #[test]
    fn a_file_is_whole_and_no_part_of_it_is() {
        let image = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let needs = needed(&image);
        assert!(needs <= image.len() as u64 && needs > image.len() as u64 - 4096, "{needs} of {}", image.len());
        for has in [4, 20, 63, 64, 200, image.len() / 2, usize::try_from(needs).unwrap() - 1] {
            assert!(needed(&image[..has]) > has as u64, "{has}");
        }
    }

    #[test]
    fn containers_say_their_size() {
        let mut fat = FAT_BINARY.to_vec();
        fat.extend([1, 0, 16, 0]);
        fat.extend(100_u64.to_le_bytes());
        assert_eq!((needed(&fat), needed(&fat[..10])), (116, 16));
        let mut bundle = BUNDLE.to_vec();
        for word in [1_u64, 4096, 77, 3] {
            bundle.extend(word.to_le_bytes());
        }
        bundle.extend(b"hip");
        assert_eq!(needed(&bundle), 4096 + 77);
        assert_eq!(needed(&bundle[..50]), u64::MAX);
        assert_eq!(needed(&[COMPRESSED, &[2, 0, 1, 0], &900_u32.to_le_bytes()].concat()), 900);
    }

    #[test]
    fn text_has_no_size() {
        assert_eq!((needed(b".version 8.0"), needed(b"")), (0, 0));
    }

    #[test]
    fn numbers_that_are_too_large_are_no_panic() {
        let mut image = vec![0xff; 64];
        image[..4].copy_from_slice(ELF);
        assert_eq!(needed(&image), u64::MAX);
        let bundle = [BUNDLE, &[0xff; 64]].concat();
        assert_eq!(needed(&bundle), u64::MAX);
    }
}
