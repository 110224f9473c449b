//! Where figures come from.

use serde::{Deserialize, Serialize};
use std::fs;

/// What a reader has to know to compare figures with their own.
#[derive(Clone, Serialize, Deserialize)]
pub struct Machine {
    pub processor: String,
    pub cores: usize,
    pub memory_gib: u64,
    pub kernel: String,
    /// The load averages when the run began: processes that wanted a core over the last minute, five and fifteen.
    pub load: String,
}

impl Machine {
    /// The machine that this runs on.
    pub fn here() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).and_then(|line| line.split_once(':'));
            line.map_or_else(|| "unknown".to_owned(), |(_, value)| value.trim().to_owned())
        };
        let kib: u64 = field(&read("/proc/meminfo"), "MemTotal").trim_end_matches(" kB").parse().unwrap_or(0);
        Self {
            processor: field(&read("/proc/cpuinfo"), "model name"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: kib.div_ceil(1 << 20),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            load: read("/proc/loadavg").split(' ').take(3).collect::<Vec<_>>().join(" "),
        }
    }
}

/// A machine in words.
pub trait InWords {
    /// What figures have to share to be compared.
    fn hardware(&self) -> String;

    /// One line for the docs, which begins with the hardware.
    fn line(&self) -> String;
}

impl InWords for Machine {
    fn hardware(&self) -> String {
        let Self { processor, cores, memory_gib, .. } = self;
        format!("{processor}, {cores} cores, {memory_gib} GiB")
    }

    fn line(&self) -> String {
        // Without what a distribution appends to it.
        let kernel = self.kernel.split('-').next().unwrap_or_default();
        format!("{}, Linux {kernel}; load averages at the start {}", self.hardware(), self.load)
    }
}

/// The machine with GPUs that a script has measured on.
#[derive(Deserialize)]
pub struct Host {
    gpus: String,
    driver: String,
    kernel: String,
}

impl InWords for Host {
    fn hardware(&self) -> String {
        self.gpus.clone()
    }

    fn line(&self) -> String {
        let Self { gpus, driver, kernel } = self;
        format!("{gpus}, {driver}, Linux {}", kernel.split('-').next().unwrap_or_default())
    }
}
