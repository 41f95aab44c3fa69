//! The start of the process, and what all threads share.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;

use wire::log::{ARENA, BUFFER, Board, FDS_VARIABLE};

use crate::cell::Global;
use crate::thread;

struct Shared {
    arena: *mut c_void,
    file: c_int,
}

static SHARED: Global<Shared> = Global::new(Shared { arena: null_mut(), file: -1 });

/// The memory shared with the host.
#[inline(always)]
pub fn arena() -> *mut c_void {
    // Safety: written once, before there are threads, and by a forked child alone.
    unsafe { (*SHARED.get()).arena }
}

/// Its start.
#[inline(always)]
pub fn board() -> &'static Board {
    // Safety: the arena starts with a board and lives as long as the process.
    unsafe { &*arena().cast::<Board>() }
}

/// The trace file.
pub fn file() -> c_int {
    // Safety: as above.
    unsafe { (*SHARED.get()).file }
}

/// Ends the process with a message of the recorder's own.
pub fn refuse(message: &str) -> ! {
    for part in ["raceproof: ", message, "\n"] {
        // Safety: writes to standard error.
        unsafe { libc::write(2, part.as_ptr().cast(), part.len()) };
    }
    // Safety: ends the process.
    unsafe { libc::_exit(2) }
}

/// The two descriptors in the environment variable, which is removed.
unsafe fn descriptors() -> Option<(c_int, c_int)> {
    let mut name = [0u8; 64];
    name[..FDS_VARIABLE.len()].copy_from_slice(FDS_VARIABLE.as_bytes());
    // Safety: the value is a C string; there is one thread.
    unsafe {
        let value = libc::getenv(name.as_ptr().cast());
        if value.is_null() {
            return None;
        }
        let comma = libc::strchr(value, c_int::from(b','));
        if comma.is_null() {
            return None;
        }
        let found = (libc::atoi(value), libc::atoi(comma.add(1)));
        libc::unsetenv(name.as_ptr().cast());
        Some(found)
    }
}

unsafe fn attach() {
    // Safety: there is one thread, and nothing has been recorded.
    unsafe {
        let Some((memory, file)) = descriptors() else {
            refuse("this program is instrumented: run it with `raceproof record`, or build it without")
        };
        let too_low = "cannot map the memory shared with raceproof: the limit on address space (ulimit -v) is too low";
        // The low bits of a cursor say how full its buffer is, so buffers start where these are zero.
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let place = libc::mmap(null_mut(), ARENA + BUFFER, libc::PROT_NONE, flags, -1, 0);
        if place == libc::MAP_FAILED {
            refuse(too_low);
        }
        let place = (place as usize).next_multiple_of(BUFFER) as *mut c_void;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let arena = libc::mmap(place, ARENA, access, libc::MAP_SHARED | libc::MAP_FIXED, memory, 0);
        if arena == libc::MAP_FAILED {
            refuse(too_low);
        }
        libc::close(memory);
        libc::fcntl(file, libc::F_SETFD, libc::FD_CLOEXEC);
        *SHARED.get() = Shared { arena, file };
    }
}

/// Stops recording in a process that was forked: what it does is not part of the run.
pub fn detach() {
    // Safety: the child has one thread; the memory is replaced in place by some of its own.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        libc::mmap(arena(), ARENA, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        (*SHARED.get()).file = -1;
    }
}

#[cfg(not(test))]
unsafe extern "C" {
    fn __rp_user_main(argc: c_int, argv: *mut *mut c_char, envp: *mut *mut c_char) -> c_int;
    fn __rp_user_ctors();
    fn __rp_user_dtors();
    static __ehdr_start: u8;
    fn atexit(function: unsafe extern "C" fn()) -> c_int;
}

/// The process starts here.
#[cfg(not(test))]
#[unsafe(no_mangle)]
unsafe extern "C" fn main(argc: c_int, argv: *mut *mut c_char, envp: *mut *mut c_char) -> c_int {
    // Safety: the program's own functions, called as the C library would.
    unsafe {
        attach();
        board().load_base.store(&raw const __ehdr_start as u64, core::sync::atomic::Ordering::Relaxed);
        thread::prepare();
        thread::begin(thread::new([null_mut(); 2]));
        libc::pthread_atfork(None, None, Some(after_fork));
        atexit(__rp_user_dtors);
        __rp_user_ctors();
        libc::exit(__rp_user_main(argc, argv, envp))
    }
}

unsafe extern "C" fn after_fork() {
    detach();
}
