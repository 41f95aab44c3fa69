//! Attributes of the process, and what the kernel keeps about open files: changes that outlive a run.
//!
//! | functions | semantics |
//! |---|---|
//! | `umask`, `chdir`, `fchdir`, `setrlimit`, `prlimit` | done; [`crate::attributes`] puts them back |
//! | `setrlimit`, `getrlimit`, `prlimit` of `RLIMIT_NOFILE` | the limit is the model's: the runtime has descriptors of its own |
//! | `mlock`, `mlockall` and relatives | accepted: which pages stay in memory makes no difference |
//! | `nice`, `setuid`, `prctl`, `setlocale` and others | done; the next run needs a new process |
//! | `setsockopt`, `ioctl` | done; the next run needs a new process, if the open file is older than the first thread |

use core::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void};

use libc::{gid_t, id_t, mode_t, pid_t, socklen_t, uid_t};

use super::children::forked;
use super::program_memory::{In, Out};
use super::{fail, result, unmodelled};
use super::{open, paths};
use crate::api::thread;
use crate::descriptors::{self, Limit, kernel_limit};
use crate::sys::sys;
use crate::{attributes, memory, sched};

/// The kernel keeps something about an open file that outlives the run, if the file does.
fn change_file(fd: c_int) {
    if open::outlives_run(fd) {
        sched::spoil();
    }
}

/// The process joins or makes a group of processes. A forked one may, which makes no difference to what it executes.
fn change_group() {
    if !forked::is_child() {
        sched::spoil_process();
    }
}

/// A name changes the locale, on which almost every function depends that reads or writes text. No cell stands for that, so
/// other threads may not see it change.
fn change_locale(category: c_int, name: *const c_char) {
    if name.is_null() {
        return;
    }
    sched::spoil_process();
    // SAFETY: without a name the function only tells the present one.
    let present = unsafe { libc::setlocale(category, core::ptr::null()) };
    // SAFETY: the program gives a text, and so does the C library.
    let is_same = !present.is_null() && unsafe { CStr::from_ptr(present) == CStr::from_ptr(name) };
    if !is_same && sched::running() && sched::with_objects(|objects| objects.threads.count()) > 1 {
        sched::unmodelled("changes the locale while other threads may depend on it");
    }
}

noting! {
    /// Changes the working folder.
    chdir(path: *const c_char) -> c_int = {
        // SAFETY: the program gives a text.
        if unsafe { paths::is_folder_here_only(path) } {
            unmodelled("makes a folder that it made, or one behind a link that it made, its working folder");
        }
        attributes::note_change();
    };
    /// Changes the working folder.
    fchdir(fd: c_int) -> c_int = attributes::note_change();

    /// Lowers the priority.
    nice(by: c_int) -> c_int = sched::spoil_process();
    /// Changes the priority.
    setpriority(which: c_int, who: id_t, priority: c_int) -> c_int = sched::spoil_process();
    /// Changes the processors.
    sched_setaffinity(process: pid_t, size: usize, set: *const libc::cpu_set_t) -> c_int = sched::spoil_process();
    /// Changes how the process is scheduled.
    sched_setscheduler(process: pid_t, policy: c_int, parameters: *const libc::sched_param) -> c_int
        = sched::spoil_process();
    /// Changes how the process is scheduled.
    sched_setparam(process: pid_t, parameters: *const libc::sched_param) -> c_int = sched::spoil_process();
    /// Changes the persona.
    personality(persona: c_ulong) -> c_int = if persona != 0xffff_ffff { sched::spoil_process() };
    /// Changes the user.
    setuid(user: uid_t) -> c_int = sched::spoil_process();
    /// Changes the effective user.
    seteuid(user: uid_t) -> c_int = sched::spoil_process();
    /// Changes users.
    setreuid(real: uid_t, effective: uid_t) -> c_int = sched::spoil_process();
    /// Changes users.
    setresuid(real: uid_t, effective: uid_t, saved: uid_t) -> c_int = sched::spoil_process();
    /// Changes the user of files.
    setfsuid(user: uid_t) -> c_int = sched::spoil_process();
    /// Changes the group.
    setgid(group: gid_t) -> c_int = sched::spoil_process();
    /// Changes the effective group.
    setegid(group: gid_t) -> c_int = sched::spoil_process();
    /// Changes groups.
    setregid(real: gid_t, effective: gid_t) -> c_int = sched::spoil_process();
    /// Changes groups.
    setresgid(real: gid_t, effective: gid_t, saved: gid_t) -> c_int = sched::spoil_process();
    /// Changes the group of files.
    setfsgid(group: gid_t) -> c_int = sched::spoil_process();
    /// Changes the further groups.
    setgroups(len: usize, groups: *const gid_t) -> c_int = sched::spoil_process();
    /// Changes the further groups.
    initgroups(user: *const c_char, group: gid_t) -> c_int = sched::spoil_process();
    /// Changes the group of processes.
    setpgid(process: pid_t, group: pid_t) -> c_int = change_group();
    /// Starts a session.
    setsid() -> pid_t = change_group();

    /// Changes the locale, for which the C library maps files.
    setlocale(category: c_int, name: *const c_char) -> *mut c_char = change_locale(category, name);
    /// Makes a locale, for which the C library maps files.
    newlocale(mask: c_int, name: *const c_char, base: *mut c_void) -> *mut c_void = sched::spoil_process();
    /// Loads a conversion of characters.
    iconv_open(to: *const c_char, from: *const c_char) -> *mut c_void = sched::spoil_process();

    /// Sets an option of a socket.
    setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, len: socklen_t) -> c_int = change_file(fd);
    /// Asks a device.
    ioctl(fd: c_int, request: c_ulong, argument: usize) -> c_int = change_file(fd);
    /// Attaches shared memory.
    shmat(segment: c_int, at: *const c_void, flags: c_int) -> *mut c_void = sched::spoil();
}

