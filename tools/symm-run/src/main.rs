//! The executable of `symm-run`.

#![deny(unsafe_code)]

symm_tool::main!(symm_run::main(&symm_tool::Call::of_process("symm-run")));
