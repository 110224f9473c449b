//! `./x wheel`, and `./x python`: the tests of the Python package, with every version of Triton that they run on.

use crate::test::Tally;
use crate::{licenses, run, tools, tree};
use anyhow::{Context, Result, anyhow, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::{env, fs, os::unix, thread};

/// The oldest and the newest version of Triton that symm is tested with; `TESTED` in python/symm/_seam.py names them.
const TRITON: [&str; 2] = ["3.6.0", "3.9.0"];
/// Triton 3.6.0's interpreter does not run with numpy 2.4.
const TOOLS: [&str; 2] = ["numpy==2.3.5", "pytest==9.2.0"];
/// What the tests in `WITH_TORCH` need beside: torch's own Triton, 3.6.0, comes with it. Elsewhere something stands in
/// for torch.
const TORCH: &str = "torch==2.11.0";
/// What runs the notebook of the documents.
const NOTEBOOK: [&str; 2] = ["nbclient==0.11.0", "ipykernel==7.4.0"];
/// For the tests with `--long`: workers in a Ray cluster, and an NVSHMEM that is newer than torch's.
const RAY: &str = "ray==2.60.0";
const NVSHMEM: &str = "nvidia-nvshmem-cu13==3.8.0";
const WITH_TORCH: &str = "test/python/with_torch";
/// How many runs of pytest go at once: many tests start processes of their own, and some look at how long they take.
const AT_ONCE: usize = 2;
/// The runs that take longest, by what their names hold: they start first.
const LONGEST: [&str; 5] = ["test_comm.py", "Triton 3.9", "Triton 3.6", "test_sendrecv.py", "test_pages.py"];
/// Pytest's exit status where there was no test to run.
const NO_TESTS: i32 = 5;
const MATURIN: &str = "maturin==1.16.0";
const MYPY: &str = "mypy==2.4.1";

#[derive(clap::Args)]
pub struct Arguments {
    /// For pytest: files, `-k NAME`, `--cover` for what `./x test` compiles, or `--all` for the whole compile matrix
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pytest: Vec<String>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let tally = test(&arguments.pytest)?;
    for name in &tally.failed {
        println!("failed: {name}");
    }
    ensure!(tally.failed.is_empty(), "{} tests of the Python package failed", tally.failed.len());
    Ok(())
}

/// Builds the wheel, for somebody who wants to install it.
pub fn build() -> Result<()> {
    println!("{}", wheel()?.display());
    Ok(())
}

/// Builds the wheel and symm-opt, and tests it and the package with all versions of Triton, then with torch.
pub fn test(arguments: &[String]) -> Result<Tally> {
    let wheel = wheel()?;
    link_extension(&wheel)?;
    tools::build()?;
    let symm_opt = std::path::absolute(tree::tool("symm-opt"))?;
    let mypy = environment("mypy", &[MYPY])?.with_file_name("mypy");
    let everything = arguments.iter().all(|argument| !argument.starts_with("test/"));
    let pytest = |python: &Path, path: Option<&Path>| -> Result<Command> {
        let mut pytest = Command::new(python);
        pytest.args(["-m", "pytest", "-q", "-rfEX", "--durations=8", "-p", "no:cacheprovider"]);
        pytest.env("PYTHONPATH", "python");
        keep_bytecode(&mut pytest)?;
        pytest.env("SYMM_WHEEL", &wheel).env("SYMM_MYPY", &mypy);
        pytest.env("SYMM_OPT", &symm_opt);
        pytest.args(path).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(pytest)
    };
    let long = arguments.iter().any(|argument| argument == "--long");
    let nvshmem = nvshmem(long)?;
    let mut runs = Vec::new();
    for version in TRITON {
        let mut pytest = pytest(&with_triton(version)?, everything.then_some(Path::new("test/python")))?;
        pytest.env("SYMM_NVSHMEM_FOLDERS", &nvshmem);
        runs.push((format!("Triton {version}"), pytest));
    }
    if everything || arguments.iter().any(|argument| argument.starts_with(WITH_TORCH)) {
        let python = with_torch()?;
        let ray = if long { Some(packages_of("ray", RAY)?) } else { None };
        // Torch has a device of others once in a process, so each file has a process of its own.
        let paths = if everything { files_with_torch()?.into_iter().map(Some).collect() } else { vec![None] };
        for path in paths {
            let name = path.as_ref().map_or("torch 2.11".into(), |file| format!("torch 2.11, {}", file.display()));
            let mut pytest = pytest(&python, path.as_deref())?;
            if let Some(ray) = &ray {
                pytest.env("PYTHONPATH", env::join_paths([Path::new("python"), ray])?);
            }
            runs.push((name, pytest));
        }
    }
    run_all(longest_first(runs), AT_ONCE, arguments)
}

/// Installs what the tests need, for somebody who has something else to do meanwhile.
pub fn install() -> Result<()> {
    with_torch()?;
    for version in TRITON {
        with_triton(version)?;
    }
    environment("mypy", &[MYPY])?;
    environment("maturin", &[MATURIN])?;
    Ok(())
}

/// Has Python keep the bytecode of what it imports, whatever the environment says, and in one folder: its own would lie
/// about in the tree. Each rank of each test imports the package, and to compile torch again takes longer than most
/// tests.
pub fn keep_bytecode(command: &mut Command) -> Result<()> {
    let caches = std::path::absolute(tree::target().join("python/caches"))?;
    command.env("PYTHONPYCACHEPREFIX", caches).env_remove("PYTHONDONTWRITEBYTECODE");
    Ok(())
}

/// The folders of the versions of NVSHMEM that kernels are linked with: torch's, and a newer one.
fn nvshmem(newer_too: bool) -> Result<OsString> {
    let mut sites = vec![site_of(&with_torch()?)?];
    if newer_too {
        sites.push(packages_of("nvshmem", NVSHMEM)?);
    }
    Ok(env::join_paths(sites.iter().map(|site| site.join("nvidia/nvshmem")))?)
}

/// The files of tests with torch.
fn files_with_torch() -> Result<Vec<PathBuf>> {
    let is_test = |file: &PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("test_"));
    Ok(tree::entries(WITH_TORCH)?.into_iter().filter(is_test).collect())
}

