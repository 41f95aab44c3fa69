//! `syscall`, mainly for futexes.
//!
//! | call | semantics |
//! |---|---|
//! | `futex` wait | an atomic read of the word; if it has the expected value the thread waits: `WaitEnd` when woken |
//! | `futex` wake | `Signal` or `Broadcast` on the word |
//! | `sched_yield` | as the function |
//! | `exit_group`, `exit` | as `_exit` |
//! | `getpid`, `gettid` | done |
//! | others | done, and recorded as unmodelled |
//!
//! `std::atomic::wait`, `std::future`, latches and semaphores of C++20 wait this way. That the word is read and the
//! wait begun in one step is what a futex is for; the event shows the read, since writers of the word are what it
//! must be ordered with.

use core::ffi::{c_int, c_long};

use wire::Tag;
use wire::record::order;

use super::cond;
use super::step::{Call, Wait, set_errno};
use crate::sync::{Blocker, Wake};
use crate::text::text;
use crate::{memory, sched};

const FUTEX_COMMAND: c_int = 0x7f;

fn fail(error: c_int) -> c_long {
    set_errno(error);
    -1
}

/// Waits for a wake-up of the word while it has the expected value.
fn futex_wait(word: u64, expected: u32, timed: bool) -> c_long {
    let call = Call::here();
    let read = call.step(Tag::Read, word).flags(order::SEQ_CST).argument(4);
    let waits = read.run(Blocker::None, |objects, thread, _| {
        let waits = memory::read(word as *const u32) == expected;
        if waits {
            objects.waits.begin(word, thread, 0);
        }
        waits
    });
    if !waits {
        return fail(libc::EAGAIN);
    }
    // No cancellation point: a request does not end it.
    let wait = if timed { Wait::Timed } else { Wait::Block };
    let cause = cond::end_wait(&call, word, wait, |objects, thread, otherwise| objects.waits.end(thread, otherwise));
    if cause == Wake::TimedOut { fail(libc::ETIMEDOUT) } else { 0 }
}

fn futex(args: [usize; 6]) -> Option<c_long> {
    let word = args[0] as u64;
    let timed = args[3] != 0;
    match args[1] as c_int & FUTEX_COMMAND {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => Some(futex_wait(word, args[2] as u32, timed)),
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            let most = args[2];
            let tag = if most == 1 { Tag::Signal } else { Tag::Broadcast };
            let woken =
                Call::here().step(tag, word).run(Blocker::None, |objects, _, _| objects.waits.signal(word, most));
            Some(woken as c_long)
        }
        _ => None,
    }
}

export! {
    /// A system call.
    fn syscall(
        number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize,
    ) -> c_long {
        let args = [a, b, c, d, e, f];
        if sched::running() {
            match number {
                libc::SYS_futex => {
                    if let Some(result) = futex(args) {
                        return result;
                    }
                }
                libc::SYS_sched_yield => return super::sleep::sched_yield().into(),
                libc::SYS_exit | libc::SYS_exit_group => super::process::exit_at_once(a as c_int),
                _ => {}
            }
            if !matches!(number, libc::SYS_getpid | libc::SYS_gettid) {
                sched::spoil();
                sched::unmodelled(text!("makes system call number {number}").as_str());
            }
        }
        // SAFETY: the program makes this call; what it does to the program's memory is the program's doing.
        match unsafe { crate::sys::call(number, args) } {
            error @ -4095..=-1 => fail(-error as c_int),
            result => result as c_long,
        }
    }
}
