//! Library functions whose effects are known: a declarative table.
//!
//! A row says which memory a function touches, by argument, in a small fixed vocabulary. Instrumentation turns a row
//! into `__rp_add*` calls around the call (`docs/runtime-abi.md`); the static engines read the same rows as facts. A
//! function that is neither here nor in [`threads`] has unknown effects.
//!
//! | file | rows |
//! |---|---|
//! | `string` | `string.h`, `strings.h`, string conversions of `stdlib.h` |
//! | `wide` | `wchar.h`, `wctype.h`, multibyte conversions |
//! | `stdlib` | memory, environment, sorting, random numbers, processes |
//! | `stdio` | streams and formatted input and output |
//! | `posix` | descriptors, files, sockets, signals |
//! | `databases` | `grp.h`, `pwd.h`, `netdb.h`, `utmpx.h`, `arpa/inet.h` |
//! | `attributes` | attribute objects of `pthread.h` |
//! | `time` | `time.h`, `sys/time.h` |
//! | `pure` | `math.h`, `ctype.h` and whatever touches no memory the program can see |
//! | `cxx` | what compiled C++ calls in libstdc++ and its ABI library |
//! | `cxx_streams` | streams of libstdc++ |
//! | `reach` | how far functions of other libraries reach |
//! | [`threads`] | thread functions, mapped to [`SyncOp`](crate::SyncOp) |
//! | [`atomics`] | atomic library calls |
//!
//! Conventions: arguments are counted from 0. A null pointer argument touches nothing. Memory that the library owns
//! and hands out through no pointer is [`LibraryState`]. Sizes of types depend on the architecture ([`CType`]); a number
//! of bytes is written only where it is the same on all of them.

pub mod atomics;
mod attributes;
mod c_type;
mod cxx;
mod cxx_streams;
mod databases;
mod effect;
pub mod handlers;
mod posix;
mod pure;
mod reach;
mod size;
mod state;
mod stdio;
mod stdlib;
mod string;
pub mod system_calls;
pub mod threads;
mod time;
mod wide;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub use c_type::{CType, Language};
pub use effect::{Computed, Effect, FileUse, Format, FormatArgs, HookArg, Links, Passage};
pub use reach::{Reach, reach, reach_of_request};
pub use size::Size;
pub use state::{LibraryState, StateAccess};

/// What a call does beyond touching memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Nothing else.
    Ordinary,
    /// Returns a new heap block of this size.
    Allocate {
        /// Its size.
        size: Size,
        /// Whether it is filled with zeros.
        zeroed: bool,
    },
    /// Frees argument 0 and returns a new block of this size with its content.
    Reallocate {
        /// The new block's size.
        size: Size,
    },
    /// Frees the block in this argument.
    Free(u8),
    /// Returns a new heap block with content made by the library (`strdup`, `getcwd`, `opendir`).
    AllocateInside,
    /// Stores the address of a new heap block of the size in an argument through another (`posix_memalign`).
    AllocateInto {
        /// Where the address is stored.
        pointer: u8,
        /// Its size.
        size: Size,
    },
    /// Returns the address of the calling thread's `errno`.
    Errno,
    /// Returns twice.
    SetJump,
    /// Continues after a `setjmp`.
    LongJump,
    /// Ends the process with the status in this argument.
    Exit(u8),
    /// Ends the process abnormally.
    Abort,
    /// Ends the process because an assertion failed.
    AssertionFailed,
    /// Throws or goes on throwing an exception; does not return.
    Throws,
}

/// A library function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LibraryFunction {
    /// The linker's name.
    pub name: &'static str,
    /// Number of parameters in its prototype, without variadic ones.
    pub params: u8,
    /// Whether more arguments may follow.
    pub variadic: bool,
    /// What it does beyond touching memory.
    pub role: Role,
    /// What it touches; reads come before writes.
    pub effects: &'static [Effect],
    /// The runtime defines it and reports what it touches, in one event with the operation itself: instrumentation
    /// inserts nothing but the site.
    pub by_runtime: bool,
}