/// So that no long one is left for the end, while nothing else is.
fn longest_first(mut runs: Vec<(String, Command)>) -> Vec<(String, Command)> {
    runs.sort_by_key(|(name, _)| LONGEST.iter().position(|long| name.contains(long)).unwrap_or(LONGEST.len()));
    runs
}

/// Runs commands of pytest, this many at once, the first ones first, and counts. Every one runs, whatever others do.
fn run_all(runs: Vec<(String, Command)>, at_once: usize, arguments: &[String]) -> Result<Tally> {
    let waiting = Mutex::new(runs.into_iter());
    let worker = || {
        let mut tallies = Vec::new();
        loop {
            // The lock is held while the next one is taken, not while it runs.
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((name, mut pytest)) = next else { return tallies };
            let output = pytest.output().with_context(|| run::line(&pytest));
            let judged = output.and_then(|output| judge(&name, &output, &run::line(&pytest), arguments));
            // One that breaks down has no tests to count: it counts as one, and the others count as they would.
            tallies.push(judged.unwrap_or_else(|error| Tally::failure(format!("{name}: {error:#}"))));
        }
    };
    let tallies = thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(worker)).collect();
        let ends = workers.into_iter().map(|worker| worker.join().map_err(|_| anyhow!("a test's thread panicked")));
        ends.collect::<Result<Vec<_>>>()
    })?;
    let mut total = Tally::default();
    for tally in tallies.into_iter().flatten() {
        total += tally;
    }
    Ok(total)
}

/// Prints what pytest has printed, and counts.
fn judge(name: &str, output: &Output, line: &str, arguments: &[String]) -> Result<Tally> {
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{name}:\n{text}");
    let tally = tally(name, &text);
    // With `-k`, none of the tests may be meant, and without `--long` none of some files with torch.
    let may_be_none = !arguments.is_empty() || name.starts_with("torch");
    let none_meant = may_be_none && output.status.code() == Some(NO_TESTS);
    if !output.status.success() && !none_meant {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        ensure!(!tally.failed.is_empty(), "{}: {line}", output.status);
    }
    Ok(tally)
}

/// What passed, and the names of what failed, in what pytest has printed.
fn tally(name: &str, printed: &str) -> Tally {
    // Not the last line: Triton 3.9.0 ends with a page on what it has leaked.
    let (passed, count) = printed.lines().rev().find_map(counts).unwrap_or_default();
    let summary = printed.rsplit_once("= short test summary info =").map_or("", |(_, summary)| summary);
    let names = summary.lines().filter_map(|line| {
        let test = ["FAILED ", "ERROR ", "XPASS "].iter().find_map(|kind| line.strip_prefix(kind))?;
        // A dash in brackets is of a parameter's name.
        let end = match (test.find('['), test.find(" - ")) {
            (Some(open), Some(dash)) if open < dash => test.find("] - ").map(|bracket| bracket + 1),
            (_, dash) => dash,
        };
        Some(&test[..end.unwrap_or(test.len())])
    });
    let mut failed: Vec<String> = names.take(count).map(|test| format!("{name}: {test}")).collect();
    failed.resize(count, format!("{name}: a test without a name"));
    Tally { passed, failed }
}

/// The Python with each version of Triton, by the version, once the extension lies in the package's sources.
pub fn ready_for_kernels() -> Result<Vec<(&'static str, PathBuf)>> {
    link_extension(&wheel()?)?;
    TRITON.into_iter().map(|version| Ok((version, with_triton(version)?))).collect()
}

/// Measures remote tensors: bench/remote.py.
pub fn bench_remote(arguments: &[String]) -> Result<()> {
    link_extension(&wheel()?)?;
    run::run(Command::new(with_torch()?).arg("bench/remote.py").args(arguments).env("PYTHONPATH", "python"))
}

fn with_torch() -> Result<PathBuf> {
    environment("torch-2.11", &[&[TORCH], NOTEBOOK.as_slice(), TOOLS.as_slice()].concat())
}

