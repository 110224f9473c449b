//! The executable of `symm-translate`.

#![deny(unsafe_code)]

symm_tool::main!(symm_translate::main(&symm_tool::Call::of_process("symm-translate")));
