//! CONTRIBUTING.md's worked examples: its code blocks are put where it says into a copy of the tree, which is built and
//! tested. An example that needs more places than it promises fails.
//!
//! A block is put into a file by a comment right before it: `<!-- into: PATH -->` makes the file, and
//! `<!-- into: PATH | before: TEXT -->` inserts the block before the first line that holds the text.

use crate::test::Tally;
use crate::{artifacts, lit, run, tools, tree};
use anyhow::{Context, Result, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The most places of hand-written code that adding an op or a pass may take, its tests aside.
const MOST_PLACES: usize = 5;

/// An op that computes, one that does something, and a pass.
const EXAMPLES: usize = 3;

/// A code block of an example.
#[derive(Debug, PartialEq)]
struct Block {
    /// The heading that it is under, of the second or third level.
    example: String,
    path: String,
    /// The text in whose line's place it goes; none for a file of its own.
    before: Option<String>,
    text: String,
}

impl Block {
    fn is_test(&self) -> bool {
        self.path.starts_with("test/")
    }
}

/// As [`run()`]; a test that fails is an error.
pub fn check() -> Result<()> {
    let tally = run()?;
    ensure!(tally.failed.is_empty(), "tests of the examples failed: {}", tally.failed.join(", "));
    Ok(())
}

/// Applies the examples, builds what they make, and runs their tests.
pub fn run() -> Result<Tally> {
    let blocks = blocks(&tree::read("CONTRIBUTING.md")?)?;
    check_places(&blocks)?;
    let copy = tree::target().join("contributing");
    write_copy(&copy, &blocks)?;
    build(&copy)?;
    let tests: BTreeSet<&str> =
        blocks.iter().filter(|block| block.is_test()).map(|block| block.path.as_str()).collect();
    let mut command = lit::command(&[])?;
    command
        .arg("-D")
        .arg(format!("bin={}", std::path::absolute(tree::target().join("contributing-build/release"))?.display()));
    command.args(tests.iter().map(|test| copy.join(test))).arg(copy.join("test/lit/tools/help.test"));
    lit::count(command)
}

fn build(copy: &Path) -> Result<()> {
    // A target folder of its own: Cargo takes crates of one name for the same ones, and would put the copy's in the
    // place of this tree's.
    let target = std::path::absolute(tree::target().join("contributing-build"))?;
    artifacts::share(&tree::target().join("release"), &target.join("release"))?;
    let mut command = run::cargo();
    command.args(["build", "--release", "--package", "symm"]).current_dir(copy).env("CARGO_TARGET_DIR", &target);
    // The examples are tested for what they do: what is built of this tree alone is built fast. Crates from elsewhere
    // keep their profile, and so what is shared.
    for name in artifacts::own_crates()? {
        command.arg("--config").arg(format!("profile.release.package.{name}.opt-level=0"));
    }
    // Cargo says where this crate lies; the copy's crates lie elsewhere.
    run::run(command.env_remove("CARGO_MANIFEST_DIR"))?;
    tools::link(&target.join("release"))
}

fn check_places(blocks: &[Block]) -> Result<()> {
    let mut places: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for block in blocks.iter().filter(|block| !block.is_test()) {
        places.entry(&block.example).or_default().insert(&block.path);
    }
    ensure!(
        places.len() == EXAMPLES,
        "CONTRIBUTING.md has lost an example, or the comments that say where its code goes"
    );
    for (example, places) in places {
        let count = places.len();
        ensure!(
            count <= MOST_PLACES,
            "'{example}' takes {count} places, {MOST_PLACES} are the most: mend the mechanism"
        );
        println!("{example}: {count} places");
    }
    Ok(())
}

/// The blocks that a comment puts somewhere.
fn blocks(page: &str) -> Result<Vec<Block>> {
    let (mut blocks, mut example) = (Vec::new(), String::new());
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")) {
            heading.clone_into(&mut example);
        }
        let Some(place) = line.trim().strip_prefix("<!-- into: ").and_then(|line| line.strip_suffix(" -->")) else {
            continue;
        };
        let (path, before) = match place.split_once(" | before: ") {
            Some((path, before)) => (path, Some(before.to_owned())),
            None => (place, None),
        };
        let fence = lines.next().map(|(_, line)| line).filter(|line| line.trim_start().starts_with("```"));
        let Some(fence) = fence else { bail!("CONTRIBUTING.md:{}: no code block follows the comment", number + 1) };
        let indent = fence.len() - fence.trim_start().len();
        let close = format!("{}```", " ".repeat(indent));
        let body = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != close);
        let text = body.flat_map(|line| [line.get(indent..).unwrap_or_default(), "\n"]).collect();
        blocks.push(Block { example: example.clone(), path: path.to_owned(), before, text });
    }
    Ok(blocks)
}

