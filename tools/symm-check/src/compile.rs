//! From a program's file to its host function in this process, whose accesses call the checker.

use crate::options::Options;
use std::cell::RefCell;
use std::io::Write as _;
use std::rc::Rc;
use symm_checker_native::{HEAP, Host, symbols};
use symm_codegen::{Frontend, Jit, Level, Signature, Source, declared, ensure_defined, translate};
use symm_dialect::{HeapLayout, set_heap_layout};
use symm_run::call::{Entry, Prepared};

/// Compiles and loads the program; with what the compiler remarks of it.
pub fn program(options: &Options) -> anyhow::Result<(Host, Vec<String>)> {
    let source = Source::new(&options.file)?;
    let remarks = Rc::new(RefCell::new(Vec::new()));
    let frontend = Frontend::with_diagnostics({
        let remarks = Rc::clone(&remarks);
        move |_, text| {
            if text.contains(": remark: ") {
                remarks.borrow_mut().push(text.to_owned());
            } else {
                drop(std::io::stderr().write_all(text.as_bytes()));
            }
        }
    });
    let guard = symm_tool::crash::guard("symm-check");
    guard.reads_bytes(&source.bytes());
    let mut module = source.parse(&frontend)?;
    let signature = Signature::of(&module, &options.host.entry)?;
    // Kernels may see the heap's size, and it is that of its addresses here.
    let layout = HeapLayout { num_ranks: options.ranks, heap_size: HEAP, heap_stride: Some(HEAP) };
    set_heap_layout(&mut module, layout);
    let pipeline = format!("symm-check{{strict={} as-written={}}}", options.strict, options.as_written);
    frontend.run_pipeline(&mut module, &pipeline)?;
    let llvm = translate(&module)?;
    let entry = Entry::symbol(&options.host.entry);
    llvm.keep_only(&entry);
    // Calls of the checker take the time, and not what is between them.
    llvm.optimize(Level::O1)?;
    let symbols = symbols();
    ensure_defined(&llvm, &symbols).map_err(|error| declared(error, &module))?;
    let object = llvm.object(llvm.affordable(Level::O1))?;
    let entry = Entry::new(Jit::load(&object, &symbols)?, &entry)?;
    let prepared = Rc::new(Prepared::new(entry, signature, &options.host.inputs, &[], &options.host.args, None)?);
    let host: Host = Box::new(move |ctx| {
        let (prepared, slots) = (Rc::clone(&prepared), prepared.slots(ctx));
        Box::new(move || prepared.enter(&slots))
    });
    Ok((host, remarks.take()))
}
