//! `./x bench`: hands over to bench/.

use crate::{run, tools};
use anyhow::Result;

#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// What to measure, and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    tools::build()?;
    run::run(
        run::cargo().args(["run", "--quiet", "--release", "--package", "symm-bench", "--"]).args(&arguments.arguments),
    )
}
