//! A run under a debugger stops right before the event after the schedule's last segment.

mod support;

use exec::{Config, gdb_command};
use support::{build, schedule};

#[test]
fn gdb_stops_before_the_access() {
    let program = build("counter.c");
    let directory = tempfile::tempdir().unwrap();
    // Thread 1 has read the counter, thread 2 is about to write it.
    let schedule = schedule(&[(0, 3), (1, 2), (2, 2)]);
    let more = ["-batch", "-nx", "-ex", "backtrace", "-ex", "print counter", "-ex", "continue"].map(str::to_owned);
    let story = r#"{"run": {"threads": [], "events": []}, "order": []}"#;
    let config = Config::default();
    let command = gdb_command(&program.path(), &config, &schedule, directory.path(), story, &more);
    let output = command.unwrap().output().expect("gdb, which `scripts/setup` installs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("SIGTRAP"), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(" in add (arg="), "{text}");
    assert!(text.contains("counter.c:10"), "{text}");
    assert!(text.contains("$1 = 0"), "{text}");
    assert!(text.contains("exited normally"), "{text}");
}
