//! Changes to the file system that are not modelled: reported, and refused as if they were not permitted. What would
//! fail anyway fails as it would.

use core::ffi::{c_char, c_int};

use libc::{gid_t, mode_t, timespec, timeval, uid_t};

use super::open::{self, File};
use super::streams::Original;
use super::{fail, paths, result, unmodelled};
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
    chmod(path: *const c_char, mode: mode_t);
    chown(path: *const c_char, user: uid_t, group: gid_t);
    fchmodat(directory: c_int, path: *const c_char, mode: mode_t, flags: c_int);
    fchownat(directory: c_int, path: *const c_char, user: uid_t, group: gid_t, flags: c_int);
    lchown(path: *const c_char, user: uid_t, group: gid_t);
    link(from: *const c_char, to: *const c_char);
    linkat(from_dir: c_int, from: *const c_char, to_dir: c_int, to: *const c_char, flags: c_int);
    mkfifo(path: *const c_char, mode: mode_t);
    mkfifoat(directory: c_int, path: *const c_char, mode: mode_t);
    mknod(path: *const c_char, mode: mode_t, device: libc::dev_t);
    mknodat(directory: c_int, path: *const c_char, mode: mode_t, device: libc::dev_t);
    rmdir(path: *const c_char);
    symlink(from: *const c_char, to: *const c_char);
    symlinkat(from: *const c_char, directory: c_int, to: *const c_char);
    utime(path: *const c_char, times: *const libc::utimbuf);
    utimensat(directory: c_int, path: *const c_char, times: *const timespec, flags: c_int);
    utimes(path: *const c_char, times: *const timeval);
}

/// A directory that is there already cannot be made; another is refused.
fn make_directory(directory: c_int, path: *const c_char, what: &str) -> c_int {
    // Safety: the program's own argument.
    if unsafe { sys!(SYS_faccessat, directory, path, libc::F_OK) } == 0 {
        return fail(libc::EEXIST) as c_int;
    }
    unmodelled(what);
    fail(libc::EPERM) as c_int
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
    /// Makes a directory.
    fn mkdir(path: *const c_char, _mode: mode_t) -> c_int {
        make_directory(libc::AT_FDCWD, path, "calls `mkdir`")
    }
    /// Makes a directory.
    fn mkdirat(directory: c_int, path: *const c_char, _mode: mode_t) -> c_int {
        make_directory(directory, path, "calls `mkdirat`")
    }
    /// Makes a directory with a new name.
    fn mkdtemp(_template: *mut c_char) -> *mut c_char {
        unmodelled("calls `mkdtemp`");
        fail(libc::EPERM);
        core::ptr::null_mut()
    }
    /// Sets permissions.
    fn fchmod(fd: c_int, mode: mode_t) -> c_int {
        change_attributes(fd, "calls `fchmod`", || unsafe { sys!(SYS_fchmod, fd, mode) })
    }
    /// Sets the owner.
    fn fchown(fd: c_int, user: uid_t, group: gid_t) -> c_int {
        change_attributes(fd, "calls `fchown`", || unsafe { sys!(SYS_fchown, fd, user, group) })
    }
    /// Sets times.
    fn futimens(fd: c_int, times: *const timespec) -> c_int {
        change_attributes(fd, "calls `futimens`", || unsafe { sys!(SYS_utimensat, fd, 0, times, 0) })
    }
    /// Lists a directory: as it is on disk.
    fn opendir(path: *const c_char) -> *mut libc::DIR {
        static OPENDIR: Original = Original::new(c"opendir");
        if paths::changed() {
            unmodelled("lists a directory after it changed files");
        }
        // Safety: the C library's function.
        unsafe {
            let opendir: unsafe extern "C" fn(*const c_char) -> *mut libc::DIR = core::mem::transmute(OPENDIR.get());
            opendir(path)
        }
    }
}
