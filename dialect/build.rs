//! Runs `mlir-tblgen` on `td/`, compiles the registration in `cpp/`, and writes the Rust views of the ops.

/// Writes lines of Rust.
macro_rules! write_lines {
    ($out:expr, $($line:literal),+ $(,)?) => {
        $(writeln!($out, $line).unwrap();)+
    };
}

#[path = "build/builders.rs"]
mod builders;
#[path = "build/facts.rs"]
mod facts;
#[path = "build/families.rs"]
mod families;
#[path = "build/unions.rs"]
mod unions;
#[path = "build/views.rs"]
mod views;

use std::{env, fs, path::PathBuf, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=td");
    let prefix = symm_cpp_build::prefix();
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    let td = manifest.join("td");
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let tablegen = |tool: &str, actions: &[&str], file: &str| {
        let status = Command::new(format!("{prefix}/bin/{tool}"))
            .args(actions)
            .args(["-I", &format!("{prefix}/include"), "-I"])
            .arg(&td)
            .arg(td.join("Symm.td"))
            .arg("-o")
            .arg(out.join(file))
            .status()
            .unwrap_or_else(|error| {
                panic!(
                    "{prefix}/bin/{tool} does not run ({error}): install MLIR 22 or set MLIR_SYS_220_PREFIX to its \
                        prefix"
                )
            });
        assert!(status.success(), "{tool} {} failed on td/Symm.td", actions.join(" "));
    };
    for (action, file) in [
        ("-gen-dialect-decls", "SymmDialect.h.inc"),
        ("-gen-dialect-defs", "SymmDialect.cpp.inc"),
        ("-gen-typedef-decls", "SymmTypes.h.inc"),
        ("-gen-typedef-defs", "SymmTypes.cpp.inc"),
        ("-gen-op-decls", "SymmOps.h.inc"),
        ("-gen-op-defs", "SymmOps.cpp.inc"),
    ] {
        tablegen("mlir-tblgen", &[action, "-dialect=symm"], file);
    }
    tablegen("mlir-tblgen", &["-gen-enum-decls"], "SymmEnums.h.inc");
    tablegen("mlir-tblgen", &["-gen-enum-defs"], "SymmEnums.cpp.inc");
    tablegen("llvm-tblgen", &["--dump-json"], "symm.json");

    let records = serde_json::from_str(&fs::read_to_string(out.join("symm.json")).unwrap()).unwrap();
    fs::write(out.join("views.rs"), views::generate(&records)).unwrap();

    symm_cpp_build::compiler().include(&out).file("cpp/Symm.cpp").compile("symm_dialect");
}
