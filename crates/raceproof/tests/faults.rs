//! Programs and surroundings that misbehave: the report comes in time, within its memory, and nothing is left behind.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::containment::{folders, left_behind, processes, runs_program};

const RACEPROOF: &str = env!("CARGO_BIN_EXE_raceproof");

/// Seconds that commands get.
const TIME: u64 = 3;

/// What they may take longer. The promise is two seconds; tests run beside others.
const LATE: Duration = Duration::from_secs(4);

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/faults").join(name)
}

/// A command with temporary files in a folder of its own.
fn raceproof(folder: &Path, args: &[&str], name: &str) -> Command {
    let mut command = Command::new(RACEPROOF);
    command.args(args).arg(program(name)).current_dir(folder).env("TMPDIR", folder).stdin(Stdio::null());
    command
}

/// Bytes that commands get, in both forms.
const MEMORY: (&str, u64) = ("1G", 1 << 30);

/// Runs a command to its end, measuring: its output, and most bytes that it and its processes used.
fn measured(mut command: Command) -> (Output, u64) {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (process, ended) = (child.id(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let measuring = scope.spawn(|| {
            let mut most = 0;
            while !ended.load(Ordering::Acquire) {
                most = launch::memory::used_by(process).max(most);
                std::thread::sleep(Duration::from_millis(20));
            }
            most
        });
        let output = child.wait_with_output().unwrap();
        ended.store(true, Ordering::Release);
        (output, measuring.join().unwrap())
    })
}

