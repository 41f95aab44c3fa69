//! Leaving a thread's frames: `pthread_exit` and acting on a cancellation request.
//!
//! As in the GNU C library, the frames of the program are unwound by force, so that destructors of C++ objects run,
//! and on the way the handlers of `pthread_cleanup_push` in C code are jumped to, each of which comes back through
//! `__pthread_unwind_next`. Where no frame is left the thread ends, on the stack it is at then.
//!
//! Only the program's frames are unwound: [`leave`] and the stubs of cancellation points are entered as if the program
//! had called them and describe their frames to the unwinder.

use alloc::boxed::Box;
use core::arch::naked_asm;
use core::ffi::{c_int, c_void};

use wire::ReplyKind;

use super::cancel::{Outcome, cancellable, with_thread};
use super::thread;
use crate::memory::{self, Plain};
use crate::sched;

/// `__pthread_unwind_buf_t`: registers as saved by `__sigsetjmp`, then room for the C library's own use.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CleanupBuffer {
    #[cfg(target_arch = "x86_64")]
    registers: [u64; 8],
    #[cfg(target_arch = "aarch64")]
    registers: [u64; 22],
    mask_was_saved: c_int,
    /// The buffer around this one, 0 without one.
    pub previous: u64,
    /// The stack pointer of the frame that registered it.
    stack: u64,
    unused: [u64; 2],
}

// SAFETY: integers only.
unsafe impl Plain for CleanupBuffer {}

/// `struct _pthread_cleanup_buffer`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OldCleanupBuffer {
    /// The handler, a `void (*)(void *)`.
    pub routine: *const c_void,
    /// Its argument.
    pub arg: *mut c_void,
    /// For the C library.
    pub cancel_type: c_int,
    /// The buffer around this one, 0 without one.
    pub previous: u64,
}

// SAFETY: integers and raw pointers only.
unsafe impl Plain for OldCleanupBuffer {}

impl OldCleanupBuffer {
    /// Calls the handler.
    pub fn call(&self) {
        thread::call_with(self.routine as u64, self.arg as u64);
    }
}

/// `struct _Unwind_Exception` of the C++ ABI.
#[repr(C, align(16))]
struct Exception {
    class: u64,
    cleanup: Option<extern "C" fn(c_int, *mut Exception)>,
    private: [u64; 2],
}

const NO_REASON: c_int = 0;
const END_OF_STACK: c_int = 16;

unsafe extern "C" {
    fn _Unwind_ForcedUnwind(exception: *mut Exception, stop: *const c_void, parameter: *mut c_void) -> c_int;
    fn _Unwind_GetCFA(context: *mut c_void) -> u64;
    fn siglongjmp(buffer: *mut CleanupBuffer, value: c_int) -> !;
}

/// A stub for a cancellation point: calls the body with the arguments it got, and returns its value or continues in
/// [`leave`] as if the caller had called that.
#[cfg(target_arch = "x86_64")]
macro_rules! cancellation_point {
    ($body:path) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "sub rsp, 8",
            ".cfi_adjust_cfa_offset 8",
            "call {body}",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            "test rdx, rdx",
            "jne 2f",
            "ret",
            "2: jmp {leave}",
            ".cfi_endproc",
            body = sym $body,
            leave = sym $crate::api::unwind::leave,
        )
    };
}
/// A stub for a cancellation point: calls the body with the arguments it got, and returns its value or continues in
/// [`leave`] as if the caller had called that.
#[cfg(target_arch = "aarch64")]
macro_rules! cancellation_point {
    ($body:path) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "stp x29, x30, [sp, #-16]!",
            ".cfi_adjust_cfa_offset 16",
            ".cfi_rel_offset x29, 0",
            ".cfi_rel_offset x30, 8",
            "bl {body}",
            "ldp x29, x30, [sp], #16",
            ".cfi_adjust_cfa_offset -16",
            ".cfi_restore x29",
            ".cfi_restore x30",
            "cbnz x1, 2f",
            "ret",
            "2: b {leave}",
            ".cfi_endproc",
            body = sym $body,
            leave = sym $crate::api::unwind::leave,
        )
    };
}
pub(crate) use cancellation_point;

/// Leaves all frames of the calling thread, whose result has been set.
///
/// # Safety
/// Called by the program, or by a jump in place of a function it called.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub unsafe extern "C" fn leave() {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "call {exception}",
        "mov rdi, rax",
        "lea rsi, [rip + {stop}]",
        "xor edx, edx",
        "call {unwind}@PLT",
        "call {end}",
        "ud2",
        ".cfi_endproc",
        exception = sym exception,
        stop = sym stop,
        unwind = sym _Unwind_ForcedUnwind,
        end = sym end,
    )
}

