//! Compiles the adapter that lets MLIR's pass manager run passes written in Rust, and the list of MLIR's own passes.

fn main() {
    symm_cpp_build::compiler().files(["cpp/passes.cpp", "cpp/upstream.cpp"]).compile("symm_passes");
}
