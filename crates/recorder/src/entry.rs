//! The start of the process, and what all threads share.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

use wire::log::{ARENA, BUFFER, Board, FDS_VARIABLE};

use crate::thread;

/// The memory shared with the host. It is set before there are threads, and afterwards only by a forked child, which has
/// one.
static SHARED_MEMORY: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// The descriptor of the trace file.
static TRACE_FILE: AtomicI32 = AtomicI32::new(-1);

/// The memory shared with the host.
#[inline(always)]
pub fn arena() -> *mut c_void {
    SHARED_MEMORY.load(Ordering::Relaxed)
}

/// Its start.
#[inline(always)]
pub fn board() -> &'static Board {
    // SAFETY: `attach` maps the memory before anything is recorded, for as long as the process lives. It starts with a board,
    // which consists of atomics.
    unsafe { &*arena().cast::<Board>() }
}

/// The trace file.
pub fn file() -> c_int {
    TRACE_FILE.load(Ordering::Relaxed)
}

/// Ends the process with a message of the recorder's own.
pub fn refuse(message: &str) -> ! {
    for part in ["raceproof: ", message, "\n"] {
        // SAFETY: the kernel only reads the bytes.
        unsafe { crate::real::write(2, part.as_ptr().cast(), part.len()) };
    }
    // SAFETY: ends the process, whatever its state.
    unsafe { libc::_exit(2) }
}

/// The two descriptors in the environment variable, which is removed.
///
/// # Safety
/// There is one thread.
unsafe fn descriptors() -> Option<(c_int, c_int)> {
    let mut name = [0u8; 64];
    name[..FDS_VARIABLE.len()].copy_from_slice(FDS_VARIABLE.as_bytes());
    // SAFETY: the name ends with zero, since it is shorter than the array; a value is a C string, and by the caller nobody else
    // changes the environment.
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

/// Maps the memory that the host shares.
///
/// # Safety
/// There is one thread, and nothing has been recorded.
unsafe fn attach() {
    // SAFETY: by the caller.
    let Some((memory, file)) = (unsafe { descriptors() }) else {
        refuse("this program is instrumented: run it with `raceproof record`, or build it without")
    };
    let too_low = "cannot map the memory shared with raceproof: the limit on address space (ulimit -v) is too low";
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the first call maps new memory where there is none, with a buffer to spare; the second one replaces a part of
    // that. The descriptors are the recorder's own.
    let arena = unsafe {
        let room = crate::real::mmap(null_mut(), ARENA + BUFFER, libc::PROT_NONE, flags, -1, 0);
        if room == libc::MAP_FAILED {
            refuse(too_low);
        }
        // The low bits of a cursor say how full its buffer is, so buffers start where these are zero.
        let start = (room as usize).next_multiple_of(BUFFER) as *mut c_void;
        let arena = crate::real::mmap(start, ARENA, access, libc::MAP_SHARED | libc::MAP_FIXED, memory, 0);
        crate::real::close(memory);
        crate::real::fcntl(file, libc::F_SETFD, libc::FD_CLOEXEC as usize);
        arena
    };
    if arena == libc::MAP_FAILED {
        refuse(too_low);
    }
    SHARED_MEMORY.store(arena, Ordering::Relaxed);
    TRACE_FILE.store(file, Ordering::Relaxed);
}

/// Stops recording in a process that was forked: what it does is not part of the run.
pub fn detach() {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: the shared memory is replaced in place by some of the child's own, all zero, which is a board and empty
    // buffers; the child has one thread.
    unsafe { crate::real::mmap(arena(), ARENA, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    TRACE_FILE.store(-1, Ordering::Relaxed);
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
///
/// # Safety
/// Called by the C library, with the process's arguments and environment.
#[cfg(not(test))]
#[unsafe(no_mangle)]
unsafe extern "C" fn main(argc: c_int, argv: *mut *mut c_char, envp: *mut *mut c_char) -> c_int {
    // SAFETY: there is one thread so far. The instrumented program defines the functions called here, which get what the C
    // library would give them.
    unsafe {
        attach();
        board().load_base.store(&raw const __ehdr_start as u64, Ordering::Relaxed);
        thread::prepare();
        thread::begin(thread::new([null_mut(); 2]));
        libc::pthread_atfork(None, None, Some(after_fork));
        atexit(__rp_user_dtors);
        __rp_user_ctors();
        libc::exit(__rp_user_main(argc, argv, envp))
    }
}

extern "C" fn after_fork() {
    detach();
}
