//! What cargo has built of crates from elsewhere, shared by two target folders.

use crate::check::metadata;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The letters of the hash that ends the names of what cargo builds.
const HASH: usize = 16;

/// Links what is built in the folder `from` of crates from elsewhere into the folder `to`, where cargo then finds it.
/// Nothing of the workspace's own crates is: a copy of the workspace builds other crates of the same names.
pub fn share(from: &Path, to: &Path) -> Result<()> {
    let own = own_crates()?;
    let mut hashes = BTreeSet::new();
    for entry in fs::read_dir(from.join(".fingerprint"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let Some((crate_, hash)) = split(&name).filter(|(crate_, _)| !own.contains(*crate_)) else { continue };
        hashes.insert(hash.to_owned());
        for folder in [".fingerprint", "build"] {
            link_all(&from.join(folder).join(&name), &to.join(folder).join(&name))
                .with_context(|| format!("cannot share what is built of {crate_}"))?;
        }
    }
    for entry in fs::read_dir(from.join("deps"))? {
        let path = entry?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if split(&stem).is_some_and(|(_, hash)| hashes.contains(hash)) {
            link_all(&path, &to.join("deps").join(path.file_name().context("a file has a name")?))?;
        }
    }
    Ok(())
}

/// `libc-0123456789abcdef` as name and hash.
fn split(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once('-').filter(|(_, hash)| hash.len() == HASH)
}

/// The names of the workspace's crates.
pub fn own_crates() -> Result<BTreeSet<String>> {
    let metadata = metadata()?;
    let packages = metadata["packages"].as_array().context("cargo names no packages")?;
    Ok(packages.iter().filter_map(|package| Some(package["name"].as_str()?.to_owned())).collect())
}

/// Links a file, or every file in a folder; what is there already stays. What is not there to link is left out.
fn link_all(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() {
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            link_all(&from.join(&name), &to.join(&name))?;
        }
    } else if from.is_file() && !to.exists() {
        fs::create_dir_all(to.parent().context("a file is in a folder")?)?;
        // The time of a link is its file's: cargo sees nothing newer than what was made of it.
        fs::hard_link(from, to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{share, split};
    use std::fs;

    #[test]
    fn a_name_ends_with_its_hash() {
        assert_eq!(split("symm-c-0123456789abcdef"), Some(("symm-c", "0123456789abcdef")));
        assert_eq!(split("libmelior_macro-0123456789abcdef"), Some(("libmelior_macro", "0123456789abcdef")));
        assert_eq!(split("symm-c"), None);
    }

    #[test]
    fn only_crates_from_elsewhere_are_shared() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for file in [
            ".fingerprint/libc-0123456789abcdef/lib-libc",
            ".fingerprint/symm-abi-aaaaaaaaaaaaaaaa/lib-symm_abi",
            "build/libc-0123456789abcdef/out/flags.rs",
            "deps/liblibc-0123456789abcdef.rlib",
            "deps/libsymm_abi-aaaaaaaaaaaaaaaa.rlib",
        ] {
            fs::create_dir_all(from.join(file).parent().unwrap()).unwrap();
            fs::write(from.join(file), file).unwrap();
        }
        for _ in 0..2 {
            share(&from, &to).unwrap();
        }
        for file in ["build/libc-0123456789abcdef/out/flags.rs", "deps/liblibc-0123456789abcdef.rlib"] {
            assert_eq!(fs::read_to_string(to.join(file)).unwrap(), file);
        }
        assert!(to.join(".fingerprint/libc-0123456789abcdef/lib-libc").exists());
        assert!(!to.join("deps/libsymm_abi-aaaaaaaaaaaaaaaa.rlib").exists());
        assert!(!to.join(".fingerprint/symm-abi-aaaaaaaaaaaaaaaa").exists());
    }
}
