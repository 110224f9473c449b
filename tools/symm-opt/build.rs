//! Compiles the call of `MlirOptMain`.

#[path = "../../dialect/build/cpp.rs"]
mod cpp;

fn main() {
    cpp::compiler().file("cpp/main.cpp").compile("symm_opt");
}
