//! The executable of `symm-check`.

#![deny(unsafe_code)]

symm_tool::main!(symm_check::main(&symm_tool::Call::of_process("symm-check")));
