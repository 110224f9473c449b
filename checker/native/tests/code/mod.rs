//! What compiled code does: calls by address, with texts for places.

use std::ffi::{CStr, c_char, c_void};
use symm_abi::check::{Order, Scope};
use symm_abi::kernel::KernelFn;
use symm_checker_native::{Host, symbols};

/// The arguments of a kernel that passes a message.
pub struct Message {
    pub ctx: *const i64,
    pub mail: *mut u8,
    pub flag: *mut u8,
    pub order: Order,
    pub scope: Scope,
}

impl Message {
    /// One that has nothing but a flag.
    pub fn to(ctx: *const i64, flag: *mut u8) -> Self {
        Self { ctx, mail: flag, flag, order: Order::Release, scope: Scope::Sys }
    }

    /// An address of this rank's heap in another one's.
    pub fn there(&self, other: u32, address: *mut u8) -> *mut u8 {
        let base = |rank: u32| word(self.ctx, 2 + rank as usize);
        address.wrapping_offset(isize::try_from(base(other) - base(rank(self.ctx))).unwrap())
    }
}

fn word(ctx: *const i64, at: usize) -> i64 {
    // SAFETY: a context table.
    unsafe { ctx.add(at).read() }
}

/// The rank of a context.
pub fn rank(ctx: *const i64) -> u32 {
    u32::try_from(word(ctx, 0)).unwrap()
}

/// The number of ranks.
pub fn ranks(ctx: *const i64) -> u32 {
    u32::try_from(word(ctx, 1)).unwrap()
}

/// A host function.
pub fn host(body: impl Fn(*const i64) + Clone + 'static) -> Host {
    Box::new(move |ctx| {
        let body = body.clone();
        Box::new(move || body(ctx))
    })
}

/// The first argument of a kernel.
///
/// # Safety
/// It is launched with one of this type.
pub unsafe fn at<'a, T>(args: *const *const c_void) -> &'a T {
    // SAFETY: the caller's promise.
    unsafe { &*args.read().cast() }
}

/// A function by its name.
fn function<F: Copy>(name: &str) -> F {
    let found = symbols().into_iter().find(|(known, _)| *known == name).unwrap();
    assert_eq!(size_of::<F>(), size_of::<usize>());
    // SAFETY: callers name its type, which symm_abi has.
    unsafe { std::mem::transmute_copy(&found.1) }
}

/// Calls a function with these arguments.
macro_rules! call {
    ($name:literal ($($argument:expr => $ty:ty),*) $(-> $result:ty)?) => {{
        let code: unsafe extern "C" fn($($ty),*) $(-> $result)? = super::function($name);
        // SAFETY: arguments as the function takes them.
        unsafe { code($($argument),*) }
    }};
}

pub mod rt {
    use super::{CStr, KernelFn, c_char, c_void};

    pub fn alloc(ctx: *const i64, bytes: u64, loc: &'static CStr) -> *mut u8 {
        call!("symm_rt_alloc"(ctx => *const i64, bytes => u64, 0 => u64, loc.as_ptr() => *const c_char) -> *mut u8)
    }

    pub fn free(ctx: *const i64, memory: *mut u8, loc: &'static CStr) {
        call!("symm_rt_free"(ctx => *const i64, memory => *mut u8, loc.as_ptr() => *const c_char));
    }

    pub fn launch<T>(kernel: KernelFn, grid: [i64; 3], block: [i64; 3], argument: &T) {
        let dims = [grid[0], grid[1], grid[2], block[0], block[1], block[2], 0];
        let args = [(&raw const *argument).cast::<c_void>()];
        call!("symm_rt_launch"(
            std::ptr::null() => *const i64, c"kernel".as_ptr() => *const c_char, Some(kernel) => Option<KernelFn>,
            dims.as_ptr() => *const i64, args.as_ptr() => *const *const c_void, c"v".as_ptr() => *const c_char,
            c"launch".as_ptr() => *const c_char
        ));
    }

