//! Compiles the adapter that lets MLIR's pass manager run passes written in Rust.

fn main() {
    symm_cpp_build::compiler().file("cpp/passes.cpp").compile("symm_passes");
}