impl LibraryFunction {
    /// Whether nothing it does can be noticed by another thread, except through its result.
    pub fn is_pure(&self) -> bool {
        self.effects.iter().all(|e| matches!(e, Effect::Returns(_)))
            && matches!(self.role, Role::Ordinary | Role::Errno)
    }

    /// Whether some of what it does cannot be described.
    pub fn is_opaque(&self) -> bool {
        self.effects.iter().any(|e| matches!(e, Effect::Opaque(_)))
    }

    /// Whether some effect is known only once the call has returned.
    pub fn ends_after_call(&self) -> bool {
        self.effects.iter().any(|e| {
            let scan = matches!(e, Effect::Format(format) if format.scan);
            let after = matches!(
                e,
                Effect::ReadAfter(..) | Effect::WriteAfter(..) | Effect::ComputedAfter(_) | Effect::WriteResult(_)
            );
            scan || after || matches!(e, Effect::Calls(_))
        })
    }

    /// Whether it touches what pointers in its arguments' objects or in the library's memory point to.
    pub fn reaches_behind(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Behind(..) | Effect::Kept(..)))
    }

    /// Whether it follows links of nodes.
    pub fn follows_links(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Links(..) | Effect::ReturnsLinked(..)))
    }

    /// Whether what it is given may be reached afterwards by other ways than its arguments.
    pub fn shows_arguments(&self) -> bool {
        self.effects.iter().any(|effect| {
            matches!(
                effect,
                Effect::Keeps(_)
                    | Effect::Links(..)
                    | Effect::KeepsIn(..)
                    | Effect::StoresPointer(..)
                    | Effect::Advances(_)
                    | Effect::Calls(_)
                    | Effect::Returns(_)
                    | Effect::ReturnsBehind(_)
                    | Effect::ReturnsLinked(..)
            )
        })
    }

    const fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    const fn by_runtime(mut self) -> Self {
        self.by_runtime = true;
        self
    }

    const fn variadic(mut self) -> Self {
        self.variadic = true;
        self
    }
}

/// A row: name, number of parameters, effects.
const fn row(name: &'static str, params: u8, effects: &'static [Effect]) -> LibraryFunction {
    LibraryFunction { name, params, variadic: false, role: Role::Ordinary, effects, by_runtime: false }
}

/// What this argument points to goes in.
const fn goes_in(arg: u8, state: LibraryState) -> Effect {
    Effect::Passes(Passage { arg, behind: 0, out: false, state })
}

/// What went in comes out where this argument points to.
const fn comes_out(arg: u8, state: LibraryState) -> Effect {
    Effect::Passes(Passage { arg, behind: 0, out: true, state })
}

/// A `Computed` effect: hook, its arguments, what it may read, what it may write.
const fn computed(
    hook: &'static str,
    args: &'static [HookArg],
    reads: &'static [u8],
    writes: &'static [u8],
) -> Computed {
    Computed { hook, args, reads, writes }
}

/// Looks for a name in the working folder or below another.
const LOOKS_UP: Effect = Effect::State(LibraryState::Names, StateAccess::Read);
/// Makes a name stand for another file, or for none.
const CHANGES_NAME: Effect = Effect::State(LibraryState::Names, StateAccess::Write);
/// A relative name begins in the working folder.
const FROM_FOLDER: Effect = Effect::State(LibraryState::Folder, StateAccess::Read);
/// A new file does not get all permissions that are asked for.
const MASKED: Effect = Effect::State(LibraryState::FileMask, StateAccess::Read);
/// Takes or frees a number of a descriptor.
const CHANGES_TABLE: Effect = Effect::State(LibraryState::Descriptors, StateAccess::Write);
/// Makes a child process or takes its status.
const CHILDREN: Effect = Effect::State(LibraryState::Children, StateAccess::Write);

