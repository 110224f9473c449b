//! A C program that uses every function of symm.h, as threads and as processes, and what it is linked with.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use symm_runtime::{Spawn, spawn_processes};

const PROGRAM: &str = "tests/program.c";
const STATIC: [&str; 3] = ["LIBRARIES/libsymm.a", "-lm", "-ldl"];

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The folder of libsymm: that of this test.
static LIBRARIES: LazyLock<PathBuf> = LazyLock::new(|| std::env::current_exe().unwrap().parent().unwrap().to_owned());

/// Builds a program with the C compiler.
fn build(name: &str, path: &str, libraries: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let include = source("../include");
    let mut command = Command::new("cc");
    command.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-pthread", "-I"]).arg(include);
    command.arg(source(path)).arg("-o").arg(&program);
    for library in libraries {
        command.arg(library.replace("LIBRARIES", LIBRARIES.to_str().unwrap()));
    }
    assert!(command.status().expect("a C compiler").success());
    program
}

fn runs_as_threads(program: &Path) {
    let mut command = Command::new(program);
    for variable in ["RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"] {
        command.env_remove(variable);
    }
    let output = command.arg("threads").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let lines: BTreeSet<_> = output.stdout.split(|byte| *byte == b'\n').collect();
    assert!(lines.contains(&b"rank 0 done"[..]) && lines.contains(&b"rank 1 done"[..]), "{lines:?}");
}

fn runs_as_processes(program: &Path) {
    let (args, input) = (Vec::new(), Vec::new());
    spawn_processes(&Spawn { ranks: 2, program: program.to_owned(), args, input, grace: Duration::from_secs(5) })
        .unwrap();
}

#[test]
fn a_program_runs_with_the_shared_library() {
    let program = build("shared", PROGRAM, &["-LLIBRARIES", "-lsymm", "-Wl,-rpath,LIBRARIES"]);
    runs_as_threads(&program);
    runs_as_processes(&program);
}

#[test]
fn a_program_runs_with_the_static_library() {
    let program = build("static", PROGRAM, &STATIC);
    runs_as_threads(&program);
    runs_as_processes(&program);
}

/// It is for GPUs: see test/device/graphs.py. Here it is seen to build, and to say what is missing.
#[test]
fn the_graphs_of_test_device_build() {
    let program = build("graphs", "../../test/device/graphs.c", &STATIC);
    let output = Command::new(program).args(["no.ptx", "--ranks", "1"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(text.contains("no CUDA device can be used") || text.contains("no.ptx: No such file"), "{text}");
}

#[test]
fn the_header_is_one_of_cpp_too() {
    let mut command = Command::new("c++");
    command.args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-std=c++11", "-fsyntax-only", "-x", "c++"]);
    assert!(command.arg(source("../include/symm.h")).status().expect("a C++ compiler").success());
}

/// The words `symm_…` that are followed by an opening bracket, where `line` says that a line declares one.
fn functions(text: &str, line: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let names = text.lines().filter(|text| line(text)).filter_map(|line| {
        let (before, _) = line.split_once('(')?;
        let name = before.rsplit(|char: char| !char.is_alphanumeric() && char != '_').next()?;
        name.starts_with("symm_").then(|| name.to_owned())
    });
    names.collect()
}

#[test]
fn the_header_declares_what_the_library_has() {
    let header = std::fs::read_to_string(source("../include/symm.h")).unwrap();
    let starts = ["int ", "void ", "void *", "const char *"];
    let declared = functions(&header, |line| starts.iter().any(|start| line.starts_with(start)));
    let code = ["lib", "rank", "stream", "kernel"].map(|name| source(&format!("src/{name}.rs")));
    let code: String = code.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let defined = functions(&code, |line| line.contains("extern \"C\" fn"));
    assert!(defined.len() > 35, "{defined:?}");
    assert_eq!(declared, defined);
    let program = std::fs::read_to_string(source("tests/program.c")).unwrap();
    let unused: Vec<_> = declared.iter().filter(|name| !program.contains(&format!("{name}("))).collect();
    assert!(unused.is_empty(), "{unused:?}: use them in tests/program.c");
}
