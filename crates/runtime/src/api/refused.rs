//! Calls that leave what can be modelled: other processes, other programs.
//!
//! | function | semantics |
//! |---|---|
//! | `fork`, `vfork`, `_Fork`, `clone`, `daemon`, `forkpty` | recorded as unmodelled; fails with `ENOSYS` |
//! | `exec*`, `posix_spawn`, `posix_spawnp`, `system`, `popen` | the same |

use core::ffi::c_int;

use super::step::{set_errno, unmodelled};
use crate::text::text;

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

refused! { -1; c_int: fork vfork _Fork clone daemon forkpty system }
refused! { -1; c_int: execl execle execlp execv execve execveat execvp execvpe fexecve }
refused! { libc::ENOSYS; c_int: posix_spawn posix_spawnp }
refused! { core::ptr::null_mut(); *mut libc::FILE: popen }
