//! Once-controls.
//!
//! | function | semantics |
//! |---|---|
//! | `pthread_once` | `OnceBegin`, which waits while another thread runs the routine; after it `OnceEnd` |
//! | `__cxa_guard_acquire` | `OnceBegin` for the guard of a C++ function-local static |
//! | `__cxa_guard_release` | an atomic write of the guard, which compiled code reads on its fast path; `OnceEnd` |
//! | `__cxa_guard_abort` | `OnceEnd`, and the initialiser runs again |
//!
//! `std::call_once` comes here through `pthread_once`. The routine is called from a frame that an exception can pass:
//! then the control is as before the call.

use core::arch::naked_asm;
use core::ffi::{c_int, c_void};

use libc::pthread_once_t;
use wire::Tag;
use wire::record::{flag, order};

use super::step::{Call, misuse};
use crate::sync::{Blocker, Once};
use crate::{memory, sched};

/// `pthread_once_t` before and after.
const INITIAL: c_int = 0;
const DONE: c_int = 2;

/// libstdc++ passes the callable of `std::call_once` to the routine in these two thread-local words. Other threads
/// may run between.
struct CallOnceWords([Option<(*mut usize, usize)>; 2]);

impl CallOnceWords {
    fn save() -> Self {
        Self([c"_ZSt15__once_callable", c"_ZSt11__once_call"].map(|name| {
            // SAFETY: the C library finds the instance of the one operating-system thread; the symbols are words.
            unsafe {
                let word = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).cast::<usize>();
                (!word.is_null()).then(|| (word, *word))
            }
        }))
    }
    fn restore(self) {
        // SAFETY: `save` found the words, which live as long as the operating-system thread.
        self.0.into_iter().flatten().for_each(|(word, value)| unsafe { *word = value });
    }
}

/// Whether the control is the unwinder's or the C++ library's own. What they set up once is none of the program's
/// business: it is no event, and no other thread runs meanwhile.
fn is_internal(control: u64) -> bool {
    unsafe extern "C" {
        static __executable_start: u8;
        static _end: u8;
    }
    let program = &raw const __executable_start as usize..&raw const _end as usize;
    if program.contains(&(control as usize)) || crate::slots::ALL.contains(&(control as usize)) {
        return false;
    }
    // SAFETY: all zero is a value of the structure; a name that the dynamic linker gives is a string that stays, and what
    // follows a slash in it is one, too.
    unsafe {
        let mut found: libc::Dl_info = core::mem::zeroed();
        libc::dladdr(control as *const c_void, &mut found) != 0
            && !found.dli_fname.is_null()
            && [c"libgcc_s.so", c"libstdc++.so"].iter().any(|name| {
                let at = libc::strrchr(found.dli_fname, c_int::from(b'/'));
                let file = if at.is_null() { found.dli_fname } else { at.add(1) };
                libc::strncmp(file, name.as_ptr(), name.count_bytes()) == 0
            })
    }
}

/// Enters a once-control. `done` looks at it when it is this thread's turn. Returns whether the routine is to be run.
fn begin(call: &Call, once: u64, done: impl FnOnce() -> bool) -> bool {
    let step = call.step(Tag::OnceBegin, once).flags(flag::SUCCESS);
    step.run(Blocker::Once { once }, |objects, thread, step| {
        if done() {
            step.flags = 0;
            return false;
        }
        objects.put(once, Once { runner: thread });
        true
    })
}

/// The routine is over.
fn end(call: &Call, once: u64) {
    call.step(Tag::OnceEnd, once).run(Blocker::None, |objects, _, _| objects.remove(once));
}

/// Enters the control and, where this thread is to, calls the routine in a frame whose personality is `personality`.
///
/// # Safety
/// As for the C function, which takes a control and a routine.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_once() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_personality 0x1b, {personality}",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push rsi",
        "push rdi",
        "call {enter}",
        "test eax, eax",
        "je 2f",
        "call [rbp - 8]",
        "mov rdi, [rbp - 16]",
        "call {leave}",
        "2: xor eax, eax",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        personality = sym personality,
        enter = sym enter,
        leave = sym leave,
    )
}

