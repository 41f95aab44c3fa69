//! Changes to the file system that are not modelled: reported, and refused with the error of a missing permission. A
//! call that would fail anyway fails with its own error.

use core::ffi::{c_char, c_int};

use libc::{gid_t, mode_t, timespec, timeval, uid_t};

use super::open::{self, File};
use super::{fail, kernel, result, unmodelled};
use crate::sys::sys;

/// Defines refused functions of these names and parameters.
macro_rules! refuse {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => {
        export! {$(
            #[doc = concat!("`", stringify!($name), "` is refused.")]
            fn $name($($arg: $type),*) -> c_int {
                let _ = ($($arg,)*);
                unmodelled(concat!("calls `", stringify!($name), "`"));
                fail(libc::EPERM) as c_int
            }
        )*}
    };
}

refuse! {
    chown(path: *const c_char, user: uid_t, group: gid_t);
    fchownat(directory: c_int, path: *const c_char, user: uid_t, group: gid_t, flags: c_int);
    lchown(path: *const c_char, user: uid_t, group: gid_t);
    mkfifo(path: *const c_char, mode: mode_t);
    mkfifoat(directory: c_int, path: *const c_char, mode: mode_t);
    mknod(path: *const c_char, mode: mode_t, device: libc::dev_t);
    mknodat(directory: c_int, path: *const c_char, mode: mode_t, device: libc::dev_t);
    utime(path: *const c_char, times: *const libc::utimbuf);
    utimensat(directory: c_int, path: *const c_char, times: *const timespec, flags: c_int);
    utimes(path: *const c_char, times: *const timeval);
}

/// Attributes of a memory file may change; those of a file on disk may not.
fn change_attributes(fd: c_int, what: &str, change: impl FnOnce() -> isize) -> c_int {
    if let File::Memory(_) = open::get(fd).file {
        return result(change()) as c_int;
    }
    unmodelled(what);
    fail(libc::EPERM) as c_int
}

export! {
    /// Sets permissions.
    fn fchmod(fd: c_int, mode: mode_t) -> c_int {
        change_attributes(fd, "calls `fchmod`", || kernel::fchmod(fd, mode))
    }
    /// Sets the owner.
    fn fchown(fd: c_int, user: uid_t, group: gid_t) -> c_int {
        change_attributes(fd, "calls `fchown`", || kernel::fchown(fd, user, group))
    }
    /// Sets times.
    fn futimens(fd: c_int, times: *const timespec) -> c_int {
        // SAFETY: the kernel reads the two times, or takes the present one for a null pointer.
        change_attributes(fd, "calls `futimens`", || unsafe { sys!(SYS_utimensat, fd, 0, times, 0) })
    }
}
