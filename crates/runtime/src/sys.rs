//! System calls made directly: the library functions of the same names are modelled for the program, and their state
//! is put back between runs.

use core::arch::asm;
use core::ffi::{CStr, c_long};

/// Makes a system call; a negative result is an error number.
///
/// # Safety
/// The kernel may read and write the memory that the call's arguments name.
#[cfg(target_arch = "x86_64")]
#[inline]
pub unsafe fn call(number: c_long, args: [usize; 6]) -> isize {
    let result;
    // SAFETY: the kernel changes the registers named here and the memory that the caller vouches for.
    unsafe {
        asm!("syscall", inlateout("rax") number as isize => result,
            in("rdi") args[0], in("rsi") args[1], in("rdx") args[2], in("r10") args[3], in("r8") args[4], in("r9") args[5],
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

/// Makes a system call; a negative result is an error number.
///
/// # Safety
/// The kernel may read and write the memory that the call's arguments name.
#[cfg(target_arch = "aarch64")]
#[inline]
pub unsafe fn call(number: c_long, args: [usize; 6]) -> isize {
    let result;
    // SAFETY: the kernel changes the registers named here and the memory that the caller vouches for.
    unsafe {
        asm!("svc 0", in("x8") number, inlateout("x0") args[0] as isize => result,
            in("x1") args[1], in("x2") args[2], in("x3") args[3], in("x4") args[4], in("x5") args[5], options(nostack));
    }
    result
}

/// `sys!(SYS_close, fd)`: a system call with arguments cast to `usize`. The `unsafe` block around it vouches for the call.
macro_rules! sys {
    ($number:ident $(, $arg:expr)* $(,)?) => {{
        let given: &[usize] = &[$($arg as usize),*];
        let mut args = [0usize; 6];
        args[..given.len()].copy_from_slice(given);
        $crate::sys::call(libc::$number, args)
    }};
}
pub(crate) use sys;

/// The size of a page.
pub const PAGE: usize = 4096;

/// The running thread's `errno`.
pub fn errno() -> i32 {
    // SAFETY: the C library says where it is; one operating-system thread uses it.
    unsafe { *libc::__errno_location() }
}

/// Sets the running thread's `errno`.
pub fn set_errno(error: i32) {
    // SAFETY: as in `errno`.
    unsafe { *libc::__errno_location() = error };
}

/// What `fcntl` says for a command whose argument is a number.
pub fn fcntl(fd: i32, command: i32, argument: i32) -> isize {
    // SAFETY: callers use commands that take a number, so the kernel touches no memory.
    unsafe { sys!(SYS_fcntl, fd, command, argument) }
}

/// Moves a descriptor's offset; a negative result is an error number.
pub fn seek(fd: i32, offset: i64, from: i32) -> i64 {
    // SAFETY: touches no memory.
    unsafe { sys!(SYS_lseek, fd, offset, from) as i64 }
}

/// Closes a descriptor.
pub fn close(fd: i32) {
    // SAFETY: touches no memory; no Rust object owns a descriptor in this library.
    unsafe { sys!(SYS_close, fd) };
}

/// Opens a file; a negative result is an error number.
pub fn open(path: &CStr, flags: i32) -> isize {
    // SAFETY: the path is a string that ends with zero.
    unsafe { sys!(SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags | libc::O_CLOEXEC) }
}

/// Reserves memory at a fixed address; touched pages alone cost anything.
///
/// # Errors
/// The error number.
pub fn reserve(at: usize, len: usize) -> Result<*mut u8, i32> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: `MAP_FIXED_NOREPLACE` replaces no mapping.
    let got = unsafe { sys!(SYS_mmap, at, len, libc::PROT_READ | libc::PROT_WRITE, flags, -1isize, 0) };
    if got as usize == at { Ok(at as *mut u8) } else { Err(-got as i32) }
}

/// Ends the process at once.
pub fn leave(code: i32) -> ! {
    // SAFETY: ends the process, whatever its state.
    unsafe { sys!(SYS_exit_group, code) };
    unreachable!()
}

/// Writes to standard error, for messages that cannot be sent to the host.
pub fn complain(text: &str) {
    // SAFETY: the kernel only reads, and the bytes are those of `text`.
    unsafe { sys!(SYS_write, 2, text.as_ptr(), text.len()) };
}
