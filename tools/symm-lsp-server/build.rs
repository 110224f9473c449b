//! Compiles the call of `MlirLspServerMain`.

#[path = "../../dialect/build/cpp.rs"]
mod cpp;

fn main() {
    cpp::compiler().file("cpp/main.cpp").compile("symm_lsp_server");
}
