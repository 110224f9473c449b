//! The compiler of Triton and Gluon kernels: Triton's text in, bytecode or text that Triton reads out.
//!
//! The text is MLIR's generic form. Bytecode takes Triton two thirds of the time to read. Every dialect but `builtin` and `symm` stays unregistered, `arith` and `scf` too,
//! so that ops, types and attributes of a newer MLIR than ours go through as they are. This is why no pass manager
//! runs here: it would load the dialects of the passes.

use crate::ir::{Builder, collect, file_line_column, has_uses, name, remove_attribute};
use crate::order::is_quiet;
use crate::pass::{Pass, Pipeline, Values};
use crate::{check, lower as lowering, transform};
use melior::Context;
use melior::diagnostic::{Diagnostic, DiagnosticSeverity};
use melior::dialect::DialectRegistry;
use melior::ir::operation::{OperationLike, OperationPrintingFlags};
use melior::ir::{Module, OperationRef};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use symm_dialect::{bytecode, lossy};

/// What [`lower`] does, as a pipeline.
pub const PIPELINE: Pipeline = Pipeline {
    flag: "symm-triton",
    summary: "From a Triton or Gluon kernel with carriers of symm ops to one without",
    options: &[
        check::memory_order::PASS.options[0],
        lowering::triton::PASS.options[0],
        lowering::triton::PASS.options[1],
    ],
    text: |options| STEPS.iter().map(|pass| step(pass, options)).collect::<Vec<_>>().join(","),
};

/// Its passes, whose options are the pipeline's, but for one that follows from the target. Triton's own passes fold and
/// merge what is left.
const STEPS: &[Pass] = &[
    transform::raise_carriers::PASS,
    check::ranks::PASS,
    check::polls::PASS,
    check::memory_order::PASS,
    transform::infer_order::PASS,
    transform::hoist_translation::PASS,
    transform::pipeline_remote::PASS,
    lowering::triton::PASS,
];

/// What Python has put on the module: that it holds carriers, and what makes Triton print it in generic form.
const MARKS: [&str; 2] = ["symm.carriers", "llvm.data_layout"];

/// The values of a pass's options.
fn values_of<'v>(pass: &Pass, options: &'v Values) -> Vec<&'v str> {
    let value = |name| match name {
        // On NVIDIA GPUs a poll acquires at no cost, and a fence takes 0.6 µs.
        "fence-waits" if options.text("target").starts_with("cuda") => "false",
        "fence-waits" => "true",
        name => options.text(name),
    };
    pass.options.iter().map(|option| value(option.name)).collect()
}

/// A pass with its options, as text.
fn step(pass: &Pass, options: &Values) -> String {
    let values = pass.options.iter().zip(values_of(pass, options));
    let values: Vec<_> = values.map(|(option, value)| format!("{}={value}", option.name)).collect();
    if values.is_empty() { pass.flag.to_owned() } else { format!("{}{{{}}}", pass.flag, values.join(" ")) }
}

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
    /// Warnings and remarks.
    pub notes: Vec<Note>,
}

/// Lowers the symm ops, and the carriers of symm ops, in a module of Triton's.
///
/// `version` is Triton's (`3.9.0`), `target` what it compiles for (`cuda:90`, `hip:gfx942`).
///
/// # Errors
/// What is wrong with the kernel, or with the text, version or target: at least one error.
pub fn lower(text: &str, version: &str, target: &str) -> Result<Lowered, Vec<Note>> {
    let given = |name| match name {
        "version" => Some(version),
        "target" => Some(target),
        _ => None,
    };
    let values: Vec<&str> =
        PIPELINE.options.iter().map(|option| given(option.name).unwrap_or(option.initial)).collect();
    let complaint = PIPELINE.options.iter().zip(&values).find_map(|(option, value)| option.complaint(value));
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
        let lowered = run(context, text, &Values::new(PIPELINE.options, values), &current);
        context.detach_diagnostic_handler(handler);
        (lowered, notes.take())
    });
    match lowered {
        Some(module) if notes.iter().all(|note| note.severity != "error") => Ok(Lowered { module, notes }),
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
    /// A context forgets nothing: behind so many bytes of text, a new one takes its place.
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

fn run(context: &Context, text: &str, values: &Values, current: &Cell<&'static str>) -> Option<Vec<u8>> {
    let module = Module::parse(context, text)?;
    for mark in MARKS {
        remove_attribute(module.as_operation(), mark);
    }
    for pass in STEPS {
        current.set(pass.flag);
        let given = Values::new(pass.options, values_of(pass, values));
        pass.run_on(module.as_operation(), &given).ok()?;
        // What the kernel's author wrote; behind the other passes nothing but a bug of theirs would be found, by
        // Triton.
        if pass.flag == transform::raise_carriers::PASS.flag && !module.as_operation().verify() {
            return None;
        }
    }
    erase_unused(module.as_operation());
    // Types and attributes that are opaque here keep the aliases in their text.
    let mut aliases = text.lines().filter(|line| is_alias(line)).flat_map(|line| [line, "\n"]).peekable();
    if aliases.peek().is_none() {
        return bytecode::by_name(module.as_operation());
    }
    let flags = OperationPrintingFlags::new().print_generic_operation_form().enable_debug_info(true, false);
    let lowered = module.as_operation().to_string_with_flags(flags).ok()?;
    Some((aliases.collect::<String>() + &lowered).into_bytes())
}

/// Erases what computes values that nothing takes, of which Triton's front end and the lowering leave a third: text that
/// is not written need not be read. Triton's passes would erase them all the same; but constants they merge, and what is
/// left then has no line where the lines differ.
fn erase_unused(root: OperationRef) {
    // Users come behind what they use, in their block or in one within it.
    for op in collect(root).into_iter().rev() {
        let is_unused = op.results().all(|result| !has_uses(result.into()));
        if op.result_count() > 0 && op.region_count() == 0 && is_unused && is_quiet(op) && name(op) != "arith.constant"
        {
            Builder::before(op).erase(op);
        }
    }
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
        DiagnosticSeverity::Remark if speaker == transform::pipeline_remote::PASS.flag => "remark",
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
