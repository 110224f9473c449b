//! `./x ptxas`: NVIDIA's assembler, which the tests feed all PTX to, from Python's package index.

use crate::{run, tree};
use anyhow::{Context, Result};
use std::process::Command;

/// The packages that hold `bin/ptxas`: CUDA 12's knows every chip but `sm_110`, CUDA 13's none before `sm_75`.
const PACKAGES: [(&str, &str); 2] = [
    ("nvidia/cuda_nvcc/bin/ptxas", "nvidia-cuda-nvcc-cu12==12.9.86"),
    ("nvidia/cu13/bin/ptxas", "nvidia-cuda-nvcc==13.5.37"),
];

/// Installs both into `target/ptxas`, unless they are there.
pub fn install() -> Result<()> {
    let folder = tree::target().join("ptxas");
    if PACKAGES.iter().all(|(tool, _)| folder.join(tool).exists()) {
        return Ok(());
    }
    let packages = PACKAGES.map(|(_, package)| package);
    println!("the tests assemble all PTX with NVIDIA's ptxas, which is not here yet:");
    println!("installing {} into {} (90 MB to download) …", packages.join(" and "), folder.display());
    // One call for both: pip replaces what lies in the target folder.
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target"]).arg(&folder).args(packages);
    run::run(&mut pip).context("no ptxas: this needs the network and pip (on Debian: apt-get install python3-pip)")
}
