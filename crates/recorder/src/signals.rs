//! Handlers of signals.
//!
//! The code that a signal interrupts may have the cursor of its thread in a register, so what a handler logs must not go
//! where that points to. It goes aside, and into the thread's log before the next record of the thread, or when its buffer
//! is full: later than it happened, but between the same two records of the thread. What a handler does that interrupts
//! another handler is not recorded, nor what does not fit aside.
//!
//! A program that jumps out of handlers keeps its cursor in memory instead (`docs/runtime-abi.md`). Its handlers are installed
//! as they are, and log like any other code.

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use libc::{sigaction as Action, sighandler_t};
use wire::log::{BUFFER, IS_RECORD};

use crate::log::append_words;
use crate::real::{self, errno, set_errno};
use crate::seen::InUse;
use crate::thread::{ThreadState, local, nowhere, state};

/// What a thread keeps of handlers; all-zero is a thread that has not had any.
#[derive(Debug)]
pub struct Aside {
    /// Two buffers: for handlers, and for those that interrupt handlers; 0 until there are any.
    buffers: [Cell<usize>; 2],
    /// Handlers under way.
    pub depth: Cell<usize>,
    /// The cursor of the code that the outermost one interrupted.
    pub cursor: Cell<usize>,
    /// Bytes in the first buffer.
    filled: AtomicUsize,
}

const SIGNALS: usize = 65;
/// The program's handlers.
static HANDLERS: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(0) }; SIGNALS];

#[cfg(not(test))]
unsafe extern "C" {
    /// Not zero if the program keeps its cursors in memory.
    static __rp_cursor_in_memory: c_int;
}

fn needs_own_cursor() -> bool {
    #[cfg(test)]
    return false;
    #[cfg(not(test))]
    // SAFETY: a constant that the instrumented program defines.
    unsafe {
        __rp_cursor_in_memory == 0
    }
}

type Handler = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void);

/// Runs the program's handler with a cursor of its own.
extern "C" fn handle(signal: c_int, info: *mut c_void, context: *mut c_void) {
    let handler = HANDLERS.get(signal as usize).map_or(0, |handler| handler.load(Ordering::Relaxed));
    if handler <= 1 {
        return;
    }
    let error = errno();
    let (local, aside) = (local(), &state().aside);
    let (cursor, site, seen) = (local.cursor.get(), local.site.get(), InUse::now());
    // What it logs may be lost, so it stands for nothing.
    InUse::NOTHING.set();
    let level = usize::from(aside.depth.get() > 0);
    if aside.buffers[level].get() == 0 {
        aside.buffers[level].set(nowhere());
    }
    if level == 0 {
        aside.cursor.set(cursor);
        local.cursor.set(aside.buffers[0].get() + aside.filled.load(Ordering::Relaxed));
    } else {
        local.cursor.set(aside.buffers[1].get());
    }
    aside.depth.set(aside.depth.get() + 1);
    set_errno(error);
    // SAFETY: the program gave this function as a handler. It has this type, or the one with only the first argument, which
    // can be called the same way; the kernel made the arguments for it.
    unsafe { core::mem::transmute::<usize, Handler>(handler)(signal, info, context) };
    let error = errno();
    aside.depth.set(aside.depth.get() - 1);
    if level == 0 {
        aside.filled.store(local.cursor.get() % BUFFER, Ordering::Relaxed);
    }
    local.cursor.set(cursor);
    local.site.set(site);
    seen.set();
    set_errno(error);
}

impl ThreadState {
    /// Puts what handlers have logged into the thread's log, unless one is under way.
    #[inline(always)]
    pub fn bring_in_aside(&self) {
        if self.aside.filled.load(Ordering::Relaxed) != 0 && self.aside.depth.get() == 0 {
            self.bring_in_all();
        }
    }

