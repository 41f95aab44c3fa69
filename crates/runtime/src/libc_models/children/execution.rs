//! Running a program to its end. It ends with this process, and takes along everything that it has started: between the two
//! is a keeper, a process that waits for the end of either and then ends what is left.

use alloc::vec::Vec;
use core::ffi::{c_char, c_int};

use super::files::{Files, Source, Traffic};
use super::request::{Request, What, put_number, take_number};
use crate::descriptors::{self, kernel_limit};
use crate::libc_models::kernel::{self, OwnedFd};
use crate::sync::signal::only;
use crate::sys::{self, sys};

/// What a child did.
#[derive(PartialEq, Eq, Debug)]
pub struct Outcome {
    /// As `wait` gives it.
    pub status: c_int,
    /// Processes that it had started went on after its end.
    pub leaves_processes: bool,
    /// What it wrote and read.
    pub traffic: Traffic,
}

impl Outcome {
    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_number(&mut bytes, self.status as u64);
        put_number(&mut bytes, self.leaves_processes.into());
        self.traffic.put(&mut bytes);
        bytes
    }
    /// What [`to_bytes`](Self::to_bytes) gave.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let (status, leaves) = (take_number(&mut bytes)?, take_number(&mut bytes)?);
        let traffic = Traffic::take(&mut bytes)?;
        Some(Self { status: status as c_int, leaves_processes: leaves != 0, traffic })
    }
}

/// Why there is no outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The program cannot be started: the error number.
    NotStarted(c_int),
    /// It writes without end.
    WritesTooMuch,
}

/// Most bytes that a child may write.
const MOST: i64 = 1 << 26;

/// Runs a program to its end.
///
/// # Errors
/// Why it cannot.
pub fn run(request: &Request, files: &Files) -> Result<Outcome, Failure> {
    let [told, tells] = pipe().map_err(Failure::NotStarted)?;
    // SAFETY: takes no memory. Without flags and with no stack `clone` is `fork`: the process has one operating-system
    // thread, so nothing in the copy is half done.
    let (own, keeper) = unsafe { (sys!(SYS_getpid), sys!(SYS_clone, libc::SIGCHLD, 0, 0, 0, 0)) };
    if keeper == 0 {
        kernel::close(told);
        keep(request, files, tells, own);
    }
    kernel::close(tells);
    let told = OwnedFd::new(told as isize);
    let answer = loop {
        if is_readable(told.number(), 50) {
            break read_words(told.number());
        }
        if files.written() > MOST {
            // SAFETY: takes numbers only; the keeper is a child of this process, which nobody has waited for.
            unsafe { sys!(SYS_kill, keeper, libc::SIGTERM) };
            break None;
        }
    };
    // SAFETY: takes numbers only.
    unsafe { sys!(SYS_wait4, keeper, 0, 0, 0) };
    match answer {
        Some([0, status, leaves]) => Ok(Outcome { status, leaves_processes: leaves != 0, traffic: files.traffic() }),
        Some([error, ..]) => Err(Failure::NotStarted(error)),
        None if keeper < 0 => Err(Failure::NotStarted(-keeper as c_int)),
        None => Err(Failure::WritesTooMuch),
    }
}

/// A pipe with numbers out of the way of the child's own descriptors.
fn pipe() -> Result<[c_int; 2], c_int> {
    let mut ends = [0 as c_int; 2];
    // SAFETY: the kernel stores two descriptors in the array.
    let made = unsafe { sys!(SYS_pipe2, ends.as_mut_ptr(), libc::O_CLOEXEC) };
    if made < 0 {
        return Err(-made as c_int);
    }
    let [one, other] = ends.map(|end| descriptors::hide(end as isize));
    Ok([one?, other?])
}

fn is_readable(fd: c_int, milliseconds: i64) -> bool {
    let mut entry = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let limit = libc::timespec { tv_sec: 0, tv_nsec: milliseconds * 1_000_000 };
    // SAFETY: the kernel writes the entry and reads the limit; both live over the call.
    unsafe { sys!(SYS_ppoll, &raw mut entry, 1, &raw const limit, 0, 0) > 0 }
}

