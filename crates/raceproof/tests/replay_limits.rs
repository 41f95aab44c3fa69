//! Replays of recordings end at their limit of time, whatever the threads of the program do: wait for a signal that never
//! comes, for a pipe that nobody writes to, or run in circles.

mod common;

use std::time::{Duration, Instant};

use common::Folder;
use serde_json::Value;

/// The limit for a command.
const LIMIT: Duration = Duration::from_secs(6);
/// What a command may take beyond it on a machine with more to do.
const LATE: Duration = Duration::from_secs(12);

/// Two threads that race on `x`, each of which then does `last`.
fn source(last: &str) -> String {
    format!(
        "#define _GNU_SOURCE\n#include <poll.h>\n#include <pthread.h>\n#include <sched.h>\n#include <signal.h>\n#include \
         <unistd.h>\nint x, ends[2];\nstatic void *run(void *p) {{\n  sigset_t none;\n  sigemptyset(&none);\n  x++;\n  \
         {last}\n  return p;\n}}\nint main(void) {{\n  pthread_t t;\n  if (pipe(ends))\n    return 1;\n  \
         pthread_create(&t, 0, run, 0);\n  run(0);\n  return 0;\n}}\n"
    )
}

fn ends_in_time(name: &str, last: &str) {
    let folder = Folder::empty();
    let (file, trace) = (format!("{name}.c"), format!("{name}.rpt"));
    std::fs::write(folder.path().join(&file), source(last)).unwrap();
    let record = folder.raceproof(&["record", &file, "--run-time=1", "--max-trace=1M"]);
    assert_eq!(record.status, 0, "{name}: {}", record.stderr);
    let start = Instant::now();
    let predict = folder.raceproof(&["predict", &trace, "--json", &format!("--time={}", LIMIT.as_secs())]);
    let took = start.elapsed();
    assert!(took < LIMIT + LATE, "{name}: took {took:?}");
    assert_eq!(predict.status, 1, "{name}: {}{}", predict.stdout, predict.stderr);
    let document: Value = serde_json::from_str(&predict.stdout).unwrap();
    let races = document["pairs"].as_array().unwrap().iter().filter(|pair| pair["verdict"] == "race");
    assert!(races.clone().count() > 0 && races.clone().all(|race| race["variable"] == "x"), "{name}: {document}");
}

#[test]
fn threads_that_wait_for_signals() {
    ends_in_time("sigsuspend", "for (;;) sigsuspend(&none);");
    ends_in_time("pause", "for (;;) pause();");
}

#[test]
fn threads_that_wait_for_nobody() {
    ends_in_time("read", "char c; if (read(ends[0], &c, 1)) return p;");
    ends_in_time("poll", "poll(0, 0, -1);");
}

#[test]
fn threads_that_run_in_circles() {
    ends_in_time("yield", "for (;;) sched_yield();");
    ends_in_time("loop", "for (volatile int i = 0;; i++) ;");
}
