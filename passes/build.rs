//! Compiles the adapter that lets MLIR's pass manager run passes written in Rust.

#[path = "../dialect/build/cpp.rs"]
mod cpp;

fn main() {
    cpp::compiler().file("cpp/passes.cpp").compile("symm_passes");
}
