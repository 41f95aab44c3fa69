//! The C++ library's record of exceptions in flight, which is per thread of the operating system.

use core::cell::Cell;

use crate::cell::OneThread;

/// Caught exceptions and the number of uncaught ones: the layout that the C++ ABI fixes.
type Globals = [usize; 2];

/// Where the C++ library keeps it; null without that library.
static AT: OneThread<Cell<*mut Globals>> = OneThread::new(Cell::new(core::ptr::null_mut()));

/// Finds it; there is none in a program without the C++ library.
pub fn locate() {
    // SAFETY: the symbol, if it exists, is this function of the C++ ABI, which returns the address for the calling
    // operating-system thread; there is one.
    unsafe {
        let symbol = libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_get_globals".as_ptr());
        if !symbol.is_null() {
            let get: extern "C" fn() -> *mut Globals = core::mem::transmute(symbol);
            AT.set(get());
        }
    }
}

/// The running thread's.
pub fn save() -> Globals {
    // SAFETY: null, or the C++ library's structure, which lives as long as the process.
    unsafe { AT.get().as_ref().copied().unwrap_or_default() }
}

/// Makes `globals` the running thread's.
pub fn load(globals: Globals) {
    if !AT.get().is_null() {
        // SAFETY: the C++ library's structure, which lives as long as the process; no reference to it is kept.
        unsafe { AT.get().write(globals) };
    }
}
