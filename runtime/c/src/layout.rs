//! symm.h against this code: its numbers, and where the fields of its structs lie.

use std::fmt::Write as _;
use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

use symm_runtime::{Coords, DEFAULT_ALIGN, DEFAULT_HEAP_SIZE, HEAP_ALIGN, RESERVED_BYTES};

use crate::Status;
use crate::kernel::CGrid;
use crate::rank::{CPU, CUDA, HIP, Options, RankInfo};

/// What C has to find true of a struct.
macro_rules! same {
    ($assertions:ident, $c:literal, $rust:ty, $($field:ident)*) => {
        claim(&mut $assertions, &format!("sizeof({})", $c), size_of::<$rust>());
        $(
            let field = stringify!($field);
            claim(&mut $assertions, &format!("offsetof({}, {field})", $c), offset_of!($rust, $field));
            // A field that is too wide may lie in what is padding here.
            let size = size_of_field(|whole: &$rust| &whole.$field);
            claim(&mut $assertions, &format!("sizeof((({} *)0)->{field})", $c), size);
        )*
    };
}

fn size_of_field<T, F>(_: impl Fn(&T) -> &F) -> usize {
    size_of::<F>()
}

fn claim(assertions: &mut String, what: &str, value: usize) {
    writeln!(assertions, "_Static_assert({what} == {value}, \"{what} is {value} in Rust\");").unwrap();
}

#[test]
fn structs_and_numbers_are_the_same_in_c() {
    let mut assertions = "#include \"symm.h\"\n".to_owned();
    same!(assertions, "symm_options", Options,
        driver heap_size timeout deadline fingerprint fingerprint_bytes helpers_signal);
    same!(assertions, "symm_rank_info", RankInfo, rank num_ranks heap_size heap_bases ctx device_ctx);
    same!(assertions, "symm_grid", CGrid, blocks threads shared_bytes waits barrier);
    same!(assertions, "symm_coords", Coords, block grid);
    for (name, status) in [
        ("SYMM_OK", Status::Ok),
        ("SYMM_INVALID", Status::Invalid),
        ("SYMM_OUT_OF_MEMORY", Status::OutOfMemory),
        ("SYMM_MISMATCH", Status::Mismatch),
        ("SYMM_STOPPED", Status::Stopped),
        ("SYMM_BOOTSTRAP", Status::Bootstrap),
        ("SYMM_DEVICE", Status::Device),
        ("SYMM_FAULT", Status::Fault),
        ("SYMM_UNSUPPORTED", Status::Unsupported),
        ("SYMM_INTERNAL", Status::Internal),
    ] {
        claim(&mut assertions, name, status as usize);
    }
    for (name, driver) in [("SYMM_CPU", CPU), ("SYMM_CUDA", CUDA), ("SYMM_HIP", HIP)] {
        claim(&mut assertions, name, driver as usize);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("layout.c");
    std::fs::write(&file, assertions).unwrap();
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../include");
    let mut command = Command::new("cc");
    let checked =
        command.args(["-std=c11", "-fsyntax-only", "-I"]).arg(headers).arg(&file).status().expect("a C compiler");
    assert!(checked.success(), "symm.h and this code differ");
}

#[test]
fn sizes_are_what_the_header_says() {
    let header = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../include/symm.h")).unwrap();
    let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
    let (reserved, default) = (mib(RESERVED_BYTES), mib(DEFAULT_HEAP_SIZE));
    let heap = format!("bytes of each rank's heap, {reserved} of which are symm's; 0: {default} */");
    let align = format!("`align`: a power of two up to {}, or 0 for {DEFAULT_ALIGN}.", mib(HEAP_ALIGN));
    for part in [heap, align] {
        assert!(header.contains(&part), "symm.h does not say: {part}");
    }
}
