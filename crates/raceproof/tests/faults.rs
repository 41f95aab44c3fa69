//! Programs and surroundings that misbehave: the report comes in time, within its memory, and nothing is left behind.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const RACEPROOF: &str = env!("CARGO_BIN_EXE_raceproof");

/// Seconds that commands get.
const TIME: u64 = 4;

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

/// Processes whose environment has this folder.
fn processes(folder: &Path) -> Vec<String> {
    let mark = format!("TMPDIR={}", folder.display()).into_bytes();
    let entries = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let ours = entries.filter(|path| {
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark)
    });
    ours.map(|path| path.display().to_string()).collect()
}

/// Waits until no process is left; which are, if some stay.
fn left_behind(folder: &Path) -> Vec<String> {
    let start = Instant::now();
    loop {
        let left = processes(folder);
        if left.is_empty() || start.elapsed() > Duration::from_secs(3) {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Folders of ours among temporary files.
fn folders(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("raceproof-")).collect()
}

/// Runs a command on a program: it answers in time and cleans up.
fn answer(command: &str, name: &str, statuses: &[i32]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let args = [command, "--time", &TIME.to_string(), "--memory", "2G", "--witness-dir", "w"];
    let output = raceproof(folder.path(), &args, name).output().unwrap();
    let (took, text) = (start.elapsed(), String::from_utf8_lossy(&output.stdout).into_owned());
    let said = format!("{command} {name}: {:?}\n{text}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    assert!(took < Duration::from_secs(TIME) + LATE, "after {took:?}, {said}");
    assert!(output.status.code().is_some_and(|status| statuses.contains(&status)), "{said}");
    assert_eq!(left_behind(folder.path()), [""; 0], "{said}");
    assert_eq!(folders(folder.path()), [""; 0], "{said}");
    output
}

/// A race before a thread that does not end is found.
fn race_is_found(name: &str) {
    for command in ["check", "explore"] {
        answer(command, name, &[1]);
    }
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
    answer("explore", "endless_start.c", &[3]);
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

/// Whether a process is the program under test.
fn runs_program(process: &str) -> bool {
    std::fs::read_link(Path::new(process).join("exe"))
        .is_ok_and(|path| path.file_name().is_some_and(|n| n == "program"))
}