/// Asks for something of a file by its name. The runtime knows which file that is, and adds its cell.
const ASKS_NAMED: Effect = Effect::State(LibraryState::Bytes, StateAccess::Read);
/// Changes the content of a file by its name, or may do so.
const CHANGES_NAMED: Effect = Effect::State(LibraryState::Bytes, StateAccess::Write);

/// The groups, each sorted by name.
const GROUPS: [(&str, &[LibraryFunction]); 11] = [
    ("attributes", attributes::ROWS),
    ("cxx", cxx::ROWS),
    ("cxx_streams", cxx_streams::ROWS),
    ("databases", databases::ROWS),
    ("posix", posix::ROWS),
    ("pure", pure::ROWS),
    ("stdio", stdio::ROWS),
    ("stdlib", stdlib::ROWS),
    ("string", string::ROWS),
    ("time", time::ROWS),
    ("wide", wide::ROWS),
];

/// Other names of functions in the groups: `(alias, name)`. Where the alias has more parameters than the function
/// (the object size of a fortified variant), they come last and touch nothing.
const ALIASES: [&[(&str, &str)]; 4] = [posix::ALIASES, stdio::ALIASES, string::ALIASES, wide::ALIASES];

static TABLE: LazyLock<BTreeMap<&'static str, &'static LibraryFunction>> = LazyLock::new(|| {
    let mut table: BTreeMap<_, _> = GROUPS.iter().flat_map(|(_, rows)| rows.iter()).map(|f| (f.name, f)).collect();
    for (alias, name) in ALIASES.into_iter().flatten() {
        if let Some(function) = table.get(name).copied() {
            table.insert(alias, function);
        }
    }
    table
});

/// Whether what a function reads and writes up to an end that it finds itself are texts: characters, and nothing else.
pub fn is_for_texts(symbol: &str) -> bool {
    const OTHERS: [&str; 14] = [
        "access", "atof", "atoi", "atol", "atoll", "fgets", "fopen", "fputs", "getenv", "open", "puts", "stat",
        "syslog", "unlink",
    ];
    let symbol = symbol.strip_prefix("__isoc23_").or_else(|| symbol.strip_prefix("__isoc99_")).unwrap_or(symbol);
    let symbol = symbol.trim_start_matches('_').trim_end_matches("_chk");
    symbol.starts_with("str") || symbol.ends_with("printf") || OTHERS.contains(&symbol)
}

/// The row of the function with this linker name; under an alias, the row of the function it stands for.
pub fn lookup(name: &str) -> Option<&'static LibraryFunction> {
    TABLE.get(name).copied().or_else(|| cxx::by_prefix(name)).or_else(|| cxx_streams::by_prefix(name))
}

/// Whether the variable with this linker name is a table of the C++ runtime through which the program itself calls nothing:
/// type information, which only the runtime looks into, and the tables of abstract classes, which no complete object has.
pub fn is_runtime_table(symbol: &str) -> bool {
    const ABSTRACT: [&str; 2] = ["_ZTVNSt6thread6_StateE", "_ZTVNSt13__future_base12_Result_baseE"];
    const TYPES: [&str; 3] = ["_ZTVN10__cxxabiv1", "_ZTISt", "_ZTINSt"];
    ABSTRACT.contains(&symbol) || TYPES.iter().any(|prefix| symbol.starts_with(prefix))
}

/// Whether the variable with this linker name points to a stream of the C library.
pub fn is_stream_variable(symbol: &str) -> bool {
    matches!(symbol, "stdin" | "stdout" | "stderr")
}

/// Whether the variable with this linker name is the C library's, which uses it in the functions whose rows say so.
pub fn is_library_variable(symbol: &str) -> bool {
    is_stream_variable(symbol) || LibraryState::ALL.iter().any(|state| state.has_variable(symbol))
}

