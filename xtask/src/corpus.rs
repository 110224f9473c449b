//! `./x corpus`: compiles the kernels of public packages with and without a symm op; test/corpus/README.md says more.

use crate::{python, run, tree};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What has Triton kernels on PyPI.
const PACKAGES: [&str; 7] = [
    "bitsandbytes==0.50.2",
    "fla-core==0.6.0",
    "flag-gems==5.0.2",
    "liger-kernel==0.8.5",
    "torchao==0.18.0",
    "unsloth==2026.10.9",
    "unsloth-zoo==2026.10.9",
];

#[derive(clap::Args)]
pub struct Arguments {
    /// Packages of PyPI instead of the chosen ones, such as liger-kernel==0.8.5
    #[arg(long, num_args = 1.., value_name = "PACKAGE")]
    packages: Vec<String>,
    /// Kernels of each package, spread over it; 0: all, which takes hours
    #[arg(long, default_value_t = 40)]
    limit: u32,
    /// Time limit for one kernel, in seconds
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Instead: make up to this many accesses of each kernel remote, one at a time, and show what else changes
    #[arg(long, value_name = "ACCESSES", default_value_t = 0)]
    remote: u32,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let chosen = PACKAGES.map(str::to_owned);
    let packages = if arguments.packages.is_empty() { chosen.as_slice() } else { &arguments.packages };
    let pythons = python::ready_for_kernels()?;
    let (_, python) = pythons.first().context("there is not a version of Triton")?;
    let folder = std::path::absolute(tree::target().join("corpus"))?;
    let folders = packages.iter().map(|package| installed(python, package, &folder)).collect::<Result<Vec<_>>>()?;
    let results = folder.join("results");
    let _ = fs::remove_dir_all(&results);
    let mut command = Command::new(python);
    command.arg("test/corpus/corpus.py").args(folders).arg("--keep").arg(&results);
    for (version, python) in &pythons {
        command.arg("--python").arg(format!("{version}={}", python.display()));
    }
    for (name, value) in
        [("--limit", arguments.limit), ("--seconds", arguments.seconds), ("--remote", arguments.remote)]
    {
        command.arg(name).arg(value.to_string());
    }
    command.env("PYTHONPATH", std::path::absolute("python")?);
    python::keep_bytecode(&mut command)?;
    run::run(command.env("TRITON_CACHE_DIR", folder.join("cache")))
}

/// The folder with a package alone: what it imports has a stand-in.
fn installed(python: &Path, package: &str, under: &Path) -> Result<PathBuf> {
    let name = package.split("==").next().unwrap_or_default();
    let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    ensure!(plain && !name.is_empty(), "{package:?} is no package of PyPI: write NAME or NAME==VERSION");
    let (folder, stamp) = (under.join(name), under.join(format!("{name}.txt")));
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == package) {
        return Ok(folder);
    }
    println!("installing {package} into {} …", folder.display());
    let _ = fs::remove_dir_all(&folder);
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--target"]);
    run::run(install.arg(&folder).arg(package)).context("this needs the network")?;
    fs::write(stamp, package)?;
    Ok(folder)
}
