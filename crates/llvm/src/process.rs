//! Running a compiler or linker within a budget.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
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
pub(crate) fn run(command: &mut Command, budget: &Budget) -> std::io::Result<Outcome> {
    if let Some(spent) = budget.spent() {
        return Ok(Outcome::Killed(spent));
    }
    // A group of its own: clang starts the linker, and both have to end.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let mut stderr = child.stderr.take();
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        scope.spawn(move || {
            let mut written = Vec::new();
            // What cannot be read is not shown.
            let _ = stderr.as_mut().map(|stderr| stderr.read_to_end(&mut written));
            // Nobody listens any more if the process was killed.
            let _ = sender.send(written);
        });
        // Standard error is closed when the last process of the group ends, so waiting for that needs no polling.
        let mut written = None;
        loop {
            match &written {
                None => match receiver.recv_timeout(POLL) {
                    Ok(bytes) => written = Some(bytes),
                    Err(RecvTimeoutError::Disconnected) => written = Some(Vec::new()),
                    Err(RecvTimeoutError::Timeout) => {}
                },
                // The process closed it and goes on, or is about to end.
                Some(_) => match child.try_wait()? {
                    Some(status) => return Ok(Outcome::Ended(status, written.unwrap_or_default())),
                    None => std::thread::sleep(Duration::from_millis(1)),
                },
            }
            if let Some(spent) = budget.spent() {
                kill_group(&mut child)?;
                return Ok(Outcome::Killed(spent));
            }
        }
    })
}

/// Ends a child and all processes of its group, and waits for the child.
fn kill_group(child: &mut Child) -> std::io::Result<()> {
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
