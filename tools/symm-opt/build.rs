//! Compiles the call of `MlirOptMain`.

fn main() {
    symm_cpp_build::compiler().file("cpp/main.cpp").compile("symm_opt");
}
