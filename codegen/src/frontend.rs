//! The MLIR side: a context with everything a program may use, parsing with diagnostics that show the source.

use crate::Error;
use melior::Context;
use melior::diagnostic::{Diagnostic, DiagnosticSeverity};
use melior::dialect::DialectRegistry;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, Location, Module, Operation};
use melior::pass::PassManager;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use symm_dialect::lossy;
use symm_dialect::text::{identifier, string};

/// Parses programs and runs pipelines on them.
pub struct Frontend {
    context: Context,
}

impl Default for Frontend {
    fn default() -> Self {
        Self::new()
    }
}

impl Frontend {
    /// A context with every upstream dialect, the symm dialect, and the passes of both. Diagnostics go to standard
    /// error.
    #[must_use]
    pub fn new() -> Self {
        // A failure to write a diagnostic is no error.
        Self::with_diagnostics(|_, text| drop(std::io::stderr().write_all(text.as_bytes())))
    }

    /// The same; every diagnostic, with the line of source it is about and its notes, goes to `handler`.
    #[must_use]
    pub fn with_diagnostics(handler: impl Fn(DiagnosticSeverity, &str) + 'static) -> Self {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            symm_passes::register_upstream();
            symm_passes::register();
        });
        let registry = DialectRegistry::new();
        melior::utility::register_all_dialects(&registry);
        symm_dialect::handle().insert_dialect(&registry);
        let context = Context::new_with_registry(&registry, false);
        melior::utility::register_all_llvm_translations(&context);
        context.attach_diagnostic_handler(move |diagnostic| {
            handler(diagnostic.severity(), &render(&diagnostic));
            true
        });
        Self { context }
    }

    /// The context, in which modules live.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Parses and verifies a program, as text or bytecode.
    ///
    /// # Errors
    /// [`Error::Read`] if the file can't be read, [`Error::Parse`] if the program is wrong.
    pub fn parse(&self, path: &Path) -> Result<Module<'_>, Error> {
        // MLIR says only that it could not open the file; the system says why.
        std::fs::File::open(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        // A path is bytes, to MLIR too.
        let name = path.as_os_str().as_bytes();
        let name = mlir_sys::MlirStringRef { data: name.as_ptr().cast(), length: name.len() };
        // SAFETY: the context outlives the module; the path lives during the call.
        let module =
            unsafe { Module::from_option_raw(mlir_sys::mlirModuleCreateParseFromFile(self.context.to_raw(), name)) };
        module.ok_or_else(|| Error::Parse { path: path.to_owned() })
    }

    /// Runs a pipeline, such as `symm-cpu`, `symm-cpu{trace=true}` or `builtin.module(cse,symm-cpu)`, on a module.
    ///
    /// # Errors
    /// [`Error::PipelineText`] if the text is no pipeline, [`Error::Pipeline`] if a pass refused the program.
    pub fn run_pipeline(&self, module: &mut Module<'_>, pipeline: &str) -> Result<(), Error> {
        let manager = PassManager::new(&self.context);
        let text =
            if is_of_module(pipeline) { pipeline.trim().to_owned() } else { format!("builtin.module({pipeline})") };
        melior::utility::parse_pass_pipeline(manager.as_operation_pass_manager(), &text)
            .map_err(|error| Error::PipelineText { pipeline: pipeline.into(), reason: error.to_string() })?;
        // Verifies once at the end: the parsed program is valid, and verifying it after each of some thirty passes
        // takes longer than most of them. symm-opt does that, and the tests run every pass through it.
        manager.enable_verifier(false);
        let is_right = manager.run(module).is_ok() && module.as_operation().verify();
        if is_right { Ok(()) } else { Err(Error::Pipeline { pipeline: pipeline.into() }) }
    }
}

/// Whether all of a pipeline's text is within `builtin.module(…)`, as mlir-opt writes pipelines.
fn is_of_module(pipeline: &str) -> bool {
    let Some(rest) = pipeline.trim().strip_prefix("builtin.module(") else { return false };
    let mut depth = 1;
    for (at, letter) in rest.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1 == rest.len();
        }
    }
    false
}

/// A second module like this one, to be lowered in another way.
///
/// # Panics
/// Never: the copy of a module is a module.
#[must_use]
pub fn copy_of<'c>(module: &Module<'c>) -> Module<'c> {
    Module::from_operation(Operation::clone(&module.as_operation())).expect("a module")
}

/// Says by the name in the program, and where it declares it, which function is not defined. The module is one that
/// has been lowered.
#[must_use]
pub fn declared(error: Error, module: &Module) -> Error {
    let Error::UndefinedSymbol { symbol, .. } = &error else { return error };
    let mut next = module.body().first_operation();
    while let Some(op) = next {
        if op.attribute("sym_name").ok().and_then(string).is_some_and(|name| name == *symbol) {
            // The C name of the callee.
            let symbol = symbol.strip_prefix("_mlir_ciface_").unwrap_or(symbol).to_owned();
            let place = place(op.location()).0;
            let place = if place.is_empty() { place } else { format!("{place}error: ") };
            return Error::UndefinedSymbol { symbol, place };
        }
        next = op.next_in_block();
    }
    error
}

/// `file:line:col: error: message`, the line of source it is about, and the notes.
fn render(diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity() {
        DiagnosticSeverity::Error => "error",
        DiagnosticSeverity::Warning => "warning",
        DiagnosticSeverity::Note => "note",
        DiagnosticSeverity::Remark => "remark",
    };
    let (place, source) = place(diagnostic.location());
    let notes: String = (0..diagnostic.note_count())
        .filter_map(|index| diagnostic.note(index).ok())
        .map(|note| render(&note))
        .collect();
    format!("{place}{severity}: {}\n{source}{notes}", lossy!("{diagnostic}"))
}

/// A location as the start of a line, and the source line with a mark under the column.
fn place(location: Location) -> (String, String) {
    if !location.is_file_line_col_range() {
        return (lossy!("{location}: ").replace("loc(unknown): ", ""), String::new());
    }
    let file = identifier(location.file_line_col_range_filename());
    let (line, column) = (location.file_line_col_range_start_line(), location.file_line_col_range_start_column());
    // A location names any file and any column: a device is not read, and a mark lies within its line.
    let is_file = std::fs::metadata(&file).is_ok_and(|metadata| metadata.is_file());
    let source = is_file.then(|| std::fs::read_to_string(&file).ok()).flatten();
    let shown = source.as_deref().and_then(|source| source.lines().nth(line.saturating_sub(1)));
    let shown = shown.filter(|shown| column <= shown.len() + 1);
    let shown = shown.map_or_else(String::new, |text| format!("{text}\n{}^\n", " ".repeat(column.saturating_sub(1))));
    (format!("{file}:{line}:{column}: "), shown)
}
