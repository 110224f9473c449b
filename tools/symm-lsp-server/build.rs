//! Compiles the call of `MlirLspServerMain`.

fn main() {
    println!("cargo:rerun-if-changed=cpp");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    let prefix = std::env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into());
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .flags(["-fno-rtti", "-fno-exceptions"])
        .include(format!("{prefix}/include"))
        .file("cpp/main.cpp")
        .warnings(false)
        .compile("symm_lsp_server");
}
