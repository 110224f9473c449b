//! The functions of the runtime that compiled code calls: one table, from which the passes declare and the runtime
//! defines them.
//!
//! In all of them `ctx` is a pointer to the calling rank's context table and `loc` a NUL-terminated `file:line:col`.
//! The thread identifies the calling rank and block, so `ctx` is not read. Texts end with a zero byte.

use crate::kernel::KernelFn;
use std::ffi::{c_char, c_void};

/// The machine type of a parameter or a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// An integer of 32 bits.
    I32,
    /// An integer of 64 bits.
    I64,
    /// An address.
    Pointer,
}

/// A function's name, and its type as compiled code has to declare it.
#[derive(Debug, Clone, Copy)]
pub struct Function<const PARAMETERS: usize, const RESULTS: usize> {
    /// The symbol.
    pub name: &'static str,
    /// The types of its parameters.
    pub parameters: [Type; PARAMETERS],
    /// The type of its result, if it has one.
    pub results: [Type; RESULTS],
}

/// The machine types of Rust's types.
pub(crate) trait Machine {
    const TYPE: Type;
}

impl Machine for i32 {
    const TYPE: Type = Type::I32;
}
impl Machine for u32 {
    const TYPE: Type = Type::I32;
}
impl Machine for u64 {
    const TYPE: Type = Type::I64;
}
impl<T> Machine for *const T {
    const TYPE: Type = Type::Pointer;
}
impl<T> Machine for *mut T {
    const TYPE: Type = Type::Pointer;
}
impl Machine for Option<KernelFn> {
    const TYPE: Type = Type::Pointer;
}

