//! Ctrl-C at any moment leaves a complete report of what is known.

mod common;

use std::fmt::Write as _;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::Folder;

/// Variables of the program, each with two pairs.
const VARIABLES: usize = 100;

/// A program of five thousand lines with two hundred pairs, more schedules than anybody has time for, one race, and one
/// variable that only a search of all of them could tell apart from another.
fn program() -> String {
    let mut text = String::from(
        "#include <pthread.h>\n#include <stdatomic.h>\nstatic int forgotten, never;\nstatic atomic_int turns;\n",
    );
    for k in 0..VARIABLES {
        let _ = write!(
            text,
            "static int value_{k};\nstatic pthread_mutex_t lock_{k} = PTHREAD_MUTEX_INITIALIZER;\n\
             static int work_{k}(int seed) {{\n    int a = seed, b = {k};\n"
        );
        for line in 0..40 {
            let _ = writeln!(text, "    a = a * {} + (b ^ {line});", line % 7 + 3);
        }
        let _ = write!(
            text,
            "    pthread_mutex_lock(&lock_{k});\n    value_{k} += a + b;\n    pthread_mutex_unlock(&lock_{k});\n    \
             atomic_fetch_add(&turns, 1);\n    return a;\n}}\n"
        );
    }
    text.push_str("static void *worker(void *arg) {\n    int seed = 1;\n");
    for k in 0..VARIABLES {
        let _ = writeln!(text, "    seed = work_{k}(seed);");
    }
    text.push_str(
        "    forgotten = seed;\n    if (atomic_load(&turns) > 1000)\n        never++;\n    return arg;\n}\nint main(void) {\n    pthread_t threads[3];\n    \
         for (int i = 0; i < 3; i++)\n        pthread_create(&threads[i], NULL, worker, NULL);\n    \
         for (int i = 0; i < 3; i++)\n        pthread_join(threads[i], NULL);\n    return 0;\n}\n",
    );
    text
}

/// Whether a process has a handler for SIGINT.
fn listens(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim);
    caught.and_then(|mask| u64::from_str_radix(mask, 16).ok()).is_some_and(|mask| mask & 0b10 != 0)
}

#[test]
fn an_interrupted_check_says_what_is_known() {
    let folder = Folder::new();
    let text = program();
    assert!(text.lines().count() >= 5_000, "{}", text.lines().count());
    std::fs::write(folder.path().join("long.c"), text).unwrap();
    // While compiling, while proving, while searching: whichever it is on this machine.
    for delay in [0, 400, 1_200, 4_000] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command.args(["check", "long.c", "--json", "--time", "600"]).current_dir(folder.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().unwrap();
        common::wait_until("it handles interrupts", || {
            assert!(child.try_wait().unwrap().is_none(), "{delay} ms: it ended before it was interrupted");
            listens(child.id())
        });
        std::thread::sleep(Duration::from_millis(delay));
        // As a terminal does: to the whole group.
        let kill = Command::new("kill").args(["-INT", "--", &format!("-{}", child.id())]).status().unwrap();
        assert!(kill.success());
        let run = common::Run::of(child.wait_with_output().unwrap());
        assert_eq!(run.stderr, "");
        let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let unknown = |code: &str| document["unknowns"].as_array().unwrap().iter().any(|u| u["code"] == code);
        assert!(matches!(run.status, 1 | 3), "{delay} ms: {}", run.status);
        assert!(unknown("RP0121"), "{delay} ms: {}", document["unknowns"]);
    }
}
