//! Compiles the call of `MlirLspServerMain`.

fn main() {
    symm_cpp_build::compiler().file("cpp/main.cpp").compile("symm_lsp_server");
}
