//! Everything that `./x bench` does runs; how fast is not tested. symm-opt has to be built.

use std::path::Path;
use std::process::{Command, Output};

/// Runs the bench with its figures in a folder of its own.
fn bench(folder: &str, arguments: &[&str]) -> Output {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let mut command = Command::new(env!("CARGO_BIN_EXE_symm-bench"));
    command.args(arguments).env("CARGO_TARGET_DIR", target).output().expect("the bench was built")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_quick_run_measures_everything_and_is_not_published() {
    let output = bench("quick", &["--quick"]);
    let (out, complaints) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}{complaints}");
    for expected in
        ["symm passes / canonicalize, cse", "ratio of the peaks", "symm.wait", "put / memcpy", "4 ranks × 8"]
    {
        assert!(out.contains(expected), "no {expected:?} in {out}");
    }
    for name in ["compile", "cpu"] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("quick/bench/{name}.json"));
        let raw: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert!(raw["figures"].as_array().map_or(raw["figures"].is_object(), |sizes| !sizes.is_empty()));
    }
    let output = bench("quick", &["publish"]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("are from a quick run"), "{}", text(&output.stderr));
}

#[test]
fn what_is_not_there_is_refused() {
    let output = bench("refused", &["nothing"]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("compile, cpu"), "{}", text(&output.stderr));
    let output = bench("refused", &["publish"]);
    assert!(text(&output.stderr).contains("./x bench compile"), "{}", text(&output.stderr));
}
