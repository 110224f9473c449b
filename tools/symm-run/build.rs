//! Lets libraries that are loaded at run time see where this executable's data ends.
//!
//! Open MPI's OpenSHMEM takes what is mapped below `_end` for the program's static data, which has to be the same on
//! all ranks. It is linked into the program elsewhere; here it would find its own `_end`, and what ranks have mapped
//! below that differs from run to run: `shmem_init` then crashed in one run of five.

fn main() {
    println!("cargo::rustc-link-arg-bins=-Wl,-u,_end,--export-dynamic-symbol=_end");
}
