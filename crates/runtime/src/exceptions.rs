//! The C++ library's record of exceptions in flight, which is per thread of the operating system.

use crate::cell::Global;

/// Caught exceptions and the number of uncaught ones: the layout that the C++ ABI fixes.
type Globals = [usize; 2];

static AT: Global<*mut Globals> = Global::new(core::ptr::null_mut());

/// Finds it; there is none in a program without the C++ library.
pub fn locate() {
    // Safety: the symbol, if it exists, is this function of the C++ ABI.
    unsafe {
        let symbol = libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_get_globals".as_ptr());
        if !symbol.is_null() {
            let get: extern "C" fn() -> *mut Globals = core::mem::transmute(symbol);
            *AT.get() = get();
        }
    }
}

/// The running thread's.
pub fn save() -> Globals {
    // Safety: null or the C++ library's.
    unsafe { (*AT.get()).as_ref().copied().unwrap_or_default() }
}

/// Makes `globals` the running thread's.
pub fn load(globals: Globals) {
    // Safety: null or the C++ library's.
    if let Some(at) = unsafe { (*AT.get()).as_mut() } {
        *at = globals;
    }
}
