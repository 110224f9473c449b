//! How C++ is compiled against MLIR, for the build scripts of all crates that hold some.

#![forbid(unsafe_code)]

/// The folder in which MLIR 22 is installed.
#[must_use]
pub fn prefix() -> String {
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    std::env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into())
}

/// A compiler for what lies in `cpp/`, with MLIR's headers, and without what LLVM is built without.
#[must_use]
pub fn compiler() -> cc::Build {
    println!("cargo:rerun-if-changed=cpp");
    let mut compiler = cc::Build::new();
    compiler
        .cpp(true)
        .std("c++17")
        .flags(["-fno-rtti", "-fno-exceptions"])
        .include(format!("{}/include", prefix()))
        .warnings(false);
    compiler
}