/// Leaves all frames of the calling thread, whose result has been set.
///
/// # Safety
/// Called by the program, or by a jump in place of a function it called.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub unsafe extern "C" fn leave() {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-16]!",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset x29, -16",
        ".cfi_offset x30, -8",
        "mov x29, sp",
        ".cfi_def_cfa_register x29",
        "bl {exception}",
        "adrp x1, {stop}",
        "add x1, x1, :lo12:{stop}",
        "mov x2, xzr",
        "bl {unwind}",
        "bl {end}",
        "brk #1",
        ".cfi_endproc",
        exception = sym exception,
        stop = sym stop,
        unwind = sym _Unwind_ForcedUnwind,
        end = sym end,
    )
}

/// Puts the cleanup handler of a frame in place.
///
/// # Safety
/// As for the C function, which takes the buffer.
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn __pthread_register_cancel() {
    #[cfg(target_arch = "x86_64")]
    naked_asm!("lea rsi, [rsp + 8]", "jmp {register}", register = sym register);
    #[cfg(target_arch = "aarch64")]
    naked_asm!("mov x1, sp", "b {register}", register = sym register);
}

/// Puts the cleanup handler of a frame in place.
///
/// # Safety
/// As for the C function, which takes the buffer.
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn __pthread_register_cancel_defer() {
    #[cfg(target_arch = "x86_64")]
    naked_asm!("lea rsi, [rsp + 8]", "jmp {register}", register = sym register);
    #[cfg(target_arch = "aarch64")]
    naked_asm!("mov x1, sp", "b {register}", register = sym register);
}

extern "C" fn register(buffer: *mut CleanupBuffer, stack: u64) {
    let previous = with_thread(|thread| core::mem::replace(&mut thread.cleanup, buffer as u64));
    // The registers are the program's and stay as they are.
    memory::write(buffer, CleanupBuffer { previous, stack, ..memory::read(buffer) });
}

cancellable! {
    /// Ends the calling thread.
    fn pthread_exit(result: *mut c_void) {
        start_end(result as u64)
    }
    /// Ends the calling thread.
    fn thrd_exit(result: c_int) {
        start_end(result as u64)
    }
    /// A cleanup handler has run; leaving continues.
    fn __pthread_unwind_next(_buffer: *mut CleanupBuffer) {
        Outcome::CANCELLED
    }
}

/// Starts the thread's end with this result.
fn start_end(result: u64) -> Outcome {
    thread::start_end(result);
    Outcome::CANCELLED
}

/// The exception object that stands for leaving.
extern "C" fn exception() -> *mut Exception {
    Box::into_raw(Box::new(Exception { class: 0, cleanup: Some(swallowed), private: [0; 2] }))
}

/// A handler for any exception did not pass this one on.
extern "C" fn swallowed(_reason: c_int, _exception: *mut Exception) {
    sched::park(ReplyKind::Crash, 0, "a thread that ends was stopped by `catch (...)` without `throw`");
}

extern "C" fn end() -> ! {
    thread::finish()
}

/// Called by the unwinder for each frame before it is left: runs the cleanup handlers whose frames have been left, and
/// ends the thread where no frame is left.
extern "C" fn stop(
    _version: c_int,
    actions: c_int,
    _class: u64,
    _exception: *mut Exception,
    context: *mut c_void,
    _parameter: *mut c_void,
) -> c_int {
    let last = actions & END_OF_STACK != 0;
    // SAFETY: the unwinder passes the context of the frame it is at.
    let frame = unsafe { _Unwind_GetCFA(context) };
    loop {
        let at = with_thread(|thread| thread.old_cleanup);
        if at == 0 || !last && frame <= at {
            break;
        }
        let buffer = memory::read(at as *const OldCleanupBuffer);
        with_thread(|thread| thread.old_cleanup = buffer.previous);
        buffer.call();
    }
    let at = with_thread(|thread| thread.cleanup) as *mut CleanupBuffer;
    if !at.is_null() {
        let buffer = memory::read(at);
        if last || frame >= buffer.stack {
            with_thread(|thread| thread.cleanup = buffer.previous);
            // SAFETY: the frame that filled the buffer with `__sigsetjmp` is still on the stack: it takes the buffer out
            // of the list before it returns. No frame between has anything to clean up that the unwinder has not done.
            unsafe { siglongjmp(at, 1) };
        }
    }
    if last {
        thread::finish();
    }
    NO_REASON
}
