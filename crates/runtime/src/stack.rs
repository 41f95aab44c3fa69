//! How the running thread got where it is: the return addresses on its stack.
//!
//! The host asks for stacks when it reports a finding, never while it searches. The unwinder knows the frames of all code with unwind tables,
//! libraries included. Instrumented code and this library keep frame pointers too, for the case that the program's bitcode
//! came without tables; whoever sees more is believed. Frame pointers are only ever read inside the thread's own stack.

use core::arch::asm;
use core::ffi::{c_int, c_void};

use wire::{Record, Tag};

use crate::{hooks, sched};

/// Most frames of a stack.
const MOST: usize = 128;

/// Return addresses, innermost first.
struct Counters {
    counters: [u64; MOST],
    count: usize,
}

impl Counters {
    const fn new() -> Self {
        Self { counters: [0; MOST], count: 0 }
    }

    /// Takes one more; says whether there is room for another.
    fn push(&mut self, counter: u64) -> bool {
        self.counters[self.count] = counter;
        self.count += 1;
        self.count < MOST
    }
}

unsafe extern "C" {
    fn _Unwind_Backtrace(visit: extern "C" fn(*mut c_void, *mut c_void) -> c_int, argument: *mut c_void) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

const NO_REASON: c_int = 0;
const NORMAL_STOP: c_int = 4;

/// Writes the running thread's stack.
#[cold]
pub fn write() {
    let (unwound, chained) = (unwind(), follow());
    let Counters { counters, count } = if unwound.count >= chained.count { unwound } else { chained };
    hooks::make_room(1 + count.div_ceil(2));
    hooks::append(Record::new(Tag::Stack, 0, 0, wire::NO_SITE, count as u32));
    for pair in counters[..count].chunks(2) {
        hooks::append(Record { w0: pair[0], w1: pair.get(1).copied().unwrap_or(0) });
    }
}

/// Asks the unwinder.
fn unwind() -> Counters {
    extern "C" fn visit(context: *mut c_void, counters: *mut c_void) -> c_int {
        // SAFETY: the unwinder passes the frame's context, and as argument the counters below, which outlive the walk.
        let (counters, counter) = unsafe { (&mut *counters.cast::<Counters>(), _Unwind_GetIP(context)) };
        if counter != 0 && counters.push(counter as u64) { NO_REASON } else { NORMAL_STOP }
    }
    let mut counters = Counters::new();
    // SAFETY: `visit` takes what is passed; the bottom frame of every stack tells the unwinder to stop there.
    unsafe { _Unwind_Backtrace(visit, (&raw mut counters).cast()) };
    counters
}

/// Follows the frame pointers.
fn follow() -> Counters {
    let stack = sched::current_slot().stack();
    let mut frame = frame_pointer();
    let mut counters = Counters::new();
    // A frame holds the frame pointer of its caller and the address to return to.
    while frame.is_multiple_of(8) && stack.contains(&frame) && stack.contains(&(frame + 15)) {
        // SAFETY: aligned and inside the thread's stack, above the frame that runs now, so mapped and written.
        let [next, counter] = unsafe { (frame as *const [usize; 2]).read() };
        // Callers' frames lie above.
        if counter == 0 || !counters.push(counter as u64) || next <= frame {
            break;
        }
        frame = next;
    }
    counters
}

#[inline(always)]
fn frame_pointer() -> usize {
    let pointer: usize;
    // SAFETY: only reads a register.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("mov {}, rbp", out(reg) pointer, options(nomem, nostack, preserves_flags));
        #[cfg(target_arch = "aarch64")]
        asm!("mov {}, x29", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer
}