    #[cold]
    fn bring_in_all(&self) {
        let mut done = 0;
        self.seen.event_logged();
        loop {
            let filled = self.aside.filled.load(Ordering::Relaxed);
            let start = self.aside.buffers[0].get() + done;
            // SAFETY: the thread's own buffer, filled so far by handlers that are over. A handler that comes now writes behind
            // `filled` only.
            let words = unsafe { core::slice::from_raw_parts(start as *const u64, (filled - done) / 8) };
            let mut at = 0;
            while at < words.len() {
                let is_record = words[at] & IS_RECORD != 0;
                let (tag, flags) = ((words[at] >> 48) as u8, (words[at] >> 56) as u8 & 0x7f);
                let len = if is_record { wire::log::words(tag, flags).0 } else { 1 };
                append_words(&words[at..(at + len).min(words.len())]);
                at += len;
            }
            done = filled;
            if self.aside.filled.compare_exchange(filled, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                return;
            }
        }
    }
}

impl Aside {
    /// A handler's buffer is full: what is in it is lost. The cursor of an empty one.
    pub fn start_again(&self) -> usize {
        self.buffers[usize::from(self.depth.get() > 1)].get()
    }
}

/// Whether this is a function of the program.
fn is_function(handler: sighandler_t) -> bool {
    handler != libc::SIG_DFL && handler != libc::SIG_IGN && handler != libc::SIG_ERR
}

/// `sigaction`, with our handler around a function of the program.
///
/// # Safety
/// As for the C function.
unsafe fn change(signal: c_int, new: *const Action, old: *mut Action) -> c_int {
    let Some(kept) = HANDLERS.get(signal as usize).filter(|_| needs_own_cursor()) else {
        // SAFETY: by the caller.
        return unsafe { real::sigaction(signal, new, old) };
    };
    // SAFETY: by the caller each pointer is null or points to such a structure, and `given` does.
    unsafe {
        let before = kept.load(Ordering::Relaxed);
        let mut ours = new.as_ref().copied();
        if let Some(ours) = ours.as_mut().filter(|ours| is_function(ours.sa_sigaction)) {
            kept.store(ours.sa_sigaction, Ordering::Relaxed);
            ours.sa_sigaction = handle as *const () as sighandler_t;
        }
        let given = ours.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
        let result = real::sigaction(signal, given, old);
        if result != 0 {
            kept.store(before, Ordering::Relaxed);
        } else if !old.is_null() && (*old).sa_sigaction == handle as *const () as sighandler_t {
            (*old).sa_sigaction = before;
        }
        result
    }
}

/// `signal`, with these flags.
fn simple(signal: c_int, handler: sighandler_t, flags: c_int) -> sighandler_t {
    // SAFETY: all zero is a value of the structure; both live over the call.
    unsafe {
        let (mut new, mut old) = (core::mem::zeroed::<Action>(), core::mem::zeroed::<Action>());
        new.sa_sigaction = handler;
        new.sa_flags = flags;
        if change(signal, &raw const new, &raw mut old) == 0 { old.sa_sigaction } else { libc::SIG_ERR }
    }
}

/// Defines functions of the C library.
macro_rules! export {
    ($(fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty $body:block)*) => {$(
        #[cfg_attr(not(test), unsafe(no_mangle))]
        #[allow(unused_unsafe, reason = "some bodies need none")]
        unsafe extern "C" fn $name($($arg: $type),*) -> $result {
            // SAFETY: the program calls the function by its C declaration and vouches for the arguments.
            unsafe { $body }
        }
    )*};
}

export! {
    fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int { change(signal, new, old) }
    fn signal(number: c_int, handler: sighandler_t) -> sighandler_t { simple(number, handler, libc::SA_RESTART) }
    fn bsd_signal(number: c_int, handler: sighandler_t) -> sighandler_t { simple(number, handler, libc::SA_RESTART) }
    fn __sysv_signal(number: c_int, handler: sighandler_t) -> sighandler_t {
        simple(number, handler, libc::SA_RESETHAND | libc::SA_NODEFER)
    }
}
