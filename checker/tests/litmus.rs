//! The litmus tests in all executions of the model: no forbidden outcome and no race in those that are right, and the
//! outcome in those that are weak.

#[path = "litmus/play.rs"]
mod play;
#[path = "litmus/table.rs"]
mod table;

use std::path::Path;
use symm_checker::check::{Report, Schedules, check};
use symm_checker::finding::Kind;
use symm_checker::run::Limits;

fn variants(is_weak: bool) -> Vec<table::Variant> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test/litmus");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let tables = files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "litmus"));
    let all = tables.flat_map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        table::read(name, &std::fs::read_to_string(path).unwrap())
    });
    all.filter(|variant| variant.is_weak == is_weak).collect()
}

fn all(variant: &table::Variant, late: bool) -> Report {
    check(&variant.played(late), &Schedules::All { executions: 200_000 }, Limits::default())
}

#[test]
fn right_ones_are_right_in_all_executions() {
    let variants = variants(false);
    assert!(variants.len() >= 36, "{} variants", variants.len());
    for variant in variants {
        for late in [false, true] {
            let report = all(&variant, late);
            assert!(report.is_clean() && report.is_exhausted, "{}\n{report}", variant.name);
        }
    }
}

#[test]
fn right_ones_are_right_in_random_executions() {
    for variant in variants(false) {
        for schedules in [Schedules::InTurn, Schedules::Random { seed: 1, executions: 100, changes: 3 }] {
            let report = check(&variant.played(false), &schedules, Limits::default());
            assert!(report.is_clean(), "{}\n{report}", variant.name);
        }
    }
}

#[test]
fn weak_ones_show_their_outcome() {
    let variants = variants(true);
    assert!(variants.len() >= 17, "{} variants", variants.len());
    for variant in variants {
        let found = [false, true].map(|late| all(&variant, late)).into_iter().flat_map(|report| report.found);
        assert!(found.into_iter().any(|found| found.finding.kind == Kind::FailedCheck), "{}", variant.name);
    }
}

/// Each right variant with one order, fence, wait or barrier less. Two tables don't need every one of them: in load
/// buffering the order of one actor is enough, and in IRIW the readers' meeting place is (a read of theirs comes before
/// the other's, so that it takes no older value).
#[test]
fn what_is_weakened_is_found() {
    let mutants: Vec<_> = variants(false).iter().flat_map(table::Variant::mutants).collect();
    assert!(mutants.len() >= 126, "{} mutants", mutants.len());
    for mutant in mutants {
        let is_found = [false, true].into_iter().any(|late| !all(&mutant, late).is_clean());
        let is_needless = mutant.name.starts_with("lb.litmus") || mutant.name.starts_with("iriw.litmus");
        assert!(is_found || is_needless, "{}", mutant.name);
    }
}
