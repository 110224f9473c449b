//! `./x fuzz`: hands over to test/fuzz.

use crate::{run, tools};
use anyhow::Result;

#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// Arguments of the fuzzer
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Arguments {
    /// A run of this many inputs.
    pub fn short(inputs: &str) -> Self {
        Self { arguments: vec!["--inputs".into(), inputs.into()] }
    }
}

pub fn run(arguments: &Arguments) -> Result<()> {
    tools::build()?;
    run::run(&mut run::program("symm-fuzz", &arguments.arguments))
}
