//! Running a compiler or linker within a budget.

use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::Duration;

use model::{Budget, Spent};

/// Polling interval: after this time at the latest a spent budget ends the process.
const POLL: Duration = Duration::from_millis(10);

/// How a process ended.
pub(crate) enum Outcome {
    /// By itself, with this status; it wrote this to standard error.
    Ended(ExitStatus, Vec<u8>),
    /// The budget was spent, and the process was killed.
    Killed(Spent),
}

/// Runs a command and all processes that it starts, until they end or the budget is spent.
pub(crate) fn run(command: &mut Command, budget: &Budget) -> io::Result<Outcome> {
    if let Some(spent) = budget.spent() {
        return Ok(Outcome::Killed(spent));
    }
    // A group of its own: clang starts the linker, and both have to end.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    // Standard error is closed when the last process of the group ends, so waiting for that needs no polling.
    let mut stderr = child.stderr.take();
    let mut written = Vec::new();
    loop {
        stderr = match stderr {
            Some(open) => read_some(open, &mut written)?,
            // The process closed it and goes on, or is about to end.
            None => match child.try_wait()? {
                Some(status) => return Ok(Outcome::Ended(status, written)),
                None => {
                    std::thread::sleep(Duration::from_millis(1));
                    None
                }
            },
        };
        if let Some(spent) = budget.spent() {
            kill_group(&mut child)?;
            return Ok(Outcome::Killed(spent));
        }
    }
}

/// Waits a moment for more of what a process writes, and reads it. `None` at its end.
fn read_some(mut stderr: ChildStderr, written: &mut Vec<u8>) -> io::Result<Option<ChildStderr>> {
    let mut wanted = libc::pollfd { fd: stderr.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the kernel reads and writes the one entry, which outlives the call. The descriptor is open.
    if unsafe { libc::poll(&mut wanted, 1, POLL.as_millis() as libc::c_int) } <= 0 {
        return Ok(Some(stderr));
    }
    let mut room = [0; 4096];
    let count = match stderr.read(&mut room) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(Some(stderr)),
        count => count?,
    };
    written.extend_from_slice(&room[..count]);
    Ok((count > 0).then_some(stderr))
}

/// Ends a child and all processes of its group, and waits for the child.
fn kill_group(child: &mut Child) -> io::Result<()> {
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: a system call without pointers. The group is the child's, which has not been waited for: its number
        // cannot belong to anybody else.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
    child.wait().map(|_| ())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use model::Interrupt;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_command_says_how_it_ended() {
        match run(&mut shell("echo no >&2; exit 3"), &Budget::default()).unwrap() {
            Outcome::Ended(status, written) => assert_eq!((status.code(), written.as_slice()), (Some(3), &b"no\n"[..])),
            Outcome::Killed(spent) => panic!("killed: {spent}"),
        }
    }

    #[test]
    fn a_spent_budget_ends_the_command_and_what_it_started() {
        let start = Instant::now();
        let budget = Budget::new(Some(Duration::from_millis(50)), None, Interrupt::new());
        // Were the inner `sleep` to live on, standard error would stay open.
        let outcome = run(&mut shell("sleep 60 & sleep 60"), &budget).unwrap();
        assert!(matches!(outcome, Outcome::Killed(Spent::Time)));
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }

    #[test]
    fn a_command_that_closes_standard_error_is_waited_for() {
        let start = Instant::now();
        let outcome = run(&mut shell("exec 2>&-; sleep 0.2"), &Budget::default()).unwrap();
        assert!(matches!(outcome, Outcome::Ended(status, _) if status.success()));
        assert!(start.elapsed() >= Duration::from_millis(200));
    }

    #[test]
    fn nothing_starts_with_a_spent_budget() {
        let budget = Budget::default();
        budget.interrupt().set();
        assert!(matches!(run(&mut shell("exit 0"), &budget).unwrap(), Outcome::Killed(Spent::Interrupt)));
    }
}
