//! Functions for checkers: `raceproof.h`, and those of the competition on software verification.
//!
//! | function | semantics |
//! |---|---|
//! | `raceproof_choose` | any value of a range |
//! | `__VERIFIER_nondet_*` | any value of a type; a pointer is null, which is noted; floating-point numbers are whole |
//! | `__VERIFIER_assume` | goes on if the condition holds; else the thread stays there for ever, without effect |
//! | `__VERIFIER_atomic_begin`, `__VERIFIER_atomic_end` | a section that no other thread interrupts |
//! | `__VERIFIER_error`, `reach_error` | a failed assertion |

use core::ffi::{c_char, c_int, c_long, c_void};

use wire::ReplyKind;

use crate::choice::choose;
use crate::{sched, section};

/// Any value of a type of 64 bits.
fn any() -> i64 {
    choose(i64::MIN, i64::MAX)
}

/// The thread stays where it is.
pub fn give_up() -> ! {
    if !sched::running() {
        crate::sys::complain("raceproof: an assumption fails before the program runs\n");
        crate::sys::leave(2);
    }
    section::undo();
    sched::park(ReplyKind::Assumed, 0, "")
}

fn error(name: &str) -> ! {
    if !sched::running() {
        crate::sys::complain("raceproof: the error is reached before the program runs\n");
        crate::sys::leave(2);
    }
    sched::park(ReplyKind::Assertion, 0, crate::text::text!("`{name}` is not called").as_str())
}

fn null() -> *mut c_void {
    super::step::unmodelled("chooses any pointer; null is taken");
    core::ptr::null_mut()
}

/// Functions that choose a value of a type no wider than 64 bits.
macro_rules! nondet {
    ($($name:ident -> $result:ty;)*) => {export! {$(
        /// Any value of its type.
        fn $name() -> $result {
            choose(<$result>::MIN as i64, <$result>::MAX as i64) as $result
        }
    )*}};
}

/// Functions that choose a value of 64 bits.
macro_rules! nondet_wide {
    ($($name:ident -> $result:ty;)*) => {export! {$(
        /// Any value of its type.
        fn $name() -> $result {
            any() as $result
        }
    )*}};
}

nondet! {
    __VERIFIER_nondet_char -> c_char;
    __VERIFIER_nondet_int -> i32;
    __VERIFIER_nondet_s16 -> i16;
    __VERIFIER_nondet_s32 -> i32;
    __VERIFIER_nondet_s8 -> i8;
    __VERIFIER_nondet_schar -> i8;
    __VERIFIER_nondet_short -> i16;
    __VERIFIER_nondet_u16 -> u16;
    __VERIFIER_nondet_u32 -> u32;
    __VERIFIER_nondet_u8 -> u8;
    __VERIFIER_nondet_uchar -> u8;
    __VERIFIER_nondet_uint -> u32;
    __VERIFIER_nondet_unsigned -> u32;
    __VERIFIER_nondet_unsigned_char -> u8;
    __VERIFIER_nondet_unsigned_int -> u32;
    __VERIFIER_nondet_ushort -> u16;
}

nondet_wide! {
    __VERIFIER_nondet_double -> f64;
    __VERIFIER_nondet_float -> f32;
    __VERIFIER_nondet_loff_t -> i64;
    __VERIFIER_nondet_long -> i64;
    __VERIFIER_nondet_longlong -> i64;
    __VERIFIER_nondet_s64 -> i64;
    __VERIFIER_nondet_sector_t -> u64;
    __VERIFIER_nondet_size_t -> u64;
    __VERIFIER_nondet_u64 -> u64;
    __VERIFIER_nondet_ulong -> u64;
    __VERIFIER_nondet_ulonglong -> u64;
}

export! {
    /// Any value from `lo` to `hi`; `lo` if there is none between.
    fn raceproof_choose(lo: c_long, hi: c_long) -> c_long {
        if lo > hi {
            super::step::unmodelled("chooses from an empty range");
            return lo;
        }
        choose(lo, hi)
    }
    /// Any truth value.
    fn __VERIFIER_nondet_bool() -> bool {
        choose(0, 1) != 0
    }
    /// Any truth value.
    fn __VERIFIER_nondet__Bool() -> bool {
        choose(0, 1) != 0
    }
    /// Any pointer.
    fn __VERIFIER_nondet_pointer() -> *mut c_void {
        null()
    }
    /// Any pointer.
    fn __VERIFIER_nondet_charp() -> *mut c_void {
        null()
    }
    /// Any pointer.
    fn __VERIFIER_nondet_pchar() -> *mut c_void {
        null()
    }
    /// Goes on only if the condition holds.
    fn __VERIFIER_assume(condition: c_int) {
        if condition == 0 {
            give_up()
        }
    }
    /// No other thread runs until the end.
    fn __VERIFIER_atomic_begin() {
        section::enter(sched::site());
    }
    /// Others may run again.
    fn __VERIFIER_atomic_end() {
        section::leave();
    }
    /// The error that must not be reached.
    fn __VERIFIER_error() -> ! {
        error("__VERIFIER_error")
    }
    /// The error that must not be reached.
    fn reach_error() -> ! {
        error("reach_error")
    }
}
