//! Operations that define symbols, and functions among them.

use crate::text::string;
use melior::ir::attribute::TypeAttribute;
use melior::ir::r#type::FunctionType;
use melior::ir::{OperationRef, Type, operation::OperationLike};

/// The name of the symbol that an operation defines.
#[must_use]
pub fn symbol<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<String> {
    op.attribute("sym_name").ok().and_then(string)
}

/// The types that a function takes and returns; none of an operation that is no function.
#[must_use]
pub fn signature<'c: 'a, 'a>(function: OperationRef<'c, 'a>) -> (Vec<Type<'c>>, Vec<Type<'c>>) {
    let ty = function.attribute("function_type").and_then(TypeAttribute::try_from).map(|ty| ty.value());
    ty.and_then(FunctionType::try_from).map(inputs_and_results).unwrap_or_default()
}

/// The types that functions of a type take and return.
#[must_use]
pub fn inputs_and_results(ty: FunctionType<'_>) -> (Vec<Type<'_>>, Vec<Type<'_>>) {
    let inputs = (0..ty.input_count()).filter_map(|index| ty.input(index).ok());
    let results = (0..ty.result_count()).filter_map(|index| ty.result(index).ok());
    (inputs.collect(), results.collect())
}