/// Runs a command on a program: it answers in time and within its memory, and cleans up.
fn answer(command: &str, name: &str, more: &[&str], statuses: &[i32]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let time = TIME.to_string();
    let args = [command, "--time", &time, "--memory", MEMORY.0, "--witness-dir", "w"];
    let (output, memory) = measured(raceproof(folder.path(), &[&args, more].concat(), name));
    let (took, text) = (start.elapsed(), String::from_utf8_lossy(&output.stdout).into_owned());
    let said =
        format!("{command} {name} {more:?}: {:?}\n{text}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    assert!(memory < MEMORY.1 + MEMORY.1 / 4, "{} MB, {said}", memory >> 20);
    assert!(took < Duration::from_secs(TIME) + LATE, "after {took:?}, {said}");
    assert!(output.status.code().is_some_and(|status| statuses.contains(&status)), "{said}");
    assert_eq!(left_behind(folder.path()), [""; 0], "{said}");
    assert_eq!(folders(folder.path()), [""; 0], "{said}");
    output
}

/// A race before a thread that does not end is found.
fn race_is_found(name: &str) {
    for command in ["check", "explore"] {
        answer(command, name, &[], &[1]);
    }
}

/// Programs that race and then do one thing of a file; the race is found whatever that is.
macro_rules! race_is_found_before {
    ($file:literal: $($test:ident $what:literal),* $(,)?) => {
        $(#[test]
        fn $test() {
            answer("check", $file, &[concat!("--cflags=-D", $what)], &[1]);
        })*
    };
}

race_is_found_before! { "hung.c":
    hung_in_pause "PAUSE",
    hung_in_sigsuspend "SIGSUSPEND",
    hung_in_sigwait "SIGWAIT",
    hung_in_sigtimedwait "SIGTIMEDWAIT",
    hung_in_select "SELECT",
    hung_in_poll "POLL",
    hung_in_epoll "EPOLL",
    hung_in_read "READ",
    hung_in_write "WRITE",
    hung_in_accept "ACCEPT",
    hung_in_select_of_a_socket "SELECT_SOCKET",
    hung_in_eventfd "EVENTFD",
    hung_in_timerfd "TIMERFD",
    hung_in_sleep "SLEEP",
    hung_in_yield "YIELD",
    hung_in_a_loop "SPIN",
    hung_in_a_condition "CONDITION",
    hung_in_a_semaphore "SEMAPHORE",
    hung_in_a_futex "FUTEX",
    hung_in_flock "FLOCK",
    hung_in_a_fifo "FIFO",
    hung_in_a_queue "QUEUE",
    hung_in_a_child "CHILD",
    hung_in_a_command "COMMAND",
    a_fork_bomb "FORK_BOMB",
}

race_is_found_before! { "greedy.c":
    an_endless_file "ENDLESS_FILE",
    endless_files "FILES",
    endless_descriptors "DESCRIPTORS",
    endless_mappings "MAPPINGS",
    endless_errors "ERRORS",
    a_killed_program "KILL",
    a_clock_that_jumps "CLOCK",
    closed_descriptors "CLOSES",
    an_aborted_program "ABORT",
}

/// On a machine that does nothing else the race is found; beside other tests there may be no time for it.
#[test]
fn ten_thousand_threads() {
    answer("check", "many_threads.c", &[], &[1, 3]);
    answer("explore", "many_threads.c", &[], &[1, 3]);
}

#[test]
fn endless_output() {
    race_is_found("endless_output.c");
}

#[test]
fn endless_allocation() {
    race_is_found("endless_allocation.c");
}

#[test]
fn endless_computation() {
    race_is_found("endless_computation.c");
}

#[test]
fn endless_recursion() {
    race_is_found("endless_recursion.c");
}

#[test]
fn a_start_without_end() {
    answer("explore", "endless_start.c", &[], &[3]);
}

/// The program ends with the tool, and the next start deletes its folder.
#[test]
fn a_killed_tool_leaves_no_process() {
    for isolation in ["restore", "fork"] {
        let folder = tempfile::tempdir().unwrap();
        let args = ["explore", "--time", "60", "--run-time", "60", "--isolation", isolation];
        let mut tool = raceproof(folder.path(), &args, "endless_computation.c")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let runs = || processes(folder.path()).iter().any(|path| runs_program(path));
        while !runs() {
            assert!(start.elapsed() < Duration::from_secs(30), "{isolation}: the program does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(300));
        tool.kill().unwrap();
        tool.wait().unwrap();
        assert_eq!(left_behind(folder.path()), [""; 0], "{isolation}");
        assert_eq!(folders(folder.path()).len(), 1, "a killed process deletes nothing");
        raceproof(folder.path(), &["static"], "endless_computation.c").output().unwrap();
        assert_eq!(folders(folder.path()), [""; 0], "{isolation}");
    }
}

/// A command on a program with one race, in a shell: status, standard output and standard error.
fn in_shell(folder: &Path, script: &str) -> (i32, String, String) {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).current_dir(folder).env("TMPDIR", folder).env("RACEPROOF", RACEPROOF);
    let output = shell.env("PROGRAM", program("racy.c")).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// What cannot be done is said, with a reason and in time, and nothing is left behind.
#[track_caller]
fn is_refused(script: &str, reason: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (status, _, errors) = in_shell(folder.path(), script);
    assert_eq!(status, 2, "{errors}");
    assert!(errors.starts_with("error: ") && errors.contains(reason), "{errors}");
    assert_eq!(folders(folder.path()), [""; 0], "{errors}");
}

#[test]
fn standard_output_that_is_full() {
    is_refused("$RACEPROOF check $PROGRAM >/dev/full", "standard output");
}

#[test]
fn files_that_cannot_be_written() {
    for flag in ["html", "sarif", "json-out", "svcomp", "checkpoint"] {
        is_refused(&format!("$RACEPROOF check $PROGRAM --{flag} /proc/none/result"), "/proc/none/result");
        is_refused(&format!("$RACEPROOF check $PROGRAM --{flag} ."), "cannot write `.`");
    }
}

#[test]
fn no_folder_for_temporary_files() {
    is_refused("TMPDIR=/proc/none $RACEPROOF check $PROGRAM", "temporary files");
}

#[test]
fn limits_of_the_shell() {
    is_refused("ulimit -f 100; $RACEPROOF check $PROGRAM", "File too large");
    // Far too little for the memory that is shared with the program: right at the limit, LLVM may be the first that has too little.
    is_refused("ulimit -v 400000; $RACEPROOF check $PROGRAM", "Cannot allocate memory");
    is_refused("ulimit -n 14; $RACEPROOF check $PROGRAM", "Too many open files");
}

/// Where a file system of a few kilobytes can be made, which takes a user namespace.
#[test]
fn a_full_disk() {
    let can = Command::new("unshare").args(["-Urm", "mount", "-t", "tmpfs", "-o", "size=20k", "none", "/mnt"]).status();
    if !can.is_ok_and(|status| status.success()) {
        return;
    }
    for size in ["20k", "100k", "1m"] {
        let script = format!(
            "mkdir disk; unshare -Urm sh -c 'mount -t tmpfs -o size={size} none disk; TMPDIR=$PWD/disk $RACEPROOF check $PROGRAM'"
        );
        is_refused(&script, "No space left on device");
    }
}

/// The report is there although its witnesses are not.
#[test]
fn witnesses_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let (status, report, errors) = in_shell(folder.path(), "$RACEPROOF check $PROGRAM --witness-dir /proc/none/w");
    assert_eq!((status, errors.as_str()), (1, ""), "{report}");
    assert!(report.contains("warning: findings have no witness: cannot write `/proc/none/w`"), "{report}");
    assert!(!report.contains("raceproof replay"), "{report}");
}

/// What could be written at the start and not at the end is said after the report.
#[test]
fn a_folder_that_goes_away() {
    let folder = tempfile::tempdir().unwrap();
    let script = "mkdir gone; $RACEPROOF check $PROGRAM --html gone/page.html & sleep 0.05; rm -r gone; wait $!";
    let (status, report, errors) = in_shell(folder.path(), script);
    let at_start = status == 2 && errors.contains("gone/page.html");
    assert!(at_start || status == 1 && report.contains("found; ") && errors.contains("gone/page.html"), "{errors}");
}

#[test]
fn closed_standard_streams() {
    let folder = tempfile::tempdir().unwrap();
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let (status, ..) = in_shell(folder.path(), &format!("$RACEPROOF check $PROGRAM --json-out out.json {closed}"));
        assert_eq!(status, 1, "{closed}");
        assert!(std::fs::read_to_string(folder.path().join("out.json")).unwrap().contains("\"race\""), "{closed}");
    }
}
