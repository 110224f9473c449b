//! A process forked from a rank is not part of the run, and delays nothing.

use crate::SOON;
use crate::start::{outputs, start};

pub const TESTS: [(&str, fn()); 4] = [
    ("a_killed_rank_is_named_while_its_child_lives", a_killed_rank_is_named_while_its_child_lives),
    ("a_rank_that_dies_early_is_named_while_its_child_lives", a_rank_that_dies_early_is_named_while_its_child_lives),
    ("a_child_does_not_act_for_its_parent", a_child_does_not_act_for_its_parent),
    ("a_child_can_have_a_run_of_its_own", a_child_can_have_a_run_of_its_own),
];

/// Its child lives for longer than the others would wait.
fn a_killed_rank_is_named_while_its_child_lives() {
    for (what, dead) in [("join, fork and die 1", 1), ("join, fork and die 0", 0), ("fork and die 1", 1)] {
        let found = outputs(start(3, what, what), SOON);
        for (r, (ok, text)) in found.iter().enumerate() {
            assert!(!ok && (r == dead || text.contains(&format!("rank {dead} died"))), "rank {r}: {text}");
        }
    }
}

fn a_rank_that_dies_early_is_named_while_its_child_lives() {
    let found = outputs(start(3, "fork early", "fork early"), SOON);
    assert!([0, 2].iter().all(|r| !found[*r].0 && found[*r].1.contains("rank 1 died")), "{found:?}");
}

/// It calls what only the rank may call, leaves, drops the rank, returns from its function, and ends.
fn a_child_does_not_act_for_its_parent() {
    for what in ["join, fork and call", "join, fork and leave", "join, fork and drop", "fork and return"] {
        let found = outputs(start(3, what, what), SOON);
        assert!(found.iter().all(|(ok, _)| *ok), "{what}: {found:?}");
    }
}

fn a_child_can_have_a_run_of_its_own() {
    let found = outputs(start(2, "fork and run", "join, fork and run"), SOON);
    assert!(found.iter().all(|(ok, _)| *ok), "{found:?}");
}
