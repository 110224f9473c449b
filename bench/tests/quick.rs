//! Everything that `./x bench` does runs; how fast is not tested. symm-opt, symm-run and symm-check have to be built.

use std::fs;
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
    for expected in [
        "symm passes / canonicalize, cse",
        "ratio of the peaks",
        "symm.wait",
        "put / memcpy",
        "4 ranks × 8",
        "does nothing",
    ] {
        assert!(out.contains(expected), "no {expected:?} in {out}");
    }
    for name in ["compile", "cpu"] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("quick/bench/{name}.json"));
        let raw: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        assert!(raw["figures"].as_array().map_or(raw["figures"].is_object(), |sizes| !sizes.is_empty()));
    }
    let output = bench("quick", &["publish"]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("are from a quick run"), "{}", text(&output.stderr));
    figures_of_another_machine_are_published_by_force_only();
}

/// In a repository of its own, with the figures of the quick run as if they were full.
fn figures_of_another_machine_are_published_by_force_only() {
    const PAGE: &str = "<!-- cpu -->\nMeasured on: Abacus, 1 cores, 1 GiB, Linux 1.\n<!-- end -->\n";
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let root = tmp.join("repository");
    for folder in ["bench/programs", "docs", "target/bench"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    let raw = fs::read_to_string(tmp.join("quick/bench/cpu.json")).unwrap();
    fs::write(root.join("target/bench/cpu.json"), raw.replace("\"quick\": true", "\"quick\": false")).unwrap();
    fs::write(root.join("bench/programs/device.mlir"), "").unwrap();
    fs::write(root.join("docs/benchmarks.md"), PAGE).unwrap();
    let publish = |folder: &Path, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_symm-bench"));
        command.arg("publish").args(more).current_dir(folder).env_remove("CARGO_TARGET_DIR").output().unwrap()
    };
    let page = || fs::read_to_string(root.join("docs/benchmarks.md")).unwrap();

    let refused = publish(&root.join("docs"), &[]);
    let complaint = text(&refused.stderr);
    assert!(!refused.status.success() && complaint.contains("of Abacus, 1 cores") && complaint.contains("--force"));
    assert_eq!(page(), PAGE);
    let forced = publish(&root.join("docs"), &["--force"]);
    assert!(forced.status.success(), "{}", text(&forced.stderr));
    assert!(!page().contains("Abacus") && page().contains("put / memcpy"), "{}", page());
    for name in ["cpu.json", "put.svg"] {
        assert!(root.join("docs/benchmarks").join(name).exists(), "{name}");
    }
    assert!(publish(&root, &[]).status.success(), "now the page has this machine's");
    let elsewhere = publish(Path::new("/"), &[]);
    assert!(text(&elsewhere.stderr).contains("is not in symm's repository"), "{}", text(&elsewhere.stderr));
}

#[test]
fn programs_are_checked() {
    let output = bench("checked", &["check", "--quick"]);
    let (out, complaints) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}{complaints}");
    assert!(out.contains("ring all-reduce of 1 MiB") && out.contains("all schedules"), "{out}");
}

#[test]
fn what_is_not_there_is_refused() {
    let output = bench("refused", &["nothing"]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("compile, cpu"), "{}", text(&output.stderr));
    let output = bench("refused", &["publish"]);
    assert!(text(&output.stderr).contains("./x bench compile"), "{}", text(&output.stderr));
}