/// A limit of the process, which is asked for and changed. That on descriptors is the model's.
fn limit(which: c_int, new: Option<Limit>) -> Result<Limit, c_int> {
    if which == libc::RLIMIT_NOFILE as c_int {
        let old = descriptors::visible_limit();
        return new.map_or(Ok(()), descriptors::set_visible_limit).map(|()| old);
    }
    let old = kernel_limit(which, new)?;
    match new {
        Some([_, hard]) if hard != old[1] => sched::spoil_process(),
        Some(_) => attributes::note_change(),
        None => {}
    }
    Ok(old)
}

/// What a call gives that asks for a limit and perhaps sets it.
fn limits(which: c_int, new: Option<Limit>, old: Option<Out<'_, Limit>>) -> c_int {
    match limit(which, new) {
        Ok(before) => {
            if let Some(old) = old {
                old.write_if_given(before);
            }
            0
        }
        Err(error) => fail(error) as c_int,
    }
}

fn process_limits(process: pid_t, which: c_int, new: In<'_, Limit>, old: Out<'_, Limit>) -> c_int {
    // SAFETY: has no arguments.
    if process == 0 || process == unsafe { super::identity::getpid() } {
        return limits(which, new.get(), Some(old));
    }
    // SAFETY: the program asks for limits of another process with these pointers.
    result(unsafe { sys!(SYS_prlimit64, process, which, new.as_ptr(), old.as_ptr()) }) as c_int
}

export! {
    /// Sets the mask of permissions that new files do not get.
    fn umask(mask: mode_t) -> mode_t {
        attributes::note_change();
        attributes::set_mask(mask)
    }
    /// Asks for a limit.
    fn getrlimit(which: c_int, old: Out<'_, Limit>) -> c_int {
        limits(which, None, Some(old))
    }
    /// Asks for a limit.
    fn getrlimit64(which: c_int, old: Out<'_, Limit>) -> c_int {
        limits(which, None, Some(old))
    }
    /// Sets a limit.
    fn setrlimit(which: c_int, new: In<'_, Limit>) -> c_int {
        limits(which, new.get(), None)
    }
    /// Sets a limit.
    fn setrlimit64(which: c_int, new: In<'_, Limit>) -> c_int {
        limits(which, new.get(), None)
    }
    /// Asks for and sets a limit.
    fn prlimit(process: pid_t, which: c_int, new: In<'_, Limit>, old: Out<'_, Limit>) -> c_int {
        process_limits(process, which, new, old)
    }
    /// Asks for and sets a limit.
    fn prlimit64(process: pid_t, which: c_int, new: In<'_, Limit>, old: Out<'_, Limit>) -> c_int {
        process_limits(process, which, new, old)
    }
    /// How many descriptors the process may have.
    fn getdtablesize() -> c_int {
        c_int::try_from(descriptors::visible_limit()[0]).unwrap_or(c_int::MAX)
    }
    /// Does something to the process; names are those of threads.
    fn prctl(option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int {
        match option {
            libc::PR_SET_NAME => return set_name(a as *const c_char),
            libc::PR_GET_NAME => return thread::pthread_getname_np(thread::pthread_self(), a as *mut c_char, NAME),
            _ => {}
        }
        if !ASKS.contains(&option) {
            sched::spoil_process();
        }
        // SAFETY: the program asks for this option with these arguments.
        result(unsafe { sys!(SYS_prctl, option, a, b, c, d) }) as c_int
    }
    /// Keeps pages in memory.
    fn mlock(_at: *const c_void, _len: usize) -> c_int {
        0
    }
    /// Keeps pages in memory.
    fn mlock2(_at: *const c_void, _len: usize, _flags: c_uint) -> c_int {
        0
    }
    /// Keeps all pages in memory.
    fn mlockall(_flags: c_int) -> c_int {
        0
    }
    /// Lets pages go.
    fn munlock(_at: *const c_void, _len: usize) -> c_int {
        0
    }
    /// Lets all pages go.
    fn munlockall() -> c_int {
        0
    }
}

/// Bytes of a thread's name.
const NAME: usize = 16;

/// Names the calling thread; what does not fit is cut off.
fn set_name(name: *const c_char) -> c_int {
    let mut cut = [0; NAME];
    let len = memory::string_len(name, NAME - 1);
    cut[..len].copy_from_slice(&memory::bytes(name as u64, len));
    thread::pthread_setname_np(thread::pthread_self(), cut.as_ptr().cast())
}

/// Options of `prctl` that change nothing.
const ASKS: [c_int; 12] = [
    libc::PR_GET_PDEATHSIG,
    libc::PR_GET_DUMPABLE,
    libc::PR_GET_UNALIGN,
    libc::PR_GET_KEEPCAPS,
    libc::PR_GET_TIMING,
    libc::PR_GET_SECCOMP,
    libc::PR_CAPBSET_READ,
    libc::PR_GET_SECUREBITS,
    libc::PR_GET_TIMERSLACK,
    libc::PR_GET_CHILD_SUBREAPER,
    libc::PR_GET_NO_NEW_PRIVS,
    libc::PR_GET_THP_DISABLE,
];