/// Whether the function with this linker name sends or waits for signals or says what is done about them, and touches no
/// memory but what its row says: what is opaque about it is only when handlers run.
pub fn is_about_signals(name: &str) -> bool {
    const NAMES: [&str; 21] = [
        "alarm",
        "kill",
        "killpg",
        "pause",
        "pthread_kill",
        "pthread_sigqueue",
        "raise",
        "setitimer",
        "sigaction",
        "sigaltstack",
        "siginterrupt",
        "signal",
        "signalfd",
        "sigqueue",
        "sigsuspend",
        "sigtimedwait",
        "sigwait",
        "sigwaitinfo",
        "tgkill",
        "timer_settime",
        "ualarm",
    ];
    NAMES.binary_search(&lookup(name).map_or(name, |row| row.name)).is_ok()
}

/// Whether threads of a program may interrupt each other with signals: it says what is done about signals, and sends them to
/// threads, or to the process from a thread that may block them, or later by a timer. `calls` says whether it calls a function.
pub fn may_interrupt(calls: impl Fn(&str) -> bool) -> bool {
    const ACTIONS: [&str; 5] = ["__sysv_signal", "bsd_signal", "sigaction", "signal", "sysv_signal"];
    const TO_THREADS: [&str; 3] = ["pthread_kill", "pthread_sigqueue", "tgkill"];
    const TIMERS: [&str; 4] = ["alarm", "setitimer", "timer_settime", "ualarm"];
    const MASKS: [&str; 2] = ["pthread_sigmask", "sigprocmask"];
    let any = |names: &[&str]| names.iter().any(|name| calls(name));
    any(&ACTIONS) && (any(&TO_THREADS) || any(&TIMERS) || calls("kill") && any(&MASKS))
}

/// Whether a call of the function with this linker name may last until another thread does something: sends bytes, makes
/// room for them, connects, raises a signal.
pub fn may_wait(name: &str) -> bool {
    const NAMES: [&str; 34] = [
        "accept",
        "accept4",
        "connect",
        "epoll_pwait",
        "epoll_pwait2",
        "epoll_wait",
        "eventfd_read",
        "eventfd_write",
        "flock",
        "pause",
        "pclose",
        "poll",
        "ppoll",
        "pselect",
        "read",
        "readv",
        "recv",
        "recvfrom",
        "recvmsg",
        "select",
        "send",
        "sendmsg",
        "sendto",
        "sigsuspend",
        "sigwait",
        "sigwaitinfo",
        "system",
        "wait",
        "wait3",
        "wait4",
        "waitid",
        "waitpid",
        "write",
        "writev",
    ];
    NAMES.binary_search(&lookup(name).map_or(name, |row| row.name)).is_ok()
}

/// The hook that looks for a buffer of the program's at standard output.
pub const OUTPUT_BUFFER: &str = "__rp_add_standard_output";

/// Whether a program that declares these functions may give buffers to streams: only then one looks for them where
/// something is printed.
pub fn gives_buffers(declares: impl Fn(&str) -> bool) -> bool {
    ["setbuf", "setbuffer", "setvbuf"].into_iter().any(declares)
}

/// Why a use of a stream without the library's lock is not followed in a program that locks streams itself.
pub const UNLOCKED: &str =
    "uses a stream without its lock, and which locks of streams the program holds is not followed";

/// Whether a program that declares these functions locks streams itself. Which of its uses of a stream without the
/// library's lock are kept apart that way is not followed.
pub fn locks_streams(declares: impl Fn(&str) -> bool) -> bool {
    declares("flockfile") || declares("ftrylockfile")
}

/// The groups of rows by the names of their files, each sorted by name.
pub fn groups() -> impl Iterator<Item = (&'static str, &'static [LibraryFunction])> {
    GROUPS.into_iter()
}

/// Other names of functions, with the names whose rows are theirs.
pub fn aliases() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALIASES.into_iter().flatten().copied()
}

/// All rows, group by group.
pub fn functions() -> impl Iterator<Item = &'static LibraryFunction> {
    GROUPS.iter().flat_map(|(_, rows)| rows.iter())
}

#[cfg(test)]
mod tests;
