//! Calls that leave what can be modelled: other processes, other programs.
//!
//! | function | semantics |
//! |---|---|
//! | `clone`, `daemon`, `forkpty`, `execveat` | recorded as unmodelled; fails with `ENOSYS` |
//! | `__rp_refuse`, `__rp_refuse_call` | called by our OpenMP library, or for a function that it lacks: recorded as unmodelled, and the thread stays there for ever |

use core::ffi::{c_char, c_int};

use wire::ReplyKind;

use super::step::{set_errno, unmodelled};
use crate::text::text;
use crate::{memory, sched};

fn refuse(name: &str) {
    unmodelled(text!("calls `{name}`").as_str());
    set_errno(libc::ENOSYS);
}

/// Functions that give `result` after being refused. Arguments do not matter, so none are taken.
macro_rules! refused {
    ($result:expr; $type:ty: $($name:ident)*) => {
        export! {$(
            /// Refused.
            fn $name() -> $type {
                refuse(stringify!($name));
                $result
            }
        )*}
    };
}

refused! { -1; c_int: clone daemon forkpty execveat }

export! {
    /// The program does what is not modelled, and nothing that it could do next would be what it really does. The thread
    /// stays there, which is no failure of the program; the others go on.
    fn __rp_refuse(what: *const c_char) -> ! {
        let len = memory::string_len(what, LONGEST);
        let bytes = memory::bytes(what as u64, len);
        unmodelled(core::str::from_utf8(&bytes).unwrap_or("something that has no name"));
        stay()
    }
    /// The same for a function that is missing, whatever its arguments. Where it is called is listed as unmodelled
    /// before the program runs.
    fn __rp_refuse_call() -> ! {
        stay()
    }
}

/// The thread stays where it is.
pub fn stay() -> ! {
    if !sched::running() {
        crate::sys::complain("raceproof: something that is not modelled is reached before the program runs\n");
        crate::sys::leave(2);
    }
    sched::park(ReplyKind::Assumed, 0, "")
}

/// Most bytes of a refusal's text.
const LONGEST: usize = 256;