/// Enters the control and, where this thread is to, calls the routine in a frame whose personality is [`personality`].
///
/// # Safety
/// As for the C function, which takes a control and a routine.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_once() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_personality 0x1b, {personality}",
        "sub sp, sp, #32",
        ".cfi_def_cfa_offset 32",
        "stp x0, x1, [sp]",
        "stp x29, x30, [sp, #16]",
        ".cfi_offset x29, -16",
        ".cfi_offset x30, -8",
        "add x29, sp, #16",
        "bl {enter}",
        "cbz w0, 2f",
        "ldr x9, [sp, #8]",
        "blr x9",
        "ldr x0, [sp]",
        "bl {leave}",
        "2: mov w0, wzr",
        "ldp x29, x30, [sp, #16]",
        "add sp, sp, #32",
        ".cfi_def_cfa_offset 0",
        "ret",
        ".cfi_endproc",
        personality = sym personality,
        enter = sym enter,
        leave = sym leave,
    )
}

extern "C" fn enter(control: *mut pthread_once_t, _routine: *const c_void) -> c_int {
    if is_internal(control as u64) {
        return (memory::read(control) & DONE == 0).into();
    }
    let words = CallOnceWords::save();
    let run = begin(&Call::here(), control as u64, || {
        let value = memory::read(control);
        if value != INITIAL && value != DONE {
            misuse(control as u64, "uses a once-control that was not initialised");
        }
        value & DONE != 0
    });
    words.restore();
    run.into()
}

extern "C" fn leave(control: *mut pthread_once_t) {
    memory::write(control, DONE);
    if !is_internal(control as u64) {
        end(&Call::here(), control as u64);
    }
}

const CLEANUP_PHASE: c_int = 2;
const CONTINUE_UNWIND: c_int = 8;

unsafe extern "C" {
    fn _Unwind_GetCFA(context: *mut c_void) -> u64;
}

/// An exception, or the thread's end, passes the frame of `pthread_once`: the routine counts as not run.
extern "C" fn personality(
    _version: c_int,
    actions: c_int,
    _class: u64,
    _exception: *mut c_void,
    context: *mut c_void,
) -> c_int {
    if actions & CLEANUP_PHASE != 0 {
        // SAFETY: the unwinder passes the context of the frame of `pthread_once`, which keeps the control at its lowest
        // address.
        let control = unsafe { *(_Unwind_GetCFA(context) as *const u64) };
        if !is_internal(control) {
            end(&Call::here(), control);
        }
    }
    CONTINUE_UNWIND
}

/// The first byte of a guard says that the object is initialised; compiled code looks at it.
fn guard_byte(guard: *mut u64) -> *mut u8 {
    guard.cast()
}

export! {
    /// Starts to initialise a static, if it is not yet.
    fn __cxa_guard_acquire(guard: *mut u64) -> c_int {
        let runner = sched::with_objects(|objects| objects.find::<Once>(guard as u64).map(|once| once.runner));
        if runner.is_some() && runner == Some(super::step::me()) {
            misuse(guard as u64, "enters the initialisation of a static again while it runs it");
        }
        begin(&Call::here(), guard as u64, || memory::read(guard_byte(guard)) != 0).into()
    }
    /// The static is initialised.
    fn __cxa_guard_release(guard: *mut u64) {
        let call = Call::here();
        let write = call.step(Tag::Write, guard as u64).flags(order::RELEASE).argument(1);
        write.run(Blocker::None, |_, _, _| memory::write(guard_byte(guard), 1));
        end(&call, guard as u64);
    }
    /// The initialisation threw an exception.
    fn __cxa_guard_abort(guard: *mut u64) {
        end(&Call::here(), guard as u64);
    }
}
