//! The executable of `symm-opt`.

symm_tool::main!(symm_opt::main(&symm_tool::Call::of_process("symm-opt")));
