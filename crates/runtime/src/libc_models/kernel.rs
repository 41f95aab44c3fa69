//! System calls that are safe to make: they touch no memory of the process, or only what a reference stands for.
//!
//! Results are the kernel's: a negative one is an error number.

use core::ffi::{CStr, c_int};

use crate::sys::sys;

/// Defines functions for system calls whose arguments are all numbers.
macro_rules! calls_with_numbers {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),*) = $number:ident;)*) => {$(
        $(#[$meta])*
        pub fn $name($($arg: $type),*) -> isize {
            // SAFETY: all arguments are numbers, so the kernel reads and writes no memory of the process.
            unsafe { sys!($number $(, $arg)*) }
        }
    )*};
}

calls_with_numbers! {
    /// Closes a descriptor.
    fn close(fd: c_int) = SYS_close;
    /// Duplicates a descriptor.
    fn dup(fd: c_int) = SYS_dup;
    /// Duplicates a descriptor under a number.
    fn dup3(fd: c_int, to: c_int, flags: c_int) = SYS_dup3;
    /// Makes a descriptor that waits for others.
    fn epoll_create1(flags: c_int) = SYS_epoll_create1;
    /// Makes an event counter.
    fn eventfd2(value: c_int, flags: c_int) = SYS_eventfd2;
    /// Sets permissions.
    fn fchmod(fd: c_int, mode: libc::mode_t) = SYS_fchmod;
    /// Sets the owner.
    fn fchown(fd: c_int, user: libc::uid_t, group: libc::gid_t) = SYS_fchown;
    /// The user that the process runs for.
    fn user() = SYS_getuid;
    /// That user's group.
    fn group() = SYS_getgid;
    /// Sets the length of a file.
    fn ftruncate(fd: c_int, len: i64) = SYS_ftruncate;
    /// Moves the position.
    fn lseek(fd: c_int, offset: i64, whence: c_int) = SYS_lseek;
    /// Ends directions of a connection.
    fn shutdown(fd: c_int, how: c_int) = SYS_shutdown;
    /// Makes a socket.
    fn socket(domain: c_int, kind: c_int, protocol: c_int) = SYS_socket;
    /// Makes a timer behind a descriptor.
    fn timerfd_create(clock: c_int, flags: c_int) = SYS_timerfd_create;
    /// Sets the mask of permissions that new files do not get.
    fn set_umask(mask: libc::mode_t) = SYS_umask;
}

/// Whether a descriptor is open.
pub fn is_open(fd: c_int) -> bool {
    // SAFETY: `F_GETFD` takes no third argument, so the kernel touches no memory of the process.
    unsafe { sys!(SYS_fcntl, fd, libc::F_GETFD) >= 0 }
}

/// The flags of an open file (`O_NONBLOCK` and others); `None` if the descriptor is not open.
pub fn status_flags(fd: c_int) -> Option<c_int> {
    // SAFETY: `F_GETFL` takes no third argument, so the kernel touches no memory of the process.
    let flags = unsafe { sys!(SYS_fcntl, fd, libc::F_GETFL) };
    (flags >= 0).then_some(flags as c_int)
}

/// Makes a memory file.
pub fn memfd_create(name: &CStr, flags: u32) -> isize {
    // SAFETY: the kernel reads the name, which ends with a zero byte.
    unsafe { sys!(SYS_memfd_create, name.as_ptr(), flags) }
}

/// Opens a file that exists, below a directory.
pub fn openat(directory: c_int, path: &CStr, flags: c_int) -> isize {
    // SAFETY: the kernel reads the path, which ends with a zero byte.
    unsafe { sys!(SYS_openat, directory, path.as_ptr(), flags) }
}

/// Asks whether a file may be used; 0 if so.
pub fn faccessat(directory: c_int, path: &CStr, mode: c_int) -> isize {
    // SAFETY: the kernel reads the path, which ends with a zero byte.
    unsafe { sys!(SYS_faccessat, directory, path.as_ptr(), mode) }
}

/// What a symbolic link points to; the number of bytes stored.
pub fn readlink(path: &CStr, to: &mut [u8]) -> isize {
    // SAFETY: the kernel reads the path, which ends with a zero byte, and writes at most `to.len()` bytes to `to`.
    unsafe { sys!(SYS_readlinkat, libc::AT_FDCWD, path.as_ptr(), to.as_mut_ptr(), to.len()) }
}

