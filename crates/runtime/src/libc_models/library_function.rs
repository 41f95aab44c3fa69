//! Functions of the C library that this library defines too and calls.

use core::ffi::{CStr, c_void};

use crate::cell::Global;
use crate::run;
use crate::text::text;

/// The C library's function of a name that is defined here too; `F` is the type of pointers to it.
pub struct LibraryFunction<F> {
    name: &'static CStr,
    found: Global<Option<F>>,
}

impl<F: Copy> LibraryFunction<F> {
    /// The function with this name, which is looked up when it is needed.
    ///
    /// # Safety
    /// `F` is a pointer to functions, of the type that the function has.
    pub const unsafe fn new(name: &'static CStr) -> Self {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        Self { name, found: Global::new(None) }
    }

    /// The function.
    pub fn get(&self) -> F {
        self.found.value().unwrap_or_else(|| self.look_up())
    }

    fn look_up(&self) -> F {
        // SAFETY: the name ends with a zero byte.
        let address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if address.is_null() {
            run::fail(text!("the C library has no function {:?}", self.name).as_str());
        }
        // SAFETY: `address` is that of the function, and `F` is the type of pointers to it, as `new` was promised; the
        // sizes are equal, as it checked.
        let function = unsafe { core::mem::transmute_copy::<*mut c_void, F>(&address) };
        self.found.set(Some(function));
        function
    }
}
