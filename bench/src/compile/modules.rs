//! The modules that are compiled: a unit from `bench/programs`, repeated.

use crate::{root, target};
use anyhow::{Context as _, Result, ensure};
use melior::ir::Module;
use melior::ir::operation::{OperationLike, WalkOrder, WalkResult};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use symm_codegen::Frontend;

/// Which kind of program a module holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// Kernels that communicate by symm ops.
    Symm,
    /// The same kernels on local memory, by upstream ops alone.
    Upstream,
}

impl Source {
    fn unit(self) -> &'static str {
        match self {
            Self::Symm => "compile_symm",
            Self::Upstream => "compile_upstream",
        }
    }

    /// Where the module of this kind with about `ops` ops is.
    pub fn path(self, ops: usize) -> Result<PathBuf> {
        Ok(target()?.join(format!("{}_{ops}.mlir", self.unit())))
    }
}

/// Writes the module of a kind that comes closest to `ops` ops.
pub fn write(frontend: &Frontend, source: Source, ops: usize) -> Result<PathBuf> {
    let unit = root()?.join(format!("bench/programs/{}.mlir", source.unit()));
    // Without the module around it.
    let unit_ops = count(&frontend.parse(&unit)?) - 1;
    let text = fs::read_to_string(&unit).with_context(|| format!("cannot read {}", unit.display()))?;
    let body = text.split_once("gpu.container_module} {\n").and_then(|(_, body)| body.trim_end().strip_suffix('}'));
    let body = body.with_context(|| format!("{}: a unit is one module", unit.display()))?;
    ensure!(body.contains("@kernels") && body.contains("@main"), "{}: names to number are missing", unit.display());
    let path = source.path(ops)?;
    let mut file = BufWriter::new(fs::File::create(&path)?);
    writeln!(file, "module attributes {{gpu.container_module}} {{")?;
    for number in 0..(ops + unit_ops / 2) / unit_ops {
        let body = body.replace("@kernels", &format!("@kernels_{number}")).replace("@main", &format!("@main_{number}"));
        file.write_all(body.as_bytes())?;
    }
    writeln!(file, "}}")?;
    file.flush()?;
    Ok(path)
}

/// How many ops a module holds.
pub fn count(module: &Module) -> usize {
    let mut count = 0;
    module.as_operation().walk(WalkOrder::PreOrder, |_| {
        count += 1;
        WalkResult::Advance
    });
    count
}
