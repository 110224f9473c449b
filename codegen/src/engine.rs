//! Which engine reaches the ranks whose heaps are not mapped (N1): a run says it, and a program may.

use crate::Error;
use melior::ir::Module;
use melior::ir::attribute::StringAttribute;
use melior::ir::operation::OperationLike;
use symm_dialect::ENGINE_ATTRIBUTE;
use symm_dialect::diagnostic::{Severity, report};

/// The engine that a program says it is for.
#[must_use]
pub fn engine_of(module: &Module) -> Option<String> {
    let engine = module.as_operation().attribute(ENGINE_ATTRIBUTE).and_then(StringAttribute::try_from);
    engine.ok().map(|engine| engine.value().to_owned())
}

/// Checks that a program is for the engine of a run, if it says one.
///
/// # Errors
/// [`Error::OtherEngine`]; the diagnostic is at the module.
pub fn ensure_engine(module: &Module, engine: Option<&str>) -> Result<(), Error> {
    let Some(program) = engine_of(module).filter(|program| Some(program.as_str()) != engine) else { return Ok(()) };
    let said = engine.map_or_else(|| "no engine is given".to_owned(), |engine| format!("--engine is {engine}"));
    let complaint = format!(
        "is for the engine \"{program}\" ({ENGINE_ATTRIBUTE}), and {said}: give --engine {program}, or remove the \
         attribute"
    );
    report(Severity::Error, module.as_operation(), &complaint);
    Err(Error::OtherEngine { program })
}
