//! Files that a run writes: seen to be writable before it, and written whole or not at all.

use anyhow::Context as _;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// Sees that `path` can be written: afterwards what is to be written would be lost.
pub fn can_write(path: &Path) -> std::io::Result<()> {
    match destination(path)? {
        Destination::Stream => File::options().write(true).open(path).map(drop),
        Destination::File(path) => temporary(&path).map(drop),
    }
}

/// Writes a file. Where that fails, what was there stays as it was.
pub fn write(path: &Path, contents: impl FnOnce(&mut BufWriter<&File>) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let put_into = |file: &File| {
        let mut writer = BufWriter::new(file);
        contents(&mut writer)?;
        anyhow::Ok(writer.flush()?)
    };
    match destination(path)? {
        Destination::Stream => put_into(&File::options().write(true).open(path)?),
        Destination::File(path) => {
            let new = temporary(&path)?;
            put_into(&new.file)?;
            if let Ok(old) = path.metadata() {
                new.file.set_permissions(old.permissions())?;
            }
            Ok(std::fs::rename(&new.path, &path)?)
        }
    }
}

/// Where a path leads.
enum Destination {
    /// To a device or a pipe, which is written into.
    Stream,
    /// To a file, which another one takes the place of.
    File(PathBuf),
}

fn destination(path: &Path) -> std::io::Result<Destination> {
    let Ok(found) = path.metadata() else { return Ok(Destination::File(linked(path))) };
    if found.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Ok(Destination::Stream);
    }
    // A file that may not be written is not replaced either.
    File::options().append(true).open(path)?;
    // A link stays one.
    path.canonicalize().map(Destination::File)
}

/// Where a link to a file that is not there yet leads; any other path as it is.
fn linked(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // As many links as the system follows.
    for _ in 0..40 {
        let Ok(next) = path.read_link() else { break };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    path
}

/// A new file next to another one, which goes when it is dropped.
struct Temporary {
    file: File,
    path: PathBuf,
}

/// A temporary file next to `path`.
fn temporary(path: &Path) -> std::io::Result<Temporary> {
    let name = path.file_name().ok_or(ErrorKind::InvalidFilename)?;
    for number in 0.. {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{number}", std::process::id()));
        let path = path.with_file_name(hidden);
        match File::options().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok(Temporary { file, path }),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("a process makes fewer files than there are numbers")
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // It has another name by then, or is of no use.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Sees that no two of the files that all ranks write are one, and that none is one of those that are read.
pub fn apart(
    outputs: &[(String, OsString)],
    trace: Option<&Path>,
    read: &[(String, &Path)],
    ranks: u32,
) -> anyhow::Result<()> {
    let trace = trace.map(|path| (String::from("--trace"), path.to_owned()));
    let of_rank = |rank| {
        let path = move |(name, path): &(String, OsString)| {
            Some((format!("--output {name}={}", path.display()), output_path(path, rank)?))
        };
        outputs.iter().filter_map(path)
    };
    let mut seen: HashMap<PathBuf, String> = HashMap::new();
    let read: HashMap<_, _> = read.iter().filter_map(|(what, path)| Some((place(path)?, what))).collect();
    for (what, path) in (0..ranks).flat_map(of_rank).chain(trace) {
        if let Some(source) = place(&path).and_then(|place| read.get(&place)) {
            anyhow::bail!("{what} would write over {source}, {}", path.display());
        }
        if let Some(other) = place(&path).and_then(|place| seen.insert(place, what.clone())) {
            anyhow::bail!("{other} and {what} write the same file, {}", path.display());
        }
    }
    Ok(())
}

/// What tells one file from another; devices and pipes take several.
fn place(path: &Path) -> Option<PathBuf> {
    match destination(path).ok()? {
        Destination::Stream => None,
        Destination::File(path) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(folder.canonicalize().ok()?.join(path.file_name()?))
        }
    }
}

/// Every rank writes its own file where the name says `{rank}`; otherwise rank 0 writes.
pub fn output_path(path: &OsStr, rank: u32) -> Option<PathBuf> {
    const MARK: &[u8] = b"{rank}";
    let mut rest = path.as_bytes();
    let mut name = Vec::new();
    while let Some(at) = rest.windows(MARK.len()).position(|window| window == MARK) {
        name.extend_from_slice(&rest[..at]);
        name.extend_from_slice(rank.to_string().as_bytes());
        rest = &rest[at + MARK.len()..];
    }
    let has_mark = !name.is_empty() || rest.len() < path.len();
    name.extend_from_slice(rest);
    (has_mark || rank == 0).then(|| OsString::from_vec(name).into())
}

/// Sees that a rank can write its outputs.
pub fn can_write_all(outputs: &[(String, OsString)], rank: u32) -> anyhow::Result<()> {
    for (name, path) in outputs {
        let what = || format!("--output {name}={}", path.display());
        anyhow::ensure!(path != "-", "{}: for standard output give /dev/stdout", what());
        if let Some(path) = output_path(path, rank) {
            can_write(&path).with_context(what)?;
        }
    }
    Ok(())
}