/// Reads at an offset; the number of bytes read.
pub fn pread(fd: c_int, to: &mut [u8], offset: i64) -> isize {
    // SAFETY: the kernel writes at most `to.len()` bytes to `to`.
    unsafe { sys!(SYS_pread64, fd, to.as_mut_ptr(), to.len(), offset) }
}

/// Writes at an offset; the number of bytes written.
pub fn pwrite(fd: c_int, from: &[u8], offset: i64) -> isize {
    // SAFETY: the kernel reads `from.len()` bytes of `from`.
    unsafe { sys!(SYS_pwrite64, fd, from.as_ptr(), from.len(), offset) }
}

/// The mode of an open file: its type and permissions.
///
/// # Errors
/// The error number.
pub fn mode(fd: c_int) -> Result<libc::mode_t, c_int> {
    stat(fd).map(|stat| stat.st_mode)
}

/// Times of the last access and the last change of a file, in seconds and nanoseconds each.
pub type Times = [[i64; 2]; 2];

fn stat(fd: c_int) -> Result<libc::stat, c_int> {
    // SAFETY: `stat` is a structure of numbers, for which zero is a value.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: the kernel writes one `stat`, which lives over the call.
    let answer = unsafe { sys!(SYS_fstat, fd, &raw mut stat) };
    if answer < 0 { Err(-answer as c_int) } else { Ok(stat) }
}

/// The length of an open file.
///
/// # Errors
/// The error number.
pub fn length(fd: c_int) -> Result<i64, c_int> {
    stat(fd).map(|stat| stat.st_size)
}

/// Mode and times of an open file.
///
/// # Errors
/// The error number.
pub fn attributes(fd: c_int) -> Result<(libc::mode_t, Times), c_int> {
    let stat = stat(fd)?;
    Ok((stat.st_mode, [[stat.st_atime, stat.st_atime_nsec], [stat.st_mtime, stat.st_mtime_nsec]]))
}

/// Sets the times of an open file.
pub fn set_times(fd: c_int, times: &Times) -> isize {
    // SAFETY: the kernel reads two times of two numbers of eight bytes each.
    unsafe { sys!(SYS_utimensat, fd, 0, times.as_ptr(), 0) }
}

/// Gives the name and type of each entry of an open directory, but of the directory itself and the one above it.
///
/// # Errors
/// The error number.
pub fn for_each_entry(directory: c_int, mut give: impl FnMut(&CStr, u8)) -> Result<(), c_int> {
    /// Where the length of an entry, its type and its name are.
    const LEN: usize = 16;
    const KIND: usize = 18;
    const NAME: usize = 19;
    let mut buffer = [0u8; 1 << 12];
    loop {
        // SAFETY: the kernel writes at most `buffer.len()` bytes to `buffer`.
        let filled = unsafe { sys!(SYS_getdents64, directory, buffer.as_mut_ptr(), buffer.len()) };
        if filled <= 0 {
            return if filled < 0 { Err(-filled as c_int) } else { Ok(()) };
        }
        let mut entries = &buffer[..filled as usize];
        while entries.len() > NAME {
            let len = usize::from(u16::from_le_bytes([entries[LEN], entries[LEN + 1]]));
            let (entry, rest) = entries.split_at_checked(len).unwrap_or((entries, &[]));
            if let Ok(name) = CStr::from_bytes_until_nul(&entry[NAME..])
                && ![c".", c".."].contains(&name)
            {
                give(name, entry[KIND]);
            }
            entries = rest;
        }
    }
}

/// Fills in what `poll` says about a descriptor now, without waiting.
pub fn poll_now(entry: &mut libc::pollfd) {
    let no_wait = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes the one entry and reads the time limit; both live over the call.
    unsafe { sys!(SYS_ppoll, core::ptr::from_mut(entry), 1, &raw const no_wait, 0, 0) };
}

/// A descriptor that is closed when it goes out of scope.
#[derive(Debug)]
pub struct OwnedFd(c_int);

impl OwnedFd {
    /// Takes over a descriptor that was opened.
    pub fn new(fd: isize) -> Self {
        Self(fd as c_int)
    }
    /// Opens a file that exists, below a directory.
    ///
    /// # Errors
    /// The error number.
    pub fn open(directory: c_int, path: &CStr, flags: c_int) -> Result<Self, c_int> {
        let fd = openat(directory, path, flags | libc::O_CLOEXEC);
        if fd < 0 { Err(-fd as c_int) } else { Ok(Self(fd as c_int)) }
    }
    /// Its number.
    pub fn number(&self) -> c_int {
        self.0
    }
}

impl Drop for OwnedFd {
    fn drop(&mut self) {
        close(self.0);
    }
}
