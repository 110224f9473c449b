//! The project's own tool, which `./x` runs: one file per command.

#![forbid(unsafe_code)]

mod artifacts;
mod bench;
mod bless;
mod check;
mod contributing;
mod corpus;
mod demo;
mod docs;
mod fuzz;
mod generate;
mod licenses;
mod lit;
mod ptxas;
mod python;
mod release;
mod run;
mod test;
mod tools;
mod tree;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "x", bin_name = "./x", about = "The project's own commands")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the heat equation on four ranks: program, lowered form, check, picture, timeline
    Demo(demo::Arguments),
    /// Build everything and run every test
    Test,
    /// Formatting, lints, generated docs, layout of the tree
    Check,
    /// Write docs/generated from the definitions
    #[command(name = "gen")]
    Generate(generate::Arguments),
    /// Rewrite the expected output of golden tests
    Bless,
    /// Install NVIDIA's assembler, which the tests need, into target/ptxas
    Ptxas,
    /// Compile and test the worked examples of CONTRIBUTING.md
    Contributing,
    /// Build the Python package's wheel into target/wheels
    Wheel,
    /// Test the Python package with every version of Triton: ./x python [PYTEST ARGUMENT…]
    Python(python::Arguments),
    /// Make and check what a release is: wheel, crates, book; publishes nothing
    Release,
    /// Build the book, one searchable site, into target/site
    Docs(docs::Arguments),
    #[command(about = "Measure: ./x bench [NAME] [ARGUMENT…]")]
    Bench(bench::Arguments),
    /// Mutate the lit corpus through symm-opt
    Fuzz(fuzz::Arguments),
    /// Compile the kernels of public packages with and without a symm op
    Corpus(corpus::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = tree::enter().and_then(|()| match arguments.command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Test => test::run(),
        Command::Check => check::run(),
        Command::Generate(arguments) => generate::run(&arguments),
        Command::Bless => bless::run(),
        Command::Ptxas => ptxas::install(),
        Command::Contributing => contributing::check(),
        Command::Wheel => python::build(),
        Command::Python(arguments) => python::run(&arguments),
        Command::Release => release::run(),
        Command::Docs(arguments) => docs::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Corpus(arguments) => corpus::run(&arguments),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("x: {error:#}");
            ExitCode::FAILURE
        }
    }
}