/// Error number, status, and whether processes were left.
type Words = [c_int; 3];

fn read_words(fd: c_int) -> Option<Words> {
    let mut words: Words = [0; 3];
    // SAFETY: the kernel writes at most as many bytes as the array has.
    let len = unsafe { sys!(SYS_read, fd, words.as_mut_ptr(), size_of_val(&words)) };
    (len == size_of_val(&words) as isize).then_some(words)
}

/// In a process of its own: starts the program, tells how it ended, and ends whatever is left of it, also if the process ends
/// that it works for.
fn keep(request: &Request, files: &Files, tells: c_int, parent: isize) -> ! {
    let awaited = only(libc::SIGTERM) | only(libc::SIGCHLD);
    // SAFETY: the calls take numbers, or a set that lives over them, and change this process alone.
    unsafe {
        sys!(SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const awaited, 0, 8);
        sys!(SYS_setpgid, 0, 0);
        sys!(SYS_prctl, libc::PR_SET_PDEATHSIG, libc::SIGTERM, 0, 0, 0);
        sys!(SYS_prctl, libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        if sys!(SYS_getppid) != parent {
            sys::leave(1);
        }
    }
    let words = match start(request, &files.sources) {
        Err(error) => [error, 0, 0],
        Ok(pid) => loop {
            // SAFETY: the kernel reads the set, which lives over the call.
            let signal = unsafe { sys!(SYS_rt_sigtimedwait, &raw const awaited, 0, 0, 8) };
            if signal == libc::SIGTERM as isize {
                end_others();
                sys::leave(1);
            }
            if let Some(status) = ended(pid) {
                break [0, status, end_others().into()];
            }
        },
    };
    // SAFETY: the kernel reads the words, which live over the call.
    unsafe { sys!(SYS_write, tells, words.as_ptr(), size_of_val(&words)) };
    sys::leave(0)
}

/// The status of a child, if it has ended.
fn ended(pid: isize) -> Option<c_int> {
    let mut status = 0 as c_int;
    // SAFETY: the kernel writes the status, which lives over the call.
    let found = unsafe { sys!(SYS_wait4, pid, &raw mut status, libc::WNOHANG, 0) };
    (found == pid).then_some(status)
}

/// Ends all processes that children have left; whether one was still running.
fn end_others() -> bool {
    let mut found = false;
    loop {
        let alive = for_each_child(|pid| {
            // SAFETY: takes numbers only; the process is a child of this one, which nobody has waited for.
            unsafe { sys!(SYS_kill, pid, libc::SIGKILL) };
        });
        found |= alive;
        // SAFETY: takes numbers only. `__WALL`: any child.
        let waited = unsafe { sys!(SYS_wait4, -1isize, 0, if alive { 0 } else { libc::WNOHANG } | libc::__WALL, 0) };
        if waited <= 0 {
            return found;
        }
    }
}

/// Calls `visit` with every child that has not ended; whether there is one.
fn for_each_child(mut visit: impl FnMut(i32)) -> bool {
    let mut found = false;
    let mut buffer = [0u8; 4096];
    let fd = sys::open(c"/proc/thread-self/children", libc::O_RDONLY);
    if fd < 0 {
        return false;
    }
    let len = kernel::pread(fd as c_int, &mut buffer, 0).max(0) as usize;
    kernel::close(fd as c_int);
    for word in buffer[..len].split(|&c| c == b' ') {
        let Some(pid) = core::str::from_utf8(word).ok().and_then(|word| word.parse().ok()) else { continue };
        if !is_over(pid) {
            found = true;
            visit(pid);
        }
    }
    found
}

/// Whether a child has ended and nobody has waited for it yet.
fn is_over(pid: i32) -> bool {
    // SAFETY: all bytes zero is a value of this structure of integers.
    let mut info: libc::siginfo_t = unsafe { core::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the kernel fills in the structure, which lives over the call.
    unsafe { sys!(SYS_waitid, libc::P_PID, pid, &raw mut info, options, 0) };
    info.si_signo != 0
}

/// Starts a program.
fn start(request: &Request, sources: &[(c_int, Source)]) -> Result<isize, c_int> {
    let list = |texts: &[alloc::ffi::CString]| -> Vec<*const c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([core::ptr::null()]).collect()
    };
    let (arguments, environment) = (list(&request.arguments), list(&request.environment));
    let [told, tells] = pipe()?;
    // SAFETY: takes no memory. Without flags and with no stack `clone` is `fork`: the process has one operating-system
    // thread, so nothing in the copy is half done.
    let (own, pid) = unsafe { (sys!(SYS_getpid), sys!(SYS_clone, libc::SIGCHLD, 0, 0, 0, 0)) };
    if pid == 0 {
        let error = execute(request, sources, &arguments, &environment, own);
        // SAFETY: the kernel reads the number, which lives over the call.
        unsafe { sys!(SYS_write, tells, &raw const error, size_of_val(&error)) };
        sys::leave(127);
    }
    kernel::close(tells);
    let mut error = 0 as c_int;
    // SAFETY: the kernel writes the number, which lives over the call.
    let len = unsafe { sys!(SYS_read, told, &raw mut error, size_of_val(&error)) };
    kernel::close(told);
    match len {
        _ if pid < 0 => Err(-pid as c_int),
        4 => {
            end_others();
            Err(error)
        }
        _ => Ok(pid),
    }
}

/// In the new process: executes the program; the error number if that fails.
fn execute(
    request: &Request,
    sources: &[(c_int, Source)],
    arguments: &[*const c_char],
    environment: &[*const c_char],
    parent: isize,
) -> c_int {
    // SAFETY: the calls take numbers, strings that end with zero and lists that end with null; they change this new process
    // alone, which executes another program or ends.
    unsafe {
        sys!(SYS_prctl, libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        if sys!(SYS_getppid) != parent {
            sys::leave(1);
        }
        for signal in 1..=64 {
            let ignored = request.ignored & only(signal) != 0;
            let action = [if ignored { libc::SIG_IGN } else { libc::SIG_DFL } as u64, 0, 0, 0];
            sys!(SYS_rt_sigaction, signal, action.as_ptr(), 0, 8);
        }
        sys!(SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const request.blocked, 0, 8);
        let moved = sys!(SYS_chdir, request.folder.as_ptr());
        if moved < 0 {
            return -moved as c_int;
        }
    }
    kernel::set_umask(request.mask);
    // First out of the way of the numbers that they get, then to those.
    let first = descriptors::first_own();
    let mut moved = Vec::new();
    for (fd, source) in sources {
        let from = match source {
            Source::Fd(from) => sys::fcntl(*from, libc::F_DUPFD_CLOEXEC, first),
            Source::Open(What::Path { path, flags, mode }) => {
                // SAFETY: the path ends with zero.
                let opened = unsafe { sys!(SYS_openat, libc::AT_FDCWD, path.as_ptr(), *flags, *mode) };
                if opened < 0 { opened } else { sys::fcntl(opened as c_int, libc::F_DUPFD_CLOEXEC, first) }
            }
            Source::Open(_) => continue,
        };
        if from < 0 {
            return -from as c_int;
        }
        moved.push((*fd, from as c_int));
    }
    descriptors::for_each_number(|fd| {
        if fd < first {
            kernel::close(fd);
        }
    });
    for (fd, from) in &moved {
        kernel::dup3(*from, *fd, 0);
    }
    let _ = kernel_limit(libc::RLIMIT_NOFILE as c_int, Some(descriptors::visible_limit()));
    // SAFETY: a string that ends with zero and lists of such that end with null, all alive over the call.
    let failed = unsafe { sys!(SYS_execve, request.program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    -failed as c_int
}
