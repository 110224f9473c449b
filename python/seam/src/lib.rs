//! The compiler of Triton and Gluon kernels: Triton's text in, bytecode or text that Triton reads out.
//!
//! The text is MLIR's generic form. Bytecode takes Triton two thirds of the time to read. Every dialect but `builtin`
//! and `symm` stays unregistered, `arith` and `scf` too, so that ops, types and attributes of a newer MLIR than ours go
//! through as they are.

#![forbid(unsafe_code)]

use melior::Context;
use melior::diagnostic::{Diagnostic, DiagnosticSeverity};
use melior::dialect::DialectRegistry;
use melior::ir::Module;
use melior::ir::operation::{OperationLike, OperationPrintingFlags};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use symm_dialect::diagnostic::file_line_column;
use symm_dialect::{bytecode, lossy};
use symm_passes::Values;
use symm_passes::pipelines::triton::{self, PIPELINE};

/// What comes after the last pass, in the stages.
pub const LOWERED: &str = "lowered";

/// What the compiler has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// `error`, `warning` or `remark`.
    pub severity: &'static str,
    /// The message.
    pub message: String,
    /// The file of the kernel, where it is known.
    pub file: Option<String>,
    /// The line in it, from 1; 0 without a file.
    pub line: usize,
}

/// A module without symm ops.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The module with its locations: as bytecode; as text in generic form, if types and attributes that are opaque
    /// here name aliases, which bytecode has not.
    pub module: Vec<u8>,
    /// What the tags of waits with a deadline and of records stand for: a line each, as symm-tag-waits writes it.
    pub waits: String,
    /// If requested: what comes next, and the module's text before that.
    pub stages: Vec<(&'static str, String)>,
    /// Warnings and remarks.
    pub notes: Vec<Note>,
}

/// The requests besides the module.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "any of them may be on")]
pub struct Switches {
    /// Errors where the compiler would repair the kernel and warn.
    pub strict: bool,
    /// Accesses that leave their tensors are left out, and recorded.
    pub bounds_checks: bool,
    /// The module's text before each pass and after the last.
    pub stages: bool,
    /// Programs record when they and their ops begin and end.
    pub trace: bool,
}

/// Lowers the symm ops, and the carriers of symm ops, in a Triton module.
///
/// `version` is Triton's (`3.9.0`), `target` what it compiles for (`cuda:90`, `hip:gfx942`).
///
/// # Errors
/// What is wrong with the kernel, or with the text, version or target: at least one error.
pub fn lower(text: &str, version: &str, target: &str) -> Result<Lowered, Vec<Note>> {
    lower_as(text, version, target, Switches::default())
}

/// [`lower`], with switches.
///
/// # Errors
/// Those of [`lower`].
pub fn lower_as(text: &str, version: &str, target: &str, switches: Switches) -> Result<Lowered, Vec<Note>> {
    let [strict, bounds, trace] =
        [switches.strict, switches.bounds_checks, switches.trace].map(|on| if on { "true" } else { "false" });
    let options =
        vec![("version", version), ("target", target), ("strict", strict), ("bounds-checks", bounds), ("trace", trace)];
    let values = Values::new(PIPELINE.options, options);
    let complaint = values.complaint();
    // MLIR's text ends at a zero byte.
    let complaint = complaint.or_else(|| text.contains('\0').then(|| "the text holds a zero byte".into()));
    if let Some(message) = complaint {
        return Err(vec![Note { severity: "error", message, file: None, line: 0 }]);
    }
    let (lowered, notes) = Kept::with(text.len(), |context| {
        let notes = Rc::new(RefCell::new(Vec::new()));
        let current = Rc::new(Cell::new(""));
        let (heard, speaker) = (Rc::clone(&notes), Rc::clone(&current));
        let handler = context.attach_diagnostic_handler(move |diagnostic| {
            heard.borrow_mut().push(note(&diagnostic, speaker.get()));
            true
        });
        let lowered = run(context, text, &values, (&current, switches));
        context.detach_diagnostic_handler(handler);
        (lowered, notes.take())
    });
    match lowered {
        Some(lowered) if notes.iter().all(|note| note.severity != "error") => Ok(Lowered { notes, ..lowered }),
        _ if notes.iter().all(|note| note.severity != "error") => {
            let message = "the compiler of symm failed and did not say why; please report it".into();
            Err(vec![Note { severity: "error", message, file: None, line: 0 }])
        }
        _ => Err(notes),
    }
}

