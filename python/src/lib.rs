//! The module `symm._symm`: what the Python package asks of the compiler.

// Unsafe code is where it is allowed by name.
#![deny(unsafe_code)]

mod check;
#[expect(unsafe_code, reason = "functions of the C library for the end of a process")]
mod exit;
mod failure;
#[expect(unsafe_code, reason = "addresses of an interpreted kernel")]
mod interpreter;
mod interrupt;
#[expect(unsafe_code, reason = "streams of the caller")]
mod rank;
mod remote;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict};
use symm_abi::{deadline, far, heap, packet, table, trace};
use symm_dialect::ops::SymmOp;
use symm_triton::Switches;

/// What the compiler has to say: severity, message, file and line.
type Note = (&'static str, String, Option<String>, usize);

/// What the compiler makes: the module, what it has to say, what the tags of waits stand for, and the stages.
type Lowered = (Vec<u8>, Vec<Note>, String, Vec<(&'static str, String)>);

/// Lowers the symm ops in a Triton module; `python/symm/_symm.pyi` says how.
#[pyfunction]
#[pyo3(signature = (text, version, target, strict = false, stages = false, bounds_checks = false, trace = false))]
#[expect(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "switches by name in Python")]
fn lower_triton(
    py: Python<'_>,
    text: &str,
    version: &str,
    target: &str,
    strict: bool,
    stages: bool,
    bounds_checks: bool,
    trace: bool,
) -> PyResult<Lowered> {
    let switches = Switches { strict, bounds_checks, stages, trace };
    match py.detach(|| symm_triton::lower_as(text, version, target, switches)) {
        Ok(lowered) => {
            let notes = lowered.notes.into_iter().map(tuple).collect();
            Ok((lowered.module, notes, lowered.waits, lowered.stages))
        }
        Err(notes) => {
            let errors: Vec<Note> = notes.into_iter().filter(|note| note.severity == "error").map(tuple).collect();
            let (file, line) = errors.first().map_or((None, 0), |(.., file, line)| (file.clone(), *line));
            let messages: Vec<String> = errors.into_iter().map(|(_, message, ..)| message).collect();
            let error = py.import("symm.errors")?.getattr("CompileError")?.call1((messages.join("\n"), file, line))?;
            Err(PyErr::from_value(error))
        }
    }
}

fn tuple(note: symm_triton::Note) -> Note {
    (note.severity, note.message, note.file, note.line)
}

/// What kernels are linked with to reach far ranks; `python/symm/_symm.pyi` says how.
#[pyfunction]
fn far_library<'py>(py: Python<'py>, nvshmem: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyBytes>> {
    let nvshmem = nvshmem.as_bytes();
    let made = py.detach(|| symm_far::library(nvshmem));
    made.map(|made| PyBytes::new(py, &made)).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Whether a library that was kept is one still.
#[pyfunction]
fn far_is_whole(library: &Bound<'_, PyBytes>) -> bool {
    symm_far::is_whole(library.as_bytes())
}

/// Whether the environment has NVSHMEM send from the GPU.
#[pyfunction]
fn far_sends_from_gpu() -> bool {
    symm_far::sends_from_gpu()
}

/// How many programs of a kernel may use the device barrier.
#[pyfunction]
fn max_barrier_blocks(num_ranks: u32) -> u64 {
    heap::max_barrier_blocks(num_ranks)
}

/// The words of a deadline's record by their names, and how many there are.
fn deadline_record(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let record = PyDict::new(py);
    let words = [
        ("limit", deadline::LIMIT_WORD),
        ("state", deadline::STATE_WORD),
        ("tag", deadline::TAG_WORD),
        ("address", deadline::ADDRESS_WORD),
        ("expected", deadline::EXPECTED_WORD),
        ("seen", deadline::SEEN_WORD),
        ("host", deadline::HOST_WORD),
        ("base", deadline::BASE_WORD),
        ("words", deadline::WORDS),
        ("rank_shift", deadline::RANK_SHIFT as usize),
        ("program", deadline::PROGRAM_WORD),
        ("tensors", deadline::TENSORS_WORD),
        ("log", deadline::LOG_WORD),
        ("log_entries", deadline::LOG_ENTRIES),
        ("entry_words", deadline::ENTRY_WORDS),
        ("logged_words", deadline::LOGGED_WORDS),
    ];
    for (name, number) in words {
        record.set_item(name, number)?;
    }
    Ok(record)
}

/// The states of a deadline's record, a limit that never ends, and the address of no place, by their names.
fn deadline_numbers(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    [
        ("good", deadline::GOOD),
        ("broken", deadline::BROKEN),
        ("told", deadline::TOLD),
        ("for_ever", deadline::FOR_EVER),
        ("nowhere", deadline::NOWHERE),
    ]
    .into_py_dict(py)
}

/// The words of a trace buffer and of its records by their names.
fn trace_record(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let record = PyDict::new(py);
    let words = [
        ("asked", trace::ASKED),
        ("room", trace::ROOM),
        ("tag", trace::PLACE),
        ("begin", trace::BEGIN),
        ("end", trace::END),
        ("values", trace::VALUES),
        ("table", trace::TABLE),
        ("program", trace::PROGRAM),
        ("words", trace::RECORD_WORDS),
    ];
    for (name, number) in words {
        record.set_item(name, number)?;
    }
    Ok(record)
}

/// For each op, by its name in carriers, the operands that point to what it writes.
fn written(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let written = PyDict::new(py);
    for name in SymmOp::NAMES.iter().filter_map(|name| name.strip_prefix("symm.")) {
        let operands = SymmOp::definition(name).map_or(&[][..], |definition| definition.written);
        written.set_item(name, operands)?;
    }
    Ok(written)
}

/// The compiler of the package `symm`.
#[pymodule]
fn _symm(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("MAX_RANKS", heap::MAX_RANKS)?;
    module.add("NVSHMEM", far::NVSHMEM)?;
    module.add("TABLE_REACH", table::REACH)?;
    module.add("TABLE_HEADER_WORDS", table::HEADER_WORDS)?;
    module.add("RESERVED_BYTES", heap::RESERVED_BYTES)?;
    module.add("TABLE_OFFSET", heap::TABLE_OFFSET)?;
    module.add("PRIVATE_HEAPS", check::PRIVATE_HEAPS)?;
    module.add("BARRIERS", check::BARRIERS)?;
    module.add("CHECK_KINDS", check::kinds(module.py())?)?;
    module.add("DEADLINE_OFFSET", heap::DEADLINE_OFFSET)?;
    module.add("DEADLINE_RECORD", deadline_record(module.py())?)?;
    module.add("DEADLINE_NUMBERS", deadline_numbers(module.py())?)?;
    module.add("TRACE_OFFSET", heap::TRACE_OFFSET)?;
    module.add("TRACE_RECORD", trace_record(module.py())?)?;
    module.add("PACKET_LINE_BYTES", packet::LINE_BYTES)?;
    module.add("PACKET_EPOCHS", packet::EPOCHS)?;
    module.add("WRITTEN", written(module.py())?)?;
    module.add_function(wrap_pyfunction!(max_barrier_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(lower_triton, module)?)?;
    module.add_function(wrap_pyfunction!(far_library, module)?)?;
    module.add_function(wrap_pyfunction!(far_is_whole, module)?)?;
    module.add_function(wrap_pyfunction!(far_sends_from_gpu, module)?)?;
    module.add_function(wrap_pyfunction!(rank::join_run, module)?)?;
    module.add_function(wrap_pyfunction!(rank::decline_run, module)?)?;
    module.add_function(wrap_pyfunction!(interrupt::on_look, module)?)?;
    module.add_class::<rank::JoinedRank>()?;
    module.add_class::<rank::Heaps>()?;
    module.add_function(wrap_pyfunction!(interpreter::atomic_rmw, module)?)?;
    module.add_function(wrap_pyfunction!(interpreter::atomic_cas, module)?)?;
    module.add_function(wrap_pyfunction!(interpreter::set_flag, module)?)?;
    module.add_function(wrap_pyfunction!(interpreter::await_flag, module)?)?;
    module.add_function(wrap_pyfunction!(interpreter::full_fence, module)?)?;
    module.add_function(wrap_pyfunction!(interpreter::packet::put_packets, module)?)?;
    module.add_function(wrap_pyfunction!(interpreter::packet::await_packets, module)?)?;
    module.add_function(wrap_pyfunction!(interpreter::packet::try_packets, module)?)?;
    module.add_function(wrap_pyfunction!(interpreter::floats::sent_floats, module)?)?;
    module.add_function(wrap_pyfunction!(interpreter::floats::put_floats, module)?)?;
    module.add_function(wrap_pyfunction!(interpreter::floats::await_floats, module)?)?;
    module.add_function(wrap_pyfunction!(interpreter::floats::try_floats, module)?)?;
    module.add_function(wrap_pyfunction!(check::check_program, module)?)?;
    module.add_function(wrap_pyfunction!(check::check_page, module)?)?;
    remote::add(module)
}