fn with_triton(version: &str) -> Result<PathBuf> {
    let triton = format!("triton=={version}");
    environment(&format!("triton-{version}"), &[&[triton.as_str()], TOOLS.as_slice()].concat())
}

/// Builds the wheel with maturin.
pub fn wheel() -> Result<PathBuf> {
    let folder = std::path::absolute(tree::target().join("wheels"))?;
    let _ = fs::remove_dir_all(&folder);
    let python = environment("maturin", &[MATURIN])?;
    licenses::write("symm-python", Path::new("python/licenses"))?;
    let mut build = Command::new(python.with_file_name("maturin"));
    build.args(["build", "--release", "--quiet", "--manifest-path", "python/Cargo.toml", "--out"]).arg(&folder);
    run::run(build.arg("--interpreter").arg(&python))?;
    let [wheel] = tree::entries(&folder.to_string_lossy())?.try_into().ok().context("maturin made not one wheel")?;
    Ok(wheel)
}

/// Puts the wheel's extension beside the package's sources, where Python looks for it.
fn link_extension(wheel: &Path) -> Result<()> {
    let unpacked = wheel.with_extension("");
    run::run(Command::new("python3").args(["-m", "zipfile", "--extract"]).arg(wheel).arg(&unpacked))?;
    let link = Path::new("python/symm/_symm.abi3.so");
    let _ = fs::remove_file(link);
    unix::fs::symlink(unpacked.join("symm/_symm.abi3.so"), link)
        .with_context(|| format!("cannot make {}", link.display()))
}

/// The Python of a virtual environment with these packages, under `target/python`.
pub fn environment(name: &str, packages: &[&str]) -> Result<PathBuf> {
    let folder = std::path::absolute(tree::target().join("python").join(name))?;
    let python = folder.join("bin/python");
    let (stamp, wanted) = (folder.join("packages.txt"), packages.join("\n"));
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    println!("installing {} into {} …", packages.join(", "), folder.display());
    let mut create = Command::new("python3");
    run::run(create.args(["-m", "venv", "--clear"]).arg(&folder))
        .context("no virtual environment: this needs Python's venv (on Debian: apt-get install python3-venv)")?;
    // Most of what comes with a package is never imported, so nothing is compiled ahead.
    run::run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--no-compile"]).args(packages))
        .context("this needs the network")?;
    fs::write(stamp, wanted)?;
    Ok(python)
}

/// Where a package lies with what it needs, for the search path of an environment with the same Python.
fn packages_of(name: &str, package: &str) -> Result<PathBuf> {
    site_of(&environment(name, &[package])?)
}

/// Where the packages of a virtual environment lie.
fn site_of(python: &Path) -> Result<PathBuf> {
    let say = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let said = Command::new(python).args(["-c", say]).output()?;
    Ok(String::from_utf8(said.stdout)?.trim().into())
}

/// The counts in pytest's last line, `1 failed, 3 passed, 2 errors in 0.10s`.
fn counts(line: &str) -> Option<(usize, usize)> {
    let (counts, _) = line.split_once(" in ").filter(|(_, time)| time.starts_with(|c: char| c.is_ascii_digit()))?;
    let (mut passed, mut failed) = (0, 0);
    for count in counts.split(", ") {
        let (number, what) = count.split_once(' ')?;
        let number: usize = number.parse().ok()?;
        match what {
            "passed" | "xfailed" => passed += number,
            "failed" | "error" | "errors" | "xpassed" => failed += number,
            _ => {}
        }
    }
    Some((passed, failed))
}

#[cfg(test)]
mod tests {
    use super::{counts, keep_bytecode, tally};
    use std::process::Command;

    #[test]
    fn bytecode_is_kept_where_the_environment_forbids_it() {
        let mut command = Command::new("python3");
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        keep_bytecode(&mut command).unwrap();
        let value = |name: &str| command.get_envs().find(|(each, _)| *each == name).unwrap().1;
        assert!(value("PYTHONDONTWRITEBYTECODE").is_none());
        assert!(value("PYTHONPYCACHEPREFIX").is_some());
    }

    #[test]
    fn counts_are_read_from_the_last_line_alone() {
        assert_eq!(counts("1 failed, 3 passed, 1 skipped, 2 errors in 0.10s"), Some((3, 3)));
        assert_eq!(counts("70 passed in 61.02s (0:01:01)"), Some((70, 0)));
        assert_eq!(counts("no tests ran in 0.01s"), None);
        assert_eq!(counts("2 things in parts"), None);
    }

    #[test]
    fn what_failed_is_named_with_its_run() {
        let text = "\
FAILED is no name here
=========================== short test summary info ============================
FAILED test/python/test_a.py::test_b[1 - 2] - assert 1 == 2
ERROR test/python/test_c.py - ImportError: no module
2 failed, 3 passed, 1 error in 0.02s
leaked: 3 objects
";
        let tally = tally("Triton 3.9.0", text);
        assert_eq!(tally.passed, 3);
        assert_eq!(
            tally.failed,
            [
                "Triton 3.9.0: test/python/test_a.py::test_b[1 - 2]",
                "Triton 3.9.0: test/python/test_c.py",
                "Triton 3.9.0: a test without a name",
            ]
        );
    }
}