/// A thread's context, kept from one kernel to the next: most types, names and attributes of a kernel are those of the
/// one before.
struct Kept {
    context: Context,
    /// The bytes of text that it has read.
    bytes: usize,
}

thread_local! {
    static KEPT: Cell<Option<Kept>> = const { Cell::new(None) };
}

impl Kept {
    /// A context never frees anything: after this many bytes of text, a new one replaces it.
    const MOST_BYTES: usize = 4 << 20;

    /// Uses this thread's context to read `bytes` of text. After a panic nothing is left of it.
    fn with<T>(bytes: usize, use_it: impl FnOnce(&Context) -> T) -> T {
        let mut kept = KEPT.take().unwrap_or_else(|| Self { context: context(), bytes: 0 });
        let result = use_it(&kept.context);
        kept.bytes = kept.bytes.saturating_add(bytes);
        if kept.bytes < Self::MOST_BYTES {
            KEPT.set(Some(kept));
        }
        result
    }
}

fn context() -> Context {
    let context = Context::new_with_threading(false);
    // Before the dialect is loaded, which asks for it.
    context.set_allow_unregistered_dialects(true);
    let registry = DialectRegistry::new();
    symm_dialect::handle().insert_dialect(&registry);
    context.append_dialect_registry(&registry);
    context.load_all_available_dialects();
    context
}

fn run(
    context: &Context,
    text: &str,
    values: &Values,
    (current, switches): (&Cell<&'static str>, Switches),
) -> Option<Lowered> {
    let module = Module::parse(context, text)?;
    let mut stages = Vec::new();
    let mut begin = |flag| {
        current.set(flag);
        if switches.stages {
            stages.push((flag, module.as_operation().to_string()));
        }
    };
    triton::run(module.as_operation(), values, &mut begin).ok()?;
    begin(LOWERED);
    let waits = triton::take_waits(module.as_operation());
    // Types and attributes that are opaque here keep the aliases in their text.
    let mut aliases = text.lines().filter(|line| is_alias(line)).flat_map(|line| [line, "\n"]).peekable();
    if aliases.peek().is_none() {
        let module = bytecode::by_name(module.as_operation())?;
        return Some(Lowered { module, waits, stages, notes: Vec::new() });
    }
    let flags = OperationPrintingFlags::new().print_generic_operation_form().enable_debug_info(true, false);
    let lowered = module.as_operation().to_string_with_flags(flags).ok()?;
    let module = (aliases.collect::<String>() + &lowered).into_bytes();
    Some(Lowered { module, waits, stages, notes: Vec::new() })
}

/// Whether a line defines an alias of a type or attribute; those of locations are printed anew.
fn is_alias(line: &str) -> bool {
    let Some((name, _)) = line.split_once(" = ") else { return false };
    let is_location = name.strip_prefix("#loc").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    name.starts_with(['#', '!']) && !name.contains(' ') && !is_location
}

fn note(diagnostic: &Diagnostic, speaker: &str) -> Note {
    let severity = match diagnostic.severity() {
        DiagnosticSeverity::Error => "error",
        // It tells of what is as well as before, and faster.
        DiagnosticSeverity::Remark if !triton::repairs(speaker) => "remark",
        // A remark is about a repair: the author of the kernel is to hear of it.
        DiagnosticSeverity::Warning | DiagnosticSeverity::Remark => "warning",
        DiagnosticSeverity::Note => "remark",
    };
    let mut message = lossy!("{diagnostic}");
    for note in (0..diagnostic.note_count()).filter_map(|index| diagnostic.note(index).ok()) {
        message += &lossy!("\nnote: {note}");
    }
    let (file, line) = file_line_column(diagnostic.location()).map_or((None, 0), |(file, line, _)| (Some(file), line));
    Note { severity, message, file, line }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, Kept};

    #[test]
    fn a_context_is_kept_up_to_so_much_text() {
        let address = |context: &melior::Context| context.to_raw().ptr as usize;
        let first = Kept::with(Kept::MOST_BYTES - 1, address);
        assert_eq!(Kept::with(1, address), first, "the thread's context");
        assert!(KEPT.take().is_none(), "it has read enough");
        Kept::with(0, address);
        assert!(KEPT.take().is_some());
    }
}
