//! One process and what it used: wall-clock time, processor time and memory.

use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::Failure;

/// Polling interval for a running process.
const POLL_INTERVAL: Duration = Duration::from_micros(500);

/// What a process may use.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The first processors, this many; all if `None`.
    pub(crate) processors: Option<usize>,
    /// Wall-clock limit; then the process and everything it started are killed.
    pub(crate) time: Duration,
}

/// What a process and the children it waited for have used.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Usage {
    /// Seconds by the clock.
    pub(crate) clock: f64,
    /// Seconds of processor time.
    pub(crate) processor: f64,
    /// Largest resident set of any of them.
    pub(crate) megabytes: f64,
    /// Exit status; none if a signal ended it.
    pub(crate) status: Option<i32>,
}

/// A running process with everything it started.
#[derive(Clone, Copy)]
pub(crate) struct Group(i32);

impl Group {
    /// Interrupts all of them, as the keyboard would.
    pub(crate) fn interrupt(self) {
        // SAFETY: the group is a child's own, which is not waited for while somebody has this value.
        unsafe { libc::kill(-self.0, libc::SIGINT) };
    }
}

/// Runs a command to its end or its time limit, with empty standard input.
pub(crate) fn run(command: &mut Command, limits: Limits) -> Result<Usage, Failure> {
    run_during(command, limits, |_| Ok(())).map(|(usage, ())| usage)
}

/// The same; meanwhile something else happens, which may end the process.
pub(crate) fn run_during<R: Send>(
    command: &mut Command,
    limits: Limits,
    during: impl FnOnce(Group) -> Result<R, Failure> + Send,
) -> Result<(Usage, R), Failure> {
    command.stdin(Stdio::null()).process_group(0);
    if let Some(processors) = limits.processors {
        // SAFETY: one system call on a value of our own, allowed between fork and exec.
        unsafe { command.pre_exec(move || confine(processors)) };
    }
    // Linux counts the memory of this process at the fork as the child's, so release what is free.
    // SAFETY: only touches free memory of the allocator.
    unsafe { libc::malloc_trim(0) };
    let start = Instant::now();
    #[allow(clippy::zombie_processes, reason = "waited for by wait4, which tells what it used")]
    let child = command.spawn().map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    let id = child.id() as i32;
    std::thread::scope(|scope| {
        let other = scope.spawn(move || during(Group(id)));
        let usage = loop {
            if start.elapsed() > limits.time {
                // SAFETY: the group is the child's own, and the child has not been waited for, so that its id is its.
                unsafe { libc::kill(-id, libc::SIGKILL) };
            }
            // Before that, the other thread may still use the id.
            if other.is_finished()
                && let Some(usage) = waited_for(id, start)?
            {
                break usage;
            }
            std::thread::sleep(POLL_INTERVAL);
        };
        let during = other.join().map_err(|_| "what happened meanwhile panicked")??;
        Ok((usage, during))
    })
}

/// What a child has used, if it has ended.
fn waited_for(id: i32, start: Instant) -> Result<Option<Usage>, Failure> {
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both places are valid for writing, and the child is ours and not waited for elsewhere.
    let waited = unsafe { libc::wait4(id, &mut status, libc::WNOHANG, usage.as_mut_ptr()) };
    match waited {
        0 => Ok(None),
        _ if waited == id => {
            // SAFETY: an rusage is numbers only, for which zero is valid, and the call has filled it in.
            let usage = unsafe { usage.assume_init() };
            Ok(Some(Usage {
                clock: start.elapsed().as_secs_f64(),
                processor: seconds(usage.ru_utime) + seconds(usage.ru_stime),
                megabytes: usage.ru_maxrss as f64 / 1024.0,
                status: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
            }))
        }
        _ => Err(std::io::Error::last_os_error().into()),
    }
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

/// Restricts the process to the first processors.
fn confine(processors: usize) -> std::io::Result<()> {
    // SAFETY: a set of processors is bits only, and the call reads it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        (0..processors).for_each(|processor| libc::CPU_SET(processor, &mut set));
        match libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }
}
