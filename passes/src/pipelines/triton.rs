//! The pipeline of Triton and Gluon kernels, as text and without a pass manager: that would load the dialects of the
//! passes, and what is Triton's is to stay opaque.

use crate::analysis::order::is_quiet;
use crate::ir::{Builder, collect, has_uses, name, remove_attribute};
use crate::pass::{OptionKind, Pass, PassOption, Pipeline, Values};
use crate::target::TARGET;
use crate::{check, lower, transform};
use melior::ir::OperationRef;
use melior::ir::operation::OperationLike;
use symm_dialect::attributes::{CARRIERS_ATTRIBUTE, WAITS_ATTRIBUTE};
use symm_dialect::diagnostic::Reported;
use symm_dialect::text;

/// The pipeline.
pub const PIPELINE: Pipeline = Pipeline {
    flag: "symm-triton",
    summary: "From a Triton or Gluon kernel with carriers of symm ops to one without",
    options: &[check::memory_order::STRICT, BOUNDS, TRACE, lower::triton::VERSION, TARGET],
    text: |options| steps(options).map(|pass| step(pass, options)).collect::<Vec<_>>().join(","),
};

/// Whether what leaves its tensor is left out, and recorded.
const BOUNDS: PassOption = PassOption {
    name: "bounds-checks",
    kind: OptionKind::Bool,
    initial: "false",
    help: "skip and record accesses outside of their tensor",
};

/// Whether programs record what they do when.
const TRACE: PassOption = PassOption {
    name: "trace",
    kind: OptionKind::Bool,
    initial: "false",
    help: "record when programs and their ops begin and end",
};

/// Its passes, whose options are the pipeline's, but for one that follows from the target. Triton's own passes fold and
/// merge what is left.
const STEPS: &[Pass] = &[
    transform::raise_carriers::PASS,
    check::ranks::PASS,
    check::reach::PASS,
    check::polls::PASS,
    check::memory_order::PASS,
    transform::tag_waits::PASS,
    transform::limit_polls::PASS,
    transform::guard_accesses::PASS,
    transform::infer_order::PASS,
    transform::hoist_translation::PASS,
    transform::pipeline_remote::PASS,
    transform::trace_programs::PASS,
    lower::triton::PASS,
];

/// The passes that are asked for.
fn steps(options: &Values) -> impl Iterator<Item = &'static Pass> {
    let left_out = [(BOUNDS, transform::guard_accesses::PASS), (TRACE, transform::trace_programs::PASS)]
        .map(|(option, pass)| (!options.flag(option.name)).then_some(pass.flag));
    STEPS.iter().filter(move |pass| !left_out.contains(&Some(pass.flag)))
}

/// What Python has put on the module: that it holds carriers, and what makes Triton print it in generic form.
const MARKS: [&str; 2] = [CARRIERS_ATTRIBUTE, "llvm.data_layout"];

/// A pass's options by name, with their values.
fn values_of<'v>(pass: &Pass, options: &'v Values) -> Vec<(&'static str, &'v str)> {
    let value = |name| match name {
        // On NVIDIA GPUs a poll acquires at no cost, and a fence takes 0.6 µs.
        "fence-waits" if options.text("target").starts_with("cuda") => "false",
        "fence-waits" => "true",
        name => options.text(name),
    };
    pass.options.iter().map(|option| (option.name, value(option.name))).collect()
}

/// A pass with its options, as text.
fn step(pass: &Pass, options: &Values) -> String {
    let values = values_of(pass, options).into_iter();
    let values: Vec<_> = values.map(|(name, value)| format!("{name}={value}")).collect();
    if values.is_empty() { pass.flag.to_owned() } else { format!("{}{{{}}}", pass.flag, values.join(" ")) }
}

/// Whether what a pass remarks upon is a repair, of which the kernel's author is to hear.
#[must_use]
pub fn repairs(flag: &str) -> bool {
    // It tells of what is as well as before, and faster.
    flag != transform::pipeline_remote::PASS.flag
}

/// Runs the passes on a module; `begin` hears the flag of each before it runs.
///
/// # Errors
/// A pass refused the kernel; diagnostics have said why.
pub fn run<'c: 'a, 'a>(
    module: OperationRef<'c, 'a>,
    values: &Values,
    mut begin: impl FnMut(&'static str),
) -> Result<(), Reported> {
    for mark in MARKS {
        remove_attribute(module, mark);
    }
    for pass in steps(values) {
        begin(pass.flag);
        pass.run_on(module, &Values::new(pass.options, values_of(pass, values)))?;
    }
    erase_unused(module);
    Ok(())
}

/// Takes off a module what its waits' tags stand for.
#[must_use]
pub fn take_waits<'c: 'a, 'a>(module: OperationRef<'c, 'a>) -> String {
    let waits = module.attribute(WAITS_ATTRIBUTE).ok().and_then(text::string);
    remove_attribute(module, WAITS_ATTRIBUTE);
    waits.unwrap_or_default()
}

/// Erases what computes values that nothing takes, of which Triton's front end and the lowering leave a third: text
/// that is not written need not be read. Triton's passes would erase them all the same; but constants they merge, and
/// what is left then has no line where the lines differ.
fn erase_unused(root: OperationRef) {
    // Users come after what they use, in their block or in one within it.
    for op in collect(root).into_iter().rev() {
        let is_unused = op.results().all(|result| !has_uses(result.into()));
        if op.result_count() > 0 && op.region_count() == 0 && is_unused && is_quiet(op) && name(op) != "arith.constant"
        {
            Builder::before(op).erase(op);
        }
    }
}
