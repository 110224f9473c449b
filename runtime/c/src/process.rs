//! What concerns the process, and no rank: the last error, interrupts, the names of calls.

use crate::pointers::text;
use crate::{LAST_ERROR, LATE_ERROR, call};
use std::ffi::{c_char, c_int};
use std::ptr;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicPtr, Ordering};

#[unsafe(no_mangle)]
pub extern "C" fn symm_last_error() -> *const c_char {
    let last = LAST_ERROR.try_with(|last| last.borrow().as_ptr());
    last.unwrap_or_else(|_| LATE_ERROR.lock().unwrap_or_else(PoisonError::into_inner).as_ptr())
}

/// The question that the caller answers, and the way to ask it.
static ASKS: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

type Question = extern "C" fn() -> c_int;

#[unsafe(no_mangle)]
pub extern "C" fn symm_set_interrupt(asked: Option<Question>) {
    ASKS.store(asked.map_or(ptr::null_mut(), |asked| asked as *mut ()), Ordering::Release);
    symm_runtime::set_interrupt(|| {
        let asked = ASKS.load(Ordering::Acquire);
        // SAFETY: what was stored is null or such a function, and `Option` of one is null for none.
        unsafe { std::mem::transmute::<*mut (), Option<Question>>(asked) }.is_some_and(|asked| asked() != 0)
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_set_call_site(site: *const c_char) -> c_int {
    call(|| {
        // SAFETY: null or a string, says the header.
        let site = if site.is_null() { "" } else { unsafe { text(site, "the call site")? } };
        symm_runtime::set_call_site(Some(site));
        Ok(())
    })
}
