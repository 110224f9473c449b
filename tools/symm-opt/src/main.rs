//! The executable of `symm-opt`.

#![deny(unsafe_code)]

symm_tool::main!(symm_opt::main(&symm_tool::Call::of_process("symm-opt")));
