//! The executable of `symm-lsp-server`.

#![deny(unsafe_code)]

symm_tool::main!(symm_lsp_server::main(&symm_tool::Call::of_process("symm-lsp-server")));
