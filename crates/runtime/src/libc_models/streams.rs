//! C streams. A stream is the C library's, on a descriptor that was opened here.
//!
//! The library reads and writes such a descriptor by itself, so only files go with it: a stream on a pipe or socket
//! would wait inside the library.

use core::ffi::{c_char, c_int, c_uint, c_void};

use libc::FILE;

use super::open::{self, File};
use super::{fail, paths, result, unmodelled};
use crate::cell::Global;
use crate::sys::sys;
use crate::text::text;

/// A function of the C library that is defined here too.
pub(super) struct Original {
    name: &'static core::ffi::CStr,
    found: Global<*mut c_void>,
}

impl Original {
    pub(super) const fn new(name: &'static core::ffi::CStr) -> Self {
        Self { name, found: Global::new(core::ptr::null_mut()) }
    }
    /// Where it is.
    pub(super) fn get(&self) -> *mut c_void {
        // Safety: one operating-system thread.
        unsafe {
            if (*self.found.get()).is_null() {
                *self.found.get() = libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr());
            }
            *self.found.get()
        }
    }
}

/// The flags of `open` for a mode; `None` if it is not one.
fn flags(mode: &[u8]) -> Option<c_int> {
    // What follows a comma (`ccs=`) is for the library.
    let mode = mode.split(|&c| c == b',').next()?;
    let (&first, rest) = mode.split_first()?;
    let update = rest.contains(&b'+');
    let base = match first {
        b'r' => 0,
        b'w' => libc::O_CREAT | libc::O_TRUNC,
        b'a' => libc::O_CREAT | libc::O_APPEND,
        _ => return None,
    };
    let access = match (first, update) {
        (_, true) => libc::O_RDWR,
        (b'r', false) => libc::O_RDONLY,
        (_, false) => libc::O_WRONLY,
    };
    let exclusive = if rest.contains(&b'x') { libc::O_EXCL } else { 0 };
    let cloexec = if rest.contains(&b'e') { libc::O_CLOEXEC } else { 0 };
    Some(base | access | exclusive | cloexec)
}

unsafe fn mode_flags(mode: *const c_char) -> Option<c_int> {
    flags(unsafe { core::ffi::CStr::from_ptr(mode) }.to_bytes())
}

/// The C library's stream on a descriptor of ours.
unsafe fn stream_on(fd: c_int, mode: *const c_char) -> *mut FILE {
    static FDOPEN: Original = Original::new(c"fdopen");
    // Safety: the C library's function.
    unsafe {
        let fdopen: unsafe extern "C" fn(c_int, *const c_char) -> *mut FILE = core::mem::transmute(FDOPEN.get());
        fdopen(fd, mode)
    }
}

export! {
    /// Opens a stream.
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE {
        let Some(flags) = (unsafe { mode_flags(mode) }) else {
            fail(libc::EINVAL);
            return core::ptr::null_mut();
        };
        let fd = result(unsafe { paths::open_at(libc::AT_FDCWD, path, flags, 0o666) });
        if fd < 0 {
            return core::ptr::null_mut();
        }
        unsafe { stream_on(fd as c_int, mode) }
    }
    /// Opens a stream.
    fn fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE {
        unsafe { fopen(path, mode) }
    }
    /// Makes a stream of a descriptor.
    fn fdopen(fd: c_int, mode: *const c_char) -> *mut FILE {
        if let File::Pipe(_) | File::Socket(_) = open::get(fd).file {
            unmodelled("makes a stream of a pipe or socket");
            fail(libc::EINVAL);
            return core::ptr::null_mut();
        }
        unsafe { stream_on(fd, mode) }
    }
    /// Opens another file as a stream.
    fn freopen(path: *const c_char, mode: *const c_char, stream: *mut FILE) -> *mut FILE {
        static FREOPEN: Original = Original::new(c"freopen");
        type Function = unsafe extern "C" fn(*const c_char, *const c_char, *mut FILE) -> *mut FILE;
        let freopen: Function = unsafe { core::mem::transmute(FREOPEN.get()) };
        if path.is_null() {
            return unsafe { freopen(path, mode, stream) };
        }
        let Some(flags) = (unsafe { mode_flags(mode) }) else {
            fail(libc::EINVAL);
            return core::ptr::null_mut();
        };
        // The library opens what is open here already, by its name under `/proc`.
        let fd = result(unsafe { paths::open_at(libc::AT_FDCWD, path, flags, 0o666) });
        if fd < 0 {
            return core::ptr::null_mut();
        }
        let name = text!("/proc/self/fd/{fd}\0");
        unsafe {
            let reopened = freopen(name.as_str().as_ptr().cast(), mode, stream);
            sys!(SYS_close, fd);
            reopened
        }
    }
    /// Opens another file as a stream.
    fn freopen64(path: *const c_char, mode: *const c_char, stream: *mut FILE) -> *mut FILE {
        unsafe { freopen(path, mode, stream) }
    }
    /// Opens a stream on a file without a name.
    fn tmpfile() -> *mut FILE {
        let flags = libc::O_TMPFILE | libc::O_RDWR;
        let fd = result(unsafe { paths::open_at(libc::AT_FDCWD, c"/".as_ptr(), flags, 0o600) });
        if fd < 0 { core::ptr::null_mut() } else { unsafe { stream_on(fd as c_int, c"w+".as_ptr()) } }
    }
    /// Opens a stream on a file without a name.
    fn tmpfile64() -> *mut FILE {
        unsafe { tmpfile() }
    }
    /// A memory file of the program's own.
    fn memfd_create(name: *const c_char, flags: c_uint) -> c_int {
        let fd = unsafe { sys!(SYS_memfd_create, name, flags) };
        result(open::opened(fd, File::Memory(open::new_content()))) as c_int
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_those_of_c() {
        assert_eq!(flags(b"r"), Some(libc::O_RDONLY));
        assert_eq!(flags(b"rb+"), Some(libc::O_RDWR));
        assert_eq!(flags(b"w"), Some(libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC));
        assert_eq!(flags(b"a+"), Some(libc::O_RDWR | libc::O_CREAT | libc::O_APPEND));
        assert_eq!(flags(b"wx"), Some(libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_EXCL));
        assert_eq!(flags(b"r,ccs=x+"), Some(libc::O_RDONLY));
        assert_eq!((flags(b"q"), flags(b"")), (None, None));
    }
}
