//! Diagnostics at a location of the user's program.

use crate::{hooks, text};
use melior::ir::{Location, OperationRef, operation::OperationLike};

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The program is wrong; compilation fails.
    Error = 0,
    /// The program is suspect.
    Warning = 1,
    /// The compiler reports what it did.
    Remark = 2,
}

/// Reports `message` about an operation, in MLIR's form `'symm.wait' op message`.
pub fn report<'c: 'a, 'a>(severity: Severity, op: OperationRef<'c, 'a>, message: &str) {
    let name = op.name();
    let name = name.as_string_ref().as_str().unwrap_or("operation").to_owned();
    hooks::emit(severity, op.location(), &format!("'{name}' op {message}"), None);
}

/// Reports `message` at a location, with a note at another one if given.
pub fn report_at(severity: Severity, location: Location, message: &str, note: Option<(Location, &str)>) {
    hooks::emit(severity, location, message, note);
}

/// Reports an error about an operation; returns the failure for a pass to return.
#[must_use]
pub fn error<'c: 'a, 'a>(op: OperationRef<'c, 'a>, message: &str) -> Reported {
    report(Severity::Error, op, message);
    Reported
}

/// An error that has already been reported as a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported;

/// File, line and column of a location: the first ones found in a fused, named or call-site location.
#[must_use]
pub fn file_line_column(location: Location) -> Option<(String, usize, usize)> {
    if location.is_file_line_col_range() {
        let file = text::identifier(location.file_line_col_range_filename());
        let (line, column) = (location.file_line_col_range_start_line(), location.file_line_col_range_start_column());
        return Some((file, line, column));
    }
    if location.is_name() {
        return file_line_column(location.name_child_location());
    }
    if location.is_call_site() {
        return file_line_column(location.call_site_callee());
    }
    if location.is_fused() {
        let mut parts = (0..location.fused_num_locations()).map(|index| location.fused_location(index));
        return parts.find_map(file_line_column);
    }
    None
}
