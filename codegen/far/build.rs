//! Compiles what Triton kernels call for far peers (`far.c`) to LLVM IR for NVIDIA GPUs.

use std::path::PathBuf;
use std::process::Command;

const SOURCE: &str = "far.c";
/// Where LLVM and clang are; `.cargo/config.toml` says.
const PREFIX: &str = "LLVM_SYS_221_PREFIX";

fn main() {
    println!("cargo:rerun-if-changed={SOURCE}");
    println!("cargo:rerun-if-env-changed={PREFIX}");
    let prefix = std::env::var_os(PREFIX).map_or_else(|| "/usr/lib/llvm-22".into(), PathBuf::from);
    let clang = prefix.join("bin/clang");
    let target = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo names it")).join("far.bc");
    let options = "--target=nvptx64-nvidia-cuda -march=sm_70 -Xclang -target-feature -Xclang +ptx60 -O2 -ffreestanding \
                   -fconvergent-functions -Wall -Wextra -Werror -emit-llvm -c";
    let status = Command::new(&clang).args(options.split_whitespace()).arg(SOURCE).arg("-o").arg(target).status();
    match status {
        Ok(status) if status.success() => {}
        Ok(_) => panic!("{} does not compile {SOURCE}", clang.display()),
        Err(error) => panic!("{} cannot be run ({error}): install clang-22, or set {PREFIX}", clang.display()),
    }
}
