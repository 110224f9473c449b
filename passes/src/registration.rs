//! The C side: what `cpp/passes.cpp` asks of the tables. All of this crate's `extern "C"` is here.

use crate::pass::{PassOption, Values};
use crate::{PASSES, PIPELINES};
use melior::StringRef;
use melior::ir::OperationRef;
use mlir_sys::{MlirDialectRegistry, MlirOperation, MlirStringCallback, MlirStringRef, mlirDialectHandleInsertDialect};
use std::ffi::c_void;

unsafe extern "C" {
    fn symmRegisterPasses();
    fn symmRegisterUpstreamPasses();
    fn symmPreviousInBlock(op: MlirOperation) -> MlirOperation;
    fn symmHasOtherEffects(op: MlirOperation) -> bool;
}

/// Registers MLIR's own passes with its pass registry. Call it once.
pub fn register_upstream() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: the registry is a process-wide static; `Once` makes the call the only one.
    ONCE.call_once(|| unsafe { symmRegisterUpstreamPasses() });
}

/// Makes every pass and pipeline of this crate known to MLIR's pass registry. Call it once.
pub fn register() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: the registry is a process-wide static; `Once` makes the call the only one.
    ONCE.call_once(|| unsafe { symmRegisterPasses() });
}

/// The op before `op` in its block. (melior's `previous_in_block` panics: MLIR's C API has no such function.)
pub fn previous_in_block<'c, 'a>(op: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    // SAFETY: both ops are alive as long as their block, whose lifetime is `'a`.
    unsafe {
        let previous = symmPreviousInBlock(op.to_raw());
        (!previous.ptr.is_null()).then(|| OperationRef::from_raw(previous))
    }
}

/// Whether an op, apart from what its regions hold, may do more than read and write its operands' memory: MLIR does not
/// know its effects, or knows of some on other memory.
pub fn has_other_effects(op: OperationRef) -> bool {
    // SAFETY: the op is alive, and is only asked.
    unsafe { symmHasOtherEffects(op.to_raw()) }
}

#[repr(C)]
pub struct Entry {
    flag: MlirStringRef,
    summary: MlirStringRef,
    num_options: isize,
}

#[repr(C)]
pub struct OptionEntry {
    name: MlirStringRef,
    initial: MlirStringRef,
    help: MlirStringRef,
}

/// The value of an option, by the option's name.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OptionValue {
    name: MlirStringRef,
    value: MlirStringRef,
}

fn text(text: &'static str) -> MlirStringRef {
    StringRef::new(text).to_raw()
}

/// Flag, summary and options of a row; `None` past the end of the table.
fn row(pipeline: bool, index: isize) -> Option<(&'static str, &'static str, &'static [PassOption])> {
    let index = usize::try_from(index).ok()?;
    if pipeline {
        PIPELINES.get(index).map(|row| (row.flag, row.summary, row.options))
    } else {
        PASSES.get(index).map(|row| (row.flag, row.summary, row.options))
    }
}

/// # Safety
/// `given` points to one name and value for each of `options`, whose texts are alive for `'v`.
unsafe fn values<'v>(options: &'static [PassOption], given: *const OptionValue) -> Values<'v> {
    let given = (0..options.len()).map(|index| {
        // SAFETY: as the caller promises.
        let OptionValue { name, value } = unsafe { *given.add(index) };
        // SAFETY: as the caller promises.
        unsafe { (str_of(name), str_of(value)) }
    });
    Values::new(options, given.collect())
}

/// # Safety
/// The text is alive for `'v`.
unsafe fn str_of<'v>(text: MlirStringRef) -> &'v str {
    if text.length == 0 {
        return "";
    }
    // SAFETY: as the caller promises.
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.length) };
    std::str::from_utf8(bytes).unwrap_or("<not utf-8>")
}

/// # Safety
/// `entry` is writable.
#[unsafe(no_mangle)]
unsafe extern "C" fn symmEntry(pipeline: bool, index: isize, entry: *mut Entry) -> bool {
    let Some((flag, summary, options)) = row(pipeline, index) else { return false };
    let row = Entry { flag: text(flag), summary: text(summary), num_options: options.len().cast_signed() };
    // SAFETY: as the caller promises.
    unsafe { entry.write(row) };
    true
}

/// # Safety
/// The row has such an option; `entry` is writable.
#[unsafe(no_mangle)]
unsafe extern "C" fn symmEntryOption(pipeline: bool, index: isize, option: isize, entry: *mut OptionEntry) {
    let (_, _, options) = row(pipeline, index).expect("the caller asks for rows that exist");
    let option = &options[option.cast_unsigned()];
    let row = OptionEntry { name: text(option.name), initial: text(option.initial), help: text(option.help) };
    // SAFETY: as the caller promises.
    unsafe { entry.write(row) };
}

/// # Safety
/// `given` points to one name and value for each option of the row; `write` may be called with `data`.
#[unsafe(no_mangle)]
unsafe extern "C" fn symmEntryValidate(
    pipeline: bool,
    index: isize,
    given: *const OptionValue,
    write: MlirStringCallback,
    data: *mut c_void,
) -> bool {
    let Some((_, _, options)) = row(pipeline, index) else { return false };
    // SAFETY: as the caller promises.
    let complaint = unsafe { values(options, given) }.complaint();
    if let (Some(complaint), Some(write)) = (&complaint, write) {
        // SAFETY: as the caller promises.
        unsafe { write(StringRef::new(complaint).to_raw(), data) };
    }
    complaint.is_none()
}

#[unsafe(no_mangle)]
extern "C" fn symmPassDialects(registry: MlirDialectRegistry) {
    for handle in crate::ir::dialects() {
        // SAFETY: the registry is alive during the call, the handles are static.
        unsafe { mlirDialectHandleInsertDialect(handle, registry) };
    }
}

/// # Safety
/// `given` points to one name and value for each option of the pass; `op` is alive.
#[unsafe(no_mangle)]
unsafe extern "C" fn symmPassRun(index: isize, op: MlirOperation, given: *const OptionValue) -> i32 {
    let pass = &PASSES[index.cast_unsigned()];
    // SAFETY: as the caller promises.
    let (operation, values) = unsafe { (OperationRef::from_raw(op), values(pass.options, given)) };
    pass.run_on(operation, &values).map_or(0, |ir| ir as i32)
}

/// # Safety
/// `given` points to one name and value for each option of the pipeline; `write` may be called with `data`.
#[unsafe(no_mangle)]
unsafe extern "C" fn symmPipelineText(
    index: isize,
    given: *const OptionValue,
    write: MlirStringCallback,
    data: *mut c_void,
) {
    let pipeline = &PIPELINES[index.cast_unsigned()];
    // SAFETY: as the caller promises.
    let values = unsafe { values(pipeline.options, given) };
    let pipeline = (pipeline.text)(&values);
    if let Some(write) = write {
        // SAFETY: as the caller promises.
        unsafe { write(StringRef::new(&pipeline).to_raw(), data) };
    }
}
