//! `./x docs`: builds the book, one searchable site of docs/ and what its pages link to, with rustdoc beside it.

use crate::{python, run, tree};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::Command;

const MKDOCS: &str = "mkdocs-material==9.7.0";

/// Rustdoc makes no page for a workspace, to which its own pages link.
const FIRST_CRATE: &str = "<meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; \
                           url=symm_runtime/index.html\"><a href=\"symm_runtime/index.html\">symm_runtime</a>\n";

#[derive(clap::Args)]
pub struct Arguments {
    /// Leave out the crates' own documentation, which takes minutes the first time
    #[arg(long)]
    no_rust: bool,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let site = book()?;
    if !arguments.no_rust {
        let mut rustdoc = run::cargo();
        rustdoc.args(["doc", "--workspace", "--no-deps", "--release", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings");
        run::run(&mut rustdoc)?;
        let _ = std::fs::remove_dir_all(site.join("rust"));
        run::run(Command::new("cp").arg("-r").arg(tree::target().join("doc")).arg(site.join("rust")))?;
        std::fs::write(site.join("rust/index.html"), FIRST_CRATE)?;
    }
    println!("{}", site.join("index.html").display());
    Ok(())
}

/// Builds the pages; a link to what does not exist is an error, as in the crates' own. Returns the folder.
pub fn book() -> Result<PathBuf> {
    let python = python::environment("docs", &[MKDOCS])?;
    let site = std::path::absolute(tree::target().join("site"))?;
    let mut mkdocs = Command::new(python);
    // Not --quiet: with it mkdocs takes no warning for an error.
    mkdocs.args(["-m", "mkdocs", "build", "--clean", "--strict", "--site-dir"]).arg(&site);
    // The theme's own announcements are not about this book.
    mkdocs.env("NO_MKDOCS_2_WARNING", "1").env("PYTHONDONTWRITEBYTECODE", "1");
    let output = mkdocs.output().with_context(|| run::line(&mkdocs))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let warnings: Vec<_> =
            text.lines().filter(|line| !line.starts_with("INFO") && !line.starts_with("  -")).collect();
        bail!("\n{}\nmend it, and run: ./x docs --no-rust", warnings.join("\n"));
    }
    Ok(site)
}