    pub fn check_failed(format: &'static CStr, values: &[u64], loc: &'static CStr) {
        let types = if values.is_empty() { c"" } else { c"ii" };
        call!("symm_rt_check_failed"(
            format.as_ptr() => *const c_char, types.as_ptr() => *const c_char, values.as_ptr() => *const u64,
            loc.as_ptr() => *const c_char
        ));
    }
}

pub mod chk {
    use super::{CStr, c_char};
    use symm_abi::check::{Group, Order, Scope, Update};
    use symm_abi::trace::SignalKind;
    use symm_abi::wait::Compare;

    pub fn read(from: *mut u8, loc: &'static CStr) -> u32 {
        let mut into = [0u8; 4];
        call!("symm_chk_read"(
            into.as_mut_ptr() => *mut u8, from => *const u8, 4 => u64, loc.as_ptr() => *const c_char
        ));
        u32::from_le_bytes(into)
    }

    pub fn write(to: *mut u8, bytes: &[u8], loc: &'static CStr) {
        call!("symm_chk_write"(
            to => *mut u8, bytes.as_ptr() => *const u8, bytes.len() as u64 => u64, loc.as_ptr() => *const c_char
        ));
    }

    /// Adds to a word, as compiled code does that reads and then writes it.
    pub fn change(at: *mut u8, by: u32, reads: &'static CStr, writes: &'static CStr) {
        let mut slot = [0u8; 4];
        let place = call!("symm_chk_change"(
            slot.as_mut_ptr() => *mut u8, at => *mut u8, 4 => u64, reads.as_ptr() => *const c_char,
            writes.as_ptr() => *const c_char
        ) -> *mut u8);
        // SAFETY: where the word is, which is written before anything else is called.
        let word = unsafe { &mut *place.cast::<[u8; 4]>() };
        *word = (u32::from_le_bytes(*word) + by).to_le_bytes();
        if place == slot.as_mut_ptr() {
            write(at, &slot, writes);
        }
    }

    pub fn signal(flag: *mut u8, kind: SignalKind, value: u32, order: Order, scope: Scope, loc: &'static CStr) {
        send(flag, kind, value, (order, scope, Group::Thread), loc);
    }

    pub fn group_signal(flag: *mut u8, kind: SignalKind, value: u32, group: Group, loc: &'static CStr) {
        send(flag, kind, value, (Order::Release, Scope::Sys, group), loc);
    }

    fn send(flag: *mut u8, kind: SignalKind, value: u32, how: (Order, Scope, Group), loc: &'static CStr) {
        let value = value.to_le_bytes();
        call!("symm_chk_signal"(
            flag => *mut u8, kind as u32 => u32, value.as_ptr() => *const u8, 4 => u64, how.0 as u32 => u32,
            how.1 as u32 => u32, how.2 as u32 => u32, loc.as_ptr() => *const c_char
        ));
    }

    pub fn wait(flag: *mut u8, how: Compare, value: u32, order: Order, group: Group, loc: &'static CStr) -> bool {
        let value = value.to_le_bytes();
        let seen = call!("symm_chk_wait"(
            flag => *const u8, how as u32 => u32, value.as_ptr() => *const u8, 4 => u64, 0 => u32,
            order as u32 => u32, Scope::Sys as u32 => u32, group as u32 => u32, loc.as_ptr() => *const c_char
        ) -> u32);
        seen == 1
    }

    pub fn barrier(group: Group, loc: &'static CStr) {
        call!("symm_chk_barrier"(group as u32 => u32, loc.as_ptr() => *const c_char));
    }

    pub fn shared(number: u32, bytes: u64, loc: &'static CStr) -> *mut u8 {
        call!("symm_chk_shared"(number => u32, bytes => u64, loc.as_ptr() => *const c_char) -> *mut u8)
    }

    pub fn add(at: *mut u8, by: u32, loc: &'static CStr) {
        let (mut old, by) = ([0u8; 4], by.to_le_bytes());
        call!("symm_chk_update"(
            old.as_mut_ptr() => *mut u8, at => *mut u8, Update::Add as u32 => u32, by.as_ptr() => *const u8, 4 => u64,
            Order::Relaxed as u32 => u32, Scope::Sys as u32 => u32, loc.as_ptr() => *const c_char
        ));
    }
}
