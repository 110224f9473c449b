//! `./x check`: what is wrong without running a program. Every complaint names the command that mends it.

mod book;
mod coverage;
mod environment;
mod layout;

pub use coverage::metadata;

use crate::{docs, generate, release, run};
use anyhow::{Context, Result, bail, ensure};

type Check = (&'static str, fn() -> Result<()>);

const CHECKS: &[Check] = &[
    ("passes have lit tests of the same stem", || none(&layout::untested_passes()?)),
    ("ops are named in test/lit/dialect", || none(&layout::untested_ops()?)),
    ("programs have RUN lines", || none(&layout::programs_not_run()?)),
    ("./x test runs every crate", || none(&coverage::crates_not_tested()?)),
    ("no library hides tests from ./x test", || none(&coverage::tests_left_out()?)),
    ("./x test runs every folder of test/", || none(&coverage::folders_not_tested()?)),
    ("published crates need published ones", || none(&release::unpublished_needs(&metadata()?))),
    ("passes share code through ir and analysis", || none(&layout::rooms_used()?)),
    ("files are short", || none(&layout::long_files()?)),
    ("lines are short", || none(&layout::long_lines()?)),
    ("Python functions are short", || none(&layout::long_functions()?)),
    ("unsafe code is allowed by name", || none(&layout::unguarded_crates()?)),
    ("no absolute paths of one machine", || none(&layout::machine_paths()?)),
    ("rustfmt", || {
        let formatted = run::run(run::cargo().args(["fmt", "--all", "--", "--check", "--files-with-diff"]));
        formatted.context("these files are not formatted; mend it: cargo fmt --all")
    }),
    ("clippy", || {
        // In release mode, so that it shares what the tests have built.
        let arguments =
            ["clippy", "--workspace", "--all-targets", "--release", "--keep-going", "--", "--deny", "warnings"];
        run::run(run::cargo().args(arguments)).context("mend what clippy says above")
    }),
    ("the book's navigation has every page", || none(&book::pages_left_out()?)),
    ("the book tells of every environment variable", || none(&environment::variables_not_told()?)),
    ("the book's links lead somewhere", || docs::book().map(|_| ())),
    ("generated docs are fresh", || generate::run(&generate::Arguments { check: true })),
];

pub fn run() -> Result<()> {
    let mut failed = Vec::new();
    for (name, check) in CHECKS {
        match check() {
            Ok(()) => println!("ok    {name}"),
            Err(error) => {
                println!("FAIL  {name}: {error:#}");
                failed.push(*name);
            }
        }
    }
    ensure!(failed.is_empty(), "{} of {} checks failed: {}", failed.len(), CHECKS.len(), failed.join(", "));
    Ok(())
}

fn none(complaints: &[String]) -> Result<()> {
    if complaints.is_empty() {
        return Ok(());
    }
    bail!("\n      {}", complaints.join("\n      "))
}
