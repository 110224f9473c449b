//! A C program that uses every function of symm.h, as threads and as processes, and what it is linked with.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use symm_runtime::{Spawn, spawn_processes};

const PROGRAM: &str = "tests/program.c";
const STATIC: [&str; 5] = ["-std=c11", "-pedantic", "LIBRARIES/libsymm.a", "-lm", "-ldl"];
/// Old tags: the path goes before `LD_LIBRARY_PATH`, in which cargo has a folder with the library of an older build.
const SHARED: [&str; 5] =
    ["-std=c11", "-pedantic", "-LLIBRARIES", "-lsymm", "-Wl,-rpath,LIBRARIES,--disable-new-dtags"];

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The folder of libsymm: that of this test.
static LIBRARIES: LazyLock<PathBuf> = LazyLock::new(|| std::env::current_exe().unwrap().parent().unwrap().to_owned());

/// Where what is built lies.
fn built(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Builds something with the C compiler.
fn build(name: &str, path: &str, flags: &[&str]) -> PathBuf {
    let (program, new) = (built(name), built(&format!("{}-{}", name.replace('/', "-"), std::process::id())));
    let mut command = Command::new("cc");
    command.args(["-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-I"]).arg(source("../include")).arg(source(path));
    for flag in flags {
        command.arg(flag.replace("LIBRARIES", LIBRARIES.to_str().unwrap()));
    }
    assert!(command.arg("-o").arg(&new).status().expect("a C compiler").success());
    // Another process may be using it.
    std::fs::rename(&new, &program).unwrap();
    program
}

fn runs_as_threads(program: &Path) {
    let mut command = Command::new(program);
    for variable in ["RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"] {
        command.env_remove(variable);
    }
    let output = command.arg("threads").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let lines: BTreeSet<_> = output.stdout.split(|byte| *byte == b'\n').collect();
    assert!(lines.contains(&b"rank 0 done"[..]) && lines.contains(&b"rank 1 done"[..]), "{lines:?}");
}

/// A rank that leaves when the process ends.
fn leaves_late(program: &Path) {
    for when in ["atexit", "destructor"] {
        let output = Command::new(program).arg(when).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.is_empty(), "{when}: {:?} {text}", output.status);
        assert_eq!(output.stdout, b"left late\n", "{when}");
    }
}

fn runs_as_processes(program: &Path) {
    let (args, input) = (Vec::new(), Vec::new());
    spawn_processes(&Spawn { ranks: 2, program: program.to_owned(), args, input, grace: Duration::from_secs(5) })
        .unwrap();
}

#[test]
fn a_program_runs_with_the_shared_library() {
    let program = build("shared", PROGRAM, &SHARED);
    runs_as_threads(&program);
    runs_as_processes(&program);
    leaves_late(&program);
}

#[test]
fn a_program_runs_with_the_static_library() {
    let program = build("static", PROGRAM, &STATIC);
    runs_as_threads(&program);
    runs_as_processes(&program);
    leaves_late(&program);
}

/// The folder of the library in place of CUDA's.
static CUDA: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = built("cuda");
    std::fs::create_dir_all(&folder).unwrap();
    build("cuda/libcuda.so", "tests/cuda.c", &["-std=gnu11", "-shared", "-fPIC"]);
    folder
});

/// What the program of test/device/graphs.c finds wrong on the ranks of a run, in all, on a library in place of CUDA.
struct Graphs {
    program: PathBuf,
    kernels: PathBuf,
}

impl Graphs {
    fn new() -> Self {
        let kernels = CUDA.join("kernels.ptx");
        std::fs::write(&kernels, ".visible .entry ring(\n.visible .entry meet(\n").unwrap();
        Self { program: build("graphs", "../../test/device/graphs.c", &STATIC), kernels }
    }

    fn command(&self, ipc: bool, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(&self.kernels).args(["--replays", "60"]).args(args).env("LD_LIBRARY_PATH", &*CUDA);
        command.env("SYMM_IPC", if ipc { "1" } else { "0" });
        // Whatever is asked for, symm asks for what it needs before the driver starts.
        if ipc {
            command.env("CUDA_MODULE_LOADING", "LAZY")
        } else {
            command.env_remove("CUDA_MODULE_LOADING")
        };
        command
    }

    /// Lines of all ranks; every process has ended well.
    fn lines(commands: impl IntoIterator<Item = Command>) -> Vec<String> {
        let start = |mut command: Command| command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let children: Vec<_> = commands.into_iter().map(start).collect();
        let outputs = children.into_iter().map(|child| child.wait_with_output().unwrap());
        let lines = outputs.flat_map(|output| {
            let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
            assert!(output.status.success() && err.is_empty(), "{out}{err}");
            out.lines().map(str::to_owned).collect::<Vec<_>>()
        });
        lines.collect()
    }
}

/// The program that test/device/graphs.py runs on GPUs.
#[test]
fn graphs_are_replayed_through_cudas_functions() {
    let graphs = Graphs::new();
    let well = |lines: &[String]| {
        lines.iter().all(|line| line.contains(" 120 replays, 0 words wrong on the host, 0 on the device"))
    };
    for ipc in [false, true] {
        for ranks in 1..=3 {
            let lines = Graphs::lines([graphs.command(ipc, &["--ranks", &ranks.to_string()])]);
            assert!(lines.len() == ranks && well(&lines), "{lines:?}");
        }
        let lines = Graphs::lines((0..3).map(|rank| {
            let mut command = graphs.command(ipc, &[]);
            let run = format!("graphs-{}-{ipc}", std::process::id());
            command.env("RANK", rank.to_string()).env("WORLD_SIZE", "3").env("TORCHELASTIC_RUN_ID", run);
            command.env_remove("LOCAL_WORLD_SIZE").env_remove("GROUP_WORLD_SIZE");
            command
        }));
        assert!(lines.len() == 3 && well(&lines), "{lines:?}");
    }
    let lines = Graphs::lines([graphs.command(false, &["--ranks", "2", "--without-barrier"])]);
    assert!(lines.len() == 2 && !well(&lines), "the barrier is needed: {lines:?}");
}

/// Each rank's thread has the other rank's device.
#[test]
fn the_callers_device_stays_current_and_a_kernel_that_hangs_holds_no_call() {
    let program = build("devices", "tests/devices.c", &STATIC);
    for args in [&[][..], &["hang"]] {
        let output = Command::new(&program).args(args).env("LD_LIBRARY_PATH", &*CUDA).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && output.stdout == b"ended\n", "{args:?}: {:?} {text}", output.status);
    }
}

/// Null, handles that are gone, sizes of no memory, calls at the wrong time, on other threads and in children.
#[test]
fn what_nobody_should_call_is_refused() {
    let program = build("misuse", "tests/misuse.c", &SHARED);
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success(), "{:?} {}", output.status, String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stdout, b"ended\n");
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
    let code = std::fs::read_dir(source("src")).unwrap();
    let code: String = code.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    let defined = functions(&code, |line| line.contains("extern \"C\" fn"));
    assert!(defined.len() > 35, "{defined:?}");
    assert_eq!(declared, defined);
    let program = std::fs::read_to_string(source("tests/program.c")).unwrap();
    let unused: Vec<_> = declared.iter().filter(|name| !program.contains(&format!("{name}("))).collect();
    assert!(unused.is_empty(), "{unused:?}: use them in tests/program.c");
}
