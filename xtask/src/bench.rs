//! `./x bench`: hands over to bench/, and `./x bench remote` to Python.

use crate::{python, run, tools};
use anyhow::Result;

#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// What to measure, and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    if let Some((name, rest)) = arguments.arguments.split_first()
        && name == "remote"
    {
        return python::bench_remote(rest);
    }
    tools::build()?;
    run::run(&mut run::program("symm-bench", &arguments.arguments))
}