macro_rules! functions {
    ($($(#[$doc:meta])* $constant:ident = $name:ident($($parameter:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        $(
            $(#[$doc])*
            pub const $constant: Function<
                { <[&str]>::len(&[$(stringify!($parameter)),*]) },
                { <[&str]>::len(&[$(stringify!($result))?]) },
            > = Function {
                name: stringify!($name),
                parameters: [$(<$type as Machine>::TYPE),*],
                results: [$(<$result as Machine>::TYPE)?],
            };
        )*

        /// A definition of every function, of exactly its type.
        #[derive(Debug, Clone, Copy)]
        pub struct Definitions {
            $($(#[$doc])* pub $name: unsafe extern "C" fn($($parameter: $type),*) $(-> $result)?,)*
        }

        impl Definitions {
            /// The name and the address of every function, for linking compiled code.
            #[must_use]
            pub fn symbols(&self) -> Vec<(&'static str, usize)> {
                vec![$((stringify!($name), self.$name as *const () as usize)),*]
            }
        }
    };
}
pub(crate) use functions;

functions! {
    /// Allocates `bytes` zeroed bytes of the symmetric heap, at the same offset on every rank. Collective.
    ///
    /// `align` is in bytes; 0 means 256.
    ALLOC = symm_rt_alloc(ctx: *const i64, bytes: u64, align: u64, loc: *const c_char) -> *mut u8;

    /// Frees what [`ALLOC`] returned. Collective.
    FREE = symm_rt_free(ctx: *const i64, ptr: *mut u8, loc: *const c_char);

    /// Waits on the host for all ranks. A rank's launches are complete when it arrives: launches return when they are.
    BARRIER_ALL = symm_rt_barrier_all(ctx: *const i64, loc: *const c_char);

    /// Copies `bytes` bytes between host memory and a heap.
    COPY = symm_rt_copy(ctx: *const i64, dst: *mut u8, src: *const u8, bytes: u64, loc: *const c_char);

    /// Launches `kernel` on this rank and returns when all of its blocks are done.
    ///
    /// `dims` holds the [numbers of a launch](crate::kernel::LAUNCH_DIMS); on the CPU the bytes of shared memory are
    /// the kernel's own. `args` holds one pointer for each argument. `kinds` is the text of
    /// [`Kinds`](crate::kernel::Kinds). A kernel that runs on a GPU has no code here; it is known by its name.
    LAUNCH = symm_rt_launch(
        ctx: *const i64,
        name: *const c_char,
        kernel: Option<KernelFn>,
        dims: *const i64,
        args: *const *const c_void,
        kinds: *const c_char,
        loc: *const c_char
    );

    /// Records that a check in the program failed, with a message as in [`PRINT`]. The program goes on.
    CHECK_FAILED =
        symm_rt_check_failed(fmt: *const c_char, types: *const c_char, args: *const u64, loc: *const c_char);

    /// Ends the run: a check that a safety pass inserted has failed, with a message as in [`PRINT`].
    FAULT = symm_rt_fault(fmt: *const c_char, types: *const c_char, args: *const u64, loc: *const c_char);

    /// Prints a message, each of its lines marked with the rank.
    ///
    /// `fmt` has a `{}` for each value, `types` a [`ValueKind`](crate::site::ValueKind)'s letter.
    PRINT = symm_rt_print(fmt: *const c_char, types: *const c_char, args: *const u64, loc: *const c_char);

    /// Waits until the flag compares with `expected` as `cmp` says, a [`Compare`](crate::wait::Compare)'s number; 0
    /// when `timeout_ns` nanoseconds passed first. No timeout is 0.
    WAIT32 = symm_rt_wait32(
        ctx: *const i64, flag: *const u32, cmp: u32, expected: u32, timeout_ns: u64, loc: *const c_char
    ) -> u32;

    /// [`WAIT32`] for a flag of 64 bits.
    WAIT64 = symm_rt_wait64(
        ctx: *const i64, flag: *const u64, cmp: u32, expected: u64, timeout_ns: u64, loc: *const c_char
    ) -> u32;

    /// Wakes waiters of `flag`; to be called after every signal's write.
    WAKE = symm_rt_wake(flag: *const u8);

    /// Copies `bytes` bytes, either end of which may be on a far rank. They have arrived when it returns (rule N3).
    FAR_COPY = symm_rt_far_copy(ctx: *const i64, dst: *mut u8, src: *const u8, bytes: u64, loc: *const c_char);

    /// Updates a value of `bytes` bytes on a far rank atomically; returns the old value, zero-extended. `kind` is an
    /// [`Update`](crate::far::Update)'s number, `expected` the value that a swap expects.
    FAR_UPDATE = symm_rt_far_update(
        ctx: *const i64, ptr: *mut u8, kind: u32, bytes: u32, value: u64, expected: u64, loc: *const c_char
    ) -> u64;

    /// A transfer begins; `kind` is a [`Transfer`](crate::trace::Transfer)'s number, `remote` an address in the peer's
    /// heap.
    TRACE_BEGIN = symm_rt_trace_begin(
        kind: u32, ctx: *const i64, peer: i32, remote: *const u8, bytes: u64, loc: *const c_char
    );

    /// The transfer that this thread began last has ended.
    TRACE_END = symm_rt_trace_end();

    /// A signal was sent to `flag`, which now has the value `value`; `op` is a
    /// [`SignalKind`](crate::trace::SignalKind)'s number.
    TRACE_SIGNAL = symm_rt_trace_signal(
        ctx: *const i64, peer: i32, flag: *const u8, op: u32, value: u64, loc: *const c_char
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_of_the_machine() {
        let pointer = Type::Pointer;
        assert_eq!((ALLOC.name, ALLOC.results), ("symm_rt_alloc", [pointer]));
        assert_eq!(ALLOC.parameters, [pointer, Type::I64, Type::I64, pointer]);
        assert_eq!(LAUNCH.parameters, [pointer; 7]);
        assert_eq!(WAIT32.parameters, [pointer, pointer, Type::I32, Type::I32, Type::I64, pointer]);
        assert_eq!((TRACE_END.parameters.len(), TRACE_END.results.len()), (0, 0));
    }
}
