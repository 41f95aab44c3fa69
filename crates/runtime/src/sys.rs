//! System calls made directly: the library functions of the same names are modelled for the program, and their state
//! is put back between runs.

use core::arch::asm;
use core::ffi::c_long;

/// Makes a system call; a negative result is an error number.
///
/// # Safety
/// As for the call.
#[cfg(target_arch = "x86_64")]
#[inline]
pub unsafe fn call(number: c_long, args: [usize; 6]) -> isize {
    let result;
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
/// As for the call.
#[cfg(target_arch = "aarch64")]
#[inline]
pub unsafe fn call(number: c_long, args: [usize; 6]) -> isize {
    let result;
    unsafe {
        asm!("svc 0", in("x8") number, inlateout("x0") args[0] as isize => result,
            in("x1") args[1], in("x2") args[2], in("x3") args[3], in("x4") args[4], in("x5") args[5], options(nostack));
    }
    result
}

/// `sys!(SYS_close, fd)`: a system call with arguments cast to `usize`.
macro_rules! sys {
    ($number:ident $(, $arg:expr)* $(,)?) => {{
        let given: &[usize] = &[$($arg as usize),*];
        let mut args = [0usize; 6];
        args[..given.len()].copy_from_slice(given);
        // Safety: the caller's `unsafe` block vouches for the call.
        $crate::sys::call(libc::$number, args)
    }};
}
pub(crate) use sys;

/// The size of a page.
pub const PAGE: usize = 4096;

/// Reserves memory at a fixed address; touched pages alone cost anything.
///
/// # Errors
/// The error number.
pub fn reserve(at: usize, len: usize) -> Result<*mut u8, i32> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // Safety: `MAP_FIXED_NOREPLACE` replaces no mapping.
    let got = unsafe { sys!(SYS_mmap, at, len, libc::PROT_READ | libc::PROT_WRITE, flags, -1isize, 0) };
    if got as usize == at { Ok(at as *mut u8) } else { Err(-got as i32) }
}

/// Ends the process at once.
pub fn leave(code: i32) -> ! {
    // Safety: does not return.
    unsafe { sys!(SYS_exit_group, code) };
    unreachable!()
}

/// Writes to standard error, for what cannot be told to the host.
pub fn complain(text: &str) {
    // Safety: the bytes are those of `text`.
    unsafe { sys!(SYS_write, 2, text.as_ptr(), text.len()) };
}
