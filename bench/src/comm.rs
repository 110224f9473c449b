//! `comm`: collectives on GPUs against NCCL, torch's symmetric memory and kernels by hand.
//!
//! What is measured here is in Python (`bench/device/comm.py`): it runs on machines that have GPUs and no build.

use crate::{Effort, root, target};
use anyhow::{Context as _, Result, ensure};
use std::process::Command;

/// Bytes of the largest message of a quick run.
const QUICK: &str = "1048576";

pub fn run(effort: Effort) -> Result<()> {
    let (root, target) = (root()?, target()?);
    let figures = target.join("comm.json");
    let mut measure = Command::new("python3");
    measure.env("PYTHONPATH", root.join("python")).arg("-B").arg(root.join("bench/device/comm.py"));
    measure.arg("-o").arg(&figures).arg("--plots").arg(&target);
    measure.args(effort.pick(&[][..], &["--largest", QUICK, "--rounds", "3"]));
    let status = measure.status().context("cannot run python3")?;
    ensure!(status.success(), "bench/device/comm.py failed: it needs two GPUs, torch, Triton and CuPy");
    println!("wrote {} and its plots", figures.display());
    Ok(())
}