/// Makes the copy what the tree is with the blocks in it. What is as it was keeps its time, so that it is not built
/// again.
fn write_copy(copy: &Path, blocks: &[Block]) -> Result<()> {
    let list = run::output(Command::new("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    let mut files: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    for file in list.lines().map(PathBuf::from).filter(|file| file.is_file()) {
        files.insert(file.clone(), fs::read(&file)?);
    }
    for block in blocks {
        let text = match (&block.before, files.get(Path::new(&block.path))) {
            (None, None) => block.text.clone(),
            (None, Some(_)) => bail!("CONTRIBUTING.md makes {}, which is there", block.path),
            (Some(_), None) => bail!("CONTRIBUTING.md changes {}, which is not there", block.path),
            (Some(before), Some(old)) => {
                insert(&String::from_utf8_lossy(old), before, &block.text).with_context(|| {
                    format!("{} has no line with `{before}`, where CONTRIBUTING.md inserts", block.path)
                })?
            }
        };
        files.insert(block.path.clone().into(), text.into_bytes());
    }
    for (file, text) in &files {
        let to = copy.join(file);
        if fs::read(&to).ok().as_ref() != Some(text) {
            fs::create_dir_all(to.parent().context("a file is in a folder")?)?;
            let _ = fs::remove_file(&to);
            fs::write(&to, text)?;
        }
    }
    for file in left_over(copy, &files)? {
        fs::remove_file(file)?;
    }
    Ok(())
}

/// The files of an earlier copy that the tree has no more.
fn left_over(copy: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) -> Result<Vec<PathBuf>> {
    let mut gone = Vec::new();
    let mut open = vec![copy.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let inside = path.strip_prefix(copy)?.to_owned();
            if path.is_dir() {
                open.push(path);
            } else if !files.contains_key(&inside) {
                gone.push(path);
            }
        }
    }
    Ok(gone)
}

/// The text with a block before its first line that holds `before`, as far indented as that line.
fn insert(text: &str, before: &str, block: &str) -> Option<String> {
    let at = text.lines().position(|line| line.contains(before))?;
    let lines: Vec<&str> = text.lines().collect();
    let indent = " ".repeat(lines[at].len() - lines[at].trim_start().len());
    let block = block.lines().map(|line| if line.is_empty() { String::new() } else { format!("{indent}{line}") });
    let all =
        lines[..at].iter().map(ToString::to_string).chain(block).chain(lines[at..].iter().map(ToString::to_string));
    Some(all.flat_map(|line| [line, "\n".to_owned()]).collect())
}

#[cfg(test)]
mod tests {
    use super::{Block, blocks, insert};

    #[test]
    fn a_block_goes_where_the_comment_says() {
        let page = "## Adding a pass\n\n   <!-- into: a.rs | before: } -->\n   ```rust\n   x\n     y\n   ```\n";
        let block = Block {
            example: "Adding a pass".into(),
            path: "a.rs".into(),
            before: Some("}".into()),
            text: "x\n  y\n".into(),
        };
        assert_eq!(blocks(page).unwrap(), [block]);
        let page = "## Adding an op\n\n### One that does something\n\n<!-- into: a.td -->\n```\n```\n";
        assert_eq!(blocks(page).unwrap()[0].example, "One that does something", "it has places of its own");
        assert!(blocks("<!-- into: a.rs -->\ntext\n").is_err(), "no block");
    }

    #[test]
    fn a_block_is_indented_as_the_line_after_it() {
        assert_eq!(
            insert("f {\n    a\n}\n", "a", "b {\n\n    c\n}\n").unwrap(),
            "f {\n    b {\n\n        c\n    }\n    a\n}\n"
        );
        assert_eq!(insert("f\n", "a", "b\n"), None);
    }
}
